"""Stationary kernels: similarity as a function of the difference x − z.

Numbers like (6.23) are those of equations in Bishop's *Pattern Recognition and Machine Learning*.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Vectors
from mercer.engine.block import Array, Block, dot, scaled
from mercer.engine.distances import (
    absolute_differences,
    cityblock,
    minkowski,
    move_to_origin,
    power,
    squared_differences,
    squared_distances,
)
from mercer.engine.gradients import difference_sums, sign_sums
from mercer.engine.transform import RowTransform, Scales, pull_back
from mercer.errors import ValidityError
from mercer.kernels.base import VectorKernel, kernel
from mercer.kernels.proof import Proof, proved
from mercer.kernels.vectors.bandwidths import Bandwidth, bandwidth, resolve_bandwidth
from mercer.kernels.vectors.metrics import (
    Metric,
    clean_metric,
    metric_scales,
    power_sum,
)
from mercer.values import positive, shown

__all__ = [
    "Gaussian",
    "Laplacian",
    "RationalQuadratic",
    "Stationary",
]


class Stationary(VectorKernel):
    """A function of the difference, with k(x, x) = 1, a bandwidth σ and mostly a metric.

    σ is a positive number, one per dimension, or the name of a heuristic. A metric says how much
    each dimension, or direction, counts before that.
    """

    bandwidth: Bandwidth
    heuristic: ClassVar[tuple[str, ...]] = ("bandwidth",)
    # Parameters that the formula leaves out where they are what they are by default.
    unspoken: ClassVar[dict[str, Any]] = {"metric": None}

    def __post_init__(self) -> None:
        self._normalize("bandwidth", bandwidth(self, self.bandwidth))
        if self._metric is None:
            return
        self._normalize("metric", clean_metric(self, "metric", self._metric))
        if not isinstance(self.bandwidth, tuple):
            return
        name, count = type(self).__name__, len(self._metric)
        if not isinstance(self._metric, tuple):
            raise ValidityError(
                f"{name} has a matrix as its metric and one bandwidth per dimension, found "
                f"{self.bandwidth}; give one bandwidth, and put the others into the matrix"
            )
        if len(self.bandwidth) != count:
            raise ValidityError(
                f"{name} has {len(self.bandwidth)} bandwidths and a metric of {count} weights"
            )

    def __repr__(self) -> str:
        spoken = self.parameters()
        for name, default in self.unspoken.items():
            value = spoken.get(name, default)
            if value is default or (isinstance(value, float) and value == default):
                spoken.pop(name, None)
        return f"{type(self).__name__}({shown(spoken)})"

    @property
    def _metric(self) -> Metric:
        return getattr(self, "metric", None)

    @property
    def _order(self) -> float:
        """Of the distance: 2 for Euclidean ones."""
        return 2.0

    @cached_property
    def scales(self) -> Scales:
        """What makes plain distances of the rows: bandwidths and the metric, but not a σ that
        all dimensions share."""
        widths = self.bandwidth if isinstance(self.bandwidth, tuple) else None
        return metric_scales(self._metric, self._order, widths)

    @property
    def width(self) -> int | None:
        if self._metric is not None:
            return len(self._metric)
        return len(self.bandwidth) if isinstance(self.bandwidth, tuple) else None

    @property
    def sigma(self) -> float:
        """The single bandwidth that is left after division by `scales`."""
        return self.bandwidth if isinstance(self.bandwidth, float) else 1.0

    @property
    def precision(self) -> float:
        """1/σ², kept finite so that a distance of zero stays zero however small σ is."""
        return min(1 / self.sigma / self.sigma, 1e300)

    @property
    def widths(self) -> np.ndarray:
        """The bandwidth as an array that divides differences."""
        return np.asarray(self.bandwidth, dtype=np.float64)

    def difference(self, x: ArrayLike, z: ArrayLike) -> np.ndarray:
        """Return (x − z)/σ."""
        return (np.asarray(x, float) - np.asarray(z, float)) / self.widths

    def power_sum(self, x: ArrayLike, z: ArrayLike) -> float:
        """Return Σ|uᵢ|^r of u = (x − z)/σ as the metric sees it, by the textbook's formula."""
        return power_sum(self._metric, self.difference(x, z), self._order)

    def distances(self, block: Block) -> Any:
        """Return the distances whose median is the bandwidth's heuristic."""
        return power(block, minkowski(block, self._order, self.scales), 1 / self._order)

    def falloff(self, block: Block) -> Any:
        """Return −2·dk/dD in a new array, where D = |(x − z)/σ|²; 0 where it is infinite."""
        return None

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        H = self.falloff(block)
        if H is None:
            return {}
        H *= G
        if isinstance(self.bandwidth, tuple):
            return {"bandwidth": squared_differences(block, H, self.scales)}
        return {"bandwidth": self.precision * dot(H, squared_distances(block, self.scales))}

    def gradient(self, block: Block, G: Array) -> Any:
        F = block.share(("falloff", self), lambda: self.falloff(block))
        return None if F is None else -self.precision * difference_sums(block, F, self.scales, G)

    def encode(self, points: Vectors) -> None:
        super().encode(points)
        if points.origin is not None:
            move_to_origin(points, self.scales, points.origin)

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return self.constant(points)

    def resolve_heuristics(self, points: Vectors, weights: np.ndarray | None) -> Self:
        if not isinstance(self.bandwidth, str):
            return self
        self.check_width(points)
        seen = points
        if self.bandwidth == "scale" and self.scales is not None:
            seen = Vectors(scaled(points, self.scales))
        value = resolve_bandwidth(self.bandwidth, seen, weights, self.distances)
        return self.set_params(bandwidth=value)

    def spread(self, draw: Any, width: int) -> np.ndarray:
        """Return frequencies of which those by scaled rows are drawn, so many for each."""
        inside = self.scales.matrix.shape[1] if isinstance(self.scales, RowTransform) else width
        return pull_back(self.scales, draw(inside)) / self.sigma


@kernel
class Gaussian(Stationary):
    """The bell curve of the distance: exp(−|x − z|²/2σ²) (6.23).

    Valid because (6.25) writes it as f(x)·exp(xᵀz/σ²)·f(z). Its Gram matrix on different points
    always has full rank.

    Parameters
    ----------
    bandwidth : float, sequence of float (one per dimension), "median" or "scale"
        σ. scikit-learn's γ is 1/(2σ²).
    metric : sequence of float or array of shape (d, d), optional
        Weights m ≥ 0 of the dimensions, with |x − z|² = Σ mᵢ(xᵢ − zᵢ)², or a positive
        semi-definite matrix M, with |x − z|² = (x − z)ᵀM(x − z).

    Examples
    --------
    >>> Gaussian(1.0).pair([0.0], [2.0])
    0.1353352832366127
    >>> Gaussian(1.0, metric=(4.0, 0.0)).pair([0.0, 0.0], [1.0, 7.0])
    0.1353352832366127
    """

    bandwidth: Bandwidth = "median"
    metric: Metric = None

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return math.exp(-self.power_sum(x, z) / 2)

    def evaluate(self, block: Block) -> Any:
        return block.exp(squared_distances(block, self.scales), -0.5 * self.precision)

    def falloff(self, block: Block) -> Any:
        return self.evaluate(block)

    def prove(self) -> Proof:
        return proved(self, "(6.25) writes it as f(x)·exp(xᵀz/σ²)·f(z), by (6.14) and (6.16)")

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        return self.spread(lambda inside: rng.standard_normal((count, inside)), width)


@kernel
class Laplacian(Stationary):
    """Exponential decay of the city-block distance: exp(−|x − z|₁/σ).

    Valid as a product over the dimensions (6.22) of exp(−|x − z|/σ), the Fourier transform of a
    Cauchy density (Bochner).

    Parameters
    ----------
    bandwidth : float, sequence of float (one per dimension), "median" or "scale"
    metric : sequence of float or array of shape (d, d), optional
        Weights m ≥ 0 of the dimensions, with |x − z|₁ = Σ mᵢ|xᵢ − zᵢ|, or a positive
        semi-definite matrix M, whose root M^½ transforms rows before their city-block distance.

    Examples
    --------
    >>> Laplacian(1.0).pair([0.0, 0.0], [1.0, 1.0])
    0.1353352832366127
    """

    bandwidth: Bandwidth = "median"
    metric: Metric = None

    @property
    def _order(self) -> float:
        return 1.0

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return math.exp(-self.power_sum(x, z))

    def evaluate(self, block: Block) -> Any:
        return block.exp(cityblock(block, self.scales), -1 / self.sigma)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        H = self.evaluate(block)
        H *= G
        if isinstance(self.bandwidth, tuple):
            return {"bandwidth": absolute_differences(block, H, self.scales)}
        return {"bandwidth": dot(H, cityblock(block, self.scales)) / self.sigma}

    def gradient(self, block: Block, G: Array) -> Any:
        K = block.share(("gram", self), lambda: self.evaluate(block))
        return (-1 / self.sigma) * sign_sums(block, K * G, self.scales, 1.0)

    def prove(self) -> Proof:
        rule = "it is a product over dimensions (6.22) of Fourier transforms of Cauchy densities"
        return proved(self, rule)

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        return self.spread(lambda inside: rng.standard_cauchy((count, inside)), width)


@kernel
class RationalQuadratic(Stationary):
    """A mixture of Gaussians of all bandwidths: (1 + |x − z|²/2ασ²)^(−α).

    Valid as an integral, with positive weights (6.13, 6.17), of Gaussians. It approaches
    `Gaussian` as α grows.

    Parameters
    ----------
    alpha : float
        Positive.
    bandwidth : float, sequence of float, "median" or "scale"
    metric : sequence of float or array of shape (d, d), optional
        As for `Gaussian`.

    Examples
    --------
    >>> RationalQuadratic(1.0, 1.0).pair([0.0], [2.0])
    0.3333333333333333
    """

    alpha: float = 1.0
    bandwidth: Bandwidth = "median"
    metric: Metric = None

    def __post_init__(self) -> None:
        self._normalize("alpha", positive(self, "alpha", self.alpha))
        super().__post_init__()

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return (1 + self.power_sum(x, z) / (2 * self.alpha)) ** -self.alpha

    def evaluate(self, block: Block) -> Any:
        D = squared_distances(block, self.scales)
        return (1 + D * (0.5 / self.alpha * self.precision)) ** -self.alpha

    def falloff(self, block: Block) -> Any:
        D = squared_distances(block, self.scales)
        return (1 + D * (0.5 / self.alpha * self.precision)) ** (-self.alpha - 1)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        D = squared_distances(block, self.scales) * (0.5 / self.alpha * self.precision)
        by_alpha = dot(G * (1 + D) ** -self.alpha, D / (1 + D) - np.log1p(D))
        return {"alpha": self.alpha * by_alpha, **super().slopes(block, G)}

    def prove(self) -> Proof:
        return proved(self, "it is a positive mixture (6.13, 6.17) of Gaussians of all bandwidths")

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        root = np.sqrt(rng.gamma(self.alpha, 1 / self.alpha, size=(count, 1)))
        return self.spread(lambda inside: rng.standard_normal((count, inside)) * root, width)
