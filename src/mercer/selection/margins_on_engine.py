"""Support vector machines of a search, all at once where an engine has the Gram matrix.

A search over C with folds is as many quadratic programs as there are values, folds and pairs of
classes, all of them about the same similarities. An engine climbs on all of them at the same time
(`mercer.gram.climbing`), each from the beginning, as the machine itself would; then one product
with the Gram matrix has the scores of all held-out items. What the engine does not finish is
fitted as usual.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from mercer.domains import Points
from mercer.errors import MercerError
from mercer.gram import assemble, choose_engine, engine_named
from mercer.gram.climbing import Climbing
from mercer.gram.engines import GPU_FROM_ITEMS
from mercer.kernels import Kernel, named
from mercer.machines.scores import require_weight
from mercer.machines.svm import MAX_ROUNDING
from mercer.machines.svm_classifier import SortedByClass
from mercer.machines.svm_programs import MarginProgram, max_steps, rounding
from mercer.plans import Decision, requested
from mercer.plans.margins import decide_margin
from mercer.selection.evaluation import Evaluation, Outcome, PredictionScores
from mercer.selection.svc_along_C import MarginTask, has_path, margin_task
from mercer.solvers.engine_margins import maximize_there
from mercer.solvers.quadratic import Optimum, SMOOptions
from mercer.values import positive

__all__ = ["run_on_engine"]

PORTION_VARIABLES = 2 * 10**7  # of programs that are solved at the same time

Place = tuple[int, int]  # a machine and a split


@dataclass(frozen=True)
class EngineCandidate:
    """One machine on one split: its items in the order of its programs."""

    place: Place
    machine: Any
    items: np.ndarray
    arranged: SortedByClass
    programs: list[MarginProgram]

    @property
    def variables(self) -> int:
        """Number of variables of its programs."""
        return sum(program.count for program in self.programs)


def run_on_engine(
    evaluation: Any, machines: Sequence[BaseEstimator], outcomes: list[list[Outcome]]
) -> set[int]:
    """Run the machines whose plan sends them to an engine; return which are done."""
    if evaluation.train_scores or not evaluation.scoring.by_labels or evaluation.y is None:
        return set()
    if set(evaluation.parameters) - {"sample_weight"} or evaluation.scoring.own:
        return set()
    able = [i for i, machine in enumerate(machines) if has_path(machine)]
    done: set[int] = set()
    for places in evaluation._differing_in("C", machines, able):
        machine: Any = machines[places[0]]
        asked = requested(machine.follow).device
        few = asked == "auto" and _num_samples(evaluation.X) < GPU_FROM_ITEMS
        if few or asked in ("cpu", "cluster") or not machine.similarities_suffice:
            continue
        try:
            points = machine._admit(evaluation.X)
            if asked == "auto" and choose_engine(asked, points) == "cpu":
                continue
            task = margin_task(machine, evaluation.y, len(points), evaluation.weights)
            kernels = evaluation._resolved(named(machine.kernel), points)
        except MercerError:  # a fit will say it, and only those candidates fail
            continue
        if all(kernel.proof().verdict == "proved" for kernel in kernels):
            family = MarginFamily(evaluation, [machines[i] for i in places], points, task)
            rest = family.run(kernels, places, outcomes)
            if rest is None:
                continue
            done.update(places)
            for i, k in rest:
                evaluation._refit_on_items(machines[i], k, outcomes[i][k])
    return done


class MarginFamily:
    """Machines that differ in C only."""

    def __init__(
        self, evaluation: Evaluation, machines: list[Any], points: Points, task: MarginTask
    ) -> None:
        self.evaluation, self.machines, self.points = evaluation, machines, points
        self.task = task
        self.tol = positive(machines[0], "tol", machines[0].tol)

    def run(
        self, kernels: dict[Kernel, list[int]], places: list[int], outcomes: list[list[Outcome]]
    ) -> list[Place] | None:
        """Score all machines on the splits of each kernel; return what is left to do.

        None means that the plan leaves all of it to this process.
        """
        left: list[Place] = []
        for kernel, splits in kernels.items():
            try:
                decision = self._decide(kernel, single=True)
            except MercerError:  # so will every fit, and say it
                return None
            if decision.device == "cpu":
                return None
            candidates = list(self._candidates(places, splits))
            with self.evaluation.account.of("support vector machines on an engine"):
                for portion in portions(candidates):
                    left += self._solve(kernel, decision, portion, outcomes)
            self.evaluation.account.counts["on an engine"] += len(candidates)
        return left

    def _decide(self, kernel: Kernel, single: bool) -> Decision:
        machine = self.machines[0]
        largest = max(float(one.C) for one in self.machines)
        single = single and machine._may_be_single(self.points, False)
        single = single and machine._serves(kernel, self.points, largest, self.tol)
        problems = machine._problems(len(self.task.classes))
        return decide_margin(
            requested(machine.follow), kernel, self.points, problems, single, False
        )

    def _candidates(self, places: list[int], splits: list[int]) -> Iterator[EngineCandidate]:
        """Yield all machines on all splits, but those whose fit would fail."""
        for k in splits:
            train = self.evaluation.splits[k].train
            weights = self._weights(train)
            codes = self.task.codes[train]
            for machine, i in zip(self.machines, places, strict=True):
                copy = clone(machine)
                arranged = copy._arrange(codes, weights)
                try:
                    require_weight(codes, self.task.classes, weights)
                    programs = copy._programs(
                        arranged.problems, arranged.weights, len(arranged.order)
                    )
                except MercerError:
                    programs = []
                yield EngineCandidate((i, k), copy, train[arranged.order], arranged, programs)

    def _weights(self, train: np.ndarray) -> np.ndarray | None:
        machine, given = self.machines[0], self.evaluation.weights
        if machine.class_weight != "balanced":
            return None if self.task.weights is None else self.task.weights[train]
        given = None if given is None else _safe_indexing(given, train)
        labels = _safe_indexing(self.evaluation.y, train)
        return margin_task(machine, labels, len(train), given).weights

    def _solve(
        self,
        kernel: Kernel,
        decision: Decision,
        candidates: list[EngineCandidate],
        outcomes: list[list[Outcome]],
    ) -> list[Place]:
        """Solve and score some candidates; return those that the engine did not finish."""
        start = time.perf_counter()
        gram, source = self._gram(kernel, decision)
        flat = [(c, program) for c in candidates for program in c.programs]
        options = SMOOptions(self.tol, max_steps(self.machines[0].max_iter))
        if not flat:
            return [c.place for c in candidates]
        found = maximize_there(
            source, [c.items[p.items] for c, p in flat], [p.problem for _, p in flat], options
        )
        optima = [optimum for optimum, _ in found]
        if decision.precision == "mixed" and self._rough(kernel, candidates, flat, optima):
            exact = self._decide(kernel, single=False)
            return self._solve(kernel, exact, candidates, outcomes)
        table, intercepts, spans = self._coefficients(candidates, optima)
        with self.evaluation.account.of("scores of held-out items"):
            values = np.asarray(gram @ table)
        spent = (time.perf_counter() - start) / len(candidates)
        scorer, left = PredictionScores(self.evaluation, self.task), []
        for c in candidates:
            i, k = c.place
            if c.place not in spans:
                left.append(c.place)
                continue
            own = spans[c.place]
            rows = values[self.evaluation.splits[k].test, own] + intercepts[own]
            rows = rows[:, 0] if rows.shape[1] == 1 else rows
            scorer.put([c.machine], k, [rows], [outcomes[i][k]], spent)
        return left

    def _gram(self, kernel: Kernel, decision: Decision) -> tuple[Any, Climbing]:
        """Return the Gram matrix to multiply with, and what the engine climbs on."""
        if not decision.stored:
            gram: Any = assemble(kernel, self.points, decision, decision.gram_precision)
            return gram, gram
        engine: Any = engine_named(decision.device)
        gram = assemble(kernel, self.points)
        return gram, engine.carry(gram.matrix())

    def _rough(
        self,
        kernel: Kernel,
        candidates: list[EngineCandidate],
        flat: list[tuple[EngineCandidate, MarginProgram]],
        optima: list[Optimum | None],
    ) -> bool:
        """Tell whether single precision changes slopes of the largest C too much."""
        worst = max(candidates, key=lambda c: float(c.machine.C))
        own = [k for k, (c, _) in enumerate(flat) if c is worst and optima[k] is not None]
        programs = [flat[k][1] for k in own]
        solved: Any = [optima[k] for k in own]
        if not solved:
            return False
        off = rounding(kernel, self.points[worst.items], programs, solved)
        return off > MAX_ROUNDING * self.tol

    def _coefficients(
        self, candidates: list[EngineCandidate], optima: list[Optimum | None]
    ) -> tuple[np.ndarray, np.ndarray, dict[Place, slice]]:
        """Return coefficients of all items, a column for each program, and intercepts."""
        columns: list[np.ndarray] = []
        intercepts: list[np.ndarray] = []
        spans: dict[Place, slice] = {}
        first = 0
        for c in candidates:
            own, first = optima[first : first + len(c.programs)], first + len(c.programs)
            if not own or any(optimum is None for optimum in own):
                continue
            C, b = c.machine._gather(c.arranged, own, self.task.classes)
            whole = np.zeros((len(self.points), C.shape[1]))
            whole[c.items] = C
            start = sum(len(one) for one in intercepts)
            spans[c.place] = slice(start, start + len(b))
            columns.append(whole)
            intercepts.append(b)
        if not columns:
            return np.zeros((len(self.points), 1)), np.zeros(1), {}
        return np.concatenate(columns, axis=1), np.concatenate(intercepts), spans


def portions(candidates: list[EngineCandidate]) -> Iterator[list[EngineCandidate]]:
    """Cut candidates into portions of so many variables.

    Examples
    --------
    >>> list(portions([]))
    []
    """
    portion: list[EngineCandidate] = []
    for candidate in candidates:
        portion.append(candidate)
        if sum(one.variables for one in portion) >= PORTION_VARIABLES:
            yield portion
            portion = []
    if portion:
        yield portion
