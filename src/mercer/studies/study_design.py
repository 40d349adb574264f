"""The design of a study: what it will do, before it does it."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from mercer.domains import is_frame
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels import Kernel, named, parse
from mercer.progress import progress
from mercer.sources import Sheet, read, read_frame
from mercer.studies.candidates import ModelFamily, families, on_columns
from mercer.studies.examples import find_examples
from mercer.studies.findings import findings
from mercer.studies.folds import MIN_IN_CLASS, baseline_error, pooled_error, rare, splits
from mercer.studies.nested_cv import (
    CURVE_SHARES,
    InnerSelection,
    OuterFold,
    learning_curve,
    try_families,
    work_clock,
)
from mercer.studies.results import Attempt, HeldOutPredictions, Study
from mercer.studies.saved import predict_unsampled

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StudyDesign", "design", "study"]

TASKS = ("classify", "regress")
MIN_ROWS = 6  # of fewer nothing can be said
# Rows that a minute allows: all of them are learned from, some of them choose parameters. Work
# grows with the cube of the rows, so that eight times the time allows twice as many.
LEARNED_PER_MINUTE, CHOOSING_PER_MINUTE = 5000, 1000
MIN_LEARNED, MAX_LEARNED = 1000, 40_000


def study(
    data: str | os.PathLike[str] | pd.DataFrame | Sheet,
    target: str | None = None,
    *,
    task: str | None = None,
    kernel: Kernel | str | None = None,
    machine: str | None = None,
    budget: float = 60.0,
    types: dict[str, str] | None = None,
    skip_bad: bool = False,
    seed: int = 0,
    show: bool | None = None,
) -> Study:
    """Find a machine for a table, and say honestly how well it will do on new rows.

    A few kinds of machines are tried, with kernels that suit the columns. Kernel, parameters and
    the kind of machine are chosen by inner folds; the outer folds judge the whole procedure.

    Parameters
    ----------
    data : path, DataFrame or Sheet
        A table (CSV, TSV, Parquet, Arrow), LIBSVM text, FASTA, or a folder of TU graphs.
    target : str, optional
        The column to predict; for formats that have one of their own it is not needed.
    task : {"classify", "regress"}, optional
        By default it is guessed from the target.
    kernel : Kernel or str, optional
        The only kernel to try, also as text in the notation of `mercer.kernels.parse`. It sees the
        columns as they are; otherwise numbers are standardized first.
    machine : str, optional
        The only machine to try: "prototype", "exemplar", "ridge", "svm", …
    budget : float
        Seconds. It decides how many rows are learned from, and which machines are left out.
    types : dict, optional
        What columns are to be taken for, such as ``{"zip": "categorical"}``.
    skip_bad : bool
        Whether rows that cannot be read are left out. Otherwise they are an error.
    seed : int
        The same seed gives the same answer.
    show : bool, optional
        Whether to draw a progress bar; by default in interactive sessions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> flowers = load_iris(as_frame=True).frame
    >>> found = study(flowers, "target", task="classify", machine="ridge")
    >>> found.error < 0.1, round(found.baseline_error, 2)
    (True, 0.67)
    """
    return design(
        data, target, task=task, kernel=kernel, machine=machine, budget=budget, types=types,
        skip_bad=skip_bad, seed=seed,
    ).run(show)  # fmt: skip


def design(
    data: str | os.PathLike[str] | pd.DataFrame | Sheet,
    target: str | None = None,
    *,
    task: str | None = None,
    kernel: Kernel | str | None = None,
    machine: str | None = None,
    budget: float = 60.0,
    types: dict[str, str] | None = None,
    skip_bad: bool = False,
    seed: int = 0,
) -> StudyDesign:
    """Return what `study` would do, with the same arguments; everything is read and checked."""
    if task is not None and task not in TASKS:
        raise ValidityError(f"task cannot be {task!r}{suggestion(task, TASKS)}")
    if not (math.isfinite(budget) and budget > 0):
        raise ValidityError(f"budget must be a positive number of seconds, found {budget!r}")
    if isinstance(kernel, str):
        kernel = parse(kernel) if "(" in kernel else named(kernel)
    limit = _rows(LEARNED_PER_MINUTE, budget, kernel)
    sheet = _sheet(data, target, types, skip_bad=skip_bad, limit=limit, seed=seed, task=task)
    found = "regress" if sheet.y.dtype.kind == "f" else "classify"  # type: ignore[union-attr]
    largest, classes = _require_learnable(sheet)
    chosen, left = families(found, machine, classes)
    if kernel is not None:
        on_columns(kernel, _safe_indexing(sheet.X, [0]), sheet.columns)
    procedure = InnerSelection(
        columns=sheet.columns,
        standardize=kernel is None and not sparse.issparse(sheet.X),
        kernel=kernel,
        inner=5,
        most=_rows(CHOOSING_PER_MINUTE, budget, kernel),
        seed=seed,
    )
    outer = min(10 if len(sheet) <= 200 else 5, largest)  # of many rows fewer folds judge as well
    return StudyDesign(found, sheet, procedure, chosen, left, outer, budget)


def _rows(count: int, budget: float, kernel: Kernel | None) -> int:
    slow = 4 if kernel is not None and kernel.slow else 1  # times fewer rows
    scaled = count * (budget / 60.0) ** (1 / 3) / slow
    return int(np.clip(scaled, MIN_LEARNED / slow, MAX_LEARNED))


def _sheet(data: object, target: str | None, types: dict[str, str] | None, **how: Any) -> Sheet:
    """Return the rows of a file or a DataFrame, with a target."""
    if isinstance(data, Sheet):
        sheet = data
    elif isinstance(data, str | os.PathLike):
        sheet = read(data, target, types, **how)
    elif is_frame(data):
        sheet = read_frame(data, target, types, **how)
    else:
        raise DomainError(
            f"data must be the path of a file or a DataFrame, found {type(data).__name__}"
        )
    if sheet.y is None:
        names = ", ".join(repr(column.name) for column in sheet.columns[:12])
        more = ", …" if len(sheet.columns) > 12 else ""
        raise DomainError(
            f"say which column is to be predicted (--target / target); there are {names}{more}"
        )
    if not len(sheet.used):
        raise DomainError(
            "there is no column to learn from: "
            + "; ".join(f"{c.name!r} is {c.kind} ({c.why})" for c in sheet.columns[:5])
        )
    return sheet


def _require_learnable(sheet: Sheet) -> tuple[int, int]:
    """Return the rows of the largest class and the number of classes (all rows, 0 for numbers).

    Refuses what nothing can be said about.
    """
    y: Any = sheet.y
    name = repr(sheet.target.name) if sheet.target else "the target"
    if len(y) < MIN_ROWS:
        rows = "1 row" if len(y) == 1 else f"{len(y)} rows"
        raise DomainError(
            f"there are only {rows}; at least {MIN_ROWS} are needed to learn and judge"
        )
    if y.dtype.kind == "f":
        width = float(y.max() / 2 - y.min() / 2)
        if not (width == 0 or 1e-100 <= width <= 1e100):  # squares beyond over- or underflow
            raise DomainError(
                f"the numbers of {name} differ by {width:.0e}, whose squares no "
                "computer can hold; write them in another unit"
            )
        return len(y), 0
    counts = np.unique(y[~rare(y)], return_counts=True)[1]
    if len(counts) < 2:
        raise DomainError(
            f"fewer than two classes of {name} have {MIN_IN_CLASS} rows or more, so there is "
            "nothing to learn; if its values are numbers to be predicted, say so "
            '(--kind regress, task="regress")'
        )
    return int(counts.max()), len(counts)


@dataclass(frozen=True, eq=False)
class StudyDesign:
    """What a study will do. Made by `design`; `run` does it.

    Attributes
    ----------
    task : {"classify", "regress"}
    sheet : Sheet
    procedure : InnerSelection
    families : list of ModelFamily
        The kinds of machines to try.
    left_out : list of (ModelFamily, str)
        Those that are not tried, and why.
    outer : int
        Folds that judge.
    budget : float
        Seconds.
    """

    task: str
    sheet: Sheet
    procedure: InnerSelection
    families: list[ModelFamily]
    left_out: list[tuple[ModelFamily, str]]
    outer: int
    budget: float

    def explain(self) -> str:
        """Say in words what will be done."""
        names = ", ".join(family.cls.__name__ for family in self.families)
        lines = [
            f"{self.outer} outer folds judge, {self.procedure.inner} inner folds choose among "
            f"{names} and these kernels:"
        ]
        lines += [f"  {candidate.kernel}" for candidate in self._everything().candidates]
        return "\n".join([*lines, *self.notes()])

    def notes(self) -> tuple[str, ...]:
        """Say what a reader of the result should know about how it was made."""
        found = list(self.sheet.notes)
        rows, most = len(self.sheet), self.procedure.most
        if self.procedure.kernel is not None:
            found.append("The kernel was given; it sees the columns as they are in the file.")
        elif self.procedure.standardize and _has_numbers(self.sheet.X):
            found.append(
                "Columns of numbers are standardized on the rows that are learned from: mean 0 "
                "and standard deviation 1. A gap becomes the mean, and a column says where it was."
            )
        if rows > most:
            found.append(
                f"Kernel and parameters are chosen on {most} rows; the machine is then fitted to "
                "all that are learned from."
            )
        found += [f"{family.cls.__name__} is left out: {why}." for family, why in self.left_out]
        return tuple(found)

    def _everything(self) -> OuterFold:
        """Return the fold of all rows that can be learned from."""
        y: Any = self.sheet.y
        rows = np.flatnonzero(~rare(y))
        return self.procedure.split(self.sheet.X, y, rows, np.zeros(0, dtype=np.int64))

    def run(self, show: bool | None = None) -> Study:
        """Carry the study out."""
        begin = time.monotonic()
        y: Any = self.sheet.y
        seed = self.procedure.seed
        outer = splits(y, self.outer, np.random.default_rng(seed))
        folds = [self.procedure.split(self.sheet.X, y, *split) for split in outer]
        everything = self._everything()
        steps = (len(self.families) + 1) * (self.outer + 1) + len(CURVE_SHARES) * self.outer
        with progress("trying machines", steps, show) as step:
            with work_clock() as clock:
                deadline = clock() + self.budget
                tried = try_families([*folds, everything], self.families, deadline, step, clock)
            chosen = time.monotonic()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                held_out = _held_out(y, folds, seed, step)
                machine = everything.fit_winner(seed)
            step(1, "the machine for later use")
            fitted = time.monotonic()
            curve = learning_curve(folds, seed, step)
        error, error_se = pooled_error(
            [fold.truth for fold in folds], [held_out.prediction[fold.test] for fold in folds]
        )
        model = everything.model(machine)
        typical, confused = find_examples(model, self.sheet.X, y, held_out, seed)
        rest = predict_unsampled(model, self.sheet, show)
        winner = everything.winner
        judged = (held_out.fold, held_out.prediction, error, error_se, baseline_error(y, outer))
        careful = findings(self.sheet, self.task, *judged, winner.edges)
        parameters = {winner.family.parameter: winner.value} if winner.family.parameter else {}
        return Study(
            task=self.task,
            sheet=self.sheet,
            machine=model,
            classes=None if self.task == "regress" else machine.classes_,
            error=error,
            error_se=error_se,
            baseline_error=judged[-1],
            kernel=winner.formula,
            parameters=parameters,
            attempts=tuple(self._attempts(folds, everything, tried)),
            surface=winner.surface,
            curve=curve,
            held_out=held_out,
            typical=typical,
            confused=confused,
            warnings=(*careful, *dict.fromkeys(str(one.message) for one in caught)),
            notes=self.notes(),
            folds=(self.outer, self.procedure.inner),
            seed=seed,
            budget=self.budget,
            timings=_timings(begin, chosen, fitted, time.monotonic()),
            rest=rest,
        )

    def _attempts(
        self, folds: list[OuterFold], everything: OuterFold, tried: list[tuple[ModelFamily, str]]
    ) -> list[Attempt]:
        """Return what came of each family."""
        found = []
        for family, note in [*tried, *self.left_out]:
            attempt, name = Attempt(family.cls.__name__, note=note), family.name
            if not note:
                choice = everything.choices[name]
                error, error_se = pooled_error(
                    [fold.truth for fold in folds], [fold.predictions[name] for fold in folds]
                )
                attempt = replace(
                    attempt,
                    candidates=choice.candidates,
                    error=error,
                    error_se=error_se,
                    inner=choice.error,
                    wins=sum(fold.winner.family.name == name for fold in folds),
                    chosen=everything.winner.family.name == name,
                )
            found.append(attempt)
        return found


def _timings(begin: float, chosen: float, fitted: float, end: float) -> dict[str, float]:
    return {
        "trying machines": chosen - begin,
        "fitting": fitted - chosen,
        "learning curve and findings": end - fitted,
        "total": end - begin,
    }


def _has_numbers(X: Any) -> bool:
    return not is_frame(X) or any(dtype.kind == "f" for dtype in X.dtypes)


def _held_out(
    y: np.ndarray, folds: list[OuterFold], seed: int, step: Callable[..., None]
) -> HeldOutPredictions:
    """Return what the winner of each fold says about its rows."""
    prediction, numbers = np.empty_like(y), np.empty(len(y), dtype=np.int64)
    classes = None if y.dtype.kind == "f" else np.unique(y[~rare(y)])
    probabilities = None if classes is None else np.zeros((len(y), len(classes)))
    for number, fold in enumerate(folds):
        prediction[fold.test] = fold.predictions[fold.winner.family.name]
        numbers[fold.test] = number
        if probabilities is not None:
            machine = fold.fit_winner(seed)
            places = np.searchsorted(classes, machine.classes_)  # type: ignore[arg-type]
            probabilities[np.ix_(fold.test, places)] = machine.predict_proba(fold.new)
        step(1, "held-out predictions")
    return HeldOutPredictions(prediction, probabilities, numbers)
