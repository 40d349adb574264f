"""Sparse products: inner products of sparse rows, in a dense tile.

Patterns that many things have are columns of a dense array, which BLAS multiplies. Of the others
one side has for each pattern a list of the things that have it; each nonzero of the other side
walks along one list. Both are prepared once for each part of a set of things and serve all tiles
of its row or column. The loops are compiled by Numba, so this module is imported only when there
is something to multiply.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from mercer.kernels.patterns import Patterns

__all__ = ["multiply"]


def multiply(left: Patterns, right: Patterns, out: np.ndarray) -> np.ndarray:
    """Write the inner products of all pairs of rows into `out`, over the patterns of both.

    Examples
    --------
    >>> from scipy import sparse
    >>> from mercer.kernels.patterns import Patterns, Vocabulary
    >>> seen = Patterns(sparse.csr_array([[1.0, 2.0]]), Vocabulary(["cat", "hat"]))
    >>> new = Patterns(sparse.csr_array([[3.0, 4.0]]), Vocabulary(["hat", "dog"]))
    >>> multiply(new, seen, np.empty((1, 1)))
    array([[6.]])
    """
    A, B = prepared(left, right), prepared(right, right)
    if A.dense.shape[1]:
        np.matmul(A.dense, B.dense.T, out=out)
    else:
        out[...] = 0.0
    _walk(A.starts, A.columns, A.values, *B.lists, out)
    return out


class Prepared:
    """Rows over the columns of a set that they are multiplied with.

    Attributes
    ----------
    common : ndarray
        Which columns are dense, as `Patterns.common` says.
    dense : ndarray of shape (rows, common columns)
    starts, columns, values : ndarray
        The other entries, row by row.
    """

    def __init__(self, common: np.ndarray, rows: Patterns, places: np.ndarray) -> None:
        A = rows.matrix
        self.common = common
        self.dense = np.zeros((len(rows), int(common.max(initial=-1)) + 1))
        values = A.data.astype(np.float64, copy=False)
        self.starts, self.columns, self.values = _split(
            A.indptr, A.indices, values, places, common, self.dense
        )

    @cached_property
    def lists(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each column where its list begins, the rows that have it, and their values."""
        return _turned(self.starts, self.columns, self.values, len(self.common))


def prepared(rows: Patterns, partner: Patterns) -> Prepared:
    """Return rows as they meet those of a partner, remembered for its other parts."""
    found: Any = rows.prepared
    if found is None or found.common is not partner.common:
        places = rows.vocabulary.places(partner.vocabulary)
        found = rows.prepared = Prepared(partner.common, rows, places)
    return found


@njit(cache=True, nogil=True)
def _split(indptr, indices, values, places, common, dense):
    """Write entries of common columns into a dense array and return the others."""
    n = len(indptr) - 1
    starts = np.zeros(n + 1, np.int64)
    columns = np.empty(indptr[n] - indptr[0], np.int32)
    kept = np.empty(indptr[n] - indptr[0], np.float64)
    count = 0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            column = places[indices[p]]
            if column >= 0:
                if common[column] >= 0:
                    dense[i, common[column]] = values[p]
                else:
                    columns[count], kept[count] = column, values[p]
                    count += 1
        starts[i + 1] = count
    return starts, columns[:count].copy(), kept[:count].copy()


@njit(cache=True, nogil=True)
def _turned(starts, columns, values, width):
    """Return for each column the rows that have it, and their values."""
    begin = np.zeros(width + 1, np.int64)
    for column in columns:
        begin[column + 1] += 1
    for c in range(width):
        begin[c + 1] += begin[c]
    end = begin[:-1].copy()
    rows, found = np.empty(len(columns), np.int32), np.empty(len(columns), np.float64)
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            place = end[columns[p]]
            rows[place], found[place] = i, values[p]
            end[columns[p]] += 1
    return begin, rows, found


@njit(cache=True, nogil=True)
def _walk(starts, columns, values, begin, rows, found, out):
    """Add to each row of `out` the lists of its patterns, each times its value."""
    for i in range(out.shape[0]):
        row = out[i]
        for p in range(starts[i], starts[i + 1]):
            value = values[p]
            for q in range(begin[columns[p]], begin[columns[p] + 1]):
                row[rows[q]] += value * found[q]
