"""Sums in double precision of similarities in single precision.

BLAS would add them up in single precision, and lose as many digits as the sum is smaller than its
terms. Compiled by Numba, which takes long to load: imported only when there is such a sum.
"""

from __future__ import annotations

from numba import njit

__all__ = ["add_rows", "add_up"]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def add_up(tile, coefficients, out):
    """Add tile @ coefficients to `out`.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.zeros(1)
    >>> add_up(np.ones((1, 2), np.float32), np.array([1.0, 2.0]), out)
    >>> out
    array([3.])
    """
    for i in range(tile.shape[0]):
        row, total = tile[i], 0.0
        for k in range(len(row)):
            total += row[k] * coefficients[k]
        out[i] += total


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def add_rows(array, rows, coefficients, first, last, out):
    """Add Σ coefficients·rows of an array to `out`, only its columns from `first` to `last`.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.zeros(1)
    >>> add_rows(np.eye(2, dtype=np.float32), np.array([0, 1]), np.array([2.0, 3.0]), 1, 2, out)
    >>> out
    array([3.])
    """
    for r in range(len(rows)):
        row, c = array[rows[r]][first:last], coefficients[r]
        for k in range(last - first):
            out[k] += c * row[k]
