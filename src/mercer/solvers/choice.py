"""Choice: which variables a round works on."""

from __future__ import annotations

import numpy as np

from mercer.solvers.quadratic import Quadratic

__all__ = ["choose", "enough", "largest", "once"]


def enough(problem: Quadratic, beta: np.ndarray, working: int, largest: int) -> int:
    """Return the size of the next working set: room for all free variables and as many others."""
    free = int(np.count_nonzero((beta > problem.lower) & (beta < problem.upper)))
    return max(working, min(2 * free, largest))


def choose(
    problem: Quadratic, beta: np.ndarray, F: np.ndarray, count: int, distinct: bool = False
) -> np.ndarray:
    """Return the variables of the next round, in ascending order.

    Half of the places go to those that would grow most, half to those that would shrink most, and
    what is left to free ones. If they are to be `distinct`, equal wishes are taken once.
    """
    if len(beta) <= count:
        return np.arange(len(beta))
    places = count // (2 * len(problem.groups))
    chosen = np.zeros(len(beta), dtype=bool)
    for group in problem.groups:
        f, b = F[group], beta[group]
        grow = np.where(b < problem.upper[group], f, -np.inf)
        shrink = np.where(b > problem.lower[group], -f, -np.inf)
        for wish, other in ((grow, -shrink.max()), (shrink, -grow.max())):
            some = largest(once(wish) if distinct else wish, places)
            chosen[group.start + some[wish[some] > other]] = True
    left = count - int(chosen.sum())
    if left > 0:
        free = np.flatnonzero((beta > problem.lower) & (beta < problem.upper) & ~chosen)
        chosen[free[:left]] = True
    return np.flatnonzero(chosen)


def once(values: np.ndarray) -> np.ndarray:
    """Return values of which all but the first of equal ones are minus infinity.

    Examples
    --------
    >>> once(np.array([2.0, 1.0, 2.0]))
    array([  2.,   1., -inf])
    """
    _, first = np.unique(values, return_index=True)
    found = np.full(len(values), -np.inf)
    found[first] = values[first]
    return found


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return where the `count` largest values are, the first of equal ones."""
    if len(values) <= count:
        return np.arange(len(values))
    bar = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > bar)
    return np.concatenate([above, np.flatnonzero(values == bar)[: count - len(above)]])
