"""Candidates: the machines that a grid stands for, checked before any work starts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid

from mercer.errors import SelectionError, ValidityError, suggestion
from mercer.values import Identity

__all__ = ["candidates", "grid_of", "require_machine", "set_apart"]


def grid_of(grid: Any) -> list[dict[str, Any]]:
    """Return all combinations of a grid's values, in scikit-learn's order.

    Examples
    --------
    >>> grid_of({"penalty": [0.1, 1.0]})
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


def candidates(estimator: Any, combinations: list[dict[str, Any]]) -> list[Any]:
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


def require_machine(estimator: Any) -> None:
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


def _changed(estimator: Any, params: dict[str, Any]) -> Any:
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


def set_apart(machine: Any, *names: str) -> Hashable:
    """Return what two machines must share to differ in these parameters at most.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> set_apart(KernelRidge(penalty=1.0), "penalty") == set_apart(KernelRidge(), "penalty")
    True
    """
    params = machine.get_params(deep=False)
    return type(machine), tuple(
        (name, _key(value)) for name, value in sorted(params.items()) if name not in names
    )


def _key(value: Any) -> Hashable:
    if isinstance(value, dict):
        return frozenset((_key(k), _key(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(_key(v) for v in value)
    if isinstance(value, BaseEstimator):  # clones are never the same object
        return set_apart(value)
    try:
        hash(value)
    except TypeError:
        return Identity(value)
    return type(value), value  # a number of items is not a share, though 1 == 1.0 == True
