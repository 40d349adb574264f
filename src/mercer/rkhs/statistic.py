"""Statistics: numbers with what is known about them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.errors import DomainError

__all__ = ["Statistic", "orders", "permutation_test", "require_count"]


class Statistic(float):
    """A number, with the p-value of a test if there is one.

    Parameters
    ----------
    value : float

    Attributes
    ----------
    pvalue : float or None
        Of a permutation test, (1 + permutations with a statistic at least as large) / (1 +
        permutations); or of a normal limit.
    null : ndarray or None
        The statistic under each permutation.
    error : float or None
        The standard error of an approximate number; of its square, where that was estimated.
    approximate : str
        How the number was approximated; empty if it is exact to rounding.

    Examples
    --------
    >>> found = Statistic(2.0, null=np.array([0.5, 2.5, 1.0]))
    >>> found + 1, found.pvalue
    (3.0, 0.5)
    >>> Statistic(2.0, error=0.1, approximate="1000 pairs")
    Statistic(2.0, approximate: 1000 pairs, standard error 0.1)
    """

    pvalue: float | None
    null: np.ndarray | None
    error: float | None
    approximate: str

    def __new__(
        cls,
        value: float,
        null: np.ndarray | None = None,
        pvalue: float | None = None,
        error: float | None = None,
        approximate: str = "",
    ) -> Statistic:
        self = super().__new__(cls, value)
        self.null, self.error, self.approximate = null, error, approximate
        if null is not None and pvalue is None:
            pvalue = float(1 + np.sum(null >= value)) / (1 + len(null))
        self.pvalue = pvalue
        return self

    def __repr__(self) -> str:
        if not self.approximate:
            return super().__repr__()
        error = "" if self.error is None else f", standard error {self.error:.2g}"
        return f"Statistic({float(self)!r}, approximate: {self.approximate}{error})"

    __str__ = float.__repr__

    def __reduce__(self) -> tuple[Any, ...]:
        known = (float(self), self.null, self.pvalue, self.error, self.approximate)
        return Statistic, known


def require_count(permutations: int) -> int:
    """Return a number of permutations, refusing what is none."""
    number = permutations if isinstance(permutations, numbers.Real) else math.nan
    if isinstance(permutations, bool) or not math.isfinite(number) or number < 0 or number % 1:
        raise DomainError(f"permutations must be a whole number, not negative: {permutations!r}")
    return int(permutations)


def orders(count: int, permutations: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the order as given, and random ones."""
    yield np.arange(count)
    rng = np.random.default_rng(seed)
    for _ in range(permutations):
        yield rng.permutation(count)


def permutation_test(
    squares: np.ndarray, squared: bool = True, rounding: float = 0.0, **known: Any
) -> Statistic:
    """Return the first of several values, or its root, with the others as those of the null.

    Permutations that only exchange equal items may differ from the original by rounding.
    """
    value, null = squares[0], squares[1:]
    # A smaller relative difference of statistics is rounding.
    near = np.abs(null - value) <= 1e-12 * abs(value) + rounding
    null = np.where(near, value, null)
    if not squared:
        value, null = np.sqrt(max(value, 0.0)), np.sqrt(np.maximum(null, 0.0))
    return Statistic(float(value), null if len(null) else None, **known)
