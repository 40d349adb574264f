"""Leaks: columns from each of which alone the target follows, or nearly so.

Such a column is often a copy of the target, or was filled in after it was known. A rule that looks
at one column only is judged by the same folds as the machines: a row gets the answer of the rows
with the nearest entry. Most columns are dismissed after a first look at some rows of one fold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from mercer.domains import is_frame
from mercer.sources import Sheet
from mercer.studies.folds import rare

__all__ = ["codes_of", "columns", "find_leaks", "group_answers"]

MAX_UNEXPLAINED = 0.01  # share that a leak leaves open: of the rows, or of the target's variance
MAX_UNEXPLAINED_THERE = 0.2  # share that may be left open in the first look
FALSE_ALARM = 1e-3  # probability that some column seems to be a leak


def find_leaks(sheet: Sheet, fold: np.ndarray) -> list[tuple[str, float]]:
    """Return the names of such columns, and what share of the target each of them explains.

    That is the share of right labels, or of the variance of a number, in held-out rows.

    Parameters
    ----------
    sheet : Sheet
    fold : ndarray of int
        In which fold each row is held out.
    """
    y: Any = sheet.y
    rows, numbers, limit, largest = (
        np.flatnonzero(~rare(y)),
        y.dtype.kind == "f",
        MAX_UNEXPLAINED,
        0,
    )
    if numbers and len(rows) < 10:
        return []
    if not numbers:
        _, y = np.unique(y, return_inverse=True)
        count, largest = len(rows), int(np.bincount(y[rows]).max())
        limit = min(MAX_UNEXPLAINED, 0.1 * (1 - largest / count))
        # Rows can be divided like this in so many ways that no column does it by chance.
        ways = gammaln(count + 1) - gammaln(largest + 1) - gammaln(count - largest + 1)
        if ways < math.log(2 * sheet.X.shape[1] / FALSE_ALARM):
            return []
    # The first look at a column is at about a thousand rows.
    some, folds = rows[:: math.ceil(len(rows) / 1000)], np.unique(fold[rows])
    # All zeros of a sparse column get one answer, so one with few other entries explains little.
    least = MAX_UNEXPLAINED_THERE * len(y) if numbers else (1 - MAX_UNEXPLAINED) * len(y) - largest
    found = []
    with np.errstate(over="ignore", invalid="ignore"):  # huge numbers explain nothing
        for name, values in columns(sheet, least):
            if unexplained(values, y, fold, some, folds[:1]) <= MAX_UNEXPLAINED_THERE:
                found.append((unexplained(values, y, fold, rows, folds), name))
    return [(name, 1 - left) for left, name in sorted(found) if left <= limit]


def columns(sheet: Sheet, least: float = 0.0) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the values of each column: floats, or codes of things without order.

    Of a sparse table only the columns with at least so many entries that are not zero.
    """
    X = sheet.X
    if is_frame(X):
        for j, name in enumerate(X.columns):
            yield str(name), codes_of(X.iloc[:, j])
        return
    table = sparse.csc_array(X)
    first = sheet.used[0].style.get("first", 1) if sheet.used else 1  # number in the file
    for j in np.flatnonzero(np.diff(table.indptr) >= least).tolist():
        yield str(j + first), table[:, [j]].toarray()[:, 0].astype(float)


def codes_of(column: Any) -> np.ndarray:
    """Return numbers as they are, and for other things the same whole number if they are equal.

    Examples
    --------
    >>> import pandas as pd
    >>> codes_of(pd.Series(["a", None, "b", "a"])), codes_of(pd.Series([3, 4]))
    (array([ 0, -1,  1,  0]), array([3., 4.]))
    """
    import pandas as pd

    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub":
        return column.to_numpy(dtype=float)
    try:
        return pd.factorize(column.to_numpy(dtype=object))[0]
    except TypeError:  # things without a hash: nobody knows which are equal
        return np.arange(len(column))


def unexplained(
    values: np.ndarray, y: np.ndarray, fold: np.ndarray, rows: np.ndarray, folds: np.ndarray
) -> float:
    """Return the share of labels, or of the variance, that one column leaves open.

    Parameters
    ----------
    values, y : ndarray
        Of all rows; floats, or whole numbers that stand for things without order.
    fold : ndarray of int
    rows : ndarray of int
        The rows that are looked at.
    folds : ndarray of int
        Those that are held out in turn.
    """
    ordered, numbers = values.dtype.kind == "f", y.dtype.kind == "f"
    here = rows[~np.isnan(values[rows])]
    if ordered:  # a gap is a value of its own, beyond the others
        values = np.nan_to_num(values, nan=2 * np.nanmax(np.abs(values), initial=0.0) + 1)
    lost = total = 0.0
    for number in folds:
        held = fold[rows] == number
        train, test = rows[~held], rows[held]
        known, group = np.unique(values[train], return_inverse=True)
        if len(known) < 2:
            return 1.0
        new, truth = values[test], y[test]
        near = np.clip(np.searchsorted(known, new), 1, len(known) - 1)
        near -= new - known[near - 1] < known[near] - new
        answer = group_answers(group, y[train])[near]
        most = (truth - y[train].mean()) ** 2 if numbers else np.ones(len(test))
        left = (answer - truth) ** 2 if numbers else (answer != truth).astype(float)
        if not ordered:  # what was never seen says nothing
            left = np.where(known[near] == new, left, most)
        lost, total = lost + float(left.sum()), total + float(most.sum())
    share = lost / total if total else 1.0
    if not (numbers and ordered and total) or len(here) < 0.95 * len(rows):
        return share
    return min(share, _monotone(values[here], y[here]))


def group_answers(group: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the most frequent label, or the mean of numbers, of each group.

    Examples
    --------
    >>> group_answers(np.array([0, 0, 0, 1]), np.array([2, 2, 0, 1]))
    array([2, 1])
    >>> group_answers(np.array([0, 0, 0, 1]), np.array([2.0, 2.0, 5.0, 1.0]))
    array([3., 1.])
    """
    if y.dtype.kind == "f":
        return np.bincount(group, y) / np.bincount(group)
    count = int(y.max()) + 1
    pairs, often = np.unique(group * count + y, return_counts=True)
    group, label = np.divmod(pairs[np.argsort(often, kind="stable")], count)
    best = np.empty(int(group.max()) + 1, dtype=np.int64)
    best[group] = label  # the most frequent one is written last
    return best


def _monotone(x: np.ndarray, y: np.ndarray) -> float:
    """Return what a line leaves open of the variance, or a bent one that never turns back."""
    line = _explained(x, y)
    ranks = _explained(*(np.argsort(np.argsort(values)).astype(float) for values in (x, y)))
    # Ranks may be close where the values are not, so they have to be closer: above 0.999.
    return float(min(1 - line, (1 - ranks) * MAX_UNEXPLAINED / (1 - 0.999**2)))


def _explained(x: np.ndarray, y: np.ndarray) -> float:
    """Return the square of the correlation."""
    x, y = x - x.mean(), y - y.mean()
    both = (x @ x) * (y @ y)
    return float((x @ y) ** 2 / both) if 0 < both < np.inf else 0.0
