"""Ridge systems for all penalties: one decomposition of the Gram matrix or of the features.

SKS = QTQᵀ with an orthogonal Q and a tridiagonal T takes half the time of eigenvectors, and serves
as well: T + λI = LDLᵀ is had in n steps for every λ, and so C = YᵀY with Y = D^(-½)L⁻¹Qᵀ (Gu,
Bates, Chen & Wahba, SIAM J. Matrix Anal. Appl. 1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, eigvalsh_tridiagonal, svd
from scipy.linalg.lapack import dpttrf, dpttrs

from mercer import lapack
from mercer.compiled import compiled
from mercer.lapack import EPS
from mercer.solvers.ridge.inverse import MIN_SHARE_LEFT, RidgeInverse, Rows, System

__all__ = ["FeatureInverse", "FeatureSystem", "TridiagonalInverse", "TridiagonalSystem"]


class TridiagonalSystem(System):
    """C by one reduction to tridiagonal form, SKS = QTQᵀ, for all penalties.

    Then a penalty takes |R|²n multiplications for each R, and n² for leaving out one at a time.
    Parameters as for `CholeskySystem`; the solutions for some `penalties` are computed at once.

    Examples
    --------
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> inverse = TridiagonalSystem(K, y).at(1.0)
    >>> inverse.alpha.ravel().round(12), inverse.diagonal().round(12)
    (array([0.875, 1.375]), array([0.375, 0.375]))
    """

    def __init__(
        self,
        matrix: np.ndarray,
        target: np.ndarray,
        roots: np.ndarray | None = None,
        intercept: bool = False,
        penalties: Sequence[float] = (),
    ) -> None:
        super().__init__(target, roots, intercept)
        self.Q, self.own, self.beside = lapack.tridiagonal(matrix)  # the rows of Q are its vectors
        self.sides = self.Q @ self.right
        known = {one: self._solve(one) for one in dict.fromkeys(penalties)}
        definite = {one: found for one, found in known.items() if found is not None}
        solved: list[np.ndarray] = []
        if definite:
            columns = self.Q.T @ np.column_stack(list(definite.values()))
            solved = np.split(columns, len(definite), axis=1)
        self._solved = dict(zip(definite, solved, strict=True))

    def _solve(self, penalty: float) -> np.ndarray | None:
        """Return (T + λI)⁻¹QᵀS(y, 1), or None if that is not definite."""
        pivots, lower, info = self._factor(penalty)
        if info or self.order == 1:
            return None if info else self.sides / pivots
        return dpttrs(pivots, lower, self.sides)[0]

    def _factor(self, penalty: float) -> tuple[np.ndarray, np.ndarray, int]:
        """Return D and what is below the diagonal of L in T + λI = LDLᵀ."""
        shifted = self.own + penalty
        if self.order == 1:  # which LAPACK's wrapper does not take
            return shifted, self.beside, int(not shifted[0] > 0)
        return dpttrf(shifted, self.beside)

    @cached_property
    def smallest(self) -> float:
        """Smallest eigenvalue of SKS."""
        return self._eigenvalue(0)

    @cached_property
    def largest(self) -> float:
        """Largest eigenvalue of SKS."""
        return self._eigenvalue(self.order - 1)

    def _eigenvalue(self, place: int) -> float:
        if self.order == 1:
            return float(self.own[0])
        # In units of the largest entry squares can neither under- nor overflow.
        unit = max(np.abs(self.own).max(), np.abs(self.beside).max()) or 1.0
        T = self.own / unit, self.beside / unit
        found = eigvalsh_tridiagonal(*T, select="i", select_range=(place, place))
        return float(found[0] * unit)

    @property
    def trace(self) -> float:
        """Sum of the eigenvalues."""
        return float(self.own.sum())

    def at(self, penalty: float) -> TridiagonalInverse | None:
        pivots, lower, info = self._factor(penalty)
        if info or not self.smallest + penalty > 0:
            return None
        found = self._solved.get(penalty)
        if found is None:
            solved = self._solve(penalty)
            assert solved is not None
            found = self.Q.T @ solved
        condition = (self.largest + penalty) / (self.smallest + penalty) * self.spread
        return TridiagonalInverse(self, penalty, *self.border(found), condition, pivots, lower)


@dataclass
class TridiagonalInverse(RidgeInverse):
    """C as YᵀY with Y = D^(-½)L⁻¹Qᵀ."""

    system: TridiagonalSystem
    pivots: np.ndarray
    lower: np.ndarray

    @cached_property
    def _sweep(self) -> tuple[np.ndarray, np.ndarray]:
        """What row i of Q counts in row i of Y, and row i of Y in the next one."""
        scale = 1 / np.sqrt(self.pivots)
        return scale, self.lower * scale[1:] / scale[:-1]

    @cached_property
    def Y(self) -> np.ndarray:
        return swept_rows(self.system.Q, *self._sweep)

    def block(self, rows: Rows) -> np.ndarray:
        part = self.Y[:, rows] if isinstance(rows, slice) else self.Y.take(rows, axis=1)
        return lapack.add_inner(np.zeros((part.shape[1],) * 2), part)

    def diagonal(self) -> np.ndarray:
        if "Y" in self.__dict__:
            return np.einsum("ij,ij->j", self.Y, self.Y)
        return column_squares(self.system.Q, *self._sweep)

    def log_determinant(self) -> float:
        return float(np.sum(np.log(self.pivots)))

    def squared_norm(self) -> float:
        """Return αᵀSKSα, summed over the columns: |f|² of the function."""
        own, beside = self.system.own[:, None], self.system.beside[:, None]
        x = self.system.Q @ self.alpha
        return float(np.sum(own * x**2) + 2 * np.sum(beside * x[1:] * x[:-1]))


@compiled
def swept_rows(Q: np.ndarray, scale: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return Y, of which each row is one of Q and what is left of the row before."""
    Y = np.empty_like(Q)
    for i in range(len(Q)):
        before = down[i - 1] if i else 0.0
        for j in range(len(Q)):
            Y[i, j] = Q[i, j] * scale[i] - (Y[i - 1, j] * before if i else 0.0)
    return Y


@compiled
def column_squares(Q: np.ndarray, scale: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return the squared lengths of the columns of Y, of which one row at a time is known."""
    n = len(Q)
    row, sums = np.zeros(n), np.zeros(n)
    for i in range(n):
        before = down[i - 1] if i else 0.0
        for j in range(n):
            row[j] = Q[i, j] * scale[i] - row[j] * before
            sums[j] += row[j] * row[j]
    return sums


class FeatureSystem(System):
    """C by the eigenvectors of p < n features: λC = I − ZZᵀ, with Z of p columns.

    With S Φ = UΛ^½Vᵀ the columns of Z are those of U, times √(Λ/(Λ + λ)). Nothing of size n² is
    stored. Parameters as for `CholeskySystem`, with the features Φ, dense or sparse, for the
    matrix.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> inverse = FeatureSystem(X, y).at(0.0)
    >>> (inverse.alpha / inverse.diagonal()[:, None]).round(12)[2]  # 4 − 3·1, left out
    array([1.])
    """

    smallest = 0.0  # eigenvalue of SKS

    @property
    def largest(self) -> float:
        """Largest eigenvalue of SKS."""
        return float(self.values.max(initial=0.0))

    @property
    def trace(self) -> float:
        """Sum of the eigenvalues."""
        return float(self.values.sum())

    def __init__(
        self,
        matrix: Any,
        target: np.ndarray,
        roots: np.ndarray | None = None,
        intercept: bool = False,
    ) -> None:
        super().__init__(target, roots, intercept)
        self.values, axes, self.power = (_axes_of_sparse if sparse.issparse(matrix) else _axes)(
            matrix, self.s
        )
        rounding = len(self.values) * EPS ** (1 / self.power) * self.values.max(initial=0.0)
        kept = self.values > rounding
        # What is dropped is rounding, or so small that it looks like it: with a penalty that is
        # smaller still it would have mattered.
        self.dropped = 0.0 if kept.all() else float(rounding)
        self.values = self.values[kept]
        self.axes = axes[:, kept]
        self.sides = self.axes.T @ self.right

    def at(self, penalty: float) -> FeatureInverse | None:
        share = self.values / (self.values + penalty)
        Z = self.axes * np.sqrt(share)
        # λM⁻¹R, not divided by λ, which may be zero: residuals instead of coefficients
        found = self.right - self.axes @ (share[:, None] * self.sides)
        condition = self._condition(penalty)
        left = self.s @ found[:, -1] if self.intercept else 1.0
        if not left > 0:
            return None
        if self.intercept and not left > MIN_SHARE_LEFT * condition * (self.s @ self.s):
            condition = np.inf  # a constant is a combination of features, to rounding
        return FeatureInverse(self, penalty, *self.border(found), condition, Z, unit=penalty)

    def _condition(self, penalty: float) -> float:
        if not len(self.values):
            return 1.0
        low, top = self.values.min(), self.values.max()
        found = float((top + penalty) / (low + penalty)) ** self.power
        if self.dropped:
            found = max(found, self.dropped / (self.dropped + penalty) / EPS)
        return found * self.spread


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
class FeatureInverse(RidgeInverse):
    """λC as I − ZZᵀ; its `alpha` is λ times that of the others, which cancels."""

    system: FeatureSystem
    Z: np.ndarray

    def block(self, rows: Rows) -> np.ndarray:
        Z = np.ascontiguousarray(self.Z[rows])
        return lapack.add_outer(np.eye(len(Z)), Z, -1.0)

    def diagonal(self) -> np.ndarray:
        return 1 - np.einsum("ij,ij->i", self.Z, self.Z)

    def log_determinant(self) -> float:
        values, penalty = self.system.values, self.penalty
        free = self.system.order - len(values)
        return float(np.sum(np.log(values + penalty)) + free * np.log(penalty))

    def pivot_floor(self, diagonal: np.ndarray) -> np.ndarray:
        # It is what is left of 1, and ZZᵀ is no better than the condition lets it be.
        return np.full_like(diagonal, 5 * MIN_SHARE_LEFT * max(self.condition, 1.0))

    def squared_norm(self) -> float:
        """Return |f|², summed over the columns, from the axes: α itself is what is left of y."""
        system, count = self.system, self.alpha.shape[1]
        sides = system.sides[:, :count]
        if system.intercept:
            sides = sides - np.outer(system.sides[:, -1], self.offset)
        return float(
            np.sum(system.values @ (sides / (system.values + self.penalty)[:, None]) ** 2)
        )
