"""What was chosen among: scores along one parameter, and errors of kernels at its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DomainError, suggestion
from mercer.plots.axes import axes_for, plain
from mercer.plots.palette import BLUE, INK, PALE, color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mercer.selection.path import Curve

__all__ = ["plot_path", "plot_surface"]


def plot_path(
    search: Any,
    parameter: str | None = None,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    criterion: str | None = None,
) -> Axes:
    """Draw the held-out score of a search along one parameter, such as penalty or bandwidth.

    The band is one standard error of the folds' mean, the ring is the best value. If the search
    went over other parameters too, each point is the best over them. Training scores are drawn
    dashed when the search has kept them. Of a path, errors are drawn instead of scores.

    Parameters
    ----------
    search : fitted GridSearchCV, or its ``cv_results_``, or a fitted RidgePath or MarginPath
        Searches of scikit-learn or of mercer.
    parameter : str, optional
        As in the grid; not needed if there is only one.
    ax : Axes, optional
    label : str, optional
        Name of the line in a legend.
    criterion : {"loo", "gcv", "evidence", "misclassification"}, optional
        What to draw of a `RidgePath`, by default its leave-one-out error.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mercer import KernelRidge
    >>> from mercer.datasets import sinc
    >>> search = GridSearchCV(KernelRidge(), {"penalty": [0.001, 0.1, 10.0]}).fit(*sinc())
    >>> plot_path(search).get_xlabel()
    'penalty'
    """
    if hasattr(search, "curve"):
        line = search.curve() if criterion is None else search.curve(criterion)
        if parameter not in (None, line.parameter):
            raise DomainError(f"the path is along {line.parameter!r}, not {parameter!r}")
    else:
        if criterion is not None:
            raise DomainError("criterion is for paths; a search has the scores that it was given")
        line = _scores(search, parameter)
    return _draw(line, axes_for(ax), label)


def _scores(search: Any, parameter: str | None) -> Curve:
    """Return the best scores of a search at each value of a parameter, as a path's curve."""
    from mercer.selection.path import Curve

    results = getattr(search, "cv_results_", search)
    name = _parameter(results, parameter)
    values = np.array([float(v) for v in results[f"param_{name}"]])
    mean = np.asarray(results["mean_test_score"], dtype=np.float64)
    x = np.unique(values)
    best = np.array([_best(np.flatnonzero(values == v), mean) for v in x])
    errors = training = None
    folds = sum(1 for key in results if key.startswith("split") and key.endswith("_test_score"))
    if "std_test_score" in results and folds > 1:
        # The folds' spread is scikit-learn's population value, the error is that of their mean.
        errors = np.asarray(results["std_test_score"])[best] / np.sqrt(folds - 1)
    if "mean_train_score" in results:
        training = np.asarray(results["mean_train_score"])[best]
    top = _best(np.arange(len(x)), mean[best])
    return Curve(name, x, mean[best], errors, training, "score", top)


def _draw(line: Curve, ax: Axes, label: str | None) -> Axes:
    """Draw heights with their errors, training scores or errors, and a ring at the best."""
    x, y = line.values, line.heights
    before = ax.get_ylim() if ax.lines else None
    paint = color(len(ax.lines) // 2)
    dots = len(x) <= 40  # more would make one thick line
    ax.plot(x, y, ".-" if dots else "-", label=label or "held out", color=paint)
    if line.errors is not None:
        ax.fill_between(x, y - line.errors, y + line.errors, color=paint, alpha=0.2, lw=0)
    if line.training is not None:
        ax.plot(x, line.training, "--", color=paint, linewidth=1.0, label="training")
        ax.legend()
    ax.plot(x[line.best], y[line.best], "o", markersize=9, markerfacecolor="none", color=INK)
    known = x[np.isfinite(y) & (x != 0)]  # none, and what is not known, may be left out
    if len(known) > 2 and known.min() > 0 and known.max() / known.min() >= 20:
        ax.set_xscale("log")
    if line.limit is not None:
        _focus(ax, line, before)
    ax.set(xlabel=line.parameter, ylabel=line.name)
    return ax


def _focus(ax: Axes, line: Curve, before: tuple[float, float] | None) -> None:
    """Let what is beyond the limit leave the axes; what was drawn before stays inside."""
    heights = np.append(line.heights, [] if line.training is None else line.training)
    best, limit = line.heights[line.best], line.limit
    within = heights[(heights <= limit) if limit > best else (heights >= limit)]
    room = 0.05 * float(np.ptp(within))
    low, high = float(within.min()) - room, float(within.max()) + room
    if before is not None:
        low, high = min(low, before[0]), max(high, before[1])
    ax.set_ylim(low, high)


def _parameter(results: Any, given: str | None) -> str:
    try:
        known = [key.removeprefix("param_") for key in results if key.startswith("param_")]
    except TypeError:
        known = []
    if not known:
        raise DomainError("a fitted search with cv_results_ is needed, found nothing of the kind")
    if given is None and len(known) == 1:
        return known[0]
    if given is None or given not in known:
        asked = "say which parameter" if given is None else f"there is no parameter {given!r}"
        raise DomainError(f"{asked}{suggestion(str(given), known)}")
    return given


def _best(rows: np.ndarray, mean: np.ndarray) -> int:
    """Return the row with the best score; failed fits count as worst."""
    return int(rows[np.argmax(np.nan_to_num(mean[rows], nan=-np.inf))])


def plot_surface(
    errors: ArrayLike,
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

    Returns
    -------
    Axes

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
    if table.size <= 120:  # smaller cells have no room for their numbers
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
