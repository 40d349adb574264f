"""Held-out scores: how wrong a machine was about rows that it had not seen, kept for new ones.

Each row i was held out with its fold k(i). Of a new row every fold's machine has an answer, and
the row is taken to be as wrong as row i was about i's own machine. That is the interval of CV+,
and of the jackknife+ where each row is a fold (Barber, Candès, Ramdas & Tibshirani, 2021), and the
sets of Romano, Sesia & Candès (2020). With one machine for all rows it is the split interval.

Rows of one group are alike, so that many of one person say little of the next: a group counts as
one, whatever its rows (Dunn, Wasserman & Ramdas, 2022). Where a level is to hold in each category
by itself, only rows of the category count (Mondrian: Vovk et al., 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.errors import DomainError
from mercer.machines.conforming.levels import (
    ROUNDING,
    portions,
    require_count,
    smallest_above,
)

__all__ = ["HeldOutScores", "group_weights"]


def group_weights(groups: np.ndarray | None, category: np.ndarray | None) -> np.ndarray | None:
    """Return what rows weigh if each group has the weight 1 in all, in each category.

    Examples
    --------
    >>> group_weights(np.array([0, 0, 1]), None)
    array([0.5, 0.5, 1. ])
    """
    if groups is None:
        return None
    both = groups if category is None else groups * (int(category.max()) + 1) + category
    place, counts = np.unique(both, return_inverse=True, return_counts=True)[1:]
    return 1.0 / counts[place]


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Scores of held-out rows, which grow with how wrong an answer was.

    Attributes
    ----------
    scores : ndarray of shape (n,)
    fold : ndarray of int
        Whose machine answered.
    groups : ndarray of int or None
        Rows of one group count as one.
    ratio : ndarray or None
        How much more frequent rows like this one are where predictions are asked for.
    category : ndarray of int or None
        Levels hold in each category by itself.
    categories : ndarray or None
        Their names.

    Examples
    --------
    >>> kept = HeldOutScores(np.arange(1.0, 10.0), np.zeros(9, dtype=int))
    >>> kept.intervals(np.array([[20.0]]), np.array([[20.0]]), None, 0.8)
    array([[12., 28.]])
    """

    scores: np.ndarray
    fold: np.ndarray
    groups: np.ndarray | None = None
    ratio: np.ndarray | None = None
    category: np.ndarray | None = None
    categories: np.ndarray | None = None

    @property
    def unit(self) -> str:
        """What is counted."""
        return "rows" if self.groups is None else "groups"

    @property
    def weights(self) -> np.ndarray | None:
        """What each row counts; None if all count alike."""
        own = group_weights(self.groups, self.category)
        if self.ratio is None:
            return own
        return self.ratio if own is None else own * self.ratio

    def count(self, category: int | None = None) -> int:
        """Return how many rows, or groups, there are, in all or of one category."""
        chosen = slice(None) if category is None else self._of(category)
        rows = self.scores[chosen]
        return len(rows) if self.groups is None else len(np.unique(self.groups[chosen]))

    def require(self, level: float, category: int | None = None) -> None:
        """Refuse a level for which there are too few rows."""
        if self.category is None:
            require_count(level, self.count(), self.unit)
            return
        assert self.categories is not None
        for code in range(len(self.categories)) if category is None else [category]:
            name = self.categories.tolist()[code]
            require_count(level, self.count(code), self.unit, f" of {name!r}")

    def codes(self, given: np.ndarray) -> np.ndarray:
        """Return the numbers of categories, refusing one that is not known."""
        assert self.categories is not None
        known = {name: code for code, name in enumerate(self.categories.tolist())}
        found = [known.get(name, -1) for name in given.tolist()]
        if -1 in found:
            new = given.tolist()[found.index(-1)]
            raise DomainError(
                f"nothing can be promised about the category {new!r}, of which no row was held "
                f"out; known are {list(known)[:10]}"
            )
        return np.array(found, dtype=np.int64)

    def intervals(
        self,
        low: np.ndarray,
        high: np.ndarray,
        scale: np.ndarray | None,
        level: float,
        category: np.ndarray | None = None,
        ratio: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return intervals of shape (rows, 2).

        Parameters
        ----------
        low, high : ndarray of shape (rows, folds)
            What each fold's machine says, or between which bounds.
        scale : ndarray of shape (rows, folds) or None
            The unit of the scores at these rows.
        level : float
        category, ratio : ndarray of shape (rows,) or None
            Of the rows.
        """
        found = np.empty((len(low), 2))
        for chosen, rows in self._parts(level, category, len(low)):
            fold, scores = self.fold[chosen], self.scores[chosen]
            weights = None if self.weights is None else self.weights[chosen]
            for some in portions(len(rows), len(scores)):
                there = rows[some]
                own = 1.0 if ratio is None else ratio[there]
                reach = scores if scale is None else scores * scale[np.ix_(there, fold)]
                down = reach - low[np.ix_(there, fold)]
                up = reach + high[np.ix_(there, fold)]
                found[there, 0] = -smallest_above(down, level, weights, own)
                found[there, 1] = smallest_above(up, level, weights, own)
        # Bounds that have crossed leave nothing between them; the middle is as good as any.
        crossed = found[:, 0] > found[:, 1]
        found[crossed] = found[crossed].mean(axis=1)[:, None]
        return found

    def sets(
        self,
        label_scores: np.ndarray,
        level: float,
        category: np.ndarray | None = None,
        ratio: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return which labels are in the set of each row, of shape (rows, labels).

        Parameters
        ----------
        label_scores : ndarray of shape (rows, folds, labels)
            The score of each label, by each fold's machine.
        level : float
        category : ndarray of shape (rows, labels) or None
        ratio : ndarray of shape (rows,) or None
        """
        found = np.zeros((len(label_scores), label_scores.shape[2]), dtype=bool)
        own = np.ones(len(label_scores)) if ratio is None else ratio
        for label in range(label_scores.shape[2]):
            kinds = None if category is None else category[:, label]
            for chosen, rows in self._parts(level, kinds, len(label_scores)):
                found[rows, label] = self._conforms(
                    chosen, label_scores[rows, :, label], level, own[rows]
                )
        return found

    def _conforms(
        self, chosen: np.ndarray, values: np.ndarray, level: float, own: np.ndarray
    ) -> np.ndarray:
        """Tell of which rows the scores are not larger than a share `level` of the held-out ones.

        `values` is of shape (rows, folds).
        """
        fold, scores, weights = self.fold[chosen], self.scores[chosen], self.weights
        w = np.ones(len(scores)) if weights is None else weights[chosen]
        below = np.zeros(len(values))
        for k in np.unique(fold):
            mine = fold == k
            order = np.argsort(scores[mine], kind="stable")
            sums = np.concatenate([[0.0], np.cumsum(w[mine][order])])
            below += sums[np.searchsorted(scores[mine][order], values[:, k], side="left")]
        wanted = level * (w.sum() + own)
        return below < wanted - ROUNDING * np.abs(wanted)

    def _parts(
        self, level: float, category: np.ndarray | None, count: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return which held-out rows count for which new ones."""
        if self.category is None or category is None:
            self.require(level)
            return [(np.arange(len(self.scores)), np.arange(count))]
        parts = []
        for code in np.unique(category):
            self.require(level, int(code))
            parts.append((np.flatnonzero(self._of(int(code))), np.flatnonzero(category == code)))
        return parts

    def _of(self, category: int) -> np.ndarray:
        assert self.category is not None
        return self.category == category
