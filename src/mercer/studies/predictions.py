"""Predictions: what a saved model says about some rows, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.sources import Sheet
from mercer.studies.guard import Marks, losses_of

__all__ = ["Predictions"]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a machine says about some rows of a table.

    Parameters
    ----------
    classes : ndarray or None
        In the order of probabilities and sets.

    Attributes
    ----------
    sheet : Sheet
        The rows.
    prediction : ndarray
    probabilities : ndarray of shape (rows, classes) or None
    marks : Marks or None
        What is doubtful about the answers; None if the model keeps nothing to tell by.
    intervals : ndarray of shape (rows, 2) or None
    sets : ndarray of shape (rows, classes) and bool, or None

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> sheet = read_frame(pd.DataFrame({"size": [1.5, 2.0], "kind": ["a", "b"]}), "kind")
    >>> found = Predictions(sheet, np.array(["a", "b"]))
    >>> found.prediction.tolist(), found.probabilities
    (['a', 'b'], None)
    """

    sheet: Sheet
    prediction: np.ndarray
    probabilities: np.ndarray | None = None
    marks: Marks | None = None
    intervals: np.ndarray | None = None
    sets: np.ndarray | None = None
    classes: np.ndarray | None = None  # in the order of probabilities and sets

    @property
    def inside(self) -> int:
        """In how many rows whose target is known it lies in the interval or the set."""
        y = self.sheet.y
        if y is None:
            return 0
        if self.intervals is not None:
            there = np.isfinite(y)
            low, high = self.intervals[there].T
            return int(np.sum((low <= y[there]) & (y[there] <= high)))
        if self.sets is None or self.classes is None:
            return 0
        places = {label: code for code, label in enumerate(self.classes.tolist())}
        codes = [places.get(label, -1) for label in y.tolist()]
        return sum(
            bool(code >= 0 and row[code]) for code, row in zip(codes, self.sets, strict=True)
        )

    @property
    def losses(self) -> np.ndarray:
        """For each row whose target is known: whether it is wrong, or its squared deviation."""
        y = self.sheet.y
        if y is None:
            return np.zeros(0)
        if y.dtype.kind == "f":
            there = np.isfinite(y)
        else:
            there = np.array([label is not None for label in y], dtype=bool)
        return losses_of(y[there], self.prediction[there])
