"""A study: what was tried, what was found, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.machines.conforming.known_errors import KnownErrors
from mercer.sources import BadRow, Sheet
from mercer.sources.table_reader import with_reader
from mercer.studies.arrangement import INDEPENDENT, Arrangement
from mercer.studies.attention import ColumnAttention
from mercer.studies.column_effect import ColumnEffect
from mercer.studies.covered import Coverage
from mercer.studies.horizon import Horizon
from mercer.studies.judged_table import JudgedTable
from mercer.studies.losses import Loss
from mercer.studies.measures import NOTHING_MEASURED, Measures
from mercer.studies.reference import Reference
from mercer.studies.shares import ColumnShares

__all__ = [
    "Attempt",
    "Example",
    "HeldOutPredictions",
    "LearningCurve",
    "Neighbor",
    "Study",
    "Surface",
    "UnsampledRows",
]


USUAL = Loss("misclassification rate or root mean squared error")  # by the kind of the target


@dataclass(frozen=True)
class Attempt:
    """One kind of machine, with its parameters chosen inside each outer fold.

    Attributes
    ----------
    machine : str
        The name of its class.
    candidates : int
        How many combinations of kernels and parameters were compared.
    error, error_se : float
        Of the outer folds, if this kind had been the only one; NaN if it was left out.
    inner : float
        The error by which it was compared with the others in the end, of inner folds of all rows
        (of a sample, if they are many); too good, because it also chose the parameters. NaN if it
        was left out.
    wins : int
        In how many outer folds it was chosen.
    chosen : bool
        Whether it is the one in the end.
    note : str
        Why it was left out, if it was.

    Examples
    --------
    >>> tried = Attempt("SVC", candidates=12, error=0.05, error_se=0.01, chosen=True)
    >>> tried.machine, tried.error, tried.chosen
    ('SVC', 0.05, True)
    """

    machine: str
    candidates: int = 0
    error: float = float("nan")
    error_se: float = float("nan")
    inner: float = float("nan")
    wins: int = 0
    chosen: bool = False
    note: str = ""


@dataclass(frozen=True)
class Surface:
    """The errors by which the parameters of the chosen machine were chosen.

    Attributes
    ----------
    rows : tuple of str
        Kernels.
    parameter : str
        The name of the other parameter ("penalty", "C", …), or "" if there is none.
    values : tuple of float
        Its values.
    errors : ndarray of shape (kernels, values)
        Mean error of the inner folds of the rows that choose: all, or of many a sample.

    Examples
    --------
    >>> found = Surface(("Linear()",), "C", (1.0, 10.0), np.array([[0.2, 0.1]]))
    >>> found.values[int(found.errors[0].argmin())]
    10.0
    """

    rows: tuple[str, ...]
    parameter: str
    values: tuple[float, ...]
    errors: np.ndarray


@dataclass(frozen=True)
class LearningCurve:
    """Errors on held-out rows against the number of rows learned from.

    Attributes
    ----------
    sizes : ndarray of int
    errors, standard_errors : ndarray of float
    verdict : str
        Whether more rows would help, in words.

    Examples
    --------
    >>> sizes, errors = np.array([50, 100]), np.array([0.3, 0.2])
    >>> curve = LearningCurve(sizes, errors, np.array([0.03, 0.02]), "more rows would help")
    >>> curve.verdict
    'more rows would help'
    """

    sizes: np.ndarray
    errors: np.ndarray
    standard_errors: np.ndarray
    verdict: str


@dataclass(frozen=True)
class HeldOutPredictions:
    """What was predicted for rows by machines that had not seen them.

    Attributes
    ----------
    prediction : ndarray
        As `Study.truth`.
    probabilities : ndarray of shape (rows, classes) or None
        In the order of `Study.classes`.
    fold : ndarray of int
        The outer fold in which each row was held out.
    rows : ndarray of int
        Which rows of the study these are; all of them, unless there are very many.

    Examples
    --------
    >>> found = HeldOutPredictions(np.array([1.0, 2.0]), None, np.array([0, 1]), np.arange(2))
    >>> found.prediction[found.fold == 1]
    array([2.])
    """

    prediction: np.ndarray
    probabilities: np.ndarray | None
    fold: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True)
class UnsampledRows:
    """Rows of a large file that were not learned from, predicted by the machine in the end.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers in the file.
    y, prediction : ndarray
    probabilities : ndarray of shape (rows, classes) or None
    error, error_se : float
        Of these rows.
    bad : tuple of BadRow
        Rows that could not be read.

    Examples
    --------
    >>> some = np.array(["a", "b"])
    >>> found = UnsampledRows(np.array([7, 9]), some, some, None, error=0.0, error_se=0.0)
    >>> found.rows.tolist(), found.error
    ([7, 9], 0.0)
    """

    rows: np.ndarray
    y: np.ndarray
    prediction: np.ndarray
    probabilities: np.ndarray | None
    error: float
    error_se: float
    bad: tuple[BadRow, ...] = ()


@dataclass(frozen=True)
class Neighbor:
    """A row that is like another one: its place in the study, and the similarity (at most 1).

    Parameters
    ----------
    place : int
    similarity : float

    Examples
    --------
    >>> Neighbor(place=5, similarity=0.9)
    Neighbor(place=5, similarity=0.9)
    """

    place: int
    similarity: float


@dataclass(frozen=True)
class Example:
    """A row worth looking at, with the rows of the others that are most like it.

    Attributes
    ----------
    place : int
        Which row of the study.
    reason : str
        Why it is shown, in a few words.
    neighbors : tuple of Neighbor

    Examples
    --------
    >>> Example(3, "most like its class", (Neighbor(5, 0.9),)).neighbors[0].similarity
    0.9
    """

    place: int
    reason: str
    neighbors: tuple[Neighbor, ...]


@dataclass(frozen=True, eq=False)
class Study:
    """What `mercer.study` has found.

    Attributes
    ----------
    task : {"classify", "regress"}
    sheet : Sheet
        The rows and columns that were learned from.
    machine : machine, or a pipeline that ends with one
        Fitted to all rows of the sheet; it takes a DataFrame with the columns of ``sheet.X``.
    classes : ndarray or None
    error, error_se : float
        Share of wrong labels, or root mean squared error, of all held-out rows, and its standard
        error: from the spread of the outer folds, or of the rows if that is larger. Everything
        that was chosen, the kind of machine included, was chosen without the rows that judge it.
    baseline_error : float
        The same for an answer that looks at nothing: the most frequent class, or the mean.
    kernel : str
        The formula of the chosen kernel, in the notation of `mercer.kernels.parse`.
    parameters : dict
        What else was chosen for the machine.
    attempts : tuple of Attempt
        The kinds of machines that were tried, the strongest first.
    surface : Surface
    curve : LearningCurve or None
        None where there are too few rows to learn from parts of them.
    held_out : HeldOutPredictions
    typical, confused : tuple of Example
        Rows that are most like their own class (or the middle of all rows), and rows about which
        the machine was most wrong.
    warnings : tuple of str
        What should make a reader careful, in plain words.
    notes : tuple of str
        What was done, in plain words: scaling, samples, rare classes.
    folds : tuple of int
        How many outer and inner folds.
    seed : int
    budget : float
    timings : dict of str to float
        Seconds.
    rest : UnsampledRows or None
        The other rows, where only a sample of the file was learned from.
    measures : Measures
        What the held-out predictions of classes are worth beyond their error.
    references : tuple of Reference
        What a linear model and boosted trees make of the same folds.
    attention : ColumnAttention or None
        How much each column matters, where a metric was learned.
    effects : tuple of ColumnEffect
        What the model answers along the values of the columns that matter most.
    loss : Loss
        What is lost by wrong answers, of which `error` is the mean (the root of the mean of
        squares).
    horizons : tuple of Horizon
        Errors by how far ahead of what was known rows lie, where they have a time.
    test : JudgedTable or None
        How the machine did on a table that was kept aside.
    known_errors : KnownErrors or None
        How wrong answers were about held-out rows, from which intervals and sets of new rows
        follow; None for a machine without probabilities.
    coverage : Coverage or None
        How often they hold the truth, in all and of some kinds of rows.
    shares : ColumnShares or None
        How much each column contributed to held-out answers, where that can be divided.
    held_out_error : tuple of float, or None
        The error and its standard error as measured in the outer folds, whose machines have
        learned from fewer rows. `error` is smaller where more rows clearly help.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.studies import study
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> found = study(rows, "animal", machine="prototype", budget=5)
    >>> found.task, found.error, found.baseline_error
    ('classify', 0.0, 0.5)
    """

    task: str
    sheet: Sheet
    machine: Any
    classes: np.ndarray | None
    error: float
    error_se: float
    baseline_error: float
    kernel: str
    parameters: dict[str, Any]
    attempts: tuple[Attempt, ...]
    surface: Surface
    curve: LearningCurve | None
    held_out: HeldOutPredictions
    typical: tuple[Example, ...]
    confused: tuple[Example, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    folds: tuple[int, int]
    seed: int
    budget: float
    timings: dict[str, float]
    rest: UnsampledRows | None = None
    measures: Measures = NOTHING_MEASURED
    references: tuple[Reference, ...] = ()
    attention: ColumnAttention | None = None
    effects: tuple[ColumnEffect, ...] = ()
    loss: Loss = USUAL
    horizons: tuple[Horizon, ...] = ()
    test: JudgedTable | None = None
    known_errors: KnownErrors | None = None
    coverage: Coverage | None = None
    shares: ColumnShares | None = None
    held_out_error: tuple[float, float] | None = None

    @property
    def judged_error(self) -> tuple[float, float]:
        """The error that the outer folds measured, to compare with others of these folds."""
        return self.held_out_error or (self.error, self.error_se)

    @property
    def extrapolated(self) -> bool:
        """Whether less is expected of the machine in the end than the outer folds measured."""
        return self.error < self.judged_error[0]

    @property
    def X(self) -> Any:
        """The rows that were learned from."""
        return self.sheet.X

    @property
    def y(self) -> np.ndarray:
        """Their targets."""
        assert self.sheet.y is not None
        return self.sheet.y

    @property
    def model(self) -> Any:
        """The machine as one object that takes raw tables, as the file of the model holds it."""
        return with_reader(self.machine, self.sheet)

    @property
    def truth(self) -> np.ndarray:
        """The targets of the rows that were held out, as `held_out` has them."""
        return self.y[self.held_out.rows]

    @property
    def tied(self) -> Arrangement:
        """What ties the rows together that were held out: groups, times and weights."""
        roles = self.sheet.roles
        if roles is None:
            return INDEPENDENT
        return Arrangement(roles.groups, roles.time, roles.weights).part(self.held_out.rows)

    @property
    def measure(self) -> str:
        """What `error` is."""
        if self.loss is not USUAL:
            return self.loss.name
        wrong = self.task == "classify"
        return "misclassification rate" if wrong else "root mean squared error"

    @property
    def unit(self) -> str:
        """How errors are written: "classify" as shares in percent, "regress" as amounts."""
        share = self.loss.share or (self.loss is USUAL and self.task == "classify")
        return "classify" if share else "regress"

    @property
    def always(self) -> Any:
        """The one answer that loses least, of those that were held out."""
        weights = self.tied.weights
        return self.loss.constant(
            self.truth, np.ones(len(self.truth)) if weights is None else weights
        )

    def __str__(self) -> str:
        unit = "{:.1%}" if self.unit == "classify" else "{:.4g}"
        error, spread, plain = (
            unit.format(value) for value in (self.error, self.error_se, self.baseline_error)
        )
        chosen = next(attempt for attempt in self.attempts if attempt.chosen)
        more = "".join(f", {name}={value:.3g}" for name, value in self.parameters.items())
        looks = "the most frequent class" if self.task == "classify" else "the mean"
        if self.loss.matrix is not None or self.loss.absolute:
            looks = "always saying the same"
        learned = self.error < self.baseline_error or self.measures.informative
        lines = [] if learned else ["nothing was learned"]
        lines += [
            f"{self.measure} {error} ± {spread} on new rows; by {looks} {plain}",
            f"{chosen.machine}({self.kernel}{more})",
        ]
        for attempt in self.attempts:
            told = attempt.note or "{} ± {}".format(
                *(unit.format(value) for value in (attempt.error, attempt.error_se))
            )
            lines.append(f"  {attempt.machine}: {told}")
        return "\n".join([*lines, *self.warnings])
