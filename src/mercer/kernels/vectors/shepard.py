"""Shepard's law: generalization falls off with psychological distance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.engine.block import Block, dot
from mercer.engine.distances import minkowski
from mercer.kernels.base import VectorKernel, kernel
from mercer.kernels.proof import Proof, proved, refute
from mercer.values import positive, sequence

__all__ = ["Shepard"]


@kernel
class Shepard(VectorKernel):
    """Human similarity: exp(−c·(Σ wᵢ|xᵢ − zᵢ|^r)^(p/r)) (Shepard, 1987; Nosofsky, 1986).

    r = 1 for separable and r = 2 for integral dimensions, p = 1 for exponential and p = 2 for
    Gaussian decay.

    Valid for 0 < p ≤ r ≤ 2: |x|^r is then negative definite, so is a sum of such terms and a
    power of it with exponent p/r ≤ 1, and exp(−c·) of it is positive definite
    (Schoenberg, 1938). In one dimension r cancels and 0 < p ≤ 2 suffices; in two, r ≥ 1 with
    p ≤ 1 does. Elsewhere it is refuted where a witness is found.

    Parameters
    ----------
    sensitivity : float
        c > 0.
    order : float
        r > 0.
    exponent : float
        p > 0.
    attention : sequence of float, optional
        Weights w ≥ 0, one per dimension; by default all are 1.

    Examples
    --------
    >>> Shepard(sensitivity=1.0, order=1, exponent=1).proof().verdict
    'proved'
    >>> Shepard(sensitivity=1.0, order=1, exponent=2).proof().verdict
    'refuted'
    """

    sensitivity: float = 1.0
    order: float = 1.0
    exponent: float = 1.0
    attention: tuple[float, ...] | None = None

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        plain = self.attention is None and self.order in (1.0, 2.0)
        return VectorDomain(dense_for="" if plain else "Shepard")

    def __post_init__(self) -> None:
        for name in ("sensitivity", "order", "exponent"):
            self._normalize(name, positive(self, name, getattr(self, name)))
        if self.attention is not None:
            not_negative = partial(positive, zero=True)
            clean = sequence(self, "attention", self.attention, not_negative)
            self._normalize("attention", clean)

    @property
    def width(self) -> int | None:
        return None if self.attention is None else len(self.attention)

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        terms = np.abs(np.asarray(x, float) - np.asarray(z, float)) ** self.order
        if self.attention is not None:
            terms = terms * np.asarray(self.attention)
        return math.exp(-self.sensitivity * float(np.sum(terms)) ** (self.exponent / self.order))

    def evaluate(self, block: Block) -> Any:
        D = minkowski(block, self.order, self.attention)
        return block.xp.exp(-self.sensitivity * D ** (self.exponent / self.order))

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        D = minkowski(block, self.order, self.attention) ** (self.exponent / self.order)
        return {"sensitivity": -self.sensitivity * dot(G * np.exp(-self.sensitivity * D), D)}

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return self.constant(points)

    def prove(self) -> Proof:
        r, p = self.order, self.exponent
        dimensions = None if self.attention is None else int(np.count_nonzero(self.attention))
        if p <= r <= 2:
            return proved(self, "0 < exponent ≤ order ≤ 2 (Schoenberg, 1938)")
        if dimensions is not None and dimensions <= 1 and p <= 2:
            return proved(self, "in one dimension exponent ≤ 2 suffices (Schoenberg, 1938)")
        if dimensions == 2 and r >= 1 and p <= 1:
            return proved(self, "norms of the plane embed in L₁, so exponent ≤ 1 suffices")
        reason = "exponent ≤ order ≤ 2 (Schoenberg, 1938) does not hold"
        return refute(self, reason, self._candidates())

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        r, p = self.order, self.exponent
        weights = np.broadcast_to(1.0 if self.attention is None else self.attention, (width,))
        if r == p <= 2:
            return _stable(rng, p, (count, width)) * (self.sensitivity * weights) ** (1 / p)
        if (r, p) == (2.0, 1.0):
            cauchy = rng.standard_normal((count, width)) / np.abs(rng.standard_normal((count, 1)))
            return cauchy * self.sensitivity * np.sqrt(weights)
        return None

    def _candidates(self) -> Iterator[np.ndarray]:
        """Yield small grids and stars of points, at the scales on which similarity falls off."""
        width = 3 if self.attention is None else len(self.attention)
        unit = self.sensitivity ** (-1 / self.exponent)
        weights = np.ones(width) if self.attention is None else np.asarray(self.attention)
        used = np.flatnonzero(weights)[:3]
        for dimensions in range(1, len(used) + 1):
            axes = used[:dimensions]
            for levels in (3, 5) if dimensions < 3 else (3,):
                grid = np.array(list(product(np.arange(levels) - levels // 2, repeat=dimensions)))
                for step in (0.03, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5):
                    X = np.zeros((len(grid), width))
                    X[:, axes] = grid * step * unit / weights[axes] ** (1 / self.order)
                    yield X


def _stable(rng: np.random.Generator, alpha: float, size: tuple[int, int]) -> np.ndarray:
    """Draw from the density whose Fourier transform is exp(−|t|^α) (Chambers et al., 1976)."""
    angle = rng.uniform(-np.pi / 2, np.pi / 2, size)
    waiting = rng.exponential(size=size)
    tail = (np.cos((1 - alpha) * angle) / waiting) ** ((1 - alpha) / alpha)
    return np.sin(alpha * angle) / np.cos(angle) ** (1 / alpha) * tail
