"""Effects: what a model answers on average along the values of one column.

A few rows are taken, the column is given each of its values in turn, and the answers are averaged
(partial dependence: Friedman, 2001). How much single rows differ from that is told as well,
because an average may hide that a column does opposite things to different rows: each row's curve
is moved to the common level first (individual conditional expectation: Goldstein et al., 2015).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import is_frame
from mercer.studies.attention import ColumnAttention
from mercer.studies.column_effect import ColumnEffect

if TYPE_CHECKING:
    import pandas as pd

    from mercer.sources import Column, Sheet
    from mercer.studies.nested_cv import OuterFold

__all__ = ["ColumnEffect", "column_effects", "find_effects", "shuffled_losses"]

MOST_COLUMNS = 3
MAX_VALUES, MAX_LEVELS = 20, 8  # of a column of numbers, and of one of categories
ANSWERED_CLASSES = 3
MIN_ROWS, MAX_ROWS = 25, 200  # that are averaged
# A prediction looks at each row that was learned from; 20 million such looks take a second.
MAX_LOOKS = 30_000_000
SPREAD = (0.1, 0.9)  # quantiles of single rows
MIN_SHARE = 0.01  # of the attention; a column with less has no effect worth a picture
MAX_DAYS = 3_000_000  # from 1970; what is farther stays a number
NUMBERS, LEVELS = ("numeric", "date"), ("categorical",)


def find_effects(
    model: Any, sheet: Sheet, attention: ColumnAttention | None, judge: OuterFold, seed: int
) -> tuple[ColumnEffect, ...]:
    """Return the effects of the columns that matter most; none of rows that are no plain table.

    Parameters
    ----------
    model : machine
        It takes rows as they are in the sheet.
    sheet : Sheet
    attention : ColumnAttention or None
        What matters. Without it, columns are shuffled in held-out rows, one after the other, and
        those matter that make the answers worse.
    judge : OuterFold
        A fold that was judged, with the rows that it held out.
    seed : int
    """
    kinds = {column.name: column.kind for column in sheet.used}
    if not is_frame(sheet.X) or not set(kinds.values()) <= {*NUMBERS, *LEVELS}:
        return ()
    if attention is not None:
        shares = zip(attention.names, attention.shares, strict=True)
        names = [name for name, share in shares if share >= MIN_SHARE]
    else:
        losses = shuffled_losses(
            judge.model(), judge.prepared.new, judge.truth, len(judge.y), seed
        )
        names = sorted((name for name, more in losses.items() if more > 0), key=losses.get)[::-1]  # type: ignore[arg-type]
    strongest = [column for name in names for column in sheet.used if column.name == name]
    return column_effects(model, sheet.X, sheet.y, strongest[:MOST_COLUMNS], seed)  # type: ignore[arg-type]


def column_effects(
    model: Any, X: pd.DataFrame, y: np.ndarray, columns: Sequence[Column], seed: int
) -> tuple[ColumnEffect, ...]:
    """Return the effects of some columns on what a fitted model answers.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> from mercer.sources import read_frame
    >>> rows = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [1.0, 0, 0, 1], "y": [0.1, 2.1, 4.1, 6.1]})
    >>> sheet = read_frame(rows, "y", task="regress")
    >>> model = LinearRegression().fit(sheet.X, sheet.y)
    >>> (effect,) = column_effects(model, sheet.X, sheet.y, sheet.used[:1], seed=0)
    >>> effect.values.tolist(), effect.mean.round(6).tolist()
    ([0.0, 1.0, 2.0, 3.0], [[0.1, 2.1, 4.1, 6.1]])
    """
    rng = np.random.default_rng(seed)
    count = rows_for(len(X), MAX_VALUES * max(len(columns), 1))
    some = X.iloc[np.sort(rng.choice(len(X), min(count, len(X)), replace=False))]
    found = []
    for column in columns:
        values = _values(X[column.name], column.kind)
        if len(values) > 1:
            found.append(_effect(model, some, y, column, values))
    return tuple(found)


def rows_for(learned: int, predictions: int) -> int:
    """Return of how many rows so many predictions each are made, by a machine of many rows.

    Examples
    --------
    >>> rows_for(100, 60), rows_for(5000, 60), rows_for(20_000, 60)
    (200, 100, 25)
    """
    return int(np.clip(MAX_LOOKS / (predictions * learned), MIN_ROWS, MAX_ROWS))


def _values(entries: pd.Series, kind: str) -> np.ndarray:
    """Return the values to look at: quantiles of numbers, or the most frequent entries."""
    there = entries.dropna()
    if kind in NUMBERS:
        numbers = np.unique(there.to_numpy(dtype=np.float64))
        if len(numbers) <= MAX_VALUES:
            return numbers
        levels = np.linspace(0.01, 0.99, MAX_VALUES)
        return np.unique(np.quantile(there.to_numpy(float), levels, method="inverted_cdf"))
    frequent = [entry for entry, _ in Counter(there.tolist()).most_common(MAX_LEVELS)]
    values = np.empty(len(frequent), dtype=object)
    values[:] = frequent
    return values


def _effect(
    model: Any, some: pd.DataFrame, y: np.ndarray, column: Column, values: np.ndarray
) -> ColumnEffect:
    """Give the rows each of the values, and average the answers."""
    import pandas as pd

    asked = some.iloc[np.repeat(np.arange(len(some)), len(values))].copy()
    entries = pd.Series(np.tile(values, len(some)), index=asked.index)
    asked[column.name] = entries.astype(some[column.name].dtype)
    answer, classes, answers = _answers(model, asked, y)
    curves = answers.reshape(len(some), len(values), -1).transpose(2, 0, 1)
    mean = curves.mean(axis=1)
    moved = curves - curves.mean(axis=2, keepdims=True) + mean.mean(axis=1)[:, None, None]
    low, high = np.quantile(moved, SPREAD, axis=1)
    if column.kind == "date" and np.abs(values).max() < MAX_DAYS:
        values = (86_400 * values).astype("datetime64[s]")
    return ColumnEffect(
        column.name, column.kind, values, answer, classes, mean, low, high, len(some)
    )


def _answers(
    model: Any, X: pd.DataFrame, y: np.ndarray
) -> tuple[str, tuple[Any, ...], np.ndarray]:
    """Return what is answered, of which classes, and the answers, one column for each."""
    if y.dtype.kind == "f":
        return "prediction", (), np.asarray(model.predict(X), dtype=np.float64)[:, None]
    known = model.classes_.tolist()
    counts = Counter(y.tolist())
    told = sorted(known, key=lambda label: -counts[label])[:ANSWERED_CLASSES]
    if len(known) == 2:
        told = [min(known, key=lambda label: counts[label])]
    places = [known.index(label) for label in told]
    if hasattr(model, "predict_proba"):
        return "probability", tuple(told), model.predict_proba(X)[:, places]
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    return "decision", tuple(told), scores[:, places]


def shuffled_losses(
    model: Any, X: pd.DataFrame, y: np.ndarray, learned: int, seed: int
) -> dict[str, float]:
    """Return how much worse answers become when a column is shuffled; nothing if it takes long.

    Parameters
    ----------
    model : machine
    X, y : DataFrame, ndarray
        Rows that it has not seen, and their targets.
    learned : int
        Rows that it has learned from.
    seed : int
    """
    names, rng = list(X.columns), np.random.default_rng(seed)
    if MIN_ROWS * learned * len(names) > MAX_LOOKS or not len(X):
        return {}
    some = np.sort(rng.permutation(len(X))[: rows_for(learned, len(names))])
    X, y = X.iloc[some], y[some]
    before, found = _loss(model, X, y), {}
    for name in names:
        shuffled = X.copy()
        shuffled[name] = X[name].to_numpy()[rng.permutation(len(X))]
        shuffled[name] = shuffled[name].astype(X[name].dtype)
        found[str(name)] = _loss(model, shuffled, y) - before
    return found


def _loss(model: Any, X: pd.DataFrame, y: np.ndarray) -> float:
    """Return the squared error, or the probability that is missing at the right class."""
    if y.dtype.kind == "f":
        return float(np.mean((model.predict(X) - y) ** 2))
    if not hasattr(model, "predict_proba"):
        return float(np.mean(model.predict(X) != y))
    own = model.classes_[None, :] == y[:, None]
    return 1 - float(np.mean(np.sum(own * model.predict_proba(X), axis=1)))
