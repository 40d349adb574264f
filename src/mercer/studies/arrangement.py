"""Arrangement: which rows belong together, which come first, and how much each counts.

Rows of one group (a person, a batch) are never on both sides of a split: what a machine learned of
a person would help it with the same person, and with no other. Where rows have a time, the past
predicts the future: rows are cut into spans, each of which is predicted from all before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.errors import DomainError
from mercer.machines.folds import grouped_folds
from mercer.studies.folds import MIN_IN_CLASS, portion, rare, splits

__all__ = ["INDEPENDENT", "Arrangement", "Pairs"]

Pairs = list[tuple[np.ndarray, np.ndarray]]  # of rows to learn from, and rows to hold out
TIME_FOLDS = 5  # spans that are predicted, beside the first, which none precedes
MIN_BEFORE = 2  # rows that a span is predicted from


@dataclass(frozen=True, eq=False)
class Arrangement:
    """What ties rows together.

    Attributes
    ----------
    groups : ndarray or None
        What each row comes from.
    time : ndarray of float or None
    weights : ndarray of float or None

    Examples
    --------
    >>> visits = Arrangement(groups=np.array(["ann", "bob", "ann", "cid"]))
    >>> rng = np.random.default_rng(0)
    >>> [test.tolist() for _, test in visits.splits(np.arange(4.0), 3, rng)]
    [[0, 2], [3], [1]]
    """

    groups: np.ndarray | None = None
    time: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def independent(self) -> bool:
        """Whether rows may be dealt one by one."""
        return self.groups is None and self.time is None

    def part(self, rows: np.ndarray) -> Arrangement:
        """Return the arrangement of some rows."""
        if self.groups is None and self.time is None and self.weights is None:
            return self
        parts = (self.groups, self.time, self.weights)
        return Arrangement(*(None if one is None else one[rows] for one in parts))

    def codes(self) -> np.ndarray:
        """Return the number of each row's group."""
        assert self.groups is not None
        return np.unique(self.groups, return_inverse=True)[1]

    def splits(
        self, y: np.ndarray, folds: int, rng: np.random.Generator, least: int = MIN_IN_CLASS
    ) -> Pairs:
        """Return (train, test) of each fold; rows of classes below `least` are not learned from.

        With a time not all rows are held out: the first ones only teach.
        """
        if self.time is not None:
            return self._forward(y, folds, rng, least)
        if self.groups is not None:
            return self._grouped(y, folds, rng, least)
        return splits(y, folds, rng, least)

    def inner(
        self, y: np.ndarray, folds: int, rng: np.random.Generator, least: int = MIN_IN_CLASS
    ) -> Pairs:
        """Return splits that choose: in each of them all classes are learned from."""
        found = self.splits(y, folds, rng, least)
        if self.independent or y.dtype.kind == "f":
            return found
        classes = len(np.unique(y[~rare(y, least)]))
        good = [pair for pair in found if len(np.unique(y[pair[0]])) == classes]
        if not good:
            what = "group" if self.time is None else "span of time"
            raise DomainError(
                f"no fold can choose: whichever {what} is held out, some class is only there. "
                "Collect rows of each class from more of them, or join classes"
            )
        return good

    def portion(self, y: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return the places of about `count` rows: whole groups, or the last rows before now."""
        if self.independent or count >= len(y):
            return portion(y, count, rng)
        if self.time is not None:
            return np.sort(np.argsort(self.time, kind="stable")[len(y) - count :])
        codes = self.codes()
        sizes = np.bincount(codes)
        order = rng.permutation(len(sizes))
        wanted = order[: int(np.searchsorted(np.cumsum(sizes[order]), count)) + 1]
        return np.flatnonzero(np.isin(codes, wanted))

    def kept_aside(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return about `count` places that judge, and those of rows to learn from."""
        tied = self.groups if self.groups is not None else self.time
        assert tied is not None
        total = len(tied)
        last = np.zeros(total, dtype=bool)
        if self.time is not None:
            last[np.argsort(self.time, kind="stable")[max(total - count, 1) :]] = True
        else:
            last[self.portion(np.zeros(total), count, rng)] = True
        own = ~last
        if self.groups is not None:
            own &= ~np.isin(self.groups, self.groups[last])
        return np.flatnonzero(last), np.flatnonzero(own)

    def _grouped(self, y: np.ndarray, folds: int, rng: np.random.Generator, least: int) -> Pairs:
        few, groups = rare(y, least), self.codes()
        if groups.max(initial=0) < 1:
            raise DomainError(
                "all rows are of one group, so nothing can be said about others; rows of at least "
                "two groups are needed"
            )
        codes = np.zeros(len(y), dtype=np.intp)
        if y.dtype.kind != "f":
            codes = np.unique(y, return_inverse=True)[1]
        fold = grouped_folds(codes, groups, folds, rng)
        pairs = [
            (np.flatnonzero((fold != k) & ~few), np.flatnonzero(fold == k))
            for k in range(int(fold.max()) + 1)
        ]
        return [pair for pair in pairs if len(pair[0]) and len(pair[1])]

    def _forward(self, y: np.ndarray, folds: int, rng: np.random.Generator, least: int) -> Pairs:
        """Return spans of time, each with what comes before; of groups only others."""
        assert self.time is not None
        few, span = rare(y, least), self._spans(folds)
        halves = [np.ones(len(y), dtype=bool)]
        if self.groups is not None and self._go_on(span):
            half = grouped_folds(np.zeros(len(y), dtype=np.intp), self.codes(), 2, rng)
            halves = [half == 0, half == 1]
        found = []
        for number in range(1, int(span.max(initial=0)) + 1):
            for held in halves:
                test = (span == number) & held
                train = (span < number) & ~few
                if self.groups is not None:
                    train &= ~np.isin(self.groups, self.groups[test])
                if test.any() and train.sum() >= MIN_BEFORE and _several(y[train]):
                    found.append((np.flatnonzero(train), np.flatnonzero(test)))
        if not found:
            raise DomainError(
                "no row can be predicted from earlier ones"
                + (" of other groups" if self.groups is not None else "")
                + ": there are too few different times, or too few rows before each"
            )
        return found

    def _spans(self, folds: int) -> np.ndarray:
        """Return the span of each row, of about as many rows each; rows of one time share one."""
        assert self.time is not None
        place = np.unique(self.time, return_inverse=True)[1]
        before = np.cumsum(np.bincount(place)) - np.bincount(place)
        span = np.minimum((folds + 1) * before // len(place), folds)[place]
        return np.unique(span, return_inverse=True)[1]

    def _go_on(self, span: np.ndarray) -> bool:
        """Tell whether most rows of later spans are of groups that were there before."""
        codes = self.codes()
        first = np.full(int(codes.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(first, codes, span)
        later = span > 0
        return bool(later.any() and np.mean(first[codes[later]] < span[later]) > 0.2)


INDEPENDENT = Arrangement()


def _several(y: np.ndarray) -> bool:
    return y.dtype.kind == "f" or len(np.unique(y)) > 1
