"""Foresight: held-out scores of ridge-like machines, by the route that a plan finds cheapest.

A grid has several kernels and many penalties. Large penalties take a few products with the Gram
matrix, the others an inverse each. All of that is independent work, and the cores share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mercer.machines.ridge import Regression
from mercer.memory import affordable
from mercer.plans.heldout import HeldOutPlan, numbers_kept, numbers_stepped, plan_held_out
from mercer.selection.held_out_scores import Work, intercept_of
from mercer.selection.splits import FoldOrder, Split, order_by_fold
from mercer.solvers.heldout import count_rows
from mercer.solvers.influence import Features, Inverse, Spectrum, System
from mercer.threads import cores, in_threads, unfold

__all__ = ["Asked", "Foretold", "Job", "foretell"]

EACH = 3  # arrays of the size of a Gram matrix that each core takes
NEARBY = 1e7  # condition up to which penalties are reached from one another
SAFE = 1e100  # entries whose squares, and those of inverses, are numbers


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


def foretell(
    jobs: Sequence[Job], step: Callable[[int], None] = lambda count: None
) -> list[Foretold]:
    """Return the held-out scores of machines for all penalties and splits, without fits.

    What several jobs need is computed side by side, if they are enough for all cores, and fit.
    `step` is told how many scores have become known.
    """
    arranged: dict[Any, FoldOrder] = {}
    found: list[Foretold] = []
    while len(found) < len(jobs):
        some = jobs[len(found) : len(found) + _together(jobs[len(found) :])]
        sights = [Foresight(job, arranged, step) for job in some]
        if len(sights) >= cores():
            several = [one for one in sights if one.plan and one.plan.route == "inverse"]
            unfold(lambda task: task(), [one.begin for one in several])
        found += [one.foretold() for one in sights]
    return found


def _together(jobs: Sequence[Job]) -> int:
    """Return how many jobs may begin at once: each may have a matrix of its own."""
    size = 8.0 * jobs[0].source.shape[0] ** 2
    count = len(jobs)
    while count > 1 and not affordable((count + EACH * cores()) * size):
        count -= 1
    return count


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
    proved : bool
        Whether the Gram matrix is known to be positive semi-definite.
    ranked : bool
        Whether the order of the items by their scores matters, not only their labels.
    """

    machine: Any
    task: Regression
    source: Any
    splits: Sequence[Split]
    penalties: Sequence[float]
    is_gram: bool = True
    proved: bool = False
    ranked: bool = False


@dataclass(frozen=True)
class Asked:
    """A job for some of many machines, on some of many splits; `rest` is what cannot be had."""

    job: Job
    places: list[int]
    splits: list[int]
    rest: dict[int, list[int]]


class Foresight:
    """A job with its plan, and the scores that are known so far."""

    def __init__(
        self,
        job: Job,
        arranged: dict[Any, FoldOrder],
        step: Callable[[int], None] = lambda count: None,
    ) -> None:
        splits, is_gram = job.splits, job.is_gram
        self._step, self._told = step, [0] * len(job.penalties)
        self.penalties, self.proved = job.penalties, job.proved
        self.scores: list[list[np.ndarray | None]] = [[None] * len(splits) for _ in job.penalties]
        self.plan: HeldOutPlan | None = None
        self.begun = False
        self.lost = 0.0  # penalty up to which too many digits are lost on the way from another
        # Jobs that differ in their kernel alone have their items in the same order.
        key = is_gram, id(job.task.weights), *((id(s.train), id(s.test), s.within) for s in splits)
        if key not in arranged:
            count = len(job.task.target)
            arranged[key] = order_by_fold(splits, count, job.task.weights, nest=is_gram)
        found = arranged[key]
        sizes = [0 if rows is None else count_rows(rows) for rows in found.removed]
        used = [size for size in sizes if size]
        if not used:
            return
        folds = _nested(splits, sizes) if found.nested else []
        width = None if is_gram else int(job.source.shape[1])
        targets, intercept = job.task.target[:1].size, intercept_of(job.machine)
        self.columns = len(used) * (targets + intercept)
        n, columns = len(found.items), len(used) * targets
        self.plan = plan_held_out(n, used, job.penalties, width, folds, columns, intercept)
        kept = numbers_kept(n, folds or [(o, ()) for o in used], columns, len(job.penalties))
        if self.plan.reach is not None and not affordable(8.0 * kept * cores()):
            self.plan = replace(self.plan, reach=None)
        self.work = Work(job.machine, job.task, job.source, splits, found, job.ranked)

    def _tell(self, places: Iterable[int]) -> None:
        """Say how many more scores are known at some penalties, with which nobody else works."""
        for k in places:
            known = sum(one is not None for one in self.scores[k])
            if known > self._told[k]:
                self._step(known - self._told[k])
                self._told[k] = known

    def begin(self) -> list[Callable[[], Any]]:
        """Do what a few products can do, and return the inverses that are left to compute."""
        self.begun = True
        self._by_steps()
        left = self._left()
        return [partial(self._spread, self.work.inverse(), left)] if left else []

    def _spread(
        self, system: Inverse, run: list[int], smallest: float | None = None
    ) -> list[Callable[[], Any]]:
        runs, rest = self._around(system, run, smallest)
        self._tell(run)
        return [partial(self._spread, system, *one) for one in runs] + self._each(system, rest)

    def _each(self, system: System, places: Sequence[int]) -> list[Callable[[], Any]]:
        def one(k: int) -> None:
            self.work.at_once(system, self.penalties[k], self.scores[k])
            self._tell([k])

        return [partial(one, k) for k in places]

    def _around(
        self, system: Inverse, run: list[int], smallest: float | None
    ) -> tuple[list[tuple[list[int], float]], list[int]]:
        """Compute the inverse at one of several penalties, and go on from there to others.

        Returns runs of penalties with which that may be done again, and those that had better be
        done each by itself. The smallest eigenvalue is known from the first inverse on.
        """
        assert self.plan is not None
        reach = self.plan.reach
        least = max(system.norm * system.spread / NEARBY, self.lost, 1 / SAFE)
        near = [k for k in run if least < self.penalties[k] < SAFE]
        rest = [k for k in run if k not in near]
        if reach is None or (len(near) - 1) * reach.worth <= reach.before:
            return [], run
        values = np.array([self.penalties[k] for k in near])
        # Of two in the middle the larger one: what is small beside the spectrum is near.
        place = len(near) // 2 if smallest is None else reach.best(values, smallest)
        if place is None:
            return [], run
        pole = self.work.pole(system, float(values[place]), self.scores[near[place]])
        if pole is None:
            return [], [k for k in run if k != near[place]]
        if smallest is None:
            smallest = pole.smallest_eigenvalue()
        trip = reach.around(place, values, smallest)
        if trip.others:
            scores = [self.scores[near[j]] for j in trip.others]
            self.work.from_pole(pole, values[trip.others], scores, trip.longest)
            self._take_back([near[j] for j in trip.others], float(values[place]))
        known = [place, *trip.others]
        failed = [j for j in known if _is_empty(self.scores[near[j]])]
        self.lost = max([self.lost, *(values[j] for j in failed if j < place)])
        rest += [near[j] for j in failed]
        sides = (
            [k for j, k in enumerate(near) if j < place and j not in known],
            [k for j, k in enumerate(near) if j > place and j not in known],
        )
        return [(side, smallest) for side in sides if side], rest

    def foretold(self) -> Foretold:
        """Return all scores that can be known."""
        plan = self.plan
        if plan is None or plan.route == "refit":
            return self._result()
        if plan.route == "refit spectrum":
            self.work.each_by_itself(self.penalties, self.scores)
            return self._result()
        if not self.begun:
            self._by_steps()
        kinds: dict[str, Any] = {"inverse": Inverse, "spectrum": Spectrum, "features": Features}
        # Small penalties need more digits than a decomposition has.
        for kind in dict.fromkeys([kinds[plan.route], kinds.get(plan.next, kinds[plan.route])]):
            left = self._left()
            if left and not (self.begun and kind is Inverse):
                self._in_turn(self.work.system(kind), left)
        return self._result()

    def _result(self) -> Foretold:
        """Return the scores, and let go of the matrices."""
        self._tell(range(len(self.scores)))
        self.__dict__.pop("work", None)
        return Foretold(self.scores, self.plan)

    def _in_turn(self, system: System, left: list[int]) -> None:
        """Do what is left; each core has some penalties near each other."""
        assert self.plan is not None
        if not isinstance(system, Inverse) or self.plan.reach is None or len(left) == 1:
            return in_threads(lambda job: job(), self._each(system, left))
        parts = np.array_split(left, min(cores(), len(left)))
        unfold(lambda job: job(), [partial(self._spread, system, p.tolist()) for p in parts])

    def _left(self) -> list[int]:
        """Return where no score is known, from small to large penalties."""
        places = [k for k, row in enumerate(self.scores) if _is_empty(row)]
        return sorted(places, key=lambda k: self.penalties[k])

    def _by_steps(self) -> None:
        assert self.plan is not None
        size = numbers_stepped(len(self.work.found.items), self.columns, len(self.penalties))
        if self.plan.steps and affordable(8.0 * size * (cores() if self.begun else 1)):
            before = self._left()
            self.work.by_steps(self.penalties, self.scores, self.plan.steps)
            self._take_back([k for k in before if not _is_empty(self.scores[k])])
            self._tell(before)

    def _take_back(self, found: list[int], definite: float = np.inf) -> None:
        """Empty the scores at penalties that are too small to make the matrix definite.

        Steps do not notice that if the targets are zero in the direction of a negative eigenvalue.
        """
        for k in sorted(found, key=lambda k: self.penalties[k]):
            penalty = self.penalties[k]
            if self.proved or penalty >= definite or self.work.is_definite(penalty):
                return
            self.scores[k][:] = [None] * len(self.scores[k])


def _nested(splits: Sequence[Split], sizes: list[int]) -> list[tuple[int, list[int]]]:
    """Return the sizes of outer folds and of the inner folds of each."""
    inner: dict[int, list[int]] = {}
    for split, size in zip(splits, sizes, strict=True):
        if split.within is not None and size:
            inner.setdefault(split.within, []).append(size)
    return [(sizes[o], parts) for o, parts in inner.items()]


def _is_empty(row: list[Any]) -> bool:
    return all(one is None for one in row)
