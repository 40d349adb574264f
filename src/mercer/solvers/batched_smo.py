"""SMO in batches: many small quadratic programs on one stored matrix, in one compiled loop.

Ten classes are 45 duels, and a search over kernels, prices and folds makes thousands of them. Each
takes less time to solve than Python takes to walk around its solver, and no two threads can walk
at once. So all of them go through one loop that holds no lock: slopes from the start, a burst of
steps, slopes computed anew, certificate. It is what `maximize` does in the plainest case, with the
same numbers; a program that needs more than one burst, or shows any trouble, is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numba import njit

from mercer.gram import StoredGram
from mercer.solvers.quadratic import DONE, ROUNDING, Optimum, Quadratic
from mercer.solvers.smo import VECTORIZED, optimize_pairs
from mercer.solvers.working_set import MIN_STEPS, STEPS_PER_VARIABLE, Effort

__all__ = ["solve_batch"]

# Arrays are copied entry by entry below: with the assignment of a slice Numba compiles the text of
# an error about shapes, which takes longer than all the rest.


def solve_batch(
    source: StoredGram,
    ranges: Sequence[Sequence[tuple[int, int]]],
    problems: Sequence[Quadratic],
    effort: Effort,
) -> list[Optimum | None]:
    """Return the answers of all programs, None where it takes more than a burst of steps.

    Programs have one variable for each item, one sum, and a finite box.

    Parameters
    ----------
    source : Stored
    ranges : sequence of ranges
        The items of each program, as ranges of the stored matrix.
    problems : sequence of Quadratic
    effort : Effort

    Examples
    --------
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(9 * z, 0.0), np.maximum(9 * z, 0.0), np.zeros(2))
    >>> K = StoredGram(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> [found] = solve_batch(K, [[(0, 2)]], [problem], Effort())
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
    _solve_all(
        source.array, spans[:, 0].copy(), bounds, first, diagonal, target, lower, upper, beta, F,
        numbers, effort.tol, effort.steps,
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


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_all(
    K, columns, bounds, first, diagonal, target, lower, upper, beta, F, numbers, tol, limit
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
            burst = min(limit, max(STEPS_PER_VARIABLE * len(x), MIN_STEPS))
            row[6], left, trouble, _, _ = optimize_pairs(
                K, segments, own, group, diagonal[a:b], f, x, l, u, 0.9 * tol, burst
            )
            row[8] = _violation(x, f, l, u)
            if trouble != DONE or left > 0.9 * tol:
                continue
            _slopes(K, segments, own, t, x, f)
        if _violation(x, f, l, u) <= tol:
            _snap(x, l, u)
            _certify(t, x, f, l, u, row)
            row[3] = _violation(x, f, l, u)
            row[0] = 1.0 if row[3] <= tol else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _snap(beta, lower, upper):
    """Put at its bound what is within rounding of it, as `snap_to_bounds` does."""
    largest = 0.0
    for k in range(len(beta)):
        largest = max(largest, abs(beta[k]))
    for k in range(len(beta)):
        little = ROUNDING * min(upper[k] - lower[k], largest)
        if beta[k] - lower[k] <= little:
            beta[k] = lower[k]
        elif upper[k] - beta[k] <= little:
            beta[k] = upper[k]


@njit(cache=True, nogil=True, fastmath=VECTORIZED, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _violation(beta, F, lower, upper):
    """Return the largest violation of the Kuhn-Tucker conditions, as `violation_of` does."""
    top, bottom = -np.inf, np.inf
    for k in range(len(F)):
        if beta[k] < upper[k]:
            top = max(top, F[k])
        if beta[k] > lower[k]:
            bottom = min(bottom, F[k])
    return max(top - bottom, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
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
