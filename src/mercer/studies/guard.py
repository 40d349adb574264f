"""A guard: what a model has seen, kept with it, and what in new rows is not like that.

A machine answers for any row. A guard tells four things that make an answer doubtful: a number or
date outside of those that were learned from, a category that was not there, a row far from all
known ones (`mercer.studies.familiarity`), and a predicted number far outside of all targets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mercer.domains import is_frame
from mercer.errors import DomainError
from mercer.sources import Sheet
from mercer.studies.familiarity import Familiarity, known_places

__all__ = ["Guard", "Mark", "Marks", "Watch", "entry_text", "losses_of", "shown"]

MAX_LEVELS = 10_000  # of a column that are kept; more are as good as never repeated
MAX_KEPT = 2_000_000  # entries of known rows that are kept with a model, 16 MB of numbers
TARGET_MARGIN = 0.1  # of the width of the targets, beyond which a prediction is told
FAR_WORDS = "far from all known rows"


@dataclass(frozen=True)
class Mark:
    """Why one answer is doubtful.

    Attributes
    ----------
    place : int
        The row among those that were looked at.
    kind : {"far", "outside", "new", "target"}
    column : str or None
    text : str
        The reason in words.
    """

    place: int
    kind: str
    column: str | None
    text: str


@dataclass(frozen=True)
class Marks:
    """What is doubtful about some rows.

    Attributes
    ----------
    marks : tuple of Mark
    count : int
        How many rows were looked at.
    empty : frozenset of str
        Columns of which no row has an entry.
    """

    marks: tuple[Mark, ...]
    count: int
    empty: frozenset[str] = frozenset()

    @property
    def texts(self) -> list[str]:
        """All reasons of each row in one text, empty where there is none."""
        found: list[list[str]] = [[] for _ in range(self.count)]
        for mark in self.marks:
            found[mark.place].append(mark.text)
        return ["; ".join(reasons) for reasons in found]


@dataclass(frozen=True, eq=False)
class Guard:
    """What was seen of the rows that a model learned from. Made by `Guard.of`.

    Attributes
    ----------
    rows : items
        Known rows, at most 1000, as the model's machine takes them.
    losses : ndarray
        For each of them the loss of its held-out prediction, NaN if it was not held out.
    ranges : dict of str to (float, float)
        The smallest and the largest entry of columns of numbers and dates.
    levels : dict of str to frozenset of str
    target : (float, float) or None
        The smallest and the largest target, of numbers.
    """

    rows: Any
    losses: np.ndarray
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    levels: dict[str, frozenset[str]] = field(default_factory=dict)
    target: tuple[float, float] | None = None

    @classmethod
    def of(cls, sheet: Sheet, held: np.ndarray, prediction: np.ndarray, seed: int = 0) -> Guard:
        """Return the guard of a model.

        Parameters
        ----------
        sheet : Sheet
            What was learned from.
        held, prediction : ndarray
            The rows that were held out, and what was predicted for them.
        seed : int
            Of the sample of known rows.
        """
        from sklearn.utils import _safe_indexing

        width = max(int(sheet.X.shape[1]), 1)
        places = known_places(len(sheet), seed, MAX_KEPT // width)
        y: Any = sheet.y
        loss = np.full(len(sheet), np.nan)
        loss[held] = losses_of(y[held], prediction)
        ranges, levels = {}, {}
        for column in sheet.used if is_frame(sheet.X) else ():
            entries = sheet.X[column.name]
            if column.kind in ("numeric", "date"):
                ranges[column.name] = (float(entries.min()), float(entries.max()))
            elif column.kind == "categorical" and entries.nunique() <= MAX_LEVELS:
                levels[column.name] = frozenset(entries.dropna().tolist())
        target = (float(y.min()), float(y.max())) if y.dtype.kind == "f" else None
        return cls(_safe_indexing(sheet.X, places), loss[places], ranges, levels, target)

    def notes(self) -> dict[str, Any]:
        """Return all of it as what a model file can hold."""
        return {
            "rows": self.rows,
            "losses": self.losses,
            "ranges": {name: list(pair) for name, pair in self.ranges.items()},
            "levels": {name: sorted(some) for name, some in self.levels.items()},
            "target": None if self.target is None else list(self.target),
        }

    @classmethod
    def read(cls, notes: Mapping[str, Any]) -> Guard:
        """Return the guard that was kept as `notes`."""
        target = notes["target"]
        return cls(
            notes["rows"],
            np.asarray(notes["losses"], dtype=np.float64),
            {
                str(name): (float(low), float(high))
                for name, (low, high) in notes["ranges"].items()
            },
            {str(name): frozenset(some) for name, some in notes["levels"].items()},
            None if target is None else (float(target[0]), float(target[1])),
        )


@dataclass(frozen=True, eq=False)
class Watch:
    """A guard with the machine that it guards.

    Attributes
    ----------
    guard : Guard
    before : transformer or None
        What prepares rows for the machine.
    machine : machine
    """

    guard: Guard
    before: Any
    machine: Any

    @cached_property
    def familiarity(self) -> Familiarity | None:
        """How like the known rows others are; None if there is nothing to compare with."""
        try:
            return Familiarity.of(self.machine, self.prepared(self.guard.rows))
        except DomainError:
            return None

    def prepared(self, X: Any) -> Any:
        """Return rows as the machine sees them."""
        return X if self.before is None else self.before.transform(X)

    def look(
        self, sheet: Sheet, prediction: np.ndarray | None = None, prepared: Any = None
    ) -> Marks:
        """Return what is doubtful about the rows of a sheet, and about what was predicted.

        Rows as the machine sees them may be given too, so that they are not prepared again.
        """
        prepared = self.prepared(sheet.X) if prepared is None else prepared
        found = [*self._far(prepared, len(sheet))]
        empty: set[str] = set()
        if is_frame(sheet.X):
            kinds = {column.name: column.kind for column in sheet.used}
            found += self._outside(sheet.X, kinds, empty)
            for name in self.guard.levels:
                found += self._new(name, sheet.X[name].to_numpy(dtype=object), empty)
        found += self._beyond(prediction)
        found.sort(key=lambda mark: mark.place)
        return Marks(tuple(found), len(sheet), frozenset(empty))

    def _far(self, prepared: Any, count: int) -> Iterator[Mark]:
        if self.familiarity is not None and count:
            for place in np.flatnonzero(self.familiarity.far(prepared)).tolist():
                yield Mark(place, "far", None, FAR_WORDS)

    @cached_property
    def _limits(self) -> np.ndarray:
        return np.array(list(self.guard.ranges.values()), dtype=np.float64).reshape(-1, 2)

    def _outside(self, X: Any, kinds: dict[str, str], empty: set[str]) -> Iterator[Mark]:
        """Tell numbers and dates that were never reached, of all columns at once."""
        names = list(self.guard.ranges)
        if not names or not len(X):
            return
        values = X[names].to_numpy(dtype=np.float64)
        low, high = self._limits.T
        empty |= {names[j] for j in np.flatnonzero(np.isnan(values).all(axis=0))}
        for place, j in np.argwhere((values < low) | (values > high)).tolist():
            name, kind = names[j], kinds.get(names[j], "numeric")
            span = f"{shown(low[j], kind)} … {shown(high[j], kind)}"
            text = f"{name} {shown(values[place, j], kind)} is outside {span}"
            yield Mark(place, "outside", name, text)

    def _new(self, name: str, entries: np.ndarray, empty: set[str]) -> Iterator[Mark]:
        """Tell categories that were never seen."""
        known = self.guard.levels[name]
        found = [entry if isinstance(entry, str) else None for entry in entries.tolist()]
        if found and not any(entry is not None for entry in found):
            empty.add(name)
        for place, entry in enumerate(found):
            if entry is not None and entry not in known:
                yield Mark(place, "new", name, f"{name} {entry[:40]!r} was never seen")

    def _beyond(self, prediction: np.ndarray | None) -> Iterator[Mark]:
        if self.guard.target is None or prediction is None or prediction.dtype.kind != "f":
            return
        low, high = self.guard.target
        margin = TARGET_MARGIN * (high - low)
        beyond = (prediction < low - margin) | (prediction > high + margin)
        for place in np.flatnonzero(beyond).tolist():
            text = f"predicted {prediction[place]:.4g} where targets are {low:.4g} … {high:.4g}"
            yield Mark(place, "target", None, text)


def losses_of(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Return whether each label is wrong, as 0 and 1, or the squared deviation of each number.

    Examples
    --------
    >>> losses_of(np.array(["a", "b"]), np.array(["a", "a"])), losses_of(np.r_[1.0], np.r_[3.0])
    (array([0., 1.]), array([4.]))
    """
    if truth.dtype.kind == "f":
        return np.asarray((truth - prediction) ** 2)
    return (truth != prediction).astype(np.float64)


def shown(value: float, kind: str) -> str:
    """Return a number as one writes it, and days since 1970 as a date.

    Examples
    --------
    >>> shown(0.5, "numeric"), shown(365.0, "date")
    ('0.5', '1971-01-01')
    """
    if kind != "date" or not abs(value) < 1e7:  # days, beyond which calendars have no names
        return f"{value:.6g}"
    moment = np.datetime64(round(value * 86_400), "s")
    text = str(moment)
    return text.removesuffix("T00:00:00")


def entry_text(value: Any, kind: str) -> str:
    """Return an entry as one writes it: dates as dates, numbers with few digits.

    Examples
    --------
    >>> entry_text(365.0, "date"), entry_text(float("nan"), "numeric"), entry_text("gas", "text")
    ('1971-01-01', 'missing', 'gas')
    """
    if value is None or value != value:
        return "missing"
    if kind in ("numeric", "date") and isinstance(value, int | float | np.number):
        return shown(float(value), kind)
    return str(value)
