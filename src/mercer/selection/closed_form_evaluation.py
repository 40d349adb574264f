"""Evaluation in closed form: ridge-like machines are scored on held-out items without a fit.

Machines that differ in their penalties alone are one task of `mercer.selection.closed_form`. What
it cannot answer with enough digits is left to the evaluation that fits machines
(`mercer.selection.shared_gram`).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from mercer.errors import MercerError
from mercer.kernels import Kernel, named
from mercer.selection.arguments import settings_key
from mercer.selection.closed_form import (
    ClosedFormResult,
    ClosedFormTask,
    has_closed_form,
    held_out_predictions,
)
from mercer.selection.evaluation import Evaluation, Outcome, PredictionScores
from mercer.selection.splits import renumbered
from mercer.threads import one_blas_thread

__all__ = ["ClosedFormEvaluation", "Group", "Unanswered"]

MAX_ONE_THREAD_ITEMS = 500  # items up to which threads of BLAS would only wait for each other

Unanswered = dict[int, list[int]]  # by number of the machine, the splits without an answer


class Group(NamedTuple):
    """Numbers of machines with the same kernel, and of the splits on which it is the same."""

    machine_ids: list[int]
    splits: list[int]


class Batch(NamedTuple):
    """Machines of a group that differ in their penalties alone, and their closed-form task."""

    task: ClosedFormTask
    machine_ids: list[int]
    splits: list[int]


class ClosedFormEvaluation(Evaluation):
    """Scores of ridge-like machines on splits, from the inverse of the whole system."""

    def _differing_in(
        self, name: str, machines: Sequence[BaseEstimator], machine_ids: list[int]
    ) -> list[list[int]]:
        """Return machines that differ in one parameter alone, in groups."""
        found: dict[Any, list[int]] = defaultdict(list)
        for i in machine_ids:
            found[settings_key(machines[i], name)].append(i)
        return list(found.values())

    def _with_closed_form(
        self, machines: Sequence[BaseEstimator], machine_ids: list[int]
    ) -> list[int]:
        return [i for i in machine_ids if has_closed_form(machines[i]) and not self.train_scores]

    def _run_closed_form(
        self,
        machines: Sequence[BaseEstimator],
        grams: dict[Kernel, np.ndarray],
        groups: dict[Kernel, list[Group]],
        outcomes: list[list[Outcome]],
    ) -> dict[Kernel, list[Unanswered]]:
        """Score ridge-like machines on all Gram matrices at once.

        Returns for each group of each kernel which machines and splits have no answer.
        """
        unanswered: dict[Kernel, list[Unanswered]] = {kernel: [] for kernel in grams}
        batches: list[Batch] = []
        owners: list[Unanswered] = []  # of each batch, where its group notes what is unanswered
        for kernel, K in grams.items():
            for group in groups[kernel]:
                ridges = Group(self._with_closed_form(machines, group.machine_ids), group.splits)
                more, refused = self._batches(machines, K, ridges)
                unanswered[kernel].append(refused)
                batches += more
                owners += [refused] * len(more)
        missing = self._predict_held_out(machines, batches, outcomes)
        for owner, left in zip(owners, missing, strict=True):
            owner.update(left)
        return unanswered

    def _batches(
        self,
        machines: Sequence[BaseEstimator],
        source: Any,
        group: Group,
        is_gram: bool = True,
    ) -> tuple[list[Batch], Unanswered]:
        """Return the closed-form tasks of a group, and the machines that cannot have one."""
        batches, refused = [], {}
        parts = renumbered([self.splits[split] for split in group.splits], group.splits)
        for machine_ids in self._differing_in("penalty", machines, group.machine_ids):
            machine = machines[machine_ids[0]]
            try:
                penalties = [float(machines[i].penalty) for i in machine_ids]
                regression = machine.regression(self.y, source.shape[0], self.weights)
            except MercerError:  # a fit will say it better
                refused.update(dict.fromkeys(machine_ids, group.splits))
                continue
            proved = named(machine.kernel).proof().verdict == "proved"
            task = ClosedFormTask(
                machine, regression, source, parts, penalties, is_gram, proved,
                ranked=not self.scoring.by_labels,
            )  # fmt: skip
            batches.append(Batch(task, machine_ids, group.splits))
        return batches, refused

    def _predict_held_out(
        self,
        machines: Sequence[BaseEstimator],
        batches: list[Batch],
        outcomes: list[list[Outcome]],
    ) -> list[Unanswered]:
        """Score ridge-like machines without fitting them; return what is not to be trusted."""
        served = sum(len(batch.machine_ids) * len(batch.splits) for batch in batches)
        start = time.perf_counter()
        small = len(self.splits[0].train) < MAX_ONE_THREAD_ITEMS
        with (
            self.account.of("held-out predictions without refits"),
            one_blas_thread if small else nullcontext(),
        ):
            answers = held_out_predictions([batch.task for batch in batches], self.step)
        spent = (time.perf_counter() - start) / max(served, 1)
        return [
            self._score_answer(machines, batch, answer, outcomes, spent)
            for batch, answer in zip(batches, answers, strict=True)
        ]

    def _score_answer(
        self,
        machines: Sequence[BaseEstimator],
        batch: Batch,
        answer: ClosedFormResult,
        outcomes: list[list[Outcome]],
        spent: float,
    ) -> Unanswered:
        """Score the held-out predictions of a batch; return what is not answered."""
        if answer.route is not None:
            self.account.notes.append(f"held out by {answer.route.explain()}")
        scores = PredictionScores(self, batch.task.regression)
        unanswered: Unanswered = {}
        for j, split in enumerate(batch.splits):
            known = []
            for i, predictions in zip(batch.machine_ids, answer.predictions, strict=True):
                if predictions[j] is None:
                    unanswered.setdefault(i, []).append(split)
                else:
                    known.append((machines[i], predictions[j], outcomes[i][split]))
            if known:
                some, values, outcomes_here = zip(*known, strict=True)
                scores.put(some, split, values, outcomes_here, spent, steps=0)
        missing = sum(len(splits) for splits in unanswered.values())
        count = len(batch.machine_ids) * len(batch.splits)
        self.account.counts["without a refit"] += count - missing
        if missing:
            cheaper = answer.route is not None and answer.route.name == "refit"
            why = "that is cheaper" if cheaper else "the shortcut does not hold"
            self.account.counts[f"refitted because {why}"] += missing
        return unanswered
