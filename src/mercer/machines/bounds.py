"""Bounds: the C, ν and number of steps that a user asks for, checked and spread over the items."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from mercer.errors import ValidityError
from mercer.machines.machine import number

__all__ = ["limit_of", "poured", "price", "share", "upper_bounds"]


def limit_of(max_iter: Any) -> int:
    """Return the largest number of steps; None and −1 leave it to the library.

    Examples
    --------
    >>> limit_of(None)
    10000000
    """
    if max_iter is None or (isinstance(max_iter, numbers.Integral) and max_iter == -1):
        return 10_000_000
    if not isinstance(max_iter, numbers.Integral) or max_iter < 1:
        raise ValidityError(
            f"max_iter must be a positive whole number or None, found {max_iter!r}"
        )
    return int(max_iter)


def price(C: Any) -> float:
    """Return C, a positive number that may be infinite.

    Examples
    --------
    >>> price(np.inf)
    inf
    """
    found = float(C) if isinstance(C, numbers.Real) else np.nan
    if not found > 0:
        raise ValidityError(f"C must be a positive number, or infinity; found {C!r}")
    return found


def upper_bounds(C: Any, weights: np.ndarray | None, count: int) -> np.ndarray:
    """Return C·wᵢ of each item."""
    return np.full(count, price(C)) if weights is None else price(C) * weights


def share(nu: Any) -> float:
    """Return ν, which lies above 0 and not above 1."""
    found = number(nu, "nu")
    if not 0 < found <= 1:
        raise ValidityError(f"nu must lie above 0 and not above 1, found {nu!r}")
    return found


def poured(bounds: np.ndarray, total: float) -> np.ndarray:
    """Return amounts of the given total, filling one bound after the other.

    Examples
    --------
    >>> poured(np.ones(3), 1.5)
    array([1. , 0.5, 0. ])
    """
    before = np.concatenate([[0.0], np.cumsum(bounds)[:-1]])
    return np.clip(total - before, 0.0, bounds)
