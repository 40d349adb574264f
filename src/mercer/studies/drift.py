"""Drift: is a new table like the one that was learned from, and what does it mean for the error?

Three tests, each at a third of the level, so that together they raise as many false alarms as that
at most: all columns at once (maximum mean discrepancy with a permutation test, Gretton et al.,
2012), each column alone (the same, corrected by Holm for their number), and the number of rows
that are far from all known ones. What the change means for the error follows from the losses of
held-out rows, weighted by how much more frequent rows like them are now (`density_ratio`). That
holds if only the rows have changed, and not what follows from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import _safe_indexing

from mercer.domains import is_frame
from mercer.errors import DomainError
from mercer.kernels import Gaussian
from mercer.machines import Encode
from mercer.rkhs import mmd
from mercer.sources import Column, Sheet
from mercer.studies.density_ratio import density_ratio
from mercer.studies.familiarity import FAR
from mercer.studies.guard import Watch, losses_of, shown

__all__ = ["ColumnDrift", "Drift", "ErrorNow", "find_drift"]

TESTS = 3  # that share the level
MAX_ROWS = 1000  # of the new table that are compared, a random sample of more
COLUMN_ROWS = 400  # of each table, where a column is compared alone
PERMUTATIONS = 999
SLOWEST = 5  # permutations of a column for each that its corrected p-value needs at least
NAMED = 5  # rows that are named
MIN_EFFECTIVE = 25  # held-out rows like the new ones, below which nothing is said of the error
MAX_FAR = 0.1  # of the new rows; of more no held-out row tells how well they are predicted
UNUSUAL = 0.2  # share of known rows that are as far, above which nothing is said of a row
MIN_ROWS = 5  # of a new table, of which anything can be said


@dataclass(frozen=True)
class ColumnDrift:
    """How much a column has changed, and the p-value of that, corrected for all columns."""

    name: str
    discrepancy: float
    pvalue: float
    before: str
    now: str


@dataclass(frozen=True)
class ErrorNow:
    """What the error was said to be, and what it is on rows like the new ones.

    Attributes
    ----------
    stated : float or None
        Of the study; the others are in the same unit.
    expected, expected_se : float or None
        Of held-out rows, weighted to be like the new ones. None where too few of them are.
    effective : float
        How many held-out rows these weights are worth.
    measured, measured_se : float or None
        Of the new rows, where they have targets.
    """

    stated: float | None
    expected: float | None
    expected_se: float | None
    effective: float
    measured: float | None = None
    measured_se: float | None = None


@dataclass(frozen=True)
class Drift:
    """What has changed. Made by `find_drift`.

    Attributes
    ----------
    rows, known : int
        Rows of the new table that were compared, and known rows.
    discrepancy, pvalue : float
        Of all columns.
    columns : tuple of ColumnDrift
        The most changed first.
    far : int
        New rows that are far from all known ones, of `rows`.
    far_pvalue : float
        The chance of as many.
    least : tuple of (int, str)
        The rows that are least like anything known, by their number in the file, and why.
    error : ErrorNow
    level : float
    task : {"classify", "regress"}
    """

    rows: int
    known: int
    discrepancy: float
    pvalue: float
    columns: tuple[ColumnDrift, ...]
    far: int
    far_pvalue: float
    least: tuple[tuple[int, str], ...]
    error: ErrorNow
    level: float
    task: str

    @property
    def changed(self) -> tuple[ColumnDrift, ...]:
        """The columns that have changed by more than chance can explain."""
        return tuple(one for one in self.columns if one.pvalue <= self.level / TESTS)

    @property
    def found(self) -> bool:
        """Whether the new table differs by more than chance can explain."""
        rare = min(self.pvalue, self.far_pvalue) <= self.level / TESTS
        return rare or bool(self.changed)


def find_drift(
    watch: Watch, new: Sheet, stated: float | None, level: float = 0.01, seed: int = 0
) -> Drift:
    """Compare a new table with the known rows of a model.

    Parameters
    ----------
    watch : Watch
        Of the model (`SavedModel.watch`).
    new : Sheet
        Read as the table that was learned from.
    stated : float or None
        The error that the study has estimated.
    level : float
        The chance of a false alarm.
    seed : int
        Of samples and permutations.
    """
    if not 0 < level < 1:
        raise DomainError(f"the level must be between 0 and 1, found {level!r}")
    if len(new) < MIN_ROWS:
        raise DomainError(f"drift needs at least {MIN_ROWS} new rows, found {len(new)}")
    guard = watch.guard
    rng = np.random.default_rng(seed)
    places = _some(len(new), MAX_ROWS, rng)
    X = _safe_indexing(new.X, places)
    old, now, kernel = _compared(watch, new.used, X)
    whole = mmd(kernel, old, now, PERMUTATIONS, seed)
    task = "regress" if guard.target is not None else "classify"
    far, far_pvalue, least = _unfamiliar(watch, new, places)
    return Drift(
        rows=len(places),
        known=len(guard.losses),
        discrepancy=float(whole),
        pvalue=float(whole.pvalue or 0.0),
        columns=_columns(guard.rows, X, new.used, rng, seed, level),
        far=far,
        far_pvalue=far_pvalue,
        least=least,
        error=_error(watch, new, old, now, stated, task, seed, far <= MAX_FAR * len(places)),
        level=level,
        task=task,
    )


def _some(count: int, most: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(count) if count <= most else np.sort(rng.permutation(count)[:most])


def _compared(watch: Watch, columns: Sequence[Column], X: Any) -> tuple[Any, Any, Any]:
    """Return known and new rows as a kernel compares them, and that kernel.

    Of numbers, dates and categories all columns count alike; of other things the kernel of the
    machine says what is alike.
    """
    kinds = {column.name: column.kind for column in columns}
    plain = is_frame(X) and all(k in ("numeric", "date", "categorical") for k in kinds.values())
    if plain:
        old, now = _encoded(watch.guard.rows, X, kinds)
        return old, now, Gaussian("median")
    known = watch.familiarity
    if known is None:
        raise DomainError("the machine has no kernel by which rows could be compared")
    return watch.prepared(watch.guard.rows), watch.prepared(X), known.kernel


def _encoded(old: Any, now: Any, kinds: dict[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return both tables as rows of numbers, learned from both, as a permutation test needs it."""
    import pandas as pd

    both = pd.concat([old, now], ignore_index=True)
    there = [name for name in both.columns if both[name].notna().any()]
    encode = Encode("quantile", "onehot", kinds={name: kinds[name] for name in there})
    found = encode.fit_transform(both[there])
    return found[: len(old)], found[len(old) :]


def _columns(
    old: Any,
    now: Any,
    columns: Sequence[Column],
    rng: np.random.Generator,
    seed: int,
    level: float,
) -> tuple[ColumnDrift, ...]:
    """Return how much each column has changed, the most changed first."""
    plain = [c for c in columns if c.kind in ("numeric", "date", "categorical")]
    if not is_frame(now) or not plain:
        return ()
    old = _safe_indexing(old, _some(len(old), COLUMN_ROWS, rng))
    now = _safe_indexing(now, _some(len(now), COLUMN_ROWS, rng))
    count = max(int(SLOWEST * TESTS * len(plain) / level), PERMUTATIONS)
    found = []
    for column in plain:
        pair = old[[column.name]], now[[column.name]]
        if not any(part[column.name].notna().any() for part in pair):
            found.append((column, 0.0, 1.0))
            continue
        left, right = _encoded(*pair, {column.name: column.kind})
        one = mmd(Gaussian("median"), left, right, min(count, 10 * PERMUTATIONS), seed)
        found.append((column, float(one), float(one.pvalue or 0.0)))
    pvalues = _holm(np.array([p for _, _, p in found]))
    drifts = [
        ColumnDrift(column.name, discrepancy, float(p), _told(old, column), _told(now, column))
        for (column, discrepancy, _), p in zip(found, pvalues, strict=True)
    ]
    return tuple(sorted(drifts, key=lambda one: (one.pvalue, -one.discrepancy)))


def _holm(pvalues: np.ndarray) -> np.ndarray:
    """Return p-values of which the smallest may be compared with the level of all.

    Examples
    --------
    >>> _holm(np.array([0.01, 0.5, 0.02]))
    array([0.03, 0.5 , 0.04])
    """
    order = np.argsort(pvalues, kind="stable")
    scaled = pvalues[order] * np.arange(len(pvalues), 0, -1)
    found = np.empty(len(pvalues))
    found[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return found


def _told(table: Any, column: Column) -> str:
    """Return what a column is like: its middle half, or its most frequent category."""
    entries = table[column.name].dropna()
    gaps = 1 - len(entries) / max(len(table), 1)
    missing = f", {gaps:.0%} missing" if gaps else ""
    if not len(entries):
        return "empty"
    if column.kind == "categorical":
        counts = entries.value_counts(normalize=True)
        return f"{counts.index[0]!s:.20} {counts.iloc[0]:.0%}{missing}"
    low, high = np.quantile(entries.to_numpy(dtype=np.float64), [0.25, 0.75])
    if column.kind == "date":
        low, high = np.floor(low), np.floor(high)
    return f"{shown(low, column.kind)} … {shown(high, column.kind)}{missing}"


def _unfamiliar(
    watch: Watch, new: Sheet, places: np.ndarray
) -> tuple[int, float, tuple[tuple[int, str], ...]]:
    """Return how many rows are far, the chance of that, and the rows least like anything known."""
    known = watch.familiarity
    if known is None:
        return 0, 1.0, ()
    shares = known.shares(watch.prepared(_safe_indexing(new.X, places)))
    far = int(np.sum(shares < FAR))
    chance = chance_of_far(shares, len(known)) if far else 1.0
    texts = watch.look(new).texts
    order = np.argsort(shares, kind="stable")[:NAMED]
    named = [
        (int(new.rows[places[i]]), texts[places[i]] or f"share {shares[i]:.2g}") for i in order
    ]
    return far, chance, tuple(named)


def chance_of_far(shares: np.ndarray, known: int) -> float:
    """Return how often rows from the same source would be as far as these, together.

    Either one row is farther than any of so many would be, or many rows are farther than all but a
    few of the known ones: if both come from the same source, every order of all rows by how far
    they are is as likely, so that the number of new ones at the top is hypergeometric.

    Examples
    --------
    >>> ordinary, far = np.full(70, 0.5), np.full(5, 5e-4)
    >>> round(chance_of_far(np.append(ordinary, far), 75), 3)  # 5 of 75, and 75 known
    0.058
    >>> chance_of_far(np.append(ordinary, 1e-9), 75) < 1e-6
    True
    """
    far, farther = int(np.sum(shares < FAR)), int(FAR * known)  # known rows that may be as far
    many = stats.hypergeom.sf(far - 1, len(shares) + known, len(shares), far + farther)
    one = len(shares) * float(np.min(shares))
    return min(2 * min(one, float(many)), 1.0)


def _error(
    watch: Watch,
    new: Sheet,
    old: Any,
    now: Any,
    stated: float | None,
    task: str,
    seed: int,
    covered: bool,
) -> ErrorNow:
    """Return what the change means for the error."""
    losses = watch.guard.losses
    there = np.isfinite(losses)
    expected = expected_se = None
    effective = 0.0
    if there.any() and covered and isinstance(old, np.ndarray):
        weights = density_ratio(old, now, seed)[there]
        effective = float(weights.sum() ** 2 / max((weights**2).sum(), 1e-300))
        if effective >= MIN_EFFECTIVE:
            expected, expected_se = _mean(losses[there], weights, task)
    measured = measured_se = None
    y: Any = new.y
    if y is not None:
        known = np.isfinite(y) if y.dtype.kind == "f" else np.array([one is not None for one in y])
        if known.any():
            predicted = watch.machine.predict(watch.prepared(new.X))
            loss = losses_of(y[known], predicted[known])
            measured, measured_se = _mean(loss, np.ones(len(loss)), task)
    return ErrorNow(stated, expected, expected_se, effective, measured, measured_se)


def _mean(losses: np.ndarray, weights: np.ndarray, task: str) -> tuple[float, float]:
    """Return a weighted error with its standard error; of numbers the root of the mean square."""
    mean = float(np.average(losses, weights=weights))
    spread = float(np.sqrt(np.sum((weights * (losses - mean)) ** 2)) / weights.sum())
    if task == "classify":
        return mean, spread
    root = float(np.sqrt(mean))
    return root, spread / (2 * root) if root else 0.0
