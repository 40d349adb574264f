"""Kernel ridge regression, as in `mercer.bench.comparisons`, of more points, and its memory."""

from __future__ import annotations

from mercer.bench.comparisons import fit_ours, fit_peer, ridge_rows, sample
from mercer.bench.measure import Row, at_most, peak_growth

N = 6000


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    return [*ridge_rows(N), memory()]


def memory() -> Row:
    """Compare the peak memory of a fit with the size of one Gram matrix."""
    ours, peer = (peak_growth(fit, sample, N) for fit in (fit_ours, fit_peer))
    return Row(
        "peak memory of fit, in Gram matrices (8n² bytes)",
        f"{ours / 1e6:.0f} MB",
        f"{peer / 1e6:.0f} MB",
        ours / (8 * N**2),
        at_most(1.5),
    )
