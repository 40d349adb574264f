"""Kernels by name, for those who do not care to import them."""

from __future__ import annotations

from typing import Any

from mercer.errors import ValidityError, suggestion
from mercer.kernels.algebra.custom import Precomputed
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.dot import Linear, Polynomial
from mercer.kernels.vectors.stationary import Gaussian, Laplacian

__all__ = ["NAMES", "named"]

NAMES: dict[str, Kernel] = {
    "linear": Linear(),
    "gaussian": Gaussian("median"),
    "laplacian": Laplacian("median"),
    "polynomial": Polynomial(degree=3, offset=1.0),
    "precomputed": Precomputed(),
}


def named(kernel: Any) -> Kernel:
    """Return a kernel itself, or the one that a name stands for.

    Examples
    --------
    >>> named("gausian")
    Traceback (most recent call last):
        ...
    mercer.errors.ValidityError: unknown kernel 'gausian'; did you mean 'gaussian'?
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel in NAMES:
            return NAMES[kernel]
        raise ValidityError(f"unknown kernel {kernel!r}{suggestion(kernel, NAMES)}")
    hint = "; write Gaussian(), not Gaussian" if isinstance(kernel, type) else ""
    raise ValidityError(
        f"kernel must be a kernel or its name, found {type(kernel).__name__}{hint}; a function of "
        "two things becomes a kernel by from_function"
    )
