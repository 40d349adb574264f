"""The game that columns play: what a kernel says of two rows of which it knows only some columns.

Σᵢ wᵢ k(x, xᵢ) with k = Σ_t Π_f k_f is a sum of products, and columns that are absent are replaced
in their own factors only. So the shares of all columns (Shapley, 1953) take a time that is
polynomial in their number; there is nothing to sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mercer.domains import Categories, Points, Table, Vectors, is_frame, to_numpy
from mercer.engine.tiles import fill
from mercer.errors import ValidityError, suggestion
from mercer.explanations.column_products import ColumnFactor, ColumnProduct, column_products
from mercer.explanations.shapley_loops import divide, nodes
from mercer.kernels import Kernel
from mercer.threads import cores, in_threads

__all__ = ["ABSENT", "Absent", "ColumnGame", "Shares", "as_table", "width_of"]

Absent = Literal["independent", "joint", "alike"]
ABSENT = ("independent", "joint", "alike")
BLOCK_NUMBERS = 4_000_000  # similarities of columns that are held at once: 32 MB
JOINT_NUMBERS = 8_000_000  # the same of reference rows that are kept together


@dataclass(frozen=True)
class Shares:
    """What is each group's, of shape (rows, groups), and what is nobody's, of shape (rows,)."""

    groups: np.ndarray
    base: np.ndarray

    def __add__(self, other: Shares) -> Shares:
        return Shares(self.groups + other.groups, self.base + other.base)


class ColumnGame:
    """A kernel and known items, ready to divide what they say of others among groups of columns.

    Parameters
    ----------
    kernel : Kernel
        Resolved, a sum of products over groups of columns.
    known : Points
    groups : sequence of int
        The group of each column; empty for whole things, which are one group.
    reference : Points or None
        Rows from which absent columns are taken; not needed if they are "alike".
    absent : {"independent", "joint", "alike"}
    """

    def __init__(
        self,
        kernel: Kernel,
        known: Points,
        groups: Sequence[int],
        reference: Points | None,
        absent: Absent = "independent",
    ) -> None:
        if absent not in ABSENT:
            raise ValidityError(f"absent cannot be {absent!r}{suggestion(str(absent), ABSENT)}")
        self.known, self.reference, self.absent = known, reference, absent
        self.places = tuple(groups) or (0,)
        self.count = 1 + max(self.places)
        self.products = column_products(kernel, groups, columns_of(known), is_named(known))
        self._absences: list[list[np.ndarray]] = [
            list(self._absence(one)) for one in self.products
        ]

    def divide(self, points: Points, weights: np.ndarray) -> Shares:
        """Return Σᵢ wᵢ k(x, xᵢ) of some points divided, one row of `weights` for each."""
        shares = Shares(np.zeros((len(points), self.count)), np.zeros(len(points)))
        deepest = max((len(self.groups_of(one)) for one in self.products), default=1)
        size = max(BLOCK_NUMBERS // (max(deepest, 1) * len(self.known)), 1)
        size = min(size, max(-(-len(points) // cores()), 1))
        blocks = [slice(i, min(i + size, len(points))) for i in range(0, len(points), size)]

        def work(rows: slice) -> None:
            self._divide(points[rows], np.ascontiguousarray(weights[rows]), rows, shares)

        in_threads(work, blocks)
        return shares

    def groups_of(self, one: ColumnProduct) -> list[int]:
        """Return the groups whose columns a product looks at."""
        return sorted({self.group(factor) for factor in one.factors})

    def group(self, factor: ColumnFactor) -> int:
        """Return the group of columns that a factor looks at."""
        return self.places[factor.places[0]] if factor.places else self.places[0]

    def _divide(self, points: Points, W: np.ndarray, rows: slice, shares: Shares) -> None:
        seen: dict[ColumnFactor, np.ndarray] = {}
        for one, absences in zip(self.products, self._absences, strict=True):
            groups = self.groups_of(one)
            if not groups:
                shares.base[rows] += one.weight * W.sum(axis=1)
                continue
            P = np.stack([self._values(one, group, points, seen) for group in groups])
            t, w = nodes(len(groups))
            found = Shares(np.zeros((len(points), len(groups))), np.zeros(len(points)))
            for Q in absences:
                for single in Q:
                    divide(P, single, W, t, w, found.groups, found.base)
            scale = one.weight / sum(len(Q) for Q in absences)
            shares.groups[rows, groups] += scale * found.groups
            shares.base[rows] += scale * found.base

    def _absence(self, one: ColumnProduct) -> Iterator[np.ndarray]:
        """Yield what the factors of each group are where it is absent: (rows, groups, known)."""
        groups = self.groups_of(one)
        if not groups:
            return
        if self.absent == "alike" or self.reference is None:
            yield np.ones((1, len(groups), len(self.known)))
            return
        values = [self._values(one, group, self.reference, {}) for group in groups]
        if self.absent == "joint":
            yield np.ascontiguousarray(np.stack(values, axis=1))
        else:
            yield np.stack([value.mean(axis=0) for value in values])[None]

    def _values(
        self, one: ColumnProduct, group: int, points: Points, seen: dict[ColumnFactor, np.ndarray]
    ) -> np.ndarray:
        """Return the product of the factors of one group, of all pairs of points and known."""
        found = None
        for factor in one.factors:
            if self.group(factor) != group:
                continue
            if factor not in seen:
                seen[factor] = _similarities(factor, points, self.known)
            found = seen[factor] if found is None else found * seen[factor]
        assert found is not None
        return found


def _similarities(factor: ColumnFactor, points: Points, known: Points) -> np.ndarray:
    kernel = factor.on()
    left, right = kernel.domain.admit(points), kernel.domain.admit(known)
    return np.asarray(to_numpy(fill(kernel, left, right)), dtype=np.float64)


def as_table(points: Points) -> Points:
    """Return points with columns that can be taken one by one."""
    if not isinstance(points, Categories) or points.width is None:
        return points
    rows = np.empty((len(points), points.width), dtype=object)
    for row, label in zip(rows, points.labels, strict=True):
        row[:] = label if points.width > 1 else [label]
    return Table(rows)


def width_of(points: Points) -> int | None:
    """Return how many columns points have; None for whole things."""
    return points.width if isinstance(points, Vectors | Table) else None


def columns_of(points: Points) -> list[object]:
    """Return what ``kernel.on(...)`` calls each column."""
    if is_named(points):
        return list(points.frame.columns)  # type: ignore[attr-defined]
    return list(range(width_of(points) or 0))


def is_named(points: Points) -> bool:
    """Tell whether columns have names."""
    return isinstance(points, Table) and is_frame(points.frame)
