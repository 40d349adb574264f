"""Stored similarities: whole Gram matrices of which problems use parts, and cached rows."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from mercer.compiled import compiled
from mercer.engine.single import add_rows
from mercer.engine.tiles import spans
from mercer.gram.operator import Dense, Pieces
from mercer.threads import in_threads, one_blas_thread

__all__ = ["GramRanges", "RowCache", "Striped", "cut", "cut_into", "one_blas_thread"]


class GramRanges:
    """Rows and columns of a stored Gram matrix, as ranges of it; nothing is copied.

    Parameters
    ----------
    array : ndarray of shape (n, n), float32 or float64
    ranges : sequence of (start, stop), optional
        Which items; by default all.

    Examples
    --------
    >>> K = np.arange(16.0).reshape(4, 4)
    >>> GramRanges(K, [(0, 1), (2, 4)]).block(np.array([0, 1]), np.empty((2, 2)))
    array([[ 0.,  2.],
           [ 8., 10.]])
    """

    def __init__(self, array: np.ndarray, ranges: list[tuple[int, int]] | None = None) -> None:
        self.array = array
        self.ranges = ranges or [(0, len(array))]
        self.items = np.concatenate([np.arange(a, b) for a, b in self.ranges])

    @property
    def order(self) -> int:
        return len(self.items)

    def diagonal(self) -> np.ndarray:
        return self.array[self.items, self.items].astype(np.float64)

    def block(self, items: np.ndarray, out: np.ndarray) -> np.ndarray:
        places = self.items[items]
        out[...] = self.array[np.ix_(places, places)]
        return out

    def combine(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        places, total, start = self.items[columns], np.zeros(self.order), 0
        coefficients = np.asarray(coefficients, dtype=np.float64)
        for a, b in self.ranges:
            add_rows(self.array, places, coefficients, a, b, total[start : start + b - a])
            start += b - a
        return total

    def fill_rows(self, items: np.ndarray, out: np.ndarray, places: np.ndarray) -> None:
        out[places] = self.array[np.ix_(self.items[items], self.items)]


def cut(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return ``matrix[np.ix_(rows, columns)]``, which NumPy would write twice."""
    return cut_into(np.empty((len(rows), len(columns)), matrix.dtype), matrix, rows, columns)


@compiled
def cut_into(out, matrix, rows, columns):
    """Write ``matrix[np.ix_(rows, columns)]`` to `out`, and return that.

    Examples
    --------
    >>> cut_into(np.empty((2, 1)), np.arange(9.0).reshape(3, 3), np.array([0, 2]), np.array([2]))
    array([[2.],
           [8.]])
    """
    for i in range(len(rows)):
        row, here = matrix[rows[i]], out[i]
        for k in range(len(columns)):
            here[k] = row[columns[k]]
    return out


class RowCache:
    """The rows of a Gram matrix that an iteration asks for again and again.

    Those that were used last are kept, as many as there is room for; missing ones are computed
    together, in blocks.

    Parameters
    ----------
    operator : Pieces
    capacity : int
        Number of rows to keep.
    dtype : float32 or float64
        How they are kept.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> rows = RowCache(Dense(np.diag([1.0, 2.0])), capacity=1)
    >>> for _ in range(2):
    ...     total = rows.combine(np.array([0, 1]), np.array([3.0, 4.0]), keep=np.arange(2) == 0)
    >>> total, rows.kept
    (array([3., 8.]), [0])
    """

    def __init__(self, operator: Pieces, capacity: int, dtype: type = np.float64) -> None:
        self.operator = operator
        self.capacity = min(capacity, operator.order)
        self.dtype = dtype
        self._store: np.ndarray | None = None
        self._seen = np.zeros(operator.order, dtype=bool)
        self._slots: OrderedDict[int, int] = OrderedDict()  # the least recently used comes first

    @property
    def kept(self) -> list[int]:
        """Which rows are here, the least recently used first."""
        return list(self._slots)

    def combine(
        self, columns: np.ndarray, coefficients: np.ndarray, keep: np.ndarray
    ) -> np.ndarray:
        """Multiply with some columns only: return K[:, columns] @ coefficients.

        A row that is to be kept is kept from its second use on: most are wanted once, and storing
        them would cost more than computing them.
        """
        slots = np.array([self._slots.get(int(c), -1) for c in columns], dtype=np.intp)
        here = slots >= 0
        for c in columns[here]:
            self._slots.move_to_end(int(c))
        new = ~here & keep & self._seen[columns]
        self._seen[columns] = True
        if new.sum() > self.capacity:
            new[:] = False
        total = np.zeros(self.operator.order)
        if here.any():  # before new rows take their places
            self._add(total, slots[here], coefficients[here])
        if new.any():
            self._add(total, self._fetch(columns[new]), coefficients[new])
        others = ~here & ~new
        if others.any():
            total += self.operator.combine(columns[others], coefficients[others])
        return total

    def _fetch(self, items: np.ndarray) -> np.ndarray:
        """Compute rows as one block, in the places of those that were not used for longest."""
        if self._store is None:
            self._store = np.empty((self.capacity, self.operator.order), dtype=self.dtype)
        slots = []
        for item in items:
            full = len(self._slots) == self.capacity
            slot = self._slots.popitem(last=False)[1] if full else len(self._slots)
            self._slots[int(item)] = slot
            slots.append(slot)
        places = np.array(slots, dtype=np.intp)
        self.operator.fill_rows(items, self._store, places)
        return places

    def _add(self, total: np.ndarray, slots: np.ndarray, coefficients: np.ndarray) -> None:
        store = self._store
        assert store is not None

        def span(columns: slice) -> None:
            total[columns] += coefficients @ store[slots, columns].astype(np.float64, copy=False)

        in_threads(span, spans(len(total), 1024))  # columns for one thread at a time


STRIPE_ROWS = 512  # that are copied at a time


class Striped(Dense):
    """A stored Gram matrix whose products are made in stripes of rows.

    A product with a few vectors reads the whole matrix and computes little, so it is as fast as
    memory is, if every core reads its own rows. BLAS's own threads wait for each other after each
    of many small steps, and may add up in another order than one thread would; stripes of fixed
    height give the same answer on any number.

    Examples
    --------
    >>> Striped(np.eye(2)) @ np.array([1.0, 2.0])
    array([1., 2.])
    """

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        # Fewer multiplications are done before threads would have started.
        if self.array.size * (vectors.size // self.order) < 15_000_000:
            with one_blas_thread:
                return self.array @ vectors
        result = np.empty((self.order, *vectors.shape[1:]))

        def stripe(rows: slice) -> None:
            np.matmul(self.array[rows], vectors, out=result[rows])

        in_threads(stripe, spans(self.order, STRIPE_ROWS))
        return result
