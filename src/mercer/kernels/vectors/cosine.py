"""Kernels of directions: what remains of xᵀz when lengths are taken out."""

from __future__ import annotations

import math
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.domains import Vectors
from mercer.engine.block import Array, Block, dots, norms, rows
from mercer.engine.distances import squared_distances
from mercer.engine.gradients import right_sums, row_sums
from mercer.errors import ValidityError
from mercer.kernels.base import VectorKernel, kernel
from mercer.kernels.features import FeatureMap, scaled_rows
from mercer.kernels.proof import Proof, derive, proved
from mercer.kernels.vectors.dot import Linear, squared_norms

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

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return float(_direction(x)[0] @ _direction(z)[0])

    def evaluate(self, block: Block) -> Any:
        units, _, _ = _directions(block)
        return units.copy(dots(units))

    def gradient(self, block: Block, G: Array) -> Any:
        units, a, _ = _directions(block)
        return _turned(units, a, G, row_sums(block, G * dots(units)))

    def evaluate_diagonal(self, points: Vectors) -> Any:
        _, lengths = unit_rows(points)
        return points.xp.where(lengths > 0, self.constant(points), 0.0 * lengths)

    def prove(self) -> Proof:
        return derive(self, "it is f(x)·k·f(z) with f = 1/|x| (6.14), where k is", Linear())

    def map_features(self, points: Vectors) -> FeatureMap:
        return FeatureMap(points.width, lambda p: unit_rows(p)[0])


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

    arrays = 9

    order: int

    def __post_init__(self) -> None:
        if self.order not in (0, 1, 2):
            raise ValidityError(f"order of ArcCosine must be 0, 1 or 2, found {self.order!r}")
        self._normalize("order", int(self.order))

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        (u, a), (v, b) = _direction(x), _direction(z)
        if a == 0.0 or b == 0.0:
            return 0.0
        angle = 2 * math.atan2(np.linalg.norm(u - v), np.linalg.norm(u + v))
        J = _angular(angle, math.sin(angle), math.cos(angle), self.order)
        return (a * b) ** self.order * J / math.pi

    def evaluate(self, block: Block) -> Any:
        xp = block.xp
        units, a, b = _directions(block)
        chord = xp.clip(squared_distances(units), 0.0, 4.0)
        # 2 atan2 keeps the digits of small angles that acos would lose.
        angle = 2 * xp.atan2(xp.sqrt(chord), xp.sqrt(4.0 - chord))
        J = _angular(angle, 0.5 * xp.sqrt(chord * (4.0 - chord)), 1 - 0.5 * chord, self.order)
        lengths = a[:, None] * b[None, :]
        present = (a > 0)[:, None] & (b > 0)[None, :]
        return xp.where(present, J * lengths**self.order / math.pi, 0.0 * J)

    def gradient(self, block: Block, G: Array) -> Any:
        # ∂J(θ)/∂x is −J'(θ)/sin θ·(v − cos θ u)/|x| for unit vectors u and v.
        xp, n = block.xp, self.order
        units, a, b = _directions(block)
        chord = xp.clip(squared_distances(units), 0.0, 4.0)
        angle = 2 * xp.atan2(xp.sqrt(chord), xp.sqrt(4.0 - chord))
        sin, cos = 0.5 * xp.sqrt(chord * (4.0 - chord)), 1 - 0.5 * chord
        W = G * xp.where(b > 0, b**n, 0.0 * b)[None, :] / math.pi
        turning = W * _turning(angle, sin, cos, n, xp)
        along = row_sums(block, turning * cos - n * W * _angular(angle, sin, cos, n))
        return _turned(units, a, turning, along) * (a**n)[:, None]

    def evaluate_diagonal(self, points: Vectors) -> Any:
        _, lengths = unit_rows(points)
        height = (1.0, 1.0, 3.0)[self.order]
        return points.xp.where(lengths > 0, height * lengths ** (2 * self.order), 0.0 * lengths)

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
    >>> round(Tanimoto().pair([1, 1, 0], [0, 1, 1]), 6)
    0.333333
    """

    arrays = 8

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        (u, a), (v, b) = _direction(x), _direction(z)
        if a == 0.0 or b == 0.0:
            return 1.0 if a == b else 0.0
        return float(u @ v / (a / b + b / a - u @ v))

    def evaluate(self, block: Block) -> Any:
        # With |x| = a, |z| = b and the cosine c it is c/(a/b + b/a − c), which never underflows.
        xp, (units, a, b) = block.xp, _directions(block)
        cosines, ratio = dots(units), a[:, None] / b[None, :]
        both = (a == 0)[:, None] & (b == 0)[None, :]
        return xp.where(both, 1.0 + 0.0 * cosines, cosines / (ratio + 1 / ratio - cosines))

    def gradient(self, block: Block, G: Array) -> Any:
        # (z(|x|² + |z|²) − 2xᵀz·x)/(|x|² + |z|² − xᵀz)²
        xp, D, (a, b) = block.xp, dots(block), norms(block)
        both = a[:, None] + b[None, :]
        rest = xp.where(both > 0, both - D, xp.ones_like(D))
        W = xp.where(both > 0, G / rest / rest, 0.0 * D)
        own = row_sums(block, 2 * W * D)[:, None]
        A = block.left.array
        moved = A.multiply(own).toarray() if sparse.issparse(A) else own * A
        return right_sums(block, W * both) - moved

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return self.constant(points)

    def prove(self) -> Proof:
        return derive(self, "it is a series (6.15, 6.18) of powers of f-weighted", Linear())


def _angular(angle: Array, sin: Array, cos: Array, order: int) -> Any:
    """Return Jₙ(θ) of Cho & Saul."""
    if order == 0:
        return math.pi - angle
    if order == 1:
        return sin + (math.pi - angle) * cos
    return 3 * sin * cos + (math.pi - angle) * (1 + 2 * cos**2)


def _turning(angle: Array, sin: Array, cos: Array, order: int, xp: Any) -> Any:
    """Return −Jₙ'(θ)/sin θ; for order 0, with a kink, 0 where the sine is."""
    if order == 0:
        return xp.where(sin > 0, 1 / xp.where(sin > 0, sin, xp.ones_like(sin)), 0.0 * sin)
    if order == 1:
        return math.pi - angle
    return 4 * sin + 4 * (math.pi - angle) * cos


def _turned(units: Block, lengths: Array, W: Array, along: Array) -> Any:
    """Return (Σⱼ Wᵢⱼ vⱼ − alongᵢ·uᵢ)/|xᵢ| of unit vectors, and 0 for a zero vector."""
    xp, U = units.xp, units.left.array
    own = U.multiply(along[:, None]).toarray() if sparse.issparse(U) else along[:, None] * U
    safe = xp.where(lengths > 0, lengths, xp.ones_like(lengths))
    return (right_sums(units, W) - own) * xp.where(lengths > 0, 1 / safe, 0.0 * safe)[:, None]


def _direction(x: ArrayLike) -> tuple[np.ndarray, float]:
    """Return x/|x| and |x|, also where the square of |x| is not a number."""
    x = np.asarray(x, float)
    largest = float(np.abs(x).max(initial=0.0))
    if largest == 0.0:
        return x, 0.0
    length = float(np.linalg.norm(x / largest))
    return x / largest / length, length * largest


def _directions(block: Block) -> tuple[Block, Any, Any]:
    """Return the block of unit vectors, and the lengths of both sides."""

    def compute() -> tuple[Block, Any, Any]:
        (U, a), (V, b) = unit_rows(block.left), unit_rows(block.right)
        return Block(Vectors(U), Vectors(V), block.symmetric, block.scratch), a, b

    return block.share("directions", compute)


def unit_rows(points: Vectors) -> tuple[Any, Any]:
    """Return the rows divided by their lengths, and the lengths; zero rows stay zero."""
    xp, (A, _) = points.xp, rows(Block(points, points))
    largest = _largest(A)
    safe = xp.where(largest > 0, largest, xp.ones_like(largest))
    A = scaled_rows(A, 1 / safe) if sparse.issparse(A) else A / safe[:, None]
    length = xp.sqrt(squared_norms(Vectors(A)))
    safe_length = xp.where(length > 0, length, xp.ones_like(length))
    A = scaled_rows(A, 1 / safe_length) if sparse.issparse(A) else A / safe_length[:, None]
    return A, length * largest


def _largest(A: Array) -> Any:
    """Return the largest magnitude of each row."""
    if sparse.issparse(A):
        return abs(A).max(axis=1).toarray().ravel()
    xp = array_api_compat.array_namespace(A)
    return xp.max(xp.abs(A), axis=1)
