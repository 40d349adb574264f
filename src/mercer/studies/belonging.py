"""Belonging: signs that rows are not independent, where nobody has said so.

A person may be there many times, rows may be near copies of others, and errors may grow with time.
Whether that matters is not guessed but tried: a simple machine is judged twice on the same rows,
with folds that were dealt by chance, and with folds that keep together what may belong together.
If its error is clearly larger then, a finding says so and names the option.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from mercer.domains import is_frame
from mercer.errors import MercerError
from mercer.machines import KernelRidge, KernelRidgeClassifier
from mercer.sources import Sheet
from mercer.studies.arrangement import Arrangement
from mercer.studies.case import in_percent, number, quoted
from mercer.studies.folds import pooled_error
from mercer.studies.nested_cv import InnerSelection
from mercer.studies.preparation import PreparedFold, encodable, take_rows

__all__ = ["belonging", "clumps"]

MAX_ROWS = 1500  # that are looked at
FOLDS = 5
MIN_ENTITIES = 6  # of fewer nothing can be said about others
MAX_TRIED = 3  # columns
MIN_RATIO = 1.25  # of errors, below which it does not matter
MIN_DEVIATIONS = 3.5  # of the difference, counted in groups or spans
FALSE_ALARM = 1e-3  # probability of a test of their ranks
# Between near and far rows, in spreads of the logarithms of distances; clouds come to three where
# they fall into several clumps at all, forty persons with twenty-five visits to four and more.
MIN_PARTING = 3.3
MIN_SPREAD = 0.25  # of these logarithms; on a grid they have almost none
PENALTY = 0.1
NAMES = ("id", "person", "patient", "subject", "customer", "user", "client", "site", "batch")


def belonging(sheet: Sheet, procedure: InnerSelection) -> tuple[str, ...]:
    """Return findings about rows that belong together or follow each other."""
    tied = procedure.arrangement
    if not is_frame(sheet.X) or not encodable(sheet.X, sheet.columns):
        return ()
    look = _Look(sheet, procedure)
    found: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of machines that are not the study's
        if tied.groups is None:
            found += look.entities() or look.near_copies()
        if tied.time is None:
            found += look.times()
    return tuple(found)


class _Look:
    """Some rows of a sheet, and a simple machine that is judged on them."""

    def __init__(self, sheet: Sheet, procedure: InnerSelection) -> None:
        self.sheet, self.procedure = sheet, procedure
        self.how = replace(procedure.preparation, encode=True)
        y: Any = sheet.y
        rng = np.random.default_rng([procedure.seed, 3])
        rows = np.arange(len(y))
        if len(rows) > MAX_ROWS:
            rows = np.sort(rng.permutation(rows)[:MAX_ROWS])
        self.rows, self.y = rows, y[rows]
        self.X: Any = take_rows(sheet.X, rows)
        self.target = quoted(sheet.target.name) if sheet.target else "the target"

    def judged(self, tied: Arrangement, without: str = "") -> tuple[float, np.ndarray]:
        """Return the error of the simple machine, and what each row loses, NaN if not held."""
        rng = np.random.default_rng([self.procedure.seed, 4])
        losses, truths, answers = np.full(len(self.y), np.nan), [], []
        X = self.X.drop(columns=without) if without in self.X.columns else self.X
        how = replace(self.how, columns=[c for c in self.how.columns if c.name != without])
        for train, test in tied.splits(self.y, FOLDS, rng):
            fold = PreparedFold(how, take_rows(X, train), self.y[train], take_rows(X, test))
            numbers = self.y.dtype.kind == "f"
            kind = KernelRidge if numbers else KernelRidgeClassifier
            machine = kind("gaussian", penalty=PENALTY).fit(fold.rows("standard"), self.y[train])
            said = machine.predict(fold.new_rows("standard"))
            truths.append(self.y[test])
            answers.append(said)
            losses[test] = (said - self.y[test]) ** 2 if numbers else said != self.y[test]
        return pooled_error(truths, answers)[0], losses

    def text(self, error: float) -> str:
        return number(error) if self.y.dtype.kind == "f" else in_percent(error)

    def compared(
        self, tied: Arrangement, groups: np.ndarray, without: str = ""
    ) -> tuple[str, str] | None:
        """Return both errors as texts if the second is clearly larger, else None."""
        try:
            own, kept = self.judged(Arrangement(), without), self.judged(tied, without)
        except MercerError:  # too few rows or classes for such folds
            return None
        there = np.isfinite(kept[1]) & np.isfinite(own[1])
        gain = np.bincount(groups[there], (kept[1] - own[1])[there])
        gain = gain[np.bincount(groups[there]) > 0]
        if len(gain) < MIN_ENTITIES // 2:
            return None
        if not _clear(gain) or kept[0] < MIN_RATIO * own[0]:
            return None
        numbers = self.y.dtype.kind == "f"
        first = np.sqrt(own[1][there].mean()) if numbers else own[1][there].mean()
        return self.text(float(first)), self.text(kept[0])

    def entities(self) -> list[str]:
        """Look for a column that repeats what rows come from, such as persons."""
        for name, codes in self._repeated():
            told = self.compared(Arrangement(groups=codes), codes, name)
            if told is not None:
                count, option = int(codes.max()) + 1, shlex.quote(name)
                return [
                    f"{quoted(name)} repeats {count} entries, and rows with the same entry are "
                    f"alike: a simple machine has an error of {told[0]} with folds that were "
                    f"dealt by chance, and of {told[1]} where rows of one {quoted(name)} stay "
                    "together. If new rows come from others, the error above is too small: say "
                    f"--groups {option}."
                ]
        return []

    def _repeated(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield columns that may say what rows come from, the likeliest first."""
        kinds = ("identifier", "categorical", "text")
        names = [
            c.name for c in self.sheet.columns if c.kind in kinds and c.name in self.X.columns
        ]
        numbers = [
            c.name for c in self.sheet.columns
            if c.kind == "numeric" and c.name in self.X.columns and _is_named(c.name)
        ]  # fmt: skip
        found = []
        for name in [*names, *numbers]:
            codes = pd.factorize(self.X[name], use_na_sentinel=False)[0]  # gaps are one of them
            count = int(codes.max()) + 1
            if MIN_ENTITIES <= count <= len(codes) / 2:
                found.append((not _is_named(name), -count, name, codes))
        for _, _, name, codes in sorted(found, key=lambda one: one[:3])[:MAX_TRIED]:
            yield name, codes

    def near_copies(self) -> list[str]:
        """Look for clumps of rows that are much nearer to each other than to all others."""
        Z = PreparedFold(self.how, self.X, self.y, take_rows(self.X, np.arange(0))).rows(
            "standard"
        )
        codes = clumps(np.asarray(Z, dtype=np.float64))
        if codes is None:
            return []
        told = self.compared(Arrangement(groups=codes), codes)
        if told is None:
            return []
        sizes = np.bincount(codes)
        pair = np.flatnonzero(codes == sizes.argmax())[:2]
        lines = " and ".join(str(line) for line in self.sheet.lines[self.rows[pair]])
        return [
            f"{in_percent(float(sizes[codes][sizes[codes] > 1].size / len(codes)))} of the rows "
            f"have near copies ({len(sizes)} clumps, for example {lines}), as if one thing had "
            f"been measured several times: a simple machine has an error of {told[0]} with folds "
            f"that were dealt by chance, and of {told[1]} where near copies stay together. If new "
            "rows are of other things, add a column that says what each row comes from, and name "
            "it with --groups."
        ]

    def times(self) -> list[str]:
        """Look for a column of times after which errors grow."""
        for column in self.sheet.columns:
            if column.kind != "date" or column.name not in self.X.columns:
                continue
            time = self.X[column.name].to_numpy(dtype=np.float64)
            if not np.isfinite(time).all() or len(np.unique(time)) < 2 * FOLDS:
                continue
            spans = np.minimum((20 * np.argsort(np.argsort(time))) // len(time), 19)
            told = self.compared(Arrangement(time=time), spans, column.name)
            if told is not None:
                name, option = quoted(column.name), shlex.quote(column.name)
                return [
                    f"Errors grow with {name}: a simple machine has an error of {told[0]} with "
                    f"folds that were dealt by chance, and of {told[1]} where only earlier rows "
                    "predict later ones. If the model is for the future, the error above is too "
                    f"small: say --time {option}."
                ]
        return []


def _clear(gain: np.ndarray) -> bool:
    """Tell whether gains of groups or spans are above zero by more than chance.

    By their mean, or, since a few spans may be much worse than others, by their ranks.
    """
    from scipy.stats import wilcoxon

    if gain.sum() > MIN_DEVIATIONS * float(gain.std(ddof=1)) * np.sqrt(len(gain)):
        return True
    if not gain.any():
        return False
    return float(wilcoxon(gain, alternative="greater").pvalue) < FALSE_ALARM


def _is_named(name: str) -> bool:
    """Tell whether a column is called as what rows come from."""
    words = name.lower().replace("_", " ").replace("-", " ").split()
    return any(word in NAMES for word in words)


def clumps(Z: np.ndarray) -> np.ndarray | None:
    """Return the clump of each row, or None if rows are spread without gaps.

    Rows are linked as a minimum spanning tree links them. In a cloud the logarithms of its edges
    have one hump, and parted in two at the best place these are at most about three spreads apart;
    edges within and between clumps are further apart.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> centers = rng.normal(size=(10, 3)).repeat(6, axis=0)
    >>> found = clumps(centers + 0.01 * rng.normal(size=(60, 3)))
    >>> int(found.max()) + 1, clumps(rng.normal(size=(200, 3))) is None
    (10, True)
    """
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
    from scipy.spatial.distance import pdist, squareform

    Z, same = np.unique(Z, axis=0, return_inverse=True)
    tree = minimum_spanning_tree(squareform(pdist(Z)))
    edges = np.sort(tree.data)
    if len(edges) < 4 * MIN_ENTITIES:
        return None
    logs = np.log(edges)
    n, k = len(logs), np.arange(1, len(logs))
    sums, squares = np.cumsum(logs), np.cumsum(logs**2)
    low, high = sums[:-1] / k, (sums[-1] - sums[:-1]) / (n - k)
    within = squares[-1] - k * low**2 - (n - k) * high**2
    sensible = (n - k >= MIN_ENTITIES - 1) & (k >= len(Z) / 5)
    if not sensible.any():
        return None
    spread = np.maximum(np.sqrt(np.maximum(within, 0.0) / n), MIN_SPREAD)
    parting = np.where(sensible, (high - low) / spread, 0.0)
    best = int(parting.argmax())
    if parting[best] < MIN_PARTING:
        return None
    limit = np.exp((logs[best] + logs[best + 1]) / 2)
    tree.data[tree.data > limit] = 0
    tree.eliminate_zeros()
    count, codes = connected_components(tree, directed=False)
    many = MIN_ENTITIES <= count <= len(Z) / 2
    return codes[same.reshape(-1)] if many and np.bincount(codes).max() <= len(Z) / 3 else None
