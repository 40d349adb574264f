"""Effects of columns on what any machine answers, and how much two of them act together.

Partial dependence gives all rows the same entry of a column, and averages (Friedman, 2001). Where
columns belong together that asks about rows that cannot be: a child of 90 kg. Accumulated local
effects only move rows to the ends of the bin that they are in, and add up the mean differences
(Apley & Zhu, 2020). The H statistic is the share of the variance of a joint partial dependence
that is not the sum of the single ones (Friedman & Popescu, 2008).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Items, is_frame
from mercer.errors import DomainError, ValidityError, suggestion

__all__ = ["EffectCurve", "answers_of", "column_effect", "interaction"]

KINDS = ("accumulated", "partial")
MAX_ROWS = 200  # over which partial dependence is averaged; of more, evenly spaced ones
MAX_PAIR_ROWS = 40  # the same for pairs of columns, which take the square of it
SPREAD = (0.1, 0.9)  # quantiles of single rows around their mean
TWO_ERRORS = 2.0  # standard errors on each side of an accumulated effect
# Of the variance of the answers: a joint effect below it has no shares that mean something.
NEGLIGIBLE = 1e-12
MAX_LEVELS = 100  # categories along which effects are added up


@dataclass(frozen=True)
class EffectCurve:
    """What a machine answers along a column. Made by `column_effect`.

    Attributes
    ----------
    column : str or int
    kind : {"accumulated", "partial"}
    values : ndarray of shape (m,)
        Entries of the column.
    effect : ndarray of shape (m,)
        Minus its mean over the rows.
    low, high : ndarray of shape (m,)
        Of accumulated effects two standard errors on each side; of partial ones 80 % of the rows.
    rows : int

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> found = column_effect(KernelRidge("linear", 1e-6).fit(X, X[:, 0]), X, 0, count=4)
    >>> found.column, found.kind, found.rows, len(found.values) == len(found.effect)
    (0, 'accumulated', 100, True)
    """

    column: Any
    kind: str
    values: np.ndarray
    effect: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rows: int

    @property
    def reach(self) -> float:
        """How much the answer changes at most."""
        return float(np.ptp(self.effect))


def column_effect(
    machine: Any,
    X: Items,
    column: Any,
    *,
    kind: str = "accumulated",
    count: int = 20,
    label: object = None,
) -> EffectCurve:
    """Return what a machine answers along the entries of a column, all else as it is.

    Parameters
    ----------
    machine : fitted machine or pipeline
        It is asked about whole rows, so that columns are those of the table it takes.
    X : DataFrame or array
        Rows such as those that it will see.
    column : str or int
    kind : {"accumulated", "partial"}
        Categories have no order of their own; their effects are accumulated in the order of the
        mean answers to their rows. Words of a text have `part_effects`.
    count : int
        Bins of a column of numbers, with about as many rows in each.
    label : optional
        The class whose probability, or score, is the answer; by default the last.

    Returns
    -------
    EffectCurve
        Effects at the borders of the bins, or at each entry.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> machine = KernelRidge("linear", 1e-6).fit(X, 3.0 * X[:, 0])
    >>> found = column_effect(machine, X, 0, count=4)
    >>> (np.diff(found.effect) / np.diff(found.values)).round(3)
    array([3., 3., 3., 3.])
    """
    check_is_fitted(machine)
    if kind not in KINDS:
        raise ValidityError(f"kind cannot be {kind!r}{suggestion(str(kind), KINDS)}")
    table = _Answers(machine, X, label)
    entries = table.entries(column)
    if len(np.unique(entries)) < 2:
        raise DomainError(f"column {column!r} has a single entry, so nothing depends on it here")
    if kind == "partial":
        return _partial(table, column, entries, count)
    if entries.dtype.kind not in "iufb":
        return _accumulated_levels(table, column, entries)
    return _accumulated(table, column, entries.astype(np.float64), count)


def interaction(
    machine: Any, X: Items, one: Any, other: Any = None, *, label: object = None
) -> float:
    """Return how much two columns act together, from 0 (not at all) to about 1.

    It is H², the share of what both do that is not the sum of what each does. Without `other`, of
    a column with all others together.

    Parameters
    ----------
    machine : fitted machine or pipeline
    X : DataFrame or array
        Rows such as those that it will see.
    one, other : str or int
        Columns; without the second, all others together.
    label : optional
        The class whose probability, or score, is the answer; by default the last.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.kernels import Polynomial
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> machine = KernelRidge(Polynomial(2, 1.0), 1e-6).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    >>> round(interaction(machine, X, 0, 2), 3), interaction(machine, X, 0, 1) > 0.5
    (0.0, True)
    """
    check_is_fitted(machine)
    table = _Answers(machine, X, label)
    some = table.some(MAX_PAIR_ROWS)
    if other is not None and one == other:
        raise ValidityError(f"a column acts together with another one, found {one!r} twice")
    first = _centered(table.means(some, [one]))
    if other is None:
        rest = [name for name in table.names if name != one]
        second, joint = _centered(table.means(some, rest)), _centered(table.answers(some))
    else:
        second = _centered(table.means(some, [other]))
        joint = _centered(table.means(some, [one, other]))
    whole = float(np.sum(joint**2))
    spread = float(np.var(table.answers(some))) * len(some)
    if whole <= NEGLIGIBLE * max(spread, np.finfo(float).tiny):
        return 0.0
    return float(np.sum((joint - first - second) ** 2) / whole)


class _Answers:
    """Rows of a table, of which columns can be replaced, and what a machine answers."""

    def __init__(self, machine: Any, X: Any, label: object) -> None:
        self.machine, self.label = machine, label
        self.X = X if is_frame(X) else np.asarray(X)
        if not is_frame(X) and self.X.ndim != 2:
            raise DomainError("effects are of the columns of a table; these items have no columns")
        self.names = list(X.columns) if is_frame(X) else list(range(self.X.shape[1]))

    def entries(self, column: Any) -> np.ndarray:
        if column not in self.names:
            raise DomainError(
                f"there is no column {column!r}{suggestion(str(column), map(str, self.names))}"
            )
        return np.asarray(self.X[column] if is_frame(self.X) else self.X[:, column])

    def some(self, most: int) -> np.ndarray:
        """Return the places of so many rows at most, evenly spaced."""
        count = len(self.X)
        return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))

    def take(self, rows: np.ndarray) -> Any:
        return self.X.iloc[rows].copy() if is_frame(self.X) else self.X[rows].copy()

    def answers(self, rows: np.ndarray) -> np.ndarray:
        """Return what the machine says of some rows."""
        return self.ask(self.take(rows))

    def replaced(self, rows: np.ndarray, columns: dict[Any, np.ndarray]) -> np.ndarray:
        """Return what the machine says of some rows with other entries in some columns."""
        table = self.take(rows)
        for name, entries in columns.items():
            if is_frame(table):
                table[name] = entries
                table[name] = table[name].astype(self.X[name].dtype)
            else:
                table[:, name] = entries
        return self.ask(table)

    def means(self, some: np.ndarray, columns: list[Any]) -> np.ndarray:
        """Return the partial dependence on some columns at the entries of some rows."""
        n = len(some)
        rows = np.repeat(some, n)
        places = np.tile(some, n)  # whose entries each row is given
        entries = {name: self.entries(name)[places] for name in columns}
        return self.replaced(rows, entries).reshape(n, n).mean(axis=0)

    def ask(self, table: Any) -> np.ndarray:
        return answers_of(self.machine, table, self.label)


def answers_of(machine: Any, X: Any, label: object = None) -> np.ndarray:
    """Return numbers that a machine predicts, or probabilities of a class, or else its scores."""
    classes = getattr(machine, "classes_", None)
    if classes is None:
        found = np.asarray(machine.predict(X), dtype=np.float64)
        return found if found.ndim == 1 else found[:, 0]
    known = classes.tolist()
    label = known[-1] if label is None else label
    if label not in known:
        raise DomainError(f"there is no class {label!r}; the classes are {known}")
    if hasattr(machine, "predict_proba"):
        return np.asarray(machine.predict_proba(X))[:, known.index(label)]
    scores = np.asarray(machine.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        return scores if label == known[-1] else -scores
    return scores[:, known.index(label)]


def _accumulated(table: _Answers, column: Any, entries: np.ndarray, count: int) -> EffectCurve:
    ends = np.unique(np.quantile(entries, np.linspace(0, 1, count + 1), method="inverted_cdf"))
    # A row at an end belongs to the bin below it, the first rows to the first bin.
    place = np.clip(np.searchsorted(ends, entries, side="left") - 1, 0, len(ends) - 2)
    rows = np.arange(len(entries))
    low = table.replaced(rows, {column: ends[place]})
    steps = table.replaced(rows, {column: ends[place + 1]}) - low
    there = np.bincount(place, minlength=len(ends) - 1)
    mean = np.bincount(place, steps, len(ends) - 1) / np.maximum(there, 1)
    square = np.bincount(place, (steps - mean[place]) ** 2, len(ends) - 1)
    error = square / np.maximum(there * (there - 1), 1)  # of the mean, squared
    effect = np.concatenate([[0.0], np.cumsum(mean)])
    middle = (effect[:-1] + effect[1:]) / 2
    effect -= float(middle @ there) / len(entries)
    band = TWO_ERRORS * np.sqrt(np.concatenate([[0.0], np.cumsum(error)]))
    return EffectCurve(
        column, "accumulated", ends, effect, effect - band, effect + band, len(entries)
    )


def _accumulated_levels(table: _Answers, column: Any, entries: np.ndarray) -> EffectCurve:
    """Add up the changes between neighboring categories, of the rows in one of the two."""
    names, codes, counts = np.unique(entries, return_inverse=True, return_counts=True)
    if len(names) > MAX_LEVELS:
        raise DomainError(
            f"column {column!r} has {len(names)} different entries, more than {MAX_LEVELS} "
            "categories; of a text, use part_effects"
        )
    rows = np.arange(len(entries))
    means = np.bincount(codes, table.answers(rows)) / counts
    order = np.argsort(means, kind="stable")
    steps, errors = [0.0], [0.0]
    for one, other in itertools.pairwise(order):
        near = rows[(codes == one) | (codes == other)]
        ends = [table.replaced(near, {column: np.full(len(near), names[k])}) for k in (one, other)]
        steps.append(float(np.mean(ends[1] - ends[0])))
        errors.append(float(np.var(ends[1] - ends[0], ddof=1)) / len(near))
    effect = np.cumsum(steps)
    effect -= float(effect @ counts[order]) / len(entries)
    band = TWO_ERRORS * np.sqrt(np.cumsum(errors))
    return EffectCurve(
        column, "accumulated", names[order], effect, effect - band, effect + band, len(entries)
    )


def _partial(table: _Answers, column: Any, entries: np.ndarray, count: int) -> EffectCurve:
    values = np.unique(entries)
    if entries.dtype.kind in "iuf" and len(values) > count:
        levels = np.linspace(0, 1, count)
        values = np.unique(np.quantile(entries, levels, method="inverted_cdf"))
    some = table.some(MAX_ROWS)
    rows = np.repeat(some, len(values))
    curves = table.replaced(rows, {column: np.tile(values, len(some))})
    curves = curves.reshape(len(some), len(values))
    effect = curves.mean(axis=0) - curves.mean()
    moved = curves - curves.mean(axis=1, keepdims=True)
    low, high = np.quantile(moved, SPREAD, axis=0)
    return EffectCurve(column, "partial", values, effect, low, high, len(some))


def _centered(values: np.ndarray) -> np.ndarray:
    return values - values.mean()
