"""Shrinking: steps of pairs and of all free variables, on those variables that are not settled.

A variable is settled when it sits at a bound and wants to stay there more than any other variable
wants to move. After the first steps most are, and what they cost is nearly all of a step, since a
step passes over all variables. So the others get a matrix of their own, a copy of their part, and
the climb goes on there (Joachims 1999, section 4; LIBSVM's way). When it has come a good part
further, the slopes of the settled ones follow at once, and all are looked at again: whoever wants
to move now is among the next ones. Nothing is given up, and nothing is claimed of a part only.

Where pairs of variables crawl, all free ones are moved together (`mercer.solvers.free_variables`),
which on the small matrix costs little as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer.engine.single import add_rows
from mercer.gram.stored import cut_into
from mercer.solvers.free_variables import VariableRows, optimize_free
from mercer.solvers.quadratic import DONE, MAX_PART, MAX_UNSETTLED, UNBOUNDED
from mercer.solvers.smo import MIN_STEPS, burst_of, optimize_pairs
from mercer.threads import stopping

__all__ = ["Climb", "Segments", "Variables", "climb", "unsettled", "worth_a_copy"]

# Where a burst of steps of pairs is too slow, all free variables are moved at once, which counts
# as so many bursts.
FREE_STEP_COST = 9
STEPS_TO_LOOK = 1  # of pairs, for each variable, after which it is looked who is settled
MIN_SHRUNK = 256  # variables, below which a pass over all of them costs as little as a step
INNER_SHARE = 0.3  # of the violation, at which the climb on a part is left
INNER_TOL = (
    0.9  # of the violation that is wanted in the end, and the least that is asked of a part
)


@dataclass(frozen=True)
class Segments:
    """Where variables lie in a Gram matrix: ranges of its columns, one after the other.

    Attributes
    ----------
    columns, bounds, group : int64 arrays
        As `mercer.solvers.smo.optimize_pairs` takes them.
    """

    columns: np.ndarray
    bounds: np.ndarray
    group: np.ndarray

    @property
    def places(self) -> np.ndarray:
        """The row of the matrix that belongs to each variable."""
        lengths = np.diff(self.bounds)
        starts = np.repeat(self.columns - self.bounds[:-1], lengths)
        return starts + np.arange(self.bounds[-1])

    @property
    def groups(self) -> np.ndarray:
        """The group of each variable."""
        return np.repeat(self.group, np.diff(self.bounds))

    @staticmethod
    def of_groups(groups: np.ndarray) -> Segments:
        """Return the segments of variables that have a matrix of their own, sorted by group."""
        own = np.unique(groups)
        bounds = np.append(np.searchsorted(groups, own), len(groups)).astype(np.int64)
        return Segments(bounds[:-1].copy(), bounds, own.astype(np.int64))


@dataclass(frozen=True)
class Variables:
    """What is climbed on: β and its slopes F, which change, the box, and k(x, x)."""

    F: np.ndarray
    beta: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    heights: np.ndarray

    def take(self, some: np.ndarray) -> Variables:
        """Return copies for some of the variables."""
        return Variables(*(values[some] for values in vars(self).values()))


@dataclass(frozen=True)
class Climb:
    """How a climb went: its steps, and a pair of variables with which something is wrong."""

    steps: int
    trouble: int = DONE
    pair: tuple[int, int] = (0, 0)


def climb(K: np.ndarray, where: Segments, variables: Variables, goal: float, limit: int) -> Climb:
    """Climb until no condition is violated by more than `goal`, or the steps run out.

    Parameters
    ----------
    K : ndarray, float32 or float64
        A Gram matrix that has the rows and columns of all variables.
    where : Segments
    variables : Variables
        `F` and `beta` are changed.
    goal : float
    limit : int
        Largest number of steps of pairs.

    Examples
    --------
    >>> F, beta = np.array([1.0, -1.0]), np.zeros(2)
    >>> lower, upper = np.array([0.0, -9.0]), np.array([9.0, 0.0])
    >>> all_of_them = Variables(F, beta, lower, upper, np.ones(2))
    >>> climb(np.eye(2), Segments.of_groups(np.zeros(2, dtype=int)), all_of_them, 1e-3, 100).steps
    1
    >>> beta
    array([ 1., -1.])
    """
    n, total, crawled, shrunk = len(variables.F), 0, 0, False
    places, groups, part = where.places, where.groups, Part()
    pass_steps = max(STEPS_TO_LOOK * n, MIN_STEPS)
    while True:
        # After a climb on a part it is only looked who wants to move, which takes no step.
        steps = 0 if shrunk else min(limit - total, pass_steps)
        found, left = _pairs(K, where, variables, goal, steps)
        total, crawled = total + found.steps, crawled + found.steps
        if found.trouble or left <= goal or total >= limit or stopping():
            return replace(found, steps=total)
        some, stuck = unsettled(variables, groups), not shrunk and found.steps == 0
        if worth_a_copy(len(some), n):
            inner_goal = max(INNER_TOL * goal, INNER_SHARE * left)
            found = part.climb(some, K, places, groups, variables, inner_goal, limit - total)
            total, crawled, shrunk = total + found.steps, 0, found.steps > 0
        elif shrunk:
            shrunk = False
        elif stuck or crawled >= burst_of(n):
            found = _all_free(K, where, variables)
            total, crawled = total + found.steps, 0
        if found.trouble:
            return replace(found, steps=total)


def _pairs(
    K: np.ndarray, where: Segments, v: Variables, goal: float, steps: int
) -> tuple[Climb, float]:
    """Take steps of pairs; return how they went, and the violation that is left."""
    steps, left, trouble, i, j = optimize_pairs(
        K, where.columns, where.bounds, where.group, v.heights, v.F, v.beta, v.lower, v.upper,
        goal, steps,
    )  # fmt: skip
    return Climb(int(steps), int(trouble), (int(i), int(j))), float(left)


def _crawl(
    K: np.ndarray, where: Segments, v: Variables, goal: float, limit: int
) -> tuple[Climb, float]:
    """Take a burst of steps of pairs and, where that is not enough, move all free variables."""
    burst = burst_of(len(v.F))
    found, left = _pairs(K, where, v, goal, min(limit, burst))
    if found.trouble or left <= goal or found.steps >= limit or stopping():
        return found, left
    moved = _all_free(K, where, v)
    return replace(moved, steps=found.steps + moved.steps), left


def _all_free(K: np.ndarray, where: Segments, v: Variables) -> Climb:
    """Move all free variables together."""
    rows = VariableRows(K, where.places, where.groups)
    bounded = optimize_free(rows, v.F, v.beta, v.lower, v.upper)
    return Climb(FREE_STEP_COST * burst_of(len(v.F)), DONE if bounded else UNBOUNDED)


def worth_a_copy(unsettled: int, variables: int) -> bool:
    """Tell whether a climb on those that are not settled should have a matrix of its own."""
    few = unsettled <= min(MAX_UNSETTLED * variables, MAX_PART)
    return few and variables > MIN_SHRUNK


class Part:
    """Memory for the matrices of parts, one after the other."""

    def __init__(self) -> None:
        self._memory = np.empty(0)

    def climb(
        self,
        some: np.ndarray,
        K: np.ndarray,
        places: np.ndarray,
        groups: np.ndarray,
        v: Variables,
        goal: float,
        limit: int,
    ) -> Climb:
        """Climb on some of the variables, on a copy of their rows and columns.

        The slopes of all follow.
        """
        part, rows = v.take(some), places[some]
        own, M = Segments.of_groups(groups[some]), self._cut(K, rows)
        total, found = 0, Climb(0)
        while total < limit:
            found, left = _crawl(M, own, part, goal, limit - total)
            total += found.steps
            if found.trouble or left <= goal or stopping():
                break
        moved = np.flatnonzero(part.beta != v.beta[some])
        change = part.beta[moved] - v.beta[some[moved]]
        v.beta[some] = part.beta
        follow = np.zeros(len(K))
        add_rows(K, rows[moved], change, 0, len(K), follow)
        v.F[...] -= follow[places]
        first, second = found.pair
        return Climb(total, found.trouble, (int(some[first]), int(some[second])))

    def _cut(self, K: np.ndarray, rows: np.ndarray) -> np.ndarray:
        size = len(rows) ** 2
        if len(self._memory) < size:
            self._memory = np.empty(size, K.dtype)
        return cut_into(self._memory[:size].reshape(len(rows), -1), K, rows, rows)


def unsettled(v: Variables, groups: np.ndarray) -> np.ndarray:
    """Return the variables that are free, or that make a pair with another one that violates.

    Examples
    --------
    >>> F = np.array([3.0, 0.5, 0.1, -3.0])
    >>> v = Variables(F, np.array([1.0, 0.5, 0.5, 0.0]), np.zeros(4), np.ones(4), np.ones(4))
    >>> unsettled(v, np.zeros(4, dtype=int))
    array([1, 2])
    """
    grows, shrinks = v.beta < v.upper, v.beta > v.lower
    wanted = grows & shrinks
    for group in np.unique(groups):
        own = groups == group
        top = np.max(v.F, where=own & grows, initial=-np.inf)
        bottom = np.min(v.F, where=own & shrinks, initial=np.inf)
        wanted |= own & ((grows & (v.F > bottom)) | (shrinks & (v.F < top)))
    return np.flatnonzero(wanted)
