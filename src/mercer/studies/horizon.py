"""The error at one horizon."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Horizon"]


@dataclass(frozen=True)
class Horizon:
    """The error of rows that lie so far ahead of the last one that was learned from.

    Attributes
    ----------
    low, high : float
        In days, or in the unit of the column of times.
    rows : int
    error, error_se : float
    """

    low: float
    high: float
    rows: int
    error: float
    error_se: float
