"""Support vector classification along C, on one Gram matrix.

The rows and columns of a training fold are taken out of the Gram matrix once, for all C and all
pairs of classes. Ascending C begins each solution where the last one ended. Both answers are right
within `tol`, but they are not the same, and a label can depend on it: where one is in doubt the
fold is solved from the beginning, as the machine itself would.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing

from mercer.domains import admit_labels, admit_weights, weigh_classes
from mercer.errors import MercerError, PlanError, ValidityError
from mercer.gram import GramRanges
from mercer.machines.abilities import able
from mercer.machines.scores import require_weight
from mercer.machines.svc import SVC
from mercer.machines.svm_classifier import SortedByClass
from mercer.machines.svm_programs import MarginProgram, max_steps, positive_C, run
from mercer.memory import out_of_memory
from mercer.selection.evaluation import Evaluation, Outcome, PredictionScores
from mercer.selection.splits import Split
from mercer.solvers.quadratic import Optimum, SMOOptions
from mercer.threads import one_blas_thread, stopping
from mercer.values import positive

__all__ = ["along_C", "has_path", "jobs_along_C"]

# Scores of a warm and a cold solution are taken to differ by less than this many times `tol`. The
# largest difference seen was 1.8 times (digits, and two noisy classes, C from 0.1 to 1000).
MAX_WARM_DIFFERENCE = 4.0


def has_path(machine: BaseEstimator) -> bool:
    """Tell whether a machine's solutions can be followed along C."""
    if not able(machine, "path along C"):
        return False
    # Of a kernel taken as it is, another start may lead to another answer.
    if machine.probability or machine.indefinite not in machine.policies[:-1]:
        return False
    try:
        machine._check_choices()
        return bool(np.isfinite(positive_C(machine.C)))
    except ValidityError:  # a fit will say it, and only that candidate fails
        return False


@dataclass(frozen=True)
class MarginTask:
    """Labels and weights of a support vector machine's items."""

    codes: np.ndarray
    classes: np.ndarray
    weights: np.ndarray | None


def margin_task(
    machine: BaseEstimator, y: ArrayLike, count: int, sample_weight: ArrayLike | None
) -> MarginTask:
    """Return the labels and weights as the machine's `fit` reads them."""
    codes, classes = admit_labels(y, count)
    weights = admit_weights(sample_weight, count)
    return MarginTask(codes, classes, weigh_classes(machine.class_weight, codes, classes, weights))


def jobs_along_C(
    evaluation: Evaluation,
    machines: Sequence[BaseEstimator],
    K: np.ndarray,
    places: list[int],
    splits: list[int],
    outcomes: list[list[Outcome]],
) -> list[Callable[[], None]]:
    """Return what scores support vector machines along ascending C, a job for each split.

    There is none if labels or weights are such that a fit would fail.
    """
    ascending = sorted(places, key=lambda place: float(machines[place].C))
    machine, C_values = machines[places[0]], [float(machines[place].C) for place in ascending]
    assert evaluation.y is not None  # without it nothing is shared
    try:
        task = margin_task(machine, evaluation.y, len(K), evaluation.weights)
    except MercerError:  # a fit will say it, and only those candidates fail
        return []

    def one(k: int) -> None:
        start = time.perf_counter()
        weights, train = task.weights, evaluation.splits[k].train
        if machine.class_weight == "balanced":  # as if only the training items existed
            weights, given = np.zeros(len(K)), evaluation.weights
            given = None if given is None else _safe_indexing(given, train)
            found = margin_task(machine, _safe_indexing(evaluation.y, train), len(train), given)
            weights[train] = found.weights
        labels = (task.codes, task.classes)
        try:
            here = None if weights is None else weights[train]
            require_weight(task.codes[train], task.classes, here)
            with out_of_memory("a search along C", len(K)):
                rows = along_C(machine, C_values, K, labels, weights, evaluation.splits[k])
            if stopping():
                return
        except PlanError:  # no fault of the candidates
            raise
        except Exception as error:
            if evaluation.error_score == "raise":
                raise
            for place in ascending:
                evaluation._failed(outcomes[place][k], error)
            return
        spent = (time.perf_counter() - start) / len(places)
        some, outcomes_here = zip(*((machines[p], outcomes[p][k]) for p in ascending), strict=True)
        PredictionScores(evaluation, task).put(some, k, rows, outcomes_here, spent)

    evaluation.account.counts["along C"] += len(places) * len(splits)
    return [partial(one, k) for k in splits]


def along_C(
    machine: SVC,
    C_values: Sequence[float],
    K: np.ndarray,
    labels: tuple[np.ndarray, np.ndarray],
    weights: np.ndarray | None,
    split: Split,
) -> list[np.ndarray]:
    """Return the decision values of a split's test items for ascending values of C.

    Parameters
    ----------
    machine : SVC
    C_values : sequence of float
        Ascending.
    K : ndarray of shape (n, n)
    labels : (codes, classes)
    weights : ndarray of shape (n,), optional
    split : Split

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [3.0], [4.0], [0.5]]), np.array([0, 0, 1, 1, 0])
    >>> split = Split(np.arange(4), np.array([4]))
    >>> few, many = along_C(
    ...     SVC("linear"), [0.01, 10.0], X @ X.T, (codes, codes[[0, 2]]), None, split
    ... )
    >>> bool(many[0] < few[0] < 0)
    True
    """
    from mercer.gram.stored import cut

    codes, classes = labels
    copy = clone(machine).set_params(warm_start=True)
    copy.classes_ = classes
    arranged = copy._arrange(codes[split.train], None if weights is None else weights[split.train])
    items = split.train[arranged.order]
    n = len(items)
    rows, known = cut(K, split.test, items), cut(K, items, items)
    tol = positive(machine, "tol", machine.tol)
    options = SMOOptions(tol, max_steps(machine.max_iter), n, n, 0)
    path = SVCPath(copy, arranged, GramRanges(known), options)
    found = []
    for C in C_values:
        if stopping():
            break  # nobody waits for the others
        table, intercept = path.at(C)
        scores = _scored(rows, table, arranged) + intercept
        if path.warm and (path.unfinished or _doubtful(copy, scores, tol, len(classes))):
            table, intercept = path.at(C, afresh=True)
            scores = _scored(rows, table, arranged) + intercept
        found.append(scores[:, 0] if scores.shape[1] == 1 else scores)
    return found


def _scored(rows: np.ndarray, table: np.ndarray, arranged: SortedByClass) -> np.ndarray:
    """Return ``rows @ table``, each class times only the problems that it takes part in."""
    if len(arranged.problems) <= len(arranged.counts):  # two classes, or each against the rest
        return rows @ table
    scores, ends = np.zeros((len(rows), table.shape[1])), np.cumsum([0, *arranged.counts])
    for c, (a, b) in enumerate(pairwise(ends.tolist())):
        taken = [column for column, problem in enumerate(arranged.problems) if c in problem.name]
        scores[:, taken] += rows[:, a:b] @ table[a:b, taken]
    return scores


class SVCPath:
    """The binary problems of a training set, solved at one C after the other."""

    def __init__(
        self,
        machine: BaseEstimator,
        arranged: SortedByClass,
        source: GramRanges,
        options: SMOOptions,
    ) -> None:
        self.machine, self.arranged, self.source, self.options = machine, arranged, source, options
        self.programs: list[MarginProgram] = []
        self.optima: list[Optimum] = []
        self.warm = False  # whether the last solution began with another one

    @property
    def unfinished(self) -> bool:
        """Whether a problem stopped early; how far it came depends on where it began."""
        return any(optimum.status != "solved" for optimum in self.optima)

    def at(self, C: float, afresh: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of all binary problems, and their intercepts, at one C."""
        machine, arranged = self.machine.set_params(C=C), self.arranged
        self.warm = bool(self.optima) and not afresh
        if not self.warm:
            machine.__dict__.pop("_last", None)
        programs = machine._programs(arranged.problems, arranged.weights, len(arranged.order))
        # Where no coefficient was as high as C, a higher one changes nothing.
        todo = [
            k
            for k in range(len(programs))
            if not self.warm or _bounded(self.programs[k], self.optima[k])
        ]
        optima: list[Any] = list(self.optima) if self.warm else [None] * len(programs)
        with one_blas_thread:
            solved = run(self.source, [programs[k] for k in todo], self.options)
        for k, optimum in zip(todo, solved, strict=True):
            optima[k] = optimum
        self.programs, self.optima = programs, optima
        machine._last = float(C), [optimum.coefficients for optimum in self.optima]
        if stopping():  # the last ones were cut short, which is no reason for a warning
            return np.zeros((len(arranged.order), len(optima))), np.zeros(len(optima))
        return machine._gather(arranged, self.optima, machine.classes_)


def _bounded(program: MarginProgram, optimum: Optimum) -> bool:
    """Tell whether a coefficient is at the bound that C sets, or the answer is rough."""
    bound = np.maximum(program.problem.upper, -program.problem.lower)
    at_bound = np.abs(optimum.coefficients) >= bound * (1 - 1e-9)
    return optimum.status != "solved" or bool(at_bound.any())


def _doubtful(machine: BaseEstimator, scores: np.ndarray, tol: float, classes: int) -> bool:
    """Tell whether a label could change if the scores were a little different."""
    near = MAX_WARM_DIFFERENCE * tol
    if scores.shape[1] == 1:
        return bool((np.abs(scores) <= near).any())
    if machine.multiclass == "ovr" or machine.break_ties:
        best = np.sort(scores, axis=1)
        return bool((best[:, -1] - best[:, -2] <= 2 * near).any())
    doubt = np.abs(scores) <= near
    some = doubt.any(axis=1)
    if not some.any():
        return False
    # Votes that are certain, and those that a class may have besides.
    shown = np.where(doubt, 0.0, scores)[some]
    certain, possible = np.zeros((2, len(shown), classes))
    for column, (i, j) in enumerate(combinations(range(classes), 2)):
        for who, wins in ((i, shown[:, column] > 0), (j, shown[:, column] < 0)):
            certain[wins, who] += 1
            possible[wins | (shown[:, column] == 0), who] += 1
    winners = machine._winners(scores[some])
    here = np.arange(len(winners))
    sure = certain[here, winners]
    possible[here, winners] = -1
    return bool((possible.max(axis=1) >= sure).any())
