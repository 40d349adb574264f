"""Evaluation on shared Gram matrices: many machines, many splits, what they share computed once.

Machines that differ in anything but their kernel share its Gram matrix, on all splits; kernels of
the same items share distances and dot products, tile by tile. Along penalties ridge-like machines
are not fitted at all (`mercer.selection.closed_form`); along C support vector machines go on from
one solution to the next (`mercer.selection.svc_along_C`). All others are fitted on their part of
the Gram matrix. What cannot be shared is fitted as scikit-learn would.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _num_samples

from mercer.domains import GramRows, Points, admit_weights
from mercer.engine.tiles import fill_several
from mercer.errors import MercerError
from mercer.gram import assemble, features_of
from mercer.kernels import Kernel, named
from mercer.machines.abilities import able
from mercer.machines.machine import POLICIES
from mercer.memory import affordable
from mercer.selection.closed_form import (
    MATRICES_PER_CORE,
    ClosedFormTask,
    applies,
    cross_validate,
)
from mercer.selection.evaluation import Evaluation, Outcome, PredictionScores
from mercer.selection.splits import renumbered
from mercer.selection.svc_along_C import has_path, jobs_along_C
from mercer.selection.validation import settings_key
from mercer.threads import cores, in_threads, one_blas_thread

__all__ = ["SharedGramEvaluation"]

MATRICES_AT_ONCE = 6  # Gram matrices that are filled at once
MAX_ONE_THREAD_ITEMS = 500  # items up to which threads of BLAS would only wait for each other
WORKING_MATRICES = (
    2  # arrays of a Gram matrix's size that the work on it may take, and what its cores take
)


@dataclass(frozen=True)
class Batch:
    """A task for some of many machines, on some of many splits; `rest` is what has no answer."""

    job: ClosedFormTask
    places: list[int]
    splits: list[int]
    rest: dict[int, list[int]]


class SharedGramEvaluation(Evaluation):
    """The items, their targets, the splits and the score by which machines are compared."""

    def run(self, machines: Sequence[BaseEstimator]) -> list[list[Outcome]]:
        """Return how each machine does on each split."""
        outcomes = [[Outcome() for _ in self.splits] for _ in machines]
        self._later: list[Callable[[], None]] = []  # on several kernels, best done at once
        groups: dict[Kernel, list[int]] = defaultdict(list)
        alone = []
        for place, machine in enumerate(machines):
            if self._shares(machine):
                groups[named(machine.kernel)].append(place)
            else:
                alone.append(place)
        if groups:
            alone += self._shared(machines, groups, outcomes)
        for place in sorted(alone):
            for k in range(len(self.splits)):
                self._fit(machines[place], k, outcomes[place][k])
        return outcomes

    # ---- what can be shared ------------------------------------------------------------------

    def _shares(self, machine: Any) -> bool:
        """Tell whether similarities are all that a machine needs to know of the items."""
        if self.scoring.own or self.y is None or not able(machine, "shared Gram matrix"):
            return False
        if set(self.parameters) - {"sample_weight"} or not machine.similarities_suffice:
            return False
        most = machine.max_shared_items
        if most is not None and _num_samples(self.X) > most:
            return False  # for many items they have faster ways than a whole Gram matrix
        kernel = named(machine.kernel)
        # Class weights have a say in heuristics; for probabilities these are resolved in parts.
        others = [getattr(machine, name, None) for name in ("class_weight", "probability")]
        if kernel.unresolved() and any(others):
            return False
        return kernel.proof().verdict != "refuted"

    def _shared(
        self,
        machines: Sequence[BaseEstimator],
        groups: dict[Kernel, list[int]],
        outcomes: list[list[Outcome]],
    ) -> list[int]:
        """Run all machines that share a Gram matrix; return those for which there is no room."""
        admitted: dict[Any, Points] = {}
        tasks: dict[Any, dict[Kernel, list[tuple[list[int], list[int]]]]] = {}
        alone: list[int] = []
        for kernel, places in groups.items():
            try:
                domain = kernel.domain
                with self.account.of("reading and resolving"):
                    if domain not in admitted:
                        admitted[domain] = machines[places[0]]._admit(self.X)
                    resolved = self._resolved(kernel, admitted[domain])
            except Exception as error:  # its fits will fail; if no kernel works, none need be made
                alone += places
                if len(alone) == len(machines):
                    raise error
                continue
            todo = tasks.setdefault(domain, {})
            for concrete, splits in resolved.items():
                todo.setdefault(concrete, []).append((places, splits))
        for domain, todo in tasks.items():
            points = admitted[domain]
            thick = [
                kernel
                for kernel, jobs in todo.items()
                if not self._by_features(kernel, points, machines, jobs, outcomes)
            ]
            for some in self._portions(thick, points):
                if not some:
                    alone += [place for k in thick for places, _ in todo[k] for place in places]
                    break
                grams = dict(zip(some, self._grams(some, points), strict=True))
                alone += [p for k in some if grams[k] is None for ps, _ in todo[k] for p in ps]
                known = {k: K for k, K in grams.items() if K is not None}
                rests = self._ridges(machines, known, todo, outcomes)
                for kernel, K in known.items():
                    for (places, splits), rest in zip(todo[kernel], rests[kernel], strict=True):
                        self._on_gram(machines, kernel, points, K, places, splits, outcomes, rest)
                if self._later:
                    with self.account.of("support vector machines along C"):
                        in_threads(lambda job: job(), self._later)
                    self._later = []
                points.forget()  # the next portion has other kernels
        return sorted(set(alone))

    def _resolved(self, kernel: Kernel, points: Points) -> dict[Kernel, list[int]]:
        """Return the concrete kernels and the splits for which each one stands."""
        everywhere = list(range(len(self.splits)))
        if not kernel.unresolved():
            return {kernel: everywhere}
        weights = admit_weights(self.weights, len(points))
        found: dict[Kernel, list[int]] = {}
        for k in everywhere:
            train = self.splits[k].train
            concrete = kernel.resolve(points[train], None if weights is None else weights[train])
            found.setdefault(concrete, []).append(k)
        return found

    def _portions(self, kernels: list[Kernel], points: Points) -> list[list[Kernel]]:
        """Cut the kernels into portions whose Gram matrices fit, or return an empty one."""
        size = 8 * len(points) ** 2
        count = MATRICES_AT_ONCE
        while count and not affordable(
            (count + WORKING_MATRICES + MATRICES_PER_CORE * cores()) * size
        ):
            count -= 1
        if not count:
            self.account.notes.append("no Gram matrix was shared, because it does not fit")
            return [[]] if kernels else []
        return [kernels[i : i + count] for i in range(0, len(kernels), count)]

    def _grams(self, kernels: list[Kernel], points: Points) -> list[np.ndarray | None]:
        """Return the Gram matrices, None for a kernel that fails on these items."""
        with self.account.of("Gram matrices"):
            try:
                found: list[Any] = self._filled(kernels, points)
            except Exception:
                found = [None]
                if len(kernels) > 1:
                    found = [K for kernel in kernels for K in self._grams([kernel], points)]
                    return found
            self.account.counts["Gram matrices"] += len(kernels)
            return found

    def _filled(self, kernels: list[Kernel], points: Points) -> list[np.ndarray]:
        if isinstance(points, GramRows) and kernels == [named("precomputed")]:
            return [assemble(kernels[0], points).matrix()]
        return fill_several(kernels, points)

    def _by_features(
        self,
        kernel: Kernel,
        points: Points,
        machines: Sequence[BaseEstimator],
        jobs: list[tuple[list[int], list[int]]],
        outcomes: list[list[Outcome]],
    ) -> bool:
        """Run ridges whose kernel has few features without a Gram matrix; tell whether so."""
        every = [machines[place] for places, _ in jobs for place in places]
        if self.train_scores or not all(applies(machine) for machine in every):
            return False  # the others gain more from a Gram matrix that they share
        count = _features(kernel, points)
        if count is None or 2 * count > len(points):
            return False
        try:
            features = features_of(kernel, points)(points)
        except Exception:  # so will a Gram matrix
            return False
        for places, splits in jobs:
            rest: dict[int, list[int]] = {}
            asked = self._batches(machines, features, places, splits, rest, gram=False)
            self._closed_form(machines, asked, outcomes)
            for place, missing in rest.items():
                for k in missing:
                    self._fit(machines[place], k, outcomes[place][k])
        return True

    # ---- on one Gram matrix --------------------------------------------------------------------

    def _families(
        self, machines: Sequence[BaseEstimator], places: list[int], name: str
    ) -> list[list[int]]:
        """Return the places of machines that differ in one parameter, in groups."""
        found: dict[Any, list[int]] = defaultdict(list)
        for place in places:
            found[settings_key(machines[place], name)].append(place)
        return list(found.values())

    def _on_gram(
        self,
        machines: Sequence[BaseEstimator],
        kernel: Kernel,
        points: Points,
        K: np.ndarray,
        places: list[int],
        splits: list[int],
        outcomes: list[list[Outcome]],
        rest: dict[int, list[int]],
    ) -> None:
        """Run some machines on some splits with one Gram matrix; of ridges only `rest`.

        If the kernel has fewer features than there are items the matrix is singular. Then a ridge
        that needs more digits than the matrix has is fitted to the items, where it has them.
        """
        paths = [p for p in places if has_path(machines[p]) and self._follows(machines[p], kernel)]
        done = {p for p in places if applies(machines[p]) and not self.train_scores}
        for some in self._families(machines, paths, "C"):
            jobs = jobs_along_C(self, machines, K, some, splits, outcomes)
            if jobs:
                self._later += jobs
                done.update(some)
        rest.update({place: splits for place in places if place not in done})
        by_split: dict[int, list[int]] = defaultdict(list)
        ridges = {place for place in rest if able(machines[place], "closed-form folds")}
        thin = bool(ridges) and (_features(kernel, points) or len(K)) < len(K)
        for place, missing in rest.items():
            for k in missing:
                if thin and place in ridges:
                    self._fit(machines[place], k, outcomes[place][k])
                else:
                    by_split[k].append(place)
        for k, some in by_split.items():
            with self.account.of("refits on parts of a Gram matrix"):
                self._on_part(machines, kernel, K, k, some, outcomes)

    def _ridges(
        self,
        machines: Sequence[BaseEstimator],
        grams: dict[Kernel, np.ndarray],
        todo: dict[Kernel, list[tuple[list[int], list[int]]]],
        outcomes: list[list[Outcome]],
    ) -> dict[Kernel, list[dict[int, list[int]]]]:
        """Score ridge-like machines on all Gram matrices; return which splits are left of each."""
        rests: dict[Kernel, list[dict[int, list[int]]]] = {}
        asked: list[Batch] = []
        for kernel, K in grams.items():
            rests[kernel] = [{} for _ in todo[kernel]]
            for (places, splits), rest in zip(todo[kernel], rests[kernel], strict=True):
                some = [p for p in places if applies(machines[p]) and not self.train_scores]
                asked += self._batches(machines, K, some, splits, rest)
        self._closed_form(machines, asked, outcomes)
        return rests

    def _batches(
        self,
        machines: Sequence[BaseEstimator],
        source: Any,
        places: list[int],
        splits: list[int],
        rest: dict[int, list[int]],
        gram: bool = True,
    ) -> list[Batch]:
        """Return what has a closed form; machines of which that is not known go to `rest`."""
        found = []
        for some in self._families(machines, places, "penalty"):
            machine = machines[some[0]]
            try:
                penalties = [float(machines[place].penalty) for place in some]
                task = machine.regression(self.y, source.shape[0], self.weights)
            except MercerError:  # a fit will say it better
                rest.update(dict.fromkeys(some, splits))
                continue
            parts = renumbered([self.splits[k] for k in splits], splits)
            proved = named(machine.kernel).proof().verdict == "proved"
            ranked = not self.scoring.by_labels
            job = ClosedFormTask(machine, task, source, parts, penalties, gram, proved, ranked)
            found.append(Batch(job, some, splits, rest))
        return found

    def _closed_form(
        self, machines: Sequence[BaseEstimator], asked: list[Batch], outcomes: list[list[Outcome]]
    ) -> None:
        """Score ridge-like machines without fitting them; what is not trusted goes to `rest`."""
        served = sum(len(one.places) * len(one.splits) for one in asked)
        start = time.perf_counter()
        few = (
            one_blas_thread if len(self.splits[0].train) < MAX_ONE_THREAD_ITEMS else nullcontext()
        )
        with self.account.of("held-out predictions without refits"), few:
            answers = cross_validate([one.job for one in asked], self.step)
        spent = (time.perf_counter() - start) / max(served, 1)
        for one, found in zip(asked, answers, strict=True):
            if found.plan is not None:
                self.account.notes.append(f"held out by {found.plan.explain()}")
            scorer = PredictionScores(self, one.job.task)
            for j, k in enumerate(one.splits):
                known = []
                for place, row in zip(one.places, found.scores, strict=True):
                    if row[j] is None:
                        one.rest.setdefault(place, []).append(k)
                    else:
                        known.append((machines[place], row[j], outcomes[place][k]))
                if known:
                    some, scores, outcomes_here = zip(*known, strict=True)
                    scorer.put(some, k, scores, outcomes_here, spent, steps=0)
            served = len(one.places) * len(one.splits)
            missing = sum(len(one.rest.get(place, ())) for place in one.places)
            self.account.counts["without a refit"] += served - missing
            if missing:
                cheaper = found.plan is not None and found.plan.route == "refit"
                why = "that is cheaper" if cheaper else "the shortcut does not hold"
                self.account.counts[f"refitted because {why}"] += missing

    def _follows(self, machine: Any, kernel: Kernel) -> bool:
        """Tell whether a support vector machine can be followed along C."""
        repaired = kernel.proof().verdict != "proved" and machine.indefinite != "error"
        return self.scoring.by_labels and not self.train_scores and not repaired

    def _on_part(
        self,
        machines: Sequence[BaseEstimator],
        kernel: Kernel,
        K: np.ndarray,
        k: int,
        places: list[int],
        outcomes: list[list[Outcome]],
    ) -> None:
        """Fit machines on the training part of a Gram matrix, and score them on the test part."""
        split = self.splits[k]
        G = K.take(split.train, axis=0).take(split.train, axis=1)
        rows = K.take(split.test, axis=0).take(split.train, axis=1)
        for place in places:
            machine = clone(machines[place])
            machine.kernel = named("precomputed")
            policy = getattr(machine, "indefinite", None)
            if policy in POLICIES and kernel.proof().verdict == "proved":
                machine.indefinite = "error"  # there is nothing to repair
            points = GramRows(G, np.arange(len(G)), symmetric=True)
            self._fitted(machine, k, points, (rows, G), outcomes[place][k])
        self.account.counts["refitted on parts of a Gram matrix"] += len(places)


def _features(kernel: Kernel, points: Points) -> int | None:
    """Return how many explicit features a kernel has, or None if it has none here."""
    try:
        finite = kernel.map_features(points)
    except Exception:  # a Gram matrix will tell
        return None
    return None if finite is None else int(finite.count)
