"""Closed-form cross-validation: held-out scores of ridge-like machines by the cheapest route.

A grid has several kernels and many penalties. Large penalties take a few products with the Gram
matrix, the others an inverse each or one decomposition for all. All of that is independent work,
and the cores share it.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mercer.machines.abilities import ClosedForm, able
from mercer.machines.ridge import Regression
from mercer.memory import affordable
from mercer.plans import Decision, Plan
from mercer.plans.held_out import HeldOutPlan, numbers_stepped, plan_held_out
from mercer.selection.held_out_scores import HeldOutScores, Scores
from mercer.selection.splits import FoldOrder, Split, order_by_fold
from mercer.solvers.ridge.held_out import count_rows
from mercer.threads import cores, unfold

__all__ = [
    "ClosedFormResult", "ClosedFormTask", "applies", "cross_validate",
]  # fmt: skip

MATRICES_PER_CORE = 5  # arrays of the size of a Gram matrix that each core takes


def applies(machine: Any) -> bool:
    """Tell whether a machine's held-out scores follow from one system, with its parameters.

    Examples
    --------
    >>> from mercer import SVC, GaussianProcess, KernelRidge
    >>> applies(GaussianProcess()), applies(KernelRidge(penalty=0.0)), applies(SVC())
    (True, False, False)
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
    """Scores of held-out items, or None where only a refit can be trusted.

    Attributes
    ----------
    scores : list of list
        For each penalty and each split, what the machine's scores of the test items would be.
    plan : HeldOutPlan or None
        None if no split is one that leaves items out.
    """

    scores: list[Scores]
    plan: HeldOutPlan | None


@dataclass(frozen=True)
class ClosedFormTask:
    """A machine, and what its held-out scores are wanted for.

    Attributes
    ----------
    machine : ClosedForm
        Its penalty does not matter.
    task : Regression
    source : ndarray
        The Gram matrix of all items, or their features.
    splits : sequence of Split
    penalties : sequence of float
    is_gram : bool
    proved : bool
        Whether the Gram matrix is known to be positive semi-definite.
    ranked : bool
        Whether the order of the items by their scores matters, not only their labels.
    """

    machine: ClosedForm
    task: Regression
    source: Any
    splits: Sequence[Split]
    penalties: Sequence[float]
    is_gram: bool = True
    proved: bool = False
    ranked: bool = False


def cross_validate(
    tasks: Sequence[ClosedFormTask], step: Callable[[int], None] = lambda count: None
) -> list[ClosedFormResult]:
    """Return the held-out scores of machines for all penalties and splits, without fits.

    What several tasks need is computed side by side, if they are enough for all cores, and fit.
    `step` is told how many scores have become known.
    """
    orders: dict[Any, FoldOrder] = {}
    found: list[ClosedFormResult] = []
    while len(found) < len(tasks):
        rest = tasks[len(found) :]
        runs = [Run(task, orders, step) for task in rest[: side_by_side(rest)]]
        if len(runs) >= cores():
            several = [run for run in runs if run.plan and run.plan.route in SHARED_ROUTES]
            unfold(lambda job: job(), [run.begin for run in several])
        found += [run.finish() for run in runs]
    return found


SHARED_ROUTES = ("inverse", "tridiagonal")  # those that kernels take side by side


def side_by_side(tasks: Sequence[ClosedFormTask]) -> int:
    """Return how many tasks may begin at once: each may have a matrix of its own."""
    size = 8.0 * tasks[0].source.shape[0] ** 2
    count = len(tasks)
    while count > 1 and not affordable((count + MATRICES_PER_CORE * cores()) * size):
        count -= 1
    return count


class Run:
    """A task with its plan, and the scores that are known so far."""

    def __init__(
        self,
        task: ClosedFormTask,
        orders: dict[Any, FoldOrder],
        step: Callable[[int], None] = lambda count: None,
    ) -> None:
        splits, is_gram = task.splits, task.is_gram
        self._step, self._counted = step, [0] * len(task.penalties)
        self.penalties, self.proved = task.penalties, task.proved
        self.scores: list[Scores] = [[None] * len(splits) for _ in task.penalties]
        self.plan: HeldOutPlan | None = None
        self.begun = False
        # Tasks that differ in their kernel alone have their items in the same order.
        weights = task.task.weights
        key = is_gram, id(weights), *((id(s.train), id(s.test), s.within) for s in splits)
        if key not in orders:
            orders[key] = order_by_fold(splits, len(task.task.target), weights, nest=is_gram)
        folds = orders[key]
        sizes = [0 if rows is None else count_rows(rows) for rows in folds.removed]
        used = [size for size in sizes if size]
        if not used:
            return
        nested = _nested(splits, sizes) if folds.nested else []
        width = None if is_gram else int(task.source.shape[1])
        targets, intercept = task.task.target[:1].size, task.machine.has_intercept
        self.columns = len(used) * (targets + intercept)
        n, columns = len(folds.items), len(used) * targets
        count = len(self.penalties)
        self.plan = plan_held_out(n, used, count, width, nested, columns, intercept)
        self.held_out = HeldOutScores(
            task.machine, task.task, task.source, splits, folds, task.ranked
        )

    def begin(self) -> list[Callable[[], Any]]:
        """Do what a few products can do, and return what is left to compute."""
        self.begun = True
        self._by_steps()
        left = self._left()
        assert self.plan is not None
        return [partial(self._each, self.plan.route_for(len(left)), left)] if left else []

    def _each(self, route: str, places: Sequence[int]) -> list[Callable[[], Any]]:
        """Prepare the system of a route, and return what is to be done for each penalty.

        Small penalties need more digits than a decomposition has; they go on to the next route.
        """
        assert self.plan is not None
        system = self.held_out.system(route, [self.penalties[k] for k in places])
        other = self.plan.next

        def one(k: int) -> list[Callable[[], Any]]:
            self.held_out.by_inverse(system, self.penalties[k], self.scores[k])
            self._tell([k])
            again = route != other and _is_empty(self.scores[k])
            return [partial(self._each, other, [k])] if again else []

        return [partial(one, k) for k in places]

    def finish(self) -> ClosedFormResult:
        """Return all scores that can be known."""
        plan = self.plan
        if plan is None or plan.route == "refit":
            return self._result()
        if plan.route == "refit tridiagonal":
            self.held_out.by_parts(self.penalties, self.scores)
            return self._result()
        if not self.begun:
            unfold(lambda job: job(), self.begin())
        return self._result()

    def _result(self) -> ClosedFormResult:
        """Return the scores, and let go of the matrices."""
        self._tell(range(len(self.scores)))
        self.__dict__.pop("held_out", None)
        return ClosedFormResult(self.scores, self.plan)

    def _tell(self, places: Iterable[int]) -> None:
        """Say how many more scores are known at some penalties, with which nobody else works."""
        for k in places:
            known = sum(one is not None for one in self.scores[k])
            if known > self._counted[k]:
                self._step(known - self._counted[k])
                self._counted[k] = known

    def _left(self) -> list[int]:
        """Return where no score is known, from small to large penalties."""
        places = [k for k, row in enumerate(self.scores) if _is_empty(row)]
        return sorted(places, key=lambda k: self.penalties[k])

    def _by_steps(self) -> None:
        assert self.plan is not None
        size = numbers_stepped(len(self.held_out.folds.items), self.columns, len(self.penalties))
        if self.plan.steps and affordable(8.0 * size * cores()):
            before = self._left()
            self.held_out.by_steps(self.penalties, self.scores, self.plan.steps)
            self._take_back([k for k in before if not _is_empty(self.scores[k])])
            self._tell(before)

    def _take_back(self, found: list[int]) -> None:
        """Empty the scores at penalties that are too small to make the matrix definite.

        Steps do not notice that if the targets are zero in the direction of a negative eigenvalue.
        """
        for k in sorted(found, key=lambda k: self.penalties[k]):
            if self.proved or self.held_out.is_definite(self.penalties[k]):
                return
            self.scores[k][:] = [None] * len(self.scores[k])


def _nested(splits: Sequence[Split], sizes: list[int]) -> list[tuple[int, list[int]]]:
    """Return the sizes of outer folds and of the inner folds of each."""
    inner: dict[int, list[int]] = {}
    for split, size in zip(splits, sizes, strict=True):
        if split.within is not None and size:
            inner.setdefault(split.within, []).append(size)
    return [(sizes[o], parts) for o, parts in inner.items()]


def _is_empty(row: Scores) -> bool:
    return all(one is None for one in row)
