"""Evaluation on shared Gram matrices: many machines, many splits, what they share computed once.

Machines that differ in anything but their kernel share its Gram matrix, on all splits; kernels of
the same items share distances and dot products, tile by tile. Along penalties ridge-like machines
are not fitted at all (`mercer.selection.closed_form`); along C support vector machines go on from
one solution to the next (`mercer.selection.svc_along_C`). All others are fitted on their part of
the Gram matrix. What cannot be shared is fitted as scikit-learn would.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _num_samples

from mercer.cluster import current
from mercer.domains import GramRows, Items, Points, admit_weights
from mercer.engine.tiles import fill_several
from mercer.gram import assemble, features_of
from mercer.kernels import Kernel, assume_psd, named
from mercer.machines.abilities import able
from mercer.memory import affordable, out_of_memory
from mercer.selection.closed_form import MATRICES_PER_CORE, has_closed_form
from mercer.selection.closed_form_evaluation import ClosedFormEvaluation, Group, Unanswered
from mercer.selection.evaluation import Account, Outcome, warn_failures
from mercer.selection.margins_on_engine import run_on_engine
from mercer.selection.on_cluster import evaluate_on
from mercer.selection.pipelines import is_shared_pipeline, run_pipelines
from mercer.selection.scoring import Scoring
from mercer.selection.splits import Split
from mercer.selection.svc_along_C import has_path, jobs_along_C
from mercer.threads import cores, in_threads

__all__ = ["SharedGramEvaluation", "evaluate"]

MATRICES_AT_ONCE = 6  # Gram matrices that are filled at once
WORKING_MATRICES = 2  # of the size of a Gram matrix: what work takes besides each core's own


def evaluate(
    machines: Sequence[BaseEstimator],
    X: Items,
    y: ArrayLike | None,
    splits: Sequence[Split],
    scoring: Scoring,
    params: dict[str, Any],
    **how: Any,
) -> tuple[list[list[Outcome]], Account]:
    """Return how each machine or pipeline does on each split, and where the time went.

    Inside of a cluster's ``with`` the workers do it.
    """
    cluster = current()
    if cluster is None:
        with out_of_memory(f"a search of {len(machines)} candidates", _num_samples(X)):
            found = _evaluated(machines, X, y, splits, scoring, params, **how)
    else:
        given = (scoring, params)
        found = evaluate_on(cluster, _evaluated, machines, (X, y), splits, given, how)
    warn_failures(found[0], how.get("error_score", np.nan))
    return found


def _evaluated(
    machines: Sequence[BaseEstimator],
    X: Items,
    y: ArrayLike | None,
    splits: Sequence[Split],
    scoring: Scoring,
    params: dict[str, Any],
    **how: Any,
) -> tuple[list[list[Outcome]], Account]:
    def run(
        machines: Sequence[BaseEstimator], X: Items, y: ArrayLike | None, splits: Sequence[Split]
    ) -> tuple[list[list[Outcome]], Account]:
        evaluation = SharedGramEvaluation(X, y, splits, scoring, params, **how)
        return evaluation.run(machines), evaluation.account

    # What `fit_transform` gives need not be what `transform` will say of the same items.
    whole = bool(params) or scoring.own or how.get("train_scores", False)
    if not whole and all(is_shared_pipeline(machine) for machine in machines):
        return run_pipelines(run, machines, X, y, splits)
    return run(machines, X, y, splits)


class SharedGramEvaluation(ClosedFormEvaluation):
    """The items, their targets, the splits and the score by which machines are compared."""

    def run(self, machines: Sequence[BaseEstimator]) -> list[list[Outcome]]:
        """Return how each machine does on each split."""
        outcomes = [[Outcome() for _ in self.splits] for _ in machines]
        by_kernel: dict[Kernel, list[int]] = defaultdict(list)
        without_gram = []
        done = run_on_engine(self, machines, outcomes)
        for i, machine in enumerate(machines):
            if i in done:
                continue
            if self._shares(machine):
                by_kernel[named(machine.kernel)].append(i)
            else:
                without_gram.append(i)
        if by_kernel:
            without_gram += self._run_shared(machines, by_kernel, outcomes)
        for i in sorted(without_gram):
            for split in range(len(self.splits)):
                self._refit_on_items(machines[i], split, outcomes[i][split])
        return outcomes

    # ---- what can be shared ------------------------------------------------------------------

    def _shares(self, machine: BaseEstimator) -> bool:
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

    def _run_shared(
        self,
        machines: Sequence[BaseEstimator],
        by_kernel: dict[Kernel, list[int]],
        outcomes: list[list[Outcome]],
    ) -> list[int]:
        """Run all machines that share a Gram matrix; return those for which there is no room."""
        admitted: dict[Any, Points] = {}
        by_domain: dict[Any, dict[Kernel, list[Group]]] = {}
        without_gram: list[int] = []
        for kernel, machine_ids in by_kernel.items():
            try:
                domain = kernel.domain
                with self.account.of("reading and resolving"):
                    if domain not in admitted:
                        admitted[domain] = machines[machine_ids[0]]._admit(self.X)
                    resolved = self._resolved(kernel, admitted[domain])
            except Exception as error:  # its fits will fail; if no kernel works, none need be made
                without_gram += machine_ids
                if len(without_gram) == len(machines):
                    raise error
                continue
            groups = by_domain.setdefault(domain, {})
            for concrete, splits in resolved.items():
                groups.setdefault(concrete, []).append(Group(machine_ids, splits))
        for domain, groups in by_domain.items():
            without_gram += self._run_domain(machines, groups, admitted[domain], outcomes)
        return sorted(set(without_gram))

    def _run_domain(
        self,
        machines: Sequence[BaseEstimator],
        groups: dict[Kernel, list[Group]],
        points: Points,
        outcomes: list[list[Outcome]],
    ) -> list[int]:
        """Run the machines of some kernels on the same points; return those without a matrix."""
        kernels = [
            kernel
            for kernel in groups
            if not self._run_by_features(kernel, points, machines, groups[kernel], outcomes)
        ]
        without_gram: list[int] = []
        for portion in self._portions(kernels, points):
            if not portion:
                return [i for kernel in kernels for group in groups[kernel] for i in group[0]]
            grams = {}
            for kernel, K in zip(portion, self._grams(portion, points), strict=True):
                if K is None:
                    without_gram += [i for group in groups[kernel] for i in group.machine_ids]
                else:
                    grams[kernel] = K
            unanswered = self._run_closed_form(machines, grams, groups, outcomes)
            deferred: list[Callable[[], None]] = []
            for kernel, K in grams.items():
                for group, missing in zip(groups[kernel], unanswered[kernel], strict=True):
                    deferred += self._run_on_gram(
                        machines, kernel, points, K, group, missing, outcomes
                    )
            if deferred:
                with self.account.of("support vector machines along C"):
                    in_threads(lambda job: job(), deferred)
            points.forget()  # the next portion has other kernels
        return without_gram

    def _resolved(self, kernel: Kernel, points: Points) -> dict[Kernel, list[int]]:
        """Return the concrete kernels and the splits for which each one stands."""
        everywhere = list(range(len(self.splits)))
        if not kernel.unresolved():
            return {kernel: everywhere}
        weights = admit_weights(self.weights, len(points))
        found: dict[Kernel, list[int]] = {}
        for split in everywhere:
            train = self.splits[split].train
            concrete = kernel.resolve(points[train], None if weights is None else weights[train])
            found.setdefault(concrete, []).append(split)
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

    def _run_by_features(
        self,
        kernel: Kernel,
        points: Points,
        machines: Sequence[BaseEstimator],
        groups: list[Group],
        outcomes: list[list[Outcome]],
    ) -> bool:
        """Run ridges whose kernel has few features without a Gram matrix; tell whether so."""
        every = [machines[i] for group in groups for i in group.machine_ids]
        if self.train_scores or not all(has_closed_form(machine) for machine in every):
            return False  # the others gain more from a Gram matrix that they share
        count = _features(kernel, points)
        if count is None or 2 * count > len(points):
            return False
        try:
            features = features_of(kernel, points)(points)
        except Exception:  # so will a Gram matrix
            return False
        for group in groups:
            batches, unanswered = self._batches(machines, features, group, is_gram=False)
            for more in self._predict_held_out(machines, batches, outcomes):
                unanswered.update(more)
            for i, missing in unanswered.items():
                for split in missing:
                    self._refit_on_items(machines[i], split, outcomes[i][split])
        return True

    # ---- on one Gram matrix --------------------------------------------------------------------

    def _run_on_gram(
        self,
        machines: Sequence[BaseEstimator],
        kernel: Kernel,
        points: Points,
        K: np.ndarray,
        group: Group,
        unanswered: Unanswered,
        outcomes: list[list[Outcome]],
    ) -> list[Callable[[], None]]:
        """Run some machines on some splits with one Gram matrix; return the jobs along C.

        Those are best done for several kernels at once. Of machines with a closed form only what
        it left unanswered is done. If the kernel has fewer features than there are items the
        matrix is singular. Then a ridge that needs more digits than the matrix has is fitted to
        the items, where it has them.
        """
        machine_ids, splits = group
        paths = [
            i for i in machine_ids if has_path(machines[i]) and self._follows(machines[i], kernel)
        ]
        answered = set(self._with_closed_form(machines, machine_ids))
        deferred: list[Callable[[], None]] = []
        for along_C in self._differing_in("C", machines, paths):
            jobs = jobs_along_C(self, machines, K, along_C, splits, outcomes)
            if jobs:
                deferred += jobs
                answered.update(along_C)
        refits = {**unanswered, **{i: splits for i in machine_ids if i not in answered}}
        ridges = {i for i in refits if able(machines[i], "closed-form folds")}
        few_features = bool(ridges) and (_features(kernel, points) or len(K)) < len(K)
        by_split: dict[int, list[int]] = defaultdict(list)
        for i, missing in refits.items():
            for split in missing:
                if few_features and i in ridges:
                    self._refit_on_items(machines[i], split, outcomes[i][split])
                else:
                    by_split[split].append(i)
        for split, some in by_split.items():
            with self.account.of("refits on parts of a Gram matrix"):
                self._refit_on_part(machines, kernel, K, split, some, outcomes)
        return deferred

    def _follows(self, machine: BaseEstimator, kernel: Kernel) -> bool:
        """Tell whether a support vector machine can be followed along C."""
        repaired = kernel.proof().verdict != "proved" and machine.indefinite != "error"
        return self.scoring.by_labels and not self.train_scores and not repaired

    def _refit_on_part(
        self,
        machines: Sequence[BaseEstimator],
        kernel: Kernel,
        K: np.ndarray,
        split: int,
        machine_ids: list[int],
        outcomes: list[list[Outcome]],
    ) -> None:
        """Fit machines on the training part of a Gram matrix, and score them on the test part."""
        train, test = self.splits[split].train, self.splits[split].test
        G = K.take(train, axis=0).take(train, axis=1)
        rows = K.take(test, axis=0).take(train, axis=1)
        for i in machine_ids:
            machine = clone(machines[i])
            machine.kernel = named("precomputed")
            policy = getattr(machine, "indefinite", None)
            if kernel.proof().verdict == "proved":
                machine.kernel = assume_psd(machine.kernel)  # there is nothing to look for
                if policy in getattr(machine, "policies", ()):  # and nothing to repair
                    machine.indefinite = "error"
            points = GramRows(G, np.arange(len(G)), symmetric=True)
            self._fit_and_score(machine, split, points, (rows, G), outcomes[i][split])
        self.account.counts["refitted on parts of a Gram matrix"] += len(machine_ids)


def _features(kernel: Kernel, points: Points) -> int | None:
    """Return how many explicit features a kernel has, or None if it has none here."""
    try:
        finite = kernel.map_features(points)
    except Exception:  # a Gram matrix will tell
        return None
    return None if finite is None else int(finite.count)
