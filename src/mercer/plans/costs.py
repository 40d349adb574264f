"""Costs: about how long things take.

The constants are those of one core of the computer on which this was written, an AMD EPYC of 2024
or so; a plan's seconds are meant to be right within a factor of three on computers of its kind.
"""

from __future__ import annotations

from mercer.threads import cores

__all__ = ["factor_seconds", "pair_seconds", "product_seconds", "spoken"]

PAIR = 4e-9  # a similarity of vectors, computed in a tile and used up
NUMBER = 3e-11  # ... for each number of an item
FLOP = 1 / 40e9  # of a matrix product in double precision; half in single
FACTORED = 1 / 25e9  # of a factor


def pair_seconds(row: float) -> float:
    """Return the time of one similarity of items of so many bytes.

    Examples
    --------
    >>> pair_seconds(160.0) < 1e-8
    True
    """
    return PAIR + NUMBER * row / 8


def product_seconds(pairs: float, row: float, targets: int = 1) -> float:
    """Return the time of so many similarities that are multiplied with a few vectors."""
    return pairs * (pair_seconds(row) + 2 * FLOP * targets) / cores()


def factor_seconds(order: float, mixed: bool = False) -> float:
    """Return the time of a Cholesky factor."""
    return order**3 / 3 * FACTORED / (2 if mixed else 1) / cores()


def spoken(seconds: float) -> str:
    """Say a time.

    Examples
    --------
    >>> spoken(4000.0), spoken(12.3)
    ('1.1 hours', '12 seconds')
    """
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size or (unit == "hours" and seconds >= size):
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"
