"""A reference: how another tool does on the folds of a study."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Reference"]


@dataclass(frozen=True)
class Reference:
    """What another tool makes of the same folds.

    Attributes
    ----------
    name : {"linear model", "boosted trees"}
    tool : str
        What it is, in scikit-learn's words.
    error, error_se : float
        As in `Study`; NaN if it failed.
    note : str
        Why it failed, if it did.
    """

    name: str
    tool: str
    error: float
    error_se: float
    note: str = ""
