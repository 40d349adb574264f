"""Eigenvalues of a Gram matrix: how many directions a kernel sees in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import axes_for
from mercer.plots.gram import matrix_of
from mercer.plots.palette import CLASSES, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["effective_rank", "plot_spectrum"]


def plot_spectrum(
    kernel: Any,
    X: Any = None,
    ax: Axes | None = None,
    *,
    penalty: float | None = None,
    label: str | None = None,
) -> Axes:
    """Draw the eigenvalues of the Gram matrix, the largest first, and the effective rank.

    Eigenvalues that are zero to rounding are left out; negative ones, which a valid kernel cannot
    have, are drawn as crosses by their size.

    Parameters
    ----------
    kernel : Kernel, name of a kernel, or square array
        As in `plot_gram`.
    X : sequence of things, optional
    ax : Axes, optional
    penalty : float, optional
        Draws a ridge penalty λ; the effective rank is then Σ μ/(μ + λ), the degrees of freedom of
        ridge regression. Without it, exp(−Σ p log p) with p = μ/Σμ.
    label : str, optional
        Name of the line in a legend.

    Examples
    --------
    >>> import numpy as np
    >>> ax = plot_spectrum(np.diag([4.0, 4.0, 0.0]))
    >>> ax.get_title()
    'effective rank 2.0 of 3'
    """
    K = matrix_of(kernel, X)
    values = np.linalg.eigvalsh((K + K.T) / 2)[::-1]
    tolerance = len(K) * np.finfo(float).eps * float(np.abs(values).max())
    if tolerance == 0:
        raise DomainError("all similarities are zero, so there is no spectrum")
    ax = axes_for(ax)
    places = np.arange(1, len(values) + 1)
    good, bad = values > tolerance, values < -tolerance
    ax.plot(places[good], values[good], ".-", markersize=4, linewidth=1.0, label=label)
    if bad.any():
        ax.plot(places[bad], -values[bad], "x", color=CLASSES[1], label="negative")
        ax.legend()
    if penalty:
        ax.axhline(penalty, color=MUTED, linestyle="--", linewidth=1.0)
        ax.annotate("λ", (places[-1], penalty), ha="right", va="bottom", color=MUTED)
    ax.set(yscale="log", xlabel="index", ylabel="eigenvalue")
    ax.set_title(f"effective rank {effective_rank(values, penalty):.1f} of {len(K)}")
    return ax


def effective_rank(eigenvalues: Any, penalty: float | None = None) -> float:
    """Return how many directions count: degrees of freedom, or the entropy of the spectrum.

    Examples
    --------
    >>> round(effective_rank([1.0, 1.0, 1.0, 0.0]), 9)
    3.0
    >>> effective_rank([1.0, 1.0], penalty=1.0)
    1.0
    """
    values = np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0.0)
    if penalty:
        return float(np.sum(values / (values + penalty)))
    if not values.any():
        return 0.0
    p = values[values > 0] / values.sum()
    return float(np.exp(-np.sum(p * np.log(p))))
