"""Grid edges: whether the best value of a grid lies at its end; a better one may lie beyond."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from mercer.errors import SelectionWarning

__all__ = ["edge_of", "grid_edges", "warn_at_edge"]

SUGGESTED = 2  # values beyond an edge that a message names
SAME_SCORE = 1e-12  # relative difference up to which scores are the same


def grid_edges(combinations: Sequence[dict[str, Any]], means: np.ndarray) -> list[str]:
    """Say which numeric parameters have their best value at the border of the grid.

    A border is not reported if a value inside is as good.

    Parameters
    ----------
    combinations : sequence of dict
        All combinations of the grid.
    means : ndarray of shape (folds, combinations)
        Their scores, for each fold that made a choice.

    Examples
    --------
    >>> grid = [{"penalty": 0.1}, {"penalty": 1.0}, {"penalty": 10.0}]
    >>> print(grid_edges(grid, np.array([[0.5, 0.3, 0.1]]))[0])
    the best penalty is at the border of the grid, 0.1, in 1 of 1 folds; try also 0.01, 0.001
    """
    found = []
    for name in dict.fromkeys(name for some in combinations for name in some):
        given = [some.get(name) for some in combinations]
        values = np.array([v if _is_number(v) else np.nan for v in given], dtype=float)
        scored = np.isfinite(values) & ~np.isnan(means).all(axis=0)
        distinct = np.unique(values[scored])
        if len(distinct) < 2:
            continue
        at = [_best(values, row, distinct) for row in means]
        whole = all(isinstance(v, numbers.Integral) for v in given if _is_number(v))
        for end in (distinct[0], distinct[-1]):
            count = sum(place == end for place in at)
            further = _beyond(distinct, end, whole)
            if count and further:
                beyond = ", ".join(f"{v:.3g}" for v in further)
                found.append(
                    f"the best {name} is at the border of the grid, {end:.4g}, in {count} of "
                    f"{len(at)} folds; try also {beyond}"
                )
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _best(values: np.ndarray, row: np.ndarray, distinct: np.ndarray) -> float:
    """Return the best value, one inside the grid if it is as good as the border.

    It is none of them if something is better that is no number, such as a heuristic.
    """
    scores = np.where(np.isnan(row), -np.inf, row)
    best = np.array([scores[values == v].max() for v in distinct])
    top = scores.max()
    if not np.isfinite(top):
        return float("nan")
    good = best >= top - SAME_SCORE * abs(top)
    if good.all() or not good.any():
        return float("nan")  # a plain says nothing about what lies beyond it
    inside = good[1:-1]
    return float(distinct[1:-1][inside][0]) if inside.any() else float(distinct[good][0])


def _beyond(distinct: np.ndarray, end: float, whole: bool) -> list[float]:
    """Return values beyond an end, in the steps of the grid: factors if they are positive.

    Whole numbers at equal distances, such as degrees, go on as they are, but not below 1. So do
    other numbers at equal distances from zero on.
    """
    low = end == distinct[0]
    near = distinct[1] if low else distinct[-2]
    steps = np.arange(1, SUGGESTED + 1)
    even = np.ptp(np.diff(distinct)) <= SAME_SCORE * np.abs(distinct).max()
    if near > 0 and end > 0 and not (even and (whole or distinct[0] <= 0)):
        return [float(v) for v in end * (end / near) ** steps]
    found = end + (end - near) * steps
    return [float(v) for v in found if v > 0 or distinct[0] < 0]


def edge_of(best: float, values: Iterable[float]) -> Literal["smallest", "largest"] | None:
    """Say at which end of its grid a value lies, if at one.

    Examples
    --------
    >>> edge_of(0.1, [0.1, 1.0, 10.0]), edge_of(1.0, [0.1, 1.0, 10.0])
    ('smallest', None)
    """
    known = list(values)
    if best == min(known):
        return "smallest"
    return "largest" if best == max(known) else None


def warn_at_edge(name: str, values: np.ndarray, best: float) -> None:
    """Warn if there may be a better value outside the grid."""
    end = edge_of(best, values)
    if end is not None and len(values) > 2 and best > 0:
        warnings.warn(
            f"the best {name} is the {end} one, {best:.3g}; a better one may be outside the grid",
            SelectionWarning,
            stacklevel=3,
        )
