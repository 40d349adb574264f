"""Stored: a Gram matrix in memory, of which several problems use different parts."""

from __future__ import annotations

import numpy as np

__all__ = ["Stored"]


class Stored:
    """Rows and columns of a stored Gram matrix, as ranges of it; nothing is copied.

    Parameters
    ----------
    array : ndarray of shape (n, n), float32 or float64
    ranges : sequence of (start, stop), optional
        Which items; by default all.

    Examples
    --------
    >>> K = np.arange(16.0).reshape(4, 4)
    >>> Stored(K, [(0, 1), (2, 4)]).block(np.array([0, 1]), np.empty((2, 2)))
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
        from mercer.gram.sums import add_rows

        places, total, start = self.items[columns], np.zeros(self.order), 0
        coefficients = np.asarray(coefficients, dtype=np.float64)
        for a, b in self.ranges:
            add_rows(self.array, places, coefficients, a, b, total[start : start + b - a])
            start += b - a
        return total

    def fill_rows(self, items: np.ndarray, out: np.ndarray, places: np.ndarray) -> None:
        out[places] = self.array[np.ix_(self.items[items], self.items)]
