"""Packed: a Cholesky factor in single precision, in a quarter of the memory of its matrix.

LAPACK's rectangular full packed format (Gustavson et al., 2010) folds a triangle into a rectangle
without gaps, so that the factor is still computed by fast matrix products. For a lower triangle of
order n = 2k, row i of the transposed rectangle holds row i of the trailing k × k triangle and
then, from its diagonal on, column i of the k leading columns. For odd n the trailing triangle is
one smaller and starts one row later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lapack

from mercer.engine.tiles import quiet, spans
from mercer.threads import in_threads

__all__ = ["Packed"]


@dataclass(frozen=True)
class Packed:
    """A packed triangular factor of a symmetric matrix.

    Attributes
    ----------
    order : int
    scale : float
        What the matrix was divided by, so that single precision can hold it.
    entries : ndarray of shape (n(n + 1)/2,)

    Examples
    --------
    >>> M = np.array([[4.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 1.0]])
    >>> Packed.factor(M, np.diag(M)).solve(np.array([[6.0], [7.0], [3.0]])).ravel().round(5)
    array([1., 1., 3.])
    """

    order: int
    scale: float
    entries: np.ndarray

    @classmethod
    def factor(cls, M: np.ndarray, diagonal: np.ndarray) -> Self | None:
        """Return the factor of M with another diagonal, or None if it is not positive definite.

        Only what is above the diagonal of M is read.
        """
        n = len(M)
        scale = float(np.abs(diagonal).max()) or 1.0
        if 1e-12 < scale < 1e12:
            scale = 1.0  # single precision holds it as it is
        packed = _pack(M, scale)
        k, odd = len(packed), n % 2
        np.fill_diagonal(packed[:, 1 - odd :], diagonal[:k] / scale)
        np.fill_diagonal(packed[odd:], diagonal[k:] / scale)
        entries, info = lapack.spftrf(n, packed.ravel(), transr="N", uplo="L", overwrite_a=1)
        return None if info else cls(n, scale, entries)

    def solve(self, R: np.ndarray) -> np.ndarray:
        """Return X with LLᵀX = R, to single precision, for right-hand sides of any magnitude."""
        scale = np.abs(R).max(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        single = np.asfortranarray(R / scale, dtype=np.float32)
        X, _ = lapack.spftrs(self.order, self.entries, single, transr="N", uplo="L")
        return X * (scale / self.scale)


def _pack(M: np.ndarray, scale: float, size: int = 256) -> np.ndarray:
    """Return the upper triangle of a symmetric matrix, scaled and packed in single precision."""
    n = len(M)
    k, odd = (n + 1) // 2, n % 2
    packed = np.empty((k, n + 1 - odd), dtype=np.float32)
    trailing = M[k:, k:]

    def some(rows: slice) -> None:
        # First the square around the trailing triangle, transposed; what is too much of it is
        # then overwritten by the leading columns.
        tail = slice(max(rows.start - odd, 0), rows.stop - odd)
        with quiet():  # below its diagonal M may hold anything
            for j in spans(tail.stop, size):
                packed[tail.start + odd : rows.stop, j] = _scaled(trailing[j, tail].T, scale)
        for i in range(rows.start, rows.stop):
            packed[i, i + 1 - odd :] = _scaled(M[i, i:], scale)

    in_threads(some, spans(k, size))
    return packed


def _scaled(values: np.ndarray, scale: float) -> np.ndarray:
    return values if scale == 1.0 else values / scale
