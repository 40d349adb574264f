"""The loops of global alignment, compiled by Numba, so imported only when they are needed.

The sum over all alignments of a prefix of one series with a prefix of another is far outside the
range of floating-point numbers, on either side. So a sum is kept as two numbers, m·2^(512e) with
2^−256 ≤ m < 2^256. Neighboring sums nearly always have the same exponent e, and then a step of
the recursion is plain arithmetic, faster and with less rounding than logarithms would be.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["logarithms", "own_logarithms"]

HIGH, LOW = 2.0**256, 2.0**-256
UP, DOWN = 2.0**512, 2.0**-512
LOG_UP = 512 * math.log(2.0)
NOTHING = -(2**60)  # the exponent of zero, below all others
ORDINARY = 170.0  # exp(−170) is still above 2^−256
FARTHEST = 1e18  # beyond it a similarity is zero, so that exponents cannot overflow


@njit(cache=True, nogil=True)
def logarithms(X, x_starts, Z, z_starts, inverse, weights, divisible, symmetric, out):
    """Write ln k of all pairs into `out`, or only those on and above the diagonal.

    Parameters
    ----------
    X, Z : array of shape (steps, channels)
        All series of each side, one after the other.
    x_starts, z_starts : array of int
        Where each of them begins, and where the last one ends.
    inverse : float
        1/(√2·σ).
    weights : array
        The weight of two steps at a distance of 0, 1, … in time, zero beyond; none: always 1.
    divisible : bool
        Whether the local similarity is g/(2 − g) instead of g.
    """
    longest = 0
    for j in range(len(z_starts) - 1):
        longest = max(longest, z_starts[j + 1] - z_starts[j])
    room = _room(longest)
    for i in range(len(x_starts) - 1):
        x = X[x_starts[i] : x_starts[i + 1]]
        for j in range(i if symmetric else 0, len(z_starts) - 1):
            z = Z[z_starts[j] : z_starts[j + 1]]
            out[i, j] = _aligned(x, z, inverse, weights, divisible, room)
            if symmetric:
                out[j, i] = out[i, j]


@njit(cache=True, nogil=True)
def own_logarithms(X, starts, inverse, weights, divisible, out):
    """Write ln k(x, x) of each series into `out`."""
    for i in range(len(starts) - 1):
        x = X[starts[i] : starts[i + 1]]
        out[i] = _aligned(x, x, inverse, weights, divisible, _room(len(x)))


@njit(cache=True, nogil=True)
def _room(longest):
    """Return memory for three rows of numbers with exponents."""
    return np.empty((3, longest + 2)), np.empty((3, longest + 2), np.int64)


@njit(cache=True, nogil=True)
def _aligned(x, z, inverse, weights, divisible, room):
    """Return the logarithm of the sum over all alignments of two series, row by row."""
    n, m, band = len(x), len(z), len(weights)
    if band and abs(n - m) >= band:
        return -np.inf
    above, row, local = room[0][0], room[0][1], room[0][2]
    above_e, row_e, local_e = room[1][0], room[1][1], room[1][2]
    above[: m + 2], above_e[: m + 2] = 0.0, NOTHING
    row[: m + 2], row_e[: m + 2] = 0.0, NOTHING
    above[0], above_e[0] = 1.0, 0
    for i in range(n):
        first, last = 0, m
        if band:
            first, last = max(i - band + 1, 0), min(i + band, m)
        _similarities(x[i], z, i, first, last, inverse, weights, divisible, local, local_e)
        row[first], row_e[first] = 0.0, NOTHING  # what is left of the band
        _extend(above, above_e, row, row_e, local, local_e, first, last)
        row[last + 1], row_e[last + 1] = 0.0, NOTHING  # and what is right of it
        above, row, above_e, row_e = row, above, row_e, above_e
    if above[m] == 0.0:
        return -np.inf
    return math.log(above[m]) + LOG_UP * above_e[m]


@njit(cache=True, nogil=True)
def _similarities(step, z, i, first, last, inverse, weights, divisible, local, local_e):
    """Write the local similarities of step i of x to some steps of z."""
    for j in range(first, last):
        total = 0.0
        for c in range(len(step)):
            difference = (step[c] - z[j, c]) * inverse
            total += difference * difference
        local[j] = total
    for j in range(first, last):
        distance, local_e[j] = local[j], 0
        if distance <= ORDINARY:
            local[j] = math.exp(-distance)
        elif distance < FARTHEST:
            local_e[j] = -round(distance / LOG_UP)
            local[j] = math.exp(-local_e[j] * LOG_UP - distance)
        else:
            local[j] = 0.0
    if len(weights):
        for j in range(first, last):
            local[j] *= weights[abs(i - j)]
    if divisible:
        for j in range(first, last):
            local[j] /= 2.0 - local[j] if local_e[j] == 0 else 2.0


@njit(cache=True, nogil=True)
def _extend(above, above_e, row, row_e, local, local_e, first, last):
    """Extend all alignments to one more step of x; entry j + 1 of a row belongs to step j of z."""
    a, a_e, c, c_e = above[first], above_e[first], row[first], row_e[first]
    for j in range(first, last):
        b, b_e, e = above[j + 1], above_e[j + 1], a_e
        if b_e == e and c_e == e:
            total = a + b + c
        else:
            e = max(a_e, b_e, c_e)
            total = _lowered(a, a_e, e) + _lowered(b, b_e, e) + _lowered(c, c_e, e)
        total *= local[j]
        e += local_e[j]
        if total >= HIGH:
            total, e = total * DOWN, e + 1
        elif total < LOW:
            if total == 0.0:
                e = NOTHING
            else:
                total, e = total * UP, e - 1
        row[j + 1], row_e[j + 1] = total, e
        a, a_e, c, c_e = b, b_e, total, e


@njit(cache=True, nogil=True)
def _lowered(m, e, highest):
    """Return m·2^(512e) in units of 2^(512·highest), where what is two lower is lost anyway."""
    if e == highest:
        return m
    return m * DOWN if e == highest - 1 else 0.0
