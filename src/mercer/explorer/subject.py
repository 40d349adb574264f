"""The subject: a fitted machine with rows to look at, from a model file or from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing

from mercer.domains import Points
from mercer.errors import DomainError
from mercer.explanations.terms import unwrap
from mercer.explorer.entries import EntryTable
from mercer.sources import Column, Sheet
from mercer.studies import SavedModel
from mercer.studies.familiarity import known_places
from mercer.studies.guard import MAX_KEPT
from mercer.studies.promises import promise_of
from mercer.studies.saved import Predictions

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LEVEL", "MAX_ROWS", "RowAnswers", "Subject", "evenly"]

MAX_ROWS = 5000  # that are on the map; of more, some that are chosen evenly
LEVEL = 0.9  # of intervals
DOMAINS = {"Strings": "sequence", "Molecules": "smiles", "Graphs": "graph"}


@dataclass(frozen=True, eq=False)
class RowAnswers:
    """What a machine says about some rows.

    Attributes
    ----------
    prediction : ndarray
    chances : ndarray of shape (rows, classes) or None
        Probabilities.
    intervals : ndarray of shape (rows, 2) or None
        That hold the true number with the chance `LEVEL`.
    """

    prediction: np.ndarray
    chances: np.ndarray | None = None
    intervals: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """A machine and rows to look at. Made by `mercer.explorer.open_subject`.

    Attributes
    ----------
    known : SavedModel
    rows : EntryTable
    truth : ndarray or None
        The target of each row.
    numbers : ndarray of int
        The number of each row in its file.
    places : ndarray of int
        The place of each row among those that were learned from; -1 if it is not among them.
    title : str
    target : str
        What is predicted.
    notes : tuple of str
        What somebody who looks at it should know, in sentences.
    recipe_columns : tuple of Column
        What the columns of the file were taken for, those that are not learned from too.
    """

    known: SavedModel
    rows: EntryTable
    truth: np.ndarray | None
    numbers: np.ndarray
    places: np.ndarray
    title: str = "A model"
    target: str = "prediction"
    notes: tuple[str, ...] = ()
    recipe_columns: Sequence[Column] = field(default=())

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def classes(self) -> list[Any] | None:
        """The labels; None if numbers are predicted."""
        return None if self.known.classes is None else self.known.classes.tolist()

    @cached_property
    def items(self) -> Any:
        """The rows as the machine takes them."""
        return self.rows.items()

    @cached_property
    def machine(self) -> Any:
        """The machine that decides, inside pipelines, searches and calibrations."""
        return unwrap(self.known.machine)[0]

    @cached_property
    def points(self) -> Points:
        """The rows as the kernel sees them."""
        return self.admitted(self.items)

    def admitted(self, items: Any) -> Points:
        """Return items as the kernel sees them."""
        machine, seen = unwrap(self.known.machine, items)
        return machine._admit_new(seen, machine.kernel_)

    @cached_property
    def answers(self) -> RowAnswers:
        """What the machine says about all rows."""
        return self.ask(self.rows.frame)

    def ask(self, frame: pd.DataFrame) -> RowAnswers:
        """Return what the machine says about rows of a table such as that of the rows."""
        known = self.known
        X = self.rows.items(frame)
        before, last = known.stages
        X_last = X if before is None else before.transform(X)
        chances = last.predict_proba(X_last) if hasattr(last, "predict_proba") else None
        if chances is not None and known.classes is not None and self.from_study:
            found = known._decided(chances)
        else:
            found = last.predict(X_last)
        if self._promise is None:
            return RowAnswers(found, chances)
        nothing: Any = None
        made = self._promise(X, Predictions(nothing, found))
        return RowAnswers(found, chances, made.intervals)

    @property
    def from_study(self) -> bool:
        """Whether a study made it, whose machines answer with the most probable class."""
        return self.known.recipe is not None

    @cached_property
    def _promise(self) -> Any:
        """What adds intervals to predicted numbers; None where nothing is known of errors."""
        if self.known.classes is not None:
            return None
        try:
            return promise_of(self.known.machine, self.known.notes, LEVEL, None)
        except DomainError:
            return None

    @classmethod
    def of_model(
        cls, known: SavedModel, sheet: Sheet | None = None, title: str = "A model"
    ) -> Subject:
        """Return a saved model with the rows that it keeps, or with those of a sheet."""
        found = _with_sheet(known, sheet) if sheet is not None else _with_own_rows(known)
        study = known.notes.get("study")
        target = str((study or {}).get("target") or "prediction")
        columns = () if known.recipe is None else known.recipe["columns"]
        described = tuple(Column(why="", **column) for column in columns)
        return replace(found, title=title, target=target, recipe_columns=described)


def _with_sheet(known: SavedModel, sheet: Sheet) -> Subject:
    """Return a model with rows of another table."""
    some = evenly(len(sheet), MAX_ROWS)
    notes = _sampled(len(some), sheet.total, "row")
    X = _safe_indexing(known.items(sheet), some)
    y = None if sheet.y is None else np.asarray(sheet.y)[some]
    table = EntryTable.of(X, {column.name: column.kind for column in sheet.columns})
    return Subject(known, table, y, sheet.rows[some], np.full(len(some), -1), notes=notes)


def _with_own_rows(known: SavedModel) -> Subject:
    """Return a model with the rows that its file keeps."""
    seen, learned = known.notes.get("seen"), known.notes.get("learned")
    if isinstance(seen, dict) and learned is not None:
        return _with_kept_rows(known, seen, learned)
    before, last = known.stages
    inside = unwrap(last)[0]
    points = getattr(getattr(inside, "function_", None), "points", None)
    if points is None:
        raise DomainError(
            f"the model keeps none of its rows ({type(inside).__name__} has learned weights of "
            "features, or was saved without them); give some: mercer explore MODEL --rows TABLE"
        )
    notes: list[str] = []
    if before is not None:
        notes.append(
            "The file keeps its rows only as the machine sees them, after their preparation; "
            "with --rows TABLE you see your own columns."
        )
        known = replace(known, machine=last)
    some = evenly(len(points), MAX_ROWS)
    notes += _sampled(len(some), len(points), "known row")
    support = getattr(inside, "support_", None)
    places = np.arange(len(points)) if support is None else np.asarray(support)
    if len(places) != len(points):
        places = np.full(len(points), -1)
    notes.append("The file keeps no targets, so that rows are colored by what is predicted.")
    table = _table_of(points[some], inside)
    return Subject(known, table, None, places[some], places[some], notes=tuple(notes))


def _with_kept_rows(known: SavedModel, seen: Mapping[str, Any], learned: Any) -> Subject:
    """Return a model of a study with the rows that it keeps to compare with."""
    total = len(learned["rows"])
    X = seen["rows"]
    seed = (known.notes.get("made") or {}).get("seed") or 0
    width = max(int(X.shape[1]), 1)
    places = known_places(total, int(seed), MAX_KEPT // width)
    if len(places) != X.shape[0]:
        raise DomainError("the rows that the file keeps are not those that it says; learn anew")
    recipe = known.recipe or {"columns": []}
    kinds = {str(column["name"]): str(column["kind"]) for column in recipe["columns"]}
    truth = np.asarray(learned["labels"])[np.asarray(learned["codes"])[places]]
    notes = _sampled(len(places), total, "row", "The file keeps")
    numbers = np.asarray(learned["rows"])[places]
    return Subject(known, EntryTable.of(X, kinds), truth, numbers, places, notes=notes)


def _table_of(points: Any, machine: Any) -> EntryTable:
    """Return known points as a table."""
    array, frame = getattr(points, "array", None), getattr(points, "frame", None)
    if array is not None:
        array = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
        table = EntryTable.of(np.asarray(array, dtype=np.float64))
        names = getattr(machine, "feature_names_in_", None)
        if names is not None:
            frame = table.frame.set_axis([str(name) for name in names], axis=1)
            kinds = dict.fromkeys(frame.columns, "numeric")
            return replace(table, frame=frame, kinds=kinds, container="frame", names=tuple(names))
        return table
    if frame is not None:
        return EntryTable.of(frame)
    return EntryTable.of(list(points.items()), what=DOMAINS.get(type(points).__name__, ""))


def _sampled(kept: int, total: int, what: str, who: str = "You see") -> tuple[str, ...]:
    """Say that not all rows are there."""
    if kept >= total:
        return ()
    return (f"{who} {kept:,} of {total:,} {what}s, a sample of all of them.",)


def evenly(count: int, most: int) -> np.ndarray:
    """Return places that are spread evenly over so many, at most `most`.

    Examples
    --------
    >>> evenly(10, 4), evenly(3, 4)
    (array([0, 3, 6, 9]), array([0, 1, 2]))
    """
    if count <= most:
        return np.arange(count)
    return np.linspace(0, count - 1, most).round().astype(int)
