"""Criteria: how good a Gram matrix and a penalty are, without other data, and how to better them.

Ridge regression with weights W = S² solves (SKS + λI)α + b·S1 = Sy (see `solvers.problem`). Let
P be the inverse of M = SKS + λI, or with an intercept the part of it that is orthogonal to s = S1:
P = M⁻¹ − M⁻¹s(M⁻¹s)ᵀ/sᵀM⁻¹s. Then α = PSy, and for n items

*leave-one-out*: the error at item i of the machine that was fitted without it is αᵢ/Pᵢᵢ, times
    1/sᵢ (Golub, Heath & Wahba, 1979). The criterion is the mean of its square, weighted by W.
*gcv*: generalized cross-validation, the same with the mean of all Pᵢᵢ for each. With unit weights
    it is n·RSS/(n − tr H)², and the trace counts the intercept.
*evidence*: −log p(y) of a Gaussian process, y ~ N(b, K + λW⁻¹), so λ is the variance of noise.
    Without intercept b = 0. With one, b has a flat prior and is integrated out, as in restricted
    maximum likelihood.

Because dP = −P dM P also with an intercept, all have derivatives of the form
G = P diag(d) P − ½(P g αᵀ + α gᵀP) or ½(P − ααᵀ), at about the cost of the inverse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import lapack
from mercer.engine.tiles import spans
from mercer.errors import SelectionError, SolveError, suggestion
from mercer.solvers.cholesky import mirror_down
from mercer.solvers.problem import singular_message

__all__ = ["CRITERIA", "Criterion", "along_penalties", "criterion"]

CRITERIA = ("leave-one-out", "gcv", "evidence")
CONDITION = 1e12  # of M, beyond which few digits of an error are left
WORST = 2e13  # the same in column sums, which for smooth kernels are ten times as large


@dataclass(frozen=True)
class Criterion:
    """The value of a criterion and its derivatives.

    Attributes
    ----------
    value : float
        Of several targets, the mean of their errors, or the sum of their −log p.
    by_gram : ndarray of shape (n, n)
        The symmetric G with which the value changes by Σ Gᵢⱼ dKᵢⱼ.
    by_log_penalty : float
    """

    value: float
    by_gram: np.ndarray
    by_log_penalty: float


@dataclass(frozen=True)
class Fit:
    """What all criteria are made of: S Y, α, the diagonal of P, and the size of the noise."""

    target: np.ndarray
    alpha: np.ndarray
    own: np.ndarray
    weight: float
    log_volume: float

    def errors(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the errors at items left out, times sᵢ, and what α was divided by."""
        own = self.own if name == "leave-one-out" else np.full_like(self.own, self.own.mean())
        return self.alpha / own[:, None], own

    def value(self, name: str) -> float:
        if name == "evidence":
            targets = self.target.shape[1]
            return float(np.sum(self.target * self.alpha) + targets * self.log_volume) / 2
        errors, _ = self.errors(name)
        return float(np.sum(errors**2)) / (self.weight * errors.shape[1])


def criterion(
    name: str,
    K: np.ndarray,
    penalty: float,
    Y: np.ndarray,
    weights: np.ndarray | None = None,
    intercept: bool = False,
) -> Criterion:
    """Return a criterion of a Gram matrix and a penalty, with its derivatives.

    Parameters
    ----------
    name : {"leave-one-out", "gcv", "evidence"}
    K : ndarray of shape (n, n)
        Stays as it is; two more of its size are needed meanwhile.
    penalty : float
    Y : ndarray of shape (n,) or (n, targets)
    weights : ndarray of shape (n,), optional
        An item of weight zero drops out.
    intercept : bool

    Examples
    --------
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 1.0])
    >>> found = criterion("leave-one-out", K, 1.0, y)
    >>> round(found.value, 3), round(found.by_log_penalty, 3)
    (0.444, 0.148)
    """
    known(name)
    Y = np.asarray(Y, dtype=np.float64).reshape(len(K), -1)
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        some = criterion(name, K[np.ix_(kept, kept)], penalty, Y[kept], weights[kept], intercept)
        G = np.zeros_like(K)
        G[np.ix_(kept, kept)] = some.by_gram
        return Criterion(some.value, G, some.by_log_penalty)
    fit, P = _solved(K, penalty, Y, weights, intercept)
    G = _by_gram(name, fit, P)
    by_log_penalty = penalty * float(np.trace(G))
    if weights is not None:
        s = np.sqrt(weights)
        G *= s[:, None]
        G *= s
    return Criterion(fit.value(name), G, by_log_penalty)


def along_penalties(
    name: str,
    K: np.ndarray,
    penalties: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray | None = None,
    intercept: bool = False,
) -> np.ndarray:
    """Return the values of a criterion for many penalties, from one eigendecomposition.

    It is infinite where the system is singular.

    Examples
    --------
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 1.0])
    >>> along_penalties("leave-one-out", K, np.array([0.1, 10.0]), y).round(3)
    array([0.274, 0.84 ])
    """
    known(name)
    w = np.ones(len(K)) if weights is None else weights
    kept = np.flatnonzero(w)
    s, Y = np.sqrt(w[kept]), np.asarray(Y, dtype=np.float64).reshape(len(K), -1)[kept]
    R = s[:, None] * Y
    M = K[np.ix_(kept, kept)] * s[:, None] * s
    values, V = np.linalg.eigh(M)
    rotated, u, squares = V.T @ R, V.T @ s, V**2
    found = np.full(len(penalties), np.inf)
    for place, penalty in enumerate(penalties):
        shifted = values + penalty
        if shifted[0] * CONDITION <= shifted[-1]:
            continue
        log_volume = float(np.sum(np.log(shifted))) + _volume_of_noise(w[kept])
        alpha, own = V @ (rotated / shifted[:, None]), squares @ (1 / shifted)
        if intercept:
            q, total = V @ (u / shifted), float(np.sum(u**2 / shifted))
            alpha = alpha - np.outer(q, s @ alpha) / total
            own = own - q**2 / total
            log_volume += math.log(total / (2 * math.pi))
        if own.min() > 0:
            found[place] = Fit(R, alpha, own, float(w.sum()), log_volume).value(name)
    return found


def known(name: str) -> str:
    """Return the name of a criterion, refusing others; "loo" is short for "leave-one-out"."""
    name = "leave-one-out" if name == "loo" else name
    if name not in CRITERIA:
        raise SelectionError(f"unknown criterion {name!r}{suggestion(name, CRITERIA)}")
    return name


def _solved(
    K: np.ndarray, penalty: float, Y: np.ndarray, weights: np.ndarray | None, intercept: bool
) -> tuple[Fit, np.ndarray]:
    """Return the fit and the matrix P, from a Cholesky factor in the place of the latter."""
    n = len(K)
    w = np.ones(n) if weights is None else weights
    s = np.sqrt(w)
    M = np.array(K, dtype=np.float64, order="C")
    if weights is not None:
        M *= s[:, None]
        M *= s
    M.flat[:: n + 1] += penalty
    R = s[:, None] * Y
    norm = float(np.linalg.norm(M, 1))
    if not lapack.factor(M):
        raise SolveError(singular_message(penalty, n, norm))
    log_volume = 2 * float(np.sum(np.log(np.diag(M)))) + _volume_of_noise(w)
    solved = lapack.solve(M, np.column_stack([R, s]))
    alpha, q = solved[:, :-1], solved[:, -1]
    if not norm * lapack.norm(lapack.multiply_out(lapack.invert(M))) <= WORST:
        raise SolveError(singular_message(penalty, n, norm))
    mirror_down(M.T)
    if intercept:
        if n < 2:
            raise SolveError("with an intercept, a criterion needs at least two items of weight")
        total = float(s @ q)
        alpha = alpha - np.outer(q, s @ alpha) / total
        for rows in spans(n, 256):
            M[rows] -= np.outer(q[rows] / total, q)
        log_volume += math.log(total / (2 * math.pi))
    own = np.diag(M).copy()
    if not own.min() > 0:
        raise SolveError(singular_message(penalty, n, norm))
    return Fit(R, alpha, own, float(w.sum()), log_volume), M


def _by_gram(name: str, fit: Fit, P: np.ndarray) -> np.ndarray:
    """Return the derivatives by SKS; P is overwritten."""
    alpha, targets = fit.alpha, fit.alpha.shape[1]
    if name == "evidence":
        P *= targets / 2
        return _updated(P, -0.5, alpha, alpha)
    errors, own = fit.errors(name)
    g = 2 * errors / (fit.weight * targets * own[:, None])
    d = np.sum(g * errors, axis=1)
    if name == "gcv":
        d[:] = d.mean()
    both = np.column_stack([P @ g, alpha])
    P *= np.sqrt(d)
    return _updated(P @ P.T, -0.5, both, np.roll(both, targets, axis=1))


def _updated(G: np.ndarray, factor: float, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Add factor · ABᵀ to a matrix in its place, some rows at a time."""
    for rows in spans(len(G), 256):
        G[rows] += (factor * A[rows]) @ B.T
    return G


def _volume_of_noise(weights: np.ndarray) -> Any:
    """Return log |2πW⁻¹|."""
    return len(weights) * math.log(2 * math.pi) - float(np.sum(np.log(weights)))
