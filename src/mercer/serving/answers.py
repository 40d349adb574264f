"""Answers: the rows of many requests, predicted together, and each request's part of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from mercer.errors import DomainError, MercerError
from mercer.serving.requests import Asked, Refused
from mercer.sources import Column, Sheet
from mercer.sources.codes import Recoded
from mercer.sources.entries import read_values, to_frame
from mercer.sources.source import Piece, objects
from mercer.studies import SavedModel

__all__ = ["Answers", "columns_of"]

READABLE = ("numeric", "date", "categorical", "text", "sequence", "smiles")


def columns_of(known: SavedModel) -> list[Column]:
    """Return the columns that a model reads, refusing models that read no table.

    Machines that were saved without a recipe read numbers: columns of their names, or x0, x1, …
    """
    if known.recipe is not None:
        columns = [Column(why="as before", **step) for step in known.recipe["columns"]]
    else:
        count = getattr(known.machine, "n_features_in_", 0)
        names = getattr(known.machine, "feature_names_in_", [f"x{j}" for j in range(count)])
        columns = [Column(str(name), "numeric", "as before") for name in names]
    odd = [column.kind for column in columns if column.kind not in READABLE]
    if odd or not columns:
        what = odd[0] if odd else "whole things"
        raise DomainError(f"rows of JSON are rows of a table, but the model was made for {what}")
    return columns


class Answers:
    """A model with all that is needed to answer requests; one at a time may use it.

    Parameters
    ----------
    known : SavedModel
    """

    def __init__(self, known: SavedModel) -> None:
        self.known = known
        self.columns = columns_of(known)
        recipe = known.recipe or {}
        self._codes = recipe.get("missing") or {}
        self.sure = known.classes is not None and hasattr(known.machine, "predict_proba")

    def predict(self, asked: Sequence[Asked]) -> list[dict[str, Any] | Refused]:
        """Return the answer to each of some requests, or why it is refused."""
        found: list[dict[str, Any] | Refused] = [Refused(500, "not answered")] * len(asked)
        for sure in (False, True):
            places = [i for i, one in enumerate(asked) if one.probabilities is sure]
            if places:
                answers = self._together([asked[i] for i in places], sure)
                for i, answer in zip(places, answers, strict=True):
                    found[i] = answer
        return found

    def explain(self, asked: Asked, count: int) -> dict[str, Any]:
        """Return why one row is predicted as it is."""
        sheet = self._sheet([asked])
        if isinstance(sheet, dict):
            raise sheet[0]
        from mercer.explanations import explain

        try:
            item = self.known.items(sheet)
            why = explain(self.known.machine, item)[0]
            features = why.features(count)
            parts = why.columns()
        except MercerError as error:
            raise Refused(422, str(error)) from error
        answer = self._answers(sheet, self.sure)[0]
        return answer | {
            "score": _number(why.score),
            "toward": _plain(why.toward),
            "offset": _number(why.explanation.offsets[why.item]),
            "parts": _table(parts, "kernel"),
            "features": _table(features, "feature"),
            "known_rows": [self._known_row(*row) for row in
                           why.exemplars(count).itertuples(index=False)],
        }  # fmt: skip

    def _known_row(
        self, place: int, item: object, similarity: float, value: float, share: float
    ) -> dict[str, Any]:
        row, target = self.known.learned(place) or (None, None)
        return {
            "row": row,
            "target": _plain(target),
            "similarity": _number(similarity),
            "contribution": _number(value),
            "share": _number(share),
        }

    def _together(self, asked: list[Asked], sure: bool) -> list[dict[str, Any] | Refused]:
        """Answer requests in one go; where that fails, each on its own."""
        sheet = self._sheet(asked)
        if isinstance(sheet, dict):
            good = [i for i in range(len(asked)) if i not in sheet]
            answers = iter(self._together([asked[i] for i in good], sure) if good else [])
            return [sheet[i] if i in sheet else next(answers) for i in range(len(asked))]
        try:
            flat = self._answers(sheet, sure)
        except MercerError as error:
            if len(asked) == 1:
                return [Refused(422, str(error))]
            return [self._together([one], sure)[0] for one in asked]
        found: list[dict[str, Any] | Refused] = []
        start = 0
        for one in asked:
            found.append({"answers": flat[start : start + len(one.rows)]})
            start += len(one.rows)
        return found

    def _answers(self, sheet: Sheet, sure: bool) -> list[dict[str, Any]]:
        """Return the answer for each row of a sheet."""
        found = self.known.answer(sheet, sure)
        answers: list[dict[str, Any]] = [{"prediction": _plain(y)} for y in
                                         found.prediction.tolist()]  # fmt: skip
        if found.probabilities is not None and self.known.classes is not None:
            labels = [str(label) for label in self.known.classes.tolist()]
            for answer, row in zip(answers, found.probabilities.tolist(), strict=True):
                answer["probabilities"] = dict(zip(labels, map(_number, row), strict=True))
        for answer in answers:
            answer["careful"] = []
        for mark in found.marks.marks if found.marks is not None else ():
            answers[mark.place]["careful"].append(mark.text)
        return answers

    def _sheet(self, asked: Sequence[Asked]) -> Sheet | dict[int, Refused]:
        """Return the rows of all requests, or why some requests cannot be read."""
        rows = [row for one in asked for row in one.rows]
        columns = {c.name: _entries([row[c.name] for row in rows], c.kind) for c in self.columns}
        numbers = np.arange(len(rows))
        piece = Piece(columns, numbers, numbers, len(rows))
        if self._codes:
            one: Any = _OnePiece(piece)
            (piece,) = Recoded(one, self._codes).pieces(len(rows))
        values, problems = read_values(piece, self.columns)
        if problems:
            return _owners(asked, problems)
        X = to_frame(values, numbers)
        return Sheet(X, None, tuple(self.columns), None, numbers, numbers, len(rows))


class _OnePiece:
    """A source of rows that are there."""

    notes: tuple[str, ...] = ()

    def __init__(self, piece: Piece) -> None:
        self.piece = piece

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        yield self.piece


def _owners(asked: Sequence[Asked], problems: dict[int, str]) -> dict[int, Refused]:
    """Return which requests have rows with problems, with the first of each."""
    found: dict[int, Refused] = {}
    start = 0
    for i, one in enumerate(asked):
        for row in range(len(one.rows)):
            if start + row in problems and i not in found:
                found[i] = Refused(422, f"row {row}: {problems[start + row]}")
        start += len(one.rows)
    return found


def _entries(raw: list[Any], kind: str) -> np.ndarray:
    """Return the entries of a column as sources have them."""
    if kind == "numeric":
        return np.array([math.nan if entry is None else entry for entry in raw], dtype=np.float64)
    if kind == "date":
        return np.array(["NaT" if entry is None else entry for entry in raw], "datetime64[us]")
    return objects(raw)


def _plain(value: object) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _number(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _table(frame: Any, what: str) -> list[dict[str, Any]]:
    """Return contributions of the parts or features of a kernel."""
    return [
        {what: str(thing), "columns": [str(name) for name in columns or ()],
         "contribution": _number(value)}
        for thing, columns, value in zip(
            frame[what], frame["columns"], frame["contribution"], strict=True
        )
    ] if len(frame) else []  # fmt: skip
