"""The rest: rows of a large file that were not learned from, predicted in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.progress import progress
from mercer.sources import BadRow, Sheet, recipe
from mercer.studies.judgment import pooled
from mercer.studies.keeping import Kept
from mercer.studies.outcome import Rest

__all__ = ["predict_rest"]

PARTS = 20  # parts of the rows whose spread gives the standard error
MOST = 50_000_000  # probabilities that are kept


def predict_rest(model: Any, sheet: Sheet, show: bool | None = None) -> Rest | None:
    """Return what a model says about the rows that its sheet is a sample of; None if all are in.

    Rows that cannot be read are listed, not predicted.
    """
    if sheet.path is None or len(sheet) + len(sheet.bad) >= sheet.total:
        return None
    kept = Kept(model, recipe(sheet))
    chances = kept.classes is not None and sheet.total * len(kept.classes) <= MOST
    rows, truths, answers = [], [], []
    tables: list[Any] = []
    bad: list[BadRow] = []
    with progress(f"predicting {sheet.total} rows", sheet.total, show) as step:
        for piece in kept.predict(sheet.path, probabilities=chances, skip_bad=True):
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
    return Rest(np.concatenate(rows), y, prediction, table, error, error_se, tuple(bad))


def _others(piece: Sheet, sheet: Sheet) -> np.ndarray:
    """Tell which rows of a piece are not in the sample and have a target."""
    y: Any = piece.y
    there = np.isfinite(y) if y.dtype.kind == "f" else np.array([v is not None for v in y])
    return there & ~np.isin(piece.rows, sheet.rows)


def _judged(y: np.ndarray, prediction: np.ndarray) -> tuple[float, float]:
    parts = np.array_split(np.arange(len(y)), min(PARTS, len(y)))
    return pooled([y[part] for part in parts], [prediction[part] for part in parts])
