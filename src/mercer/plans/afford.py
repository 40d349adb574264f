"""Afford: whether an array of known size fits into memory, before it is made."""

from __future__ import annotations

from mercer.errors import PlanError
from mercer.plans.memory import available, human

__all__ = ["afford", "affordable"]

# What a fit needs besides its one large array: tiles, threads, small vectors.
OVERHEAD = 20_000_000


def affordable(needed: int) -> bool:
    """Tell whether this many bytes are free; where nobody knows, they are."""
    free = available()
    return free is None or needed + OVERHEAD <= free


def afford(needed: int, task: str, advice: str) -> None:
    """Refuse work that would not fit, saying the bytes needed, the bytes there, and what to do.

    Examples
    --------
    >>> afford(10**18, "the Gram matrix of 350000000 items", "use fewer items")
    Traceback (most recent call last):
        ...
    mercer.errors.PlanError: the Gram matrix of 350000000 items needs 1000000.0 TB, but ...
    """
    if not affordable(needed):
        free = human(available() or 0)
        raise PlanError(f"{task} needs {human(needed)}, but {free} are available; {advice}")
