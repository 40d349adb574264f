"""Kernels on amounts: histograms, counts, and paths that start at zero."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.engine.block import Array, Block, dot, dots, norms, outer, rows, sum_over_dimensions
from mercer.engine.distances import cityblock, squared_distances
from mercer.engine.gradients import difference_sums, sign_sums
from mercer.kernels.base import VectorKernel, kernel
from mercer.kernels.proof import Proof, proved
from mercer.kernels.vectors.bandwidths import resolve_bandwidth
from mercer.kernels.vectors.dot import squared_norms
from mercer.values import positive

__all__ = ["Brownian", "Chi2", "Intersection"]


@kernel
class Chi2(VectorKernel):
    """Decay of the χ² distance of histograms: exp(−Σᵢ (xᵢ − zᵢ)²/(xᵢ + zᵢ) / σ).

    Terms with xᵢ = zᵢ = 0 are 0. With σ = 1 it is scikit-learn's ``chi2_kernel``. Valid by
    (6.26), because the χ² distance is the one of the valid kernel Σ 2xᵢzᵢ/(xᵢ + zᵢ).

    Parameters
    ----------
    bandwidth : float or "median"
        σ, in units of the data.

    Examples
    --------
    >>> Chi2(1.0).pair([1.0, 0.0], [0.0, 1.0])
    0.1353352832366127
    """

    bandwidth: Any = "median"
    heuristic: ClassVar[tuple[str, ...]] = ("bandwidth",)
    domain: ClassVar[Domain] = VectorDomain(nonnegative=True, dense_for="Chi2")

    def __post_init__(self) -> None:
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "median"):
            self._normalize("bandwidth", positive(self, "bandwidth", self.bandwidth))

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        x, z = np.asarray(x, float), np.asarray(z, float)
        present = x + z > 0
        terms = (x - z)[present] ** 2 / (x + z)[present]
        return math.exp(-float(np.sum(terms)) / float(self.bandwidth))

    def evaluate(self, block: Block) -> Any:
        return block.exp(self.distances(block), -1 / float(self.bandwidth))

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        D = self.distances(block) / self.bandwidth
        return {"bandwidth": dot(G * np.exp(-D), D)}

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return self.constant(points)

    def gradient(self, block: Block, G: Array) -> Any:
        # The derivative of (x − z)²/(x + z) is 1 − 4z²/(x + z)².
        xp, (A, B) = block.xp, rows(block)
        K = block.share(("gram", self), lambda: self.evaluate(block))
        H = K * (-1 / float(self.bandwidth) * G)
        parts = []
        for d in range(int(A.shape[1])):
            total = A[:, d][:, None] + B[:, d][None, :]
            share = B[:, d][None, :] / xp.where(total > 0, total, xp.ones_like(total))
            parts.append(xp.sum(H * xp.where(total > 0, 1 - 4 * share * share, 0 * H), axis=1))
        return xp.stack(parts, axis=1)

    def distances(self, block: Block) -> Any:
        """Return the χ² distances of all pairs."""
        return block.share("chi2", lambda: _chi2_distances(block, *rows(block)))

    def resolve_heuristics(self, points: Vectors, weights: np.ndarray | None) -> Self:
        if not isinstance(self.bandwidth, str):
            return self
        value = resolve_bandwidth(self.bandwidth, points, weights, self.distances)
        return self.set_params(bandwidth=value)

    def prove(self) -> Proof:
        return proved(self, "it is (6.26) over the valid kernel Σ 2xᵢzᵢ/(xᵢ + zᵢ)")


@kernel
class Intersection(VectorKernel):
    """What two histograms have in common: Σᵢ min(xᵢ, zᵢ), for entries that are not negative.

    Valid because min(x, z) is the inner product of the indicators of [0, x] and [0, z].

    Examples
    --------
    >>> Intersection().pair([1.0, 3.0], [2.0, 1.0])
    2.0
    """

    domain: ClassVar[Domain] = VectorDomain(nonnegative=True)

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return float(np.sum(np.minimum(np.asarray(x, float), np.asarray(z, float))))

    def evaluate(self, block: Block) -> Any:
        A, B = rows(block)
        if sparse.issparse(A):  # min(x, z) = (x + z − |x − z|)/2
            return 0.5 * (_totals(A)[:, None] + _totals(B)[None, :] - cityblock(block))
        total, work = outer(block, "minimum", A[:, 0], B[:, 0]), None
        for i in range(1, int(A.shape[1])):
            work = outer(block, "minimum", A[:, i], B[:, i], work)
            total += work
        return total

    def gradient(self, block: Block, G: Array) -> Any:
        # min(x, z) = (x + z − |x − z|)/2
        total = block.xp.sum(G, axis=1)[:, None]
        return 0.5 * (total - sign_sums(block, G, None, 1.0))

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return _totals(rows(Block(points, points))[0])

    def prove(self) -> Proof:
        return proved(
            self, "min(x, z) is the inner product of the indicators of [0, x] and [0, z]"
        )


@kernel
class Brownian(VectorKernel):
    """The covariance of a random walk from the origin: (|x| + |z| − |x − z|)/2.

    For numbers that are not negative it is min(x, z). Valid because −|x − z| is conditionally
    positive definite and the walk is tied to the origin (Lévy; Schoenberg, 1938).

    Examples
    --------
    >>> Brownian().pair([2.0], [5.0])
    2.0
    """

    arrays = 9

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        x, z = np.asarray(x, float), np.asarray(z, float)
        short, long = sorted((float(np.linalg.norm(x)), float(np.linalg.norm(z))))
        rest = long + float(np.linalg.norm(x - z))
        return (short + (2 * float(x @ z) - short**2) / rest) / 2 if rest else 0.0

    def evaluate(self, block: Block) -> Any:
        # With |x| ≥ |z|, |x| − |x − z| = (2xᵀz − |z|²)/(|x| + |x − z|) loses no digits.
        xp, (a, b) = block.xp, norms(block)
        short = xp.minimum(xp.sqrt(a)[:, None], xp.sqrt(b)[None, :])
        long = xp.maximum(xp.sqrt(a)[:, None], xp.sqrt(b)[None, :])
        rest = long + xp.sqrt(squared_distances(block))
        safe = xp.where(rest > 0, rest, xp.ones_like(rest))
        return 0.5 * (short + (2 * dots(block) - short**2) / safe)

    def gradient(self, block: Block, G: Array) -> Any:
        xp, (a, _) = block.xp, norms(block)
        D = squared_distances(block)
        W = xp.where(D > 0, G / xp.sqrt(xp.where(D > 0, D, xp.ones_like(D))), 0 * D)
        inverse = xp.where(a > 0, 1 / xp.sqrt(xp.where(a > 0, a, xp.ones_like(a))), 0 * a)
        own, A = (xp.sum(G, axis=1) * inverse)[:, None], block.left.array
        outward = A.multiply(own).toarray() if sparse.issparse(A) else own * A
        return 0.5 * (outward - difference_sums(block, W))

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return points.xp.sqrt(squared_norms(points))

    def prove(self) -> Proof:
        return proved(self, "it is the covariance of Lévy's Brownian motion, tied to the origin")


def _chi2_distances(block: Block, A: Array, B: Array) -> Any:
    """Return Σ (xᵢ − zᵢ)²/(xᵢ + zᵢ) of all pairs."""
    totals = None
    smallest = float(block.xp.finfo(B.dtype).smallest_normal)
    B_not_zero = B + smallest  # 0/0 becomes 0; nothing else changes

    def term(i: int, difference: Array) -> Any:
        nonlocal totals
        totals = outer(block, "add", A[:, i], B_not_zero[:, i], totals)
        difference *= difference
        difference /= totals
        return difference

    return sum_over_dimensions(block, A, B, term)


def _totals(A: Array) -> Any:
    if sparse.issparse(A):
        return np.asarray(A.sum(axis=1)).ravel()
    return array_api_compat.array_namespace(A).sum(A, axis=1)
