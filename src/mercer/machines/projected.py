"""Posteriors on a sketch: what a Gaussian process knows through a few functions.

With centers z₁, …, z_M the prior covariance of the items is taken for Q = K_nM K_MM⁻¹ K_Mn, that
of new items is the true one (the projected process, or deterministic training conditional: Csató
& Opper, 2002; Seeger, Williams & Lawrence, 2003; Rasmussen & Williams, 8.3.4). In coordinates in
which functions have the norm of their coefficients, items have features φ(x) with
φ(x)ᵀφ(z) = q(x, z), and with H = Σ wᵢφ(xᵢ)φ(xᵢ)ᵀ, g = Σ wᵢ(yᵢ − b)φ(xᵢ), A = H + λI

    variance of f(x):  k(x, x) − |φ(x)|² + λφ(x)ᵀA⁻¹φ(x)
    log |Q + λW⁻¹|  =  (n − r) log λ − Σ log wᵢ + log |A|
    (y − b)ᵀ(Q + λW⁻¹)⁻¹(y − b)  =  (Σ wᵢ(yᵢ − b)² − gᵀA⁻¹g)/λ

H and g are sums over the items, so one pass over them is enough, wherever they are. A constant
with a flat prior adds (1 − φ(x)ᵀA⁻¹s)²/c to the variance, with s = Σ wᵢφ(xᵢ) and
c = (Σ wᵢ − sᵀA⁻¹s)/λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from mercer.domains import Points, to_numpy
from mercer.engine.tiles import fill, spans
from mercer.errors import SolveError
from mercer.gram.whitening import Whitening
from mercer.kernels import Kernel
from mercer.machines.posterior import ENTRIES, self_similarity
from mercer.machines.sketching import Sketching
from mercer.rkhs import Featured
from mercer.solvers.ridge.criteria import log_volume, negative_log_density

__all__ = ["ProjectedPosterior", "project"]


@dataclass(frozen=True, eq=False)
class ProjectedPosterior:
    """A Gaussian process on a sketch, after it has seen items.

    Attributes
    ----------
    kernel : Kernel
    function : Function or Featured
        Whose points are the centers, or whose features are random ones.
    T : ndarray
        Coordinates: φ(x) = Tᵀk(x).
    factor : ndarray
        L with LLᵀ = A.
    s : ndarray
    penalty : float
    certainty : float or None
        c, if a constant with a flat prior was added.
    log_likelihood : float
    """

    kernel: Kernel
    function: Any
    T: np.ndarray
    factor: np.ndarray
    s: np.ndarray
    penalty: float
    certainty: float | None
    log_likelihood: float

    def variance(self, new: Points) -> np.ndarray:
        """Return the variance of the function at each new item, block by block."""
        blocks = spans(len(new), max(ENTRIES // len(self.T), 1))
        return np.concatenate([np.maximum(self._open(new[b]), 0.0) for b in blocks])

    def covariance(self, new: Points) -> np.ndarray:
        """Return the covariance matrix of the function at new items."""
        F = self._features(new)
        C = to_numpy(fill(self.kernel, new, dtype=np.float64)) - F @ F.T
        V = solve_triangular(self.factor, F.T, lower=True)
        C = C + self.penalty * V.T @ V
        if self.certainty is not None:
            g = self._constant(V)
            C += np.outer(g, g) / self.certainty
        C = (C + C.T) / 2
        np.fill_diagonal(C, np.maximum(np.diag(C), 0.0))
        return C

    def _open(self, new: Points) -> np.ndarray:
        F = self._features(new)
        V = solve_triangular(self.factor, F.T, lower=True)
        unseen = np.maximum(self_similarity(self.kernel, new) - np.einsum("ij,ij->i", F, F), 0.0)
        found = unseen + self.penalty * np.einsum("ij,ij->j", V, V)
        return found if self.certainty is None else found + self._constant(V) ** 2 / self.certainty

    def _constant(self, V: np.ndarray) -> np.ndarray:
        """Return how much of a constant each new item gets."""
        return np.asarray(1 - V.T @ solve_triangular(self.factor, self.s, lower=True))

    def _features(self, new: Points) -> np.ndarray:
        if isinstance(self.function, Featured):
            return np.asarray(self.function.features(new))
        return to_numpy(fill(self.kernel, new, self.function.points, np.float64)) @ self.T


def project(
    sketching: Sketching,
    white: Whitening | Any,
    target: np.ndarray,
    weights: np.ndarray | None,
    penalty: float,
    intercept: Any,
) -> dict[str, Any]:
    """Return what a posterior needs of items, as plain arrays and numbers, by one more pass.

    Parameters
    ----------
    sketching : Sketching
    white : Whitening
    target, weights : ndarray
    penalty : float
    intercept : float, ndarray or None
        b, if a constant with a flat prior was added.
    """
    sketch: Any = sketching.sketch
    n = sketch.order
    Y = target.reshape(n, -1) - (0.0 if intercept is None else np.atleast_1d(intercept))
    w = np.ones(n) if weights is None else weights
    V = np.column_stack([w, w[:, None] * Y])
    if weights is None:
        H, sums = sketch.whitened_moments(white, V)
    else:
        raw, sums = sketch.moments_and_adjoint(V, weights)
        H, sums = white.around(raw), white.back(sums)
    A = H + penalty * np.eye(len(H))
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError as error:
        raise SolveError(
            f"the system of {len(A)} functions could not be factored; use a larger penalty"
        ) from error
    half = solve_triangular(L, sums, lower=True)
    counted = w[w > 0]
    certainty = None
    if intercept is not None:
        certainty = float(counted.sum() - half[:, 0] @ half[:, 0]) / penalty
    energy = (np.einsum("i,ij,ij->j", w, Y, Y) - np.einsum("ij,ij->j", half, half)[1:]) / penalty
    determinant = (len(counted) - len(A)) * np.log(penalty) + 2 * np.log(np.diag(L)).sum()
    volume = log_volume(float(determinant), counted, certainty)
    return {
        "T": white.matrix, "factor": L, "s": sums[:, 0],
        "certainty": certainty,
        "log_likelihood": -negative_log_density(
            float(np.maximum(energy, 0.0).sum()), Y.shape[1], volume
        ),
    }  # fmt: skip
