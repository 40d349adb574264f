"""Margin paths: support vector classification along ascending C, and its folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Items, admit_labels, admit_weights, to_numpy
from mercer.engine.tiles import diagonal
from mercer.errors import SelectionError
from mercer.machines.abilities import able
from mercer.progress import progress
from mercer.selection.grid_edges import warn_at_edge
from mercer.selection.path import Curve, ascending_grid, criterion_of, results_table
from mercer.selection.splits import splits_of

__all__ = ["MarginPath"]

DEFAULT_C = np.logspace(-2, 3, 11)  # divided by the mean of the kernel's diagonal


class MarginPath(BaseEstimator):
    """Support vector classification along ascending C, each fit starting from the last one.

    Parameters
    ----------
    machine : SVC
        Or another machine that declares "path along C". Its own C is not used.
    C : array, optional
        Prices of slack, positive and finite. By default 11 from 0.01 to 1000 divided by the mean
        of the kernel's diagonal, in equal ratios.

    Attributes
    ----------
    C_ : ndarray
        Ascending.
    n_support_ : ndarray
        Number of support vectors.
    margin_ : ndarray of shape (values,) or (values, machines)
        1/|w|; with more than two classes of each pair or class.
    training_error_ : ndarray
        Share of training items that are given to a wrong class.
    gap_ : ndarray
        Duality gap as a share of the primal objective; with more than two classes the largest.
    fold_error_ : ndarray of shape (values, folds)
        Share of held-out items that are given to a wrong class.
    cv_error_, cv_se_ : ndarray
        Mean of the folds, and its standard error.
    best_C_, best_index_
        The smallest C with the least error of the folds.
    cv_results_ : dict
        As scikit-learn's; the score is the share of right answers.

    Examples
    --------
    >>> from mercer.datasets import two_gaussians
    >>> from mercer import SVC
    >>> path = MarginPath(SVC("gaussian"), [0.01, 1.0, 100.0]).fit(*two_gaussians(60, seed=2))
    >>> path.best_C_, path.n_support_, path.margin_.round(2)
    (1.0, array([60, 33, 22]), array([5.59, 0.35, 0.06]))
    """

    def __init__(self, machine: BaseEstimator, C: ArrayLike | None = None) -> None:
        self.machine = machine
        self.C = C

    def fit(
        self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None, cv: Any = 5
    ) -> Self:
        """Fit items `X` with labels `y` at each C, and its folds.

        Parameters
        ----------
        X, y, sample_weight
        cv : int, splitter of scikit-learn or iterable of (train, test)
            A number means stratified folds in the order of the items. Folds by groups are given
            as an iterable: ``GroupKFold(5).split(X, y, groups)``.
        """
        if not able(self.machine, "path along C"):
            raise SelectionError(
                f"a path of margins needs SVC, found {self.machine!r}; a machine of your own "
                'can have one if its abilities name "path along C"'
            )
        if not self.machine.similarities_suffice:
            raise SelectionError(
                "a path of margins is one of exact answers, but the machine has an approximate "
                'plan; use approximate="never", or GridSearchCV'
            )
        grid = None if self.C is None else ascending_grid(self.C, "C")
        points = self.machine._admit(X)
        codes, classes = admit_labels(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        if grid is None:
            kernel = self.machine._resolve(points, weights)
            scale = float(np.mean(to_numpy(diagonal(kernel, points))))
            grid = DEFAULT_C / (scale if scale > 0 else 1.0)
        folds = folds_of(cv, X, codes, classes, weights)
        every = np.arange(len(points))
        found = np.empty((len(folds), len(grid)))
        title = f"{len(grid)} values of C x {len(folds)} folds"
        with progress(title, total=len(grid) * (len(folds) + 1)) as step:
            path = WarmStarts(self.machine, X, classes[codes], weights, step)
            for fold, (train, test) in enumerate(folds):
                machines = path.machines(grid, train)
                found[fold] = [path.mistakes(m, train, test) for m in machines]
            whole = [
                (path.mistakes(m, every, every), len(m.support_), m.margin_, gap_of(m))
                for m in path.machines(grid, every)
            ]
        self.C_, self.fold_error_ = grid, found.T
        self.training_error_, self.n_support_, self.margin_, self.gap_ = (
            np.array(column) for column in zip(*whole, strict=True)
        )
        self._choose()
        warn_at_edge("C", grid, self.best_C_)
        return self

    def curve(self, criterion: str = "cv") -> Curve:
        """Return the error of the folds along C, the only criterion there is.

        Examples
        --------
        >>> from mercer.datasets import two_gaussians
        >>> from mercer import SVC
        >>> MarginPath(SVC("linear"), [0.01, 1.0]).fit(*two_gaussians(60, seed=0)).curve().name
        'error of 5 folds'
        """
        check_is_fitted(self)
        folds = self.fold_error_.shape[1]
        known = {"cv": (f"error of {folds} folds", self.cv_error_, self.cv_se_)}
        name, heights, errors = criterion_of(criterion, known)
        training = self.training_error_
        return Curve("C", self.C_, heights, errors, training, name, self.best_index_)

    def _choose(self) -> None:
        """Set the means of the folds, the best C, and scikit-learn's table."""
        spread, folds = self.fold_error_.std(axis=1), self.fold_error_.shape[1]
        self.cv_error_ = self.fold_error_.mean(axis=1)
        self.cv_se_ = spread / np.sqrt(folds - 1) if folds > 1 else np.full(len(spread), np.nan)
        # Means of the same shares may differ by rounding.
        self.best_index_ = int(np.argmax(self.cv_error_ <= self.cv_error_.min() + 1e-12))
        self.best_C_ = float(self.C_[self.best_index_])
        self.cv_results_ = results_table("C", self.C_, 1 - self.cv_error_, spread)
        for fold, errors in enumerate(self.fold_error_.T):
            self.cv_results_[f"split{fold}_test_score"] = 1 - errors
        self.cv_results_["mean_train_score"] = 1 - self.training_error_


@dataclass(frozen=True)
class WarmStarts:
    """A machine, its items, their labels and weights, and whom to tell about each fit.

    Examples
    --------
    >>> from mercer import SVC
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> path = WarmStarts(SVC("linear"), X, y, None, lambda *_: None)
    >>> [len(m.support_) for m in path.machines(np.array([0.01, 10.0]), np.arange(4))]
    [4, 2]
    """

    machine: Any
    X: Items
    y: np.ndarray
    weights: np.ndarray | None
    step: Callable[..., None]

    def machines(self, values: np.ndarray, train: np.ndarray) -> Iterator[Any]:
        """Yield the machine as it is at each C; it is always the same object."""
        machine = clone(self.machine).set_params(warm_start=True, probability=False)
        X, y = _safe_split(machine, self.X, self.y, train)
        weights = None if self.weights is None else self.weights[train]
        for C in values:
            yield machine.set_params(C=float(C)).fit(X, y, weights)
            self.step(1, f"C = {C:.3g}")

    def mistakes(self, machine: BaseEstimator, train: np.ndarray, test: np.ndarray) -> float:
        """Return the share of some items' weight that a machine gives to a wrong class."""
        X, y = _safe_split(machine, self.X, self.y, test, train)
        weights = None if self.weights is None else self.weights[test]
        return float(np.average(machine.predict(X) != y, weights=weights))


def folds_of(
    cv: Any, X: Items, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray | None
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


def gap_of(machine: BaseEstimator) -> float:
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
