"""Translation: scikit-learn's names and numbers, said as kernels of mercer.

scikit-learn writes exp(−γ|x − z|²) where mercer has a bandwidth σ, γ = 1/(2σ²), and puts the
parameters of all kernels on the machine. Where there is no kernel to translate to, scikit-learn's
own function gives the similarities; mercer then learns from a precomputed matrix, and says so.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from mercer.errors import PlanWarning
from mercer.kernels import (
    Chi2,
    Constant,
    Cosine,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    precomputed,
)
from mercer.solvers.status import caller_of_mercer

__all__ = ["kernel_of", "leave", "tell"]

_TOLD: set[str] = set()  # what has been said, so that it is said once


def leave(name: str, reason: str) -> None:
    """Say, once in a program, that something is left to scikit-learn, and why.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     leave("an example", "it is one"), leave("an example", "it is one")
    (None, None)
    >>> [str(one.message) for one in caught]
    ['an example is left to scikit-learn: it is one']
    """
    tell(f"{name} is left to scikit-learn: {reason}")


def tell(message: str) -> None:
    """Say something once in a program."""
    if message not in _TOLD:
        _TOLD.add(message)
        warnings.warn(message, PlanWarning, stacklevel=caller_of_mercer())


def _width(gamma: float) -> float:
    return 1 / math.sqrt(2 * gamma)


def _polynomial(gamma: float, degree: float, coef0: float) -> Kernel | None:
    if degree == 0 or gamma == 0:
        return _constant(float(coef0) ** degree if gamma == 0 and degree else 1.0)
    if degree != int(degree):
        return None
    return Polynomial(int(degree), offset=float(coef0), scale=float(gamma))


def _constant(value: float) -> Kernel | None:
    return Constant(value) if value > 0 else None


def _flat_or(gamma: float, make: Callable[[float], Kernel]) -> Kernel | None:
    """Return a kernel that decays, or for γ = 0 the one that does not."""
    return make(gamma) if gamma > 0 else Constant(1.0)


# What scikit-learn's names stand for, from γ, degree and coef0.
TRANSLATED: dict[str, Callable[[float, float, float], Kernel | None]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "poly": _polynomial,
    "polynomial": _polynomial,
    "rbf": lambda gamma, degree, coef0: _flat_or(gamma, lambda g: Gaussian(_width(g))),
    "laplacian": lambda gamma, degree, coef0: _flat_or(gamma, lambda g: Laplacian(1 / g)),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(float(gamma), float(coef0)),
    "chi2": lambda gamma, degree, coef0: _flat_or(gamma, lambda g: Chi2(1 / g)),
    "cosine": lambda gamma, degree, coef0: Cosine(),
    "precomputed": lambda gamma, degree, coef0: precomputed(),
}


def kernel_of(name: object, gamma: float | str, degree: float, coef0: float) -> Kernel | None:
    """Return the kernel that a name of scikit-learn's stands for, or None if there is none.

    A γ of "scale" is a rule that mercer has for Gaussians alone.

    Examples
    --------
    >>> kernel_of("rbf", 0.5, 3, 0.0), kernel_of("poly", 1.0, 2, 1.0)
    (Gaussian(bandwidth=1.0), Polynomial(degree=2, offset=1.0, scale=1.0))
    """
    if not isinstance(name, str) or name not in TRANSLATED:
        return None
    if isinstance(gamma, str):
        if name in ("linear", "cosine", "precomputed"):
            gamma = 1.0
        else:
            return Gaussian("scale") if (name, gamma) == ("rbf", "scale") else None
    if not np.isfinite([gamma, degree, coef0]).all():
        return None
    return TRANSLATED[name](gamma, degree, coef0)
