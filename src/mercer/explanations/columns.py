"""From the columns that a machine sees back to those of the user's table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin

from mercer.domains import Items, is_frame
from mercer.explanations.terms import machine_inside

__all__ = ["TracedModel", "names_of", "trace"]


@dataclass(frozen=True)
class TracedModel:
    """The machine inside a model, what it sees, and from which columns that comes.

    Attributes
    ----------
    machine : machine
    X : items
        As the machine takes them.
    columns : tuple
        Of the user's table; one for whole things.
    groups : ndarray of int
        For each column that the machine sees, the place of the user's column among `columns`.
    """

    machine: Any
    X: Any
    columns: tuple[Any, ...]
    groups: np.ndarray


def names_of(X: Items, width: int | None) -> tuple[Any, ...]:
    """Return what columns are called: their names, their numbers, or "item" for whole things.

    Examples
    --------
    >>> names_of(np.zeros((2, 3)), 3), names_of(["a", "b"], None)
    ((0, 1, 2), ('item',))
    """
    if width is None:
        return ("item",)
    return tuple(X.columns) if is_frame(X) else tuple(range(width))


def trace(model: BaseEstimator, X: Items) -> TracedModel:
    """Return the machine inside pipelines, searches and calibrations, and where columns come from.

    Columns that `Encode` or `Standardize` has made belong to the one that they are made of, and a
    transformer with a column for each keeps them. After any other the columns are its own.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import Encode, KernelRidge
    >>> X, y = [["a", 1.0], ["b", 2.0], ["a", 3.0]] * 3, [1.0, 2.0, 3.0] * 3
    >>> X = np.array(X, dtype=object)
    >>> model = make_pipeline(Encode(target_kind="regress"), KernelRidge()).fit(X, y)
    >>> trace(model, X).groups
    array([0, 0, 1])
    """
    width = _width(X)
    found = TracedModel(model, X, names_of(X, width), np.arange(1 if width is None else width))
    return _inward(found)


def _inward(at: TracedModel) -> TracedModel:
    model = at.machine
    if hasattr(model, "steps"):
        for _, step in model.steps[:-1]:
            if step is not None and step != "passthrough":
                at = _through(step, at)
        return _inward(TracedModel(model.steps[-1][1], at.X, at.columns, at.groups))
    inside = machine_inside(model)
    if inside is None:
        return at
    return _inward(TracedModel(inside, at.X, at.columns, at.groups))


def _through(step: Any, at: TracedModel) -> TracedModel:
    """Follow the columns through one transformer."""
    X = step.transform(at.X)
    width = _width(X)
    if width is None:
        return TracedModel(step, X, ("item",), np.arange(1))
    origin = _origin(step, at, width)
    if origin is not None and len(origin) == width:
        return TracedModel(step, X, at.columns, at.groups[origin])
    names = (
        step.get_feature_names_out() if hasattr(step, "get_feature_names_out") else range(width)
    )
    columns = tuple(names) if len(names) == width else tuple(range(width))
    return TracedModel(step, X, columns, np.arange(width))


def _origin(step: Any, at: TracedModel, width: int) -> np.ndarray | None:
    """Return the place of the column that each new one is made of; None where that is not told."""
    count = len(at.groups)
    own = getattr(step, "columns_", None)  # found by name, in any order
    given = list(at.X.columns) if is_frame(at.X) else None
    if own is not None and given is not None:
        order = np.array([given.index(name) for name in own])
    else:
        order = np.arange(count)
    if hasattr(step, "blocks_"):
        return np.asarray(order[step.blocks_])
    gaps = getattr(step, "gaps_", None)
    if gaps is not None and hasattr(step, "means_"):
        names = own if own is not None else list(range(len(order)))
        return np.concatenate([order, order[[names.index(name) for name in gaps]]]).astype(int)
    if isinstance(step, OneToOneFeatureMixin) and width == count:
        return order
    return None


def _width(X: Any) -> int | None:
    """Return how many columns items have; None for whole things."""
    if hasattr(X, "shape"):
        return int(X.shape[1]) if len(X.shape) == 2 else None
    first = X[0] if len(X) else None
    if isinstance(first, list | tuple | np.ndarray) and np.ndim(first) == 1:
        try:
            return int(np.shape(X)[1])
        except (ValueError, IndexError):
            return None
    return None
