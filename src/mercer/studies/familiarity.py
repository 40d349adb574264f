"""Familiarity: how far a row is from everything that was learned from, and when that is too far.

A machine answers for any row. Where nothing like it was learned from, the answer follows from the
formula of the kernel and not from data. How far a row is, is the distance to its nearest known row
in the kernel's own space. What is far is decided by the known rows: how far is each of them from
the nearest of the others? A new row from the same source has the same chance to be farther, so
that the share of known rows that are as far is a p-value (Guan & Tibshirani, 2022, have the same
with other distances). Shares below one in the number of known rows are extrapolated, as an
exponential tail above the ninth decile.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from mercer.domains import Items, Points, to_numpy
from mercer.errors import DomainError
from mercer.explanations.terms import unwrap
from mercer.gram.nearest import nearest
from mercer.kernels import Kernel

__all__ = ["FAR", "KNOWN_ROWS", "Familiarity", "known_places", "known_rows"]

FAR = 1e-3  # chance of a row from the same source to be called far
KNOWN_ROWS = 1000  # that are kept to compare with; of more, a sample
TAIL = 0.1  # of the known rows, the farthest ones, from which farther ones are extrapolated
MIN_KNOWN = 10  # rows of which the tail of a distribution can be seen at all


@dataclass(frozen=True, eq=False)
class Familiarity:
    """How like the known rows others are. Made by `Familiarity.of`.

    Parameters
    ----------
    machine : fitted machine
        Or a pipeline that ends with one; it says what its kernel sees of a row.
    kernel : Kernel
    points : Points
        The known rows, as the kernel sees them.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0.0, 1.0, 40)[:, None]
    >>> known = Familiarity.of(KernelRidge("gaussian", 0.1).fit(X, X[:, 0]))
    >>> known.far([[0.51], [30.0]])
    array([False,  True])
    """

    machine: Any
    kernel: Kernel
    points: Points

    @classmethod
    def of(cls, machine: Any, X: Items | None = None) -> Familiarity:
        """Return how like some known rows others are.

        Parameters
        ----------
        machine : fitted machine
            Or a pipeline that ends with one.
        X : items, optional
            Known rows as ``machine.predict`` takes them, such as `known_rows` of the training
            rows. Without them, those that the machine's function is made of: all training rows of
            most machines, the support vectors of others.
        """
        inside, seen = unwrap(machine, X)
        kernel, function = getattr(inside, "kernel_", None), getattr(inside, "function_", None)
        if kernel is None or (X is None and not hasattr(function, "points")):
            raise DomainError(
                f"{type(inside).__name__} keeps nothing to compare rows with, so that nobody can "
                "say which rows are like those that it learned from"
            )
        if X is not None:
            return cls(machine, kernel, kernel.admit(seen))
        points: Any = function.points  # type: ignore[union-attr]
        if len(points) > KNOWN_ROWS:
            points = points[known_places(len(points))]
        return cls(machine, kernel, points)

    def __len__(self) -> int:
        return len(self.points)

    def distances(self, X: Items) -> np.ndarray:
        """Return how far each row is from the nearest known one.

        Where all things are equally like themselves, and none less than not at all alike, as with
        a Gaussian, it is −ln k(x, z)/k(x, x): the distance in the kernel's space ends at √2, but
        this goes on. Otherwise it is the squared distance in the kernel's space.
        """
        return self._distances(self._admit(X))

    def shares(self, X: Items) -> np.ndarray:
        """Return the share of rows from the same source that would be as far: a p-value.

        Examples
        --------
        >>> from mercer import KernelRidge
        >>> X = np.linspace(0.0, 1.0, 40)[:, None]
        >>> known = Familiarity.of(KernelRidge("gaussian", 0.1).fit(X, X[:, 0]))
        >>> bool(known.shares([[0.5]])[0] > 0.05 > known.shares([[2.0]])[0])
        True
        """
        own, new = self.own, self.distances(X)
        shares = (1 + len(own) - np.searchsorted(own, new, side="left")) / (1 + len(own))
        start, mean, count = self._tail
        beyond = new > own[-1] if len(own) else np.zeros(len(new), dtype=bool)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            # Exponential excesses whose mean is known from so many of them: their predictive
            # distribution, which is heavier the fewer there are.
            tail = TAIL * (1 + (new - start) / (count * mean)) ** -count
        return np.where(beyond & np.isfinite(own[-1:]).all(), np.fmin(shares, tail), shares)

    def far(self, X: Items) -> np.ndarray:
        """Tell which rows are far from everything that was learned from."""
        if len(self) < MIN_KNOWN:
            return np.zeros(len(self._admit(X)), dtype=bool)
        return self.shares(X) < FAR

    def nearest(self, X: Items) -> np.ndarray:
        """Return the place of the nearest known row, for each row."""
        return nearest(self.kernel, self._admit(X), self.points, self._heights, 1)[0][:, 0]

    @cached_property
    def own(self) -> np.ndarray:
        """How far each known row is from the nearest of the others, in rising order."""
        if len(self) < 2:
            return np.zeros(0)
        return np.sort(self._distances(self.points, others=True))

    @property
    def _tail(self) -> tuple[float, float, int]:
        """Where the tail begins, how far its rows are beyond that on average, and their number."""
        own = self.own
        count = max(int(TAIL * len(own)), 1)
        if len(own) <= count:
            return np.inf, 1.0, count
        start = float(own[-count - 1])
        mean = float(np.mean(own[-count:] - start)) if np.isfinite(own[-1]) else np.inf
        return start, mean, count

    @cached_property
    def _heights(self) -> np.ndarray:
        return np.asarray(to_numpy(self.kernel.evaluate_diagonal(self.points)), dtype=np.float64)

    def _admit(self, X: Items) -> Points:
        return self.kernel.admit(unwrap(self.machine, X)[1]).as_new()

    def _distances(self, points: Points, others: bool = False) -> np.ndarray:
        heights = self._heights
        places, found = nearest(self.kernel, points, self.points, heights, 1, others)
        similar = found[:, 0]
        own = np.asarray(to_numpy(self.kernel.evaluate_diagonal(points)), dtype=np.float64)
        even = np.ptp(heights) <= 1e-12 * np.max(np.abs(heights))
        if even and heights[0] > 0 and self._bounded:
            with np.errstate(divide="ignore"):
                return -np.log(np.clip(similar / heights[0], 0.0, 1.0)) + 0.0
        return np.maximum(own + heights[places[:, 0]] - 2 * similar, 0.0)

    @cached_property
    def _bounded(self) -> bool:
        """Whether no known row is less than not at all alike to the others."""
        some = self.points[: min(len(self), 100)]
        return bool(np.asarray(to_numpy(self.kernel(some))).min() >= 0)


def known_rows(X: Items, seed: int = 0) -> Any:
    """Return the rows that are kept to compare new ones with: all, or of many a sample.

    Examples
    --------
    >>> len(known_rows(np.zeros((5000, 2)))), len(known_rows(np.zeros((50, 2))))
    (1000, 50)
    """
    count = X.shape[0] if hasattr(X, "shape") else len(X)  # type: ignore[arg-type]
    return X if count <= KNOWN_ROWS else _safe_indexing(X, known_places(count, seed))


def known_places(count: int, seed: int = 0, most: int = KNOWN_ROWS) -> np.ndarray:
    """Return which of so many rows are kept, where there is room for `most`, but for a few."""
    kept = max(min(KNOWN_ROWS, most), MIN_KNOWN)
    if count <= kept:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).permutation(count)[:kept])
