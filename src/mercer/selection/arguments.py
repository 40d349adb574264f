"""Arguments: what is checked of items, targets, weights and grids before any work starts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from mercer.domains import Items, admit_labels, admit_target, admit_weights
from mercer.errors import SelectionError, ValidityError, suggestion
from mercer.machines import Machine
from mercer.values import Identity

__all__ = [
    "TrainingData",
    "candidates",
    "check_arguments",
    "check_data",
    "grid_combinations",
    "last_step",
    "require_machine",
    "rows_of",
    "settings_key",
]


@dataclass(frozen=True)
class TrainingData:
    """Items and targets that can be taken by their place.

    Attributes
    ----------
    X, y : the items and their targets
    weights : ndarray or None
    codes : ndarray or None
        The classes of the items by number, if the machine is a classifier.
    classes : list
    """

    X: Items
    y: ArrayLike | None
    weights: np.ndarray | None = None
    codes: np.ndarray | None = None
    classes: Sequence[Any] = ()

    def __len__(self) -> int:
        return _num_samples(self.X)


def check_data(
    machines: Sequence[BaseEstimator],
    X: Items,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
) -> TrainingData:
    """Refuse what no fit of these machines could use.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> check_data([KernelRidge()], [[1.0], [2.0]], [0.5, float("nan")])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: Input y contains NaN or infinity at row 1
    """
    X, y = (_by_place(values, name) for values, name in ((X, "X"), (y, "y")))
    if X is None:
        raise SelectionError("X must be a sequence of items, found None")
    count = _num_samples(X)
    if y is not None and _num_samples(y) != count:
        raise SelectionError(f"there are {count} items, but {_num_samples(y)} targets")
    ours = all(isinstance(last_step(machine), Machine) for machine in machines)
    if any(_is_pairwise(machine) for machine in machines):
        _require_square(X)
    supervised = all(is_classifier(m) or is_regressor(m) for m in machines)
    if ours and supervised and y is None:
        raise SelectionError(
            f"{type(last_step(machines[0])).__name__} requires y to be passed, but the target y "
            "is None"
        )
    if ours and y is not None and all(is_regressor(machine) for machine in machines):
        admit_target(y, count)
    codes, classes = None, []
    labels = y is not None and is_classifier(machines[0])
    if labels and (ours or np.ndim(y) == 1):
        codes, found = admit_labels(y, count)
        classes = found.tolist()
    weights = admit_weights(sample_weight, count)
    return TrainingData(X, y, weights, codes, classes)


def check_arguments(machine: BaseEstimator, arguments: Sequence[str]) -> None:
    """Refuse arguments that a machine's `fit` does not have.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> check_arguments(KernelRidge(), ["sample_wieght"])
    Traceback (most recent call last):
        ...
    mercer.errors.SelectionError: KernelRidge.fit has no argument 'sample_wieght'; did you mean \
'sample_weight'?
    """
    if not isinstance(machine, Machine):
        return
    known = signature(machine.fit).parameters
    if any(one.kind is Parameter.VAR_KEYWORD for one in known.values()):
        return
    for name in arguments:
        if name not in known:
            others = set(known) - {"X", "y"}
            hint = suggestion(name, others) if others else ""
            raise SelectionError(f"{type(machine).__name__}.fit has no argument {name!r}{hint}")


def last_step(estimator: BaseEstimator) -> Any:
    """Return the last step of a pipeline, or what is no pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def rows_of(machine: Any, X: Items, rows: np.ndarray, learned: np.ndarray) -> Any:
    """Return some items; of similarities only those to the items that are learned from.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> rows_of(KernelRidge("precomputed"), np.arange(9.0).reshape(3, 3), [2], [0, 1])
    array([[6., 7.]])
    """
    return (
        np.asarray(X)[np.ix_(rows, learned)] if _is_pairwise(machine) else _safe_indexing(X, rows)
    )


def _is_pairwise(machine: BaseEstimator) -> bool:
    """Tell whether a machine's items are rows of similarities."""
    return bool(machine.__sklearn_tags__().input_tags.pairwise)


def _by_place(values: Any, name: str) -> Any:
    """Return a sequence that can be indexed; None stays None."""
    try:
        (found,) = indexable(values)
        if found is not None:
            _num_samples(found)
    except TypeError as error:
        raise SelectionError(f"{name} must be a sequence, found {values!r}") from error
    return found


def _require_square(X: Any) -> None:
    shape = np.shape(X)
    if len(shape) != 2 or shape[0] != shape[1]:
        found = " x ".join(map(str, shape))
        raise SelectionError(
            "precomputed similarities are a square matrix, a row and a column for each item; "
            f"found {found}"
        )


def grid_combinations(grid: Any) -> list[dict[str, Any]]:
    """Return all combinations of a grid's values, in scikit-learn's order.

    Examples
    --------
    >>> grid_combinations({"penalty": [0.1, 1.0]})
    [{'penalty': 0.1}, {'penalty': 1.0}]
    """
    parts = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(parts, list | tuple) or not all(isinstance(p, Mapping) for p in parts):
        raise SelectionError(f"a grid is a dict of lists, or a list of such dicts; found {grid!r}")
    if not parts or not any(parts):
        raise SelectionError("the grid is empty: name at least one parameter and its values")
    for part in parts:
        for name, values in part.items():
            if not isinstance(name, str):
                raise SelectionError(f"parameters have names, found {name!r}")
            if isinstance(values, str) or not hasattr(values, "__len__"):
                raise SelectionError(
                    f"the values of {name!r} must be a list, found {values!r}; write [{values!r}]"
                )
            if len(values) == 0:
                raise SelectionError(f"the grid has no values for {name!r}")
    try:
        combinations = list(ParameterGrid(list(parts)))
    except (TypeError, ValueError) as error:
        raise SelectionError(f"this is not a grid: {error}") from error
    return combinations


def candidates(estimator: BaseEstimator, combinations: list[dict[str, Any]]) -> list[Any]:
    """Return a clone of the estimator for each combination of parameters.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> candidates(KernelRidge(), [{"penalti": 0.1}])
    Traceback (most recent call last):
        ...
    mercer.errors.SelectionError: KernelRidge has no parameter 'penalti'; did you mean 'penalty'?
    """
    require_machine(estimator)
    return [_changed(estimator, clone(some, safe=False)) for some in combinations]


def require_machine(estimator: BaseEstimator) -> None:
    """Refuse what cannot be fitted.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> require_machine(KernelRidge)
    Traceback (most recent call last):
        ...
    mercer.errors.SelectionError: a machine is needed; write KernelRidge()
    """
    if isinstance(estimator, type):
        raise SelectionError(f"a machine is needed; write {estimator.__name__}()")
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise SelectionError(f"a machine is needed, found {estimator!r}")


def _changed(estimator: BaseEstimator, params: dict[str, Any]) -> Any:
    try:
        return clone(estimator).set_params(**params)
    except ValidityError as error:
        raise SelectionError(str(error)) from error
    except ValueError as error:  # scikit-learn's own, which names only parameters of one level
        known = estimator.get_params(deep=True)
        unknown = next((name for name in params if name not in known), None)
        if unknown is None:
            raise
        raise SelectionError(
            f"{type(estimator).__name__} has no parameter {unknown!r}{suggestion(unknown, known)}"
        ) from error


def settings_key(machine: BaseEstimator, *names: str) -> Hashable:
    """Return what two machines must share to differ in these parameters at most.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> settings_key(KernelRidge(penalty=1.0), "penalty") == settings_key(KernelRidge(), "penalty")
    True
    """
    params = machine.get_params(deep=False)
    return type(machine), tuple(
        (name, _key(value)) for name, value in sorted(params.items()) if name not in names
    )


def _key(value: object) -> Hashable:
    if isinstance(value, dict):
        return frozenset((_key(k), _key(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(_key(v) for v in value)
    if isinstance(value, BaseEstimator):  # clones are never the same object
        return settings_key(value)
    try:
        hash(value)
    except TypeError:
        return Identity(value)
    return type(value), value  # a number of items is not a share, though 1 == 1.0 == True
