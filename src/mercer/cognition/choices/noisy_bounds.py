"""The mathematics of decision bounds: what noise does to a quadratic discriminant.

With h(x) = yᵀQy + wᵀy + b, y = x − m, and a percept x + ε of variance σ² in every direction,

    E h = h(x) + σ² tr Q,  var h = 2σ⁴ tr Q² + σ²‖w + 2Qy‖²,

exactly. The first answer has the probability Φ(E h/√(var h + criterial variance)): exact for
linear bounds, and the usual approximation for quadratic ones (Ashby & Maddox, 1993).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

__all__ = ["Discriminant", "NoisyValues", "binary_scores", "curvature_pairs"]


def curvature_pairs(dimensions: int) -> list[tuple[int, int]]:
    """Return the pairs of dimensions whose products a quadratic form weighs.

    Examples
    --------
    >>> curvature_pairs(2)
    [(0, 0), (0, 1), (1, 1)]
    """
    return [(i, j) for i in range(dimensions) for j in range(i, dimensions)]


@dataclass(frozen=True)
class NoisyValues:
    """A discriminant at some stimuli, in units of its noise, and how that changes.

    Attributes
    ----------
    u : ndarray of shape (m,)
    for_mean, for_variance : ndarray of shape (m,)
        ∂u/∂E h and ∂u/∂var h.
    """

    u: np.ndarray
    for_mean: np.ndarray
    for_variance: np.ndarray


@dataclass(frozen=True)
class Discriminant:
    """h(x) = yᵀQy + wᵀy + b with y = x − m.

    Attributes
    ----------
    Q : ndarray of shape (dimensions, dimensions)
        Symmetric.
    w, m : ndarray of shape (dimensions,)
    b : float
    """

    Q: np.ndarray
    w: np.ndarray
    b: float
    m: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        Y = X - self.m
        return np.sum(Y * (Y @ self.Q + self.w), axis=1) + self.b

    def slopes(self, X: np.ndarray) -> np.ndarray:
        """Return the gradient of h at each stimulus."""
        return 2 * (X - self.m) @ self.Q + self.w

    def noisy(self, X: np.ndarray, noise: float, criterial: float) -> NoisyValues:
        """Return E h in units of its standard deviation."""
        v = noise**2
        mean = self(X) + v * np.trace(self.Q)
        gradients = np.sum(self.slopes(X) ** 2, axis=1)
        variance = 2 * v**2 * np.sum(self.Q**2) + v * gradients + criterial**2
        root = np.sqrt(variance)
        return NoisyValues(mean / root, 1 / root, -0.5 * mean / (variance * root))

    def noise_slope(self, X: np.ndarray, noise: float, values: NoisyValues) -> np.ndarray:
        """Return ∂u/∂σ."""
        v = noise**2
        gradients = np.sum(self.slopes(X) ** 2, axis=1)
        for_v = values.for_mean * np.trace(self.Q) + values.for_variance * (
            4 * v * np.sum(self.Q**2) + gradients
        )
        return 2 * noise * for_v


def binary_scores(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log Φ(u) and log Φ(−u) as columns, and their slopes for u.

    Examples
    --------
    >>> np.exp(binary_scores(np.array([0.0]))[0])
    array([[0.5, 0.5]])
    """
    scores = np.column_stack([log_ndtr(u), log_ndtr(-u)])
    log_density = -0.5 * u**2 - 0.5 * np.log(2 * np.pi)
    slopes = np.exp(log_density[:, None] - scores) * np.array([1.0, -1.0])
    return scores, slopes
