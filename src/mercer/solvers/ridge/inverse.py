"""The inverse of a ridge system: what a solution and its residuals depend on.

All that there is to know is C = (SKS + λI)⁻¹ (see `mercer.solvers.ridge.solver`). It comes from a
Cholesky factor for each penalty (`CholeskySystem`), or from one decomposition for all of them
(`mercer.solvers.ridge.spectral`). With an intercept C is a block of the inverse of the bordered
system, P = C − ccᵀ/sᵀc with s = S1 and c = Cs; c/√(sᵀc) is kept apart as `border`. Folds and
criteria need this; a fit needs α alone, from a `Solver` (`mercer.solvers.ridge.solver`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer import lapack
from mercer.engine.tiles import spans
from mercer.solvers.ridge.criteria import RidgeFit
from mercer.solvers.ridge.solver import eliminate_intercept, intercepts

__all__ = ["CholeskySystem", "FullInverse", "RidgeInverse", "Rows", "System", "TriangularInverse"]

Rows = slice | np.ndarray  # contiguous, or ascending

MIN_SHARE_LEFT = 1e-7  # of an entry, for the difference that is left of it to mean something
EXACT_CONDITION_ABOVE = 1e7  # up to here the bound (|M| + λ)/λ is good enough
CHUNK = 256  # rows that are looked at together, so that they stay in the cache


@dataclass
class RidgeInverse:
    """C for one penalty: how solution and residuals depend on the items.

    Attributes
    ----------
    system : System
    penalty : float
    alpha : ndarray of shape (n, targets)
        P S y.
    border : ndarray of shape (n,) or None
        c/√(sᵀc), if there is an intercept.
    offset : ndarray of shape (targets,)
        The intercepts.
    certainty : float
        sᵀc, if there is an intercept: the reciprocal of the variance of a constant with a flat
        prior, in units of the noise.
    condition : float
        Of M, about, times the spread of S where that matters. So many units in the last place
        may be lost.
    """

    system: System
    penalty: float
    alpha: np.ndarray
    border: np.ndarray | None
    offset: np.ndarray
    certainty: float
    condition: float
    unit: float = field(default=1.0, kw_only=True)  # C and α are stored times this

    def block(self, rows: Rows) -> np.ndarray:
        """Return the lower triangle of C of ascending rows, without border, in a new array."""
        raise NotImplementedError

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of C, without border."""
        raise NotImplementedError

    def log_determinant(self) -> float:
        """Return log |SKS + λI|."""
        raise NotImplementedError

    def pivot_floor(self, diagonal: np.ndarray) -> np.ndarray:
        """Return the smallest pivots of a block of C that are more than rounding errors."""
        return MIN_SHARE_LEFT * diagonal

    def bordered_diagonal(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the diagonal of P, and below which entries it is only rounding errors."""
        d = self.diagonal()
        own = d if self.border is None else d - self.border**2
        return own, self.pivot_floor(d)

    def statistics(self) -> RidgeFit:
        """Return what criteria are made of."""
        system, own, unit = self.system, self.bordered_diagonal()[0], self.unit
        return RidgeFit.of(
            system.right[:, : self.alpha.shape[1]], self.alpha / unit, own / unit, system.s**2,
            self.log_determinant(), self.certainty / unit if system.intercept else None,
        )  # fmt: skip


class System:
    """A ridge problem, prepared for many penalties. A subclass says how C is computed.

    Parameters
    ----------
    target : ndarray of shape (n, targets)
        y, not yet multiplied with S.
    roots : ndarray of shape (n,), optional
        The diagonal of S, positive.
    intercept : bool
    """

    def __init__(
        self, target: np.ndarray, roots: np.ndarray | None = None, intercept: bool = False
    ) -> None:
        self.order = len(target)
        self.s = np.ones(self.order) if roots is None else roots
        self.intercept = intercept
        R = target * self.s[:, None]
        self.right = np.column_stack([R, self.s]) if intercept else R

    @property
    def spread(self) -> float:
        """How far the weights' roots are apart; only a Cholesky factor does not mind."""
        return float(self.s.max() / self.s.min())

    def at(self, penalty: float) -> RidgeInverse | None:
        """Return C and the solution for one penalty, or None if M is singular."""
        raise NotImplementedError

    def border(self, found: np.ndarray) -> tuple[np.ndarray, np.ndarray | None, np.ndarray, float]:
        """Return alpha, border, offset and certainty from M⁻¹S(y, 1)."""
        if not self.intercept:
            return found, None, np.zeros(found.shape[1]), 1.0
        offset, c = intercepts(self.s, found), found[:, -1]
        length = float(self.s @ c)
        return eliminate_intercept(found, offset), c / np.sqrt(length), offset, length


class CholeskySystem(System):
    """C by a Cholesky factor and its inverse, about n³ multiplications for each penalty.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        SKS, symmetric.
    target, roots, intercept
        As for `System`.
    full : bool
        Whether all of C is needed, as for nested folds, not only blocks on its diagonal.

    Examples
    --------
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> inverse = CholeskySystem(K, y).at(1.0)
    >>> inverse.alpha.ravel().round(12), inverse.diagonal().round(12)
    (array([0.875, 1.375]), array([0.375, 0.375]))
    """

    def __init__(
        self,
        matrix: np.ndarray,
        target: np.ndarray,
        roots: np.ndarray | None = None,
        intercept: bool = False,
        full: bool = False,
    ) -> None:
        super().__init__(target, roots, intercept)
        self.matrix, self.full = matrix, full
        self.norm = lapack.norm(matrix)

    def at(self, penalty: float) -> FullInverse | TriangularInverse | None:
        M = self.matrix.copy()
        M.flat[:: self.order + 1] += penalty
        if not lapack.factor(M):
            return None
        half = float(np.sum(np.log(np.diag(M))))
        X = lapack.invert(M)
        # As C_RR⁻¹α is wanted, α had better have the rounding errors of C than fewer of its own.
        parts = self.border(lapack.times_inverse(X, self.right))
        condition = (self.norm + penalty) / penalty if penalty > 0 else np.inf
        ill_conditioned = condition > EXACT_CONDITION_ABOVE
        if self.full or ill_conditioned:
            C = lapack.inverse_from_factor_inverse(X)
            if ill_conditioned:  # what it really is takes a little time
                condition = min(condition, (self.norm + penalty) * lapack.norm(C))
            return FullInverse(self, penalty, *parts, condition, C, 2 * half)
        return TriangularInverse(self, penalty, *parts, condition, X, 2 * half)


@dataclass
class TriangularInverse(RidgeInverse):
    """C as XᵀX with X = L⁻¹, of which a block takes |R|²n multiplications."""

    X: np.ndarray
    log_det: float

    def block(self, rows: Rows) -> np.ndarray:
        places = np.r_[rows]
        part = np.ascontiguousarray(self.X[places[0] :, rows])
        top, places = part[: places[-1] - places[0] + 1], places - places[0]
        top[np.arange(len(top))[:, None] < places] = 0.0  # above the diagonal there is anything
        return lapack.add_inner(np.zeros((part.shape[1],) * 2), part)

    def diagonal(self) -> np.ndarray:
        total = np.zeros(len(self.X))
        for rows in spans(len(self.X), CHUNK):
            part = self.X[rows, : rows.stop].copy()
            part[:, rows.start :] = np.tril(part[:, rows.start :])
            total[: rows.stop] += np.einsum("ij,ij->j", part, part)
        return total

    def log_determinant(self) -> float:
        return self.log_det


@dataclass
class FullInverse(RidgeInverse):
    """C as a stored matrix, of which only the lower triangle is looked at."""

    C: np.ndarray
    log_det: float

    def block(self, rows: Rows) -> np.ndarray:
        if isinstance(rows, slice):
            return self.C[rows, rows].copy()
        return self.C.take(rows, axis=0).take(rows, axis=1)

    def diagonal(self) -> np.ndarray:
        return np.diag(self.C).copy()

    def log_determinant(self) -> float:
        return self.log_det

    def between(self, rows: slice) -> np.ndarray:
        """Return the columns of C of some rows, without those rows themselves."""
        size = rows.stop - rows.start
        B = np.empty((len(self.C) - size, size))
        B[: rows.start] = self.C[rows, : rows.start].T
        B[rows.start :] = self.C[rows.stop :, rows]
        return B
