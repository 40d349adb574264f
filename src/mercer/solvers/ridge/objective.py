"""Criteria with their derivatives: how to better a Gram matrix and a penalty.

Because dP = −P dM P also with an intercept, all criteria of `mercer.solvers.ridge.criteria` have
derivatives of the form G = P diag(d) P − ½(P g αᵀ + α gᵀP) or ½(P − ααᵀ), at about the cost of the
inverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer import lapack
from mercer.engine.tiles import spans
from mercer.errors import SolveError
from mercer.solvers.ridge.criteria import RidgeFit, criterion_name
from mercer.solvers.ridge.solver import singular_message
from mercer.solvers.ridge.spectral import TridiagonalSystem

__all__ = ["Criterion", "along_penalties", "criterion"]

MAX_CONDITION = 1e12  # of M, beyond which few digits of an error are left
MAX_CONDITION_1 = 2e13  # the same in column sums, which for smooth kernels are ten times as large


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
    criterion_name(name)
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
    """Return the values of a criterion for many penalties, from one decomposition.

    It is infinite where the system is singular.

    Examples
    --------
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 1.0])
    >>> along_penalties("leave-one-out", K, np.array([0.1, 10.0]), y).round(3)
    array([0.274, 0.84 ])
    """
    criterion_name(name)
    w = np.ones(len(K)) if weights is None else weights
    kept = np.flatnonzero(w)
    s, Y = np.sqrt(w[kept]), np.asarray(Y, dtype=np.float64).reshape(len(K), -1)[kept]
    M = K[np.ix_(kept, kept)] * s[:, None] * s
    system = TridiagonalSystem(M, Y, s, intercept, penalties.tolist())
    found = np.full(len(penalties), np.inf)
    for place, penalty in enumerate(penalties.tolist()):
        low, high = system.smallest + penalty, system.largest + penalty
        inverse = system.at(penalty) if low * MAX_CONDITION > high else None
        fit = None if inverse is None else inverse.statistics()
        if fit is not None and fit.own.min() > 0:
            found[place] = fit.value(name)
    return found


def _solved(
    K: np.ndarray, penalty: float, Y: np.ndarray, weights: np.ndarray | None, intercept: bool
) -> tuple[RidgeFit, np.ndarray]:
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
    log_determinant, total = 2 * float(np.sum(np.log(np.diag(M)))), None
    solved = lapack.solve(M, np.column_stack([R, s]))
    alpha, q = solved[:, :-1], solved[:, -1]
    if (
        not norm * lapack.norm(lapack.inverse_from_factor_inverse(lapack.invert(M)))
        <= MAX_CONDITION_1
    ):
        raise SolveError(singular_message(penalty, n, norm))
    lapack.mirror(M)
    if intercept:
        if n < 2:
            raise SolveError("with an intercept, a criterion needs at least two items of weight")
        total = float(s @ q)
        alpha = alpha - np.outer(q, s @ alpha) / total
        for rows in spans(n, 256):
            M[rows] -= np.outer(q[rows] / total, q)
    own = np.diag(M).copy()
    if not own.min() > 0:
        raise SolveError(singular_message(penalty, n, norm))
    return RidgeFit.of(R, alpha, own, w, log_determinant, total), M


def _by_gram(name: str, fit: RidgeFit, P: np.ndarray) -> np.ndarray:
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
