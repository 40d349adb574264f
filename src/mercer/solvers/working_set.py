"""Working sets: a large quadratic program, solved in rounds on the variables that matter.

A round takes the variables that violate optimality most and those that are free, computes their
part of the Gram matrix and climbs on it. Then the slopes of all variables follow, from the rows
of those that moved. Variables that sit at a bound and want to stay there are
never looked at, which is what other solvers call shrinking. Sets are large (thousands), because
steps on a small matrix cost little and rows of the large one much (Joachims 1999; the sets of
thousands are oneDAL's idea).

Before an answer is called solved, its slopes are computed anew from β. If they show that rounding
has crept in, the rounds go on from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.gram import GramRanges, Pieces, RowCache
from mercer.gram.buffers import BUFFERS
from mercer.solvers.quadratic import (
    DONE,
    UNBOUNDED,
    Optimum,
    Quadratic,
    SMOOptions,
    conclude,
    largest_snap,
    snap_to_bounds,
    violation_of,
)
from mercer.solvers.shrinking import Segments, Variables, climb
from mercer.solvers.smo import MIN_STEPS
from mercer.threads import stopping

__all__ = ["maximize"]

MAX_STORED_ITEMS = 6000  # whose matrix is stored whatever else is true
MIN_WORKING, MAX_WORKING = 1024, 4096  # variables in a working set: an eighth of all, within these
LEAST_WORKING = 128  # where memory is very small
# Rows of free variables that are kept take no more than this, and no more than a quarter of what
# is free. More was slower: memory that is touched for the first time costs more than arithmetic.
MAX_ROW_BYTES = 256_000_000
MIN_ITEMS_A_FEATURE = 8  # from which on explicit features are used
# With so many items, one in COARSE_STRIDE is solved first.
MIN_ITEMS_FOR_COARSE_START = 4096
COARSE_STRIDE = 8


class Slopes:
    """β and its slopes F = t − Kβ, which follow β."""

    def __init__(self, operator: Pieces, problem: Quadratic, options: SMOOptions) -> None:
        self.operator = operator
        self.rows = RowCache(operator, options.kept, options.dtype)
        self.problem = problem
        self.items = np.arange(len(problem.target)) % operator.order
        self.beta = problem.start.astype(np.float64)
        self.F = self.recomputed()

    def recomputed(self) -> np.ndarray:
        """Return the slopes, computed from β alone."""
        total = self._per_item(np.arange(len(self.beta)), self.beta)
        used = np.flatnonzero(total)
        if len(used) == 0:
            return self.problem.target.copy()
        return self.problem.target - self.operator.combine(used, total[used])[self.items]

    def move(self, where: np.ndarray, new: np.ndarray) -> None:
        """Change some of β, and let the slopes follow."""
        change = new - self.beta[where]
        self.beta[where] = new
        total = self._per_item(where, change)
        used = np.flatnonzero(total)
        free = (self.beta > self.problem.lower) & (self.beta < self.problem.upper)
        wanted = np.zeros(self.operator.order, dtype=bool)
        wanted[self.items[free]] = True
        if len(used):
            self.F -= self.rows.combine(used, total[used], wanted[used])[self.items]

    @property
    def objective(self) -> float:
        """tᵀβ − ½βᵀKβ."""
        return float(self.beta @ (self.problem.target + self.F)) / 2

    def _per_item(self, where: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.items[where], values, self.operator.order)


def maximize(operator: Pieces, problem: Quadratic, options: SMOOptions) -> Optimum:
    """Return the β of the largest tᵀβ − ½βᵀKβ, by rounds on working sets.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(9 * z, 0.0), np.maximum(9 * z, 0.0), np.zeros(2))
    >>> maximize(Dense(np.array([[1.0, -1.0], [-1.0, 1.0]])), problem, SMOOptions()).coefficients
    array([ 0.5, -0.5])
    """
    many = not isinstance(operator, GramRanges) and operator.order >= MIN_ITEMS_FOR_COARSE_START
    if many and not problem.start.any() and np.isfinite(problem.upper - problem.lower).all():
        problem = replace(problem, start=_coarse_start(operator, problem, options))
    state = Slopes(operator, problem, options)
    diagonal = operator.diagonal()[state.items]
    history: list[float] = []
    steps, exact, distinct = 0, True, False
    best, idle, trouble, culprits = -np.inf, 0, DONE, (0, 0)
    while True:
        violation = violation_of(problem, state.beta, state.F)
        history.append(violation)
        if violation <= options.tol:
            if exact or options.trust_slopes:
                break
            state.F, exact = state.recomputed(), True
            continue
        objective = state.objective
        idle = 0 if objective > best + 1e-13 * abs(best) else idle + 1  # less is rounding
        best = max(best, objective)
        if steps >= options.steps or idle > 5 or stopping():
            if exact:
                break
            state.F, exact = state.recomputed(), True
            continue
        chosen = select(problem, state, _set_size(problem, state, options), distinct)
        limit = min(options.steps - steps, 500 * max(len(chosen), MIN_STEPS))
        done = _round(operator, problem, state, chosen, diagonal, violation, limit, options)
        steps, exact = steps + done.steps, False
        # After few steps there may be many copies of the same items in the set.
        distinct = done.steps < 64 and len(chosen) < len(state.beta)
        trouble = done.trouble
        if trouble == DONE and _unbounded(problem, state, diagonal):
            trouble = UNBOUNDED
        if trouble != DONE:
            culprits = done.items
            break
    # What goes to a bound takes its part of the slopes along, so that these belong to the answer.
    snapped = snap_to_bounds(problem, state.beta, largest_snap(diagonal, options.tol))
    moved = np.flatnonzero(snapped != state.beta)
    state.move(moved, snapped[moved])
    return conclude(
        problem, state.beta, state.F, steps, history, options.tol, trouble, culprits, diagonal
    )


def _coarse_start(operator: Any, problem: Quadratic, options: SMOOptions) -> np.ndarray:
    """Return a β to begin with: what a solution for one item in eight says about all.

    The few items get bounds that are eight times as wide, so that their function is about that of
    all items. Where a slope is positive the variable goes to its upper bound, where it is negative
    to its lower one, and in a narrow band between; the level is set so that the sums are kept.
    """
    n = operator.order
    some = np.arange(n % COARSE_STRIDE // 2, n, COARSE_STRIDE)
    copies = len(problem.target) // n
    chosen = np.concatenate([some + c * n for c in range(copies)])
    share = len(chosen) / len(problem.target)
    few = Quadratic(
        problem.target[chosen], problem.lower[chosen] / share, problem.upper[chosen] / share,
        np.zeros(len(chosen)),
    )  # fmt: skip
    loose = replace(options, tol=max(options.tol, 0.05), kept=0, trust_slopes=True)
    found = maximize(operator.part(some), few, loose)
    per_item = found.coefficients.reshape(copies, -1).sum(axis=0)
    used = np.flatnonzero(per_item)
    values = operator.combine(some[used], per_item[used]) if len(used) else np.zeros(n)
    slopes = problem.target - np.tile(values, copies)
    return _level(problem, slopes)


def _level(problem: Quadratic, slopes: np.ndarray, band: float = 0.1) -> np.ndarray:
    """Return β between its bounds by the sign of slope − b, with the b that makes their sum 0."""

    def at(b: float) -> np.ndarray:
        s = np.clip((slopes - b) / band, -1.0, 1.0)
        return np.where(s > 0, problem.upper * s, -problem.lower * s)

    low, high = float(slopes.min()) - 1.0, float(slopes.max()) + 1.0
    for _ in range(60):
        b = (low + high) / 2
        low, high = (b, high) if at(b).sum() > 0 else (low, b)
    beta = at(b)
    # What rounding has left over goes to whoever has room for it.
    left = -float(beta.sum())
    for k in np.argsort(-np.minimum(problem.upper - beta, beta - problem.lower))[:8]:
        move = float(np.clip(left, problem.lower[k] - beta[k], problem.upper[k] - beta[k]))
        beta[k] += move
        left -= move
    return beta


def _set_size(problem: Quadratic, state: Slopes, options: SMOOptions) -> int:
    """Return the size of the next working set: room for all free variables and as many others."""
    if isinstance(state.operator, GramRanges):  # there is nothing to gain from leaving some out
        return len(state.beta)
    free = int(np.count_nonzero((state.beta > problem.lower) & (state.beta < problem.upper)))
    return max(options.working, min(2 * free, options.largest))


def select(problem: Quadratic, state: Slopes, count: int, distinct: bool = False) -> np.ndarray:
    """Return the variables of the next round, in ascending order.

    Half of the places go to those that would grow most, half to those that would shrink most, and
    what is left to free ones. If they are to be `distinct`, of equal slopes one is taken.
    """
    beta, F = state.beta, state.F
    if len(beta) <= count:
        return np.arange(len(beta))
    places = count // (2 * len(problem.groups))
    chosen = np.zeros(len(beta), dtype=bool)
    for group in problem.groups:
        f, b = F[group], beta[group]
        grow = np.where(b < problem.upper[group], f, -np.inf)
        shrink = np.where(b > problem.lower[group], -f, -np.inf)
        for gain, other in ((grow, -shrink.max()), (shrink, -grow.max())):
            some = largest(first_of_equals(gain) if distinct else gain, places)
            chosen[group.start + some[gain[some] > other]] = True
    left = count - int(chosen.sum())
    if left > 0:
        free = np.flatnonzero((beta > problem.lower) & (beta < problem.upper) & ~chosen)
        chosen[free[:left]] = True
    return np.flatnonzero(chosen)


def first_of_equals(values: np.ndarray) -> np.ndarray:
    """Return values of which all but the first of equal ones are minus infinity.

    Examples
    --------
    >>> first_of_equals(np.array([2.0, 1.0, 2.0]))
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


@dataclass(frozen=True)
class Round:
    """How a round went: its steps, and the items of a pair with which something is wrong."""

    steps: int
    trouble: int
    items: tuple[int, int]


def _round(
    operator: Pieces,
    problem: Quadratic,
    state: Slopes,
    chosen: np.ndarray,
    diagonal: np.ndarray,
    violation: float,
    limit: int,
    options: SMOOptions,
) -> Round:
    """Climb on the variables of one round, and let the slopes of the others follow."""
    everything = len(chosen) == len(state.beta)
    # On a part of the variables, a tenth of the violation is enough before others are looked at.
    goal = 0.9 * options.tol if everything else max(0.5 * options.tol, 0.1 * violation)
    if everything and isinstance(operator, GramRanges):
        K, layout = operator.array, _in_place(operator, problem)
    else:
        place = BUFFERS.take((len(chosen), len(chosen)), options.dtype)
        K = operator.block(state.items[chosen], place)
        layout = _compact(problem, chosen)
    v = Variables(
        state.F[chosen], state.beta[chosen], problem.lower[chosen], problem.upper[chosen],
        diagonal[chosen],
    )  # fmt: skip
    found = climb(K, layout, v, goal, limit)
    if K is not getattr(operator, "array", None):
        BUFFERS.give(K)
    moved = np.flatnonzero(v.beta != state.beta[chosen])
    if everything:
        state.beta, state.F = v.beta, v.F
    else:
        state.move(chosen[moved], v.beta[moved])
    items = state.items[chosen[list(found.pair)]]
    return Round(found.steps, found.trouble, (int(items[0]), int(items[1])))


def _compact(problem: Quadratic, chosen: np.ndarray) -> Segments:
    """Return the segments of a working set's own matrix: one for each group."""
    stops = [group.stop for group in problem.groups]
    return Segments.of_groups(np.searchsorted(stops, chosen, side="right"))


def _in_place(operator: GramRanges, problem: Quadratic) -> Segments:
    """Return the segments of all variables in a stored matrix: its ranges, once or twice."""
    copies = len(problem.target) // operator.order
    columns = np.array([a for a, _ in operator.ranges] * copies, dtype=np.int64)
    lengths = [b - a for a, b in operator.ranges] * copies
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    stops = [group.stop for group in problem.groups]
    group = np.searchsorted(stops, bounds[:-1], side="right").astype(np.int64)
    return Segments(columns, bounds, group)


def _unbounded(problem: Quadratic, state: Slopes, diagonal: np.ndarray) -> bool:
    """Tell whether a hard margin's objective grows beyond all bounds."""
    if np.isfinite(problem.upper).all() and np.isfinite(problem.lower).all():
        return False
    return state.objective * float(diagonal.max(initial=0.0)) > 1e15  # in units of 1/k(x, x)
