"""Borders: whether the best value of a grid lies at its end, where a better one may lie beyond."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["borders"]

FURTHER = 2  # values that are suggested beyond the border
EQUAL = 1e-12  # scores that differ by less, relatively, are the same


def borders(combinations: Sequence[dict[str, Any]], means: np.ndarray) -> list[str]:
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
    >>> print(borders(grid, np.array([[0.5, 0.3, 0.1]]))[0])
    the best penalty is at the border of the grid, 0.1, in 1 of 1 folds; try also 0.01, 0.001
    """
    found = []
    for name in dict.fromkeys(name for some in combinations for name in some):
        values = [some.get(name) for some in combinations]
        if not all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values):
            continue
        distinct = np.unique(np.array(values, dtype=float))
        if len(distinct) < 2:
            continue
        at = [_best(np.array(values, dtype=float), row, distinct) for row in means]
        for end in (distinct[0], distinct[-1]):
            count = sum(place == end for place in at)
            if count:
                beyond = ", ".join(f"{v:.3g}" for v in _beyond(distinct, end))
                found.append(
                    f"the best {name} is at the border of the grid, {end:.4g}, in {count} of "
                    f"{len(at)} folds; try also {beyond}"
                )
    return found


def _best(values: np.ndarray, row: np.ndarray, distinct: np.ndarray) -> float:
    """Return the best value, one inside the grid if it is as good as the border."""
    scores = np.where(np.isnan(row), -np.inf, row)
    best = np.array([scores[values == v].max() for v in distinct])
    top = best.max()
    if not np.isfinite(top):
        return float("nan")
    good = best >= top - EQUAL * abs(top)
    inside = good[1:-1]
    return float(distinct[1:-1][inside][0]) if inside.any() else float(distinct[good][0])


def _beyond(distinct: np.ndarray, end: float) -> list[float]:
    """Return values beyond an end, in the steps of the grid: factors if all are positive."""
    low = end == distinct[0]
    near = distinct[1] if low else distinct[-2]
    if distinct[0] > 0:
        return [float(end * (end / near) ** k) for k in range(1, FURTHER + 1)]
    return [float(end + (end - near) * k) for k in range(1, FURTHER + 1)]
