"""The family exp(−c·distance^q): Shepard's law, p,q-Laplace kernels, the power exponential.

One family with two sets of words: `Shepard` has a sensitivity c and attention, `Exponential` a
bandwidth σ = c^(−1/q) and a metric. It is evaluated, proved and differentiated here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from mercer.domains import Vectors
from mercer.engine.block import Array, Block, dot
from mercer.engine.distances import minkowski, move_to_origin, power
from mercer.engine.gradients import difference_sums, sign_sums
from mercer.engine.transform import RowTransform, Scales, pull_back
from mercer.kernels.base import VectorKernel
from mercer.kernels.proof import Proof, proved, refute

__all__ = ["PowerDecay", "student"]


class PowerDecay(VectorKernel):
    """exp(−c·S^(q/r)) with S = Σ|uᵢ|^r of the differences u as a metric sees them.

    Valid for 0 < q ≤ r ≤ 2: |u|^r is then negative definite, so is a sum of such terms and a
    power of it with exponent q/r ≤ 1, and exp(−c·) of it is positive definite
    (Schoenberg, 1938). In one dimension r cancels and 0 < q ≤ 2 suffices; in two, r ≥ 1 with
    q ≤ 1 does. Elsewhere it is refuted where a witness is found.
    """

    order: float
    exponent: float

    @property
    def rate(self) -> float:
        """c."""
        raise NotImplementedError

    @property
    def scales(self) -> Scales:
        """What rows are divided by or transformed with."""
        raise NotImplementedError

    @property
    def rank(self) -> int | None:
        """How many directions count, if it is known."""
        raise NotImplementedError

    def encode(self, points: Vectors) -> None:
        super().encode(points)
        if points.origin is not None:
            move_to_origin(points, self.scales, points.origin)

    def powers(self, block: Block) -> Any:
        """Return S^(q/r), which nobody may write into."""
        return power(block, minkowski(block, self.order, self.scales), self.exponent / self.order)

    def evaluate(self, block: Block) -> Any:
        return block.exp(self.powers(block), -self.rate)

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return self.constant(points)

    def steepness(self, block: Block) -> Any:
        """Return −r·dk/dS in a new array; 0 where S = 0, at which there may be a kink."""
        xp, S, P = block.xp, minkowski(block, self.order, self.scales), self.powers(block)
        steep = block.exp(P, -self.rate)
        if not isinstance(steep, np.ndarray):
            safe = xp.where(S > 0, S, xp.ones_like(S))
            return self.rate * self.exponent * xp.where(S > 0, steep * P / safe, 0.0 * S)
        steep *= P
        with np.errstate(invalid="ignore"):
            steep /= S
        steep *= self.rate * self.exponent
        steep[S == 0] = 0.0
        return steep

    def gradient(self, block: Block, G: Array) -> Any:
        F = block.share(("steepness", self), lambda: self.steepness(block))
        if self.order == 2.0:
            return -difference_sums(block, F, self.scales, G)
        return -sign_sums(block, F * G, self.scales, self.order)

    def by_rate(self, block: Block, G: np.ndarray) -> float:
        """Return the derivative of Σ Gᵢⱼ k(xᵢ, zⱼ) by log c."""
        P = self.powers(block)
        return -self.rate * dot(G * np.exp(-self.rate * P), P)

    def prove(self) -> Proof:
        r, q, rank = self.order, self.exponent, self.rank
        if q <= r <= 2:
            return proved(self, "0 < exponent ≤ order ≤ 2 (Schoenberg, 1938)")
        if rank is not None and rank <= 1 and q <= 2:
            return proved(self, "in one dimension exponent ≤ 2 suffices (Schoenberg, 1938)")
        if rank == 2 and r >= 1 and q <= 1:
            return proved(self, "norms of the plane embed in L₁, so exponent ≤ 1 suffices")
        reason = "exponent ≤ order ≤ 2 (Schoenberg, 1938) does not hold"
        return refute(self, reason, self._candidates())

    def _candidates(self) -> Iterator[np.ndarray]:
        """Yield small grids of points, at the scales on which similarity falls off."""
        back = _back(self.scales, self.width)
        unit = self.rate ** (-1 / self.exponent)
        used = np.flatnonzero(np.abs(back).max(axis=1))[:3]
        for dimensions in range(1, len(used) + 1):
            axes = used[:dimensions]
            for levels in (3, 5) if dimensions < 3 else (3,):
                grid = np.array(list(product(np.arange(levels) - levels // 2, repeat=dimensions)))
                for step in (0.03, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5):
                    yield step * unit * (grid @ back[axes])

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        r, q = self.order, self.exponent
        inside = self.scales.matrix.shape[1] if isinstance(self.scales, RowTransform) else width
        if (r, q) == (2.0, 1.0):
            drawn = student(rng, count, inside, 1.0)
        elif r == q <= 2:
            drawn = _stable(rng, q, (count, inside))
        elif r == 2.0 and q < 2:
            # A normal vector of which the variance is stable has a stable norm (Feller).
            variance = 2 * _one_sided(rng, q / 2, (count, 1))
            drawn = rng.standard_normal((count, inside)) * np.sqrt(variance)
        else:
            return None
        return pull_back(self.scales, drawn) * self.rate ** (1 / q)


def student(rng: np.random.Generator, count: int, width: int, freedom: float) -> np.ndarray:
    """Draw from a multivariate t distribution."""
    normal = rng.standard_normal((count, width))
    return normal * np.sqrt(freedom / rng.chisquare(freedom, size=(count, 1)))


def _back(scales: Scales, width: int | None) -> np.ndarray:
    """Return the matrix that takes scaled rows back to the rows that they come from."""
    if isinstance(scales, RowTransform):
        return np.linalg.pinv(scales.matrix)
    if scales is None:
        return np.eye(3 if width is None else width)
    return np.diag([s if math.isfinite(s) else 0.0 for s in scales])


def _stable(rng: np.random.Generator, alpha: float, size: tuple[int, int]) -> np.ndarray:
    """Draw from the density whose Fourier transform is exp(−|t|^α) (Chambers et al., 1976)."""
    angle = rng.uniform(-np.pi / 2, np.pi / 2, size)
    waiting = rng.exponential(size=size)
    tail = (np.cos((1 - alpha) * angle) / waiting) ** ((1 - alpha) / alpha)
    return np.sin(alpha * angle) / np.cos(angle) ** (1 / alpha) * tail


def _one_sided(rng: np.random.Generator, alpha: float, size: tuple[int, int]) -> np.ndarray:
    """Draw positive numbers whose Laplace transform is exp(−s^α), α < 1 (Kanter, 1975)."""
    angle = rng.uniform(0.0, np.pi, size)
    waiting = rng.exponential(size=size)
    tail = (np.sin((1 - alpha) * angle) / waiting) ** ((1 - alpha) / alpha)
    return np.sin(alpha * angle) / np.sin(angle) ** (1 / alpha) * tail
