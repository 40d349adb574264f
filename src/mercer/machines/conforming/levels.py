"""Levels: how many held-out rows a guarantee takes, and which of their scores decides.

n held-out scores and that of a new row, all drawn alike, are in any order with the same chance. So
the new score is at most the k-th smallest of the n with a chance of k/(n + 1), and a level p takes
k = ⌈p(n + 1)⌉ ≤ n (Vovk, Gammerman & Shafer, 2005). With weights, the new row's weight counts as
that of a score that is larger than all (Tibshirani, Barber, Candès & Ramdas, 2019).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

import numpy as np

from mercer.errors import DomainError, ValidityError

__all__ = ["check_level", "require_count", "rows_needed", "smallest_above"]

ROUNDING = 1e-9  # so that 0.9 · 10 is 9
BLOCK_NUMBERS = 4_000_000  # that are sorted at once: 32 MB


def check_level(level: object) -> float:
    """Return a level, which must lie between 0 and 1.

    Examples
    --------
    >>> check_level(1)
    Traceback (most recent call last):
        ...
    mercer.errors.ValidityError: level must lie between 0 and 1, found 1; a guarantee of 1 ...
    """
    real = isinstance(level, numbers.Real) and not isinstance(level, bool)
    value = float(level) if isinstance(level, numbers.Real) and real else math.nan
    if not 0 < value < 1:
        why = "a guarantee of 1 would take infinitely many rows, one of 0 says nothing"
        raise ValidityError(f"level must lie between 0 and 1, found {level!r}; {why}")
    return value


def rows_needed(level: float) -> int:
    """Return how many held-out rows, or groups of rows, a level needs at least.

    Examples
    --------
    >>> rows_needed(0.5), rows_needed(0.9), rows_needed(0.99)
    (1, 9, 99)
    """
    return max(math.ceil(level / (1 - level) - ROUNDING), 1)


def require_count(level: float, count: int, unit: str = "rows", of: str = "") -> None:
    """Refuse a level that so many held-out rows cannot promise, and say how many can."""
    needed = rows_needed(level)
    if count >= needed:
        return
    some = f"there {'is' if count == 1 else 'are'} {count}"
    best = count / (count + 1)
    raise DomainError(
        f"a level of {level:g} needs at least {needed} held-out {unit}{of}, but {some}; collect "
        f"{needed - count} more, or ask for a level of at most {math.floor(1e3 * best) / 1e3:g}"
    )


def smallest_above(
    values: np.ndarray, level: float, weights: np.ndarray | None, own: np.ndarray | float
) -> np.ndarray:
    """Return, in each row, the smallest value that has a share `level` of the weight at or below.

    Parameters
    ----------
    values : ndarray of shape (m, n)
    level : float
    weights : ndarray of shape (n,) or None
        Of the columns.
    own : ndarray of shape (m,) or float
        The weight of a value that is larger than all, of each row.

    Examples
    --------
    >>> smallest_above(np.array([[3.0, 1.0, 2.0]]), 0.5, None, 1.0)
    array([2.])
    >>> smallest_above(np.array([[3.0, 1.0, 2.0]]), 0.8, None, 1.0)
    array([inf])
    """
    n = values.shape[1]
    if weights is None and np.ndim(own) == 0:
        place = math.ceil(level * (n + float(own)) - ROUNDING) - 1
        if place >= n:
            return np.full(len(values), np.inf)
        return np.partition(values, max(place, 0), axis=1)[:, max(place, 0)]
    w = np.ones(n) if weights is None else weights
    order = np.argsort(values, axis=1, kind="stable")
    below = np.cumsum(w[order], axis=1)
    wanted = level * (below[:, -1] + own)
    reached = below >= (wanted - ROUNDING * np.abs(wanted))[:, None]
    first = reached.argmax(axis=1)
    rows = np.arange(len(values))
    return np.where(reached.any(axis=1), values[rows, order[rows, first]], np.inf)


def portions(count: int, width: int) -> Sequence[slice]:
    """Return slices of so many rows that their numbers can be sorted at once."""
    size = max(BLOCK_NUMBERS // max(width, 1), 1)
    return [slice(i, min(i + size, count)) for i in range(0, count, size)]
