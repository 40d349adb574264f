"""Confusions: which class was taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import axes_for
from mercer.plots.lettering import distinct, plain
from mercer.plots.palette import BLUE, INK, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_confusion"]

LONGEST = 14  # letters of a class's name
OTHERS = "others"


def plot_confusion(
    y: Any,
    prediction: Any,
    ax: Axes | None = None,
    *,
    classes: Any = None,
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
    names = [plain(name) for name in distinct(shown.tolist(), LONGEST)]
    ax.set_yticks(range(len(names)), names)
    columns = [*names, OTHERS] if rest else names
    wide = max(map(len, columns)) > 40 // len(columns)
    turned: Any = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if wide else {}
    ax.set_xticks(range(len(columns)), columns, **turned)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="what was said", ylabel="what is true")
    return ax


def _counts(
    truth: np.ndarray, said: np.ndarray, classes: Any, most: int
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
