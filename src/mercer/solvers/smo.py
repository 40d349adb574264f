"""Sequential minimal optimization: two variables at a time (Platt 1998; Fan, Chen & Lin 2005).

Maximizes tᵀβ − ½βᵀKβ with lower ≤ β ≤ upper and a fixed sum of β within each group. F = t − Kβ is
how much every variable would like to grow. Of a group, variable i is the one that may grow and
wants to most; j is the one that may shrink and promises the largest increase of the objective,
(Fᵢ − Fⱼ)²/(Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ). Moving both by the same amount keeps the sum.

The variables lie in segments, each of which is a range of columns of K. Two classes of many are
two segments of one large Gram matrix; regression has every item twice.

Ten classes are 45 pairs of classes, and a search over kernels, prices and folds makes thousands of
programs on one stored matrix. Each takes less time to solve than Python takes to walk around its
solver, and no two threads can walk at once. So a batch of them goes through one loop that holds no
lock: slopes from the start, a burst of steps, slopes computed anew, certificate. It is what
`mercer.solvers.working_set.maximize` does in the plainest case, with the same numbers; a program
that needs more than one burst, or shows any trouble, is left to it.

In these loops arrays are copied entry by entry: with the assignment of a slice Numba compiles the
text of an error about shapes, which takes longer than all the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mercer.compiled import compiled
from mercer.gram import GramRanges
from mercer.solvers.quadratic import (
    DONE,
    INVALID,
    ROUNDING,
    SNAPPED_SHARE,
    UNBOUNDED,
    Optimum,
    Quadratic,
    SMOOptions,
)

__all__ = ["optimize_pairs", "solve_batch"]

# The best of many is found lane by lane, as vector instructions do it, and then among the lanes.
LANES = 64
CANNOT_MOVE = 1e300  # added to F of a variable at its bound; infinities would be slow
VECTORIZED = {"nnan", "nsz", "reassoc", "contract"}  # what vector instructions need of fastmath
# The curvature Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ is a squared distance. Below these shares of Kᵢᵢ + Kⱼⱼ it is
# rounding, and a negative number that rounding cannot explain.
MIN_CURVATURE = 1e-12
MAX_NEGATIVE_CURVATURE = 1e-5
TINY = 1e-30
# Steps for each variable, but not fewer than MIN_STEPS, after which pairs are too slow.
STEPS_PER_VARIABLE = 20
MIN_STEPS = 1000


def burst_of(variables: int) -> int:
    """Return the number of steps after which pairs of so many variables are too slow."""
    return max(STEPS_PER_VARIABLE * variables, MIN_STEPS)


def solve_batch(
    source: GramRanges,
    ranges: Sequence[Sequence[tuple[int, int]]],
    problems: Sequence[Quadratic],
    options: SMOOptions,
) -> list[Optimum | None]:
    """Return the answers of all programs, None where it takes more than a burst of steps.

    Programs have one variable for each item, one sum, and a finite box.

    Parameters
    ----------
    source : GramRanges
    ranges : sequence of ranges
        The items of each program, as ranges of the stored matrix.
    problems : sequence of Quadratic
    options : SMOOptions

    Examples
    --------
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(9 * z, 0.0), np.maximum(9 * z, 0.0), np.zeros(2))
    >>> K = GramRanges(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> [found] = solve_batch(K, [[(0, 2)]], [problem], SMOOptions())
    >>> found.coefficients, found.status
    (array([ 0.5, -0.5]), 'solved')
    """
    spans = np.array([span for some in ranges for span in some], dtype=np.int64)
    lengths = spans[:, 1] - spans[:, 0]
    bounds = np.cumsum([0, *lengths])
    first = np.cumsum([0, *(len(some) for some in ranges)])
    target, lower, upper, beta = (
        np.concatenate([getattr(problem, name) for problem in problems])
        for name in ("target", "lower", "upper", "start")
    )
    items = np.arange(len(beta)) + np.repeat(spans[:, 0] - bounds[:-1], lengths)
    diagonal = source.array.diagonal()[items].astype(np.float64)
    F, numbers = np.empty(len(beta)), np.zeros((len(problems), 9))
    limits = np.array([min(options.steps, burst_of(len(p.target))) for p in problems])
    _solve_all(
        source.array, spans[:, 0].copy(), bounds, first, diagonal, target, lower, upper, beta, F,
        numbers, options.tol, limits,
    )  # fmt: skip
    ends = bounds[first].tolist()
    rows = zip(pairwise(ends), numbers.tolist(), strict=True)
    return [_optimum(beta[a:b], F[a:b], row) for (a, b), row in rows]


def _optimum(beta: np.ndarray, F: np.ndarray, numbers: list[float]) -> Optimum | None:
    done, offset, gap, violation, square, objective, steps, before, after = numbers
    if not done:
        return None
    history = (before, after, violation) if steps else (before,)
    return Optimum(
        beta, np.array([offset]), "solved", objective, gap, violation, square, int(steps),
        history, slopes=F,
    )  # fmt: skip


@compiled(fastmath=VECTORIZED, error_model="numpy")
def _update_slopes(F, up, low, step, row, other, high, deep):
    """Let F of a segment follow a step; return its highest that may grow, where, and its lowest.

    `row` and `other` are the segment's parts of the rows of the variables that moved.
    """
    n = len(F)
    high[:], deep[:] = -CANNOT_MOVE, CANNOT_MOVE
    for c in range(0, n, LANES):
        f, u, v = F[c : c + LANES], up[c : c + LANES], low[c : c + LANES]
        a, b = row[c : c + LANES], other[c : c + LANES]
        for k in range(len(f)):
            f[k] -= step * (a[k] - b[k])
            high[k] = max(high[k], f[k] + u[k])
            deep[k] = min(deep[k], f[k] + v[k])
    top, bottom, lane = -CANNOT_MOVE, CANNOT_MOVE, 0
    for k in range(LANES):
        bottom = min(bottom, deep[k])
        if high[k] > top:
            top, lane = high[k], k
    for k in range(lane, n, LANES):
        if F[k] + up[k] == top:
            return top, k, bottom
    return top, 0, bottom


@compiled(error_model="numpy")
def _power_below(x):
    """Return the power of two by which a positive number becomes one between 1/2 and 1."""
    return 2.0 ** -np.ceil(np.log2(x)) if 1e-300 < x < 1e300 else 1.0


@compiled(fastmath=VECTORIZED, error_model="numpy")
def _second_variable(top, height, row, diagonal, F, low, gains, unit, weight):
    """Return the largest increase of the objective in a segment, and whose it is.

    Increases are compared in single precision: they only say where to go. So that its range does,
    slopes are in `unit`s of the violation and curvatures have the `weight` of the largest height,
    both powers of two, which change no digit.
    """
    n = len(F)
    gains[:] = np.float32(-1.0)
    for c in range(0, n, LANES):
        f, v, h, a = (
            F[c : c + LANES],
            low[c : c + LANES],
            diagonal[c : c + LANES],
            row[c : c + LANES],
        )
        for k in range(len(f)):
            d = np.float32(min(max((top - f[k] - v[k]) * unit, 0.0), 1e15))
            lengths = height + h[k]
            least = MIN_CURVATURE * lengths + TINY
            curvature = np.float32(max(lengths - 2.0 * a[k], least) * weight)
            gains[k] = max(gains[k], d * d / curvature)
    gain, lane = np.float32(-1.0), 0
    for k in range(LANES):
        if gains[k] > gain:
            gain, lane = gains[k], k
    best, where = np.float32(-1.0), lane
    for k in range(lane, n, LANES):
        d = np.float32(min(max((top - F[k] - low[k]) * unit, 0.0), 1e15))
        lengths = height + diagonal[k]
        least = MIN_CURVATURE * lengths + TINY
        gained = d * d / np.float32(max(lengths - 2.0 * row[k], least) * weight)
        if gained > best:
            best, where = gained, k
    return best, where


@compiled(error_model="numpy")
def _mark_movable(k, beta, lower, upper, up, low):
    """Remember whether a variable may grow or shrink."""
    up[k] = 0.0 if beta[k] < upper[k] else -CANNOT_MOVE
    low[k] = 0.0 if beta[k] > lower[k] else CANNOT_MOVE


@compiled(error_model="numpy")
def optimize_pairs(K, columns, bounds, group, diagonal, F, beta, lower, upper, tol, limit):
    """Move pairs of variables until none violates optimality by more than `tol`.

    Parameters
    ----------
    K : array of shape (n, n), float32 or float64
    columns : int64 array
        For each segment, the column of K at which it begins.
    bounds : int64 array
        Where each segment begins among the variables, and at last their number.
    group : int64 array
        The group of each segment, 0 or 1.
    diagonal, F, beta, lower, upper : float64 arrays, one entry for each variable
        `F` and `beta` are changed.
    tol : float
    limit : int
        Largest number of steps.

    Returns
    -------
    steps, violation, status, i, j
        Status `DONE`, or out of steps; `INVALID`: the kernel is not valid on the items of
        variables i and j; `UNBOUNDED`: nothing bounds the objective along i and j.
    """
    segments, variables = len(group), len(F)
    up, low = np.empty(variables), np.empty(variables)
    for k in range(variables):
        _mark_movable(k, beta, lower, upper, up, low)
    high, deep = np.empty(LANES), np.empty(LANES)
    gains = np.empty(LANES, dtype=np.float32)
    weight = _power_below(max(np.max(diagonal), TINY))
    steps, step, row, other = 0, 0.0, K[0], K[0]
    while True:
        # The slopes follow the last step. Which group is furthest from its optimum, and who of it
        # wants to grow most?
        violation, g, i, home = -CANNOT_MOVE, 0, 0, 0
        for candidate in range(2):
            top, bottom, best, where = -CANNOT_MOVE, CANNOT_MOVE, 0, 0
            for s in range(segments):
                if group[s] == candidate:
                    a, b = bounds[s], bounds[s + 1]
                    c, e = columns[s], columns[s] + b - a
                    t, k, d = _update_slopes(
                        F[a:b], up[a:b], low[a:b], step, row[c:e], other[c:e], high, deep
                    )
                    bottom = min(bottom, d)
                    if t > top:
                        top, best, where = t, a + k, s
            if top - bottom > violation:
                violation, g, i, home = top - bottom, candidate, best, where
        if violation <= tol or steps >= limit:
            return steps, max(violation, 0.0), DONE, 0, 0
        row = K[columns[home] + i - bounds[home]]
        # Whose shrinking increases the objective most?
        gain, j, away, unit = np.float32(0.0), 0, 0, _power_below(violation)
        for s in range(segments):
            if group[s] == g:
                a, b = bounds[s], bounds[s + 1]
                part = row[columns[s] : columns[s] + b - a]
                gained, k = _second_variable(
                    F[i], diagonal[i], part, diagonal[a:b], F[a:b], low[a:b], gains, unit, weight
                )
                if gained > gain:
                    gain, j, away = gained, a + k, s
        if not gain > 0:  # nobody can make room for it, or nobody knows who
            return steps, violation, DONE, 0, 0
        lengths = diagonal[i] + diagonal[j]
        curvature = lengths - 2.0 * row[columns[away] + j - bounds[away]]
        if curvature < -MAX_NEGATIVE_CURVATURE * lengths:
            return steps, violation, INVALID, i, j
        step = (F[i] - F[j]) / max(curvature, MIN_CURVATURE * lengths + TINY)
        room, other_room = upper[i] - beta[i], beta[j] - lower[j]
        if step >= room and room <= other_room:
            step = room
            beta[i] = upper[i]
            beta[j] = lower[j] if room == other_room else beta[j] - step
        elif step >= other_room:
            step = other_room
            beta[i], beta[j] = beta[i] + step, lower[j]
        else:
            beta[i], beta[j] = beta[i] + step, beta[j] - step
        if not step < CANNOT_MOVE:
            return steps, violation, UNBOUNDED, i, j
        _mark_movable(i, beta, lower, upper, up, low)
        _mark_movable(j, beta, lower, upper, up, low)
        other = K[columns[away] + j - bounds[away]]
        steps += 1


@compiled(error_model="numpy")
def _solve_all(
    K, columns, bounds, first, diagonal, target, lower, upper, beta, F, numbers, tol, limits
):
    for p in range(len(numbers)):
        s, e = first[p], first[p + 1]
        a, b = bounds[s], bounds[e]
        own, group = np.empty(e - s + 1, np.int64), np.zeros(e - s, np.int64)
        for k in range(len(own)):
            own[k] = bounds[s + k] - a
        segments, row = columns[s:e], numbers[p]
        t, l, u, x, f = target[a:b], lower[a:b], upper[a:b], beta[a:b], F[a:b]  # noqa: E741
        _slopes(K, segments, own, t, x, f)
        row[7] = _violation(x, f, l, u)
        if row[7] > tol:
            row[6], left, trouble, _, _ = optimize_pairs(
                K, segments, own, group, diagonal[a:b], f, x, l, u, 0.9 * tol, limits[p]
            )
            row[8] = _violation(x, f, l, u)
            if trouble != DONE or left > 0.9 * tol:
                continue
            _slopes(K, segments, own, t, x, f)
        if _violation(x, f, l, u) <= tol:
            if _snap(x, l, u, diagonal[a:b], SNAPPED_SHARE * tol):
                _slopes(K, segments, own, t, x, f)
            _certify(t, x, f, l, u, row)
            row[3] = _violation(x, f, l, u)
            row[0] = 1.0 if row[3] <= tol else 0.0


@compiled(error_model="numpy")
def _snap(beta, lower, upper, diagonal, change):
    """Put at its bound what is within rounding of it, as `snap_to_bounds` does.

    Returns whether anything has moved.
    """
    largest, height, moved = 0.0, 0.0, False
    for k in range(len(beta)):
        largest, height = max(largest, abs(beta[k])), max(height, abs(diagonal[k]))
    for k in range(len(beta)):
        reach = np.sqrt(abs(diagonal[k]) * height)
        little = min(ROUNDING * min(upper[k] - lower[k], largest), change / max(reach, TINY))
        before = beta[k]
        if beta[k] - lower[k] <= little:
            beta[k] = lower[k]
        elif upper[k] - beta[k] <= little:
            beta[k] = upper[k]
        moved |= beta[k] != before
    return moved


@compiled(fastmath=VECTORIZED, error_model="numpy")
def _slopes(K, columns, bounds, target, beta, F):
    """Write t − Kβ into F."""
    for k in range(len(F)):
        F[k] = target[k]
    for s in range(len(columns)):
        for k in range(bounds[s], bounds[s + 1]):
            if beta[k] != 0.0:
                row, value = K[columns[s] + k - bounds[s]], beta[k]
                for t in range(len(columns)):
                    part = row[columns[t] : columns[t] + bounds[t + 1] - bounds[t]]
                    out = F[bounds[t] : bounds[t + 1]]
                    for q in range(len(out)):
                        out[q] -= value * part[q]


@compiled(error_model="numpy")
def _violation(beta, F, lower, upper):
    """Return the largest violation of the Kuhn-Tucker conditions, as `violation_of` does."""
    top, bottom = -np.inf, np.inf
    for k in range(len(F)):
        if beta[k] < upper[k]:
            top = max(top, F[k])
        if beta[k] > lower[k]:
            bottom = min(bottom, F[k])
    return max(top - bottom, 0.0)


@compiled(error_model="numpy")
def _certify(target, beta, F, lower, upper, numbers):
    """Write the offset, the gap, the squared norm and the objective, as `certify` does."""
    total, free, top, bottom = 0.0, 0, -np.inf, np.inf
    for k in range(len(F)):
        grows, shrinks = beta[k] < upper[k], beta[k] > lower[k]
        if grows:
            top = max(top, F[k])
        if shrinks:
            bottom = min(bottom, F[k])
        if grows and shrinks:
            total, free = total + F[k], free + 1
    offset = 0.0
    if free:
        offset = total / free
    elif np.isfinite(top) and np.isfinite(bottom):
        offset = (top + bottom) / 2
    elif np.isfinite(top) or np.isfinite(bottom):
        offset = top if np.isfinite(top) else bottom
    gap, square, objective = 0.0, 0.0, 0.0
    for k in range(len(F)):
        if F[k] > offset:
            gap += (F[k] - offset) * (upper[k] - beta[k])
        else:
            gap += (offset - F[k]) * (beta[k] - lower[k])
        square += beta[k] * (target[k] - F[k])
        objective += beta[k] * (target[k] + F[k]) / 2
    numbers[1], numbers[2], numbers[4], numbers[5] = offset, gap, square, objective
