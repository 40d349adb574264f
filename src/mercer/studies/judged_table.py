"""How a model did on a table that was kept aside."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["JudgedTable"]


@dataclass(frozen=True)
class JudgedTable:
    """What a model is worth on a table that had no part in making it.

    Attributes
    ----------
    name : str
    rows : int
        That have a target.
    error, error_se : float
        As `Study.error`.
    baseline_error : float
        Of the one answer that was best for the rows that were learned from.
    known : int
        Rows that stand in the table that was learned from too, with the same target.
    """

    name: str
    rows: int
    error: float
    error_se: float
    baseline_error: float
    known: int
