"""Colors, markers and sizes: one place, chosen so that everyone can tell them apart.

The colors are those of Okabe & Ito (2008), which stay distinct for color-blind readers. Classes
differ in their marker as well, so the plots survive a black-and-white printer.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

__all__ = ["CLASSES", "INK", "MARKERS", "MUTED", "shades", "style"]

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, YELLOW = "#E69F00", "#56B4E9", "#F0E442"
INK, MUTED, PALE = "#1a1a1a", "#6e6e6e", "#d9d9d9"

CLASSES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW)
MARKERS = ("o", "x", "s", "^", "D", "v", "P")

STYLE: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so figures agree everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "svg.hashsalt": "mercer",  # the same drawing gives the same file
    "svg.fonttype": "path",
}


def style() -> AbstractContextManager[None]:
    """Return a context in which new figures look like ours; settings return to yours at its end.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import matplotlib
    >>> before = matplotlib.rcParams["font.size"]
    >>> with style():
    ...     inside = matplotlib.rcParams["font.size"]
    >>> inside, matplotlib.rcParams["font.size"] == before
    (9.0, True)
    """
    import matplotlib

    return matplotlib.rc_context(STYLE)


@cache
def shades() -> Colormap:
    """Return the map from negative (blue) over zero (white) to positive (vermilion) values."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "mercer", ["#0b5c8c", "#79b7dd", "#ffffff", "#f2ad7c", "#a84700"]
    )


def color(k: int) -> str:
    """Return the color of class number k."""
    return CLASSES[k % len(CLASSES)]


def marker(k: int) -> str:
    """Return the marker of class number k; it changes its turn with each round of the colors."""
    return MARKERS[(k + k // len(CLASSES)) % len(MARKERS)]
