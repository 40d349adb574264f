"""Learning curves: errors against the number of items learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import axes_for
from mercer.plots.palette import BLUE, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_curve"]

FAR = 2.5  # times the curve's highest point
NEAR = 0.93  # of the baseline: the curve would run through words above it


def plot_curve(
    sizes: Any,
    errors: Any,
    standard_errors: Any = None,
    ax: Axes | None = None,
    *,
    baseline: float | None = None,
    percent: bool = False,
) -> Axes:
    """Draw how the error falls as more items are learned from.

    A curve that still falls at its right end says that more data would help; a flat one says that
    they would not.

    Parameters
    ----------
    sizes, errors : arrays
    standard_errors : array, optional
        Drawn as a band.
    ax : Axes, optional
    baseline : float, optional
        The error of an answer that looks at nothing: a dashed line, or an arrow if it is so far
        above that the curve would be flat beside it.
    percent : bool
        Whether errors are shares.

    Examples
    --------
    >>> ax = plot_curve([50, 100, 200], [0.3, 0.2, 0.15], [0.02, 0.02, 0.01], baseline=0.5)
    >>> ax.get_xlabel()
    'items learned from'
    """
    n, e = np.asarray(sizes, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if n.shape != e.shape or n.ndim != 1 or len(n) == 0:
        raise DomainError(
            f"one error is needed for each size, found shapes {e.shape} and {n.shape}"
        )
    ax = axes_for(ax, (5.2, 3.0))
    if standard_errors is not None:
        band = np.asarray(standard_errors, dtype=np.float64)
        ax.fill_between(n, np.maximum(e - band, 0), e + band, color=BLUE, alpha=0.18, lw=0)
    ax.plot(n, e, "o-", color=BLUE, markersize=4.5, clip_on=False)  # zero is on the border
    if baseline is not None and np.isfinite(baseline):
        clear_left = abs(e[0] - baseline) > abs(e[-1] - baseline)
        near = (e[0] if clear_left else e[-1]) > NEAR * baseline
        _baseline(ax, baseline, percent, "left" if clear_left else "right", below=near)
    ax.set(xlabel="items learned from", ylabel="error", ylim=(0, (ax.get_ylim()[1] or 1) * 1.04))
    if percent:
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")
    return ax


def _baseline(ax: Axes, baseline: float, percent: bool, side: str, below: bool) -> None:
    """Draw the error of looking at nothing, or say where it is."""
    top = ax.get_ylim()[1]
    style: Any = {"va": "top" if below else "bottom", "fontsize": 7.5, "color": MUTED}
    if baseline <= FAR * top:
        ax.axhline(baseline, color=MUTED, linestyle="--", linewidth=1.0)
        ax.annotate(
            "looking at nothing", (0.01 if side == "left" else 0.99, baseline),
            (0, -8 if below else 3), ha=side,
            xycoords=("axes fraction", "data"), textcoords="offset points", **style,
        )  # fmt: skip
    else:
        number = f"{baseline:.1%}" if percent else f"{baseline:.3g}"
        text = f"looking at nothing: {number} ↑"
        ax.text(1.0, 1.0, text, transform=ax.transAxes, ha="right", **style)
