"""Features: inner products in plain sight.

A kernel is an inner product of features (6.1). Where those are finitely many, they can be
computed, and a learner may work with them instead of the Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from mercer.domains import VECTORS, Items, Points, Table, Vectors
from mercer.engine.block import Array
from mercer.errors import DomainError, ValidityError
from mercer.values import whole

__all__ = ["FeatureMap", "RandomFeatures", "beside", "crossed", "scaled_rows"]


@dataclass(frozen=True)
class FeatureMap:
    """A map to finitely many features.

    Attributes
    ----------
    count : int
        Number of columns, known before any is computed.
    transform : callable
        From admitted points to an array (dense or sparse) with `count` columns.
    admit : callable
        From the user's objects to points.
    reference : Points
        The items that fixed the columns.
    logs : callable
        From admitted points to the logarithms of features, where no feature is negative and all
        of an item may be too small for a floating-point number.
    """

    count: int
    transform: Callable[[Any], Any]
    admit: Callable[[Any], Points] | None = None
    reference: Points | None = None
    logs: Callable[[Any], np.ndarray] | None = None

    def over(self, encode: Callable[[Any], Points]) -> FeatureMap:
        """Return the same features of points that are yet to be encoded."""
        transform, logs = self.transform, self.logs
        return FeatureMap(
            self.count,
            lambda new: transform(encode(new)),
            logs=None if logs is None else lambda new: logs(encode(new)),
        )

    def __call__(self, A: Array) -> Any:
        points = A if self.admit is None else self.admit(A)
        if self.reference is not None and points.width != self.reference.width:
            raise DomainError(
                f"the features are made for {self.reference.width} columns, found {points.width}"
            )
        return self.transform(points)


class Spectral(Protocol):
    """What random features need of a kernel: its diagonal and its spectral density."""

    def __hash__(self) -> int: ...

    def admit(self, X: Items | Points) -> Points: ...

    def evaluate_diagonal(self, points: Any) -> Any: ...

    def frequencies(
        self, rng: np.random.Generator, count: int, width: int
    ) -> np.ndarray | None: ...


@dataclass(frozen=True)
class RandomFeatures:
    """Cosines and sines of random projections, for a shift-invariant kernel (Bochner).

    If ω is drawn from the kernel's spectral density, E[cos ωᵀ(x − z)] = k(x, z)/k(x, x). Each
    frequency gives a cosine and a sine, so that the approximate diagonal is exact.
    """

    kernel: Spectral
    count: int
    seed: int

    def __post_init__(self) -> None:
        if whole(self, "count", self.count) % 2:
            raise ValidityError(f"the number of random features must be even, found {self.count}")

    def __call__(self, A: Array) -> Any:
        height, angles, _ = self._angles(A)
        return height * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)

    def gradient(self, A: Array, weights: np.ndarray) -> np.ndarray:
        """Return the gradients of features times weights, of shape (n, d, outputs)."""
        height, angles, frequencies = self._angles(A)
        half = self.count // 2
        parts = [
            (np.cos(angles) * w[half:] - np.sin(angles) * w[:half]) @ frequencies
            for w in weights.T
        ]
        return height * np.stack(parts, axis=2)

    def _angles(self, A: Array) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return the height of the features, all ωᵀx, and the frequencies ω."""
        points = self.kernel.admit(A)
        if isinstance(points, Table):
            points = VECTORS.admit(points)
        if not isinstance(points, Vectors):
            raise DomainError("random features exist for kernels on rows of numbers")
        frequencies = _drawn(self.kernel, self.count // 2, points.width, self.seed)
        height = np.sqrt(self.kernel.evaluate_diagonal(points[:1])[0] * 2 / self.count)
        return height, np.asarray(points.array @ frequencies.T), frequencies


@lru_cache(maxsize=8)
def _drawn(kernel: Spectral, count: int, width: int, seed: int) -> np.ndarray:
    """Return random frequencies, which many pieces of the same data ask for."""
    found = kernel.frequencies(np.random.default_rng(seed), count, width)
    if found is None:
        raise ValidityError(
            f"{kernel!r} is not shift-invariant, or its spectral density is not known"
        )
    return found


def beside(left: Array, right: Array) -> Any:
    """Put features side by side: those of a sum."""
    if sparse.issparse(left) or sparse.issparse(right):
        return sparse.hstack([left, right], format="csr")
    return np.concatenate([left, right], axis=1)


def crossed(left: Array, right: Array) -> Any:
    """Multiply each feature with each, row by row: those of a product."""
    if sparse.issparse(left) or sparse.issparse(right):
        left, right = sparse.csr_array(left), sparse.csr_array(right)
        places = np.arange(left.shape[1]).repeat(right.shape[1])
        others = np.tile(np.arange(right.shape[1]), left.shape[1])
        return left[:, places].multiply(right[:, others]).tocsr()
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def scaled_rows(features: Array, factors: np.ndarray) -> Any:
    """Multiply each item's features by its factor."""
    if sparse.issparse(features):
        return (sparse.diags_array(factors) @ features).tocsr()
    return features * factors[:, None]
