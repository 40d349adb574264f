"""Sequential minimal optimization: two variables at a time (Platt 1998; Fan, Chen & Lin 2005).

Minimizes ½βᵀKβ − tᵀβ with lower ≤ β ≤ upper and a fixed sum of β within each group. F = t − Kβ is
how much every variable would like to grow. Of a group, variable i is the one that may grow and
wants to most; j is the one that may shrink and promises the largest decrease of the objective,
(Fᵢ − Fⱼ)²/(Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ). Moving both by the same amount keeps the sum.

The variables lie in segments, each of which is a range of columns of K. Two classes of many are
two segments of one large Gram matrix; regression has every item twice. The loops are compiled by
Numba, which takes long to load, so this module is imported only when a machine is fitted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mercer.solvers.quadratic import DONE, INVALID, UNBOUNDED

__all__ = ["optimize_pairs"]

# The best of many is found lane by lane, as vector instructions do it, and then among the lanes.
LANES = 64
CANNOT_MOVE = 1e300  # added to F of a variable at its bound; infinities would be slow
VECTORIZED = {"nnan", "nsz", "reassoc", "contract"}  # what vector instructions need of fastmath
# The curvature Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ is a squared distance. Below these shares of Kᵢᵢ + Kⱼⱼ it is
# rounding, and a negative number that rounding cannot explain.
MIN_CURVATURE = 1e-12
MAX_NEGATIVE_CURVATURE = 1e-5
TINY = 1e-30


@njit(cache=True, nogil=True, fastmath=VECTORIZED, error_model="numpy")
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


@njit(cache=True, nogil=True, fastmath=VECTORIZED, error_model="numpy")
def _second_variable(top, height, row, diagonal, F, low, gains):
    """Return the largest decrease of the objective in a segment, and whose it is.

    Decreases are compared in single precision: they only say where to go.
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
            d = np.float32(min(max(top - f[k] - v[k], 0.0), 1e15))
            lengths = height + h[k]
            curvature = np.float32(max(lengths - 2.0 * a[k], MIN_CURVATURE * lengths + TINY))
            gains[k] = max(gains[k], d * d / curvature)
    gain, lane = np.float32(-1.0), 0
    for k in range(LANES):
        if gains[k] > gain:
            gain, lane = gains[k], k
    best, where = np.float32(-1.0), lane
    for k in range(lane, n, LANES):
        d = np.float32(min(max(top - F[k] - low[k], 0.0), 1e15))
        lengths = height + diagonal[k]
        gained = d * d / np.float32(max(lengths - 2.0 * row[k], MIN_CURVATURE * lengths + TINY))
        if gained > best:
            best, where = gained, k
    return best, where


@njit(cache=True, nogil=True, error_model="numpy")
def _mark_movable(k, beta, lower, upper, up, low):
    """Remember whether a variable may grow or shrink."""
    up[k] = 0.0 if beta[k] < upper[k] else -CANNOT_MOVE
    low[k] = 0.0 if beta[k] > lower[k] else CANNOT_MOVE


@njit(cache=True, nogil=True, error_model="numpy")
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
        # Whose shrinking decreases the objective most?
        gain, j, away = np.float32(-1.0), 0, 0
        for s in range(segments):
            if group[s] == g:
                a, b = bounds[s], bounds[s + 1]
                part = row[columns[s] : columns[s] + b - a]
                gained, k = _second_variable(
                    F[i], diagonal[i], part, diagonal[a:b], F[a:b], low[a:b], gains
                )
                if gained > gain:
                    gain, j, away = gained, a + k, s
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
