"""Prices of slack, one after the other: each support vector machine starts from the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from mercer.errors import SelectionError
from mercer.selection.splits import splits_of

__all__ = ["Ascent", "folds_of", "gap_of"]


@dataclass(frozen=True)
class Ascent:
    """A machine, its items, their labels and weights, and whom to tell about each fit.

    Examples
    --------
    >>> from mercer import SVC
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> ascent = Ascent(SVC("linear"), X, y, None, lambda *_: None)
    >>> [len(m.support_) for m in ascent.machines(np.array([0.01, 10.0]), np.arange(4))]
    [4, 2]
    """

    machine: Any
    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    step: Callable[..., None]

    def machines(self, prices: np.ndarray, train: np.ndarray) -> Iterator[Any]:
        """Yield the machine as it is at each price; it is always the same object."""
        machine = clone(self.machine).set_params(warm_start=True, probability=False)
        X, y = _safe_split(machine, self.X, self.y, train)
        weights = None if self.weights is None else self.weights[train]
        for C in prices:
            yield machine.set_params(C=float(C)).fit(X, y, weights)
            self.step(1, f"C = {C:.3g}")

    def mistakes(self, machine: Any, train: np.ndarray, test: np.ndarray) -> float:
        """Return the share of some items' weight that a machine gives to a wrong class."""
        X, y = _safe_split(machine, self.X, self.y, test, train)
        weights = None if self.weights is None else self.weights[test]
        return float(np.average(machine.predict(X) != y, weights=weights))


def folds_of(
    cv: Any, X: Any, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the items to learn from and those held out, for each fold.

    Examples
    --------
    >>> codes, classes = np.array([0, 1, 0, 1]), np.array(["no", "yes"])
    >>> [test.tolist() for _, test in folds_of(2, np.zeros(4), codes, classes, None)]
    [[0, 1], [2, 3]]
    """
    splits = splits_of(cv, X, codes, True, codes=codes, classes=classes.tolist())
    folds = [(split.train, split.test) for split in splits]
    for number, (_, test) in enumerate(folds):
        if not len(test) or (weights is not None and not weights[test].any()):
            raise SelectionError(
                f"the items that fold {number} holds out have no weight, so it has no error; use "
                "fewer folds, or shuffle them"
            )
    return folds


def gap_of(machine: Any) -> float:
    """Return the largest duality gap of a machine's programs, as a share of the objective.

    Examples
    --------
    >>> from mercer import SVC
    >>> gap_of(SVC("linear").fit([[-1.0], [1.0]], [0, 1])) < 1e-9
    True
    """
    found = machine.solution_
    return max(
        optimum.relative_gap for optimum in (found if isinstance(found, tuple) else (found,))
    )
