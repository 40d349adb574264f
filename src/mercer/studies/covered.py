"""Covered: how often intervals and sets hold the truth, of all rows and of some."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Coverage", "Covered"]


@dataclass(frozen=True)
class Covered:
    """Some rows: which, how many, how often the truth is inside, and how wide that is.

    Attributes
    ----------
    what : str
    rows : int
    share : float
    width : float
        Mean width of the intervals, or mean number of labels in the sets.
    """

    what: str
    rows: int
    share: float
    width: float


@dataclass(frozen=True, eq=False)
class Coverage:
    """How often the truth was inside.

    Attributes
    ----------
    level : float
    whole : Covered
        All held-out rows.
    by_size : tuple of Covered
        By the size of predictions, from small to large; for classes by the number of labels.
    by_group : tuple of Covered
        By the true class, the categories of a column or by groups, the worst first.
    grouped_by : str
        What these are; empty if there are none.
    narrow, wide : tuple of int
        Places, among the held-out rows, of the narrowest and of the widest answers.
    intervals : ndarray of shape (rows, 2), or of shape (rows, classes) and bool
        Of the held-out rows.
    guarantee : str
        What is promised for new rows.
    """

    level: float
    whole: Covered
    by_size: tuple[Covered, ...]
    by_group: tuple[Covered, ...]
    grouped_by: str
    narrow: tuple[int, ...]
    wide: tuple[int, ...]
    intervals: np.ndarray
    guarantee: str
