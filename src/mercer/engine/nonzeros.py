"""Nonzeros: squared distances of rows that are mostly zero, over the entries that are not.

A dot product of two rows with 14 of 123 entries takes 14 multiplications, not 123, if one row is
walked along its nonzeros while the other rows lie turned, so that the same entry of many of them
is contiguous.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mercer.compiled import compiled
from mercer.domains.points import RowIndex
from mercer.engine.single import REORDERED

__all__ = ["Nonzeros", "squared_over_nonzeros"]


class Nonzeros:
    """Rows twice: −2 times their nonzeros, one after the other, and all entries, to be turned.

    Examples
    --------
    >>> rows = Nonzeros.of(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> rows.values, rows.columns, rows.turned.shape
    (array([-4., -2.]), array([1, 0], dtype=int32), (2, 2))
    """

    def __init__(
        self,
        array: np.ndarray,
        starts: np.ndarray,
        columns: np.ndarray,
        values: np.ndarray,
        exact: bool = False,
    ) -> None:
        self.array = array
        self.starts = starts
        self.columns = columns
        self.values = values
        self.exact = exact  # whether squared distances are whole numbers, and so have no rounding

    @classmethod
    def of(cls, array: np.ndarray) -> Nonzeros:
        """Return the nonzeros of a dense array."""
        starts, columns, values = _list_nonzeros(np.ascontiguousarray(array))
        # No sum on the way to |x − z|² is larger than 4 max |x|²; up to 1/ε it has no rounding.
        most = 4 * np.einsum("ij,ij->i", array, array, dtype=np.float64).max(initial=0.0)
        exact = most <= 1 / np.finfo(array.dtype).eps and np.all(values == np.rint(values))
        values *= -2
        return cls(array, starts, columns, values, bool(exact))

    @cached_property
    def turned(self) -> np.ndarray:
        """All entries, a row for each column."""
        return np.ascontiguousarray(self.array.T)

    def take(self, rows: RowIndex) -> Nonzeros:
        """Return some of the rows."""
        if isinstance(rows, slice):
            first, last, _ = rows.indices(len(self.starts) - 1)
            starts = self.starts[first : max(first, last) + 1]
            return Nonzeros(self.array[rows], starts, self.columns, self.values, self.exact)
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.starts[:-1][rows] - starts[:-1], lengths)
        places += np.arange(starts[-1])
        columns, values = self.columns[places], self.values[places]
        return Nonzeros(self.array[rows], starts, columns, values, self.exact)


def squared_over_nonzeros(
    A: Nonzeros, a: np.ndarray, B: Nonzeros, b: np.ndarray, out: np.ndarray
) -> np.ndarray:
    """Write |x|² + |z|² − 2xᵀz of all pairs into `out`, `a` and `b` being the squared lengths.

    Examples
    --------
    >>> rows = Nonzeros.of(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> lengths = np.array([4.0, 1.0])
    >>> squared_over_nonzeros(rows, lengths, rows, lengths, np.empty((2, 2)))
    array([[0., 5.],
           [5., 0.]])
    """
    _squared(A.starts, A.columns, A.values, a, B.turned, b, out)
    return out


@compiled
def _list_nonzeros(array):
    """Return where the nonzeros of each row begin, their columns and their values."""
    n, width = array.shape
    starts = np.zeros(n + 1, np.int64)
    for i in range(n):
        count = 0
        for k in range(width):
            count += array[i, k] != 0
        starts[i + 1] = starts[i] + count
    columns, values = np.empty(starts[n], np.int32), np.empty(starts[n], array.dtype)
    p = 0
    for i in range(n):
        for k in range(width):
            if array[i, k] != 0:
                columns[p], values[p] = k, array[i, k]
                p += 1
    return starts, columns, values


@compiled(fastmath=REORDERED)
def _squared(starts, columns, values, a, turned, b, out):
    width = out.shape[1]
    for i in range(out.shape[0]):
        row = out[i]
        for k in range(width):
            row[k] = a[i] + b[k]
        p, end = starts[i], starts[i + 1]
        while p + 3 < end:  # four at a time: the row is then read and written less often
            v0, z0 = values[p], turned[columns[p]]
            v1, z1 = values[p + 1], turned[columns[p + 1]]
            v2, z2 = values[p + 2], turned[columns[p + 2]]
            v3, z3 = values[p + 3], turned[columns[p + 3]]
            for k in range(width):
                row[k] += v0 * z0[k] + v1 * z1[k] + v2 * z2[k] + v3 * z3[k]
            p += 4
        while p < end:
            v, z = values[p], turned[columns[p]]
            for k in range(width):
                row[k] += v * z[k]
            p += 1
