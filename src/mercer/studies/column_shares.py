"""Shares of columns: what each contributed to the answers about held-out rows, and how steadily.

The score of a held-out row is divided among the columns exactly (Shapley values), by the machine
of its fold; the mean size of a column's shares says how much it matters. How much that differs
between the folds says how far to trust it. A few rows are told one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import is_frame
from mercer.errors import MercerError
from mercer.explanations import ColumnReasons, estimate_shares, shapley
from mercer.studies.guard import entry_text
from mercer.studies.preparation import take_rows
from mercer.studies.shares import ColumnShares, ToldRow

if TYPE_CHECKING:
    from mercer.studies.nested_cv import OuterFold

__all__ = ["shares_of_columns"]

MAX_ROWS = 40  # of each fold whose scores are divided
MAX_COLUMNS = 100  # of a table; the time grows with their square
MAX_KNOWN = 20_000  # rows that a score is a sum over
REFERENCE_ROWS = 100  # over which absent columns are averaged
MAX_ORDERS = 20  # of the columns, where shares are estimated
MAX_LOOKS = 40_000_000  # at known rows for that in a fold, which take about two seconds
MAX_TOLD = 4  # columns of a row that is told


def shares_of_columns(folds: Sequence[OuterFold]) -> ColumnShares | None:
    """Return how much each column mattered; None where scores cannot be divided among columns.

    Parameters
    ----------
    folds : sequence of OuterFold
        That were judged.
    """
    found: list[dict[str, float]] = []
    orders, scale = 0, "none"
    told: tuple[ToldRow, ...] = ()
    for number, fold in enumerate(folds):
        X = fold.prepared.new
        if not is_frame(X) or not 1 < X.shape[1] <= MAX_COLUMNS or len(fold.y) > MAX_KNOWN:
            return None
        some = _evenly(len(X), MAX_ROWS)
        rows, model = take_rows(X, some), fold.model()
        known = take_rows(fold.prepared.X, _evenly(len(fold.y), REFERENCE_ROWS))
        why = _divided(model, rows, known, len(fold.y))
        if why is None:
            return None
        orders, scale = max(orders, why.orders), why.scale
        total = float(why.importance.sum())
        if not total > 0:
            return None
        names = map(str, why.columns)
        found.append(dict(zip(names, (why.importance / total).tolist(), strict=True)))
        if not number:
            told = _told(why, rows, fold, some)
    every: dict[str, list[float]] = defaultdict(list)
    for name in {name: None for one in found for name in one}:
        every[name] = [one.get(name, 0.0) for one in found]
    order = sorted(every, key=lambda name: -float(np.mean(every[name])))
    spreads = [float(np.std(every[name], ddof=1)) if len(found) > 1 else 0.0 for name in order]
    means = tuple(float(np.mean(every[name])) for name in order)
    return ColumnShares(tuple(order), means, tuple(spreads), told, orders, scale)


def _divided(model: Any, rows: Any, known: Any, learned: int) -> ColumnReasons | None:
    """Return shares, exact ones where the kernel allows, of machines of one sort in all folds."""
    try:
        return shapley(model, rows, reference=known)
    except MercerError:  # a kernel that looks at all columns at once
        pass
    walks = 2 * len(rows) * (rows.shape[1] + 1) * learned  # looks at known rows, of two orders
    orders = 2 * int(min(MAX_LOOKS // walks, MAX_ORDERS // 2))
    if not orders:
        return None
    try:
        return estimate_shares(model, rows, known, orders=orders)
    except MercerError:
        return None


def _told(why: ColumnReasons, rows: Any, fold: OuterFold, some: np.ndarray) -> tuple[ToldRow, ...]:
    """Return rows worth telling: the ends, the middle, and the most wrong one."""
    order = np.argsort(why.scores, kind="stable")
    said, truth = fold.predictions[fold.winner.family.name][some], fold.truth[some]
    if truth.dtype.kind == "f":
        worst, wrong = int(np.argmax(np.abs(truth - said))), "furthest off"
        names = ("the highest", "the lowest", "above the middle", "in the middle")
    else:
        missed = np.where(truth != said, why.scores, -np.inf)
        worst, wrong = int(np.argmax(missed)), "wrong, and surest of it"
        if not np.isfinite(missed[worst]):
            worst, wrong = int(order[len(order) // 4]), "less sure than most"
        names = ("the surest", "the least sure", "surer than most", "in the middle")
    at = (order[-1], order[0], order[3 * len(order) // 4], order[len(order) // 2])
    chosen: dict[int, str] = {worst: wrong}
    for place, name in zip(at, names, strict=True):
        chosen.setdefault(int(place), name)
    kinds = {column.name: column.kind for column in fold.prepared.how.columns}
    return tuple(
        _row(why, rows, place, fold.test[some[place]], n, kinds) for place, n in chosen.items()
    )


def _row(
    why: ColumnReasons, rows: Any, k: int, place: int, name: str, kinds: dict[str, str]
) -> ToldRow:
    order = np.argsort(-np.abs(why.values[k]), kind="stable")
    shown = tuple(
        (str(name), entry_text(rows[name].iloc[k], kinds.get(name, "")), float(why.values[k, j]))
        for j in order[:MAX_TOLD]
        for name in (why.columns[j],)
    )
    rest = float(why.values[k, order[MAX_TOLD:]].sum())
    return ToldRow(
        int(place), name, why.toward[k], shown, rest, float(why.base[k]), float(why.scores[k])
    )


def _evenly(count: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
