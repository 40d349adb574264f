"""Kernels made of a generative model: what they have in common.

A generative model says how things come about; the kernels of this folder say how alike two things
are because of it (Bishop, section 6.2). The model is a parameter like any other. With
``fit_model=True`` it is fitted to the items on which the kernel is resolved, so that in a
cross-validation no model has seen an item that it is judged by.

Where features are probabilities, sums of products Σᵢ fᵢ(x)·fᵢ(z) with fᵢ ≥ 0, those of things with
many parts are far too small, or large, for a floating-point number. So they are kept as
logarithms. A matrix of similarities is one product of the features, each row divided by its
largest, and `normalize` never sees the numbers that are out of range.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import Domain, Points, Vectors, to_numpy
from mercer.engine.block import Block
from mercer.engine.tiles import quiet
from mercer.errors import ModelWarning, ValidityError
from mercer.kernels.base import Kernel, in_library_of
from mercer.kernels.features import FeatureMap
from mercer.models import Model, as_model

__all__ = [
    "ModelKernel",
    "NonnegativeFeatures",
    "feature_products",
    "flag",
    "largest_logs",
    "need_model",
    "numpy_points",
    "refit",
    "warn_of_impossible",
]


class ModelKernel(Kernel):
    """A kernel made of one generative model, its parameter `model`."""

    model: Any
    fit_model: bool
    threads: ClassVar[bool] = True
    arrays: ClassVar[int] = 2

    def __post_init__(self) -> None:
        self._normalize("model", need_model(self, "model", self.model))
        self._normalize("fit_model", flag(self, "fit_model", self.fit_model))

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self.model.domain

    def unresolved(self) -> list[str]:
        mine = [f"fit_model=True of {self!r}"] if self.fit_model else []
        return mine + super().unresolved()

    def resolve_heuristics(self, points: Points, weights: np.ndarray | None) -> Self:
        if not self.fit_model:
            return self
        return self.set_params(model=refit(self.model, points, weights), fit_model=False)


def need_model(owner: object, name: str, thing: object) -> Model:
    """Return a generative model, or what an adapter makes one of."""
    try:
        return as_model(thing)
    except ValidityError as error:
        raise ValidityError(f"{name} of {type(owner).__name__}: {error}") from error


def refit(model: Model, points: Points, weights: np.ndarray | None) -> Model:
    """Return a model that was learned from these points."""
    try:
        return model.fit(numpy_points(points), weights)
    except NotImplementedError as error:
        raise ValidityError(f"{error}; give it with its parameters and fit_model=False") from error


def flag(owner: object, name: str, value: object) -> bool:
    """Return a parameter that is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValidityError(f"{name} of {type(owner).__name__} is True or False, found {value!r}")
    return bool(value)


def numpy_points(points: Points) -> Points:
    """Return points as models compute with them: rows in double precision, held by NumPy."""
    if not isinstance(points, Vectors):
        return points
    array = points.array if points.is_sparse else to_numpy(points.array)
    if array is points.array and array.dtype == np.float64:
        return points
    return Vectors(array.astype(np.float64), points.names)


def warn_of_impossible(owner: object, logs: np.ndarray) -> None:
    """Say once about a set of items that some have probability zero, and what that means."""
    bad = np.flatnonzero(np.isneginf(logs))
    if len(bad):
        warnings.warn(
            f"{type(owner).__name__} holds {len(bad)} of {len(logs)} items to be impossible "
            f"(ln p = −∞), the first of them item {bad[0]}; their similarity to everything is 0",
            ModelWarning,
            stacklevel=2,
        )


class NonnegativeFeatures(Kernel):
    """A kernel with finitely many features, none negative, of which it knows the logarithms."""

    def log_features(self, points: Points) -> np.ndarray:
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
            logs = self.log_features(numpy_points(points))
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
        top = largest_logs(logs)
        with quiet():
            return 2 * top + np.log(np.sum(np.exp(2 * (logs - top[:, None])), axis=1))

    def evaluate(self, block: Block) -> Any:
        product, height = self._scaled(block)
        product *= np.exp(height, out=height)
        return in_library_of(product, block.left)

    def map_features(self, points: Points) -> FeatureMap:
        def transform(new: Points) -> np.ndarray:
            with quiet():
                return np.exp(self.logs(new))

        return FeatureMap(self.logs(points[:1]).shape[1], transform, logs=self.logs)

    def _scaled(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        return feature_products(self.logs(block.left), self.logs(block.right))


def feature_products(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inner products of rows of features, given by their logarithms.

    The largest feature of a row counts as 1; what this leaves out, the logarithm of the product
    of the two largest, is returned beside.

    Examples
    --------
    >>> found, scale = feature_products(
    ...     np.array([[-800.0, -801.0]]), np.array([[-900.0, -np.inf]])
    ... )
    >>> found, scale
    (array([[1.]]), array([[-1700.]]))
    """
    a, b = largest_logs(left), largest_logs(right)
    with quiet():
        product = np.exp(left - a[:, None]) @ np.exp(right - b[:, None]).T
    return product, a[:, None] + b[None, :]


def largest_logs(logs: np.ndarray) -> np.ndarray:
    """Return the largest logarithm of each row, 0 where all are −∞."""
    top = logs.max(axis=1)
    return np.where(np.isneginf(top), 0.0, top)
