"""Scores: machines that learned a function and an offset, and categorize by their sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from mercer.domains import Items, Points
from mercer.errors import DomainError
from mercer.gram import LowRank, Operator, assemble, features_of, multiply
from mercer.kernels import Kernel
from mercer.kernels.base import same_width
from mercer.machines.chunks import require_fitted
from mercer.machines.machine import Machine
from mercer.rkhs import Function, PrimalFunction

__all__ = [
    "ExpansionMachine",
    "ScoreClassifier",
    "averages",
    "cheapest",
    "require_weight",
    "weights_of",
]


MIN_ENGINE_PAIRS = 10**8  # of a prediction, from which on the way to another engine is worth it


class ExpansionMachine(Machine):
    """A machine with `function_`, `intercept_` and, where there are features, their `coef_`."""

    kernel_: Kernel
    function_: Any  # Function, or Featured for random features
    intercept_: Any
    coef_: np.ndarray | None

    def _decision_values(self, X: Items) -> np.ndarray:
        """Return f(x) + b of new items, by the weights of the features if there are any."""
        require_fitted(self)
        points = self._admit_new(X, self.kernel_)
        if self._feature_weights() is None or isinstance(self.function_, PrimalFunction):
            return self._values(points) + self.intercept_
        features = features_of(self.kernel_, self.function_.points)(points)
        return np.asarray(LowRank(features).features @ self._feature_weights()) + self.intercept_

    def _values(self, points: Points) -> np.ndarray:
        """Return f at new items, where the machine was fitted if they are many."""
        f, decision = self.function_, getattr(self, "plan_", None)
        if decision is None or type(f) is not Function or len(points) * len(f) < MIN_ENGINE_PAIRS:
            return f(points)
        same_width(points, f.points)
        return multiply(f.kernel, points, f.points, f.coefficients, decision)

    def _feature_weights(self) -> np.ndarray | None:
        """Return the weights of the features, if they were learned."""
        return self.coef_


class ScoreClassifier(ClassifierMixin, ExpansionMachine):
    """A classifier by scores: two classes by the sign of one, more by the highest of many."""

    classes_: np.ndarray

    def decision_function(self, X: Items) -> np.ndarray:
        """Return the score of the second class, or with more classes the score of each."""
        return self._decision_values(X)

    def predict(self, X: Items) -> np.ndarray:
        """Return the label with the highest score."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]


def averages(codes: np.ndarray, count: int, weights: np.ndarray | None) -> np.ndarray:
    """Return the coefficients of the mean embeddings of `count` groups, one column for each.

    Examples
    --------
    >>> averages(np.array([0, 1, 1]), 2, None)
    array([[1. , 0. ],
           [0. , 0.5],
           [0. , 0.5]])
    """
    H = np.zeros((len(codes), count))
    H[np.arange(len(codes)), codes] = 1.0 if weights is None else weights
    return H / H.sum(axis=0)


def require_weight(codes: np.ndarray, classes: np.ndarray, weights: np.ndarray | None) -> None:
    """Refuse a class whose items all have weight zero: nothing says what it is like."""
    if weights is None:
        return
    empty = np.flatnonzero(np.bincount(codes, weights, len(classes)) == 0)
    if len(empty):
        name = classes.tolist()[empty[0]]
        raise DomainError(
            f"all items of the class {name!r} have weight zero, so nothing is known of it; "
            "leave them out, or give one of them a weight"
        )


def cheapest(kernel: Kernel, points: Points) -> Operator:
    """Return the Gram operator, by explicit features where they are fewer than the items."""
    return assemble(kernel, points, "primal" if fewer_features(kernel, points) else "dual")


def fewer_features(kernel: Kernel, points: Points) -> bool:
    """Tell whether there are fewer explicit features than items."""
    finite = kernel.map_features(points)
    return finite is not None and finite.count < len(points)


def weights_of(gram: Operator, coefficients: np.ndarray) -> np.ndarray | None:
    """Return the weights of the features that belong to coefficients of the items, if any."""
    return np.asarray(gram.features.T @ coefficients) if isinstance(gram, LowRank) else None
