"""How well a machine does on items that it has not seen: its confusions, its probabilities, its
numbers, and its errors against the number of items learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DomainError
from mercer.plots.axes import axes_for, distinct, plain
from mercer.plots.palette import BLUE, INK, MUTED, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Reliability",
    "plot_agreement",
    "plot_calibration",
    "plot_confusion",
    "plot_curve",
    "reliability",
]

MOST_POINTS = 3000  # more make a large file and no other picture
MAX_TICKS = 6  # on an axis, so that numbers of five digits stay apart


def plot_agreement(
    y: ArrayLike, prediction: ArrayLike, ax: Axes | None = None, *, seed: int = 0
) -> Axes:
    """Draw predictions against the truth; on the diagonal they agree.

    Parameters
    ----------
    y, prediction : arrays
    ax : Axes, optional
    seed : int
        Of the choice of 3000 points where there are more.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_agreement([1.0, 2.0, 3.0], [1.1, 1.9, 3.2])
    >>> ax.get_xlabel(), len(ax.collections[0].get_offsets())
    ('true', 3)
    """
    true, said = np.asarray(y, dtype=np.float64), np.asarray(prediction, dtype=np.float64)
    if true.shape != said.shape or true.ndim != 1 or len(true) == 0:
        raise DomainError(
            f"one prediction is needed for each number, found shapes {said.shape} and {true.shape}"
        )
    ax = axes_for(ax, (4.0, 3.8))
    low, high = float(min(true.min(), said.min())), float(max(true.max(), said.max()))
    room = 0.04 * ((high - low) or abs(high) or 1.0)
    ax.plot([low - room, high + room], [low - room, high + room], "--", color=MUTED, linewidth=1.0)
    if len(true) > MOST_POINTS:
        some = np.sort(np.random.default_rng(seed).choice(len(true), MOST_POINTS, replace=False))
        true, said = true[some], said[some]
    alpha = float(np.clip(60 / np.sqrt(len(true)) / 4, 0.25, 0.8))
    ax.scatter(true, said, s=12, color=BLUE, alpha=alpha, linewidths=0)
    ax.set(xlim=(low - room, high + room), ylim=(low - room, high + room), aspect="equal")
    ax.set(xlabel="true", ylabel="predicted")
    ax.locator_params(nbins=MAX_TICKS)
    return ax


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


def reliability(probability: ArrayLike, happened: ArrayLike, bins: int = 10) -> Reliability:
    """Group probabilities into bins of about equal size, and count what happened in each.

    Parameters
    ----------
    probability : sequence of float
        What was promised.
    happened : sequence of bool
        What came.
    bins : int
        Fewer, if there are not so many different probabilities.

    Returns
    -------
    Reliability
        Means, shares, counts and intervals of the bins, and the expected calibration error.

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
    z = 1.959964**2 / n  # two-sided 95 %
    middle = (share + z / 2) / (1 + z)
    half = np.sqrt(z * (share * (1 - share) + z / 4)) / (1 + z)
    return np.minimum(middle - half, share), np.maximum(middle + half, share)


def plot_calibration(
    probability: ArrayLike, happened: ArrayLike, ax: Axes | None = None, *, bins: int = 10
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

    Returns
    -------
    Axes

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


def plot_confusion(
    y: ArrayLike,
    prediction: ArrayLike,
    ax: Axes | None = None,
    *,
    classes: ArrayLike | None = None,
    most: int = 12,
) -> Axes:
    """Draw how many items of each class were given which label: blue if right, orange if wrong.

    The color says which share of its row a cell is, so that rare classes are seen too.

    Parameters
    ----------
    y, prediction : sequences of labels
        The truth, and what was said.
    ax : Axes, optional
    classes : sequence of labels, optional
        The order of rows and columns; by default sorted.
    most : int
        Classes to show, the most frequent ones; a last column counts labels beyond them.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_confusion(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> [text.get_text() for text in ax.texts]
    ['1', '1', '2']
    """
    truth, said = np.asarray(y), np.asarray(prediction)
    if truth.shape != said.shape or truth.ndim != 1 or len(truth) == 0:
        raise DomainError(
            "as many predictions as labels are needed, found shapes "
            f"{said.shape} and {truth.shape}"
        )
    shown, table, rest = _counts(truth, said, classes, most)
    side = max(0.62 * min(len(shown), 4), 0.36 * len(shown)) + 1.1
    ax = axes_for(ax, (side + 0.5, side))
    _cells(ax, table)
    names = [plain(name) for name in distinct(shown.tolist(), longest=14)]
    ax.set_yticks(range(len(names)), names)
    columns = [*names, "others"] if rest else names
    wide = max(map(len, columns)) > 40 // len(columns)
    turned: Any = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if wide else {}
    ax.set_xticks(range(len(columns)), columns, **turned)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="what was said", ylabel="what is true")
    return ax


def _counts(
    truth: np.ndarray, said: np.ndarray, classes: ArrayLike | None, most: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the classes to show, their counts, and whether the last column is of others."""
    known = np.unique(np.concatenate([truth, said])) if classes is None else np.asarray(classes)
    counts = dict.fromkeys(known.tolist(), 0)
    for label in truth.tolist():
        counts[label] = counts.get(label, 0) + 1
    frequent = sorted(counts, key=lambda label: -counts[label])[:most]
    shown = np.array([label for label in counts if label in set(frequent)], dtype=truth.dtype)
    place = {label: k for k, label in enumerate(shown.tolist())}
    table = np.zeros((len(shown), len(shown) + 1), dtype=int)
    for true, label in zip(truth.tolist(), said.tolist(), strict=True):
        if true in place:
            table[place[true], place.get(label, -1)] += 1
    rest = bool(table[:, -1].any())
    return shown, table if rest else table[:, :-1], rest


def _cells(ax: Axes, table: np.ndarray) -> None:
    """Paint the shares of each row, and write the counts."""
    from matplotlib.colors import to_rgb

    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    right = np.eye(*table.shape) > 0
    # A share of 5 % should be seen beside one of 95 %, hence the root.
    strength = 0.85 * np.sqrt(shares)[..., None]
    paint = np.where(right[..., None], to_rgb(BLUE), to_rgb(VERMILION))
    ax.imshow(1.0 - strength * (1.0 - paint), interpolation="none", aspect="equal")
    size = 8 if table.max() < 1000 else 6.5
    for i, k in np.argwhere(table > 0):
        ink = "white" if shares[i, k] > 0.45 else INK
        ax.text(k, i, str(table[i, k]), ha="center", va="center", color=ink, fontsize=size)
    ax.set_xticks(np.arange(table.shape[1] + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(table.shape[0] + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="minor", length=0)


def plot_curve(
    sizes: ArrayLike,
    errors: ArrayLike,
    standard_errors: ArrayLike | None = None,
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

    Returns
    -------
    Axes

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
        # So near to the baseline, the curve would run through words above it.
        near = (e[0] if clear_left else e[-1]) > 0.93 * baseline
        _baseline(ax, baseline, percent, "left" if clear_left else "right", below=near)
    ax.set(xlabel="items learned from", ylabel="error", ylim=(0, (ax.get_ylim()[1] or 1) * 1.04))
    if percent:
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")
    return ax


def _baseline(ax: Axes, baseline: float, percent: bool, side: str, below: bool) -> None:
    """Draw the error of looking at nothing, or say where it is."""
    top = ax.get_ylim()[1]
    style: Any = {"va": "top" if below else "bottom", "fontsize": 7.5, "color": MUTED}
    if baseline <= 2.5 * top:
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
