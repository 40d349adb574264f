"""Selection surfaces: the errors among which a choice was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import axes_for
from mercer.plots.lettering import plain
from mercer.plots.palette import BLUE, INK, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_surface"]

MOST_NUMBERS = 120  # cells that still have room for their numbers


def plot_surface(
    errors: Any,
    rows: Sequence[str],
    values: Sequence[float] = (),
    parameter: str = "",
    ax: Axes | None = None,
    *,
    chosen: tuple[int, int] | None = None,
    write: Callable[[float], str] = "{:.3g}".format,
) -> Axes:
    """Draw the errors of kernels (rows) at values of a parameter (columns), the choice framed.

    Dark is good. What was not tried is gray. A choice at the border of the picture says that the
    search should have gone further.

    Parameters
    ----------
    errors : array of shape (kernels, values)
    rows : sequence of str
        Names of the kernels.
    values : sequence of float, optional
        Of the parameter; not needed if there is one column only.
    parameter : str
        Its name.
    ax : Axes, optional
    chosen : (row, column), optional
        The cell to frame; by default that of the smallest error, of several the first.
    write : callable
        Makes the text of an error.

    Examples
    --------
    >>> ax = plot_surface([[0.2, 0.1], [0.3, 0.25]], ["Linear", "Gaussian"], [1, 10], "C")
    >>> ax.texts[1].get_text(), ax.get_xlabel()
    ('0.1', 'C')
    """
    table = np.asarray(errors, dtype=np.float64)
    columns = [f"{value:.3g}" for value in values] or [""]
    if table.shape != (len(rows), len(columns)):
        raise DomainError(
            f"{len(rows)} kernels and {len(columns)} values need as many rows and columns of "
            f"errors, found shape {table.shape}"
        )
    ax = axes_for(ax, (0.56 * len(columns) + 2.0, 0.3 * len(rows) + 1.0))
    known = np.isfinite(table)
    _paint(ax, table, known)
    if table.size <= MOST_NUMBERS:
        reach = _reach(table, known)
        for i, k in np.argwhere(known):
            ink = "white" if reach[i, k] < 0.45 else INK
            text = plain(write(float(table[i, k])))
            ax.text(k, i, text, ha="center", va="center", color=ink, fontsize=7)
    if chosen is None and known.any():
        best = int(np.where(known, table, np.inf).argmin())
        chosen = best // table.shape[1], best % table.shape[1]
    if chosen is not None:
        ax.add_patch(_frame(*chosen))
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), [plain(name, 40) for name in rows])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel(plain(parameter))
    return ax


def _reach(table: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return how bad each cell is from 0 (best) to 1, halfway between its size and its rank.

    One hopeless cell would otherwise make all others look alike; cells that differ by less than a
    hundredth of the range share their rank.
    """
    found = table[known]
    if len(found) == 0:
        return np.zeros_like(table)
    size = np.where(known, (table - found.min()) / (float(np.ptp(found)) or 1.0), 1.0)
    steps = np.unique(size[known].round(2))
    rank = np.searchsorted(steps, size.round(2)) / max(len(steps) - 1, 1)
    return np.where(known, (size + rank) / 2, 1.0)


def _paint(ax: Axes, table: np.ndarray, known: np.ndarray) -> None:
    from matplotlib.colors import to_rgb

    strength = np.where(known, 0.9 * (1 - _reach(table, known)) + 0.04, 0.0)[..., None]
    paint = 1.0 - strength * (1.0 - np.array(to_rgb(BLUE)))
    paint[~known] = to_rgb(PALE)
    ax.imshow(paint, interpolation="none", aspect="auto")


def _frame(row: int, column: int) -> Any:
    from matplotlib.patches import Rectangle

    corner = (column - 0.5, row - 0.5)
    return Rectangle(corner, 1, 1, fill=False, edgecolor=INK, linewidth=2.0, clip_on=False)
