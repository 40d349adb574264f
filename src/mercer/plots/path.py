"""Scores along a parameter: too little, enough, too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError, suggestion
from mercer.plots.canvas import axes_for
from mercer.plots.palette import INK, color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_path"]


def plot_path(
    search: Any, parameter: str | None = None, ax: Axes | None = None, *, label: str | None = None
) -> Axes:
    """Draw the held-out score of a search along one parameter, such as penalty or bandwidth.

    The band is one standard error of the folds' mean, the ring is the best value. If the search
    went over other parameters too, each point is the best over them. Training scores are drawn
    dashed when the search has kept them.

    Parameters
    ----------
    search : fitted GridSearchCV, or its ``cv_results_``
        Of scikit-learn or of mercer.
    parameter : str, optional
        As in the grid; not needed if there is only one.
    ax : Axes, optional
    label : str, optional
        Name of the line in a legend.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mercer import KernelRidge
    >>> from mercer.datasets import sinc
    >>> search = GridSearchCV(KernelRidge(), {"penalty": [0.001, 0.1, 10.0]}).fit(*sinc())
    >>> plot_path(search).get_xlabel()
    'penalty'
    """
    results = getattr(search, "cv_results_", search)
    name = _parameter(results, parameter)
    values = np.array([float(v) for v in results[f"param_{name}"]])
    mean = np.asarray(results["mean_test_score"], dtype=np.float64)
    x = np.unique(values)
    best = np.array([_best(np.flatnonzero(values == v), mean) for v in x])
    ax = axes_for(ax)
    line = ax.plot(x, mean[best], ".-", label=label or "held out", color=color(len(ax.lines) // 2))
    paint = line[0].get_color()
    folds = sum(1 for key in results if key.startswith("split") and key.endswith("_test_score"))
    if "std_test_score" in results and folds > 1:
        # The folds' spread is scikit-learn's population value, the error is that of their mean.
        error = np.asarray(results["std_test_score"])[best] / np.sqrt(folds - 1)
        ax.fill_between(x, mean[best] - error, mean[best] + error, color=paint, alpha=0.2, lw=0)
    if "mean_train_score" in results:
        train = np.asarray(results["mean_train_score"])[best]
        ax.plot(x, train, "--", color=paint, linewidth=1.0, label="training")
        ax.legend()
    top = int(np.argmax(mean[best]))
    ax.plot(x[top], mean[best][top], "o", markersize=9, markerfacecolor="none", color=INK)
    if len(x) > 2 and x.min() > 0 and x.max() / x.min() >= 20:
        ax.set_xscale("log")
    ax.set(xlabel=name, ylabel="score")
    return ax


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
