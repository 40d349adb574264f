"""Parameters: the numbers that kernels are made of, checked when a kernel is made."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from mercer.errors import ValidityError

__all__ = ["Seed", "finite", "positive", "sequence", "whole"]

# What scikit-learn calls `random_state`.
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None


def finite(owner: Any, name: str, value: Any) -> float:
    """Return `value` as a float, refusing what is not a finite number."""
    number = _number(value)
    if not math.isfinite(number):
        raise ValidityError(f"{name} of {_called(owner)} must be a finite number, found {value!r}")
    return number


def positive(owner: Any, name: str, value: Any, zero: bool = False) -> float:
    """Return `value` as a float, refusing what is not a positive (or zero) finite number."""
    number = _number(value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        kind = "not negative" if zero else "positive"
        raise ValidityError(
            f"{name} of {_called(owner)} must be a finite number and {kind}, found {value!r}"
        )
    return number


def whole(owner: Any, name: str, value: Any, least: int = 1) -> int:
    """Return `value` as an int, refusing what is not a whole number from `least` on."""
    number = _number(value)
    inside = math.isfinite(number) and number == int(number) and number >= least
    if isinstance(value, bool) or not inside:
        raise ValidityError(
            f"{name} of {_called(owner)} must be a whole number from {least} on, found {value!r}"
        )
    return int(number)


def sequence(
    owner: Any, name: str, values: Any, check: Callable[[Any, str, Any], float]
) -> tuple[float, ...]:
    """Return one or several numbers as a tuple, each checked."""
    try:
        items = list(np.ravel(values))
    except ValueError:
        items = []
    if not items:
        raise ValidityError(
            f"{name} of {_called(owner)} must be one or several numbers, found {values!r}"
        )
    return tuple(check(owner, name, item) for item in items)


def _called(owner: Any) -> str:
    """Return the name of a function or class, or of the class of anything else."""
    return str(getattr(owner, "__name__", type(owner).__name__))


def _number(value: Any) -> float:
    if isinstance(value, str | bytes):
        return math.nan  # a text that looks like a number is a mistake all the same
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
