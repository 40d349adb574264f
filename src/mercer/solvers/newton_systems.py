"""Newton's method on a Gram operator: the objective, and the systems of its steps.

With f = Σ aᵢ k(·, xᵢ) + b the gradient is the function g = Σ (λaᵢ − Rᵢ) k(·, xᵢ), where R is the
loss's residual, and −Σ Rᵢ for b; at the minimum λa = R and Σ aᵢ = 0. Its norm in the kernel's
space, |g|² = dᵀKd with d = λa − R, is the Euclidean norm of the gradient for the weights of any
features, so the certificate does not depend on how f is written down. Without b, J is λ-strongly
convex: |f − f*| ≤ |g|/λ and J − J* ≤ |g|²/2λ.

A Newton step solves (λ + H̃K)δ = −d̃ where H̃ is the loss's curvature after the best change of b
for each δ has been put in (a Schur complement; Rasmussen & Williams, 3.4 and 3.5, solve the same
system by a Cholesky factor for each class). In the inner product uᵀKv this operator is symmetric
and positive definite, so conjugate gradients apply, with one product by K for each of their
steps.

With a small λ the conjugate gradients become slow. Also, they care about functions, not about
coefficients: along directions in which K is zero to rounding, d stays as it was, and the rounding
errors of dᵀKd hide how small the gradient is. In both cases a preconditioner by Cholesky factors
is made for the remaining steps, which then need few products: U ↦ P⁻¹U for a P that is symmetric
in the inner product uᵀKv and not smaller than A = λ + HK.

*One for all classes*: H is replaced by a number sᵢ² for each item, so that
P⁻¹ = (λ + S²K)⁻¹ = S(λI + SKS)⁻¹S⁻¹. With two classes P = A.

*One for each class*: Hᵢ = wᵢ(diag(pᵢ) − pᵢpᵢᵀ) is diagonal but for a matrix of rank one, so that
with D_c = diag(wᵢp_ic), E_c = (λD_c⁻¹ + K)⁻¹ and Woodbury's identity

    A⁻¹U = (U − EV + E(Σ_c E_c)⁻¹Σ_c E_cV_c)/λ,    V = KU

(Rasmussen & Williams, 3.5 and algorithm 3.3), at n³ operations and n² numbers for each class.

*Features*: with K = ΦΦᵀ the first is P⁻¹ = (I − S²Φ(λI + ΦᵀS²Φ)⁻¹Φᵀ)/λ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from mercer.errors import SolveError
from mercer.gram import LowRank, Operator
from mercer.kernels.features import scaled_rows
from mercer.lapack import EPS
from mercer.solvers.conjugate_gradients import LinearMap, in_kernel_space
from mercer.solvers.losses import ConvexLoss, Hessian
from mercer.solvers.ridge.solver import Problem

__all__ = ["GramObjective", "preconditioner"]


@dataclass(frozen=True)
class GramStep:
    """Changes of coefficients a and intercept b, with Ka and |f|² = aᵀKa."""

    a: np.ndarray
    b: np.ndarray
    Ka: np.ndarray
    square: float


@dataclass(frozen=True)
class GramPoint(GramStep):
    """A point with the loss near its scores, d = λa − R, objective and gradient norm.

    `noise` is the size that rounding errors alone would give to the gradient norm.
    """

    near: Hessian
    D: np.ndarray
    values: np.ndarray
    norms: np.ndarray
    noise: float


class GramObjective:
    """Σ loss + λ/2 |f|² as a function of coefficients and intercept.

    Parameters
    ----------
    problem : Problem
    loss : ConvexLoss
    penalty : float
    tol : float
        Norm of the gradient that is to be reached.
    each : bool
        Whether there is memory for a matrix of each class, should one be needed.
    """

    def __init__(
        self, problem: Problem, loss: ConvexLoss, penalty: float, tol: float, each: bool
    ) -> None:
        self.gram, self.intercept = problem.gram, problem.intercept
        self.loss, self.penalty, self.tol, self.each = loss, penalty, tol, each
        self.preconditioned = False
        self.trace = float(np.sum(self.gram.diagonal()))

    def start(self) -> GramPoint:
        return self._at(
            np.zeros((self.gram.order, self.loss.columns)), np.zeros(self.loss.columns)
        )

    def direction(
        self,
        here: GramPoint,
        live: np.ndarray,
        accuracy: np.ndarray,
        report: Callable[[float], object],
    ) -> tuple[GramStep, np.ndarray, int]:
        gradient = float(here.norms[0])
        self.preconditioned |= here.noise > 0.1 * self.tol and gradient < 100 * here.noise
        system = GramSystem(self.gram, here.near, self.penalty, self.intercept)
        if self.preconditioned:
            system.inverse = preconditioner(self.gram, here.near, self.penalty, self.each)
        step, count = system.solve(here.D, float(accuracy[0]))
        self.preconditioned |= count > _worth_a_factor(self.gram, self.loss.columns)
        slope = float(np.sum(here.D * step.Ka) - here.near.residual.sum(axis=0) @ step.b)
        return step, np.array([slope]), count

    def lengths(self, here: GramPoint, step: GramStep, slopes: np.ndarray) -> np.ndarray:
        return np.ones(1)

    def values(self, here: GramPoint, step: GramStep, t: np.ndarray) -> np.ndarray:
        s = float(t[0])
        square = here.square + 2 * s * float(np.sum(here.a * step.Ka)) + s**2 * step.square
        scores = here.Ka + s * step.Ka + (here.b + s * step.b)
        return np.array([self._value(scores, max(square, 0.0))])

    def moved(self, here: GramPoint, step: GramStep, t: np.ndarray) -> GramPoint:
        return self._at(here.a + t[0] * step.a, here.b + t[0] * step.b)

    def recomputed(self, here: GramPoint) -> GramPoint:
        return here  # every point is computed from its coefficients

    def _at(self, a: np.ndarray, b: np.ndarray) -> GramPoint:
        Ka = self.gram @ a
        square, near = max(float(np.sum(a * Ka)), 0.0), self.loss.near(Ka + b)
        D = self.penalty * a - near.residual
        length, noise = self._length(D)
        sums = near.residual.sum(axis=0) if self.intercept else np.zeros(1)
        norm = float(np.hypot(length, np.linalg.norm(sums)))
        value = self._value(Ka + b, square)
        return GramPoint(a, b, Ka, square, near, D, np.array([value]), np.array([norm]), noise)

    def _value(self, scores: np.ndarray, square: float) -> float:
        return self.loss.value(scores) + self.penalty / 2 * square

    def _length(self, D: np.ndarray) -> tuple[float, float]:
        """Return |Σ dᵢ k(·, xᵢ)|, and the size that rounding errors alone would give it."""
        if isinstance(self.gram, LowRank):
            return float(np.linalg.norm(np.asarray(self.gram.features.T @ D))), 0.0
        square = float(np.sum(D * (self.gram @ D)))
        uncertain = EPS * max(self.trace, 0.0) * float(np.sum(D**2))
        if square < -1e3 * uncertain:
            raise SolveError(
                "the Gram matrix has a negative eigenvalue, so |f|² can be negative and the "
                "penalized loss has no minimum; use a positive semi-definite kernel"
            )
        return float(np.sqrt(max(square, 0.0))), float(np.sqrt(uncertain))


class GramSystem:
    """The equations of one Newton step."""

    def __init__(self, gram: Operator, near: Hessian, penalty: float, intercept: bool) -> None:
        self.gram, self.near, self.penalty, self.intercept = gram, near, penalty, intercept
        self.total = np.linalg.inv(near.total()) if intercept else None
        self.inverse: LinearMap | None = None

    def solve(self, D: np.ndarray, accuracy: float) -> tuple[GramStep, int]:
        """Return the step for d = λa − R, and the number of products that it took."""
        R = self.near.residual
        right = -D
        if self.intercept:
            right = right - self._spread(R.sum(axis=0))
        x, Kx, count = in_kernel_space(
            self.gram, self._apply, right, accuracy, limit=1000, precondition=self.inverse
        )
        b = np.zeros(R.shape[1])
        if self.total is not None:
            b = self.total @ (R.sum(axis=0) - self.near(Kx).sum(axis=0))
        return GramStep(x, b, Kx, float(np.sum(x * Kx))), count

    def _apply(self, P: np.ndarray, KP: np.ndarray) -> np.ndarray:
        """Return (λ + H̃K)P."""
        HKP = self.near(KP)
        if self.intercept:
            HKP -= self._spread(HKP.sum(axis=0))
        return self.penalty * P + HKP

    def _spread(self, sums: np.ndarray) -> np.ndarray:
        """Return the change of H(Ka + b) by the b that changes its sums by these."""
        assert self.total is not None
        return self.near(np.broadcast_to(self.total @ sums, self.near.residual.shape))


def _worth_a_factor(gram: Operator, columns: int) -> int:
    """Return about how many products cost as much as a preconditioner."""
    if isinstance(gram, LowRank):
        return 10 + gram.features.shape[1]
    return 10 + gram.order // (40 if columns == 1 else 10)


def preconditioner(gram: Operator, near: Hessian, penalty: float, each: bool) -> LinearMap | None:
    """Return U ↦ P⁻¹U, or None if a factor does not exist.

    Parameters
    ----------
    gram : Operator
    near : Hessian
    penalty : float
    each : bool
        Whether there is memory for a matrix of each class.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> from mercer.solvers.losses import Binary
    >>> near = Binary(np.array([0, 1]), np.ones(2)).near(np.zeros((2, 1)))
    >>> inverse = preconditioner(Dense(4 * np.eye(2)), near, 1.0, each=True)
    >>> inverse(np.ones((2, 1))).ravel()
    array([0.5, 0.5])
    """
    if isinstance(gram, LowRank):
        return _by_features(gram, near.scale(), penalty)
    classes = near.classes() if each else None
    if classes is None:
        return _one_for_all(gram, near.scale(), penalty)
    return _one_for_each(gram, classes, penalty)


def _one_for_all(gram: Operator, scale: np.ndarray, penalty: float) -> LinearMap | None:
    # Items that hardly count get a share of the largest curvature, so that S⁻¹ exists.
    s = np.sqrt(np.maximum(scale, 1e-6 * scale.max()))[:, None]
    factor = _factor(gram.matrix(), s, penalty)
    if factor is None:
        return None
    return lambda U: s * lapack.dpotrs(factor, U / s, lower=1)[0]


def _one_for_each(gram: Operator, classes: np.ndarray, penalty: float) -> LinearMap | None:
    parts = []
    total = np.zeros((gram.order, gram.order))
    for weights in classes.T:
        s = np.sqrt(weights)[:, None]
        factor = _factor(gram.matrix(), s, penalty)
        if factor is None:
            return None
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
        E = _mirrored(inverse.T)
        E *= s
        E *= s.T
        total += E
        parts.append(E)
    shared, info = lapack.dpotrf(total.T, lower=1, overwrite_a=1, clean=0)
    if info != 0:
        return None

    def apply(U: np.ndarray) -> np.ndarray:
        V = gram @ U
        EV = np.column_stack([E @ v for E, v in zip(parts, V.T, strict=True)])
        common, _ = lapack.dpotrs(shared, EV.sum(axis=1), lower=1)
        return (U - EV + np.column_stack([E @ common for E in parts])) / penalty

    return apply


def _by_features(gram: LowRank, scale: np.ndarray, penalty: float) -> LinearMap | None:
    Phi = gram.features
    weighted = scaled_rows(Phi, scale)
    G = Phi.T @ weighted
    G = np.array(G.toarray() if hasattr(G, "toarray") else G)
    G[np.diag_indices(len(G))] += penalty
    factor, info = lapack.dpotrf(G.T, lower=1, overwrite_a=1, clean=0)
    if info != 0:
        return None

    def apply(U: np.ndarray) -> np.ndarray:
        W, _ = lapack.dpotrs(factor, np.asarray(Phi.T @ U), lower=1)
        return (U - np.asarray(weighted @ W)) / penalty

    return apply


def _factor(K: np.ndarray, s: np.ndarray, penalty: float) -> np.ndarray | None:
    """Return the Cholesky factor of λI + SKS, as the lower triangle that LAPACK sees."""
    N = K * s
    N *= s.T
    N[np.diag_indices(len(N))] += penalty
    factor, info = lapack.dpotrf(N.T, lower=1, overwrite_a=1, clean=0)
    return factor if info == 0 else None


def _mirrored(upper: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix with this upper triangle."""
    full = np.triu(upper)
    full += np.triu(upper, 1).T
    return full
