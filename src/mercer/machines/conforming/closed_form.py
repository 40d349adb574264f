"""Closed form: what a fitted ridge machine would say of new items without some of its own.

Exact for `KernelRidge` and `GaussianProcess`, by the Gram matrix or by features, and for their
sketches, whose functions are fixed before any target is seen.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_regressor

from mercer.domains import Items, Points
from mercer.engine.tiles import fill
from mercer.gram import LowRank, assemble, features_of
from mercer.kernels import Kernel
from mercer.machines.abilities import able
from mercer.machines.conforming.left_out import FeatureSums, LeftOut, leave_out, leave_out_features
from mercer.memory import afford
from mercer.rkhs import Function

__all__ = ["LeftOutAnswers", "answers_without", "bytes_without", "has_closed_form"]

MIN_EIGENVALUE = 1e-13  # of the centers' similarities, relative to the largest; less is rounding


@dataclass(frozen=True, eq=False)
class LeftOutAnswers:
    """Functions that have not seen some of the items, one output for each set.

    Attributes
    ----------
    residuals : ndarray of shape (n,)
        Of each item by the function that has not seen it.
    function : callable
        From points to an array of shape (points, sets), without offsets.
    offsets : ndarray of shape (sets,)
    """

    residuals: np.ndarray
    function: Any
    offsets: np.ndarray

    def __call__(self, points: Points) -> np.ndarray:
        return np.asarray(self.function(points)).reshape(len(points), -1) + self.offsets


def has_closed_form(machine: BaseEstimator) -> bool:
    """Tell whether the answers of a machine without some of its items follow from one system.

    Examples
    --------
    >>> from mercer import SVR, GaussianProcess, KernelRidge
    >>> [has_closed_form(one) for one in (KernelRidge(), GaussianProcess(), SVR())]
    [True, True, False]
    """
    if not is_regressor(machine) or not able(machine, "closed-form folds"):
        return False
    penalty = machine.penalty
    if not isinstance(penalty, numbers.Real) or not 0 < float(penalty) < np.inf:
        return False
    return getattr(machine, "indefinite", "error") == "error"


def answers_without(
    machine: BaseEstimator,
    X: Items,
    y: np.ndarray,
    removals: Sequence[np.ndarray],
    weights: np.ndarray | None = None,
) -> LeftOutAnswers | None:
    """Return what a fitted machine would say without each of some sets of its items.

    None where only fitting again can be trusted. The kernel is that of all items: what it takes
    from them (a median distance) does not depend on their targets.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 3.0, 2.0])
    >>> machine = KernelRidge("linear", 1.0)
    >>> found = answers_without(machine.fit(X, y), X, y, [np.array([0])])
    >>> alone = machine.fit(X[1:], y[1:]).predict([[1.0]])
    >>> np.allclose(y[0] - found.residuals[0], alone)
    True
    """
    if not has_closed_form(machine) or machine.kernel_.proof().verdict == "refuted":
        return None
    kernel, points, penalty = machine.kernel_, machine._admit(X), float(machine.penalty)
    given = y, penalty, removals, weights, bool(machine.intercept)
    features, made = _features(machine, kernel, points)
    if features is None:
        afford(16 * len(y) ** 2, f"intervals for {len(y)} items", "sketch them, or use fewer")
        found = leave_out(_matrix(kernel, points), *given)
        made = _expansion(kernel, points)
    else:
        found = leave_out_features(features, *given)
    return None if found is None else _answers(found, made)


def bytes_without(machine: BaseEstimator, X: Items, folds: int) -> int:
    """Return about how many bytes `answers_without` takes for so many sets of items.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> bytes_without(KernelRidge("gaussian"), np.zeros((100, 2)), 10)
    248000
    """
    points = machine._admit(X)
    finite, n = machine._resolve(points).map_features(points), len(points)
    if finite is None or finite.count >= n:
        return 8 * (3 * n**2 + n * folds)  # the matrix, its inverse, a copy
    p = finite.count  # as dense features, weighted, and what belongs to each item or fold
    return 8 * (3 * n * p + 3 * p**2 + (2 * p * n if folds == n else p * folds))


def _answers(found: LeftOut, made: Callable[[np.ndarray], Any]) -> LeftOutAnswers:
    return LeftOutAnswers(found.residuals, made(found.coefficients), found.offsets)


def _matrix(kernel: Kernel, points: Points) -> np.ndarray:
    return np.array(assemble(kernel, points).matrix(), dtype=np.float64, order="C")


def _expansion(kernel: Kernel, points: Points) -> Callable[[np.ndarray], Any]:
    return lambda coefficients: Function(kernel, points, coefficients)


def _features(
    machine: BaseEstimator, kernel: Kernel, points: Points
) -> tuple[np.ndarray | None, Callable[[np.ndarray], Any]]:
    """Return the features in which a machine is linear, if they are few, and what makes sums."""
    function, n = machine.function_, len(points)
    if machine.plan_.sketched:
        afford(8 * n * len(machine.dual_coef_), f"intervals for {n} items", "use fewer centers")
        if not isinstance(function, Function):  # random features
            random = function.features
            return np.asarray(random(points)), lambda c: type(function)(random, c)
        return _of_centers(kernel, points, function.points)
    finite = kernel.map_features(points)
    if finite is None or finite.count >= n:
        return None, _expansion(kernel, points)
    found = LowRank(features_of(kernel, points)(points)).features
    dense = found.toarray() if sparse.issparse(found) else np.asarray(found)
    return dense, lambda c: FeatureSums(kernel, points, c)


def _of_centers(
    kernel: Kernel, points: Points, centers: Points
) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """Return features whose dot products are the similarities by way of some centers."""
    values, U = np.linalg.eigh(np.asarray(fill(kernel, centers, dtype=np.float64)))
    good = values > MIN_EIGENVALUE * max(float(values[-1]), 0.0)
    T = U[:, good] / np.sqrt(values[good])
    features = np.asarray(fill(kernel, points, centers, dtype=np.float64)) @ T
    return features, lambda c: Function(kernel, centers, T @ c)
