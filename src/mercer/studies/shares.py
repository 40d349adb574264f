"""Shares: how much columns contributed to answers, and why a few rows came out as they did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ColumnShares", "ToldRow"]


@dataclass(frozen=True)
class ToldRow:
    """Why a held-out row was predicted as it was.

    Attributes
    ----------
    place : int
        Which row of the study.
    why : str
        Why it is shown.
    toward : object
        The label that positive shares speak for; None for numbers.
    reasons : tuple of (str, str, float)
        Columns, their entries and shares, the largest first.
    rest : float
        The sum of the other shares.
    base, score : float
        Where nothing is known of a row, and of this one.
    """

    place: int
    why: str
    toward: Any
    reasons: tuple[tuple[str, str, float], ...]
    rest: float
    base: float
    score: float


@dataclass(frozen=True)
class ColumnShares:
    """How much each column mattered to held-out rows.

    Attributes
    ----------
    names : tuple of str
        Those that matter most come first.
    shares : tuple of float
        Means over the folds; they sum to 1.
    spreads : tuple of float
        Standard deviations over the folds; 0 where only one judged.
    told : tuple of ToldRow
        Rows of the first fold.
    orders : int
        Of the columns, from which shares were estimated; 0 where they are exact.
    scale : str
        On which scores are: "log" where a logarithm was learned.
    """

    names: tuple[str, ...]
    shares: tuple[float, ...]
    spreads: tuple[float, ...]
    told: tuple[ToldRow, ...]
    orders: int = 0
    scale: str = "none"
