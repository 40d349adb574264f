"""Encodings written down: from the columns of a table to rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.exports.formula import ArrayFormula, ExportError, Term
from mercer.machines import Encode, Standardize
from mercer.machines.encoding.columns import EncodedColumn
from mercer.machines.encoding.levels import Levels
from mercer.machines.encoding.scales import FARTHEST, NumberScale, NumberScales
from mercer.machines.encoding.times import Dates

__all__ = ["encoded", "standardized"]


def encoded(formula: ArrayFormula, encode: Encode, columns: Mapping[Any, Term]) -> Term:
    """Return the rows that an `Encode` makes of columns, by name or by number."""
    found = []
    for one in encode.encoded_:
        name = one.place if encode.columns_ is None else encode.columns_[one.place]
        found.append(_column(formula, one, columns[name], name))
    return formula.concatenate(found)


def _column(formula: ArrayFormula, one: EncodedColumn, given: Term, name: Any) -> Term:
    if isinstance(one.maker, Levels):
        return _levels(formula, one.maker, given, name)
    if given.is_text:
        raise ExportError(
            f"the column {name!r} is of texts, which are read as numbers; call it numeric where "
            "the table is read, or categorical in kinds"
        )
    if one.kind in ("date", "ordered") or isinstance(one.maker, Dates):
        raise ExportError(
            f"the column {name!r} is {'a date' if one.kind == 'date' else 'an ordered category'}; "
            "only numbers and categories can be exported"
        )
    missing = given.apply("missing")
    found = []
    if isinstance(one.maker, NumberScale):
        found.append(_scale(formula, one.maker, given, missing))
    elif isinstance(one.maker, NumberScales):
        share = 1 / np.sqrt(len(one.maker.scales))
        found += [_scale(formula, scale, given, missing) * share for scale in one.maker.scales]
    if one.told:
        found.append(missing.apply("number"))
    return formula.concatenate(found)


def _levels(formula: ArrayFormula, maker: Levels, given: Term, name: Any) -> Term:
    """Return the row of the table of each text; other texts and gaps have the last two."""
    if not given.is_text:
        if not maker.table.any():  # a column that tells no rows apart
            return given.apply("missing").apply("number") * 0.0 + np.zeros(maker.table.shape[1])
        raise ExportError(
            f"the column {name!r} is of numbers, which are taken for categories; only texts of a "
            "table that mercer has read can be exported as such"
        )
    known = {str(level): i for i, level in enumerate(maker.levels.tolist())}
    count = len(known)
    codes = formula.add("codes", given, value=(known, count, count + 1))
    return codes.rows_of(maker.table)


def _scale(formula: ArrayFormula, scale: NumberScale, given: Term, missing: Term) -> Term:
    zeros = formula.constant(0.0)
    if scale.knots is not None and scale.scores is not None:
        return missing.where(zeros, _interpolated(scale.knots, scale.scores, given, missing))
    z = ((given - scale.center) / scale.spread).maximum(-FARTHEST).minimum(FARTHEST)
    if scale.limit < np.inf:
        u = z / scale.limit
        z = z / (u * u + 1.0).apply("root")
    return missing.where(zeros, z)


def _interpolated(knots: np.ndarray, scores: np.ndarray, given: Term, missing: Term) -> Term:
    """Return the straight line between the two knots around each number."""
    x = missing.where(given.formula.constant(knots[0]), given)
    x = x.maximum(knots[0]).minimum(knots[-1])
    if len(knots) == 1:
        return x * 0.0 + scores[0]
    place = (x >= knots[1:-1]).apply("number").sum() if len(knots) > 2 else x * 0.0
    slopes = np.diff(scores) / np.diff(knots)
    table = np.column_stack([knots[:-1], scores[:-1], slopes])
    row = place.rows_of(table)
    return (x - row.column(0)) * row.column(2) + row.column(1)


def standardized(formula: ArrayFormula, step: Standardize, columns: Mapping[Any, Term]) -> Term:
    """Return the rows of numbers that a `Standardize` makes."""
    names = step.columns_ if step.columns_ is not None else list(range(len(step.means_)))
    if np.isnan(step.means_).any():
        odd = names[int(np.flatnonzero(np.isnan(step.means_))[0])]
        raise ExportError(f"the column {odd!r} is not standardized; only numbers are exported")
    rows = formula.concatenate([columns[name] for name in names])
    missing = rows.apply("missing")
    origin = step.means_ if step.centered_ else np.zeros(len(names))
    filled = missing.where(formula.constant(step.means_), rows)
    found = [(filled - origin) / step.spreads_]
    found += [missing.column(names.index(name)).apply("number") for name in step.gaps_]
    return formula.concatenate(found)
