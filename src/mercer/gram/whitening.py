"""Whitening: coordinates in which a sketch's functions have the norm of their coefficients.

For f = C(·)ᵀa with |f|² = aᵀBa, take a = Tβ with TᵀBT = I, so that |f| = |β|. Directions in which
B is zero up to rounding are left out: functions in them cannot be told from zero.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, solve_triangular

from mercer.errors import SolveError
from mercer.lapack import EPS

__all__ = ["Whitening"]

EIGEN_UP_TO = 3000  # centers from which a decomposition takes too long, and a factor must do
MAX_JITTER_TRIES = 6  # of adding ten times more to the diagonal


class Whitening:
    """T with TᵀBT = I.

    Parameters
    ----------
    core : ndarray of shape (M, M)
        B, symmetric.
    eigen : bool, optional
        Whether to decompose B, which sees exactly which directions are rounding, or to factor it;
        by default that depends on M.

    Attributes
    ----------
    rank : int
        Number of directions.
    jitter : float
        What was added to the diagonal so that a factor exists.

    Examples
    --------
    >>> white = Whitening(np.array([[4.0, 0.0], [0.0, 0.0]]))
    >>> white.rank, np.abs(white.into(np.array([[1.0]]))).ravel()
    (1, array([0.5, 0. ]))
    """

    def __init__(self, core: np.ndarray, eigen: bool | None = None) -> None:
        self.jitter = 0.0
        self._vectors: np.ndarray | None = None
        self._lower: np.ndarray | None = None
        eigen = len(core) <= EIGEN_UP_TO if eigen is None else eigen
        if not np.isfinite(core).all():
            raise SolveError("the similarities of the centers are not finite; scale the data down")
        if eigen:
            self._decompose(core)
        else:
            self._factor(core)

    def _decompose(self, core: np.ndarray) -> None:
        values, vectors = np.linalg.eigh(core)
        # LAPACK's eigenvalues have errors of about this size.
        kept = values > len(core) * EPS * max(float(values[-1]), 0.0)
        if not kept.any():
            raise SolveError(
                "the similarities of the centers are all zero, or the kernel is not valid on "
                "them; choose other centers or another kernel"
            )
        self.values = values[kept]
        self._vectors = vectors[:, kept] / np.sqrt(self.values)
        self.rank = int(kept.sum())

    def _factor(self, core: np.ndarray) -> None:
        M = len(core)
        size = float(np.mean(np.diag(core)))
        self.jitter = M * EPS * size
        for _ in range(MAX_JITTER_TRIES):
            A = np.array(core, order="F")
            A[np.diag_indices(M)] += self.jitter
            self._lower, info = lapack.dpotrf(A, lower=1, overwrite_a=1, clean=1)
            if info == 0:
                self.rank = M
                return
            self.jitter *= 10
        raise SolveError(
            f"the similarities of the {M} centers could not be factored, even with "
            f"{self.jitter / 10:.1e} added to their diagonal: the kernel is not valid on them; "
            "look at it with mercer.kernels.check"
        )

    @property
    def lower(self) -> np.ndarray:
        """The factor L with B = LLᵀ, where there is one."""
        assert self._lower is not None
        return self._lower

    @property
    def decomposed(self) -> bool:
        """Whether B was decomposed rather than factored."""
        return self._vectors is not None

    @property
    def matrix(self) -> np.ndarray:
        """T, as an array."""
        return self.into(np.eye(self.rank))

    def into(self, beta: np.ndarray) -> np.ndarray:
        """Return a = Tβ."""
        if self._vectors is not None:
            return self._vectors @ beta
        return solve_triangular(self.lower, beta, lower=True, trans="T", check_finite=False)

    def back(self, g: np.ndarray) -> np.ndarray:
        """Return Tᵀg."""
        if self._vectors is not None:
            return self._vectors.T @ g
        return solve_triangular(self.lower, g, lower=True, check_finite=False)

    def root(self) -> np.ndarray:
        """Return TᵀB, whose columns are those of the core in the new coordinates."""
        if self._vectors is not None:
            return (self._vectors * self.values).T
        return self.lower.T.copy()

    def around(self, H: np.ndarray) -> np.ndarray:
        """Return TᵀHT."""
        found = self.back(self.back(H).T)
        return (found + found.T) / 2
