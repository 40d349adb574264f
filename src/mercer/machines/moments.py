"""Moments of columns with gaps: the mean, and how far entries are from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["count_gaps", "moments", "portions"]

# Columns are looked at in portions of about so many numbers.
BLOCK_NUMBERS = 1 << 21


def count_gaps(rows: Any) -> np.ndarray:
    """Return how many entries of each column are missing (NaN).

    Examples
    --------
    >>> count_gaps(np.array([[1.0, np.nan], [2.0, np.nan]]))
    array([0, 2])
    """
    if sparse.issparse(rows):
        return np.bincount(rows.indices[np.isnan(rows.data)], minlength=rows.shape[1])
    return np.isnan(rows).sum(axis=0)


def moments(rows: Any, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the spread of each column, over the entries that are there.

    The spread is the standard deviation; of sparse rows, it is the root of the mean square. It is
    1 where there is none, differences of the size of rounding errors being none. Numbers are
    scaled before they are squared, so that huge and tiny ones neither overflow nor vanish.

    Parameters
    ----------
    rows : ndarray or sparse rows, of floats
        Not infinite, with NaN in gaps.
    counts : ndarray of int
        How many entries of each column are there: at least one.

    Examples
    --------
    >>> moments(np.array([[1.0, 7.0], [3.0, np.nan]]), np.array([2, 1]))
    (array([2., 7.]), array([1., 1.]))
    >>> moments(sparse.csr_array([[0.0, 3.0], [0.0, 1.0]]), np.array([2, 2]))[1].round(3)
    array([1.   , 2.236])
    """
    if sparse.issparse(rows):
        return _sparse_moments(rows, counts)
    means, spreads = np.empty(rows.shape[1]), np.ones(rows.shape[1])
    least = 2 * np.finfo(rows.dtype).eps
    for part in portions(rows):
        z, n = rows[:, part].astype(np.float64), counts[part]
        gaps = np.isnan(z)
        z[gaps] = 0.0
        # A power of two below the largest: division by it is exact.
        scale = np.ldexp(1.0, np.frexp(np.abs(z).max(axis=0))[1] - 1)
        z /= scale
        # Seen from one of them, equal entries are zeros, and distant ones keep their digits.
        origin = z[np.argmin(gaps, axis=0), np.arange(z.shape[1])]
        z -= origin
        z[gaps] = 0.0
        center = z.sum(axis=0) / n
        z -= center
        z[gaps] = 0.0
        center += z.sum(axis=0) / n  # what rounding has left
        reach = np.abs(z).max(axis=0)
        even = reach <= least
        reach[even] = 1.0
        z /= reach
        spread = reach * np.sqrt(np.sum(z**2, axis=0) / n) * scale
        means[part] = (origin + center) * scale
        spreads[part] = np.where(even | (spread == 0), 1.0, spread)
    return means, spreads


def _sparse_moments(rows: Any, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and root mean square of the entries that are there, zeros included."""
    columns, width = rows.indices, rows.shape[1]
    data = np.where(np.isnan(rows.data), 0.0, rows.data).astype(np.float64)
    reach = np.zeros(width)
    np.maximum.at(reach, columns, np.abs(data))
    reach[reach == 0] = 1.0
    z = data / reach[columns]
    means = np.bincount(columns, z, minlength=width) / counts * reach
    squares = np.bincount(columns, z**2, minlength=width) / counts
    spreads = reach * np.sqrt(squares)
    return means, np.where(spreads == 0, 1.0, spreads)


def portions(rows: np.ndarray) -> list[slice]:
    """Return groups of columns that are small enough for working copies.

    Examples
    --------
    >>> portions(np.zeros((10, 3)))
    [slice(0, 209715, None)]
    """
    height, width = rows.shape
    step = max(1, BLOCK_NUMBERS // max(1, height))
    return [slice(start, start + step) for start in range(0, width, step)]
