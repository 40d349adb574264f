"""The target of a table: classes or numbers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.errors import DomainError, suggestion
from mercer.sources import numbers
from mercer.sources.column_kinds import column_of_kind, infer_quantity
from mercer.sources.entries import Problems, convert, count
from mercer.sources.sheet import Column
from mercer.sources.source import suggest_name

__all__ = ["TASKS", "admit_task", "check_target", "find_target", "infer_target", "read_target"]

TASKS = ("classify", "regress")
AS_CLASSES = "--kind classify / task='classify'"
AS_NUMBERS = "--kind regress / task='regress'"
SAID = "you said so"


def admit_task(task: str | None, said: str | None) -> str | None:
    """Return the task, which the user may also have said as the kind of the target."""
    if task is not None and task not in TASKS:
        raise DomainError(f"task cannot be {task!r}{suggestion(task, TASKS)}")
    if said is None or task is not None:
        return task
    if said in ("categorical", "numeric", "date"):
        return "classify" if said == "categorical" else "regress"
    raise DomainError(f"types: the target cannot be {said!r}; it is 'categorical' or 'numeric'")


def find_target(
    target: str | None, own: str | None, columns: Collection[str], name: str
) -> str | None:
    """Return the column of the target: that of the user, or that of the format."""
    if target is None:
        return own
    if target not in columns:
        raise DomainError(f"{name} has no column {target!r}{suggest_name(target, columns)}")
    return target


def infer_target(
    name: str, raw: np.ndarray, task: str | None, decimal: str | None
) -> tuple[Column, list[str]]:
    """Return what the target is taken for: categorical, numeric or date.

    Words are classes, numbers with fractions are numbers. Whole numbers are classes if there are
    at most two different ones, or at most 20 with three rows for each on average; else they are
    numbers. Dates are numbers of days.
    """
    if task == "classify":
        return column_of_kind(name, "categorical", raw, decimal, SAID), []
    kind, notes = infer_quantity(name, raw, decimal)
    if task == "regress":
        _check_numbers(name, raw, kind)
        return column_of_kind(name, kind or "numeric", raw, decimal, SAID), notes
    if kind == "date":
        return column_of_kind(name, "date", raw, decimal, "dates"), notes
    if kind is None:
        column = column_of_kind(name, "categorical", raw, decimal, "")
        return _with_reason(column, f"{column.distinct:,} different entries, not numbers"), []
    return _classes_or_numbers(name, raw, decimal, notes)


def _classes_or_numbers(
    name: str, raw: np.ndarray, decimal: str | None, notes: list[str]
) -> tuple[Column, list[str]]:
    column = column_of_kind(name, "numeric", raw, decimal, "")
    values, _ = convert(raw, column)
    values = values[np.isfinite(values)]
    different = len(np.unique(values))
    if not (values == np.rint(values)).all():
        return _with_reason(column, f"{different:,} different numbers, not all whole"), notes
    # Up to twenty whole numbers may be names of classes, with three rows of each on average.
    few = different <= 2 or (different <= 20 and len(values) >= 3 * different)
    what, other = ("classes", AS_NUMBERS) if few else ("numbers", AS_CLASSES)
    note = (
        f"the target {name!r} has {different:,} different whole numbers, which were taken for "
        f"{what}; {other} says otherwise"
    )
    said = [note] if different > 2 else []
    if few:
        column = column_of_kind(name, "categorical", raw, decimal, "")
    return _with_reason(column, f"{different:,} different whole numbers"), [*notes, *said]


def _with_reason(column: Column, why: str) -> Column:
    return replace(column, why=why)


def _check_numbers(name: str, raw: np.ndarray, kind: str | None) -> None:
    """Refuse words as numbers at once; a few of them are bad rows."""
    if kind is not None:
        return
    entries = count(name, raw)
    if entries.counts and numbers.read_style(entries.counts).share < 0.5:
        raise DomainError(
            f"the target {name!r} has entries such as {entries.examples[0]!r}, which are not "
            f"numbers; {AS_CLASSES} learns classes"
        )


def read_target(raw: Any, column: Column) -> tuple[np.ndarray, Problems]:
    """Return the target's values, and the problems of rows that have none."""
    values, problems = convert(raw, column)
    empty = f"the target {column.name!r} is missing"
    if column.kind == "categorical":
        gaps = [place for place, value in enumerate(values) if value is None]
    else:
        gaps = np.flatnonzero(np.isnan(values)).tolist()
    return values, dict.fromkeys(gaps, empty) | problems


def check_target(y: np.ndarray, column: Column, name: str) -> list[str]:
    """Refuse a target from which nothing can be learned; return what is odd about another."""
    if len(y) < 2:
        return []
    different = list(dict.fromkeys(y.tolist()))
    if len(different) == 1:
        raise DomainError(
            f"the target {column.name!r} of {name} is {y[0]} in all {len(y):,} rows, so there is "
            "nothing to learn; choose another column"
        )
    if column.kind != "categorical":
        return []
    if len(different) == len(y) > 2:
        raise DomainError(
            f"the target {column.name!r} of {name} is different in each of its {len(y):,} rows, "
            f"so no class can be learned; choose another column, or {AS_NUMBERS} for numbers"
        )
    return _same_numbers(different)


def _same_numbers(labels: list[str]) -> list[str]:
    """Say which classes are the same number in different forms."""
    forms: dict[float, str] = {}
    for label in labels:
        value = float(numbers.numbers([label], {})[0])
        if value in forms:
            return [f"the classes {forms[value]!r} and {label!r} are one number in two forms"]
        forms[value] = label
    return []
