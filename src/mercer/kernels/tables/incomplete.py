"""Gaps: rows of a table of which something is missing, encoded.

What kernels on such rows are made of: which rows lack the same, which columns two rows have in
common, and blocks of filled rows. What it all means is decided in `mercer.kernels.tables.missing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import MISSING, Columns, Domain, Points, Table, VectorDomain, Vectors, to_numpy
from mercer.engine.block import Block
from mercer.errors import DomainError
from mercer.kernels.features import FeatureMap, scaled_rows
from mercer.kernels.tables.common_columns import CommonColumns, Unforeseen

__all__ = [
    "Gapped",
    "all_whole",
    "common",
    "complete",
    "filled",
    "indicators",
    "inside",
    "overlaps",
    "part",
    "same_gaps",
    "where_whole",
]


class Gapped(Points):
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

    def take(self, rows: Any) -> Gapped:
        absent = None if self.absent is None else self.absent[rows]
        points = None if self.points is None else self.points[rows]
        return Gapped(points, absent, len(np.arange(self._count)[rows]))

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


def filled(table: Table, domain: Domain) -> Gapped:
    """Return rows with zeros, or with a category of their own, in the gaps."""
    absent = table.absent()
    if absent is not None:
        value = 0.0 if isinstance(domain, VectorDomain) else MISSING
        table = table.filled(absent, [value] * table.width)
    return Gapped(domain.admit(table), absent, len(table))


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


def indicators(rows: Gapped, known: np.ndarray) -> sparse.csr_array:
    """Return which of some known patterns of gaps each row has, if any."""
    gaps = np.zeros((len(rows), known.shape[1]), bool) if rows.absent is None else rows.absent
    same = np.array([(gaps == pattern).all(axis=1) for pattern in known], dtype=np.float64)
    return sparse.csr_array(same.reshape(len(known), len(rows)).T)


def where_whole(rows: Gapped, inner: FeatureMap) -> Any:
    """Return the features of whole rows, and zeros for the others."""
    if rows.absent is None:
        return inner.transform(rows.points)
    if rows.points is None:
        return np.zeros((len(rows), inner.count))
    found = inner.transform(rows.points)
    kept = np.zeros(len(rows))
    kept[rows.whole] = 1.0
    return scaled_rows(found, kept)
