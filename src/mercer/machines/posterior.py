"""Posteriors: what data leave open about a function that was drawn from a Gaussian process.

With M = K + λW⁻¹ and k(x) the similarities of x to the items, the values of the function keep the
covariance k(x, z) − k(x)ᵀM⁻¹k(z) (Bishop, 6.67; Rasmussen & Williams, 2.26). A constant with a
flat prior adds g(x)g(z)/1ᵀM⁻¹1, where g(x) = 1 − k(x)ᵀM⁻¹1 says how much of it x gets (2.42). As
in a ridge solution, everything is done with SMS = SKS + λI, where S = √W. With features Φ and
B = SΦ, the covariance is λφ(x)ᵀ(BᵀB + λI)⁻¹φ(z): a small system, and no difference of large
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Points, to_numpy
from mercer.engine.tiles import TILE, diagonal, fill, quiet, spans
from mercer.gram import Dense, LowRank, assemble, features_of
from mercer.gram.slopes import Slopes, slopes_of
from mercer.kernels import Kernel
from mercer.kernels.features import scaled_rows
from mercer.lapack import EPS
from mercer.memory import afford
from mercer.solvers.ridge.cholesky import Factor
from mercer.solvers.ridge.criteria import log_volume, negative_log_density

__all__ = ["DualPosterior", "PrimalPosterior", "ProcessPosterior", "Sensitivity", "posterior_of"]

ENTRIES = 4_000_000  # of a block of new items against the training items, or their features
UNSEEN = 1e-10  # share of a self-similarity that features may miss by rounding
LOST_SLOPE = 1e-6  # rounding of a derivative from which differences of likelihoods are better
SLOPE_STEP = 1e-3  # in the logarithm of a parameter, of those differences


@dataclass(frozen=True, eq=False)
class ProcessPosterior:
    """A Gaussian process after it has seen items. A subclass says with which system.

    Parameters
    ----------
    kernel : Kernel
    points : Points
    weights : ndarray or None
        Positive; the noise of an item has variance λ/w.
    penalty : float
        λ.
    flat : bool
        Whether a constant with a flat prior was added to the function.
    """

    kernel: Kernel
    points: Points
    weights: np.ndarray | None
    penalty: float
    flat: bool

    def variance(self, new: Points) -> np.ndarray:
        """Return the variance of the function at each new item, block by block."""
        size = max(ENTRIES // self.order, 1)
        blocks = spans(len(new), size)
        return np.concatenate([np.maximum(self._open(new[b], False), 0.0) for b in blocks])

    def covariance(self, new: Points) -> np.ndarray:
        """Return the covariance matrix of the function at new items."""
        C = self._open(new, True)
        C = (C + C.T) / 2
        np.fill_diagonal(C, np.maximum(np.diag(C), 0.0))
        return C

    def log_likelihood(self, residual: np.ndarray) -> float:
        """Return the logarithm of the density of the data, summed over the columns of y − b.

        With a flat prior the constant is integrated out (Rasmussen & Williams, 2.45).
        """
        certainty = self.certainty if self.flat else None
        volume = log_volume(self.log_determinant, self.roots**2, certainty)
        energy = float(np.sum(self.energy(self.roots[:, None] * residual)))
        return -negative_log_density(energy, residual.shape[1], volume)

    def sensitivity(self, coefficients: np.ndarray) -> Sensitivity:
        """Return the derivatives of the log likelihood by the entries of M."""
        m = np.zeros(len(self.points))
        if self.flat:
            m = self.solve(self.roots[:, None])[:, 0] / np.sqrt(self.certainty)
        return Sensitivity(coefficients, self.roots, self.inverse(), m)

    def slopes(self, sensitivity: Sensitivity, residual: np.ndarray) -> Slopes:
        """Return the derivatives of the log likelihood by the logarithms of the parameters."""
        G: Any = sensitivity
        return slopes_of(self.kernel, self.points, G)

    @cached_property
    def roots(self) -> np.ndarray:
        """The diagonal of S."""
        return np.ones(len(self.points)) if self.weights is None else np.sqrt(self.weights)

    @cached_property
    def certainty(self) -> float:
        """1ᵀM⁻¹1, the reciprocal of the variance of a constant with a flat prior."""
        return float(self.energy(self.roots[:, None])[0])

    def _open(self, new: Points, full: bool) -> np.ndarray:
        """Return variances, or with `full` the covariance matrix, as rounding leaves them."""
        values, V = self.latent(new, full)
        if self.flat:
            g = 1 - V.T @ self.shadow
            values += (np.outer(g, g) if full else g**2) / self.certainty
        return values

    # ---- what a subclass says ---------------------------------------------------------------

    @property
    def order(self) -> int:
        """Order of the system."""
        raise NotImplementedError

    @property
    def log_determinant(self) -> float:
        """log |SMS|."""
        raise NotImplementedError

    @property
    def shadow(self) -> np.ndarray:
        """The vector u with k(x)ᵀM⁻¹1 = v(x)ᵀu."""
        raise NotImplementedError

    def latent(self, new: Points, full: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the covariance without the constant, and the columns v(x)."""
        raise NotImplementedError

    def solve(self, R: np.ndarray) -> np.ndarray:
        """Return (SMS)⁻¹R."""
        raise NotImplementedError

    def energy(self, R: np.ndarray) -> np.ndarray:
        """Return rᵀ(SMS)⁻¹r of each column."""
        raise NotImplementedError

    def inverse(self) -> Callable[[slice, slice], np.ndarray]:
        """Return a function to rows and columns of (SMS)⁻¹."""
        raise NotImplementedError


class Sensitivity:
    """G = ½(AAᵀ − targets · (M⁻¹ − M⁻¹11ᵀM⁻¹/1ᵀM⁻¹1)), of which any part can be asked for.

    Then Σ G∘dM is the change of the log likelihood. The second term in the bracket is there only
    with a flat prior. Rows and columns are slices, as in an array.
    """

    def __init__(
        self,
        coefficients: np.ndarray,
        roots: np.ndarray,
        inverse: Callable[[slice, slice], np.ndarray],
        constant: np.ndarray,
    ) -> None:
        self.coefficients = coefficients
        self.roots = roots
        self.inverse = inverse
        self.constant = constant

    def __getitem__(self, place: tuple[slice, slice]) -> np.ndarray:
        i, j = place
        A, s, m = self.coefficients, self.roots, self.constant
        P = s[i, None] * (self.inverse(i, j) - np.outer(m[i], m[j])) * s[j]
        return (A[i] @ A[j].T - A.shape[1] * P) / 2

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of G."""
        blocks = spans(len(self.roots), TILE)
        return np.concatenate([np.diag(self[rows, rows]) for rows in blocks])


class DualPosterior(ProcessPosterior):
    """A posterior by the n × n system of the items, with v(x) = L⁻¹S k(x).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> posterior = DualPosterior(k, k.admit([[1.0], [2.0]]), None, 5.0, False)
    >>> posterior.variance(k.admit([[0.0], [2.0]])).round(12)
    array([0., 2.])
    """

    @cached_property
    def factor(self) -> Factor:
        """L."""
        return Factor.of(assemble(self.kernel, self.points), self.weights, self.penalty)

    @property
    def order(self) -> int:
        return len(self.points)

    @property
    def log_determinant(self) -> float:
        return self.factor.log_determinant

    @cached_property
    def shadow(self) -> np.ndarray:
        return self.factor.half(self.roots[:, None])[:, 0]

    def latent(self, new: Points, full: bool) -> tuple[np.ndarray, np.ndarray]:
        K = double(fill(self.kernel, new, self.points, dtype=np.float64))
        V = self.factor.half((K if self.weights is None else K * self.roots).T)
        if full:
            return double(fill(self.kernel, new, dtype=np.float64)) - products(V, full), V
        return self_similarity(self.kernel, new) - products(V, full), V

    def solve(self, R: np.ndarray) -> np.ndarray:
        return self.factor.back(self.factor.half(R))

    def energy(self, R: np.ndarray) -> np.ndarray:
        return products(self.factor.half(R), False)

    def inverse(self) -> Callable[[slice, slice], np.ndarray]:
        n = len(self.points)
        afford(8 * n**2, f"an inverse matrix for {n} items", "use fewer items")
        N = self.factor.inverse()
        return lambda rows, columns: N[rows, columns]


class PrimalPosterior(ProcessPosterior):
    """A posterior by the p × p system of the features, with v(x) = L⁻¹φ(x).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> posterior = PrimalPosterior(k, k.admit([[1.0], [2.0]]), None, 5.0, False)
    >>> posterior.variance(k.admit([[0.0], [2.0]])).round(12)
    array([0., 2.])
    """

    @cached_property
    def features(self) -> Any:
        """B = SΦ of the training items."""
        found = LowRank(features_of(self.kernel, self.points)(self.points)).features
        return found if self.weights is None else scaled_rows(found, self.roots)

    @cached_property
    def factor(self) -> Factor:
        """L with LLᵀ = BᵀB + λI."""
        G = dense(self.features.T @ self.features)
        return Factor.of(Dense(G, owned=True), None, self.penalty)

    @property
    def order(self) -> int:
        return int(self.features.shape[1])

    @property
    def log_determinant(self) -> float:
        free = len(self.points) - self.order
        return float(free * np.log(self.penalty)) + self.factor.log_determinant

    @cached_property
    def shadow(self) -> np.ndarray:
        return self.factor.half(np.asarray(self.features.T @ self.roots)[:, None])[:, 0]

    def latent(self, new: Points, full: bool) -> tuple[np.ndarray, np.ndarray]:
        F = dense(LowRank(features_of(self.kernel, self.points)(new)).features).T
        V = self.factor.half(F)
        return self.penalty * products(V, full) + self._unseen(new, F, full), V

    def _unseen(self, new: Points, F: np.ndarray, full: bool) -> np.ndarray:
        """Return what features leave out that no training item has, such as a new category."""
        prior = self_similarity(self.kernel, new)
        rest = prior - products(F, False)
        rest[rest <= UNSEEN * prior] = 0.0
        which = np.flatnonzero(rest)
        if not full:
            return rest
        C = np.zeros((len(new), len(new)))
        if len(which):
            some = double(fill(self.kernel, new[which], dtype=np.float64))
            C[np.ix_(which, which)] = some - products(F[:, which], True)
        return C

    def solve(self, R: np.ndarray) -> np.ndarray:
        return (R - np.asarray(self.features @ self._weights(R))) / self.penalty

    def energy(self, R: np.ndarray) -> np.ndarray:
        W = self._weights(R)  # r is fitted by Bw: all terms of what that costs are positive
        rest = R - np.asarray(self.features @ W)
        return products(W, False) + products(rest, False) / self.penalty

    def inverse(self) -> Callable[[slice, slice], np.ndarray]:
        Z = self.factor.half(dense(self.features).T)
        places = np.arange(len(self.points))

        def part(rows: slice, columns: slice) -> np.ndarray:
            same = places[rows, None] == places[columns]
            return (same - Z[:, rows].T @ Z[:, columns]) / self.penalty

        return part

    def slopes(self, sensitivity: Sensitivity, residual: np.ndarray) -> Slopes:
        """Return what the class above does, by differences where its terms cancel.

        Coefficients of items are differences divided by λ, of which sums of similarities take
        away what features have of different size. The likelihood itself has all its digits.
        """
        found = super().slopes(sensitivity, residual)
        heights = np.sqrt(np.abs(self_similarity(self.kernel, self.points)))
        terms = float(np.sum((np.abs(sensitivity.coefficients).T @ heights) ** 2))
        terms += residual.shape[1] * float(np.sum((self.roots * heights) ** 2)) / self.penalty
        size = max((float(np.abs(slope).max()) for slope in found.values()), default=0.0)
        if EPS * terms <= LOST_SLOPE * min(max(size, 1.0), len(self.points)):
            return found
        return {name: self._difference(name, slope, residual) for name, slope in found.items()}

    def _difference(self, name: str, slope: Any, residual: np.ndarray) -> Any:
        """Return one derivative, or one for each entry of a parameter, by fourth order."""
        value = np.asarray(self.kernel.get_params()[name], dtype=np.float64)
        result = np.empty(np.shape(slope))
        for place in np.ndindex(result.shape):
            change = np.zeros(result.shape)
            change[place] = SLOPE_STEP

            def likelihood(steps: int, change: np.ndarray = change) -> float:
                moved = value * np.exp(steps * change)
                given = float(moved) if moved.ndim == 0 else moved
                kernel = self.kernel.set_params(**{name: given})
                return replace(self, kernel=kernel).log_likelihood(residual)

            near, far = (likelihood(k) - likelihood(-k) for k in (1, 2))
            result[place] = (8 * near - far) / (12 * SLOPE_STEP)
        return result if result.ndim else float(result)

    def _weights(self, R: np.ndarray) -> np.ndarray:
        """Return (BᵀB + λI)⁻¹BᵀR."""
        return self.factor.back(self.factor.half(np.asarray(self.features.T @ R)))


def posterior_of(
    route: str,
    kernel: Kernel,
    points: Points,
    weights: np.ndarray | None,
    penalty: float,
    flat: bool,
) -> ProcessPosterior:
    """Return the posterior by the route of a plan; weights must be positive.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> k = Gaussian(1.0)
    >>> posterior = posterior_of("dual", k, k.admit([[0.0]]), None, 1.0, flat=False)
    >>> posterior.variance(k.admit([[0.0], [9.0]]))
    array([0.5, 1. ])
    """
    made = PrimalPosterior if route == "primal" else DualPosterior
    return made(kernel, points, weights, penalty, flat)


def self_similarity(kernel: Kernel, points: Points) -> np.ndarray:
    """Return k(x, x) in double precision, also of items in single precision."""
    diagonal(kernel, points)  # complains if one is not finite
    with quiet():
        return double(kernel.evaluate_diagonal(points))


def products(V: np.ndarray, full: bool) -> np.ndarray:
    """Return VᵀV, or only its diagonal."""
    return V.T @ V if full else np.einsum("ij,ij->j", V, V)


def dense(features: Any) -> np.ndarray:
    return features.toarray() if sparse.issparse(features) else features


def double(values: Any) -> np.ndarray:
    return to_numpy(values).astype(np.float64, copy=False)
