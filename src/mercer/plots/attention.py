"""What matters: how much each column counts, and what an answer is along one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DomainError
from mercer.plots.axes import axes_for, distinct, plain
from mercer.plots.palette import BLUE, INK, MARKERS, MUTED, PALE, color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_attention", "plot_effect"]

LONGEST_NAME = 28  # letters of a column's name
LONGEST_LEVEL = 16  # letters of an entry below the axis


def plot_attention(
    attention: Mapping[str, float],
    ax: Axes | None = None,
    most: int = 20,
    *,
    spreads: Mapping[str, float] | None = None,
) -> Axes:
    """Draw how much each column matters: bars, the longest on top.

    Parameters
    ----------
    attention : dict of str to float
        Shares of columns, together 1, such as `LearnedMetric.attention_`.
    ax : Axes, optional
    most : int
        Columns that have a bar of their own; the others share the last one, which is gray.
    spreads : dict of str to float, optional
        Standard deviations of the shares, drawn as lines across the ends of the bars.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_attention({"age": 0.2, "size": 0.7, "color": 0.1}, most=2)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['size', 'age', '1 other column']
    """
    shares = {str(name): float(share) for name, share in attention.items()}
    _require_shares(shares, most)
    order = sorted(shares, key=lambda name: -shares[name])
    own, rest = order[:most], order[most:]
    names = [plain(name) for name in distinct(own, LONGEST_NAME)]
    values = [shares[name] for name in own]
    if rest:
        names.append(f"{len(rest)} other column{'s' if len(rest) > 1 else ''}")
        values.append(sum(shares[name] for name in rest))
    ax = axes_for(ax, (5.2, 0.24 * len(names) + 0.75))
    places = np.arange(len(names))
    ax.barh(places, values, height=0.66, color=[BLUE] * len(own) + [PALE] * bool(rest))
    if spreads is not None:
        wide = np.array([spreads.get(name, 0.0) for name in own])
        low = np.maximum(np.array(values[: len(own)]) - wide, 0.0)
        ax.hlines(places[: len(own)], low, values[: len(own)] + wide, color=INK, linewidth=1.2)
    ax.set_yticks(places, names)
    ax.set(xlim=(0, None), ylim=(len(names) - 0.4, -0.6), xlabel="share of the attention")
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")
    ax.tick_params(axis="y", length=0)
    return ax


def _require_shares(shares: dict[str, float], most: int) -> None:
    if not shares:
        raise DomainError("attention must name at least one column, found none")
    wrong = [name for name, share in shares.items() if not (np.isfinite(share) and share >= 0)]
    if wrong:
        raise DomainError(
            f"shares of attention are not negative, found {shares[wrong[0]]} for {wrong[0]!r}"
        )
    if most < 1:
        raise DomainError(f"most must be at least 1, found {most}")


def plot_effect(
    values: Sequence[Any] | np.ndarray,
    mean: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    names: Sequence[str] = (),
    percent: bool = False,
) -> Axes:
    """Draw the average answer against the values of one column, with the spread of single items.

    Numbers and dates (``datetime64``) become a curve with a tick for each value, anything else
    becomes points with names below them.

    Parameters
    ----------
    values : sequence of length m
        Of the column.
    mean : array of shape (m,) or (answers, m)
        The average of all items, each given that value; several answers are several curves.
    low, high : arrays of the same shape, optional
        Where single items lie: drawn as a band, or as a line through each point.
    ax : Axes, optional
    names : sequence of str
        Of several answers.
    percent : bool
        Whether answers are probabilities.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_effect([1.0, 2.0, 4.0], [0.1, 0.5, 0.6], [0.0, 0.4, 0.5], [0.2, 0.6, 0.8])
    >>> len(ax.lines[0].get_xdata())
    3
    >>> ax = plot_effect(["oak", "ash"], [0.2, 0.3])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['oak', 'ash']
    """
    found = np.asarray(values)
    curves = [np.atleast_2d(np.asarray(y, float)) for y in (mean, low, high) if y is not None]
    shape = curves[0].shape
    if found.ndim != 1 or not len(found) or any(y.shape != (shape[0], len(found)) for y in curves):
        raise DomainError(
            "one answer is needed for each value, found shapes "
            f"{', '.join(str(y.shape) for y in curves)} for {len(found)} values"
        )
    if names and len(names) != shape[0]:
        raise DomainError(f"{shape[0]} answers need as many names, found {len(names)}")
    ax = axes_for(ax, (3.4, 2.7))
    numbers = found.dtype.kind in "iufM"
    for k in range(shape[0]):
        label = plain(names[k], LONGEST_NAME) if names else ""
        one = [y[k] for y in curves]
        if numbers:
            _curve(ax, found, one, color(k), label)
        else:
            _points(ax, one, (k - (shape[0] - 1) / 2) * 0.18, k, label)
    if not numbers:
        _name_levels(ax, [str(value) for value in values])
    elif found.dtype.kind == "M":
        _name_days(ax, found)
    if percent:
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")
    if names and shape[0] > 1:
        ax.legend(loc="best", handlelength=1.2)
    return ax


def _curve(ax: Axes, x: np.ndarray, curves: list[np.ndarray], paint: str, label: str) -> None:
    ax.plot(x, curves[0], "-", color=paint, label=label, marker="." if len(x) < 8 else "")
    if len(curves) == 3:
        ax.fill_between(x, curves[1], curves[2], color=paint, alpha=0.16, lw=0)
    ticks: Any = ax.get_xaxis_transform()
    ax.plot(x, np.zeros(len(x)), "|", color=MUTED, markersize=5, transform=ticks, alpha=0.6,
            clip_on=False)  # fmt: skip


def _points(ax: Axes, curves: list[np.ndarray], shift: float, k: int, label: str) -> None:
    x = np.arange(len(curves[0])) + shift
    ax.plot(x, curves[0], MARKERS[k % len(MARKERS)], color=color(k), markersize=5, label=label)
    if len(curves) == 3:
        ax.vlines(x, curves[1], curves[2], color=color(k), linewidth=1.4, alpha=0.5)


def _name_levels(ax: Axes, levels: list[str]) -> None:
    names = [plain(level) for level in distinct(levels, LONGEST_LEVEL)]
    wide = max(map(len, names)) * len(names) > 36
    turned: Any = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if wide else {}
    ax.set_xticks(range(len(names)), names, **turned)
    ax.set_xlim(-0.6, len(names) - 0.4)


def _name_days(ax: Axes, days: np.ndarray) -> None:
    """Write the first day, the last one, and the one in the middle."""
    ends = np.array([days.min(), days.max()]).astype("datetime64[D]").astype(np.int64)
    places = np.unique([ends[0], ends.sum() // 2, ends[1]]).astype("datetime64[D]")
    shown: Any = places
    ax.set_xticks(shown, [str(day) for day in places])
