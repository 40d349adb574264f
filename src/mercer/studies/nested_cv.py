"""Nested cross-validation: each family of machines on each outer fold, and on all rows.

What is judged is the whole procedure: prepare the columns, choose kernel and parameters for each
family by inner folds, take the best family, fit it. An outer fold is predicted by what the
procedure makes of the other folds, so its rows have no part in anything that is chosen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from mercer.cluster import current
from mercer.domains import Items
from mercer.errors import MercerError, SelectionError
from mercer.kernels import Constant, Gaussian, Kernel
from mercer.machines import Calibrated, ScaledTarget
from mercer.plans import Plan
from mercer.sources import Column
from mercer.studies.arrangement import INDEPENDENT, Arrangement
from mercer.studies.candidates import (
    CALIBRATING_ROWS,
    SCALES,
    CandidateKernel,
    ModelFamily,
    candidate_kernels,
    on_columns,
)
from mercer.studies.folds import MIN_IN_INNER_CLASS, pooled_error, portion, shared_rows
from mercer.studies.grid_search import FamilyChoice, InnerFolds, choose
from mercer.studies.losses import Loss
from mercer.studies.many_rows import ManyRows, way_for_many_rows
from mercer.studies.metric_choice import choose_metric
from mercer.studies.on_cluster import choices_on
from mercer.studies.preparation import COMMON, Preparation, PreparedFold, numeric, take_rows
from mercer.studies.target_scale import AS_IT_IS, ScaleChoice, choose_scale

__all__ = ["InnerRows", "InnerSelection", "OuterFold", "error_of", "try_families"]

# Rows up to which a ridge regression is solved by a factor in double precision, and up to which
# by one in single precision: 18,000 rows of 30 columns took 16 s and 1.7 GB, in double 24 s and
# 3.6 GB, and 65 s in steps, each of which evaluates the kernel anew.
DOUBLE_ROWS, FACTORED_ROWS = 5000, 25_000
# What rounding does to a matrix in single precision is made up for by steps, which are many where
# the penalty is smaller than that. A factor in double precision then takes less time, in 3.2 GB.
SMALL_PENALTY, MAX_DOUBLE_ROWS = 1e-4, 20_000
# Relative residual of larger systems: what the answer then lacks is a thousandth of the targets'
# spread at most, far below what noise does to it.
ENOUGH = 1e-3
MAX_FITTED_ALL = 3000  # rows up to which every family is fitted to all, to tell how it would do


@dataclass(frozen=True)
class InnerRows:
    """The rows that choose, in each preparation."""

    prepared: PreparedFold
    some: np.ndarray
    splits: list[tuple[np.ndarray, np.ndarray]]
    arrangement: Arrangement = INDEPENDENT
    loss: Loss | None = None
    scale: ScaleChoice = AS_IT_IS  # on which targets are learned
    known: dict[str, InnerFolds] = field(default_factory=dict, repr=False)

    def on(self, name: str) -> InnerFolds:
        """Return rows, targets on their scale, and splits in one preparation."""
        if name not in self.known:
            rows = take_rows(self.prepared.rows(name), self.some)
            tied = self.arrangement.part(self.some)
            target = self.scale.forward(self.prepared.y[self.some])
            self.known[name] = InnerFolds(rows, target, self.splits, tied, self.loss)
        return self.known[name]


@dataclass(frozen=True)
class InnerSelection:
    """Everything that is done with training rows, so that it can be done with those of a fold.

    Attributes
    ----------
    columns : sequence of Column
        What the columns were taken for.
    preparation : Preparation
    kernel : Kernel or None
        The only one to try; heuristics are resolved on the training rows.
    inner : int
        Folds that choose.
    most : int
        Rows that choose; of more, a sample. All are learned from afterwards.
    seed : int
    exact : int
        Rows that there is time to learn from exactly.
    arrangement : Arrangement
        Which of all rows belong together, which come first and how much each counts.
    loss : Loss or None
        What is lost by wrong answers, if not as usual.
    target_scale : str
        On which numbers are learned: "auto", or the name of a power.
    """

    columns: Sequence[Column]
    preparation: Preparation
    kernel: Kernel | None
    inner: int
    most: int
    seed: int
    exact: int = 20_000
    arrangement: Arrangement = INDEPENDENT
    loss: Loss | None = None
    target_scale: str = "auto"

    def split(self, X: Items, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> OuterFold:
        """Return training and test rows as machines will see them, and how to choose."""
        targets = y[train]
        tied = self.arrangement.part(train)
        prepared = PreparedFold(
            self.preparation, take_rows(X, train), targets, take_rows(X, test), tied.groups
        )
        rng = np.random.default_rng([self.seed, len(train)])
        some = portion(targets, self.most, rng)
        inner = tied.part(some).inner(targets[some], self.inner, rng, MIN_IN_INNER_CLASS)
        return OuterFold(
            prepared, y[test], test, InnerRows(prepared, some, inner, tied, self.loss),
            self.candidates(prepared), self.seed, self.exact, tied, self.arrangement.part(test),
            self.loss, self.target_scale,
        )  # fmt: skip

    def candidates(self, prepared: PreparedFold) -> list[CandidateKernel]:
        """Return the kernels to try on prepared rows."""
        if self.kernel is not None:
            return [CandidateKernel(on_columns(self.kernel, prepared.X, self.columns))]
        if self.preparation.encode:
            found = candidate_kernels(prepared.rows("standard"), self.columns, scaled=True)
            if numeric(prepared.X, self.columns):
                found.append(CandidateKernel(Gaussian("median"), SCALES, rows=COMMON))
            return found
        return candidate_kernels(prepared.rows(""), self.columns)


@dataclass
class OuterFold:
    """The rows of one outer fold, prepared, and what each family has made of them.

    Attributes
    ----------
    prepared : PreparedFold
    truth, test : ndarray
        Targets and places of the held-out rows.
    inner : InnerRows
    candidates : list of CandidateKernel
    seed : int
    choices : dict of str to FamilyChoice
    predictions : dict of str to ndarray
        For the held-out rows, of the families that were fitted to all others.
    machine : machine or None
        The winner, fitted to all rows that are not held out.
    probabilities : ndarray or None
        What it says of the held-out rows.
    many : ManyRows or None
        How very many rows were learned from.
    """

    prepared: PreparedFold
    truth: np.ndarray
    test: np.ndarray
    inner: InnerRows
    candidates: list[CandidateKernel]
    seed: int
    exact: int
    arrangement: Arrangement = INDEPENDENT  # of the rows that are learned from
    tested: Arrangement = INDEPENDENT  # of those that are held out
    loss: Loss | None = None
    target_scale: str = "auto"
    choices: dict[str, FamilyChoice] = field(default_factory=dict)
    predictions: dict[str, np.ndarray] = field(default_factory=dict)
    machine: Any = None
    probabilities: np.ndarray | None = None
    many: ManyRows | None = None

    @property
    def y(self) -> np.ndarray:
        """The targets that are learned from, in their own unit."""
        return self.prepared.y

    @property
    def scale(self) -> ScaleChoice:
        """The scale on which they are learned."""
        return self.inner.scale

    def choose_scale(self) -> None:
        """Choose the scale on which targets are learned, before any family chooses."""
        if self.y.dtype.kind == "f":
            absolute = self.loss is not None and self.loss.absolute
            suitable = [one for one in self.candidates if not one.unbounded] or self.candidates
            rows = replace(self.inner, scale=AS_IT_IS, known={}).on(suitable[-1].rows)
            found = choose_scale(rows, suitable, self.target_scale, absolute)
            self.inner = replace(self.inner, scale=found, known={})

    def choose(self, family: ModelFamily) -> None:
        """Let a family choose its kernel and parameters."""
        if family.constant:
            same = CandidateKernel(Constant(1.0), rows=self.candidates[0].rows)
            self.choices[family.name] = choose(family, [same], self.inner)
        elif family.learned:
            self.choices[family.name] = choose_metric(family, self.inner.on("both"), self.seed)
        else:
            self.choices[family.name] = choose(family, self.candidates, self.inner)

    def take(self, family: ModelFamily, found: FamilyChoice | MercerError) -> None:
        """Take what a family has chosen elsewhere, or raise what it ended with."""
        if isinstance(found, MercerError):
            raise found
        self.choices[family.name] = found

    @property
    def winner(self) -> FamilyChoice:
        """The first choice than which no later one is better by more than noise."""
        best, *others = self.choices.values()
        for choice in others:
            if choice.error < best.error - self._noise(best.error):
                best = choice
        return best

    def _noise(self, error: float) -> float:
        """Return half a standard error of an error on the rows that choose.

        Families are compared on the same rows, which makes the noise of a difference about as
        large. The strongest families come first, and a lucky weak one is no gain.
        """
        count, loss = len(self.inner.some), self.loss
        if loss is not None and loss.matrix is not None:
            most = float(loss.matrix.max())
            return most * 0.5 * float(np.sqrt(max(error / most, 0.0) / count))
        if self.y.dtype.kind == "f":  # of the root of a mean square of normal deviations
            return float(error / np.sqrt(2 * count)) if np.isfinite(error) else 0.0
        return 0.5 * float(np.sqrt(max(error * (1 - error), 0.0) / count)) if error < 1 else 0.0

    def fit(self, choice: FamilyChoice, rows: np.ndarray | None = None, sure: bool = False) -> Any:
        """Return the machine of a choice, fitted to all rows, or some of them.

        With `sure`, it knows probabilities too if there are classes.
        """
        X, y = self.prepared.rows(choice.rows), self.y
        machine = choice.machine(X)
        if rows is None and len(y) > self.exact:
            if self.many is None:
                self.many = way_for_many_rows(
                    machine, X, self.scale.forward(y), self.exact, self.seed, self.arrangement
                )
            machine, rows = self.many.machine, self.many.rows
        tied = self.arrangement
        if rows is not None:
            X, y, tied = take_rows(X, rows), y[rows], tied.part(rows)
        if choice.family.ridge and self.many is None:
            own = float(machine.penalty)
            machine.set_params(follow=plan_of_fit(len(y), own, choice.family.learned))
        costs = None
        if self.loss is not None and self.loss.matrix is not None:
            costs = self.loss.part(np.unique(y))
        if is_classifier(machine) and (sure or costs is not None):
            machine = choice.family.with_probabilities(machine, len(y), self.seed, tied, costs)
        if self.scale.name != "none":
            machine = ScaledTarget(
                machine, self.scale.name, answer=self.scale.answer, random_state=self.seed,
                sample=CALIBRATING_ROWS,
            )  # fmt: skip
        given: dict[str, Any] = {} if tied.weights is None else {"sample_weight": tied.weights}
        if isinstance(machine, Calibrated | ScaledTarget) and not tied.independent:
            given["splits"] = self._calibrating(y, tied)
        return machine.fit(X, y, **given)

    def _calibrating(self, y: np.ndarray, tied: Arrangement) -> Any:
        """Return the splits that tell what answers are worth, of a sample of many rows."""
        rng = np.random.default_rng([self.seed, len(y), 1])
        some = tied.portion(y, CALIBRATING_ROWS, rng)
        pairs = tied.part(some).inner(y[some], 5, rng, MIN_IN_INNER_CLASS)
        return [(some[train], some[test]) for train, test in pairs]

    def predict(self, choice: FamilyChoice, machine: Any) -> np.ndarray:
        """Return what a fitted machine says of the held-out rows."""
        return machine.predict(self.prepared.new_rows(choice.rows))

    def judge(self) -> None:
        """Fit the winner, and predict the held-out rows if there are any."""
        choice = self.winner
        self.machine = self.fit(choice, sure=True)
        if not len(self.test):
            return
        new = self.prepared.new_rows(choice.rows)
        self.predictions[choice.family.name] = self.machine.predict(new)
        if hasattr(self.machine, "predict_proba"):
            self.probabilities = self.machine.predict_proba(new)

    def judge_others(self) -> None:
        """Let the other families predict the held-out rows, where that takes little time."""
        if not len(self.test) or len(self.y) > MAX_FITTED_ALL:
            return
        for name, choice in self.choices.items():
            if name not in self.predictions:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of those that were not chosen
                    self.predictions[name] = self.predict(choice, self.fit(choice))

    def model(self) -> BaseEstimator:
        """Return the winner as a machine that takes rows as they are in the file."""
        return self.prepared.model(self.winner.rows, self.machine)


def plan_of_fit(rows: int, penalty: float, learned: bool = True) -> Plan | None:
    """Return how a ridge regression on so many rows is solved.

    Examples
    --------
    >>> plan_of_fit(20_000, 0.01)
    Plan(solver='cholesky', precision='single', tol=0.001)
    >>> plan_of_fit(20_000, 1e-6)
    Plan(solver='cholesky', precision='double')
    """
    small = penalty < SMALL_PENALTY
    if rows > (MAX_DOUBLE_ROWS if small else FACTORED_ROWS):
        return Plan(tol=ENOUGH)
    if rows > DOUBLE_ROWS and small:
        return Plan(solver="cholesky", precision="double")
    if rows > DOUBLE_ROWS:
        return Plan(solver="cholesky", precision="single", tol=ENOUGH)
    return Plan(solver="cholesky") if learned else None


def error_of(folds: Sequence[OuterFold], answers: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the error of what was answered for the held-out rows, and its standard error."""
    truths, tied = [fold.truth for fold in folds], [fold.tested for fold in folds]
    return pooled_error(truths, answers, tied, folds[0].loss, shared_by(folds))


def shared_by(folds: Sequence[OuterFold]) -> float:
    """Return what folds add to the variance of an error by learning from the same rows."""
    return shared_rows([len(fold.test) for fold in folds], [len(fold.y) for fold in folds])


def try_families(
    folds: Sequence[OuterFold], families: Sequence[ModelFamily], step: Callable[..., None]
) -> list[tuple[ModelFamily, str]]:
    """Let each family choose on all folds.

    Parameters
    ----------
    folds : sequence of OuterFold
        The last one has all rows.
    families : sequence of ModelFamily
    step : function
        Called after each fold.

    Returns
    -------
    list of (ModelFamily, str)
        With a note why it was left out, empty if it was not.
    """
    tried: list[tuple[ModelFamily, str]] = []
    cluster = current()
    known = None
    if cluster is not None:
        known = choices_on(cluster, folds, families, step)
        step = lambda *_: None  # noqa: E731 (all has been told)
    for family in families:
        note = ""
        for number, fold in enumerate(folds):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of candidates; those of the winner are told
                    if known is None:
                        fold.choose(family)
                    else:
                        fold.take(family, known[number, family.name])
            except MercerError as error:
                note = f"it could not be fitted: {error}"
                step(len(folds) - number)
                break
            step(1, family.label)
        if note:
            for fold in folds:
                fold.choices.pop(family.name, None)
        tried.append((family, note))
    if all(note or family.constant for family, note in tried):
        raise SelectionError(f"{tried[0][0].label}: {tried[0][1]}")
    return tried
