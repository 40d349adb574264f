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

__all__ = ["descend"]

# The best of many is found lane by lane, as vector instructions do it, and then among the lanes.
LANES = 64
NEVER = 1e300  # added to F of a variable that cannot move; infinities would be slow
FAST = {"nnan", "nsz", "reassoc", "contract"}
# A squared distance below this share of the squared lengths is rounding.
FLAT = 1e-12
TINY = 1e-30
# ... and this far below zero it is no rounding: the kernel is not valid.
NEGATIVE = 1e-5


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _sweep(F, up, low, step, row, other, high, deep):
    """Let F of a segment follow a step; return its highest that may grow, where, and its lowest.

    `row` and `other` are the segment's parts of the rows of the variables that moved.
    """
    n = len(F)
    high[:], deep[:] = -NEVER, NEVER
    for c in range(0, n, LANES):
        f, u, v = F[c : c + LANES], up[c : c + LANES], low[c : c + LANES]
        a, b = row[c : c + LANES], other[c : c + LANES]
        for k in range(len(f)):
            f[k] -= step * (a[k] - b[k])
            high[k] = max(high[k], f[k] + u[k])
            deep[k] = min(deep[k], f[k] + v[k])
    top, bottom, lane = -NEVER, NEVER, 0
    for k in range(LANES):
        bottom = min(bottom, deep[k])
        if high[k] > top:
            top, lane = high[k], k
    for k in range(lane, n, LANES):
        if F[k] + up[k] == top:
            return top, k, bottom
    return top, 0, bottom


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _partner(top, height, row, diagonal, F, low, gains):
    """Return the largest promise of a segment, and whose it is.

    Promises are compared in single precision: they only say where to go.
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
            heights = height + h[k]
            curvature = np.float32(max(heights - 2.0 * a[k], FLAT * heights + TINY))
            gains[k] = max(gains[k], d * d / curvature)
    gain, lane = np.float32(-1.0), 0
    for k in range(LANES):
        if gains[k] > gain:
            gain, lane = gains[k], k
    best, where = np.float32(-1.0), lane
    for k in range(lane, n, LANES):
        d = np.float32(min(max(top - F[k] - low[k], 0.0), 1e15))
        heights = height + diagonal[k]
        promise = d * d / np.float32(max(heights - 2.0 * row[k], FLAT * heights + TINY))
        if promise > best:
            best, where = promise, k
    return best, where


@njit(cache=True, nogil=True, error_model="numpy")
def _fence(k, beta, lower, upper, up, low):
    """Remember whether a variable may grow or shrink."""
    up[k] = 0.0 if beta[k] < upper[k] else -NEVER
    low[k] = 0.0 if beta[k] > lower[k] else NEVER


@njit(cache=True, nogil=True, error_model="numpy")
def descend(K, columns, bounds, group, diagonal, F, beta, lower, upper, tol, limit):
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
        Status 0: done or out of steps; 1: the kernel is not valid on the items of variables i and
        j; 2: nothing bounds the objective along i and j.
    """
    segments, variables = len(group), len(F)
    up, low = np.empty(variables), np.empty(variables)
    for k in range(variables):
        _fence(k, beta, lower, upper, up, low)
    high, deep = np.empty(LANES), np.empty(LANES)
    gains = np.empty(LANES, dtype=np.float32)
    steps, step, row, other = 0, 0.0, K[0], K[0]
    while True:
        # The slopes follow the last step. Which group is furthest from its optimum, and who of it
        # wants to grow most?
        violation, g, i, home = -NEVER, 0, 0, 0
        for candidate in range(2):
            top, bottom, best, where = -NEVER, NEVER, 0, 0
            for s in range(segments):
                if group[s] == candidate:
                    a, b = bounds[s], bounds[s + 1]
                    c, e = columns[s], columns[s] + b - a
                    t, k, d = _sweep(
                        F[a:b], up[a:b], low[a:b], step, row[c:e], other[c:e], high, deep
                    )
                    bottom = min(bottom, d)
                    if t > top:
                        top, best, where = t, a + k, s
            if top - bottom > violation:
                violation, g, i, home = top - bottom, candidate, best, where
        if violation <= tol or steps >= limit:
            return steps, max(violation, 0.0), 0, 0, 0
        row = K[columns[home] + i - bounds[home]]
        # Whose shrinking promises most?
        gain, j, away = np.float32(-1.0), 0, 0
        for s in range(segments):
            if group[s] == g:
                a, b = bounds[s], bounds[s + 1]
                part = row[columns[s] : columns[s] + b - a]
                promise, k = _partner(
                    F[i], diagonal[i], part, diagonal[a:b], F[a:b], low[a:b], gains
                )
                if promise > gain:
                    gain, j, away = promise, a + k, s
        heights = diagonal[i] + diagonal[j]
        curvature = heights - 2.0 * row[columns[away] + j - bounds[away]]
        if curvature < -NEGATIVE * heights:
            return steps, violation, 1, i, j
        step = (F[i] - F[j]) / max(curvature, FLAT * heights + TINY)
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
        if not step < NEVER:
            return steps, violation, 2, i, j
        _fence(i, beta, lower, upper, up, low)
        _fence(j, beta, lower, upper, up, low)
        other = K[columns[away] + j - bounds[away]]
        steps += 1
