"""The effect of a column: what a model answers on average along its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["ColumnEffect"]


@dataclass(frozen=True)
class ColumnEffect:
    """What a model answers along the values of one column.

    Attributes
    ----------
    column : str
    kind : {"numeric", "date", "categorical"}
    values : ndarray of shape (m,)
        Of the column: numbers, datetime64, or the most frequent entries.
    answer : {"prediction", "probability", "decision"}
        What is averaged.
    classes : tuple
        Whose probability or decision it is: the rarer one of two, the most frequent of several.
        Empty for numbers.
    mean : ndarray of shape (answers, m)
    low, high : ndarray of shape (answers, m)
        Between them are 80 % of the rows, each moved to the common level.
    rows : int
        How many were averaged.
    """

    column: str
    kind: str
    values: np.ndarray
    answer: str
    classes: tuple[Any, ...]
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rows: int

    @property
    def reach(self) -> float:
        """How much the average answer changes at most."""
        return float(np.ptp(self.mean, axis=1).max())
