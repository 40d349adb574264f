"""Similarity of what repeats: differences seen on a circle."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import array_api_compat
import numpy as np

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.engine.block import Array, Block, rows, sides
from mercer.engine.distances import squared_differences, squared_distances
from mercer.engine.gradients import right_sums
from mercer.kernels.base import kernel
from mercer.kernels.proof import Proof, proved
from mercer.kernels.vectors.bandwidths import Bandwidth
from mercer.kernels.vectors.stationary import Stationary
from mercer.values import positive

__all__ = ["Periodic"]


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
