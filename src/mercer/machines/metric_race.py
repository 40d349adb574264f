"""The race of metrics: which kind, and how many rounds, by folds that had no part in them.

For each kind there is one path on all items of the sample, which finds bandwidths and penalties.
On each fold the path is walked again with these, without the items of the fold, and predicts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from mercer.domains import admit_labels
from mercer.machines.folds import stratified_folds
from mercer.machines.metric_path import MetricRound, is_ridge, rounds_of
from mercer.machines.metric_search import RidgeTargets
from mercer.threads import in_threads

__all__ = ["Kinds", "MetricRace", "MetricTask", "MetricTrial", "cheapest", "deal", "pairs_of"]

FAR_BEHIND = 1.25  # times the smallest error, beyond which a kind of metric is given up
WORTH_A_ROUND = 5e-3  # share of the error; a round, or a fuller metric, must gain more

Kinds = tuple[str, ...]  # of the metrics, one for each term of the kernel
Pairs = Sequence[tuple[np.ndarray, np.ndarray]]  # of items to learn from, and items held out


@dataclass(frozen=True)
class MetricTrial:
    """What folds say of one kind of metric after some rounds.

    Attributes
    ----------
    kind : str
        "none", "diagonal", "full", or those of several terms.
    round : int
    error : float
        Mean squared error of held-out items (share of wrong labels, of classifiers without a
        closed form), by paths that have not seen them.
    """

    kind: str
    round: int
    error: float


@dataclass(frozen=True, eq=False)
class MetricTask:
    """Items, what is learned about them, and how predictions are judged.

    Attributes
    ----------
    points : Points
    targets : RidgeTargets or ndarray
        Labels are codes.
    codes : ndarray
        Classes, all 0 for numbers.
    counted : ndarray of int
        Items with a weight.
    labelled : bool
        Whether predictions are codes.
    """

    points: Any
    targets: Any
    codes: np.ndarray
    counted: np.ndarray
    labelled: bool

    @classmethod
    def of(cls, machine: Any, points: Any, y: Any, sample_weight: Any) -> MetricTask:
        """Return what a machine has to learn."""
        count = len(points)
        counted = np.arange(count)
        codes = np.zeros(count, dtype=np.intp)
        if is_classifier(machine):
            codes = admit_labels(y, count)[0]
        if not is_ridge(machine):
            labelled = is_classifier(machine)
            return cls(points, codes if labelled else np.asarray(y), codes, counted, labelled)
        found = machine.regression(y, count, sample_weight)
        if found.weights is not None:
            counted = np.flatnonzero(found.weights > 0)
        target = found.target.reshape(count, -1)
        targets = RidgeTargets(target, found.weights, machine.has_intercept)
        return cls(points, targets, codes, counted, False)

    def part(self, rows: np.ndarray) -> MetricTask:
        """Return the task of some items."""
        part = self.points[rows], self.targets[rows], self.codes[rows], np.arange(len(rows))
        return MetricTask(*part, self.labelled)

    def error(self, values: np.ndarray, held: np.ndarray) -> float:
        """Return how far predictions of some items are from the targets."""
        if isinstance(self.targets, RidgeTargets):
            off = np.sum((values - self.targets.target) ** 2, axis=1)
            w = np.ones(len(off)) if self.targets.weights is None else self.targets.weights
            return float(np.average(off[held], weights=w[held]))
        off = (values - np.reshape(self.targets, (len(values), -1)))[held]
        return float(np.mean(off != 0 if self.labelled else off**2))


class MetricRace:
    """Paths of some kinds of metrics, judged on folds.

    Parameters
    ----------
    machine : machine
    task : MetricTask
    pairs : sequence of (train, test)
    rounds : int
    search : bool
        Whether bandwidths and penalty are searched.
    together : bool
        Whether items of one fold belong together, so that bandwidths and penalty have to be
        searched by leaving out whole folds rather than single items.

    Attributes
    ----------
    trials : list of MetricTrial
    values : list of ndarray
        Of each trial the predictions for held-out items; NaN for items that never are.
    """

    def __init__(
        self, machine: Any, task: MetricTask, pairs: Pairs, rounds: int, search: bool,
        together: bool = False,
    ) -> None:  # fmt: skip
        self.machine, self.task, self.pairs = machine, task, pairs
        self.rounds, self.search = rounds, search
        self.blocks = [held for _, held in pairs] if together else None
        self.held = np.zeros(len(task.points), dtype=bool)
        for _, held in pairs:
            self.held[held] = True
        self.trials: list[MetricTrial] = []
        self.values: list[np.ndarray] = []
        self.paths: dict[Kinds, list[MetricRound]] = {}

    @property
    def judges(self) -> bool:
        """Whether there are folds that can judge: several, or one that was given."""
        return len(self.pairs) > (0 if self.blocks is not None else 1)

    def run(self, kinds: Kinds) -> None:
        """Walk the path of some kinds of metrics, one round after the other while it gains."""
        whole = self._walk(self.task, kinds, blocks=self.blocks)
        path = [next(whole)]
        folds = range(len(self.pairs))
        parts = [self.task.part(train) for train, _ in self.pairs]
        walks = [self._walk(part, kinds, path) for part in parts]
        errors = []
        for number in range(self.rounds + 1):
            if number:
                path.append(next(whole))
            if number or not self.trials:  # without a metric all kinds are the same
                self._judge(kinds, number, walks)
            else:
                in_threads(lambda fold: next(walks[fold]), list(folds))
            errors.append(self.trials[-1 if number else 0].error)
            if number > 1 and not self._gains(errors):
                break
        self.paths[kinds] = path

    def _walk(
        self, task: MetricTask, kinds: Kinds, guide: Sequence[MetricRound] = (),
        blocks: Sequence[np.ndarray] | None = None,
    ) -> Any:  # fmt: skip
        how = self.machine, task.points, task.targets, kinds, self.search, guide, blocks
        return rounds_of(*how)

    def _judge(self, kinds: Kinds, number: int, walks: list[Any]) -> None:
        """Let all folds do a round, and note what it says of held-out items."""
        said: dict[int, np.ndarray] = {}

        def work(fold: int) -> None:
            said[fold] = next(walks[fold]).values(self.task.points[self.pairs[fold][1]])

        in_threads(work, list(range(len(walks))))
        every = np.full((len(self.held), said[0].shape[1]), np.nan)
        for fold, values in said.items():
            every[self.pairs[fold][1]] = values
        error = self.task.error(every, self.held)
        self.trials.append(MetricTrial(name_of(kinds) if number else "none", number, error))
        self.values.append(every)

    def _gains(self, errors: list[float]) -> bool:
        """Tell whether the last round has gained, and others are not far ahead."""
        ahead = min(trial.error for trial in self.trials)
        gains = errors[-1] < min(errors[:-1]) * (1 - WORTH_A_ROUND)
        return gains and errors[-1] <= FAR_BEHIND * ahead


def name_of(kinds: Kinds) -> str:
    """Return how a metric is called.

    Examples
    --------
    >>> name_of(("full", "full")), name_of(("diagonal", "full"))
    ('full', 'diagonal + full')
    """
    return kinds[0] if len(set(kinds)) == 1 else " + ".join(kinds)


def cheapest(trials: list[MetricTrial]) -> MetricTrial:
    """Return the trial with the smallest error; of nearly equal ones the earliest."""
    lowest = min(trials, key=lambda trial: trial.error)
    enough = lowest.error * (1 + WORTH_A_ROUND)
    return next((trial for trial in trials if trial.error <= enough), trials[0])


def deal(codes: np.ndarray, folds: int, rng: np.random.RandomState) -> np.ndarray:
    """Return the fold of each item, −1 for items that are never held out."""
    folds = min(folds, len(codes) // 2)
    if folds < 2:
        return np.full(len(codes), -1)
    return stratified_folds(codes, folds, rng, None, min_count=2)


def pairs_of(dealt: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (train, test) of each fold that items were dealt into.

    Examples
    --------
    >>> [test.tolist() for _, test in pairs_of(np.array([0, 1, 0, -1]))]
    [[0, 2], [1]]
    """
    folds = range(int(dealt.max(initial=-1)) + 1)
    return [(np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)) for fold in folds]


def first_round(
    machine: BaseEstimator, task: MetricTask, kinds: Kinds, search: bool
) -> MetricRound:
    """Return what is learned without a metric."""
    found = islice(rounds_of(machine, task.points, task.targets, kinds, search), 1)
    return next(found)
