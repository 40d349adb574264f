"""Foresight: held-out scores of ridge-like machines, by the route that a plan finds cheapest.

A grid has several kernels and many penalties. Large penalties take a few products with the Gram
matrix, the others an inverse each. All of that is independent work, and the cores share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mercer.machines.ridge import Regression
from mercer.memory import affordable
from mercer.plans.heldout import HeldOutPlan, plan_held_out
from mercer.selection.ridge import Arrangement, Work, arrange, intercept_of
from mercer.selection.splits import Split
from mercer.solvers.influence import Features, Inverse, Spectrum
from mercer.threads import cores, in_threads, unfold

__all__ = ["Asked", "Foretold", "Job", "foretell"]

ROOMY = 200  # arrays of all columns that steps may take, besides the answers


@dataclass
class Foretold:
    """Scores of held-out items, or None where only a refit can be trusted.

    Attributes
    ----------
    scores : list of list
        For each penalty and each split, what the machine's scores of the test items would be.
    plan : HeldOutPlan or None
        None if no split is one that leaves items out.
    """

    scores: list[list[np.ndarray | None]]
    plan: HeldOutPlan | None


def foretell(jobs: Sequence[Job]) -> list[Foretold]:
    """Return the held-out scores of machines for all penalties and splits, without fits.

    What several jobs need is computed side by side, if they are enough for all cores.
    """
    arranged: dict[Any, Arrangement] = {}
    sights = [Foresight(job, arranged) for job in jobs]
    if len(sights) >= cores():
        several = [one for one in sights if one.plan is not None and one.plan.route == "inverse"]
        unfold(lambda task: task(), [one.begin for one in several])
    return [one.foretold() for one in sights]


@dataclass(frozen=True)
class Job:
    """A machine, and what its held-out scores are wanted for.

    Attributes
    ----------
    machine : Ridge or KernelDiscriminant
        Its penalty does not matter.
    task : Regression
    source : ndarray
        The Gram matrix of all items, or their features.
    splits : sequence of Split
    penalties : sequence of float
    is_gram : bool
    """

    machine: Any
    task: Regression
    source: Any
    splits: Sequence[Split]
    penalties: Sequence[float]
    is_gram: bool = True


@dataclass(frozen=True)
class Asked:
    """A job for some of many machines, on some of many splits; `rest` is what cannot be had."""

    job: Job
    places: list[int]
    splits: list[int]
    rest: dict[int, list[int]]


class Foresight:
    """A job with its plan, and the scores that are known so far."""

    def __init__(self, job: Job, arranged: dict[Any, Arrangement]) -> None:
        splits, is_gram = job.splits, job.is_gram
        self.penalties = job.penalties
        self.scores: list[list[np.ndarray | None]] = [[None] * len(splits) for _ in job.penalties]
        self.plan: HeldOutPlan | None = None
        self.begun = False
        # Jobs that differ in their kernel alone have their items in the same order.
        key = is_gram, id(job.task.weights), *((id(s.train), id(s.test), s.within) for s in splits)
        if key not in arranged:
            count = len(job.task.target)
            arranged[key] = arrange(splits, count, job.task.weights, nest=is_gram)
        found = arranged[key]
        sizes = [0 if rows is None else _size(rows) for rows in found.removed]
        used = [size for size in sizes if size]
        if not used:
            return
        folds = _nested(splits, sizes) if found.nested else []
        width = None if is_gram else int(job.source.shape[1])
        self.columns = len(used) * (job.task.target[:1].size + intercept_of(job.machine))
        self.plan = plan_held_out(
            len(found.items), used, len(job.penalties), width, folds, self.columns
        )
        self.work = Work(job.machine, job.task, job.source, splits, found)

    def begin(self) -> list[Callable[[], None]]:
        """Do what a few products can do, and return the inverses that are left to compute."""
        assert self.plan is not None
        self.begun = True
        self._by_steps()
        left = self._left()
        if not left:
            return []
        system = self.work.system(Inverse)
        return [
            partial(self.work.at_once, system, self.penalties[k], self.scores[k]) for k in left
        ]

    def foretold(self) -> Foretold:
        """Return all scores that can be known."""
        plan = self.plan
        if plan is None or plan.route == "refit":
            return Foretold(self.scores, plan)
        if plan.route == "refit spectrum":
            self.work.each_by_itself(self.penalties, self.scores)
            return Foretold(self.scores, plan)
        if not self.begun:
            self._by_steps()
        kinds: dict[str, Any] = {"inverse": Inverse, "spectrum": Spectrum, "features": Features}
        # Small penalties need more digits than a decomposition has.
        for kind in dict.fromkeys([kinds[plan.route], kinds.get(plan.next, kinds[plan.route])]):
            left = self._left()
            if left and not (self.begun and kind is Inverse):
                one = partial(self.work.at_once, self.work.system(kind))
                jobs = [partial(one, self.penalties[k], self.scores[k]) for k in left]
                in_threads(lambda job: job(), jobs)
        return Foretold(self.scores, plan)

    def _left(self) -> list[int]:
        return [k for k, row in enumerate(self.scores) if all(one is None for one in row)]

    def _by_steps(self) -> None:
        assert self.plan is not None
        size = 8.0 * len(self.work.found.items) * self.columns
        if self.plan.steps and affordable(size * (3 * len(self.penalties) + ROOMY)):
            self.work.by_steps(self.penalties, self.scores, self.plan.steps)


def _nested(splits: Sequence[Split], sizes: list[int]) -> list[tuple[int, list[int]]]:
    """Return the sizes of outer folds and of the inner folds of each."""
    inner: dict[int, list[int]] = {}
    for split, size in zip(splits, sizes, strict=True):
        if split.within is not None and size:
            inner.setdefault(split.within, []).append(size)
    return [(sizes[o], parts) for o, parts in inner.items()]


def _size(rows: Any) -> int:
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)
