"""Learning: what is fitted with items held out, and how wrong it is about them."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from mercer.domains import Items
from mercer.errors import DomainError, ValidityError
from mercer.machines.calibrated import Calibrated
from mercer.machines.conforming.closed_form import LeftOutAnswers, answers_without, has_closed_form
from mercer.machines.conforming.fold_machines import (
    FoldMachine,
    TrainingRows,
    deal_folds,
    fit_fold,
    last_of,
    splits,
)
from mercer.machines.conforming.label_scores import label_scores, parts
from mercer.machines.quantile import KernelQuantile

__all__ = ["METHODS", "HoldingOut", "Learned", "chances", "method_of", "parts_for", "widths_of"]

METHODS = ("auto", "jackknife+", "cv+", "split")
JACKKNIFE_ITEMS = 1000  # up to which "auto" leaves out one at a time: n² numbers are kept
MIN_SPLIT = 4  # items of which some teach and others are held out


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned.

    Attributes
    ----------
    machine : fitted machine
        That answers.
    scores : ndarray of shape (n,)
        How wrong each item's fold was about it.
    fold : ndarray of int
        −1 of items that were not held out.
    folds : list of FoldMachine
    left_out : LeftOutAnswers or None
        In the place of the machines of folds.
    """

    machine: Any
    scores: np.ndarray
    fold: np.ndarray
    folds: list[FoldMachine] = field(default_factory=list)
    left_out: LeftOutAnswers | None = None


@dataclass(frozen=True, eq=False)
class HoldingOut:
    """How items are held out; the parameters are those of `Conformal`."""

    machine: Any
    method: str
    widths: str
    sizes: Any
    sets: str
    level: float
    folds: int
    share: float
    rng: np.random.RandomState
    must: bool  # whether the method was asked for

    def numbers(self, rows: TrainingRows) -> Learned | None:
        """Learn numbers; None where the closed form that was not asked for loses its digits."""
        fold = self._deal(rows, None)
        if self.method == "split":
            return self._split(rows, fold)
        machine = rows.fit(self.machine)
        if self.widths == "constant" and has_closed_form(self.machine):
            removals = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]
            found = answers_without(machine, rows.X, rows.y, removals, rows.weights)
            if found is not None:
                return Learned(machine, np.abs(found.residuals), fold, left_out=found)
            if self.method == "jackknife+":
                if self.must:
                    raise ValidityError(_LOST)
                return None
        folds, scores = [], np.zeros(len(rows))
        for train, test in splits(fold):
            one = self._fold(rows.part(train))
            scores[test] = one.scores(_safe_indexing(rows.X, test), rows.y[test])
            folds.append(one)
        return Learned(machine, scores, fold, folds)

    def labels(self, rows: TrainingRows, codes: np.ndarray, classes: np.ndarray) -> Learned:
        """Learn labels."""
        sure = hasattr(self.machine, "predict_proba")
        base = self.machine if sure else Calibrated(self.machine)
        fold = self._deal(rows, codes)
        folds, P = [], np.zeros((len(rows), len(classes)))
        pairs = [(np.flatnonzero(fold < 0), np.flatnonzero(fold == 0))]
        for train, test in pairs if self.method == "split" else splits(fold):
            one = FoldMachine(rows.part(train).fit(base))
            P[test] = chances(one.machine, _safe_indexing(rows.X, test), classes)
            folds.append(one)
        machine = folds[0].machine if self.method == "split" else rows.fit(base)
        ranked = label_scores(P, self.sets, parts_for(self.sets, machine, rows.X))
        return Learned(machine, ranked[np.arange(len(rows)), codes], fold, folds)

    def _split(self, rows: TrainingRows, fold: np.ndarray) -> Learned:
        train, test = np.flatnonzero(fold < 0), np.flatnonzero(fold == 0)
        part, scores = rows.part(train), np.zeros(len(rows))
        only = self._fold(part)
        scores[test] = only.scores(_safe_indexing(rows.X, test), rows.y[test])
        own = self.widths == "quantile" and not isinstance(last_of(self.machine), KernelQuantile)
        machine = part.fit(self.machine) if own else only.machine
        return Learned(machine, scores, fold, [only])

    def _fold(self, rows: TrainingRows) -> FoldMachine:
        return fit_fold(self.machine, rows, self.widths, self.sizes, self.level, self.rng)

    def _deal(self, rows: TrainingRows, codes: np.ndarray | None) -> np.ndarray:
        """Return the fold of each item; −1 of those that are not held out."""
        if self.method == "jackknife+":
            return np.arange(len(rows)) if rows.groups is None else rows.groups
        if self.method == "cv+":
            return deal_folds(rows, codes, self.folds, self.rng)
        if len(rows) < MIN_SPLIT:
            raise DomainError(f"a split needs at least {MIN_SPLIT} items, found {len(rows)}")
        fold = deal_folds(rows, codes, max(round(1 / self.share), 2), self.rng)
        return np.where(fold == 0, 0, -1)


_LOST = (
    "leaving out items loses too many digits with this kernel and penalty; use a larger penalty, "
    'or method="cv+" or "split", which fit again'
)


def widths_of(machine: BaseEstimator, widths: str) -> str:
    """Return which widths there will be: quantiles are always bounds."""
    last = last_of(machine)
    several = isinstance(last, KernelQuantile) and not isinstance(last.level, numbers.Real)
    return "quantile" if several else widths


def method_of(machine: BaseEstimator, asked: str, widths: str, count: int) -> str:
    """Return how items are held out.

    Examples
    --------
    >>> from mercer import SVR, KernelRidge
    >>> [method_of(one, "auto", "constant", 100) for one in (KernelRidge(), SVR())]
    ['jackknife+', 'cv+']
    """
    closed = widths == "constant" and has_closed_form(machine)
    if asked == "jackknife+" and not closed:
        raise ValidityError(
            "leaving out one item at a time takes a closed form, which "
            f'{type(last_of(machine)).__name__} with widths="{widths}" does not have; use '
            'method="cv+" or "split"'
        )
    if asked != "auto":
        return asked
    sketched = not getattr(machine, "similarities_suffice", True)
    return "jackknife+" if closed and count <= JACKKNIFE_ITEMS and not sketched else "cv+"


def chances(machine: BaseEstimator, X: Items, classes: np.ndarray) -> np.ndarray:
    """Return the probability of each class, 0 for one that a fold's machine has not seen."""
    found = np.asarray(machine.predict_proba(X), dtype=np.float64)
    known = machine.classes_
    if len(known) == len(classes):
        return found
    P = np.zeros((len(found), len(classes)))
    P[:, np.searchsorted(classes, known)] = found
    return P


def parts_for(sets: str, machine: BaseEstimator, X: Items) -> np.ndarray | None:
    """Return which part of its own probability counts for a label, the same for all folds."""
    return parts(machine.predict_proba(X)) if sets == "adaptive" else None
