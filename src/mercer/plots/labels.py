"""Words beside points, placed where they cover as little as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots.palette import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["label_points"]

SIZE = 7.5  # of the letters, in points
DIRECTIONS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)])
NEAR, FAR = (4.0, 5.0, 9.0, 13.0, 18.0), 8.0  # gaps to try; beyond FAR a line leads to the point


def label_points(ax: Axes, X: np.ndarray, names: Any, line: np.ndarray | None = None) -> None:
    """Write a name beside each point; points in the same place share their names.

    Each name goes, in turn, to the place around its point that covers the least of points, of
    names that are there already, and of a line.

    Parameters
    ----------
    ax : Axes
        With its final limits.
    X : array of shape (n, 2)
    names : sequence of length n
    line : array of shape (m, 2), optional
        More points that should stay free.

    Examples
    --------
    >>> from mercer.plots.canvas import axes_for
    >>> ax = axes_for(None)
    >>> label_points(ax, np.array([[0.2, 0.2], [0.8, 0.8], [0.8, 0.8]]), ["a", "b", "c"])
    >>> sorted(text.get_text() for text in ax.texts)
    ['a', 'b, c']
    """
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    low = np.array([ax.get_xlim()[0], ax.get_ylim()[0]])
    high = np.array([ax.get_xlim()[1], ax.get_ylim()[1]])
    page = 72 * np.array([box.width, box.height])
    places, words = _together((X - low) / (high - low) * page, names)
    dots = places if line is None else np.vstack([places, (line - low) / (high - low) * page])
    taken: list[np.ndarray] = []
    # The crowded ones choose first.
    crowd = [np.sum(np.hypot(*(places - place).T) < 30) for place in places]
    for i in np.argsort(crowd, kind="stable")[::-1]:
        half = np.array([0.31 * SIZE * len(words[i]), 0.5 * SIZE])
        options = [
            (gap + 1.2 * (gap > FAR)) * unit + half * np.sign(unit)
            for gap in NEAR
            for unit in DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
        ]
        costs = [_cost(places[i] + o, half, dots, taken, page) + _length(o, half) for o in options]
        shift = options[int(np.argmin(costs))]
        taken.append(np.concatenate([places[i] + shift - half, places[i] + shift + half]))
        far = _length(shift, half) * 20 > FAR
        arrow = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
        at = low + places[i] / page * (high - low)
        ax.annotate(
            words[i], tuple(at), tuple(shift), textcoords="offset points", ha="center",
            va="center", fontsize=SIZE, color=INK, arrowprops=arrow if far else None, zorder=4,
        )  # fmt: skip


def _together(places: np.ndarray, names: Any) -> tuple[np.ndarray, list[str]]:
    """Return places without repetitions, each with all of its names."""
    found: dict[tuple[float, float], list[str]] = {}
    for place, name in zip(places, names, strict=True):
        key = tuple(place.round(1).tolist())
        found.setdefault(key, []).append(str(name))
    return np.array(list(found)), [", ".join(words) for words in found.values()]


def _length(shift: np.ndarray, half: np.ndarray) -> float:
    """Return how far a word is from its point, as a small cost."""
    return float(np.hypot(*np.maximum(np.abs(shift) - half, 0))) / 20


def _cost(
    center: np.ndarray, half: np.ndarray, dots: np.ndarray, taken: list, page: np.ndarray
) -> float:
    """Return how much a word would cover, or leave the page."""
    room = half + 2.5
    covered = np.sum((np.abs(dots - center) < room).all(axis=1))
    outside = np.maximum(half - center, 0) + np.maximum(center + half - page, 0)
    clash = sum(
        bool((center - half < one[2:]).all() and (center + half > one[:2]).all()) for one in taken
    )
    return float(covered + 3 * clash + outside.sum())
