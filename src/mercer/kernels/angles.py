"""Kernels of directions: what remains of xᵀz when lengths are taken out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Vectors
from mercer.errors import ValidityError
from mercer.kernels.base import VectorKernel, kernel
from mercer.kernels.block import Block, dots, norms, rows, squared_distances
from mercer.kernels.dot import Linear, squared_norms
from mercer.kernels.features import FeatureMap, scaled_rows
from mercer.kernels.proof import Proof, derive, proved

__all__ = ["ArcCosine", "Cosine", "Tanimoto"]


@kernel
class Cosine(VectorKernel):
    """The cosine of the angle between two vectors: xᵀz / (|x||z|), and 0 for a zero vector.

    Valid as f(x)·xᵀz·f(z) with f = 1/|x| (6.14).

    Examples
    --------
    >>> Cosine().pair([1.0, 0.0], [1.0, 1.0])
    0.7071067811865475
    """

    def pair(self, x: Any, z: Any) -> float:
        lengths = float(np.linalg.norm(x) * np.linalg.norm(z))
        return Linear().pair(x, z) / lengths if lengths else 0.0

    def evaluate(self, block: Block) -> Any:
        a, b = _inverse_lengths(block)
        return dots(block) * a[:, None] * b[None, :]

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return squared_norms(points) * _inverse_root(points.xp, squared_norms(points)) ** 2

    def prove(self) -> Proof:
        return derive(self, "it is f(x)·k·f(z) with f = 1/|x| (6.14), where k is", Linear())

    def map_features(self, points: Vectors) -> FeatureMap:
        return FeatureMap(points.width, _unit_rows)


@kernel
class ArcCosine(VectorKernel):
    """What a wide random layer of a neural network sees: (1/π)|x|ⁿ|z|ⁿ Jₙ(θ).

    θ is the angle of x and z, n the order: 0 for step units, 1 for rectified linear units, 2 for
    their squares. J₀ = π − θ, J₁ = sin θ + (π − θ)cos θ,
    J₂ = 3 sin θ cos θ + (π − θ)(1 + 2cos²θ). A zero vector has similarity 0.

    Valid as the expectation of φ(wᵀx)φ(wᵀz) over Gaussian w (Cho & Saul, 2009).

    Parameters
    ----------
    order : {0, 1, 2}

    Examples
    --------
    >>> ArcCosine(0).pair([1.0, 0.0], [0.0, 2.0])
    0.5
    """

    order: int

    def __post_init__(self) -> None:
        if self.order not in (0, 1, 2):
            raise ValidityError(f"order of ArcCosine must be 0, 1 or 2, found {self.order!r}")
        self._normalize("order", int(self.order))

    def pair(self, x: Any, z: Any) -> float:
        x, z = np.asarray(x, float), np.asarray(z, float)
        a, b = float(np.linalg.norm(x)), float(np.linalg.norm(z))
        if a == 0.0 or b == 0.0:
            return 0.0
        u, v = x / a, z / b
        angle = 2 * math.atan2(np.linalg.norm(u - v), np.linalg.norm(u + v))
        J = _angular(angle, math.sin(angle), math.cos(angle), self.order)
        return (a * b) ** self.order * J / math.pi

    def evaluate(self, block: Block) -> Any:
        xp = block.xp
        units = Block(Vectors(_unit_rows(block.left)), Vectors(_unit_rows(block.right)))
        chord = xp.clip(squared_distances(units), 0.0, 4.0)
        # 2 atan2 keeps the digits of small angles that acos would lose.
        angle = 2 * xp.atan2(xp.sqrt(chord), xp.sqrt(4.0 - chord))
        J = _angular(angle, 0.5 * xp.sqrt(chord * (4.0 - chord)), 1 - 0.5 * chord, self.order)
        a, b = norms(block)
        present = xp.astype((a > 0)[:, None] & (b > 0)[None, :], angle.dtype)
        lengths = (xp.sqrt(a)[:, None] * xp.sqrt(b)[None, :]) ** self.order
        return J * lengths * present / math.pi

    def evaluate_diagonal(self, points: Vectors) -> Any:
        squares = squared_norms(points)
        xp = points.xp
        height = (1.0, 1.0, 3.0)[self.order]
        return xp.where(squares > 0, height * squares**self.order, 0.0 * squares)

    def prove(self) -> Proof:
        rule = "it is the expected product φ(wᵀx)φ(wᵀz) of random features (Cho & Saul, 2009)"
        return proved(self, rule)


@kernel
class Tanimoto(VectorKernel):
    """The shared part of two fingerprints: xᵀz / (xᵀx + zᵀz − xᵀz), and 1 for two zero vectors.

    On vectors of zeros and ones it is |A ∩ B| / |A ∪ B|. Valid as the series Σ (xᵀz/(xᵀx + zᵀz))ⁿ
    of products of valid kernels, 1/(xᵀx + zᵀz) being an integral of f(x)f(z)
    (for binary vectors: Ralaivola et al., 2005).

    Examples
    --------
    >>> Tanimoto().pair([1, 1, 0], [0, 1, 1])
    0.3333333333333333
    """

    def pair(self, x: Any, z: Any) -> float:
        shared = Linear().pair(x, z)
        union = Linear().pair(x, x) + Linear().pair(z, z) - shared
        return shared / union if union else 1.0

    def evaluate(self, block: Block) -> Any:
        a, b = norms(block)
        shared = dots(block)
        union = a[:, None] + b[None, :] - shared
        xp = block.xp
        return xp.where(union > 0, shared / xp.where(union > 0, union, xp.ones_like(union)), 1.0)

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return self.constant(points)

    def prove(self) -> Proof:
        return derive(self, "it is a series (6.15, 6.18) of powers of f-weighted", Linear())


def _angular(angle: Any, sin: Any, cos: Any, order: int) -> Any:
    """Return Jₙ(θ) of Cho & Saul."""
    if order == 0:
        return math.pi - angle
    if order == 1:
        return sin + (math.pi - angle) * cos
    return 3 * sin * cos + (math.pi - angle) * (1 + 2 * cos**2)


def _inverse_root(xp: Any, squares: Any) -> Any:
    """Return 1/√s, and 0 where s is 0."""
    return xp.where(squares > 0, 1 / xp.sqrt(xp.where(squares > 0, squares, squares + 1)), 0.0)


def _inverse_lengths(block: Block) -> tuple[Any, Any]:
    a, b = norms(block)
    return _inverse_root(block.xp, a), _inverse_root(block.xp, b)


def _unit_rows(points: Vectors) -> Any:
    A, _ = rows(Block(points, points))
    factors = _inverse_root(points.xp, squared_norms(Vectors(A)))
    return scaled_rows(A, factors) if sparse.issparse(A) else A * factors[:, None]
