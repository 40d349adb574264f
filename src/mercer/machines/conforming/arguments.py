"""Arguments of `Conformal`: what is refused before the work begins."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from mercer.domains import (
    Items,
    admit_labels,
    admit_numbers,
    admit_target,
    admit_weights,
    is_frame,
    is_stream,
)
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.machines.conforming.fold_machines import WIDTHS, TrainingRows
from mercer.machines.conforming.label_scores import KINDS
from mercer.machines.conforming.learning import METHODS

__all__ = ["admit_rows", "check_parameters", "column_of", "count_of"]


def check_parameters(asked: Any, X: Items) -> None:
    """Refuse parameters of a `Conformal` that cannot work."""
    machine = asked.machine
    if not isinstance(machine, BaseEstimator) or not (
        is_classifier(machine) or is_regressor(machine)
    ):
        raise ValidityError(f"machine must be a regressor or a classifier, found {machine!r}")
    for name, known in (("method", METHODS), ("widths", WIDTHS), ("sets", KINDS)):
        value = getattr(asked, name)
        if value not in known:
            raise ValidityError(f"{name} cannot be {value!r}{suggestion(str(value), known)}")
    whole = isinstance(asked.folds, numbers.Integral) and not isinstance(asked.folds, bool)
    if not whole or asked.folds < 2:
        raise ValidityError(f"folds must be a whole number from 2 on, found {asked.folds!r}")
    if not isinstance(asked.share, numbers.Real) or not 0 < float(asked.share) <= 0.5:
        raise ValidityError(f"share must lie between 0 and 0.5, found {asked.share!r}")
    if is_stream(X):
        raise DomainError("items that are held out must be in memory; take a sample of them")
    if get_tags(machine).input_tags.pairwise:
        raise DomainError(
            "folds need items, but the machine takes similarities; give it a kernel of items"
        )


def admit_rows(
    machine: Any, X: Any, y: Any, sample_weight: Any, groups: Any
) -> tuple[TrainingRows, np.ndarray | None, np.ndarray | None]:
    """Return the items that count, and their classes if there are any."""
    if y is None:
        raise DomainError("requires y to be passed, but the target y is None")
    X = X.tocsr() if hasattr(X, "tocsr") else X
    X = X if hasattr(X, "__getitem__") and not isinstance(X, tuple) else np.asarray(X)
    count = count_of(X)
    if not count or 0 in np.shape(X):
        clone(machine).fit(X, y)  # it says what is missing
    codes, classes = None, None
    if is_regressor(machine):
        target: Any = _one_target(y, count)
    else:
        codes, classes = admit_labels(y, count)
        target = np.asarray(y).reshape(-1)
    weights = admit_weights(sample_weight, count)
    rows = TrainingRows(X, target, weights, _owners(groups, count))
    if weights is not None and not (weights > 0).all():
        there = np.flatnonzero(weights > 0)
        rows, codes = rows.part(there), None if codes is None else codes[there]
    return rows, codes, classes


def _one_target(y: ArrayLike, count: int) -> np.ndarray:
    target = admit_target(y, count)
    if target.ndim == 2 and target.shape[1] > 1:
        raise DomainError(
            f"intervals are for one target, found {target.shape[1]}; give each its own"
        )
    return admit_numbers(y, count)  # which warns of a column, as others do


def _owners(groups: Any, count: int) -> np.ndarray | None:
    """Return the number of each item's group."""
    if groups is None:
        return None
    found = np.asarray(groups, dtype=object)
    if found.shape != (count,):
        raise DomainError(
            f"groups must name one group for each of {count} items, found an array of shape "
            f"{found.shape}"
        )
    found = np.unique(found.astype(str), return_inverse=True)[1]
    if found.max(initial=0) < 1:
        raise DomainError(
            "all items are of one group, so nothing can be promised about others; items of "
            "several groups are needed"
        )
    return found


def column_of(X: Items, by: object) -> np.ndarray:
    """Return the entries of the column that levels are by.

    Examples
    --------
    >>> column_of(np.array([[1.0, 2.0], [3.0, 4.0]]), 1)
    array([2., 4.])
    """
    if is_frame(X):
        if by not in list(X.columns):
            raise DomainError(
                f"X has no column {by!r}, by which the level is to hold"
                f"{suggestion(str(by), map(str, X.columns))}"
            )
        return np.asarray(X[by])
    table = np.asarray(X)
    place = int(by) if isinstance(by, numbers.Integral) else -1
    if table.ndim != 2 or not 0 <= place < table.shape[1]:
        raise DomainError(
            f"X has no column {by!r}, by which the level is to hold; give the number of a column, "
            'or "class" for a classifier'
        )
    return table[:, place]


def count_of(X: Any) -> int:
    """Return how many items there are."""
    return int(X.shape[0]) if hasattr(X, "shape") and X.shape else len(X)
