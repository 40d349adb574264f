"""A quick fit: a machine for a table in about a second, to look at and not to rely on.

`mercer fit` chooses among machines and judges them honestly. Here one machine that suits the
columns learns from all rows: ridge regression, with the penalty whose closed-form leave-one-out
error is smallest on some of them. The errors of those rows make probabilities and intervals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.errors import DomainError
from mercer.explorer.entries import EntryTable
from mercer.explorer.subject import Subject, evenly
from mercer.kernels import Gaussian, Kernel, parse
from mercer.kernels.tables import On
from mercer.machines import Calibrated, Encode, KernelRidge, KernelRidgeClassifier
from mercer.machines.conforming.held_out_scores import HeldOutScores
from mercer.machines.conforming.known_errors import KnownErrors
from mercer.selection import leave_one_out
from mercer.sources import Sheet, recipe
from mercer.studies import SavedModel, on_columns
from mercer.studies.candidates import candidate_kernels
from mercer.studies.preparation import encodable

__all__ = ["learn_quickly"]

PENALTIES = (0.01, 0.1, 1.0)  # that are tried
CHOOSING_ROWS = 600  # by whose leave-one-out errors the penalty is chosen
CALIBRATING_ROWS = 600  # from which probabilities are learned
MIN_ROWS = 2
MAX_CLASSES = 100  # each of which needs several rows


def learn_quickly(sheet: Sheet, kernel: str | None = None, title: str = "") -> Subject:
    """Return a machine that has learned from the rows of a sheet, with these rows.

    Parameters
    ----------
    sheet : Sheet
        With a target.
    kernel : str, optional
        An expression, otherwise one that suits the columns.
    title : str
        What to call it.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> subject = learn_quickly(read_frame(rows, "animal"))
    >>> subject.answers.prediction[:4].tolist()
    ['c', 'c', 'd', 'd']
    """
    y = _learnable(sheet)
    before, chosen = _prepared(sheet, kernel)
    X = sheet.X if before is None else before.fit_transform(sheet.X, y)
    resolved = chosen.resolve(X)
    some = evenly(len(y), CHOOSING_ROWS)
    numbers = y.dtype.kind == "f"
    machine, errors = _best(resolved, _safe_indexing(X, some), y[some], numbers)
    machine = machine.fit(X, y)
    model = machine if before is None else Pipeline([("encode", before), ("machine", machine)])
    how = recipe(sheet)
    target = "prediction" if sheet.target is None else sheet.target.name
    table = EntryTable.of(sheet.X, {column.name: column.kind for column in sheet.columns})
    said = [*sheet.notes, _about(machine, resolved, len(y))]
    if len(y) < sheet.total - len(sheet.bad):
        said.insert(0, f"You see {len(y):,} of {sheet.total:,} rows, a sample of all of them.")
    if sheet.bad:
        said.append(f"{len(sheet.bad)} rows could not be read, for example {sheet.bad[0]}.")
    known = SavedModel(model, how, {"recipe": how, "errors": errors})
    return Subject(
        known, table, y, sheet.rows, np.arange(len(y)), title or sheet.name or "A table",
        target, tuple(dict.fromkeys(said)), sheet.columns,
    )  # fmt: skip


def _about(machine: Any, kernel: Kernel, count: int) -> str:
    inside = getattr(machine, "machine_", machine)
    return (
        f"For this page {type(inside).__name__} (penalty {inside.penalty:g}) has learned from "
        f"{count:,} rows in a moment; `mercer fit` chooses among machines, and says how good they "
        "are on new rows."
    )


def _learnable(sheet: Sheet) -> np.ndarray:
    """Return the targets, refusing those that nothing can be learned of."""
    if sheet.target is None or sheet.y is None:
        names = ", ".join(repr(column.name) for column in sheet.columns[:8])
        raise DomainError(f"say which column is to be predicted: --target COLUMN, one of {names}")
    y = np.asarray(sheet.y)
    name = sheet.target.name
    if len(y) < MIN_ROWS:
        raise DomainError(
            f"the table has {len(y)} row with the target {name!r}; at least two are needed, so "
            "that there is something to compare with"
        )
    classes = np.unique(y)
    if y.dtype.kind == "f":
        return y
    if len(classes) > MAX_CLASSES:
        raise DomainError(
            f"the target {name!r} has {len(classes)} classes, more than {MAX_CLASSES}; if it "
            f"holds numbers, say --types {name}=numeric"
        )
    return y


def _prepared(sheet: Sheet, expression: str | None) -> tuple[Any, Kernel]:
    """Return what prepares rows, None if nothing does, and a kernel for what comes out."""
    if expression is not None:
        return None, on_columns(parse(expression), sheet.X, sheet.columns)
    if encodable(sheet.X, sheet.columns):
        kinds = {column.name: column.kind for column in sheet.used}
        task = "regress" if np.asarray(sheet.y).dtype.kind == "f" else "classify"
        return Encode(kinds=kinds, target_kind=task), Gaussian("median")
    candidates = [one.kernel for one in candidate_kernels(sheet.X, sheet.columns)]
    first = candidates[0]
    if isinstance(first, On) and not sheet.X[list(first.columns)].isna().any(axis=None):
        return None, first.kernel.on(*first.columns)  # which tells letters and words apart
    return None, candidates[-1]


def _best(kernel: Kernel, X: Any, y: np.ndarray, numbers: bool) -> tuple[Any, KnownErrors | None]:
    """Return a machine with the best penalty, and its held-out errors of numbers."""
    if not numbers:
        places, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
        often = np.flatnonzero(counts[places] >= MIN_ROWS)
        plain = [KernelRidgeClassifier(kernel, penalty) for penalty in PENALTIES]
        best = plain[len(plain) // 2]
        if len(np.unique(y[often])) > 1:
            shown = _safe_indexing(X, often)
            best = min(plain, key=lambda one: leave_one_out(one, shown, y[often]).error)
        if counts.min() < MIN_ROWS:  # a class of one row is learned from and never held out
            return best, None
        return Calibrated(best, 3, sample=CALIBRATING_ROWS), None
    tried = [KernelRidge(kernel, penalty, intercept=True) for penalty in PENALTIES]
    found = [leave_one_out(one, X, y) for one in tried]
    place = int(np.argmin([one.error for one in found]))
    residuals = found[place].residuals
    assert residuals is not None
    scores = HeldOutScores(np.abs(residuals), np.zeros(len(y), dtype=int))
    return tried[place], KnownErrors(scores)
