"""The design of a study: what it will do, before it does it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from mercer.domains import is_frame
from mercer.errors import ValidityError, suggestion
from mercer.kernels import Kernel, named, parse
from mercer.memory import format_bytes
from mercer.progress import progress
from mercer.sources import Sheet
from mercer.studies.admitted import (
    arrangement_of,
    part_of,
    read_sheet,
    require_learnable,
    with_weight,
)
from mercer.studies.all_rows_error import AllRowsError
from mercer.studies.arrangement import TIME_FOLDS
from mercer.studies.attention import ColumnAttention, column_attention
from mercer.studies.belonging import belonging
from mercer.studies.candidates import CandidateKernel, ModelFamily, families, on_columns
from mercer.studies.column_shares import shares_of_columns
from mercer.studies.coverage import coverage_of
from mercer.studies.design_notes import chosen_scale_note, loss_notes, scale_notes, tied_notes
from mercer.studies.effects import find_effects
from mercer.studies.examples import find_examples
from mercer.studies.findings import findings
from mercer.studies.folds import baseline_error, rare
from mercer.studies.given import given_table
from mercer.studies.horizons import horizons
from mercer.studies.judged import judge_table
from mercer.studies.known_errors import known_errors_of
from mercer.studies.learning_curve import (
    CURVE_SHARES,
    expected_error,
    learned_parts,
    learning_curve,
)
from mercer.studies.losses import Loss, loss_of
from mercer.studies.measures import NOTHING_MEASURED, measures_of
from mercer.studies.nested_cv import InnerSelection, OuterFold, error_of, try_families
from mercer.studies.on_cluster import where_notes
from mercer.studies.predicted import metric_bytes, study_bytes, table_bytes
from mercer.studies.preparation import Preparation, encodable, take_rows
from mercer.studies.references import references
from mercer.studies.results import USUAL, Attempt, HeldOutPredictions, Study
from mercer.studies.saved import predict_unsampled
from mercer.studies.sureness import poor_probabilities, sureness_of
from mercer.studies.target_scale import scale_asked

__all__ = ["StudyDesign", "design", "study"]

TASKS = ("classify", "regress")
ROWS_IN_WORDS = {
    "standard": ", columns standardized",
    "ranks": ", columns by rank",
    "common": ", columns on one scale",
}
# Rows that a minute allows: all of them are learned from, some of them choose parameters. Work
# grows with the cube of the rows, so that eight times the time allows twice as many.
LEARNED_PER_MINUTE, CHOOSING_PER_MINUTE = 20_000, 1200
MIN_LEARNED, MAX_LEARNED = 1000, 40_000
MAX_READ = 1_000_000  # rows; of a longer file a sample
SECONDS_OF_FIT = 2.4e-12  # times the cube of the rows, of a ridge regression on two cores
# Rows up to which there are ten outer folds: machines that are judged then learn from nine tenths
# of the rows; with five it would be four fifths, which of few rows is clearly less.
MANY_FOLDS_ROWS = 500
SEVERAL_CLASSES, MANY_ROWS = 5, 2500  # from which on one of five folds does not judge
JUDGING_SHARE = 0.15  # of the budget, for the fits of folds that judge


def study(
    data: Any,
    target: Any = None,
    *,
    task: str | None = None,
    kernel: Kernel | str | None = None,
    machine: str | None = None,
    budget: float = 60.0,
    types: dict[str, str] | None = None,
    skip_bad: bool = False,
    seed: int = 0,
    references: bool = True,
    groups: Any = None,
    time: Any = None,
    weights: Any = None,
    missing: str | Sequence[str] | None = None,
    drop_duplicates: bool = False,
    cost: Any = None,
    order: str | Sequence[str] | None = None,
    measure: str | None = None,
    scale: str | None = None,
    test: Any = None,
    target_scale: str | None = None,
    show: bool | None = None,
) -> Study:
    """Find a machine for a table, and say honestly how well it will do on new rows.

    A few kinds of machines are tried, with kernels that suit the columns. Kernel, parameters and
    the kind of machine are chosen by inner folds; the outer folds judge the whole procedure.

    Parameters
    ----------
    data : path, DataFrame, Sheet or array
        A table (CSV, TSV, Excel, JSON lines, SQLite, ARFF, Parquet, Arrow), LIBSVM text, FASTA, or
        a folder of TU graphs; a DataFrame of pandas, polars or Arrow; or rows of numbers.
    target : str or sequence, optional
        The column to predict, or the targets themselves, as in ``study(X, y)``; for formats that
        have one of their own it is not needed.
    task : {"classify", "regress"}, optional
        By default it is guessed from the target.
    kernel : Kernel or str, optional
        The only kernel to try, also as text in the notation of `mercer.kernels.parse`. It sees the
        columns as they are; otherwise numbers are standardized first.
    machine : str, optional
        The only machine to try: "prototype", "exemplar", "ridge", "svm", …
    budget : float
        Seconds. It decides how many rows are learned from, how many of them choose, and how many
        folds judge; once that is planned, nothing depends on how fast the computer is.
    types : dict, optional
        What columns are to be taken for, such as ``{"zip": "categorical"}``.
    skip_bad : bool
        Whether rows that cannot be read are left out. Otherwise they are an error.
    seed : int
        The same seed gives the same answer.
    references : bool
        Whether a linear model and boosted trees are fitted in the same folds, to compare with.
    groups : str or sequence, optional
        The column that says what each row comes from, such as a person. Rows of one group are
        never on both sides of a split, so that the error is that of new groups.
    time : str or sequence, optional
        The column that says when each row came about. The past then predicts the future, in all
        folds. It is learned from only if `types` says what it is.
    weights : str or sequence, optional
        The column that says how much each row counts, in learning and in errors.
    missing : str or sequence of str, optional
        Entries that stand for nothing, such as ``"-999"``; ``"age=-1"`` is about one column.
    drop_duplicates : bool
        Whether rows that repeat another in all columns are left out.
    cost : mapping, DataFrame or str, optional
        What each mistake costs, by the true class and the answer, as in
        ``{("ill", "well"): 10, ("well", "ill"): 1}``, or by the true class alone. The error is
        then the mean cost of a row, and answers are those that are expected to cost least.
    order : str or sequence of str, optional
        All classes from the lowest to the highest, as in ``"low,mid,high"``. The error then counts
        by how many steps answers are off.
    measure : str, optional
        What chooses and judges: "error", "balanced", "auc" or "logloss" for classes, "rmse" or
        "mae" for numbers.
    scale : {"none"}, optional
        Columns of numbers are then compared as they are, because they have one unit already;
        otherwise they are put on several scales, and folds choose.
    test : path or DataFrame, optional
        Another table, which judges the machine in the end once.
    target_scale : {"auto", "none", "root", "fourth root", "log"}, optional
        The scale on which a target of numbers is learned; errors and answers stay in its unit. By
        default inner folds choose, where the target is positive and skewed.
    show : bool, optional
        Whether to draw a progress bar; by default in interactive sessions.

    Returns
    -------
    Study

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> flowers = load_iris(as_frame=True).frame
    >>> found = study(flowers, "target", task="classify", machine="ridge")
    >>> found.error < 0.1, round(found.baseline_error, 2)
    (True, 0.67)
    """
    found = design(
        data, target, task=task, kernel=kernel, machine=machine, budget=budget, types=types,
        skip_bad=skip_bad, seed=seed, references=references, groups=groups, time=time,
        weights=weights, missing=missing, drop_duplicates=drop_duplicates, cost=cost, order=order,
        measure=measure, scale=scale, target_scale=target_scale,
    ).run(show)  # fmt: skip
    return found if test is None else replace(found, test=judge_table(found, test))


def design(
    data: Any,
    target: Any = None,
    *,
    task: str | None = None,
    kernel: Kernel | str | None = None,
    machine: str | None = None,
    budget: float = 60.0,
    types: dict[str, str] | None = None,
    skip_bad: bool = False,
    seed: int = 0,
    references: bool = True,
    groups: Any = None,
    time: Any = None,
    weights: Any = None,
    missing: str | Sequence[str] | None = None,
    drop_duplicates: bool = False,
    cost: Any = None,
    order: str | Sequence[str] | None = None,
    measure: str | None = None,
    scale: str | None = None,
    target_scale: str | None = None,
) -> StudyDesign:
    """Return what `study` would do, with the same arguments; everything is read and checked.

    Parameters
    ----------
    data, target, task, kernel, machine, budget, types, skip_bad, seed, references
        As in `study`.
    groups, time, weights, missing, drop_duplicates, cost, order, measure, scale, target_scale
        As in `study`.

    Returns
    -------
    StudyDesign
        Its `run` does it.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> design(rows, "animal", machine="prototype", budget=5).outer
    10
    """
    if task is not None and task not in TASKS:
        raise ValidityError(f"task cannot be {task!r}{suggestion(task, TASKS)}")
    if scale not in (None, "none"):
        raise ValidityError(f"scale / --scale can only be 'none', found {scale!r}")
    if not (math.isfinite(budget) and budget > 0):
        raise ValidityError(f"budget must be a positive number of seconds, found {budget!r}")
    if isinstance(kernel, str):
        kernel = parse(kernel) if "(" in kernel else named(kernel)
    if task is None and (cost is not None or order is not None):
        task = "classify"
    limit = MAX_READ if kernel is None else _rows(LEARNED_PER_MINUTE, budget, kernel)
    asked = {"groups": groups, "time": time, "weights": weights}
    table, target, roles = given_table(data, target, asked)
    sheet = read_sheet(
        table, target, types, skip_bad=skip_bad, limit=limit, seed=seed, task=task, roles=roles,
        missing=missing, drop_duplicates=drop_duplicates,
    )  # fmt: skip
    sheet = with_weight(sheet)
    tied = arrangement_of(sheet)
    found = "regress" if sheet.y.dtype.kind == "f" else "classify"  # type: ignore[union-attr]
    y: Any = sheet.y
    loss = loss_of(found, y, measure=measure, costs=cost, order=order, weights=tied.weights)
    target_scale = scale_asked(target_scale, found, y)
    largest, classes = require_learnable(sheet)
    scaled = kernel is None and scale is None
    encode = scaled and encodable(sheet.X, sheet.columns)
    chosen, left = families(found, machine, classes, encode, tied.weights is not None)
    if kernel is not None:
        on_columns(kernel, _safe_indexing(sheet.X, [0]), sheet.columns)
    standardize = scaled and not sparse.issparse(sheet.X)
    procedure = InnerSelection(
        columns=sheet.columns,
        preparation=Preparation(sheet.columns, found, encode, standardize, seed),
        kernel=kernel,
        inner=5,
        most=_rows(CHOOSING_PER_MINUTE, budget, kernel),
        seed=seed,
        exact=_rows(LEARNED_PER_MINUTE, budget, kernel),
        arrangement=tied,
        loss=loss,
        target_scale=target_scale,
    )
    outer, judging = outer_folds(len(sheet), largest, budget, classes)
    if tied.time is not None:  # each span is predicted from less than all, so that few suffice
        outer = min(outer, TIME_FOLDS) if judging == outer else outer
        judging = min(judging, outer)
    return StudyDesign(
        found, sheet, procedure, chosen, left, outer, judging, budget, with_references=references
    )


def outer_folds(rows: int, largest: int, budget: float, classes: int = 0) -> tuple[int, int]:
    """Return into how many folds rows are dealt, and how many of these judge.

    Of many rows fewer folds judge as well; of very many one tenth does, so that the time goes into
    learning from the rest. Of several classes choosing takes longer, in which many rows afford one
    fold less. `largest` is the size of the largest class.

    Examples
    --------
    >>> outer_folds(150, 50, 60.0), outer_folds(5000, 2000, 60.0), outer_folds(20000, 9000, 60.0)
    ((10, 10), (5, 5), (10, 1))
    """
    folds = min(10 if rows <= MANY_FOLDS_ROWS else 5, largest)
    allowed = JUDGING_SHARE * budget / SECONDS_OF_FIT
    if folds * (0.8 * rows) ** 3 <= allowed:
        fewer = classes >= SEVERAL_CLASSES and rows > MANY_ROWS
        return folds, folds - int(fewer)
    return 10, int(np.clip(allowed / (0.9 * rows) ** 3, 1, 10))


def _rows(count: int, budget: float, kernel: Kernel | None) -> int:
    slow = 4 if kernel is not None and kernel.slow else 1  # times fewer rows
    scaled = count * (budget / 60.0) ** (1 / 3) / slow
    return int(np.clip(scaled, MIN_LEARNED / slow, MAX_LEARNED))


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
        Folds into which the rows are dealt.
    judging : int
        How many of these judge.
    budget : float
        Seconds.
    with_references : bool

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> plan = design(rows, "animal", machine="prototype", budget=5)
    >>> plan.task, plan.budget, len(plan.families)
    ('classify', 5, 1)
    """

    task: str
    sheet: Sheet
    procedure: InnerSelection
    families: list[ModelFamily]
    left_out: list[tuple[ModelFamily, str]]
    outer: int
    judging: int
    budget: float
    with_references: bool = True

    def explain(self) -> str:
        """Say in words what will be done."""
        names = ", ".join(family.label for family in self.families)
        folds = f"{self.outer} outer folds judge"
        if self.judging < self.outer:
            folds = f"{self.judging} of {self.outer} outer folds judge"
        lines = [
            f"{folds}, {self.procedure.inner} inner folds choose among {names} and these kernels:"
        ]
        everything = self._everything()
        lines += [f"  {_told(candidate)}" for candidate in everything.candidates]
        lines.append(
            f"  It needs about {format_bytes(self._bytes(everything))} of memory at most."
        )
        return "\n".join([*lines, *self.notes()])

    @property
    def bytes(self) -> int:
        """What carrying it out needs at most, as predicted: tables, searches and the last fit."""
        return self._bytes(self._everything())

    def _bytes(self, everything: OuterFold) -> int:
        prepared = everything.prepared
        learned = any(family.learned for family in self.families)
        rows = prepared.rows("both" if learned else everything.candidates[0].rows)
        some = take_rows(rows, everything.inner.some)
        searches = [
            (family.machine(everything.candidates[-1].kernel, family.values[0]),
             {family.parameter: list(family.values)})
            for family in self.families if family.values and not family.constant
        ]  # fmt: skip
        table = table_bytes(self.sheet.X) + 2 * table_bytes(rows)
        needed = study_bytes(() if learned else searches, some, table)
        if not learned:
            return needed
        count = min(len(everything.y), everything.exact)
        sample = len(everything.inner.some)
        return table + metric_bytes(take_rows(rows, np.arange(count)), sample)

    def notes(self) -> tuple[str, ...]:
        """Say what a reader of the result should know about how it was made."""
        found = list(self.sheet.notes)
        rows, most = len(self.sheet), self.procedure.most
        how = self.procedure.preparation
        if self.procedure.kernel is not None:
            found.append("The kernel was given; it sees the columns as they are in the file.")
        elif not (how.encode or how.standardize) and _has_numbers(self.sheet.X):
            found.append("Columns of numbers are compared as they are in the file.")
        elif how.encode:
            found.append(
                "Columns become columns of numbers on the rows that are learned from: numbers are "
                "standardized, or follow their ranks; categories get a column for each level, or "
                "what the target is like in it. A column says where a gap was."
            )
        elif how.standardize and _has_numbers(self.sheet.X):
            found.append(
                "Columns of numbers are standardized on the rows that are learned from: mean 0 "
                "and standard deviation 1. A gap becomes the mean, and a column says where it was."
            )
        found += [
            *tied_notes(self.procedure.arrangement, self.sheet.roles),
            *loss_notes(self.procedure.loss),
            *scale_notes(self.procedure.target_scale, self.sheet.y),
        ]
        if rows > most:
            found.append(
                f"Kernel and parameters are chosen on {most} rows; the machine is then fitted to "
                "all that are learned from."
            )
        if self.judging < self.outer:
            share = self.judging / self.outer
            found.append(
                f"{round(share * rows)} of the {rows} rows judge; the others are learned from."
            )
        found += [f"{family.label} is left out: {why}." for family, why in self.left_out]
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
        tied = self.procedure.arrangement
        outer = tied.splits(y, self.outer, np.random.default_rng(seed))
        # Of spans of time the last ones judge: they are nearest to what is to come.
        outer = outer[-self.judging :] if tied.time is not None else outer[: self.judging]
        folds = [self.procedure.split(self.sheet.X, y, *split) for split in outer]
        everything = self._everything()
        every = [*folds, everything]
        for fold in every:
            fold.choose_scale()
        steps = (len(self.families) + 1) * len(every) + (len(CURVE_SHARES) + 2) * len(folds)
        with progress("trying machines", steps, show) as step:
            tried = try_families(every, self.families, step)
            chosen = time.monotonic()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for fold in every:
                    fold.judge()
                    step(1, "learning from all rows")
            fitted = time.monotonic()
            for fold in folds:
                fold.judge_others()
            parts = learned_parts(folds, seed, step)
            others = references(folds, seed, step) if self.with_references else ()
        held_out = _held_out(y, folds)
        truth = y[held_out.rows]
        expected = expected_error(folds, parts, everything)
        loss = self.procedure.loss or USUAL
        baseline = baseline_error(y, outer, tied, loss if loss.special else None)
        model: Any = everything.model()
        classes = None if self.task == "regress" else everything.machine.classes_
        typical, confused = find_examples(model, self.sheet.X, y, held_out, seed)
        rest = predict_unsampled(model, self.sheet, show)
        winner = everything.winner
        judged = part_of(self.sheet, held_out.rows)
        measures = NOTHING_MEASURED
        if classes is not None:
            measures = measures_of(
                truth,
                held_out.prediction,
                held_out.probabilities,
                classes,
                tied.part(held_out.rows),
            )
        careful = findings(
            judged, self.task, held_out.fold, held_out.prediction, expected.measured,
            expected.measured_se, baseline,
            winner.edges, measures.informative, loss, belonging(self.sheet, self.procedure),
            everything.scale.name,
        )  # fmt: skip
        known = known_errors_of(everything, held_out, truth, classes, tied.part(held_out.rows))
        parameters = {winner.family.parameter: winner.value} if winner.family.parameter else {}
        attention = _attention(everything, folds)
        reason = (f"Metric: {winner.reason}.",) if winner.reason else ()
        if expected.extrapolated:
            reason = (*reason, _extrapolated(expected, loss, self.task))
        if everything.scale.name != "none":
            reason = (*reason, chosen_scale_note(everything.scale, [f.scale for f in folds]))
        if everything.many is not None:
            reason = (*reason, f"Learned from {everything.many.reason}.")
        study = Study(
            task=self.task,
            sheet=self.sheet,
            machine=model,
            classes=classes,
            error=expected.error,
            error_se=expected.error_se,
            held_out_error=(expected.measured, expected.measured_se),
            baseline_error=baseline,
            kernel=winner.formula,
            parameters=parameters,
            attempts=tuple(self._attempts(folds, everything, tried)),
            surface=winner.surface,
            curve=learning_curve(folds, parts),
            held_out=held_out,
            typical=typical,
            confused=confused,
            warnings=(*careful, *dict.fromkeys(str(one.message) for one in caught)),
            notes=(*self.notes(), *reason, *where_notes()),
            folds=(self.outer, self.procedure.inner),
            seed=seed,
            budget=self.budget,
            timings=_timings(begin, chosen, fitted, time.monotonic()),
            rest=rest,
            measures=measures,
            references=others,
            attention=attention,
            effects=find_effects(model, self.sheet, attention, folds[0], seed),
            loss=loss,
            horizons=horizons(folds),
            known_errors=known,
            shares=shares_of_columns(folds),
            coverage=coverage_of(known, held_out, truth, classes, self.sheet),
        )
        sure = sureness_of(study)
        if sure is not None and sure.poor:
            study = replace(study, warnings=(*study.warnings, poor_probabilities(sure)))
        return study

    def _attempts(
        self, folds: list[OuterFold], everything: OuterFold, tried: list[tuple[ModelFamily, str]]
    ) -> list[Attempt]:
        """Return what came of each family."""
        found = []
        best = everything.winner
        for family, note in [*tried, *self.left_out]:
            attempt, name = Attempt(family.label, note=note), family.name
            if note:
                found.append(attempt)
                continue
            choice = everything.choices[name]
            attempt = replace(
                attempt,
                candidates=choice.candidates,
                inner=choice.error,
                wins=sum(fold.winner.family.name == name for fold in folds),
                chosen=best.family.name == name,
            )
            if all(name in fold.predictions for fold in folds):
                error, error_se = error_of(folds, [fold.predictions[name] for fold in folds])
                attempt = replace(attempt, error=error, error_se=error_se)
            else:
                others = f", that of {best.family.label} {best.error:.3g}"
                attempt = replace(
                    attempt,
                    note=f"on the rows that choose its error is {choice.error:.3g}"
                    + others * (not attempt.chosen),
                )
            found.append(attempt)
        return found


def _told(candidate: CandidateKernel) -> str:
    """Return a kernel with the scale of the rows that it sees."""
    return repr(candidate.kernel) + ROWS_IN_WORDS.get(candidate.rows, "")


def _extrapolated(expected: AllRowsError, loss: Loss, task: str) -> str:
    """Say how the error that is told differs from the one that was measured, and why."""
    share = loss.share or (loss is USUAL and task == "classify")
    told = "{:.1%} ± {:.1%}" if share else "{:.4g} ± {:.2g}"
    measured = told.format(expected.measured, expected.measured_se)
    return (
        "The outer folds learned from fewer rows than the machine in the end, and had an error of "
        f"{measured}. Twice as many rows clearly lowered it, so that less is expected of all rows."
    )


def _timings(begin: float, chosen: float, fitted: float, end: float) -> dict[str, float]:
    return {
        "trying machines": chosen - begin,
        "fitting": fitted - chosen,
        "learning curve and findings": end - fitted,
        "total": end - begin,
    }


def _has_numbers(X: Any) -> bool:
    return not is_frame(X) or any(dtype.kind == "f" for dtype in X.dtypes)


def _held_out(y: np.ndarray, folds: list[OuterFold]) -> HeldOutPredictions:
    """Return what the winner of each fold says about its rows."""
    rows = np.sort(np.concatenate([fold.test for fold in folds]))
    prediction, numbers = np.empty_like(y[rows]), np.empty(len(rows), dtype=np.int64)
    classes = None if y.dtype.kind == "f" else np.unique(y[~rare(y)])
    sure = classes is not None and all(fold.probabilities is not None for fold in folds)
    probabilities = np.zeros((len(rows), len(classes))) if classes is not None and sure else None
    for number, fold in enumerate(folds):
        there = np.searchsorted(rows, fold.test)
        prediction[there] = fold.predictions[fold.winner.family.name]
        numbers[there] = number
        if probabilities is not None:
            places = np.searchsorted(classes, fold.machine.classes_)  # type: ignore[arg-type]
            probabilities[np.ix_(there, places)] = fold.probabilities
    return HeldOutPredictions(prediction, probabilities, numbers, rows)


def _attention(everything: OuterFold, folds: list[OuterFold]) -> ColumnAttention | None:
    """Return how much each column matters to the metric that was learned; None without one."""
    found = []
    for fold in (everything, *folds):
        choice = fold.winner
        if choice.outer is not None:
            encode = fold.prepared.fitted(choice.rows)
            found.append((choice.outer, encode.blocks_, encode.columns_))
    if everything.winner.outer is None:
        return None
    return column_attention(*found[0], found[1:])
