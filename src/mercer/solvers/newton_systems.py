"""Preconditioners: the system of a Newton step, or one near it, solved by Cholesky factors.

The operator is A = λ + HK, with the curvature H of a loss. Each function here returns U ↦ P⁻¹U for
a P that is symmetric in the inner product uᵀKv and not smaller than A.

*One for all classes*: H is replaced by a number sᵢ² for each item, so that
P⁻¹ = (λ + S²K)⁻¹ = S(λI + SKS)⁻¹S⁻¹. With two classes P = A.

*One for each class*: Hᵢ = wᵢ(diag(pᵢ) − pᵢpᵢᵀ) is diagonal but for a matrix of rank one, so that
with D_c = diag(wᵢp_ic), E_c = (λD_c⁻¹ + K)⁻¹ and Woodbury's identity

    A⁻¹U = (U − EV + E(Σ_c E_c)⁻¹Σ_c E_cV_c)/λ,    V = KU

(Rasmussen & Williams, 3.5 and algorithm 3.3), at n³ operations and n² numbers for each class.

*Features*: with K = ΦΦᵀ the first is P⁻¹ = (I − S²Φ(λI + ΦᵀS²Φ)⁻¹Φᵀ)/λ.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from mercer.gram import LowRank, Operator
from mercer.kernels.features import scaled_rows
from mercer.solvers.conjugate_gradients import LinearMap
from mercer.solvers.losses import Curvature

__all__ = ["preconditioner"]

# Items that hardly count get this share of the largest curvature, so that S⁻¹ exists.
FLOOR = 1e-6


def preconditioner(
    gram: Operator, near: Curvature, penalty: float, each: bool
) -> LinearMap | None:
    """Return U ↦ P⁻¹U, or None if a factor does not exist.

    Parameters
    ----------
    gram : Operator
    near : Curvature
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
    s = np.sqrt(np.maximum(scale, FLOOR * scale.max()))[:, None]
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
