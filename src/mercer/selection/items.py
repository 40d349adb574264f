"""Items: what is checked about items, targets and weights before any work starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from mercer.domains import admit_labels, admit_target, admit_weights
from mercer.errors import SelectionError, suggestion
from mercer.machines import Machine

__all__ = ["Items", "admit_items", "check_arguments", "final", "part_of"]


@dataclass(frozen=True)
class Items:
    """Items and targets that can be taken by their place.

    Attributes
    ----------
    X, y : the items and their targets
    weights : ndarray or None
    codes : ndarray or None
        The classes of the items by number, if the machine is a classifier.
    classes : list
    """

    X: Any
    y: Any
    weights: np.ndarray | None = None
    codes: np.ndarray | None = None
    classes: Sequence[Any] = ()

    def __len__(self) -> int:
        return _num_samples(self.X)


def admit_items(machines: Sequence[Any], X: Any, y: Any, sample_weight: Any = None) -> Items:
    """Refuse what no fit of these machines could use.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> admit_items([KernelRidge()], [[1.0], [2.0]], [0.5, float("nan")])
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
    ours = all(isinstance(final(machine), Machine) for machine in machines)
    if any(_is_pairwise(machine) for machine in machines):
        _require_square(X)
    supervised = all(is_classifier(m) or is_regressor(m) for m in machines)
    if ours and supervised and y is None:
        raise SelectionError(
            f"{type(final(machines[0])).__name__} requires y to be passed, but the target y is "
            "None"
        )
    if ours and y is not None and all(is_regressor(machine) for machine in machines):
        admit_target(y, count)
    codes, classes = None, []
    labels = y is not None and is_classifier(machines[0])
    if labels and (ours or np.ndim(y) == 1):
        codes, found = admit_labels(y, count)
        classes = found.tolist()
    weights = admit_weights(sample_weight, count)
    return Items(X, y, weights, codes, classes)


def check_arguments(machine: Any, arguments: Sequence[str]) -> None:
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


def final(estimator: Any) -> Any:
    """Return the last step of a pipeline, or what is no pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def part_of(machine: Any, X: Any, rows: np.ndarray, learned: np.ndarray) -> Any:
    """Return some items; of similarities only those to the items that are learned from.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> part_of(KernelRidge("precomputed"), np.arange(9.0).reshape(3, 3), [2], [0, 1])
    array([[6., 7.]])
    """
    return (
        np.asarray(X)[np.ix_(rows, learned)] if _is_pairwise(machine) else _safe_indexing(X, rows)
    )


def _is_pairwise(machine: Any) -> bool:
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
