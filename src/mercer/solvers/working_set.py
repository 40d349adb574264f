"""Working sets: a large quadratic program, solved in rounds on the variables that matter.

A round takes the variables that violate optimality most and those that are free, computes their
part of the Gram matrix and descends on it. Then the slopes of all variables
follow, from the rows of those that moved. Variables that sit at a bound and want to stay there are
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

from mercer.gram import Pieces, Rows, Stored
from mercer.gram.buffers import ROOM
from mercer.solvers.choice import choose, enough
from mercer.solvers.free_variables import Plane, settle_free
from mercer.solvers.quadratic import (
    Optimum,
    Quadratic,
    Status,
    certify,
    hard_gap,
    violation_of,
)
from mercer.threads import stopping

__all__ = ["Effort", "maximize"]

# A round ends when the violation on its set is this share of the violation that it began with.
SHARE = 0.1
# With so many items, one in THINNING is solved first, to this tolerance.
COARSE = 4096
THINNING = 8
COARSE_TOL = 0.05
BAND = 0.1
# Rounds without progress, by this share of the objective, after which an iteration has stalled.
PATIENCE = 5
LITTLE = 1e-13
DUST = 1e-13  # share of the box, and of the largest coefficient, that is rounding
# Steps for each variable, but not fewer than SHORTEST, after which pairs are too slow and all free
# variables are moved at once; and steps after which a round looks again at all variables.
BURST = 10
SHORTEST = 1000
PATIENT = 500
DEAR = 9  # moving all free variables counts as so many times those steps
# A round of fewer steps than this may have had many copies of the same items in its set.
TIRED = 64
# Objectives of a hard margin beyond this multiple of 1/k(x, x) mean that there is none.
UNSEPARATED = 1e15


@dataclass(frozen=True)
class Effort:
    """How long to try, how to compute.

    Attributes
    ----------
    tol : float
        Largest violation of the Kuhn-Tucker conditions that is called solved.
    steps : int
        Largest number of steps, each of which moves two variables.
    working, largest : int
        Number of variables in a working set, and how many it may have where many are free.
    kept : int
        Number of Gram rows to keep.
    dtype : float32 or float64
        How parts of the Gram matrix are stored. Sums are in double precision.
    rough : bool
        Whether slopes that have followed β all the way are good enough in the end.
    """

    tol: float = 1e-3
    steps: int = 10_000_000
    working: int = 4096
    largest: int = 4096
    kept: int = 0
    dtype: type = np.float64
    rough: bool = False


class Slopes:
    """β and its slopes F = t − Kβ, which follow β."""

    def __init__(self, operator: Pieces, problem: Quadratic, effort: Effort) -> None:
        self.operator = operator
        self.rows = Rows(operator, effort.kept, effort.dtype)
        self.problem = problem
        self.items = np.arange(len(problem.target)) % operator.order
        self.beta = problem.start.astype(np.float64)
        self.F = self.afresh()

    def afresh(self) -> np.ndarray:
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


def maximize(operator: Pieces, problem: Quadratic, effort: Effort) -> Optimum:
    """Return the β of the largest tᵀβ − ½βᵀKβ, by rounds on working sets.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(9 * z, 0.0), np.maximum(9 * z, 0.0), np.zeros(2))
    >>> maximize(Dense(np.array([[1.0, -1.0], [-1.0, 1.0]])), problem, Effort()).coefficients
    array([ 0.5, -0.5])
    """
    many = not isinstance(operator, Stored) and operator.order >= COARSE
    if many and not problem.start.any() and np.isfinite(problem.upper - problem.lower).all():
        problem = replace(problem, start=_from_coarse(operator, problem, effort))
    state = Slopes(operator, problem, effort)
    diagonal = operator.diagonal()[state.items]
    history: list[float] = []
    steps, exact, distinct = 0, True, False
    best, idle = -np.inf, 0
    while True:
        violation = violation_of(problem, state.beta, state.F)
        history.append(violation)
        if violation <= effort.tol:
            if exact or effort.rough:
                return concluded(problem, state, steps, history, effort)
            state.F, exact = state.afresh(), True
            continue
        objective = state.objective
        idle = 0 if objective > best + LITTLE * abs(best) else idle + 1
        best = max(best, objective)
        if steps >= effort.steps or idle > PATIENCE or stopping():
            if exact:
                return concluded(problem, state, steps, history, effort)
            state.F, exact = state.afresh(), True
            continue
        stored = isinstance(operator, Stored)  # there is nothing to gain from leaving some out
        count = (
            len(state.beta)
            if stored
            else enough(problem, state.beta, effort.working, effort.largest)
        )
        chosen = choose(problem, state.beta, state.F, count, distinct)
        limit = min(effort.steps - steps, PATIENT * max(len(chosen), SHORTEST))
        done = _round(operator, problem, state, chosen, diagonal, violation, limit, effort)
        steps, exact = steps + done.steps, False
        distinct = done.steps < TIRED and len(chosen) < len(state.beta)
        if done.trouble or _unseparated(problem, state, diagonal):
            return concluded(problem, state, steps, history, effort, done)


def _from_coarse(operator: Any, problem: Quadratic, effort: Effort) -> np.ndarray:
    """Return a β to begin with: what a solution for one item in eight says about all.

    The few items get bounds that are eight times as wide, so that their function is about that of
    all items. Where a slope is positive the variable goes to its upper bound, where it is negative
    to its lower one, and in a narrow band between; the level is set so that the sums are kept.
    """
    n = operator.order
    some = np.arange(n % THINNING // 2, n, THINNING)
    copies = len(problem.target) // n
    chosen = np.concatenate([some + c * n for c in range(copies)])
    share = len(chosen) / len(problem.target)
    few = Quadratic(
        problem.target[chosen], problem.lower[chosen] / share, problem.upper[chosen] / share,
        np.zeros(len(chosen)),
    )  # fmt: skip
    rough = replace(effort, tol=max(effort.tol, COARSE_TOL), kept=0, rough=True)
    found = maximize(operator.part(some), few, rough)
    per_item = found.coefficients.reshape(copies, -1).sum(axis=0)
    used = np.flatnonzero(per_item)
    values = operator.combine(some[used], per_item[used]) if len(used) else np.zeros(n)
    slopes = problem.target - np.tile(values, copies)
    return _level(problem, slopes)


def _level(problem: Quadratic, slopes: np.ndarray) -> np.ndarray:
    """Return β between its bounds by the sign of slope − b, with the b that makes their sum 0."""

    def at(b: float) -> np.ndarray:
        s = np.clip((slopes - b) / BAND, -1.0, 1.0)
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


@dataclass(frozen=True)
class Done:
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
    effort: Effort,
) -> Done:
    """Descend on the variables of one round, and let the others follow."""
    from mercer.solvers.smo import descend

    everything = len(chosen) == len(state.beta)
    goal = 0.9 * effort.tol if everything else max(0.5 * effort.tol, SHARE * violation)
    if everything and isinstance(operator, Stored):
        K, layout = operator.array, _in_place(operator, problem)
    else:
        place = ROOM.take((len(chosen), len(chosen)), effort.dtype)
        K = operator.block(state.items[chosen], place)
        layout = _compact(problem, chosen)
    beta, F = state.beta[chosen], state.F[chosen]
    columns, bounds, group = layout
    lower, upper, heights = problem.lower[chosen], problem.upper[chosen], diagonal[chosen]
    plane, total = _plane(K, layout), 0
    while True:
        burst = min(limit - total, max(BURST * len(chosen), SHORTEST))
        steps, left, trouble, i, j = descend(
            K, columns, bounds, group, heights, F, beta, lower, upper, goal, burst
        )
        total += int(steps)
        if trouble or left <= goal or total >= limit:
            break
        if stopping():
            break
        if not settle_free(plane, F, beta, lower, upper):
            trouble = 2
            break
        total += DEAR * burst
    if K is not getattr(operator, "array", None):
        ROOM.give(K)
    moved = np.flatnonzero(beta != state.beta[chosen])
    if everything:
        state.beta, state.F = beta, F
    else:
        state.move(chosen[moved], beta[moved])
    items = state.items[chosen]
    return Done(total, int(trouble), (int(items[i]), int(items[j])))


def _plane(K: np.ndarray, layout: tuple[np.ndarray, ...]) -> Plane:
    """Return which row of K each variable has, and its group."""
    columns, bounds, group = layout
    lengths = np.diff(bounds)
    places = np.concatenate([np.arange(c, c + m) for c, m in zip(columns, lengths, strict=True)])
    return Plane(K, places, np.repeat(group, lengths))


def _compact(problem: Quadratic, chosen: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the segments of a working set's own matrix: one for each group."""
    ends = [0] + [int(np.searchsorted(chosen, group.stop)) for group in problem.groups]
    bounds = np.array(ends, dtype=np.int64)
    return bounds[:-1].copy(), bounds, np.arange(len(bounds) - 1, dtype=np.int64)


def _in_place(operator: Stored, problem: Quadratic) -> tuple[np.ndarray, ...]:
    """Return the segments of all variables in a stored matrix: its ranges, once or twice."""
    copies = len(problem.target) // operator.order
    columns = np.array([a for a, _ in operator.ranges] * copies, dtype=np.int64)
    lengths = [b - a for a, b in operator.ranges] * copies
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    stops = [group.stop for group in problem.groups]
    return columns, bounds, np.searchsorted(stops, bounds[:-1], side="right").astype(np.int64)


def _unseparated(problem: Quadratic, state: Slopes, diagonal: np.ndarray) -> bool:
    """Tell whether a hard margin's objective grows beyond all bounds."""
    if np.isfinite(problem.upper).all() and np.isfinite(problem.lower).all():
        return False
    return state.objective * float(diagonal.max(initial=0.0)) > UNSEPARATED


def snapped(problem: Quadratic, beta: np.ndarray) -> np.ndarray:
    """Return β with what is within rounding of a bound at the bound, where it is not free.

    Examples
    --------
    >>> problem = Quadratic(np.zeros(2), np.zeros(2), np.ones(2), np.zeros(2))
    >>> snapped(problem, np.array([1e-17, 1 - 1e-16]))
    array([0., 1.])
    """
    width = problem.upper - problem.lower
    dust = DUST * np.minimum(width, np.abs(beta).max(initial=0.0))
    beta = np.where(beta - problem.lower <= dust, problem.lower, beta)
    return np.where(problem.upper - beta <= dust, problem.upper, beta)


def concluded(
    problem: Quadratic,
    state: Slopes,
    steps: int,
    history: list[float],
    effort: Effort,
    done: Done | None = None,
) -> Optimum:
    """Return the answer with its certificate, or with what is wrong and what to do."""
    state.beta = snapped(problem, state.beta)
    offsets, gap, violation = certify(problem, state.beta, state.F)
    square = float(state.beta @ (problem.target - state.F))
    if np.isinf(gap):
        gap = hard_gap(problem, state.beta, state.F, float(offsets[0]))
    status: Status = "solved" if violation <= effort.tol else "stalled"
    found = Optimum(
        state.beta, offsets, status, state.objective, gap, violation, square, steps,
        tuple(history), slopes=state.F,
    )  # fmt: skip
    trouble = 0 if done is None else done.trouble or 2
    culprits = (0, 0) if done is None else done.items
    if trouble == 1:
        message = (
            f"the kernel is not positive semi-definite on these items: the squared distance of "
            f"items {culprits[0]} and {culprits[1]} in its space is negative; use a valid kernel, "
            'or indefinite="clip", "flip" or "shift"'
        )
        return replace(found, status="invalid", message=message, culprits=culprits)
    if trouble == 2:
        message = (
            "the classes are not separable in the kernel's space, so there is no hard margin; use "
            "a finite C, or a richer kernel such as a Gaussian of smaller bandwidth"
        )
        return replace(found, status="unbounded", message=message)
    if status == "stalled":
        message = (
            f"stopped after {steps} steps with a violation of {violation:.2g} (tol is "
            f"{effort.tol:.2g}) and a duality gap of {gap:.3g}, {found.relative_gap:.1%} of the "
            "objective: use a smaller C, scaled features, a larger max_iter, or a larger tol"
        )
        return replace(found, message=message)
    return found
