"""Nonzeros: squared distances of rows that are mostly zero, over the entries that are not.

A dot product of two rows with 14 of 123 entries takes 14 multiplications, not 123, if one row is
walked along its nonzeros while the other rows lie turned, so that the same entry of many of them
is contiguous. The loops are compiled by Numba, which takes long to load, so this module is
imported only when there is much to compare.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import sparse

__all__ = ["Nonzeros", "squared"]


class Nonzeros:
    """Rows twice: −2 times their nonzeros, one after the other, and all entries turned.

    Of the turned entries, those of these rows begin at `first`.

    Examples
    --------
    >>> rows = Nonzeros.of(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> rows.values, rows.turned.shape
    (array([-4., -2.]), (2, 2))
    """

    def __init__(
        self,
        starts: np.ndarray,
        columns: np.ndarray,
        values: np.ndarray,
        turned: np.ndarray,
        first: int = 0,
        exact: bool = False,
    ) -> None:
        self.starts = starts
        self.columns = columns
        self.values = values
        self.turned = turned
        self.first = first
        self.exact = exact  # whether squared distances are whole numbers, and so have no rounding

    @classmethod
    def of(cls, array: np.ndarray) -> Nonzeros:
        """Return the nonzeros of a dense array."""
        rows = sparse.csr_array(array)
        starts, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        whole = np.all(rows.data == np.rint(rows.data)) and np.abs(rows.data).max(initial=0) < 1e6
        turned = np.ascontiguousarray(array.T)
        return cls(starts, columns, -2 * rows.data, turned, exact=bool(whole))

    def take(self, rows: Any) -> Nonzeros:
        """Return some of the rows; a slice shares its memory."""
        if isinstance(rows, slice):
            first, last, _ = rows.indices(len(self.starts) - 1)
            starts = self.starts[first : max(first, last) + 1]
            # Not a part of `turned`: the compiled loop is fast on contiguous arrays alone.
            turned, first = self.turned, self.first + first
            return Nonzeros(starts, self.columns, self.values, turned, first, self.exact)
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.starts[:-1][rows] - starts[:-1], lengths)
        places += np.arange(starts[-1])
        turned = self.turned[:, self.first : self.first + len(self.starts) - 1]
        turned = np.take(turned, rows, axis=1)  # contiguous, which indexing would not be
        columns, values = self.columns[places], self.values[places]
        return Nonzeros(starts, columns, values, turned, exact=self.exact)


def squared(A: Nonzeros, a: np.ndarray, B: Nonzeros, b: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write |x|² + |z|² − 2xᵀz of all pairs into `out`, `a` and `b` being the squared lengths.

    Examples
    --------
    >>> rows = Nonzeros.of(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> lengths = np.array([4.0, 1.0])
    >>> squared(rows, lengths, rows, lengths, np.empty((2, 2)))
    array([[0., 5.],
           [5., 0.]])
    """
    _squared(A.starts, A.columns, A.values, a, B.turned, B.first, b, out)
    return out


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def _squared(starts, columns, values, a, turned, first, b, out):
    width = out.shape[1]
    last = first + width
    for i in range(out.shape[0]):
        row = out[i]
        for k in range(width):
            row[k] = a[i] + b[k]
        p, end = starts[i], starts[i + 1]
        while p + 3 < end:  # four at a time: the row is then read and written less often
            v0, z0 = values[p], turned[columns[p]][first:last]
            v1, z1 = values[p + 1], turned[columns[p + 1]][first:last]
            v2, z2 = values[p + 2], turned[columns[p + 2]][first:last]
            v3, z3 = values[p + 3], turned[columns[p + 3]][first:last]
            for k in range(width):
                row[k] += v0 * z0[k] + v1 * z1[k] + v2 * z2[k] + v3 * z3[k]
            p += 4
        while p < end:
            v, z = values[p], turned[columns[p]][first:last]
            for k in range(width):
                row[k] += v * z[k]
            p += 1
