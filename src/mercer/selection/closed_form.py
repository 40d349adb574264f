"""Closed-form cross-validation: held-out predictions of ridge-like machines, without refits.

A grid has several kernels and many penalties. Large penalties take a few products with the Gram
matrix, the others an inverse each or one decomposition for all. All of that is independent work,
and the cores share it. The chain of routes of one task:

1. `cheapest_route` (`mercer.plans.closed_form_routes`) compares what the routes would cost.
2. If refits are cheaper, nothing is answered here, or each part is decomposed by itself.
3. Otherwise large penalties are answered by Lanczos steps, if these are worth it.
4. For the others a `System` of the cheaper route is prepared, and each penalty is a job.
5. A penalty at which that route loses too many digits goes on to the next route; what no route can
   answer stays None, and the caller fits the machine.

Each of 3 to 5 is a job that returns the jobs that follow from it (`mercer.threads.run_jobs`).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.machines.abilities import ClosedForm, able
from mercer.machines.ridge import Regression
from mercer.memory import affordable
from mercer.plans import Decision, Plan
from mercer.plans.closed_form_routes import (
    ClosedFormRoute,
    RouteName,
    cheapest_route,
    numbers_stepped,
)
from mercer.selection.fold_predictions import FoldPredictor, Predictions
from mercer.selection.splits import FoldOrder, Split, order_by_fold
from mercer.solvers.ridge.held_out import count_rows
from mercer.threads import cores, run_jobs

__all__ = [
    "ClosedFormResult", "ClosedFormTask", "has_closed_form", "held_out_predictions",
]  # fmt: skip

Job = Callable[[], Any]  # returns the jobs that follow from it

MATRICES_PER_CORE = 5  # arrays of the size of a Gram matrix that each core takes


def has_closed_form(machine: BaseEstimator) -> bool:
    """Tell whether a machine's held-out predictions follow from one system, with its parameters.

    Examples
    --------
    >>> from mercer import SVC, GaussianProcess, KernelRidge
    >>> [has_closed_form(m) for m in (GaussianProcess(), KernelRidge(penalty=0.0), SVC())]
    [True, False, False]
    """
    if not able(machine, "closed-form folds") or not machine.similarities_suffice:
        return False
    if not isinstance(machine.penalty, numbers.Real) or not 0 < float(machine.penalty) < np.inf:
        return False  # a fit will say what is wrong with it
    if not isinstance(getattr(machine, "follow", None), Plan | Decision | None):
        return False
    return bool(machine.closed_form_applies)


@dataclass
class ClosedFormResult:
    """Predictions for held-out items, or None where only a refit can be trusted.

    Attributes
    ----------
    predictions : list of list
        For each penalty and each split, f(x) + b of the test items as a refit would give it.
    route : ClosedFormRoute or None
        None if no split is one that leaves items out.
    """

    predictions: list[Predictions]
    route: ClosedFormRoute | None


@dataclass(frozen=True)
class ClosedFormTask:
    """A machine, and what its held-out predictions are wanted for.

    Attributes
    ----------
    machine : ClosedForm
        Its penalty does not matter.
    regression : Regression
    source : ndarray
        The Gram matrix of all items, or their features.
    splits : sequence of Split
    penalties : sequence of float
    is_gram : bool
    proved : bool
        Whether the Gram matrix is known to be positive semi-definite.
    ranked : bool
        Whether the order of the items by their predictions matters, not only their labels.
    """

    machine: ClosedForm
    regression: Regression
    source: Any
    splits: Sequence[Split]
    penalties: Sequence[float]
    is_gram: bool = True
    proved: bool = False
    ranked: bool = False


def held_out_predictions(
    tasks: Sequence[ClosedFormTask], step: Callable[[int], None] = lambda count: None
) -> list[ClosedFormResult]:
    """Return the held-out predictions of machines for all penalties and splits, without fits.

    What several tasks need is computed side by side, if they are enough for all cores, and fit.
    `step` is told how many predictions have become known.
    """
    orders: dict[Any, FoldOrder] = {}
    found: list[ClosedFormResult] = []
    while len(found) < len(tasks):
        rest = tasks[len(found) :]
        runs = [Run(task, orders, step) for task in rest[: side_by_side(rest)]]
        if len(runs) >= cores():
            several = [run for run in runs if run.route and run.route.name in SHARED_ROUTES]
            run_jobs([run.begin for run in several])
        found += [run.finish() for run in runs]
    return found


SHARED_ROUTES: tuple[RouteName, ...] = ("inverse", "tridiagonal")  # taken side by side


def side_by_side(tasks: Sequence[ClosedFormTask]) -> int:
    """Return how many tasks may begin at once: each may have a matrix of its own."""
    size = 8.0 * tasks[0].source.shape[0] ** 2
    count = len(tasks)
    while count > 1 and not affordable((count + MATRICES_PER_CORE * cores()) * size):
        count -= 1
    return count


class Run:
    """A task with its route, and the predictions that are known so far."""

    def __init__(
        self,
        task: ClosedFormTask,
        orders: dict[Any, FoldOrder],
        step: Callable[[int], None] = lambda count: None,
    ) -> None:
        splits, is_gram = task.splits, task.is_gram
        self._step, self._counted = step, [0] * len(task.penalties)
        self.penalties, self.proved = task.penalties, task.proved
        self.predictions: list[Predictions] = [[None] * len(splits) for _ in task.penalties]
        self.route: ClosedFormRoute | None = None
        self.begun = False
        # Tasks that differ in their kernel alone have their items in the same order.
        weights = task.regression.weights
        key = is_gram, id(weights), *((id(s.train), id(s.test), s.within) for s in splits)
        if key not in orders:
            orders[key] = order_by_fold(splits, len(task.regression.target), weights, nest=is_gram)
        folds = orders[key]
        sizes = [0 if rows is None else count_rows(rows) for rows in folds.removed]
        self.predictor = FoldPredictor(
            task.machine, task.regression, task.source, splits, folds, task.ranked
        )
        used = [size for size in sizes if size]
        targets, intercept = task.regression.target[:1].size, task.machine.has_intercept
        self.columns = len(used) * (targets + intercept)
        if used:
            nested = _nested(splits, sizes) if folds.nested else []
            width = None if is_gram else int(task.source.shape[1])
            n, columns, count = len(folds.items), len(used) * targets, len(self.penalties)
            self.route = cheapest_route(n, used, count, width, nested, columns, intercept)

    def begin(self) -> list[Job]:
        """Do what a few products can do, and return what is left to compute."""
        self.begun = True
        self._by_steps()
        left = self._left()
        assert self.route is not None
        return [partial(self._prepare, self.route.name_for(len(left)), left)] if left else []

    def _prepare(self, route: RouteName, penalty_ids: Sequence[int]) -> list[Job]:
        """Prepare the system of a route, and return what is to be done for each penalty.

        Small penalties need more digits than a decomposition has; they go on to the next route.
        """
        assert self.route is not None
        system = self.predictor.system(route, [self.penalties[k] for k in penalty_ids])
        other = self.route.next

        def answer(k: int) -> list[Job]:
            self.predictor.by_inverse(system, self.penalties[k], self.predictions[k])
            self._tell([k])
            again = route != other and _is_empty(self.predictions[k])
            return [partial(self._prepare, other, [k])] if again else []

        return [partial(answer, k) for k in penalty_ids]

    def finish(self) -> ClosedFormResult:
        """Return all predictions that can be known."""
        route = self.route
        if route is None or route.name == "refit":
            return self._result()
        if route.name == "refit tridiagonal":
            self.predictor.by_parts(self.penalties, self.predictions)
            return self._result()
        if not self.begun:
            run_jobs(self.begin())
        return self._result()

    def _result(self) -> ClosedFormResult:
        """Return the predictions, and let go of the matrices."""
        self._tell(range(len(self.predictions)))
        del self.predictor
        return ClosedFormResult(self.predictions, self.route)

    def _tell(self, places: Iterable[int]) -> None:
        """Say how many more predictions are known at penalties that nobody else works on."""
        for k in places:
            known = sum(one is not None for one in self.predictions[k])
            if known > self._counted[k]:
                self._step(known - self._counted[k])
                self._counted[k] = known

    def _left(self) -> list[int]:
        """Return where no prediction is known, from small to large penalties."""
        places = [k for k, row in enumerate(self.predictions) if _is_empty(row)]
        return sorted(places, key=lambda k: self.penalties[k])

    def _by_steps(self) -> None:
        assert self.route is not None
        size = numbers_stepped(len(self.predictor.folds.items), self.columns, len(self.penalties))
        if self.route.lanczos_budget and affordable(8.0 * size * cores()):
            before = self._left()
            self.predictor.by_steps(self.penalties, self.predictions, self.route.lanczos_budget)
            self._take_back([k for k in before if not _is_empty(self.predictions[k])])
            self._tell(before)

    def _take_back(self, found: list[int]) -> None:
        """Empty the predictions at penalties that are too small to make the matrix definite.

        Steps do not notice that if the targets are zero in the direction of a negative eigenvalue.
        """
        for k in sorted(found, key=lambda k: self.penalties[k]):
            if self.proved or self.predictor.is_definite(self.penalties[k]):
                return
            self.predictions[k][:] = [None] * len(self.predictions[k])


def _nested(splits: Sequence[Split], sizes: list[int]) -> list[tuple[int, list[int]]]:
    """Return the sizes of outer folds and of the inner folds of each."""
    inner: dict[int, list[int]] = {}
    for split, size in zip(splits, sizes, strict=True):
        if split.within is not None and size:
            inner.setdefault(split.within, []).append(size)
    return [(sizes[o], parts) for o, parts in inner.items()]


def _is_empty(row: Predictions) -> bool:
    return all(one is None for one in row)
