"""Kernels by name, and all names that may stand in a kernel expression."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

from mercer.errors import ValidityError, suggestion
from mercer.kernels.algebra.custom import Precomputed
from mercer.kernels.base import Kernel
from mercer.kernels.strings.idf import Idf
from mercer.kernels.vectors.dot import Linear, Polynomial
from mercer.kernels.vectors.stationary import Gaussian, Laplacian
from mercer.models import Model

__all__ = ["NAMES", "functional", "makers", "named"]

NAMES: dict[str, Kernel] = {
    "linear": Linear(),
    "gaussian": Gaussian("median"),
    "laplacian": Laplacian("median"),
    "polynomial": Polynomial(degree=3, offset=1.0),
    "precomputed": Precomputed(),
}


def named(kernel: object) -> Kernel:
    """Return a kernel itself, or the one that a name stands for.

    Parameters
    ----------
    kernel : Kernel or str

    Returns
    -------
    Kernel

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


@functools.cache
def makers() -> dict[str, Callable[..., Any]]:
    """Return the public classes and functions that make kernels, or what kernels are made of."""
    return {name: thing for name, thing in _public().items() if not _takes_function(thing)}


@functools.cache
def functional() -> frozenset[str]:
    """Return the names of those that take a Python function, which text cannot hold."""
    return frozenset(name for name, thing in _public().items() if _takes_function(thing))


def _public() -> dict[str, Callable[..., Any]]:
    # Looked up late, because this module is a part of what it looks into.
    import mercer.kernels as kernels
    import mercer.models as models

    found: dict[str, Callable[..., Any]] = {}
    for module in (models, kernels):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                concrete = "__dataclass_fields__" in vars(thing)
                if concrete and issubclass(thing, Kernel | Model | Idf):
                    found[name] = thing
            elif inspect.isfunction(thing) and _makes_value(thing) and name != "parse":
                found[name] = thing
    return found


def _makes_value(function: Callable[..., Any]) -> bool:
    """Tell whether a function says that it returns a kernel or a model."""
    made = inspect.signature(function).return_annotation
    cls = getattr(inspect.getmodule(function), made, None) if isinstance(made, str) else made
    return inspect.isclass(cls) and issubclass(cls, Kernel | Model)


def _takes_function(maker: Callable[..., Any]) -> bool:
    if inspect.isclass(maker) and dataclasses.is_dataclass(maker):
        annotations = [str(field.type) for field in dataclasses.fields(maker)]
    else:
        parameters = inspect.signature(maker).parameters.values()
        annotations = [str(parameter.annotation) for parameter in parameters]
    return any("Callable" in annotation for annotation in annotations)
