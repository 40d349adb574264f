"""Stationary kernels: similarity as a function of the difference x − z.

Numbers like (6.23) are those of equations in Bishop's *Pattern Recognition and Machine Learning*.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.engine.block import Block, dot, rows, sides
from mercer.engine.distances import (
    absolute_differences,
    cityblock,
    move_to_origin,
    squared_differences,
    squared_distances,
)
from mercer.kernels.base import VectorKernel, kernel
from mercer.kernels.proof import Proof, proved
from mercer.kernels.vectors.bandwidths import Bandwidth, bandwidth, resolve_bandwidth
from mercer.values import positive

__all__ = [
    "Exponential",
    "Gaussian",
    "Laplacian",
    "Periodic",
    "RationalQuadratic",
    "Stationary",
    "student",
]


class Stationary(VectorKernel):
    """A function of the difference, with k(x, x) = 1 and a bandwidth σ.

    σ is a positive number, one per dimension, or the name of a heuristic.
    """

    bandwidth: Bandwidth
    heuristic: ClassVar[tuple[str, ...]] = ("bandwidth",)

    def __post_init__(self) -> None:
        self._normalize("bandwidth", bandwidth(self, self.bandwidth))

    @property
    def scales(self) -> tuple[float, ...] | None:
        """One bandwidth per dimension, if there are several."""
        return self.bandwidth if isinstance(self.bandwidth, tuple) else None

    @property
    def width(self) -> int | None:
        return None if self.scales is None else len(self.scales)

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

    def distances(self, block: Block) -> Any:
        """Return the distances whose median is the bandwidth's heuristic."""
        return block.xp.sqrt(squared_distances(block))

    def falloff(self, block: Block) -> Any:
        """Return −2·dk/dD in a new array, where D = |(x − z)/σ|²; 0 where it is infinite."""
        return None

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        H = self.falloff(block)
        if H is None:
            return {}
        H *= G
        if self.scales is not None:
            return {"bandwidth": squared_differences(block, H, self.scales)}
        return {"bandwidth": self.precision * dot(H, squared_distances(block))}

    def encode(self, points: Vectors) -> None:
        super().encode(points)
        if points.origin is not None:
            move_to_origin(points, self.scales, points.origin)

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return self.constant(points)

    def resolve_heuristics(self, points: Vectors, weights: np.ndarray | None) -> Self:
        if not isinstance(self.bandwidth, str):
            return self
        value = resolve_bandwidth(self.bandwidth, points, weights, self.distances)
        return self.set_params(bandwidth=value)


@kernel
class Gaussian(Stationary):
    """The bell curve of the distance: exp(−|x − z|²/2σ²) (6.23).

    Valid because (6.25) writes it as f(x)·exp(xᵀz/σ²)·f(z). Its Gram matrix on different points
    always has full rank.

    Parameters
    ----------
    bandwidth : float, sequence of float (one per dimension), "median" or "scale"
        σ. scikit-learn's γ is 1/(2σ²).

    Examples
    --------
    >>> Gaussian(1.0).pair([0.0], [2.0])
    0.1353352832366127
    """

    bandwidth: Bandwidth = "median"

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return math.exp(-float(np.sum(self.difference(x, z) ** 2)) / 2)

    def evaluate(self, block: Block) -> Any:
        return block.exp(squared_distances(block, self.scales), -0.5 * self.precision)

    def falloff(self, block: Block) -> Any:
        return self.evaluate(block)

    def prove(self) -> Proof:
        return proved(self, "(6.25) writes it as f(x)·exp(xᵀz/σ²)·f(z), by (6.14) and (6.16)")

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        return rng.standard_normal((count, width)) / self.widths


@kernel
class Laplacian(Stationary):
    """Exponential decay of the city-block distance: exp(−|x − z|₁/σ).

    Valid as a product over the dimensions (6.22) of exp(−|x − z|/σ), the Fourier transform of a
    Cauchy density (Bochner).

    Examples
    --------
    >>> Laplacian(1.0).pair([0.0, 0.0], [1.0, 1.0])
    0.1353352832366127
    """

    bandwidth: Bandwidth = "median"

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return math.exp(-float(np.sum(np.abs(self.difference(x, z)))))

    def evaluate(self, block: Block) -> Any:
        return block.exp(cityblock(block, self.scales), -1 / self.sigma)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        H = self.evaluate(block)
        H *= G
        if self.scales is not None:
            return {"bandwidth": absolute_differences(block, H, self.scales)}
        return {"bandwidth": dot(H, cityblock(block)) / self.sigma}

    def distances(self, block: Block) -> Any:
        return cityblock(block)

    def prove(self) -> Proof:
        rule = "it is a product over dimensions (6.22) of Fourier transforms of Cauchy densities"
        return proved(self, rule)

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        return rng.standard_cauchy((count, width)) / self.widths


@kernel
class Exponential(Stationary):
    """Exponential decay of the Euclidean distance: exp(−|x − z|/σ).

    Shepard's law of generalization for integral dimensions; the Matérn kernel with ν = 1/2.
    Valid as the Fourier transform of a multivariate Cauchy density (Bochner).

    Examples
    --------
    >>> Exponential(5.0).pair([0.0, 0.0], [3.0, 4.0])
    0.36787944117144233
    """

    bandwidth: Bandwidth = "median"

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return math.exp(-float(np.linalg.norm(self.difference(x, z))))

    def evaluate(self, block: Block) -> Any:
        distances = block.xp.sqrt(squared_distances(block, self.scales))
        return block.exp(distances, -1 / self.sigma)

    def falloff(self, block: Block) -> Any:
        t = np.sqrt(squared_distances(block, self.scales)) / self.sigma
        return np.divide(np.exp(-t), t, out=np.zeros_like(t), where=t > 0)

    def prove(self) -> Proof:
        return proved(self, "it is the Fourier transform of a multivariate Cauchy density")

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        return student(rng, count, width, 1.0) / self.widths


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

    Examples
    --------
    >>> RationalQuadratic(1.0, 1.0).pair([0.0], [2.0])
    0.3333333333333333
    """

    alpha: float = 1.0
    bandwidth: Bandwidth = "median"

    def __post_init__(self) -> None:
        self._normalize("alpha", positive(self, "alpha", self.alpha))
        super().__post_init__()

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        squared = float(np.sum(self.difference(x, z) ** 2))
        return (1 + squared / (2 * self.alpha)) ** -self.alpha

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
        precision = rng.gamma(self.alpha, 1 / self.alpha, size=(count, 1))
        return rng.standard_normal((count, width)) * np.sqrt(precision) / self.widths


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
            "bandwidth": by_bandwidth if self.scales else float(np.sum(by_bandwidth)),
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


def student(rng: np.random.Generator, count: int, width: int, freedom: float) -> np.ndarray:
    """Draw from a multivariate t distribution."""
    normal = rng.standard_normal((count, width))
    return normal * np.sqrt(freedom / rng.chisquare(freedom, size=(count, 1)))
