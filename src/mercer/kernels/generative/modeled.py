"""Kernels made of a generative model: what they have in common.

A generative model says how things come about; the kernels of this folder say how alike two things
are because of it (Bishop, section 6.2). The model is a parameter like any other. With
``fit_model=True`` it is fitted to the items on which the kernel is resolved, so that in a
cross-validation no model has seen an item that it is judged by.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import Domain, Points, Vectors, to_numpy
from mercer.errors import ModelWarning, ValidityError
from mercer.kernels.base import Kernel
from mercer.models import Model, as_model

__all__ = ["Modeled", "flag", "need_model", "plain", "refitted", "warn_of_impossible"]


class Modeled(Kernel):
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
        return self.set_params(model=refitted(self.model, points, weights), fit_model=False)


def need_model(owner: Any, name: str, thing: Any) -> Model:
    """Return a generative model, or what an adapter makes one of."""
    try:
        return as_model(thing)
    except ValidityError as error:
        raise ValidityError(f"{name} of {type(owner).__name__}: {error}") from error


def refitted(model: Model, points: Points, weights: np.ndarray | None) -> Model:
    """Return a model that was learned from these points."""
    try:
        return model.fit(plain(points), weights)
    except NotImplementedError as error:
        raise ValidityError(f"{error}; give it with its parameters and fit_model=False") from error


def flag(owner: Any, name: str, value: Any) -> bool:
    """Return a parameter that is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValidityError(f"{name} of {type(owner).__name__} is True or False, found {value!r}")
    return bool(value)


def plain(points: Points) -> Points:
    """Return points as models compute with them: rows in double precision, held by NumPy."""
    if not isinstance(points, Vectors):
        return points
    array = points.array if points.is_sparse else to_numpy(points.array)
    if array is points.array and array.dtype == np.float64:
        return points
    return Vectors(array.astype(np.float64), points.names)


def warn_of_impossible(owner: Any, logs: np.ndarray) -> None:
    """Say once about a set of items that some have probability zero, and what that means."""
    bad = np.flatnonzero(np.isneginf(logs))
    if len(bad):
        warnings.warn(
            f"{type(owner).__name__} holds {len(bad)} of {len(logs)} items to be impossible "
            f"(ln p = −∞), the first of them item {bad[0]}; their similarity to everything is 0",
            ModelWarning,
            stacklevel=2,
        )
