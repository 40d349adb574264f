"""The ridge regression inside a machine, and what is known of it at every penalty.

For paths and criteria the kernel is resolved on all items, and the Gram matrix, or a few features,
are decomposed once (`mercer.solvers.ridge.spectral`). Each further penalty then costs two products
with an orthogonal matrix (Bishop, 6.8; Wahba, *Spline models*, 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from mercer.domains import Items, Points, admit_weights
from mercer.errors import SelectionError
from mercer.gram import LowRank, Operator
from mercer.kernels import Kernel
from mercer.lapack import EPS
from mercer.machines.abilities import able
from mercer.machines.scores import cheapest
from mercer.memory import afford
from mercer.selection.arguments import require_machine
from mercer.solvers.ridge.spectral import FeatureSystem, TridiagonalSystem

__all__ = ["RidgeMeasures", "RidgeTask", "decompose", "measure", "path_task", "search_task"]

RIDGES = "KernelRidge, KernelRidgeClassifier, KernelDiscriminant"


@dataclass(frozen=True)
class RidgeTask:
    """What a machine's ridge regression is about, except for K and λ.

    Attributes
    ----------
    kernel : Kernel
        Resolved on the items.
    points : Points
    target : ndarray of shape (n, targets)
    weights : ndarray of shape (n,) or None
        Of the squared errors.
    intercept : bool
    codes : ndarray or None
        Classes of the items, for a classifier.
    counts : ndarray of shape (n,)
        Weights of the items' mistakes: those of the user, without those of classes.
    flat : bool
        Whether y is one column, for which arrays have no axis.
    repaired : bool
        Whether a fit would repair the spectrum of the Gram matrix.
    """

    kernel: Kernel
    points: Points
    target: np.ndarray
    weights: np.ndarray | None
    intercept: bool
    codes: np.ndarray | None
    counts: np.ndarray
    flat: bool
    repaired: bool

    @property
    def places(self) -> np.ndarray:
        """Where the items are that have a weight."""
        every = np.arange(len(self.points))
        return every if self.weights is None else np.flatnonzero(self.weights)

    @property
    def positive_weights(self) -> np.ndarray:
        """The weights of those items."""
        return np.ones(len(self.points)) if self.weights is None else self.weights[self.places]

    @property
    def variance(self) -> float:
        """Mean square of the targets, about their means if there is an intercept."""
        w = np.ones(len(self.target)) if self.weights is None else self.weights
        Y = self.target - (np.average(self.target, axis=0, weights=w) if self.intercept else 0.0)
        return float(np.average(np.mean(Y**2, axis=1), weights=w))


def search_task(
    machine: BaseEstimator, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> RidgeTask:
    """Return what a search over the kernel and the penalty of a machine is about.

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> task = search_task(KernelRidgeClassifier("linear"), [[1.0], [2.0]], ["no", "yes"])
    >>> task.target.ravel(), task.intercept
    (array([-1.,  1.]), False)
    """
    require_machine(machine)
    if not able(machine, "closed-form folds"):
        raise SelectionError(
            f"{type(machine).__name__} has no criterion with derivatives; those that can be "
            f"searched are {RIDGES} and GaussianProcess. For others use "
            "mercer.selection.GridSearchCV"
        )
    if not machine.similarities_suffice:
        raise SelectionError(
            "the criteria of a search are those of exact answers, but the machine has an "
            'approximate plan; use approximate="never", or GridSearchCV'
        )
    task = _task(machine, X, y, sample_weight)
    if task.repaired:
        raise SelectionError(
            f"{task.kernel!r} is not proved to be valid, and its spectrum would be repaired, "
            "which has no derivatives; use a valid kernel, assume_psd, or GridSearchCV"
        )
    return task


def path_task(
    machine: BaseEstimator, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> RidgeTask:
    """Return what criteria of a machine's penalties are about.

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> task = path_task(KernelRidgeClassifier("linear"), [[1.0], [2.0]], ["no", "yes"])
    >>> task.target.ravel(), task.codes
    (array([-1.,  1.]), array([0, 1]))
    """
    require_machine(machine)
    if not able(machine, "closed-form folds"):
        raise SelectionError(
            f"a criterion of penalties needs {RIDGES} or GaussianProcess, found {machine!r}"
        )
    if not machine.similarities_suffice:
        raise SelectionError(
            "the errors of items that are left out are those of exact answers, but the machine "
            'has an approximate plan; use approximate="never", or GridSearchCV'
        )
    task = _task(machine, X, y, sample_weight)
    if len(task.places) <= task.intercept:
        raise SelectionError("an item cannot be left out: it is the only one with a weight")
    return task


def _task(
    machine: BaseEstimator, X: Items, y: ArrayLike, sample_weight: ArrayLike | None
) -> RidgeTask:
    points = machine._admit(X)
    n = len(points)
    found = machine.regression(y, n, sample_weight)
    counts = admit_weights(sample_weight, n)
    kernel = machine._resolve(points, found.weights)
    repaired = machine._require_valid(kernel, getattr(machine, "indefinite", "error"))
    return RidgeTask(
        kernel, points, found.target.reshape(n, -1), found.weights, machine.has_intercept,
        found.codes, np.ones(n) if counts is None else counts, found.target.ndim == 1, repaired,
    )  # fmt: skip


def decompose(
    task: RidgeTask, penalties: int, indefinite: str = "error"
) -> TridiagonalSystem | FeatureSystem:
    """Return the system of the items that have a weight, for all penalties.

    It is refused if so many penalties would not fit into memory, or if the spectrum would be
    repaired: without an item the repair is another one.
    """
    places, weights = task.places, task.positive_weights
    points = task.points if len(places) == len(task.points) else task.points[places]
    gram = cheapest(task.kernel, points)
    if task.repaired:
        _refuse_repair(gram, indefinite)
    n, targets = len(places), task.target.shape[1]
    columns = 4 * gram.features.shape[1] if isinstance(gram, LowRank) else 5 * n
    needed = 8.0 * n * (columns + penalties * (2 * targets + 6))
    afford(needed, f"a path of {penalties} penalties on {n} items", "use fewer items or penalties")
    Y, s = task.target[places], np.sqrt(weights)
    if isinstance(gram, LowRank):
        return FeatureSystem(gram.features, Y, s, task.intercept)
    return TridiagonalSystem(s[:, None] * gram.matrix() * s, Y, s, task.intercept)


def _refuse_repair(gram: Operator, indefinite: str) -> None:
    values = np.linalg.eigvalsh(gram.matrix())
    if values[0] < -len(values) * EPS * np.abs(values).max():
        raise SelectionError(
            f"the Gram matrix has the eigenvalue {values[0]:.3g}, and what indefinite="
            f"{indefinite!r} makes of it changes when an item is left out; use a valid kernel, "
            "or cross-validation with GridSearchCV"
        )


@dataclass(frozen=True)
class RidgeMeasures:
    """What is known at each penalty. Errors are means with the weights, over all targets.

    Attributes
    ----------
    predictions : ndarray of shape (n, penalties, targets)
        Of each item by the others.
    losses : ndarray of shape (n, penalties)
        Squared errors of these, the mean over targets.
    training, gcv, degrees, norm, evidence : ndarray of shape (penalties,)
    """

    predictions: np.ndarray
    losses: np.ndarray
    training: np.ndarray
    gcv: np.ndarray
    degrees: np.ndarray
    norm: np.ndarray
    evidence: np.ndarray


def measure(
    task: RidgeTask, system: TridiagonalSystem | FeatureSystem, penalties: np.ndarray
) -> RidgeMeasures:
    """Measure all penalties; the system must be definite at each."""
    Y, s = task.target[task.places], system.s[:, None]
    predictions = np.empty((len(Y), len(penalties), Y.shape[1]))
    numbers = np.empty((len(penalties), 5))
    for k, penalty in enumerate(penalties.tolist()):
        inverse = system.at(penalty)
        assert inverse is not None
        fit = inverse.statistics()
        predictions[:, k] = Y - fit.errors()[0] / s
        numbers[k] = (
            fit.training_error(penalty), fit.value("gcv"), fit.degrees(penalty),
            inverse.squared_norm(), -fit.value("evidence"),
        )  # fmt: skip
    losses = np.mean((Y[:, None] - predictions) ** 2, axis=2)
    return RidgeMeasures(predictions, losses, *numbers.T)


def conditions(system: TridiagonalSystem | FeatureSystem, penalties: np.ndarray) -> np.ndarray:
    """Return the condition number of SKS + λI, infinite where that is not definite."""
    low, high = system.smallest + penalties, system.largest + penalties
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(low > 0, high / np.maximum(low, 0.0), np.inf)
