"""Incomplete rows: rows of a table of which something is missing, encoded.

What kernels on such rows are made of: which rows lack the same, which columns two rows have in
common, and blocks of filled rows. What it all means is decided in `mercer.kernels.tables.missing`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from mercer.domains import MISSING, Columns, Domain, Points, Table, VectorDomain, Vectors, to_numpy
from mercer.domains.points import RowIndex
from mercer.engine.block import Block, Scratch
from mercer.engine.transform import RowTransform
from mercer.errors import DomainError
from mercer.kernels.features import FeatureMap, scaled_rows

__all__ = [
    "CommonColumns",
    "IncompleteRows",
    "Unforeseen",
    "all_whole",
    "common",
    "complete",
    "fill_gaps",
    "indicators",
    "inside",
    "overlaps",
    "part",
    "same_gaps",
    "where_whole",
]


class Unforeseen(Exception):
    """A kernel asked for something that a block of common columns does not have."""


class CommonColumns(Block):
    """A block that has what most kernels ask for, and nothing else: no rows, above all.

    A pair of rows is seen in the columns that both have, so there is no single row to be seen in
    all pairs. Kernels of distances or dot products need no row. The others ask for one, and learn
    by `Unforeseen` that they must be evaluated on parts of the block.

    Parameters
    ----------
    X, Z : array
        Rows with zeros in their gaps.
    here, there : array of bool
        Which entries are missing.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = np.array([[0.0, 2.0], [1.0, 0.0]])
    >>> gaps = np.array([[False, False], [False, True]])
    >>> Gaussian(1.0).evaluate(CommonColumns(X, X, gaps, gaps)).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    def __init__(
        self,
        X: np.ndarray,
        Z: np.ndarray,
        here: np.ndarray,
        there: np.ndarray,
        scratch: Scratch | None = None,
    ) -> None:
        self._rows = X.astype(np.float64, copy=False), Z.astype(np.float64, copy=False)
        self._gaps = here, there
        self.symmetric = False
        self.scratch = scratch
        self._shared = {}

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._rows[0]), len(self._rows[1])

    @property
    def xp(self) -> Any:
        return np

    @property
    def dtype(self) -> Any:
        return np.float64

    @property
    def left(self) -> NoReturn:
        raise Unforeseen

    @property
    def right(self) -> NoReturn:
        raise Unforeseen

    def share(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        if key not in self._shared:
            self._shared[key] = self._answer(*(key if isinstance(key, tuple) else (key,)))
        return self._shared[key]

    def _answer(self, what: object, *given: Any) -> np.ndarray:
        """Return what `mercer.engine.distances` and `dots` would share, over common columns."""
        X, Z = self._rows
        if what == "dots":
            return X @ Z.T
        if given and isinstance(given[-1], RowTransform):
            raise Unforeseen
        if what == "squared":
            return self._sum(lambda u, i: np.square(u, out=u), *given)
        if what == "cityblock":
            return self._sum(lambda u, i: np.abs(u, out=u), *given)
        if what == "minkowski":
            order, scales = given
            return self._sum(lambda u, i: np.abs(u) ** order, scales)
        raise Unforeseen

    def _sum(
        self,
        term: Callable[[np.ndarray, int], np.ndarray],
        scales: tuple[float, ...] | None,
    ) -> np.ndarray:
        """Add up terms of the differences in all columns that both rows have."""
        (X, Z), (here, there) = self._rows, self._gaps
        total = np.zeros(self.shape)
        for i in range(X.shape[1]):
            u = X[:, i, None] - Z[None, :, i]
            if scales is not None:
                u /= scales[i]
            u = term(u, i)
            u[here[:, i]] = 0.0
            u[:, there[:, i]] = 0.0
            total += u
        return total


class IncompleteRows(Points):
    """Rows with something in their gaps, and where these are.

    `absent` is None if nothing is missing in any row; `points` is None if something is missing
    in every row and nothing could be put there.
    """

    def __init__(self, points: Any, absent: np.ndarray | None, count: int) -> None:
        super().__init__()
        self.points = points
        self.absent = absent
        self._count = count

    def __len__(self) -> int:
        return self._count

    def take(self, rows: RowIndex) -> IncompleteRows:
        absent = None if self.absent is None else self.absent[rows]
        points = None if self.points is None else self.points[rows]
        return IncompleteRows(points, absent, len(np.arange(self._count)[rows]))

    @property
    def whole(self) -> np.ndarray:
        """The rows of which nothing is missing."""
        if self.absent is None:
            return np.arange(len(self))
        return np.flatnonzero(~self.absent.any(axis=1))


def complete(table: Table, domain: Domain) -> None:
    """Refuse a gap in things that are not numbers; numbers are looked at when they are read."""
    if isinstance(domain, VectorDomain | Columns):
        return
    absent = table.absent()
    if absent is not None:
        row, column = np.argwhere(absent)[0]
        label = table.label(int(column))
        raise DomainError(
            f"row {row} of X has nothing in column {label}; fill it in, drop the row, or choose "
            f"what a gap means: .on({label}, missing='own category')"
        )


def fill_gaps(table: Table, domain: Domain) -> IncompleteRows:
    """Return rows with zeros, or with a category of their own, in the gaps."""
    absent = table.absent()
    if absent is not None:
        value = 0.0 if isinstance(domain, VectorDomain) else MISSING
        table = table.filled(absent, [value] * table.width)
    return IncompleteRows(domain.admit(table), absent, len(table))


def inside(block: Block) -> Block:
    """Return the block of the filled rows, the same one for all kernels on these columns."""
    return block.share(
        "filled",
        lambda: Block(block.left.points, block.right.points, block.symmetric, block.scratch),
    )


def part(block: Block, rows: np.ndarray, columns: np.ndarray) -> Block:
    symmetric = block.symmetric and len(rows) == len(columns)
    return Block(block.left.points[rows], block.right.points[columns], symmetric)


def all_whole(block: Block) -> bool:
    return block.left.absent is None and block.right.absent is None


def _gaps(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Return which entries are missing on both sides."""
    left, right = block.left.absent, block.right.absent
    width = (left if right is None else right).shape[1]
    return (
        np.zeros((len(block.left), width), bool) if left is None else left,
        np.zeros((len(block.right), width), bool) if right is None else right,
    )


def same_gaps(block: Block) -> np.ndarray | None:
    """Return 1 for rows that lack the same columns and 0 for others; None if none lacks any."""
    if all_whole(block):
        return None
    left, right = _gaps(block)
    _, codes = np.unique(np.concatenate([left, right]), axis=0, return_inverse=True)
    codes = codes.ravel()
    return (codes[: len(left), None] == codes[None, len(left) :]).astype(np.float64)


def common(block: Block) -> CommonColumns:
    """Return a block of the columns that two rows have in common."""
    X, Z = (points.array for points in (block.left.points, block.right.points))
    if sparse.issparse(X) or sparse.issparse(Z):
        raise Unforeseen
    gaps = _gaps(block)
    return block.share("common", lambda: CommonColumns(to_numpy(X), to_numpy(Z), *gaps))


def overlaps(block: Block) -> Iterator[tuple[np.ndarray, np.ndarray, Block]]:
    """Yield parts of a block whose rows have the same columns in common: places, places, part."""
    left, right = _gaps(block)
    patterns, of_row = np.unique(left, axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        rows = np.flatnonzero(of_row.ravel() == p)
        unions, of_column = np.unique(right | pattern, axis=0, return_inverse=True)
        for u, union in enumerate(unions):
            columns = np.flatnonzero(of_column.ravel() == u)
            x = _without(block.left.points, rows, union)
            z = _without(block.right.points, columns, union)
            yield rows, columns, Block(x, z)


def _without(points: Vectors, rows: np.ndarray, columns: np.ndarray) -> Vectors:
    """Return some rows with zeros in some columns."""
    if points.is_sparse:
        kept = sparse.diags_array(np.where(columns, 0.0, 1.0))
        return Vectors(sparse.csr_array(points.array[rows] @ kept))
    return Vectors(np.where(columns, 0.0, to_numpy(points.array)[rows]))


def indicators(rows: IncompleteRows, known: np.ndarray) -> sparse.csr_array:
    """Return which of some known patterns of gaps each row has, if any."""
    gaps = np.zeros((len(rows), known.shape[1]), bool) if rows.absent is None else rows.absent
    same = np.array([(gaps == pattern).all(axis=1) for pattern in known], dtype=np.float64)
    return sparse.csr_array(same.reshape(len(known), len(rows)).T)


def where_whole(rows: IncompleteRows, inner: FeatureMap) -> Any:
    """Return the features of whole rows, and zeros for the others."""
    if rows.absent is None:
        return inner.transform(rows.points)
    if rows.points is None:
        return np.zeros((len(rows), inner.count))
    found = inner.transform(rows.points)
    kept = np.zeros(len(rows))
    kept[rows.whole] = 1.0
    return scaled_rows(found, kept)
