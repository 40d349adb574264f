"""Admitted rows: the sheet of a study, with what is refused because nothing can be said of it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from mercer.errors import DomainError
from mercer.sources import Sheet, read, read_frame
from mercer.studies.arrangement import INDEPENDENT, Arrangement
from mercer.studies.folds import MIN_IN_CLASS, rare

__all__ = ["arrangement_of", "part_of", "read_sheet", "require_learnable", "with_weight"]

MIN_ROWS = 6  # of fewer nothing can be said
MIN_GROUPS = 3  # one judges, one is held out to choose, one is learned from


def read_sheet(
    data: object, target: str | None, types: dict[str, str] | None, **how: Any
) -> Sheet:
    """Return the rows of a file or a DataFrame, with a target."""
    if isinstance(data, Sheet):
        sheet = data
    elif isinstance(data, str | os.PathLike):
        sheet = read(data, target, types, **how)
    else:
        sheet = read_frame(data, target, types, **how)
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


def require_learnable(sheet: Sheet) -> tuple[int, int]:
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


def part_of(sheet: Sheet, rows: np.ndarray) -> Sheet:
    """Return some rows of a sheet; the sheet itself if these are all."""
    if len(rows) == len(sheet):
        return sheet
    X, y = _safe_indexing(sheet.X, rows), None if sheet.y is None else sheet.y[rows]
    roles = None if sheet.roles is None else sheet.roles.take(rows)
    return replace(sheet, X=X, y=y, lines=sheet.lines[rows], rows=sheet.rows[rows], roles=roles)


def with_weight(sheet: Sheet) -> Sheet:
    """Return the rows that count at all."""
    weights = None if sheet.roles is None else sheet.roles.weights
    if weights is None or (weights > 0).all():
        return sheet
    there = np.flatnonzero(weights > 0)
    name = repr(sheet.roles.name("weights"))
    if not len(there):
        raise DomainError(f"all weights in {name} are 0, so no row counts")
    note = f"{len(weights) - len(there)} rows have the weight 0 in {name} and were left out"
    part = part_of(sheet, there)
    return replace(part, notes=(*part.notes, note))


def arrangement_of(sheet: Sheet) -> Arrangement:
    """Return what ties the rows of a sheet together."""
    found = sheet.roles
    if found is None:
        return INDEPENDENT
    if found.groups is not None:
        _require_groups(found.groups, found.name("groups"), found.time is not None)
    weights = found.weights
    if weights is not None:  # their scale says nothing; penalties are per row
        weights = weights * (len(weights) / weights.sum())
    return Arrangement(found.groups, found.time, weights)


def _require_groups(groups: np.ndarray, name: str, timed: bool) -> None:
    """Refuse groups that tie nothing together, and too few of them."""
    count = len(np.unique(groups))
    if count == len(groups):
        raise DomainError(
            f"--groups / groups: each row has an entry of its own in {name!r}, so that no rows "
            "belong together; name another column, or leave the option out"
        )
    if count < MIN_GROUPS and not timed:
        raise DomainError(
            f"--groups / groups: {name!r} has {count} of them, and at least {MIN_GROUPS} are "
            "needed: one judges, one is held out to choose, and one is learned from"
        )
