"""Axes to draw on, without pyplot and its global state, and words on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import Items
from mercer.errors import DomainError
from mercer.plots.palette import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axes_for", "distinct", "grid", "label_points", "limits_of", "plain"]

Limits = tuple[tuple[float, float], tuple[float, float]]

JOINERS = "\u200c\u200d"  # invisible, but Indic scripts and emoji need them
LABEL_SIZE = 7.5  # of the letters, in points
DIRECTIONS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)])
GAPS = (4.0, 5.0, 9.0, 13.0, 18.0)  # between a point and its label, in points, to be tried
LONGEST_GAP = 8.0  # in points; beyond it a line leads to the point


def axes_for(ax: Axes | None, size: tuple[float, float] = (4.0, 3.2)) -> Axes:
    """Return the given axes, or new ones on a figure of their own (``ax.figure.savefig``)."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").subplots()


def plane(X: Items, name: str = "X") -> np.ndarray:
    """Return items as rows of two numbers, refusing what does not lie in a plane."""
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DomainError(
            f"a plot of the plane needs {name} with two columns, found shape {points.shape}; "
            "transform the data first, for example with KernelPCA(n_components=2)"
        )
    return points


def limits_of(X: np.ndarray, margin: float = 0.12) -> Limits:
    """Return the range of both columns, widened a little."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    low, high = low - room, high + room
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def grid(limits: Limits, resolution: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both coordinates of a grid's points, and the points as rows."""
    (left, right), (bottom, top) = limits
    A, B = np.meshgrid(np.linspace(left, right, resolution), np.linspace(bottom, top, resolution))
    return A, B, np.column_stack([A.ravel(), B.ravel()])


def plain(text: object, longest: int | None = None) -> str:
    """Return a text that matplotlib draws as it is: no formulas, no line breaks, not too long.

    Between two dollar signs matplotlib would look for a formula, and complain if there is none.

    Examples
    --------
    >>> print(plain("from $5^ to $10"))
    from \\$5^ to \\$10
    >>> plain("a very\\nlong name", longest=9)
    'a very l…'
    """
    found = "".join(c if c.isprintable() or c in JOINERS else _substitute(c) for c in str(text))
    if longest is not None and len(found) > longest:
        found = found[: longest - 1].rstrip(JOINERS) + "…"
    return found.replace("$", r"\$")


def distinct(texts: Iterable[Any], longest: int) -> list[str]:
    """Return texts that are not too long; if their beginnings are the same, their ends are kept.

    Examples
    --------
    >>> distinct(["Homo sapiens", "Pan"], 8), distinct(["specimen 1", "specimen 2"], 8)
    (['Homo sa…', 'Pan'], ['spe…en 1', 'spe…en 2'])
    """
    whole = [str(text) for text in texts]
    long = [text for text in whole if len(text) > longest]
    head = longest - 1
    if len({text[:head] for text in long}) < len(long):
        head //= 2
    end = head - longest + 1  # not positive
    return [
        text if len(text) <= longest else f"{text[:head]}…{text[end:] if end else ''}"
        for text in whole
    ]


def _substitute(character: str) -> str:
    return " " if character.isspace() else "\ufffd"


def label_points(
    ax: Axes, X: np.ndarray, names: Sequence[object], line: np.ndarray | None = None
) -> None:
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
    """
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    low = np.array([ax.get_xlim()[0], ax.get_ylim()[0]])
    high = np.array([ax.get_xlim()[1], ax.get_ylim()[1]])
    page = 72 * np.array([box.width, box.height])
    places, words = _merge_labels((X - low) / (high - low) * page, names)
    dots = places if line is None else np.vstack([places, (line - low) / (high - low) * page])
    taken: list[np.ndarray] = []
    # The crowded ones choose first.
    crowd = [np.sum(np.hypot(*(places - place).T) < 30) for place in places]
    for i in np.argsort(crowd, kind="stable")[::-1]:
        half = np.array([0.31 * LABEL_SIZE * len(words[i]), 0.5 * LABEL_SIZE])
        options = [
            (gap + 1.2 * (gap > LONGEST_GAP)) * unit + half * np.sign(unit)
            for gap in GAPS
            for unit in DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
        ]
        costs = [_cost(places[i] + o, half, dots, taken, page) + _length(o, half) for o in options]
        shift = options[int(np.argmin(costs))]
        taken.append(np.concatenate([places[i] + shift - half, places[i] + shift + half]))
        far = _length(shift, half) * 20 > LONGEST_GAP
        arrow = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
        at = low + places[i] / page * (high - low)
        ax.annotate(
            words[i], tuple(at), tuple(shift), textcoords="offset points", ha="center",
            va="center", fontsize=LABEL_SIZE, color=INK, zorder=4,
            arrowprops=arrow if far else None,
        )  # fmt: skip


def _merge_labels(places: np.ndarray, names: Sequence[object]) -> tuple[np.ndarray, list[str]]:
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
