"""Saved models: the machine of a file, and how to read other tables for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.domains import is_frame
from mercer.errors import DomainError
from mercer.files import describe, load
from mercer.progress import progress
from mercer.reservoir import Reservoir
from mercer.sources import BadRow, Sheet, chunks, read, recipe
from mercer.sources.table_reader import without_reader
from mercer.studies.folds import pooled_error
from mercer.studies.guard import Guard, Watch
from mercer.studies.predictions import Predictions
from mercer.studies.promises import promise_of
from mercer.studies.results import UnsampledRows

__all__ = ["Predictions", "SavedModel", "open_model", "predict_unsampled"]

CHUNK_ROWS = 10_000  # that are read and predicted at once
PREVIEW_ROWS = 1000  # that show what a table has, for a machine that was saved without its recipe


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A machine that was saved, with what is needed to use it on files. Made by `open_model`.

    Attributes
    ----------
    machine : machine, or a pipeline that ends with one
    recipe : dict or None
        How to read a table in the same way; None if it was not saved with the machine.
    notes : dict
        What else was saved, such as the error that was estimated.

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.mercer")
    ...     mercer.save(mercer.KernelRidge("linear").fit([[1.0], [2.0]], [1.0, 2.0]), path)
    ...     model = open_model(path)
    >>> type(model.machine).__name__, model.recipe
    ('KernelRidge', None)
    """

    machine: Any
    recipe: dict[str, Any] | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def watch(self) -> Watch | None:
        """What tells which answers are doubtful; None where the file keeps nothing for it."""
        seen = self.notes.get("seen")
        if self.recipe is None or not isinstance(seen, dict):
            return None
        return Watch(Guard.read(seen), *self.stages)

    def require_watch(self) -> Watch:
        """Return what tells of known rows, refusing files that keep none."""
        if self.watch is None:
            raise DomainError(
                "the model keeps no rows to compare with: it is older, or was not written by "
                "`mercer fit`; learn anew with this version"
            )
        return self.watch

    @cached_property
    def stages(self) -> tuple[Any, Any]:
        """What prepares rows, None if nothing does, and the machine that sees them then."""
        if not isinstance(self.machine, Pipeline):
            return None, self.machine
        return (self.machine[:-1] if len(self.machine) > 1 else None), self.machine[-1]

    @property
    def classes(self) -> np.ndarray | None:
        """The labels, in the order of the probabilities; None if numbers are predicted."""
        return getattr(self.machine, "classes_", None)

    def learned(self, place: int) -> tuple[int, Any] | None:
        """Return the number in its file and the target of a row that was learned from.

        None if it is not known which row that is.
        """
        found = self.notes.get("learned")
        if found is None or not 0 <= place < len(found["rows"]):
            return None
        return int(found["rows"][place]), found["labels"][found["codes"][place]]

    def sheets(
        self, path: str | os.PathLike[str], *, skip_bad: bool = False, size: int | None = None
    ) -> Iterator[Sheet]:
        """Read a table in pieces, as the one that was learned from; it may exceed the memory."""
        how = _recipe_of_numbers(self.machine, path) if self.recipe is None else self.recipe
        yield from chunks(path, how, size or CHUNK_ROWS, skip_bad=skip_bad)

    def items(self, sheet: Sheet) -> Any:
        """Return the rows of a sheet as the machine takes them."""
        if self.recipe is not None:
            return sheet.X
        names = getattr(self.machine, "feature_names_in_", None)
        return sheet.X.to_numpy(dtype=np.float64) if names is None else sheet.X[list(names)]

    def sample(
        self,
        path: str | os.PathLike[str],
        most: int = CHUNK_ROWS,
        seed: int = 0,
        skip_bad: bool = False,
    ) -> Sheet:
        """Return a random sample of the rows of a table, all of a short one."""
        rows = Reservoir(most, seed, join_rows)
        for sheet in self.sheets(path, skip_bad=skip_bad):
            rows.offer(SheetRows(sheet))
        rows.settle()
        if not rows.kept:
            raise DomainError(f"{os.fspath(path)!r} has no row that can be read")
        return rows.kept[0].sheet

    def row(self, path: str | os.PathLike[str], number: int, *, skip_bad: bool = True) -> Sheet:
        """Return one row of a table, by its number from 0."""
        total = 0
        for sheet in self.sheets(path, skip_bad=skip_bad):
            found = np.flatnonzero(sheet.rows == number)
            if len(found):
                X, y = _safe_indexing(sheet.X, found), None if sheet.y is None else sheet.y[found]
                return replace(sheet, X=X, y=y, lines=sheet.lines[found], rows=sheet.rows[found])
            total += sheet.total
            if number < total:
                bad = "; ".join(map(str, sheet.bad[:3]))
                raise DomainError(f"row {number} is among those that cannot be read: {bad}")
        raise DomainError(f"{os.fspath(path)!r} has no row {number}; its last is {total - 1}")

    def _decided(self, chances: np.ndarray) -> np.ndarray:
        """Return the answers for probabilities: the most probable, or with costs the cheapest."""
        last = self.machine[-1] if isinstance(self.machine, Pipeline) else self.machine
        if hasattr(last, "decide"):
            return last.decide(chances)
        assert self.classes is not None
        return self.classes[chances.argmax(axis=1)]

    def predict(
        self,
        path: str | os.PathLike[str],
        *,
        probabilities: bool = False,
        skip_bad: bool = False,
        size: int | None = None,
        interval: float | None = None,
        sets: float | None = None,
    ) -> Iterator[Predictions]:
        """Predict the rows of a table, piece by piece.

        With `interval`, a level such as 0.9, each number has an interval that holds the truth so
        often; with `sets` each label a set of those that it may be.
        """
        promise = promise_of(self.machine, self.notes, interval, sets)
        self.require_probabilities(probabilities)
        for sheet in self.sheets(path, skip_bad=skip_bad, size=size):
            found = self.answer(sheet, probabilities)
            yield found if promise is None else promise(self.items(sheet), found)

    def require_probabilities(self, asked: bool = True) -> None:
        """Refuse to give probabilities where there are none."""
        if asked and not hasattr(self.machine, "predict_proba"):
            kind = "this machine gives none" if self.classes is not None else "it predicts numbers"
            raise DomainError(f"there are no probabilities, because {kind}")

    def answer(self, sheet: Sheet, probabilities: bool = False) -> Predictions:
        """Predict the rows of a sheet that was read as the one that was learned from."""
        before, machine = self.stages
        X = self.items(sheet)
        X = X if before is None else before.transform(X)
        chances = machine.predict_proba(X) if probabilities else None
        # The machines of studies answer with the most probable class, so that one pass over the
        # rows is enough.
        if chances is not None and self.classes is not None and self.recipe is not None:
            found = self._decided(chances)
        else:
            found = machine.predict(X)
        marks = None if self.watch is None else self.watch.look(sheet, found, X)
        return Predictions(sheet, found, chances, marks)


@dataclass(frozen=True, eq=False)
class SheetRows:
    """The rows of a sheet, of which some can be taken for a sample."""

    sheet: Sheet

    def __len__(self) -> int:
        return len(self.sheet)

    def take(self, chosen: np.ndarray, /) -> SheetRows:
        """Return some of the rows."""
        one = self.sheet
        X, y = _safe_indexing(one.X, chosen), None if one.y is None else one.y[chosen]
        return SheetRows(replace(one, X=X, y=y, lines=one.lines[chosen], rows=one.rows[chosen]))


def join_rows(parts: list[SheetRows]) -> SheetRows:
    """Return the rows of several sheets of one file as one."""
    if len(parts) == 1:
        return parts[0]
    sheets = [part.sheet for part in parts]
    lines, rows = (np.concatenate([getattr(one, n) for one in sheets]) for n in ("lines", "rows"))
    y = None if sheets[0].y is None else np.concatenate([one.y for one in sheets])
    X: Any = [one.X for one in sheets]
    if is_frame(X[0]):
        import pandas as pd

        X = pd.concat(X, ignore_index=True)
    else:
        X = sparse.csr_array(sparse.vstack(X, format="csr"))
    return SheetRows(replace(sheets[0], X=X, y=y, lines=lines, rows=rows))


def open_model(path: str | os.PathLike[str]) -> SavedModel:
    """Return the machine of a file that `mercer.report.write` or `mercer.save` has made.

    Parameters
    ----------
    path : path

    Returns
    -------
    SavedModel

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> machine = mercer.KernelRidge("linear", 0.1).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model, table = (os.path.join(folder, name) for name in ("model.mercer", "new.csv"))
    ...     mercer.save(machine, model)
    ...     with open(table, "w") as file:
    ...         _ = file.write("length\\n3.0\\n4.0\\n5.5\\n")
    ...     [piece.prediction.round(2).tolist() for piece in open_model(model).predict(table)]
    [[2.94, 3.92, 5.39]]
    """
    machine = without_reader(load(path))
    if not hasattr(machine, "predict"):
        raise DomainError(
            f"{os.fspath(path)!r} holds a {type(machine).__name__}, which predicts nothing"
        )
    found = describe(path)["notes"]
    notes = found if isinstance(found, dict) else {}
    return SavedModel(machine, notes.get("recipe"), notes)


def _recipe_of_numbers(machine: Any, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return how to read a table for a machine that was saved without saying how.

    Columns are those that the machine has names for, otherwise all; every one is numbers.
    """
    first = read(path, limit=PREVIEW_ROWS)
    there = [column.name for column in first.columns]
    wanted = list(getattr(machine, "feature_names_in_", there))
    count = getattr(machine, "n_features_in_", None)
    if set(wanted) - set(there) or count != len(wanted):
        expected = f"{count} columns of numbers" if count else "things that are no rows of numbers"
        raise DomainError(
            f"the model does not say how to read a table, and was made for {expected}, but "
            f"{os.fspath(path)!r} has {len(there)} columns; use the model.mercer that `mercer "
            "fit` writes, or predict in Python"
        )
    kinds = {name: "numeric" if name in wanted else "ignore" for name in there}
    return recipe(read(path, types=kinds, limit=PREVIEW_ROWS))


def predict_unsampled(model: Any, sheet: Sheet, show: bool | None = None) -> UnsampledRows | None:
    """Return what a model says about the rows that its sheet is a sample of; None if all are in.

    Rows that cannot be read are listed, not predicted.
    """
    if sheet.path is None or len(sheet) + len(sheet.bad) >= sheet.total:
        return None
    saved = SavedModel(model, recipe(sheet))
    # More probabilities than 400 MB are not kept.
    chances = saved.classes is not None and sheet.total * len(saved.classes) <= 50_000_000
    rows, truths, answers = [], [], []
    tables: list[Any] = []
    bad: list[BadRow] = []
    with progress(f"predicting {sheet.total} rows", sheet.total, show) as step:
        for piece in saved.predict(sheet.path, probabilities=chances, skip_bad=True):
            there = piece.sheet
            new = _others(there, sheet)
            rows.append(there.rows[new])
            truths.append(there.y[new])  # type: ignore[index]
            answers.append(piece.prediction[new])
            tables.append(piece.probabilities[new] if chances else None)  # type: ignore[index]
            bad += there.bad
            step(len(there))
    y, prediction = np.concatenate(truths), np.concatenate(answers)
    if not len(y):
        return None
    error, error_se = _judged(y, prediction)
    table = np.concatenate(tables) if chances else None
    return UnsampledRows(np.concatenate(rows), y, prediction, table, error, error_se, tuple(bad))


def _others(piece: Sheet, sheet: Sheet) -> np.ndarray:
    """Tell which rows of a piece are not in the sample and have a target."""
    y: Any = piece.y
    there = np.isfinite(y) if y.dtype.kind == "f" else np.array([v is not None for v in y])
    return there & ~np.isin(piece.rows, sheet.rows)


def _judged(y: np.ndarray, prediction: np.ndarray) -> tuple[float, float]:
    # The spread of twenty parts gives the standard error.
    parts = np.array_split(np.arange(len(y)), min(20, len(y)))
    return pooled_error([y[part] for part in parts], [prediction[part] for part in parts])
