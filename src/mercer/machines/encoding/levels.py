"""Levels of categories as numbers: a column for each, or what the target is like in each.

Statistics of the target are shrunken to its mean: a level with n rows of mean ȳ becomes
μ + n/(n + m)·(ȳ − μ). By default m is the variance within levels over that between them, estimated
by the method of moments (analysis of variance with random effects); where levels tell no more than
chance, m is infinite and nothing is left. In training each row gets the statistics of the folds
that it is not in (as the cross-fitting of scikit-learn's TargetEncoder), so that its own target is
not in them; the mean μ, m and the unit are those of all rows, and the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mercer.machines.encoding.reading import read_texts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Levels", "count_levels", "one_hot", "target_statistics"]

FEW_ENTRIES = 256  # that are looked up one by one, which is faster than to sort them
MAX_COLUMNS = 1000  # levels with a column of their own, whatever is asked for
OTHER, GAP = -2, -1  # rows of the table for other levels, and for gaps
MISSING, RARE = "is missing", "is rare"


@dataclass(frozen=True, eq=False)
class Levels:
    """A table of what each level becomes.

    Attributes
    ----------
    levels : ndarray of str
        Levels with a row in the table.
    table : ndarray of shape (levels + 2, columns)
        The last two rows are for other levels, rare or never seen, and for gaps.
    parts : list of str
        What stands behind the name of the column in the names of the new ones.
    """

    levels: np.ndarray
    table: np.ndarray
    parts: list[str]

    def codes(self, column: pd.Series) -> np.ndarray:
        """Return the row of the table for each entry."""
        known, end = self._places, len(self.levels)
        few = column.tolist() if len(column) <= FEW_ENTRIES else []
        if few and all(type(entry) is str for entry in few):
            return np.array([known.get(entry, end) for entry in few])
        codes, found = read_texts(column)
        rows = np.array([*(known.get(level, end) for level in found), end + 1])
        return rows[codes]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {level: i for i, level in enumerate(self.levels.tolist())}

    def __call__(self, column: pd.Series) -> np.ndarray:
        return self.table[self.codes(column)]


def count_levels(column: pd.Series, min_rows: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return codes, and the levels with at least so many rows with their counts, in order.

    Codes are numbers of those levels, then one for all others and one for gaps.
    """
    codes, found = read_texts(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(found))
    kept = sorted((i for i in range(len(found)) if counts[i] >= min_rows), key=found.__getitem__)
    places = np.full(len(found) + 1, len(kept))
    places[kept] = np.arange(len(kept))
    places[-1] = len(kept) + 1
    return places[codes], counts[kept], [found[i] for i in kept]


def one_hot(codes: np.ndarray, counts: np.ndarray, levels: list[str]) -> Levels:
    """Return a column for each level, one for the rare ones and one for gaps.

    Entries are 0 and 1, so that two different levels are √2 apart: the root mean square of the
    difference of two rows in a column that is standardized.
    """
    kept = np.arange(len(levels))
    if len(levels) > MAX_COLUMNS:
        kept = np.sort(np.argsort(-counts, kind="stable")[:MAX_COLUMNS])
    width = len(kept)
    parts = [*(f"={_short(levels[i])}" for i in kept), f" {RARE}", f" {MISSING}"]
    # How often each row of the table is there decides which columns can tell rows apart.
    seen = np.bincount(codes, minlength=len(levels) + 2)
    others = seen[: len(levels)].sum() - seen[kept].sum() + seen[OTHER]
    used = np.array([*seen[kept], others, seen[GAP]])
    varied = (used > 0) & (used < len(codes))
    return Levels(
        np.array([levels[i] for i in kept], dtype=object),
        np.eye(width + 2)[:, varied],
        [part for part, keep in zip(parts, varied, strict=True) if keep],
    )


def target_statistics(
    codes: np.ndarray,
    levels: list[str],
    target: np.ndarray,
    labels: list[str],
    fold: np.ndarray,
    smoothing: float | None,
    min_rows: int,
) -> tuple[Levels, np.ndarray]:
    """Return the table of all rows, and what the training rows become without their own fold.

    Parameters
    ----------
    codes, levels
        As from `count_levels`.
    target : ndarray of shape (n, columns)
    labels : list of str
        What is averaged, for names.
    fold : ndarray of int
        The fold of each row.
    smoothing : float or None
        The m of the formula; None for that of the data.
    min_rows : int
        A gap that is rarer is worth the mean.
    """
    size, folds = len(levels) + 2, int(fold.max()) + 1
    cells = codes * folds + fold
    counts = np.bincount(cells, minlength=size * folds).reshape(size, folds).astype(np.float64)
    total = counts.sum(axis=1)
    worthless = np.zeros(size, dtype=bool)
    worthless[OTHER], worthless[GAP] = True, total[GAP] < min_rows
    columns, crossed = [], []
    for y in target.T:
        y = y - y.mean()
        sums = np.bincount(cells, y, minlength=size * folds).reshape(size, folds)
        m = _smoothing(codes, y, total, sums.sum(axis=1)) if smoothing is None else smoothing
        whole = np.where(worthless, 0.0, _shrunken(sums.sum(axis=1), total, m))
        apart = _shrunken(sums.sum(axis=1)[:, None] - sums, total[:, None] - counts, m)
        apart[worthless] = 0.0
        unit = float(np.sqrt(total @ whole**2 / len(codes))) or 1.0
        columns.append(whole / unit)
        crossed.append(apart[codes, fold] / unit)
    logs = np.log(np.maximum(total, max(1, min_rows - 1)))
    logs[OTHER] = np.log(max(1, min_rows - 1))  # as rare as a level that was never seen
    center = total @ logs / len(codes)
    logs = (logs - center) / (float(np.sqrt(total @ (logs - center) ** 2 / len(codes))) or 1.0)
    table = np.column_stack([*columns, logs, np.eye(size)[:, GAP]])
    varied = np.ptp(table[total > 0], axis=0) > 1e-12
    rows = np.column_stack([*crossed, table[codes, -2:]])
    parts = [*(f": {label}" for label in labels), ": log count", f" {MISSING}"]
    kept = [part for part, keep in zip(parts, varied, strict=True) if keep]
    return Levels(np.array(levels, dtype=object), table[:, varied], kept), rows[:, varied]


def _shrunken(sums: np.ndarray, counts: np.ndarray, m: float) -> np.ndarray:
    """Return n/(n + m)·ȳ, zero where there is no row."""
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return means * (counts / (counts + m))


def _smoothing(codes: np.ndarray, y: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> float:
    """Return the variance within levels over that between them, infinite if there is none."""
    there = counts > 0
    there[OTHER] = False  # rare levels are no level
    rows, levels = counts[there].sum(), int(there.sum())
    if levels < 2 or rows <= levels:
        return np.inf
    inside = there[codes]
    grand = sums[there].sum() / rows
    between = (sums[there] ** 2 / counts[there]).sum() - rows * grand**2
    within = (((y[inside] - grand) ** 2).sum() - between) / (rows - levels)
    typical = (rows - (counts[there] ** 2).sum() / rows) / (levels - 1)
    excess = (between / (levels - 1) - within) / typical
    if excess <= 0:
        return np.inf
    return max(float(within / excess), 1.0)


def _short(text: str, longest: int = 40) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
