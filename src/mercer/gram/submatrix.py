"""Cut: some rows and columns of a matrix, in memory of their own.

NumPy takes the rows first and then the columns, writing everything twice. Compiled by Numba, which
takes long to load: imported only when there is a matrix to cut.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["cut"]


@njit(cache=True, nogil=True)
def cut(matrix, rows, columns):
    """Return ``matrix[np.ix_(rows, columns)]``.

    Examples
    --------
    >>> cut(np.arange(9.0).reshape(3, 3), np.array([2, 0]), np.array([1]))
    array([[7.],
           [1.]])
    """
    out = np.empty((len(rows), len(columns)), matrix.dtype)
    for i in range(len(rows)):
        row, here = matrix[rows[i]], out[i]
        for k in range(len(columns)):
            here[k] = row[columns[k]]
    return out
