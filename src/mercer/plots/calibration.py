"""Calibration: whether things happen as often as their probabilities say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import axes_for
from mercer.plots.palette import BLUE, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Reliability", "plot_calibration", "reliability"]

NORMAL = 1.959964  # two-sided 95 %


@dataclass(frozen=True)
class Reliability:
    """Probabilities in groups of similar ones, and how often the thing happened in each.

    Attributes
    ----------
    probability, share : ndarray
        Of each group: the mean probability, and how often it happened.
    low, high : ndarray
        An interval of 95 % for the share (Wilson, 1927).
    count : ndarray of int
    error : float
        The expected calibration error: the mean of |share − probability|, groups weighted by
        their size.
    """

    probability: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    error: float


def reliability(probability: Any, happened: Any, bins: int = 10) -> Reliability:
    """Group probabilities into bins of about equal size, and count what happened in each.

    Examples
    --------
    >>> found = reliability([0.1, 0.1, 0.9, 0.9], [0, 0, 1, 0], bins=2)
    >>> found.share, found.count, round(found.error, 3)
    (array([0. , 0.5]), array([2, 2]), 0.25)
    """
    p = np.asarray(probability, dtype=np.float64)
    hit = np.asarray(happened, dtype=np.float64)
    if p.ndim != 1 or p.shape != hit.shape or len(p) == 0:
        raise DomainError(
            f"one outcome is needed for each probability, found shapes {hit.shape} and {p.shape}"
        )
    if not (np.all(p >= 0) and np.all(p <= 1 + 1e-9)):  # NaN fails too
        raise DomainError("probabilities lie between 0 and 1")
    if bins < 1:
        raise DomainError(f"at least one bin is needed, found {bins}")
    # Equal probabilities stay together, so there may be fewer bins.
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1]))
    group = np.unique(np.searchsorted(edges, p, side="right"), return_inverse=True)[1]
    n = np.bincount(group)
    mean, share = np.bincount(group, p) / n, np.bincount(group, hit) / n
    low, high = _interval(share, n)
    return Reliability(mean, share, low, high, n, float(n @ np.abs(share - mean) / len(p)))


def _interval(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval, which stays inside [0, 1] and is honest for few items."""
    z = NORMAL**2 / n
    middle = (share + z / 2) / (1 + z)
    half = np.sqrt(z * (share * (1 - share) + z / 4)) / (1 + z)
    return np.minimum(middle - half, share), np.maximum(middle + half, share)


def plot_calibration(
    probability: Any, happened: Any, ax: Axes | None = None, *, bins: int = 10
) -> Axes:
    """Draw how often a thing happened against the probability it was given.

    Points on the diagonal mean that the probabilities can be believed; below it they promise too
    much. The bars are intervals of 95 %, the size of a point is the number of items.

    Parameters
    ----------
    probability : array
        For example that of the label which was predicted.
    happened : array of bool
        For example whether that label was right.
    ax : Axes, optional
    bins : int
        Groups of about equal size.

    Examples
    --------
    >>> ax = plot_calibration([0.1, 0.1, 0.9, 0.9], [False, False, True, True], bins=2)
    >>> ax.get_xlabel()
    'probability'
    """
    found = reliability(probability, happened, bins)
    ax = axes_for(ax, (3.6, 3.2))
    low = min(float(found.probability.min()), float(found.low.min()))
    start = max(0.0, min(np.floor(low * 10) / 10, 0.9))
    ax.plot([start, 1], [start, 1], "--", color=MUTED, linewidth=1.0, zorder=1)
    ax.vlines(found.probability, found.low, found.high, color=BLUE, linewidth=1.2, alpha=0.6)
    size = 16 + 60 * np.sqrt(found.count / found.count.max())
    ax.plot(found.probability, found.share, "-", color=BLUE, linewidth=1.0, alpha=0.6)
    ax.scatter(found.probability, found.share, s=size, color=BLUE, zorder=3, linewidths=0)
    room = 0.03 * (1 - start)
    ax.set(xlim=(start - room, 1 + room), ylim=(start - room, 1 + room), aspect="equal")
    ax.set(xlabel="probability", ylabel="how often it happened")
    return ax
