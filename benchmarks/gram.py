"""Gram matrices, as in `mercer.bench.comparisons`, of more points."""

from __future__ import annotations

from mercer.bench.comparisons import gram_rows
from mercer.bench.measure import Row

N = 6000


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    return gram_rows(N)
