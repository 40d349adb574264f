"""A session: what a page may ask about a subject, and what it is told, as plain values.

Nothing here knows of a browser or a server. Every question has a name and named parts, and its
answer holds numbers, texts, lists and dictionaries only; `Session.answer` is all that a server
needs, and what an exported page does in its place is held against it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import to_numpy
from mercer.errors import DomainError, suggestion
from mercer.explorer.drawings import Gallery
from mercer.explorer.entries import NUMBERS, TYPED
from mercer.explorer.knobs import Knobs
from mercer.explorer.reasons import doubts, reasons
from mercer.explorer.similarity_map import SimilarityMap
from mercer.explorer.subject import LEVEL, RowAnswers, Subject
from mercer.explorer.what_if import effect, smallest_changes
from mercer.machines import GaussianProcess

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Session", "opening"]

MAX_FOUND = 500  # rows that a search tells
MAX_SEARCH = 200  # letters
MAX_SELECTED = 5000  # rows of a lasso
LONGEST_KERNEL = 300  # letters of a formula


class Session:
    """Answers the questions of a page about one subject.

    Parameters
    ----------
    subject : Subject

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> from mercer.explorer.quick_fit import learn_quickly
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> session = Session(learn_quickly(read_frame(rows, "animal")))
    >>> session.answer("predict", {"row": 0, "cells": {"weight": 25}})["label"]
    'd'
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.gallery = Gallery(subject)
        self.questions: dict[str, Callable[..., dict[str, Any]]] = {
            "row": self.row, "find": self.find, "group": self.group, "predict": self.predict,
            "why": self.why, "changes": self.changes, "effect": self.effect,
            "knobs": self.turn, "start": self.start,
        }  # fmt: skip

    def answer(self, name: str, parts: Any) -> dict[str, Any]:
        """Return the answer to a question, refusing what makes no sense.

        Parameters
        ----------
        name : str
            One of `questions`.
        parts : dict
            The named parts of the question.
        """
        if name not in self.questions:
            raise DomainError(f"nobody can ask {name!r}{suggestion(name, list(self.questions))}")
        if not isinstance(parts, dict):
            raise DomainError("a question has named parts")
        try:
            return self.questions[name](**parts)
        except TypeError as error:
            if "argument" in str(error) and f"{name}(" in str(error).replace("turn(", "knobs("):
                raise DomainError(f"the question {name!r} has other parts: {error}") from None
            raise

    @cached_property
    def shown(self) -> SimilarityMap:
        """The map."""
        return SimilarityMap.of(self.subject.machine.kernel_, self.subject.points)

    @cached_property
    def knobs(self) -> Knobs:
        return Knobs(self.subject)

    @cached_property
    def opening(self) -> dict[str, Any]:
        """What the page begins with."""
        return opening(self.subject, self.shown)

    def row(self, row: int) -> dict[str, Any]:
        """Return a row as one looks at it."""
        place = self.subject.rows.place(row)
        found = self.subject.rows.changed(place, {})
        return {"row": place, "cells": self.gallery.cells(found),
                "picture": self.gallery.picture(found)}  # fmt: skip

    def find(self, text: str) -> dict[str, Any]:
        """Return the rows that have a text in one of their entries, or are called by it."""
        if not isinstance(text, str) or not 0 < len(text) <= MAX_SEARCH:
            raise DomainError(f"search for 1 to {MAX_SEARCH} letters")
        wanted = text.strip().casefold()
        if not wanted:
            return {"rows": []}
        hits = np.array([wanted in line for line in self._lines], dtype=bool)
        return {"rows": np.flatnonzero(hits)[:MAX_FOUND].tolist(), "all": int(hits.sum())}

    @cached_property
    def _lines(self) -> list[str]:
        """Return what is written in each row, in small letters."""
        subject = self.subject
        texts = [n for n, kind in subject.rows.kinds.items() if kind in TYPED and
                 kind not in NUMBERS]  # fmt: skip
        columns = [subject.rows.frame[name].astype(str) for name in texts]
        if subject.truth is not None:
            columns.append([str(label) for label in subject.truth.tolist()])
        columns.append([f"row {number}" for number in subject.numbers.tolist()])
        return ["\n".join(map(str, row)).casefold() for row in zip(*columns, strict=True)]

    def group(self, rows: list[int]) -> dict[str, Any]:
        """Return what some rows have in common, against all."""
        if not isinstance(rows, list) or not 0 < len(rows) <= MAX_SELECTED:
            raise DomainError("choose at least one row")
        table, subject = self.subject.rows, self.subject
        places = np.array([table.place(row) for row in rows])
        told: list[dict[str, Any]] = []
        for name, (_, _, spread) in table.spans.items():
            values = table.frame[name].to_numpy(dtype=np.float64)
            mean, all_mean = (float(np.nanmean(some)) if np.isfinite(some).any() else None
                              for some in (values[places], values))  # fmt: skip
            if mean is not None and all_mean is not None:
                told.append({"column": name, "here": mean, "all": all_mean,
                             "apart": (mean - all_mean) / spread})  # fmt: skip
        told.sort(key=lambda one: -abs(one["apart"]))
        counts: dict[str, int] = {}
        labels = subject.truth if subject.truth is not None else subject.answers.prediction
        if subject.classes is not None:
            for label in np.asarray(labels)[places].tolist():
                counts[str(label)] = counts.get(str(label), 0) + 1
        return {"count": len(places), "classes": counts, "columns": told[:8]}

    def _changed(self, row: int, cells: Any) -> pd.DataFrame:
        if cells is not None and not isinstance(cells, dict):
            raise DomainError("cells are entries by the names of their columns")
        return self.subject.rows.changed(row, cells or {})

    def predict(self, row: int, cells: Any = None) -> dict[str, Any]:
        """Return the prediction for a row, with entries exchanged."""
        frame = self._changed(row, cells)
        answers = self.subject.ask(frame)
        return self._told(answers) | {
            "careful": doubts(self.subject, frame, answers),
            "picture": self.gallery.picture(frame) if self.gallery.pixels else None,
        }

    def _told(self, answers: RowAnswers) -> dict[str, Any]:
        """Return one answer as plain values."""
        subject = self.subject
        if subject.classes is None:
            number = float(np.ravel(answers.prediction)[0])
            interval = None if answers.intervals is None else answers.intervals[0].tolist()
            return {"number": number, "interval": interval, "level": LEVEL, "label": None,
                    "chances": None}  # fmt: skip
        label = answers.prediction[0]
        chances = None if answers.chances is None else answers.chances[0].tolist()
        return {"label": str(label), "code": subject.classes.index(_same(label, subject.classes)),
                "chances": chances, "number": None, "interval": None}  # fmt: skip

    def why(self, row: int, cells: Any = None) -> dict[str, Any]:
        """Return why a row is answered as it is."""
        frame = self._changed(row, cells)
        at = self.shown.locate(self.subject.admitted(self.subject.rows.items(frame)))[0]
        return reasons(self.subject, self.shown, frame) | {"x": float(at[0]), "y": float(at[1])}

    def changes(self, row: int, cells: Any = None) -> dict[str, Any]:
        """Return the smallest changes of one entry that lead to another answer."""
        return smallest_changes(self.subject, self.shown, self._changed(row, cells))

    def effect(self, row: int, column: str, cells: Any = None) -> dict[str, Any]:
        """Return what is answered along one column."""
        if column not in self.subject.rows.typed:
            raise DomainError(f"there is no column {str(column)[:60]!r} to vary")
        return effect(self.subject, self._changed(row, cells), column)

    def start(self) -> dict[str, Any]:
        """Return where the knobs are at first."""
        return self.knobs.start

    def turn(
        self, expression: str, penalty: float, width: float = 1.0, columns: Any = None
    ) -> dict[str, Any]:
        """Return what some positions of the knobs do."""
        return self.knobs.turn(expression, penalty, width, columns)


def _same(label: Any, classes: list[Any]) -> Any:
    """Return a label as it stands among the classes."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if plain in classes else next(c for c in classes if str(c) == str(label))


def opening(subject: Subject, shown: SimilarityMap) -> dict[str, Any]:
    """Return what a page begins with: the map, what colors it, and the columns."""
    answers = subject.answers
    kernel = repr(subject.machine.kernel_)
    long = len(kernel) > LONGEST_KERNEL
    return {
        "title": subject.title,
        "target": subject.target,
        "notes": list(subject.notes),
        "machine": type(subject.machine).__name__,
        "kernel": kernel[:LONGEST_KERNEL] + ("…" if long else ""),
        "task": "classify" if subject.classes is not None else "regress",
        "classes": None if subject.classes is None else [str(c) for c in subject.classes],
        "columns": columns_of(subject),
        "numbers": subject.numbers.tolist(),
        "x": shown.places[:, 0].tolist(),
        "y": shown.places[:, 1].tolist(),
        "shares": shown.shares.tolist(),
        "colors": colors_of(subject, answers),
        "level": LEVEL,
    }


def columns_of(subject: Subject) -> list[dict[str, Any]]:
    """Return the columns, with what can be entered."""
    table = subject.rows
    found = []
    for name, kind in table.kinds.items():
        low, high, spread = table.spans.get(name, (0.0, 1.0, 1.0))
        found.append({
            "name": name, "kind": kind, "typed": kind in TYPED, "low": low, "high": high,
            "spread": spread, "levels": table.levels.get(name),
            "whole": kind == "numeric" and _whole(table.frame[name]),
        })  # fmt: skip
    return found


def _whole(column: pd.Series) -> bool:
    """Tell whether all numbers of a column are whole."""
    values = column.to_numpy(dtype=np.float64)
    values = values[np.isfinite(values)]
    return bool(np.all(values == np.round(values)))


def colors_of(subject: Subject, answers: RowAnswers) -> dict[str, Any]:
    """Return what the rows can be colored by: codes of classes, or numbers."""
    truth = subject.truth
    if subject.classes is not None:
        codes = {str(label): code for code, label in enumerate(subject.classes)}
        said = [codes[str(label)] for label in answers.prediction.tolist()]
        found: dict[str, Any] = {"predicted": said}
        if truth is not None:
            found["truth"] = [codes.get(str(label)) for label in truth.tolist()]
            found["error"] = [int(a != b) for a, b in zip(said, found["truth"], strict=True)]
        sure = doubt_of_classes(subject, answers)
        return found if sure is None else found | {"uncertainty": sure.tolist()}
    said_numbers = np.asarray(answers.prediction, dtype=np.float64).reshape(len(subject), -1)[:, 0]
    found = {"predicted": said_numbers.tolist()}
    if truth is not None:
        numbers = np.asarray(truth, dtype=np.float64).reshape(len(subject), -1)[:, 0]
        found["truth"] = numbers.tolist()
        found["error"] = np.abs(numbers - said_numbers).tolist()
    if answers.intervals is not None:
        found["uncertainty"] = (answers.intervals[:, 1] - answers.intervals[:, 0]).tolist()
    elif isinstance(subject.known.machine, GaussianProcess):
        spread = subject.known.machine.predict(subject.items, return_std=True)[1]
        found["uncertainty"] = np.asarray(spread, dtype=np.float64).tolist()
    return found


def doubt_of_classes(subject: Subject, answers: RowAnswers) -> np.ndarray | None:
    """Return one minus the largest probability, or how near scores are to a tie."""
    if answers.chances is not None:
        return 1 - answers.chances.max(axis=1)
    machine = subject.known.machine
    if not hasattr(machine, "decision_function"):
        return None
    scores = np.asarray(to_numpy(machine.decision_function(subject.items)), dtype=np.float64)
    if scores.ndim == 1:
        lead = np.abs(scores)
    else:
        two = np.sort(scores, axis=1)[:, -2:]
        lead = two[:, 1] - two[:, 0]
    return -lead
