"""Scores of items that a ridge classifier has not seen, from one inverse instead of a fit a fold.

Removing the items R from a ridge regression leaves (C_RR)⁻¹α_R of their targets unexplained, for
the inverse C and the coefficients α of all items (`mercer.machines.metric_search.left_out`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from mercer.engine.tiles import fill
from mercer.machines.abilities import able
from mercer.machines.metric_search import left_out
from mercer.machines.ridge import KernelRidgeClassifier
from mercer.memory import affordable
from mercer.solvers.ridge.inverse import CholeskySystem

__all__ = ["bytes_of_inverse", "held_out_scores"]

MAX_INVERTED = 3000  # items; folds of more are as fast in single precision, with less memory
INVERSE_BYTES = 16  # for each pair of items: the matrix that becomes its inverse, and blocks of it


def held_out_scores(
    machine: Any, X: Any, labels: np.ndarray, weights: np.ndarray | None,
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
) -> np.ndarray | None:  # fmt: skip
    """Return the scores of the held-out items of all splits, one below the other.

    None where folds have to be fitted: another kind of machine, a kernel that depends on the
    items, splits that do not divide the same items, or too few digits.

    Parameters
    ----------
    machine : machine
        Fitted to all items.
    X, labels, weights
        All items.
    splits : sequence of (train, test)

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> machine = KernelRidgeClassifier(Gaussian(1.0), 0.1)
    >>> rest, one = np.array([0, 1, 3]), np.array([2])
    >>> found = held_out_scores(machine.fit(X, y), X, y, None, [(rest, one)])
    >>> np.allclose(found, machine.fit(X[rest], y[rest]).decision_function(X[one]))
    True
    """
    some = _divided(splits)
    if some is None or not _applies(machine, len(some)):
        return None
    regression = machine.regression(labels[some], len(some), _part(weights, some))
    if regression.weights is not None and not (regression.weights > 0).all():
        return None
    roots = None if regression.weights is None else np.sqrt(regression.weights)
    K = fill(machine.kernel_, machine._admit(_safe_indexing(X, some)), dtype=np.float64)
    if roots is not None:
        K *= roots[:, None]
        K *= roots
    target = regression.target.reshape(len(some), -1)
    inverse = CholeskySystem(K, target, roots, machine.has_intercept).at(float(machine.penalty))
    if inverse is None:
        return None
    found = []
    for _, test in splits:
        rows = np.searchsorted(some, test)
        off = left_out(inverse, rows)
        found.append(target[rows] - (off if roots is None else off / roots[rows, None]))
    scores = np.concatenate(found)
    return scores if np.isfinite(scores).all() else None


def bytes_of_inverse(machine: Any, count: int) -> int:
    """Return the bytes that the scores of so many items may take.

    Examples
    --------
    >>> bytes_of_inverse(KernelRidgeClassifier(), 1000)
    16000000
    """
    inverted = type(machine) is KernelRidgeClassifier and count <= MAX_INVERTED
    return INVERSE_BYTES * count**2 if inverted else 0


def _applies(machine: Any, count: int) -> bool:
    """Tell whether folds have the same kernel, and one inverse is cheaper than fits."""
    return (
        type(machine) is KernelRidgeClassifier
        and able(machine, "closed-form folds")
        and machine.closed_form_applies
        and machine.class_weight is None
        and machine.indefinite == "error"
        and machine.kernel == machine.kernel_
        and machine.plan_.route == "dual"
        and not machine.plan_.sketched
        and float(machine.penalty) > 0
        and count <= MAX_INVERTED
        and affordable(INVERSE_BYTES * count**2)
    )


def _divided(splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray | None:
    """Return the items that are learned from or held out, if these are the same in all splits."""
    found = None
    for train, test in splits:
        own = np.sort(np.concatenate([train, test]))
        if (np.diff(test) <= 0).any() or (np.diff(own) == 0).any():
            return None
        if found is not None and not np.array_equal(own, found):
            return None
        found = own
    return found


def _part(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weights is None else weights[rows]
