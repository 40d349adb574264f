"""Gram matrices, as in `mercer.bench.gram`, of more points."""

from __future__ import annotations

from mercer.bench import gram
from mercer.bench.table import Row

N = 6000


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    return gram.rows(N)
