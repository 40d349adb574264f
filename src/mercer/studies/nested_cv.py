"""Nested cross-validation: each family of machines on each outer fold, and on all rows.

What is judged is the whole procedure: standardize, choose kernel and parameters for each family
by inner folds, take the best family, fit it. An outer fold is predicted by what the procedure
makes of the other folds, so its rows have no part in anything that is chosen.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.domains import Items, is_frame
from mercer.errors import DomainError, MercerError, SelectionError
from mercer.kernels import Kernel
from mercer.machines import Standardize
from mercer.sources import Column
from mercer.studies.candidates import CandidateKernel, ModelFamily, candidate_kernels, on_columns
from mercer.studies.folds import MIN_IN_INNER_CLASS, pooled_error, portion, splits
from mercer.studies.grid_search import FamilyChoice, InnerFolds, choose
from mercer.studies.results import LearningCurve

__all__ = [
    "CURVE_SHARES", "InnerSelection", "OuterFold", "learning_curve", "try_families", "work_clock",
]  # fmt: skip

CURVE_SHARES = (1 / 8, 1 / 4, 1 / 2, 1.0)  # of the rows, that a learning curve learns from


@dataclass(frozen=True)
class InnerSelection:
    """Everything that is done with training rows, so that it can be done with those of a fold."""

    columns: Sequence[Column]  # what the columns were taken for
    standardize: bool
    kernel: Kernel | None  # the only one to try; heuristics are resolved on the training rows
    inner: int  # folds that choose
    most: int  # rows that choose; of more, a sample. All are learned from afterwards
    seed: int

    def split(self, X: Items, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> OuterFold:
        """Return training and test rows as machines will see them, and how to choose."""
        scale = Standardize() if self.standardize else None
        own, new = (_safe_indexing(X, rows) for rows in (train, test))
        if scale is not None:
            own, new = _drop_empty_columns(own, new)
            own = scale.fit_transform(own)
            new = scale.transform(new) if len(test) else new
        targets = y[train]
        rng = np.random.default_rng([self.seed, len(train)])
        some = portion(targets, self.most, rng)
        inner = splits(targets[some], self.inner, rng, MIN_IN_INNER_CLASS)
        inside = InnerFolds(_safe_indexing(own, some), targets[some], inner)
        return OuterFold(own, targets, new, y[test], test, inside, self.candidates(own), scale)

    def candidates(self, X: Items) -> list[CandidateKernel]:
        """Return the kernels to try on rows that are standardized."""
        if self.kernel is not None:
            return [CandidateKernel(on_columns(self.kernel, X, self.columns))]
        return candidate_kernels(X, self.columns)


def _drop_empty_columns(own: Any, new: Any) -> tuple[Any, Any]:
    """Return training and test rows without columns of which no training row has an entry."""
    if not is_frame(own):
        return own, new
    there = own.notna().any().to_numpy()
    if not there.any():
        raise DomainError(
            f"there are too few entries in {', '.join(map(repr, own.columns[:5]))}: some folds "
            "have none to learn from"
        )
    return (own, new) if there.all() else (own.loc[:, there], new.loc[:, there])


@dataclass
class OuterFold:
    """The rows of one outer fold, prepared, and what each family has made of them."""

    X: Items
    y: np.ndarray
    new: Items
    truth: np.ndarray
    test: np.ndarray
    inner: InnerFolds
    candidates: list[CandidateKernel]
    scale: Standardize | None
    choices: dict[str, FamilyChoice] = field(default_factory=dict)
    predictions: dict[str, np.ndarray] = field(default_factory=dict)

    def try_family(self, family: ModelFamily) -> None:
        """Choose for a family, and predict the held-out rows."""
        choice = choose(family, self.candidates, self.inner)
        if len(self.test):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of candidates; those of the winner are told
                machine = choice.machine().fit(self.X, self.y)
                self.predictions[family.name] = machine.predict(self.new)
        self.choices[family.name] = choice

    @property
    def winner(self) -> FamilyChoice:
        """The choice with the lowest error; of equal ones the simplest machine."""
        return min(self.choices.values(), key=lambda choice: choice.error)

    def fit_winner(self, seed: int) -> Any:
        """Return the winner, fitted to all rows of the fold, with probabilities if it has any."""
        machine = self.winner.machine()
        if self.y.dtype.kind != "f":
            machine = self.winner.family.with_probabilities(machine, len(self.y), seed)
        return machine.fit(self.X, self.y)

    def model(self, machine: BaseEstimator) -> BaseEstimator:
        """Return a fitted machine that takes rows as they are in the file."""
        if self.scale is None:
            return machine
        return Pipeline([("standardize", self.scale), ("machine", machine)])


@contextmanager
def work_clock() -> Iterator[Callable[[], float]]:
    """Yield a clock in seconds that stands still while Numba compiles.

    What is compiled at the first use is kept for later ones, so it says nothing about how long a
    machine takes, and the machines that are tried must not depend on it.
    """
    from numba.core.event import TimingListener, install_listener

    with install_listener("numba:compile", TimingListener()) as compiler:
        yield lambda: time.monotonic() - (compiler.duration if compiler.done else 0.0)


def try_families(
    folds: Sequence[OuterFold],
    families: Sequence[ModelFamily],
    deadline: float,
    step: Callable[..., None],
    clock: Callable[[], float] = time.monotonic,
) -> list[tuple[ModelFamily, str]]:
    """Let each family choose and predict on all folds, as long as there is time.

    The first one always runs. For each later one the first fold shows how long it will take; one
    that would not be done in time is left out.

    Parameters
    ----------
    folds : sequence of OuterFold
        The last one has all rows.
    families : sequence of ModelFamily
        The simplest first.
    deadline : float
        On the clock.
    step : function
        Called after each fold.

    Returns
    -------
    list of (ModelFamily, str)
        With a note why it was left out, empty if it was not.
    """
    tried: list[tuple[ModelFamily, str]] = []
    for family in families:
        limit = deadline if any(not note for _, note in tried) else np.inf
        note = _try_family(folds, family, limit, step, clock)
        if note:
            for fold in folds:
                fold.choices.pop(family.name, None)
                fold.predictions.pop(family.name, None)
        tried.append((family, note))
    if all(note for _, note in tried):
        raise SelectionError(f"{tried[0][0].cls.__name__}: {tried[0][1]}")
    return tried


def _try_family(
    folds: Sequence[OuterFold],
    family: ModelFamily,
    deadline: float,
    step: Callable[..., None],
    clock: Callable[[], float],
) -> str:
    """Let one family choose and predict on all folds; return why it was left out, if it was."""
    begin, note = clock(), ""
    if begin >= deadline:
        step(len(folds))
        return "there was no time left"
    for number, fold in enumerate(folds):
        try:
            fold.try_family(family)
        except MercerError as error:
            note = f"it could not be fitted: {error}"
        late = begin + (clock() - begin) * len(folds) > deadline
        if number == 0 and late and not note:
            note = "it would have taken longer than the time that was left"
        if note:
            step(len(folds) - number)
            return note
        step(1, family.cls.__name__)
    return ""


def learning_curve(
    folds: Sequence[OuterFold], seed: int, step: Callable[..., None] = lambda *_: None
) -> LearningCurve | None:
    """Return errors of held-out rows after learning from parts of the others.

    Kernel and parameters are those that were chosen for each fold.
    """
    sizes, errors, spreads = [], [], []
    smallest = min(len(fold.y) for fold in folds)
    classes = 0 if folds[0].y.dtype.kind == "f" else len(np.unique(folds[0].y))
    for share in CURVE_SHARES:
        if share * smallest < max(8, 2 * classes):  # rows that a machine needs to learn at all
            step(len(folds))
            continue
        count, truths, answers = [], [], []
        for number, fold in enumerate(folds):
            rng = np.random.default_rng([seed, number])
            some = portion(fold.y, max(2, round(share * len(fold.y))), rng)
            try:
                answers.append(_predict_after(fold, some))
            except MercerError:  # too few rows for this machine
                break
            count.append(len(some))
            truths.append(fold.truth)
            step(1, f"{len(some)} rows")
        if len(count) == len(folds):
            error, spread = pooled_error(truths, answers)
            sizes.append(round(float(np.mean(count))))
            errors.append(error)
            spreads.append(spread)
    if len(sizes) < 2:
        return None
    found = np.array(sizes), np.array(errors), np.array(spreads)
    return LearningCurve(*found, _verdict(*found))


def _predict_after(fold: OuterFold, some: np.ndarray) -> np.ndarray:
    """Return what the winner says about held-out rows after learning from some others."""
    if len(some) == len(fold.y):  # which it has done already
        return fold.predictions[fold.winner.family.name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about few rows, of which this is about
        machine = fold.winner.machine()
        machine.fit(_safe_indexing(fold.X, some), fold.y[some])
        return machine.predict(fold.new)


def _verdict(sizes: np.ndarray, errors: np.ndarray, spreads: np.ndarray) -> str:
    """Say what the last doubling of the rows has brought."""
    gain, noise = errors[-2] - errors[-1], float(np.hypot(spreads[-2], spreads[-1]))
    factor = sizes[-1] / sizes[-2]
    times = "twice" if 1.7 < factor < 2.3 else f"{factor:.1f} times"
    if errors[-1] == 0:
        return "No error is left that more rows could remove."
    if gain > max(0.05 * errors[-2], noise):
        return (
            f"More rows would probably help: {times} as many lowered the error by "
            f"{gain / errors[-2]:.0%}."
        )
    if gain > 0.05 * errors[-2]:
        return (
            f"More rows might help: {times} as many lowered the error by {gain / errors[-2]:.0%}, "
            "which is within the noise of the folds."
        )
    return f"More rows of the same kind would hardly help: {times} as many changed little."
