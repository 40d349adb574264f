"""Evaluation: machines that are fitted on one part of the items and scored on another."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from mercer.domains import Items, Points, admit_weights
from mercer.errors import SelectionError
from mercer.selection.arguments import rows_of
from mercer.selection.scoring import Scoring, stand_in
from mercer.selection.splits import Split

__all__ = ["Account", "Evaluation", "Outcome", "PredictionScores", "warn_failures"]


@dataclass
class Outcome:
    """How one machine did on one split."""

    test: Any = None
    train: Any = None
    fit_time: float = 0.0
    score_time: float = 0.0
    failure: str = ""

    def as_dict(self, count: int, train_scores: bool) -> dict[str, Any]:
        """Return it as scikit-learn writes it down."""
        found = {
            "test_scores": self.test,
            "n_test_samples": count,
            "fit_time": self.fit_time,
            "score_time": self.score_time,
        }
        return {**found, "train_scores": self.train} if train_scores else found


@dataclass
class Account:
    """Where the time went, and what was shared.

    Attributes
    ----------
    seconds : dict
        By kind of work.
    counts : dict
        How many machines and splits were served in which way.
    notes : list of str
    """

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        """Count the time that is spent inside."""
        start = time.perf_counter()
        yield
        self.seconds[what] += time.perf_counter() - start

    def __str__(self) -> str:
        lines = [f"{what}: {spent:.3f} s" for what, spent in self.seconds.items()]
        lines += [f"{what}: {count}" for what, count in self.counts.items()]
        return "\n".join([*lines, *dict.fromkeys(self.notes)])

    def add(self, other: Account) -> None:
        """Add what another account holds."""
        for what, spent in other.seconds.items():
            self.seconds[what] += spent
        for what, count in other.counts.items():
            self.counts[what] += count
        self.notes += other.notes


class Evaluation:
    """The items, their targets, the splits and the score by which machines are compared.

    Parameters
    ----------
    X, y : the items and their targets
    splits : sequence of Split
    scoring : Scoring
    parameters : dict, optional
        Further arguments of `fit`; those with an entry for each item are split with them.
    train_scores : bool
        Whether the scores of the training items are wanted, which takes fitted machines.
    error_score : float or "raise"
        The score of a machine that cannot be fitted.
    step : callable, optional
        Called with the number of machine-split pairs that are done.
    """

    def __init__(
        self,
        X: Items,
        y: ArrayLike | None,
        splits: Sequence[Split],
        scoring: Scoring,
        parameters: dict[str, Any] | None = None,
        train_scores: bool = False,
        error_score: float | str = np.nan,
        step: Callable[[int], None] = lambda count: None,
    ) -> None:
        self.X, self.y, self.splits, self.scoring = X, y, list(splits), scoring
        self.parameters = parameters or {}
        self.train_scores, self.error_score, self.step = train_scores, error_score, step
        self.account = Account()
        self.weights = self.parameters.get("sample_weight")

    def _refit_on_items(self, machine: BaseEstimator, k: int, outcome: Outcome) -> None:
        """Fit a machine on the items themselves, as scikit-learn would."""
        split = self.splits[k]
        with self.account.of("refits"):
            parts = [
                rows_of(machine, self.X, rows, split.train) for rows in (split.train, split.test)
            ]
            self._fit_and_score(clone(machine), k, parts[0], (parts[1], parts[0]), outcome)
        self.account.counts["refitted"] += 1

    def _fit_and_score(
        self,
        machine: BaseEstimator,
        k: int,
        X: Items | Points,
        new: tuple[Any, Any],
        outcome: Outcome,
    ) -> None:
        """Fit a machine and score it on the test items and, if wanted, on the training items."""
        split, start = self.splits[k], time.perf_counter()
        y = None if self.y is None else _safe_indexing(self.y, split.train)
        try:
            machine.fit(X, *([] if y is None else [y]), **self._given(split.train))
        except Exception as error:
            if self.error_score == "raise":
                raise
            outcome.fit_time = time.perf_counter() - start
            self._failed(outcome, error)
            self.step(1)
            return
        outcome.fit_time, start = time.perf_counter() - start, time.perf_counter()
        outcome.test = self._score(machine, new[0], split.test)
        outcome.score_time = time.perf_counter() - start
        if self.train_scores:
            outcome.train = self._score(machine, new[1], split.train)
        self.step(1)

    def _score(self, machine: BaseEstimator, X: Items, rows: np.ndarray) -> Any:
        y = None if self.y is None else _safe_indexing(self.y, rows)
        weights = None if self.weights is None else _safe_indexing(self.weights, rows)
        return self._tried(
            lambda: self.scoring.of_machine(machine, X, y, weights, self.error_score)
        )

    def _tried(self, score: Callable[[], Any]) -> Any:
        try:
            return score()
        except Exception as error:
            if self.error_score == "raise":
                raise
            warnings.warn(f"scoring failed: {error!r}", UserWarning, stacklevel=2)
            return self.error_score

    def _given(self, rows: np.ndarray) -> dict[str, Any]:
        """Return the arguments of `fit` for some items."""
        count = _num_samples(self.X)
        return {
            name: _safe_indexing(value, rows) if _per_item(value, count) else value
            for name, value in self.parameters.items()
        }

    def _failed(self, outcome: Outcome, error: Exception) -> None:
        outcome.test = outcome.train = self.error_score
        outcome.failure = f"{type(error).__name__}: {error}"


def warn_failures(outcomes: list[list[Outcome]], error_score: float | str) -> None:
    """Warn about machines that could not be fitted, or refuse if there was no other."""
    every = [one for row in outcomes for one in row]
    failed = [one for one in every if one.failure]
    if not failed:
        return
    reasons = "\n".join(dict.fromkeys(one.failure for one in failed))
    if len(failed) == len(every):
        raise SelectionError(f"all {len(every)} fits failed:\n{reasons}")
    warnings.warn(
        f"{len(failed)} of {len(every)} fits failed; their score is {error_score}:\n{reasons}",
        FitFailedWarning,
        stacklevel=4,
    )


class PredictionScores:
    """Scores of predictions that are known without a fitted machine."""

    def __init__(self, evaluation: Evaluation, task: Any) -> None:
        self.evaluation, self.task = evaluation, task
        self.weights = evaluation.weights
        if task.classes is not None:
            self.truth = task.codes
        else:
            self.truth = task.target
        if self.weights is not None:
            self.weights = np.asarray(admit_weights(self.weights, len(self.truth)))

    def put(
        self,
        machines: Sequence[BaseEstimator],
        k: int,
        predictions: Sequence[np.ndarray],
        outcomes: Sequence[Outcome],
        spent: float,
        steps: int = 1,
    ) -> None:
        """Score the predictions of several machines on one split; each counts as so many steps."""
        start = time.perf_counter()
        for outcome, found in zip(outcomes, self._all(machines, k, predictions), strict=True):
            outcome.test, outcome.fit_time = found, spent
        seconds = time.perf_counter() - start
        for outcome in outcomes:
            outcome.score_time = seconds / len(machines)
        self.evaluation.account.seconds["scores"] += seconds
        self.evaluation.step(steps * len(machines))

    def _all(
        self, machines: Sequence[BaseEstimator], k: int, predictions: Sequence[np.ndarray]
    ) -> Sequence[Any]:
        evaluation, test = self.evaluation, self.evaluation.splits[k].test
        w = None if self.weights is None else self.weights[test]
        if evaluation.scoring.quick is None:
            pairs = zip(machines, predictions, strict=True)
            known = [stand_in(m, f, self.task.classes) for m, f in pairs]
            return [evaluation._score(one, np.empty((len(test), 1)), test) for one in known]
        if self.task.classes is not None:
            predictions = [self._codes(m, f) for m, f in zip(machines, predictions, strict=True)]
        truth, F = self.truth[test], np.stack(predictions)
        found = evaluation._tried(lambda: evaluation.scoring.of_predictions(truth, F, w))
        return found if isinstance(found, list) else [found] * len(machines)

    def _codes(self, machine: BaseEstimator, values: np.ndarray) -> np.ndarray:
        """Return the classes that a classifier would give."""
        if values.ndim == 1:
            return (values > 0).astype(int)
        if hasattr(machine, "_winners"):
            copy = clone(machine)  # the user's own stays as it was
            copy.classes_ = self.task.classes
            return copy._winners(values)
        return values.argmax(axis=1)


def _per_item(value: object, count: int) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str) and len(value) == count
