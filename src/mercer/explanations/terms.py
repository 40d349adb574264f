"""The terms of a decision: weights of the known items, and an offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.domains import Items, Points
from mercer.errors import DomainError
from mercer.machines import ScaledTarget
from mercer.machines.abilities import Abilities

__all__ = ["Terms", "machine_inside", "scale_inside", "terms_of", "unwrap"]


@dataclass(frozen=True)
class Terms:
    """The terms of Σᵢ wᵢ k(x, xᵢ) + b, the score of each item in favor of one answer."""

    weights: np.ndarray
    offsets: np.ndarray
    toward: list[Any]  # the label that positive scores speak for, or None for a number
    of_features: np.ndarray | None = (
        None  # weights of features, where the function is made of them
    )


def terms_of(
    machine: BaseEstimator, points: Points, X: Items, label: object, output: int
) -> Terms:
    """Return the terms by which a machine decides about some items.

    With two classes a score speaks for one and against the other. With more it is that of the
    class itself, or the mean over its pairs with the others.
    """
    function = machine.function_
    table = function.coefficients.reshape(len(function), -1)
    offset = np.broadcast_to(getattr(machine, "intercept_", 0.0), (table.shape[1],))
    classes = getattr(machine, "classes_", None)
    if classes is None:
        column = _output(output, table.shape[1])
        mixing = np.repeat(np.eye(table.shape[1])[[column]], len(points), axis=0)
        toward: list[Any] = [None] * len(points)
    else:
        codes = _codes(machine, X, len(points), classes, label)
        directions = getattr(type(machine), "class_directions", Abilities.class_directions)
        mixing = directions(machine, table.shape[1])[codes]
        toward = [classes.tolist()[code] for code in codes]
    known = getattr(function, "weights", None)
    of_features = None if known is None else mixing @ known.reshape(len(known), -1).T
    return Terms(mixing @ table.T, mixing @ offset, toward, of_features)


def _codes(
    machine: BaseEstimator, X: Items, count: int, classes: np.ndarray, label: object
) -> np.ndarray:
    """Return the place among the classes of the answer that is explained, for each item."""
    if label is None:
        return np.searchsorted(classes, machine.predict(X))
    known = classes.tolist()
    if label not in known:
        raise DomainError(f"there is no class {label!r}; the classes are {known}")
    return np.full(count, known.index(label))


def _output(output: int, count: int) -> int:
    if not 0 <= output < count:
        raise DomainError(f"there are {count} outputs, so there is none with the number {output}")
    return output


def unwrap(model: BaseEstimator, X: Items | None = None) -> tuple[Any, Any]:
    """Return the machine inside pipelines, searches and calibrations, and what it sees of `X`.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import KernelRidge
    >>> unwrap(make_pipeline(StandardScaler(), KernelRidge("linear")))[0].kernel
    'linear'
    """
    if hasattr(model, "steps"):
        if X is not None and len(model.steps) > 1:
            X = model[:-1].transform(X)
        return unwrap(model[-1], X)
    inside = machine_inside(model)
    return (model, X) if inside is None else unwrap(inside, X)


def scale_inside(model: Any) -> str:
    """Return the scale of the target on which the machine inside decides.

    Examples
    --------
    >>> from mercer import KernelRidge, ScaledTarget
    >>> scale_inside(ScaledTarget(KernelRidge(), "log")), scale_inside(KernelRidge())
    ('log', 'none')
    """
    while model is not None:
        if isinstance(model, ScaledTarget):
            return model.scale
        model = model[-1] if hasattr(model, "steps") else machine_inside(model)
    return "none"


def machine_inside(model: BaseEstimator) -> Any:
    """Return the fitted machine that a search or a calibration wraps; None if it wraps none."""
    # A machine of ours that wraps another one declares its place; scikit-learn's have the others.
    places = (getattr(model, "delegate", None) or "best_estimator_", "estimator_", "estimator",
              "machine")  # fmt: skip
    found = (getattr(model, name, None) for name in places)
    return next((machine for machine in found if hasattr(machine, "fit")), None)
