"""Stationary kernels: similarity as a function of the difference x − z.

Numbers like (6.23) are those of equations in Bishop's *Pattern Recognition and Machine Learning*.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, Self

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.engine.block import Array, Block, dot, rows, scaled, sides
from mercer.engine.distances import (
    absolute_differences,
    cityblock,
    minkowski,
    move_to_origin,
    power,
    squared_differences,
    squared_distances,
)
from mercer.engine.gradients import difference_sums, right_sums, sign_sums
from mercer.engine.transform import RowTransform, Scales, pull_back
from mercer.errors import ValidityError
from mercer.kernels.base import VectorKernel, kernel
from mercer.kernels.proof import Proof, proved
from mercer.kernels.vectors.bandwidths import Bandwidth, bandwidth, resolve_bandwidth
from mercer.kernels.vectors.decay import PowerDecay
from mercer.kernels.vectors.metrics import (
    Metric,
    clean_metric,
    metric_rank,
    metric_scales,
    power_sum,
)
from mercer.values import positive, shown

__all__ = [
    "Exponential",
    "Gaussian",
    "Laplacian",
    "Periodic",
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
class Exponential(PowerDecay, Stationary):
    """Exponential decay of a distance, or of a power of it: exp(−(|x − z|_p/σ)^q).

    By default of the Euclidean distance, p = 2 and q = 1: Shepard's law of generalization for
    integral dimensions, the Matérn kernel with ν = 1/2, valid as the Fourier transform of a
    multivariate Cauchy density (Bochner). With other orders p and exponents q it is the family
    of p,q-Laplace kernels, `Shepard` with the sensitivity σ^(−q), valid for 0 < q ≤ p ≤ 2
    (Schoenberg, 1938).

    Parameters
    ----------
    bandwidth : float, sequence of float (one per dimension), "median" or "scale"
    exponent : float
        q > 0.
    order : float
        p > 0: 2 for the Euclidean, 1 for the city-block distance.
    metric : sequence of float or array of shape (d, d), optional
        Weights m ≥ 0 of the dimensions, with |x − z|_p = (Σ mᵢ|xᵢ − zᵢ|^p)^(1/p), or a positive
        semi-definite matrix M: |x − z| = √((x − z)ᵀM(x − z)) for p = 2; for other orders M^½
        transforms rows before their distance.

    Examples
    --------
    >>> Exponential(5.0).pair([0.0, 0.0], [3.0, 4.0])
    0.36787944117144233
    >>> Exponential(2.0, exponent=1.5, order=1.0).proof().verdict
    'refuted'
    """

    bandwidth: Bandwidth = "median"
    exponent: float = 1.0
    order: float = 2.0
    metric: Metric = None
    unspoken: ClassVar[dict[str, Any]] = {"exponent": 1.0, "order": 2.0, "metric": None}

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return VectorDomain(dense_for="" if self.order in (1.0, 2.0) else "Exponential")

    def __post_init__(self) -> None:
        for name in ("exponent", "order"):
            self._normalize(name, positive(self, name, getattr(self, name)))
        super().__post_init__()

    @property
    def _order(self) -> float:
        return self.order

    @property
    def rate(self) -> float:
        return (
            1 / self.sigma if self.exponent == 1.0 else _finite_power(self.sigma, -self.exponent)
        )

    @cached_property
    def scales(self) -> Scales:
        widths = self.bandwidth if isinstance(self.bandwidth, tuple) else None
        return metric_scales(self.metric, self.order, widths)

    @property
    def rank(self) -> int | None:
        return metric_rank(self.metric)

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return math.exp(-(self.power_sum(x, z) ** (self.exponent / self.order)))

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        if not isinstance(self.bandwidth, tuple):
            return {"bandwidth": -self.exponent * self.by_rate(block, G)}
        H = self.steepness(block) * G
        if self.order == 2.0:
            return {"bandwidth": squared_differences(block, H, self.scales)}
        return {"bandwidth": absolute_differences(block, H, self.scales, self.order)}

    def prove(self) -> Proof:
        if (self.order, self.exponent) == (2.0, 1.0):
            return proved(self, "it is the Fourier transform of a multivariate Cauchy density")
        return super().prove()


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


@kernel
class Periodic(Stationary):
    """Similarity that repeats: exp(−2 Σᵢ sin²(π(xᵢ − zᵢ)/period)/σ²) (MacKay, 1998).

    Valid as a Gaussian (6.19) of the points (cos 2πxᵢ/p, sin 2πxᵢ/p) on circles. In several
    dimensions the sum over them matters: a sine of the distance would not be valid.

    Parameters
    ----------
    period : float
    bandwidth : float or sequence of float
        σ, without a unit: it is compared with sines. There is no heuristic for it.

    Examples
    --------
    >>> round(Periodic(24.0, 1.0).pair([1.0], [25.0]), 12)
    1.0
    """

    period: float = 1.0
    bandwidth: Bandwidth = 1.0
    domain: ClassVar[Domain] = VectorDomain(dense_for="Periodic")

    def __post_init__(self) -> None:
        self._normalize("period", positive(self, "period", self.period))
        if isinstance(self.bandwidth, str):
            positive(self, "bandwidth", self.bandwidth)  # refuses a heuristic by name
        super().__post_init__()

    def pair(self, x: Any, z: Any) -> float:
        x, z = (np.remainder(np.asarray(a, float), self.period) for a in (x, z))
        waves = np.sin(np.pi * (x - z) / self.period) / self.widths
        return math.exp(-2 * float(np.sum(waves**2)))

    def evaluate(self, block: Block) -> Any:
        return block.exp(squared_distances(block.view(("circle", self), self._circle)), -0.5)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        circles = block.view(("circle", self), self._circle)
        H = self.evaluate(block) * G
        ones = (1.0,) * (2 * block.left.width)
        cosines, sines = np.split(squared_differences(circles, H, ones), 2)
        by_bandwidth = cosines + sines
        return {
            "bandwidth": by_bandwidth if self.scales is not None else float(np.sum(by_bandwidth)),
            "period": self._by_period(block, circles, H),
        }

    def _by_period(self, block: Block, circles: Block, H: np.ndarray) -> float:
        """Return Σ Hᵢⱼ·δ sin(δ)/σ² with δ = 2π(x − z)/p, by the sine of a difference."""
        X, Z = (a * (2 * math.pi / self.period) for a in centered(*rows(block)))
        (cx, sx), (cz, sz) = (np.split(side.array, 2, axis=1) for side in sides(circles))
        with_cosine, with_sine = H @ cz, H @ sz
        found = X * sx * with_cosine - X * cx * with_sine
        found += cx * (H @ (Z * sz)) - sx * (H @ (Z * cz))
        return float(np.sum(found))

    def gradient(self, block: Block, G: Array) -> Any:
        # With (c, s) on a circle the derivative of cos(x − z) is c·s' − s·c'.
        circles = block.view(("circle", self), self._circle)
        K = block.share(("gram", self), lambda: self.evaluate(block))
        sums = right_sums(circles, K * G)
        d = block.left.width
        c, s = circles.left.array[:, :d], circles.left.array[:, d:]
        return (2 * math.pi / self.period) * (c * sums[:, d:] - s * sums[:, :d])

    def encode(self, points: Vectors) -> None:
        super().encode(points)
        points.view(("circle", self), self._circle)

    def _circle(self, points: Vectors) -> Vectors:
        """Return (cos 2πxᵢ/p, sin 2πxᵢ/p)/σᵢ, at distance 2|sin(π(xᵢ − zᵢ)/p)|/σᵢ."""
        xp, (X, _) = points.xp, rows(Block(points, points))
        # The remainder is exact, however many periods away from zero.
        angle = xp.remainder(X, xp.full_like(X, self.period)) * (2 * math.pi / self.period)
        scales = xp.asarray(
            np.broadcast_to(self.widths, (points.width,)).copy(),
            dtype=angle.dtype,
            device=array_api_compat.device(angle),
        )
        return Vectors(xp.concat([xp.cos(angle) / scales, xp.sin(angle) / scales], axis=1))

    def prove(self) -> Proof:
        return proved(self, "it is a Gaussian (6.19) of points on circles (MacKay, 1998)")

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        # The Fourier series of exp(cos) has Bessel weights: the difference of two Poisson counts.
        rate = np.broadcast_to(0.5 / self.widths**2, (count, width))
        return (rng.poisson(rate) - rng.poisson(rate)) * (2 * np.pi / self.period)


def centered(X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both seen from the mean of the second, which changes no difference."""
    mean = Z.mean(axis=0)
    return X - mean, Z - mean


def _finite_power(base: float, exponent: float) -> float:
    try:
        return min(base**exponent, 1e300)
    except OverflowError:
        return 1e300
