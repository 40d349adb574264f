"""Judged tables: a table that was kept aside is predicted once, by the machine in the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import is_frame
from mercer.errors import DomainError
from mercer.sources import recipe
from mercer.studies.folds import baseline_error, pooled_error
from mercer.studies.judged_table import JudgedTable
from mercer.studies.results import Study
from mercer.studies.saved import SavedModel

__all__ = ["judge_table"]

PARTS = 20  # whose spread gives the standard error


def judge_table(study: Study, table: Any) -> JudgedTable:
    """Return how a study's machine does on another table, a file or a DataFrame."""
    saved = SavedModel(study.machine, recipe(study.sheet))
    truths, answers, known, name = [], [], 0, ""
    own = None if not is_frame(study.X) else _hashes(study.X, study.y)
    for piece in saved.predict(table):
        sheet, name = piece.sheet, piece.sheet.name
        if sheet.y is None:
            target = study.sheet.target.name if study.sheet.target else "the target"
            raise DomainError(f"{name} has no column {target!r}, so nothing can be judged by it")
        there = _there(sheet.y)
        truths.append(sheet.y[there])
        answers.append(piece.prediction[there])
        if own is not None:
            new = _hashes(sheet.X.iloc[np.flatnonzero(there)], truths[-1])
            known += int(np.isin(new, own).sum())
    y = np.concatenate(truths) if truths else np.zeros(0)
    if not len(y):
        raise DomainError(f"{name or 'the table'} has no row with a target to judge by")
    said = np.concatenate(answers)
    if y.dtype.kind != "f":
        y = np.array(y.tolist())
        others = sorted(set(y.tolist()) - set(study.y.tolist()))
        if others and study.loss.matrix is not None:
            raise DomainError(f"{name} has the class {others[0]!r}, of which no cost is known")
    parts = np.array_split(np.random.default_rng(0).permutation(len(y)), min(PARTS, len(y)))
    loss = study.loss if study.loss.special else None
    error, spread = pooled_error([y[p] for p in parts], [said[p] for p in parts], (), loss)
    both = np.concatenate([study.y, y])
    split = (np.arange(len(study.y)), np.arange(len(study.y), len(both)))
    if y.dtype.kind == "f" or loss is not None:
        base = baseline_error(both, [split], _Past(len(both)), loss)
    else:
        labels, counts = np.unique(study.y, return_counts=True)
        base = float(np.mean(y != labels[counts.argmax()]))
    return JudgedTable(name, len(y), error, spread, base, known)


class _Past:
    """Rows that are learned from before others, so that a baseline looks at these alone."""

    groups = weights = None

    def __init__(self, count: int) -> None:
        self.time = np.arange(count)

    def part(self, rows: np.ndarray) -> _Past:
        return _Past(len(rows))


def _there(y: np.ndarray) -> np.ndarray:
    if y.dtype.kind == "f":
        return np.isfinite(y)
    return np.array([label is not None for label in y], dtype=bool)


def _hashes(X: Any, y: np.ndarray) -> np.ndarray:
    """Return a number for each row with its target, the same for equal ones."""
    import pandas as pd

    table = pd.DataFrame({f"x{j}": X.iloc[:, j].astype(str).to_numpy() for j in range(X.shape[1])})
    table["y"] = [str(label) for label in y]
    return pd.util.hash_pandas_object(table, index=False).to_numpy()
