"""The contest: each kind of machine on each outer fold, and on all rows for later use.

What is judged is the whole procedure: standardize, choose kernel and parameters for each kind of
machine by inner folds, take the best kind, fit it. An outer fold is predicted by what the
procedure makes of the other folds, so its rows have no part in anything that is chosen.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.domains import is_frame
from mercer.errors import DomainError, MercerError, SelectionError
from mercer.kernels import Kernel
from mercer.machines import Standardize
from mercer.sources import Column
from mercer.studies.choice import Choice, Task, choose
from mercer.studies.families import Family
from mercer.studies.folds import PAIR, portion, splits
from mercer.studies.proposals import Proposal, placed, propose

__all__ = ["Arena", "Procedure", "Round", "contest"]


@dataclass(frozen=True)
class Procedure:
    """Everything that is done with training rows, so that it can be done with those of a fold.

    Attributes
    ----------
    columns : sequence of Column
        What the columns were taken for.
    standardize : bool
    kernel : Kernel, optional
        The only one to try; heuristics are resolved on the training rows.
    inner : int
        Folds that choose.
    most : int
        Rows that choose; of more, a sample. All are learned from afterwards.
    seed : int
    """

    columns: Sequence[Column]
    standardize: bool
    kernel: Kernel | None
    inner: int
    most: int
    seed: int

    def arena(self, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Arena:
        """Return training and test rows as machines will see them, and how to choose."""
        scale = Standardize() if self.standardize else None
        own, new = (_safe_indexing(X, rows) for rows in (train, test))
        if scale is not None:
            own, new = _with_entries(own, new)
            own = scale.fit_transform(own)
            new = scale.transform(new) if len(test) else new
        targets = y[train]
        rng = np.random.default_rng([self.seed, len(train)])
        some = portion(targets, self.most, rng)
        inner = splits(targets[some], self.inner, rng, PAIR)
        task = Task(_safe_indexing(own, some), targets[some], inner)
        return Arena(own, targets, new, y[test], test, task, self.proposals(own), scale)

    def proposals(self, X: Any) -> list[Proposal]:
        """Return the kernels to try on rows that are standardized."""
        if self.kernel is not None:
            return [Proposal(placed(self.kernel, X, self.columns))]
        return propose(X, self.columns)


def _with_entries(own: Any, new: Any) -> tuple[Any, Any]:
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
class Arena:
    """The rows of one outer fold, prepared, and what each kind of machine has made of them."""

    X: Any
    y: np.ndarray
    new: Any
    truth: np.ndarray
    test: np.ndarray
    task: Task
    proposals: list[Proposal]
    scale: Standardize | None
    choices: dict[str, Choice] = field(default_factory=dict)
    predictions: dict[str, np.ndarray] = field(default_factory=dict)

    def admit(self, family: Family) -> None:
        """Choose for a kind of machine, and predict the held-out rows."""
        choice = choose(family, self.proposals, self.task)
        if len(self.test):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of candidates; those of the winner are told
                machine = choice.machine().fit(self.X, self.y)
                self.predictions[family.name] = machine.predict(self.new)
        self.choices[family.name] = choice

    @property
    def winner(self) -> Choice:
        """The choice with the lowest error; of equal ones the simplest machine."""
        return min(self.choices.values(), key=lambda choice: choice.error)

    def fitted(self, seed: int) -> Any:
        """Return the winner, fitted to all rows of the arena, with probabilities if it has any."""
        machine = self.winner.machine()
        if self.y.dtype.kind != "f":
            machine = self.winner.family.with_probabilities(machine, len(self.y), seed)
        return machine.fit(self.X, self.y)

    def model(self, machine: Any) -> Any:
        """Return a fitted machine that takes rows as they are in the file."""
        if self.scale is None:
            return machine
        return Pipeline([("standardize", self.scale), ("machine", machine)])


@dataclass(frozen=True)
class Round:
    """What came of one kind of machine: nothing, if there is a note why it was left out."""

    family: Family
    note: str = ""


def contest(
    arenas: Sequence[Arena],
    families: Sequence[Family],
    deadline: float,
    step: Callable[..., None],
    clock: Callable[[], float] = time.monotonic,
) -> list[Round]:
    """Let each kind of machine choose and predict on all folds, as long as there is time.

    The first one always runs. For each later one the first fold shows how long it will take; one
    that would not be done in time is left out.

    Parameters
    ----------
    arenas : sequence of Arena
        The last one has all rows.
    families : sequence of Family
        The simplest first.
    deadline : float
        On the clock.
    step : function
        Called after each fold.
    """
    rounds: list[Round] = []
    for family in families:
        begin = clock()
        something = any(not one.note for one in rounds)
        if something and begin >= deadline:
            rounds.append(Round(family, "there was no time left"))
            step(len(arenas))
            continue
        note = ""
        for number, arena in enumerate(arenas):
            try:
                arena.admit(family)
            except MercerError as error:
                note = f"it could not be fitted: {error}"
            late = begin + (clock() - begin) * len(arenas) > deadline
            if number == 0 and something and late and not note:
                note = "it would have taken longer than the time that was left"
            if note:
                step(len(arenas) - number)
                break
            step(1, family.cls.__name__)
        if note:
            for arena in arenas:
                arena.choices.pop(family.name, None)
                arena.predictions.pop(family.name, None)
        rounds.append(Round(family, note))
    if all(one.note for one in rounds):
        raise SelectionError(f"{rounds[0].family.cls.__name__}: {rounds[0].note}")
    return rounds
