"""Influence: how a ridge solution and its residuals depend on the items.

All that there is to know is C = (SKS + λI)⁻¹ (see `mercer.solvers.problem`). It comes from a
factor for each penalty (`Inverse`), from one decomposition for all penalties (`Spectrum`), or from
that of a few features (`Features`). With an intercept C is a block of the inverse of the bordered
system, C − ccᵀ/sᵀc with s = S1 and c = Cs; the part that is subtracted is kept apart as `border`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, svd

from mercer import lapack
from mercer.engine.tiles import spans

__all__ = ["Features", "Influence", "Inverse", "Spectrum", "System", "Thin", "Whole"]

EPS = float(np.finfo(float).eps)
LOST = 1e-7  # share of an entry that must be left of it, for the rest to mean something
CHUNK = 256  # eigenvectors that are scaled at a time, so that they stay in the cache


@dataclass
class Influence:
    """C for one penalty: how solution and residuals depend on the items.

    Attributes
    ----------
    alpha : ndarray of shape (n, targets)
        C S y.
    border : ndarray of shape (n,) or None
        c/√(sᵀc), if there is an intercept.
    offset : ndarray of shape (targets,)
        The intercepts.
    condition : float
        Of M, about, times the spread of S where that matters. So many units in the last place
        may be lost.
    """

    alpha: np.ndarray
    border: np.ndarray | None
    offset: np.ndarray
    condition: float

    def block(self, rows: Any) -> np.ndarray:
        """Return the lower triangle of C of ascending rows, without border, in a new array."""
        raise NotImplementedError

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of C, without border."""
        raise NotImplementedError

    def least(self, diagonal: np.ndarray) -> np.ndarray:
        """Return what must be left of the diagonal of C, for the rest to mean something."""
        return LOST * diagonal


class System(Protocol):
    """A ridge problem, prepared for many penalties."""

    order: int

    def at(self, penalty: float) -> Influence | None:
        """Return C and the solution for one penalty, or None if M is singular."""
        ...


def _bordered(found: np.ndarray, s: np.ndarray, intercept: bool) -> tuple[Any, Any, Any]:
    """Return alpha, border and offset from M⁻¹(Sy, s)."""
    if not intercept:
        return found, None, np.zeros(found.shape[1])
    alpha, c = found[:, :-1], found[:, -1]
    length = float(s @ c)
    offset = s @ alpha / length
    return alpha - c[:, None] * offset, c / np.sqrt(length), offset


def _right_sides(target: np.ndarray, s: np.ndarray, intercept: bool) -> np.ndarray:
    R = target * s[:, None]
    return np.column_stack([R, s]) if intercept else R


def _spread(s: np.ndarray) -> float:
    """Return how far weights are apart; only a Cholesky factor does not mind."""
    return float(s.max() / s.min())


class Inverse:
    """C by a Cholesky factor and its inverse, about n³ multiplications for each penalty.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        SKS, symmetric.
    target : ndarray of shape (n, targets)
        y, not yet multiplied with S.
    roots : ndarray of shape (n,), optional
        The diagonal of S, positive.
    intercept : bool

    Examples
    --------
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> influence = Inverse(K, y).at(1.0)
    >>> influence.alpha.ravel().round(12), influence.diagonal().round(12)
    (array([0.875, 1.375]), array([0.375, 0.375]))
    """

    def __init__(
        self,
        matrix: np.ndarray,
        target: np.ndarray,
        roots: np.ndarray | None = None,
        intercept: bool = False,
    ) -> None:
        self.matrix = matrix
        self.order = len(matrix)
        self.s = np.ones(self.order) if roots is None else roots
        self.intercept = intercept
        self.sides = _right_sides(target, self.s, intercept)
        self.norm = lapack.norm(matrix)
        self.spread = _spread(self.s)

    def at(self, penalty: float) -> Whole | None:
        M = self.matrix.copy()
        M.flat[:: self.order + 1] += penalty
        if not lapack.factor(M):
            return None
        X = lapack.invert(M)
        # As C_RR⁻¹α is wanted, α had better have the rounding errors of C than fewer of its own.
        parts = _bordered(lapack.times_inverse(X, self.sides), self.s, self.intercept)
        C = lapack.multiply_out(X)
        condition = (self.norm + penalty) / penalty if penalty > 0 else np.inf
        if condition > SURE:  # a bound; what it really is takes a little time
            condition = min(condition, (self.norm + penalty) * lapack.norm(C))
        return Whole(*parts, condition, C)


SURE = 1e7  # condition up to which there is no need to look closer


@dataclass
class Whole(Influence):
    """C as a stored matrix."""

    C: np.ndarray

    def block(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice):
            return self.C[rows, rows].copy()
        return self.C.take(rows, axis=0).take(rows, axis=1)

    def diagonal(self) -> np.ndarray:
        return np.diag(self.C).copy()

    def between(self, rows: slice) -> np.ndarray:
        """Return the columns of C of some rows, without those rows themselves."""
        size = rows.stop - rows.start
        B = np.empty((len(self.C) - size, size))
        B[: rows.start] = self.C[rows, : rows.start].T
        B[rows.start :] = self.C[rows.stop :, rows]
        return B


class Spectrum:
    """C by one eigendecomposition, SKS = VΛVᵀ, for all penalties.

    Then a penalty takes |R|²n multiplications for each R, and n² for leaving out one at a time.
    Parameters as for `Inverse`.

    Examples
    --------
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> influence = Spectrum(K, y).at(1.0)
    >>> influence.alpha.ravel().round(12), influence.diagonal().round(12)
    (array([0.875, 1.375]), array([0.375, 0.375]))
    """

    def __init__(
        self,
        matrix: np.ndarray,
        target: np.ndarray,
        roots: np.ndarray | None = None,
        intercept: bool = False,
    ) -> None:
        # The fast driver counts its workspace of 2n² numbers in 32 bits.
        driver = "evd" if len(matrix) < 30_000 else "evr"
        self.values, vectors = eigh(matrix, driver=driver, check_finite=False)
        self.vectors = np.ascontiguousarray(vectors)
        self.order = len(matrix)
        self.s = np.ones(self.order) if roots is None else roots
        self.intercept = intercept
        self.sides = self.vectors.T @ _right_sides(target, self.s, intercept)
        self._squares: np.ndarray | None = None

    @property
    def squares(self) -> np.ndarray:
        """The squares of the eigenvectors' entries."""
        if self._squares is None:
            self._squares = self.vectors**2
        return self._squares

    def at(self, penalty: float) -> _Spectral | None:
        shifted = self.values + penalty
        if shifted[0] <= 0:
            return None
        found = self.vectors @ (self.sides / shifted[:, None])
        parts = _bordered(found, self.s, self.intercept)
        condition = float(shifted[-1] / shifted[0]) * _spread(self.s)
        return _Spectral(*parts, condition, self, 1 / shifted)


@dataclass
class _Spectral(Influence):
    """C as eigenvectors and eigenvalues."""

    system: Spectrum
    weights: np.ndarray

    def block(self, rows: Any) -> np.ndarray:
        V = self.system.vectors[rows]
        roots, total = np.sqrt(self.weights), np.zeros((len(V), len(V)))
        part = np.empty((len(V), min(CHUNK, len(roots))))
        for some in spans(len(roots), CHUNK):
            scaled = part[:, : some.stop - some.start]
            np.multiply(V[:, some], roots[some], out=scaled)
            lapack.add_products(total, scaled)
        return total

    def diagonal(self) -> np.ndarray:
        return self.system.squares @ self.weights


class Features:
    """C by the eigenvectors of p < n features: λC = I − ZZᵀ, with Z of p columns.

    With S Φ = UΛ^½Vᵀ the columns of Z are those of U, times √(Λ/(Λ + λ)). Nothing of size n² is
    stored. Parameters as for `Inverse`, with the features Φ, dense or sparse, for the matrix.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> influence = Features(X, y).at(0.0)
    >>> (influence.alpha / influence.diagonal()[:, None]).round(12)[2]  # 4 − 3·1, left out
    array([1.])
    """

    def __init__(
        self,
        matrix: Any,
        target: np.ndarray,
        roots: np.ndarray | None = None,
        intercept: bool = False,
    ) -> None:
        self.order = matrix.shape[0]
        self.s = np.ones(self.order) if roots is None else roots
        values, axes, self.power = (_axes_of_sparse if sparse.issparse(matrix) else _axes)(
            matrix, self.s
        )
        rounding = len(values) * EPS ** (1 / self.power) * values.max(initial=0.0)
        kept = values > rounding
        # What is dropped is rounding, or so small that it looks like it: with a penalty that is
        # smaller still it would have mattered.
        self.dropped = 0.0 if kept.all() else float(rounding)
        self.values = values[kept]
        self.axes = axes[:, kept]
        self.intercept = intercept
        self.right = _right_sides(target, self.s, intercept)
        self.sides = self.axes.T @ self.right

    def at(self, penalty: float) -> Thin | None:
        share = self.values / (self.values + penalty)
        Z = self.axes * np.sqrt(share)
        # λM⁻¹R, not divided by λ, which may be zero: residuals instead of coefficients
        found = self.right - self.axes @ (share[:, None] * self.sides)
        condition = self._condition(penalty)
        if self.intercept and not self.s @ found[:, -1] > LOST * condition * (self.s @ self.s):
            return None  # a constant is a combination of features, to rounding
        return Thin(*_bordered(found, self.s, self.intercept), condition, Z)

    def _condition(self, penalty: float) -> float:
        if not len(self.values):
            return 1.0
        low, top = self.values.min(), self.values.max()
        found = float((top + penalty) / (low + penalty)) ** self.power
        if self.dropped:
            found = max(found, self.dropped / (self.dropped + penalty) / EPS)
        return found * _spread(self.s)


def _axes(matrix: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return Λ, U and the power of Λ's condition at which digits are lost."""
    U, sizes, _ = svd(s[:, None] * matrix, full_matrices=False, check_finite=False)
    return sizes**2, U, 0.5


def _axes_of_sparse(matrix: Any, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    F = sparse.diags_array(s) @ matrix
    values, V = eigh((F.T @ F).toarray(), check_finite=False)
    sizes = np.sqrt(np.where(values > 0, values, np.inf))
    return values, np.asarray(F @ V) / sizes, 1.0


@dataclass
class Thin(Influence):
    """λC as I − ZZᵀ; its `alpha` is λ times that of the others, which cancels."""

    Z: np.ndarray

    def block(self, rows: Any) -> np.ndarray:
        Z = np.ascontiguousarray(self.Z[rows])
        return lapack.add_products(np.eye(len(Z)), Z, -1.0)

    def diagonal(self) -> np.ndarray:
        return 1 - np.einsum("ij,ij->i", self.Z, self.Z)

    def least(self, diagonal: np.ndarray) -> np.ndarray:
        # It is what is left of 1, and ZZᵀ is no better than the condition lets it be.
        return np.full_like(diagonal, 5 * LOST * max(self.condition, 1.0))
