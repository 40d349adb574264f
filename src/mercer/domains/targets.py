"""Targets, labels and weights: what the items are to be mapped to.

Labels are encoded here and decoded after predict, nowhere else.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DomainError, DomainTypeError

__all__ = [
    "admit_labels",
    "admit_numbers",
    "admit_target",
    "admit_weights",
    "column",
    "is_missing",
    "read_weights",
    "real_numbers",
    "weigh_classes",
]


def admit_target(y: ArrayLike, count: int) -> np.ndarray:
    """Return `y` as float64 of shape (count,) or (count, targets), refusing what is not finite.

    Parameters
    ----------
    y : array of shape (count,) or (count, targets)
    count : int
        How many rows there must be.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> admit_target([1.0, float("nan")], 2)
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: Input y contains NaN or infinity at row 1
    """
    try:
        target = real_numbers(column(y, count), "y")
    except DomainError as error:
        hint = "; for labels use a classifier" if "must hold numbers" in str(error) else ""
        raise DomainError(f"{error}{hint}") from error
    if not np.isfinite(target).all():
        row = int(np.argwhere(~np.isfinite(target))[0][0])
        raise DomainError(f"Input y contains NaN or infinity at row {row}")
    return target


def admit_numbers(y: ArrayLike, count: int) -> np.ndarray:
    """Return `y` as float64 of shape (count,): one number for each item.

    Parameters
    ----------
    y : sequence of numbers
    count : int
        How many there must be.

    Returns
    -------
    ndarray of shape (count,)

    Examples
    --------
    >>> admit_numbers([1, 2], 2)
    array([1., 2.])
    """
    target = admit_target(y, count)
    if target.ndim == 2 and target.shape[1] == 1:
        target = _flatten(target)
    if target.ndim != 1:
        raise DomainError(f"y should be a 1d array, got an array of shape {target.shape} instead.")
    return target


def admit_labels(y: ArrayLike, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (codes, classes) so that ``classes[codes]`` are the labels.

    Parameters
    ----------
    y : sequence of labels
    count : int
        How many there must be.

    Returns
    -------
    (ndarray of int, ndarray)
        Codes, and the classes in sorted order.

    Examples
    --------
    >>> admit_labels(["oak", "ash", "oak"], 3)
    (array([1, 0, 1]), array(['ash', 'oak'], dtype='<U3'))
    """
    labels = column(y, count)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = _flatten(labels)
    if labels.ndim != 1:
        raise DomainError(f"y must be one label per item, found an array of shape {labels.shape}")
    if labels.dtype.kind == "c":
        raise DomainError("Complex data not supported: y holds complex numbers")
    if labels.dtype.kind == "f":
        _check_labels_are_classes(labels)
    if labels.dtype.kind in "OM":
        missing = [row for row, label in enumerate(labels.tolist()) if is_missing(label)]
        if missing:
            raise DomainError(f"the label of item {missing[0]} is missing; fill it in or drop it")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DomainTypeError(f"y mixes labels that cannot be ordered: {error}") from error
    if len(classes) < 2:
        raise DomainError(
            f"y has only 1 class, {classes.tolist()[0]!r}; a classifier needs at least two classes"
        )
    return codes, classes


def real_numbers(values: object, name: str) -> np.ndarray:
    """Return an array of float64, refusing text and complex numbers.

    Parameters
    ----------
    values : array, or what can be made one
    name : str
        What to call it in messages.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> real_numbers([1, 2], "y")
    array([1., 2.])
    >>> real_numbers(["a"], "y")
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: y must hold numbers (it holds <U1 values)
    """
    try:
        array = np.asarray(values)
        kind = array.dtype.kind
        if kind == "c":
            raise DomainError(f"Complex data not supported: {name} must hold real numbers")
        if kind == "O" and any(isinstance(value, str) for value in array.ravel()):
            raise ValueError("there is text in it")
        if kind not in "fiubO":
            raise ValueError(f"it holds {array.dtype} values")
        return array.astype(np.float64)
    except DomainError:
        raise
    except (TypeError, ValueError) as error:
        raise DomainError(f"{name} must hold numbers ({error})") from error


def admit_weights(weights: ArrayLike | None, count: int) -> np.ndarray | None:
    """Return sample weights as float64, or None when all items count alike.

    Parameters
    ----------
    weights : sequence of numbers, or None
    count : int
        How many there must be.

    Returns
    -------
    ndarray of shape (count,), or None

    Examples
    --------
    >>> admit_weights([1, 2], 2), admit_weights(None, 2)
    (array([1., 2.]), None)
    """
    w = read_weights(weights, count)
    if w is not None and not w.any():
        raise DomainError("all sample weights are zero, so there is nothing to learn from")
    return w


def read_weights(weights: ArrayLike | None, count: int) -> np.ndarray | None:
    """Return weights of some of the items, which may all be zero."""
    if weights is None:
        return None
    w = real_numbers(weights, "sample_weight")
    if w.ndim == 0:
        w = np.full(count, float(w))
    if w.ndim != 1:
        raise DomainError(f"Sample weights must be 1D array or scalar, found {w.ndim}D")
    if len(w) != count:
        raise DomainError(f"sample_weight has {len(w)} entries, but there are {count} items")
    if not np.isfinite(w).all() or (w < 0).any():
        row = int(np.flatnonzero(~np.isfinite(w) | (w < 0))[0])
        raise DomainError(
            f"sample_weight must be finite and not negative; item {row} has {w[row]}"
        )
    return w


def weigh_classes(
    rule: Mapping[Any, float] | str | None,
    codes: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray | None,
) -> np.ndarray | None:
    """Return sample weights times class weights: a dict by label, "balanced", or None.

    "balanced" gives all classes the same total, counting an item by its weight.

    Parameters
    ----------
    rule : dict of label to weight, "balanced" or None
    codes : ndarray of int
        The class of each item.
    classes : ndarray
        The labels.
    weights : ndarray or None
        Of the items.

    Returns
    -------
    ndarray or None

    Examples
    --------
    >>> weigh_classes("balanced", np.array([0, 0, 0, 1]), np.array(["a", "b"]), None).round(3)
    array([0.667, 0.667, 0.667, 2.   ])
    """
    if rule is None:
        return weights
    w = np.ones(len(codes)) if weights is None else weights
    if isinstance(rule, str):
        if rule != "balanced":
            raise DomainError(f"class_weight must be a dict, 'balanced' or None, found {rule!r}")
        totals = np.bincount(codes, w, minlength=len(classes))
        share = np.divide(
            w.sum() / len(classes), totals, where=totals > 0, out=np.zeros_like(totals)
        )
        return w * share[codes]
    if not isinstance(rule, dict):
        raise DomainError(f"class_weight must be a dict, 'balanced' or None, found {rule!r}")
    unknown = [label for label in rule if label not in classes.tolist()]
    if unknown:
        raise DomainError(f"class_weight names {unknown[0]!r}, which is not among the labels")
    share = real_numbers([rule.get(label, 1.0) for label in classes.tolist()], "class_weight")
    if not np.isfinite(share).all() or (share < 0).any():
        raise DomainError(f"class_weight must be finite and not negative, found {rule!r}")
    return admit_weights(w * share[codes], len(codes))


def column(y: ArrayLike | None, count: int) -> np.ndarray:
    """Return `y` as an array of one or two dimensions that is as long as X."""
    if y is None:
        raise DomainError("requires y to be passed, but the target y is None")
    if isinstance(y, list | tuple) and len({isinstance(label, str) for label in y}) > 1:
        raise DomainError("y mixes text and other labels; make all of them text, or all numbers")
    try:
        target = np.asarray(y)
    except ValueError as error:
        raise DomainError("the rows of y do not all have the same length") from error
    if target.ndim not in (1, 2):
        raise DomainError(f"y should be a 1d array, got an array of shape {target.shape} instead.")
    if len(target) != count:
        raise DomainError(
            f"Found input variables with inconsistent numbers of samples: X has {count}, "
            f"y has {len(target)}"
        )
    return target


def is_missing(label: object) -> bool:
    """Tell a label from a gap: None, NaN, or pandas' own kinds."""
    missing_type = type(label).__name__ in ("NAType", "NaTType", "NoneType")
    return missing_type or (isinstance(label, float) and label != label)


def _flatten(labels: np.ndarray) -> np.ndarray:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; it was flattened",
        DataConversionWarning,
        stacklevel=4,
    )
    return labels[:, 0]


def _check_labels_are_classes(labels: np.ndarray) -> None:
    if not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise DomainError(f"Input y contains NaN or infinity at row {row}")
    if (labels != np.round(labels)).any():
        raise DomainError(
            "Unknown label type: continuous. A classifier needs class labels; for numbers use a "
            "regressor such as KernelRidge"
        )
