"""Kernels of features that are probabilities: sums of products, Σᵢ fᵢ(x)·fᵢ(z) with fᵢ ≥ 0.

Densities of things with many parts are far too small, or large, for a floating-point number. So
the features are kept as logarithms. A matrix of similarities is one product of the features, each
row divided by its largest, and `normalize` never sees the numbers that are out of range.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from mercer.domains import Points, Vectors
from mercer.engine.block import Block
from mercer.engine.tiles import quiet
from mercer.kernels.base import Kernel, adopted
from mercer.kernels.features import FeatureMap
from mercer.kernels.generative.modeled import plain, warn_of_impossible

__all__ = ["Positive", "products", "tops"]


class Positive(Kernel):
    """A kernel with finitely many features, none negative, of which it knows the logarithms."""

    def log_features(self, points: Any) -> np.ndarray:
        """Return the logarithm of each feature of each point; −∞ for a feature that is zero."""
        raise NotImplementedError

    def key(self) -> Hashable:
        """Return what the features depend on beside the points."""
        raise NotImplementedError

    def encode(self, points: Points) -> None:
        self.logs(points)

    def logs(self, points: Points) -> np.ndarray:
        """Return `log_features`, computed only once."""
        return points.view(self.key(), self._encoded).array  # type: ignore[attr-defined]

    def _encoded(self, points: Points) -> Vectors:
        with quiet():
            logs = self.log_features(plain(points))
        warn_of_impossible(self, logs.max(axis=1))
        return Vectors(logs)

    def logarithms(self, block: Block) -> np.ndarray:
        product, height = self._scaled(block)
        with quiet():
            product = np.log(product, out=product)
        product += height
        return product

    def log_diagonal(self, points: Points) -> np.ndarray:
        logs = self.logs(points)
        top = tops(logs)
        with quiet():
            return 2 * top + np.log(np.sum(np.exp(2 * (logs - top[:, None])), axis=1))

    def evaluate(self, block: Block) -> Any:
        product, height = self._scaled(block)
        product *= np.exp(height, out=height)
        return adopted(product, block.left)

    def evaluate_diagonal(self, points: Points) -> Any:
        with quiet():
            return adopted(np.exp(self.log_diagonal(points)), points)

    def map_features(self, points: Points) -> FeatureMap:
        def transform(new: Points) -> np.ndarray:
            with quiet():
                return np.exp(self.logs(new))

        return FeatureMap(self.logs(points[:1]).shape[1], transform, logs=self.logs)

    def _scaled(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        return products(self.logs(block.left), self.logs(block.right))


def products(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inner products of rows of features, given by their logarithms.

    The largest feature of a row counts as 1; what this leaves out, the logarithm of the product
    of the two largest, is returned beside.

    Examples
    --------
    >>> found, scale = products(np.array([[-800.0, -801.0]]), np.array([[-900.0, -np.inf]]))
    >>> found, scale
    (array([[1.]]), array([[-1700.]]))
    """
    a, b = tops(left), tops(right)
    with quiet():
        product = np.exp(left - a[:, None]) @ np.exp(right - b[:, None]).T
    return product, a[:, None] + b[None, :]


def tops(logs: np.ndarray) -> np.ndarray:
    """Return the largest logarithm of each row, 0 where all are −∞."""
    top = logs.max(axis=1)
    return np.where(np.isneginf(top), 0.0, top)
