"""Kernels of lengths and distances in feature space: normalize, gaussian_over; and assumptions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import Points, Vectors
from mercer.engine.block import Array, Block, dot
from mercer.errors import ValidityError
from mercer.kernels.algebra.composite import Composite, need_kernel
from mercer.kernels.base import Kernel, in_library_of, kernel
from mercer.kernels.features import FeatureMap, scaled_rows
from mercer.kernels.proof import Proof, derive, proved
from mercer.kernels.vectors.bandwidths import Bandwidth, resolve_bandwidth
from mercer.values import positive

__all__ = ["AssumePSD", "GaussianOver", "Normalize", "assume_psd", "gaussian_over", "normalize"]


@kernel
class Normalize(Composite):
    """k(x, z)/√(k(x, x)·k(z, z)), a cosine in feature space. Made by `normalize`."""

    kernel: Kernel

    def __repr__(self) -> str:
        return f"normalize({self.kernel!r})"

    def pair(self, x: object, z: object) -> float:
        squares = self.kernel.pair(x, x), self.kernel.pair(z, z)
        if min(squares) < 0:
            raise ValidityError(
                f"{self.kernel!r} cannot be normalized: a self-similarity is negative"
            )
        lengths = math.sqrt(squares[0]) * math.sqrt(squares[1])
        return self.kernel.pair(x, z) / lengths if lengths else 0.0

    def evaluate(self, block: Block) -> Any:
        logs = self.kernel.logarithms(block.view(*self.sees(self.kernel)))
        if logs is not None:
            left, right = (self._log_lengths(points) for points in (block.left, block.right))
            logs -= left[:, None]
            logs -= right[None, :]
            return in_library_of(np.exp(logs, out=logs), block.left)
        left, right = self._inverse_lengths(block.left), self._inverse_lengths(block.right)
        K = self.inner(self.kernel, block)
        K *= left[:, None]
        K *= right[None, :]
        return K

    def evaluate_diagonal(self, points: Points) -> Any:
        logs = self._log_diagonal(points)
        if logs is not None:
            return in_library_of(np.where(np.isneginf(logs), 0.0, 1.0), points)
        return self.inner_diagonal(self.kernel, points) * self._inverse_lengths(points) ** 2

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        left, right = self._inverse_lengths(block.left), self._inverse_lengths(block.right)
        H = G * left[:, None] * right[None, :]
        found = self.inner_slopes("kernel", block, H)
        H *= self.inner(self.kernel, block)
        here, there = H.sum(axis=1) * left**2, H.sum(axis=0) * right**2
        return with_lengths(self, found, ((block.left, here), (block.right, there)))

    def gradient(self, block: Block, G: Array) -> Any:
        # ∂(f(x)·k·f(z)) with f = k(x, x)^(−½), whose derivative is −½·f³·∂k(x, x).
        left, right = self._inverse_lengths(block.left), self._inverse_lengths(block.right)
        H = G * left[:, None] * right[None, :]
        found = self.inner_gradient(self.kernel, block, H)
        if found is None:
            return None
        own = block.xp.sum(H * self.shared_inner(self.kernel, block), axis=1) * left**2
        seen = block.left.view(*self.sees(self.kernel))
        return found + self.kernel.diagonal_gradient(seen, -0.5 * own)

    def prove(self) -> Proof:
        return derive(self, "it is f(x)·k·f(z) with f = 1/√k(x, x) (6.14) of", self.kernel)

    def map_features(self, points: Points) -> FeatureMap | None:
        inner = self.inner_features(self.kernel, points)
        if inner is None:
            return None
        if inner.logs is not None:
            logs = inner.logs
            return FeatureMap(
                inner.count, lambda p: np.exp(logs(p) - self._log_lengths(p)[:, None])
            )
        lengths = self._inverse_lengths
        return FeatureMap(inner.count, lambda p: scaled_rows(inner.transform(p), lengths(p)))

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        return self.kernel.frequencies(rng, count, width)

    def _log_diagonal(self, points: Points) -> Any:
        return self.kernel.log_diagonal(points.view(*self.sees(self.kernel)))

    def _log_lengths(self, points: Points) -> Any:
        """Return ln √k(x, x), or 0 where k(x, x) = 0 and there is nothing to divide."""
        logs = self._log_diagonal(points)
        return np.where(np.isneginf(logs), 0.0, logs / 2)

    def _inverse_lengths(self, points: Points) -> Any:
        squares = self.inner_diagonal(self.kernel, points)
        xp = points.xp if isinstance(points, Vectors) else np
        if bool(xp.any(squares < 0)):
            item = int(xp.argmin(squares))
            raise ValidityError(
                f"{self.kernel!r} cannot be normalized: item {item} has the negative similarity "
                f"{float(squares[item]):.3g} to itself"
            )
        return xp.where(squares > 0, 1 / xp.sqrt(xp.where(squares > 0, squares, 1.0)), 0.0)


@kernel
class GaussianOver(Composite):
    """exp{−(κ(x, x) + κ(z, z) − 2κ(x, z))/2σ²} (6.26). Made by `gaussian_over`."""

    kernel: Kernel
    bandwidth: Any = 1.0
    heuristic: ClassVar[tuple[str, ...]] = ("bandwidth",)

    def __post_init__(self) -> None:
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "median"):
            self._normalize("bandwidth", positive(self, "bandwidth", self.bandwidth))

    def __repr__(self) -> str:
        return f"gaussian_over({self.kernel!r}, {self.bandwidth!r})"

    def pair(self, x: object, z: object) -> float:
        k = self.kernel.pair
        squared = k(x, x) + k(z, z) - 2 * k(x, z)
        return math.exp(-max(squared, 0.0) / self.bandwidth / self.bandwidth / 2)

    def evaluate(self, block: Block) -> Any:
        precision = min(1 / self.bandwidth / self.bandwidth, 1e300)
        D = self._squared_distances(block)
        D *= -0.5 * precision
        return np.exp(D, out=D) if isinstance(D, np.ndarray) else block.xp.exp(D)

    def evaluate_diagonal(self, points: Points) -> Any:
        return 0.0 * self.inner_diagonal(self.kernel, points) + 1.0

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        precision = min(1 / self.bandwidth / self.bandwidth, 1e300)
        D = self._squared_distances(block)
        H = block.exp(D, -0.5 * precision)
        H *= np.where(D > 0, G, 0.0)
        H *= precision
        found = self.inner_slopes("kernel", block, H)
        ends = (block.left, H.sum(axis=1)), (block.right, H.sum(axis=0))
        return {"bandwidth": dot(H, D), **with_lengths(self, found, ends)}

    def gradient(self, block: Block, G: Array) -> Any:
        precision = min(1 / self.bandwidth / self.bandwidth, 1e300)
        K = block.share(("gram", self), lambda: self.evaluate(block))
        H = K * (precision * G)
        found = self.inner_gradient(self.kernel, block, H)
        if found is None:
            return None
        seen = block.left.view(*self.sees(self.kernel))
        return found + self.kernel.diagonal_gradient(seen, -0.5 * block.xp.sum(H, axis=1))

    def prove(self) -> Proof:
        rule = "it is (6.26), f(x)·exp(κ(x, z)/σ²)·f(z) by (6.14) and (6.16), over"
        return derive(self, rule, self.kernel)

    def resolve_heuristics(self, points: Points, weights: np.ndarray | None) -> Self:
        if not isinstance(self.bandwidth, str):
            return self
        value = resolve_bandwidth(self.bandwidth, points, weights, self._distances)
        return self.set_params(bandwidth=value)

    def _distances(self, block: Block) -> Any:
        return block.xp.sqrt(self._squared_distances(block))

    def _squared_distances(self, block: Block) -> Any:
        """Return κ(x, x) + κ(z, z) − 2κ(x, z), in an array that may be written into."""
        left, right = (self.inner_diagonal(self.kernel, p) for p in (block.left, block.right))
        D = self.inner(self.kernel, block)
        D *= -2
        D += left[:, None]
        D += right[None, :]
        if isinstance(D, np.ndarray):
            np.maximum(D, 0.0, out=D)
        else:
            D = block.xp.where(D > 0, D, 0.0 * D)
        if block.symmetric:
            np.fill_diagonal(D, 0.0)  # κ(x, x) may be rounded differently in the two places
        return D


@kernel
class AssumePSD(Composite):
    """A kernel that its user vouches for. Made by `assume_psd`."""

    kernel: Kernel

    def __repr__(self) -> str:
        return f"assume_psd({self.kernel!r})"

    def pair(self, x: object, z: object) -> float:
        return self.kernel.pair(x, z)

    def evaluate(self, block: Block) -> Any:
        return self.inner(self.kernel, block)

    def gradient(self, block: Block, G: Array) -> Any:
        return self.inner_gradient(self.kernel, block, G)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        return self.inner_slopes("kernel", block, G)

    def evaluate_diagonal(self, points: Points) -> Any:
        return self.inner_diagonal(self.kernel, points)

    def prove(self) -> Proof:
        inner = self.kernel.proof()
        if inner.verdict == "refuted":  # a counterexample outweighs an assumption
            return Proof(self, "refuted", inner.rule, (inner,), inner.witness)
        return proved(self, "its user assumes so", inner)

    def map_features(self, points: Points) -> FeatureMap | None:
        return self.inner_features(self.kernel, points)

    def feature_gradient(self, points: Points, weights: np.ndarray) -> Any:
        return self.kernel.feature_gradient(points, weights)

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        return self.kernel.frequencies(rng, count, width)


def with_lengths(
    whole: Kernel, found: dict[str, Any], ends: Iterable[tuple[Points, np.ndarray]]
) -> dict[str, Any]:
    """Add to the slopes of a part those of its −½ Σ gᵢ k(xᵢ, xᵢ) at both ends of a block."""
    if not found:
        return found
    for points, g in ends:
        lengths = whole.inner_slopes("kernel", Block(points, points, True), np.diag(-0.5 * g))
        found = {key: slope + lengths[key] for key, slope in found.items()}
    return found


def normalize(k: Kernel) -> Kernel:
    """Return k(x, z)/√(k(x, x)·k(z, z)), so that everything is 1 to itself.

    It is 0 where k(x, x) = 0, also if that is so by underflow.

    Parameters
    ----------
    k : Kernel

    Returns
    -------
    Kernel
        Valid if `k` is.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> normalize(Linear()).pair([1.0], [5.0])
    1.0
    """
    return Normalize(need_kernel(k))


def gaussian_over(k: Kernel, bandwidth: Bandwidth = 1.0) -> Kernel:
    """Return a Gaussian of the distance in the feature space of `k`, valid by (6.26).

    Parameters
    ----------
    k : Kernel
    bandwidth : float or "median"

    Returns
    -------
    Kernel
        Valid if `k` is.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> gaussian_over(Linear(), 1.0).pair([0.0], [2.0]) == Gaussian(1.0).pair([0.0], [2.0])
    True
    """
    return GaussianOver(need_kernel(k), bandwidth)


def assume_psd(k: Kernel) -> Kernel:
    """Return `k` with your word that it is valid; visible in its formula and its proof.

    A kernel that is refuted by a witness stays refuted.

    Parameters
    ----------
    k : Kernel

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from mercer.kernels import from_function
    >>> def shared(a, b):
    ...     return float(len(a & b))
    >>> assume_psd(from_function(shared)).proof().verdict
    'proved'
    """
    return AssumePSD(need_kernel(k))
