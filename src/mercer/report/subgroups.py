"""Subgroups: kinds of rows on which a model is clearly worse than on the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer.report.words import amount, count, percent, shorten
from mercer.studies.folds import standard_error

if TYPE_CHECKING:
    import pandas as pd

    from mercer.studies import Study

__all__ = ["Subgroup", "subgroups"]

MIN_ROWS = 15  # of a subgroup
MAX_LEVELS = 30  # of a column of categories
MAX_SHOWN = 6
PARTS = 4  # of a column of numbers
FALSE_ALARM = 0.01  # probability that any subgroup is shown without reason


@dataclass(frozen=True)
class Subgroup:
    """One kind of rows."""

    name: str  # the column and its entries
    rows: str
    error: str
    others: str


def subgroups(study: Study) -> list[Subgroup]:
    """Return the kinds of rows whose held-out error is clearly larger than that of the others.

    Looked at are the levels of categories, gaps, and quarters of columns of numbers, with a bar
    that takes into account how many are looked at (Bonferroni).
    """
    from scipy.stats import norm

    if not hasattr(study.X, "iloc"):
        return []
    losses = study.loss.of(study.truth, study.held_out.prediction)
    weights = np.ones(len(losses)) if study.tied.weights is None else study.tied.weights
    X = study.X.iloc[study.held_out.rows]
    kinds = {column.name: column.kind for column in study.sheet.columns}
    every = [part for name in X.columns for part in _parts(X[name], kinds.get(str(name), ""))]
    bar = float(norm.isf(FALSE_ALARM / max(len(every), 1)))
    found = []
    for name, inside in every:
        if inside.sum() < MIN_ROWS or (~inside).sum() < MIN_ROWS:
            continue
        means, spreads = [], []
        for part in (inside, ~inside):
            groups = None if study.tied.groups is None else study.tied.groups[part]
            means.append(float(np.average(losses[part], weights=weights[part])))
            spreads.append(standard_error(losses[part], weights[part], groups))
        gap = means[0] - means[1]
        if gap > bar * math.hypot(*spreads) > 0:
            found.append((gap, name, int(inside.sum()), means))
    found.sort(key=lambda one: (-one[0], one[1]))
    return [
        Subgroup(name, count(rows), *(_text(study, mean) for mean in means))
        for _, name, rows, means in found[:MAX_SHOWN]
    ]


def _text(study: Study, mean: float) -> str:
    if study.unit == "classify":
        return percent(mean)
    squares = study.task == "regress" and not study.loss.absolute
    return amount(math.sqrt(mean) if squares else mean)


def _parts(column: pd.Series, kind: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what may be a subgroup: its name, and which rows belong to it."""
    name = shorten(column.name, 40)
    gaps = column.isna().to_numpy(dtype=bool)
    if gaps.any():
        yield f"{name} is missing", gaps
    if kind == "categorical":
        entries = column.to_numpy(dtype=object)
        levels = sorted({str(entry) for entry in entries[~gaps]})
        for level in levels if len(levels) <= MAX_LEVELS else ():
            yield f"{name} is “{shorten(level, 40)}”", np.array([str(e) == level for e in entries])
    elif kind == "numeric":
        values = column.to_numpy(dtype=np.float64)
        edges = np.unique(np.nanquantile(values, np.linspace(0, 1, PARTS + 1)[1:-1]))
        for low, high in zip([-np.inf, *edges], [*edges, np.inf], strict=True):
            told = [f"from {amount(low)}"] if np.isfinite(low) else []
            told += [f"below {amount(high)}"] if np.isfinite(high) else []
            yield f"{name} {' and '.join(told)}", (values >= low) & (values < high)
