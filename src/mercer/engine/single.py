"""Loops in single precision: distances, exponentials, and sums that lose no digits.

Where there are few dimensions, distances from the differences themselves take no longer than a
matrix product, and lose no digits. NumPy's exponential takes twice as long as this one. BLAS would
add up in single precision, and lose as many digits as a sum is smaller than its terms.
"""

from __future__ import annotations

import numpy as np

from mercer.compiled import compiled

__all__ = ["absolute", "add_rows", "add_up", "exponential", "squared"]

REORDERED = {"nnan", "nsz", "reassoc", "contract"}  # sums may be taken in any order
LOWEST = np.float32(-87.0)  # below it, e^x is zero here; it would be less than 2e-38
HIGHEST = np.float32(89.0)  # e^x is infinite from 88.38 on; it would be more than 2e38
PER_LOG = np.float32(1.44269504088896)  # 1/log 2
# log 2 in two parts, the first of which has so few digits that its multiples are exact.
LOG, LOG_REST = np.float32(0.693359375), np.float32(-2.12194440054e-4)
ONE, HALF = np.float32(1.0), np.float32(0.5)
# (e^r − 1 − r)/r² for |r| ≤ log(2)/2: least squares at Chebyshev's nodes, to 1e-10 of e^r.
C0, C1, C2 = np.float32(0.5000000044), np.float32(0.1666666675), np.float32(0.0416663599)
C3, C4, C5 = np.float32(0.0083332889), np.float32(0.0013940698), np.float32(0.0001990499)
BIAS, MANTISSA = np.int32(127), np.int32(23)  # of a number's exponent, and where that begins


@compiled(fastmath=REORDERED)
def squared(X, Z, out):
    """Write Σₖ (X[i, k] − Z[k, j])² to out[i, j], two rows and four dimensions at a time."""
    count, width = X.shape
    spare = np.empty(Z.shape[1], out.dtype)
    out[...] = 0.0
    for i in range(0, count, 2):
        last = i + 1 == count
        x, y = X[i], X[i if last else i + 1]
        first, second = out[i], spare if last else out[i + 1]
        k = 0
        while k + 4 <= width:
            z0, z1, z2, z3 = Z[k], Z[k + 1], Z[k + 2], Z[k + 3]
            x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
            y0, y1, y2, y3 = y[k], y[k + 1], y[k + 2], y[k + 3]
            for j in range(len(first)):
                a, b, c, d = z0[j] - x0, z1[j] - x1, z2[j] - x2, z3[j] - x3
                first[j] += (a * a + b * b) + (c * c + d * d)
                a, b, c, d = z0[j] - y0, z1[j] - y1, z2[j] - y2, z3[j] - y3
                second[j] += (a * a + b * b) + (c * c + d * d)
            k += 4
        while k < width:
            z0, x0, y0 = Z[k], x[k], y[k]
            for j in range(len(first)):
                a, b = z0[j] - x0, z0[j] - y0
                first[j] += a * a
                second[j] += b * b
            k += 1
    return out


@compiled(fastmath=REORDERED)
def absolute(X, Z, out):
    """Write Σₖ |X[i, k] − Z[k, j]| to out[i, j], four dimensions at a time."""
    width = X.shape[1]
    out[...] = 0.0
    for i in range(len(X)):
        x, found = X[i], out[i]
        k = 0
        while k + 4 <= width:
            z0, z1, z2, z3 = Z[k], Z[k + 1], Z[k + 2], Z[k + 3]
            x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
            for j in range(len(found)):
                a, b, c, d = z0[j] - x0, z1[j] - x1, z2[j] - x2, z3[j] - x3
                found[j] += (abs(a) + abs(b)) + (abs(c) + abs(d))
            k += 4
        while k < width:
            z0, x0 = Z[k], x[k]
            for j in range(len(found)):
                found[j] += abs(z0[j] - x0)
            k += 1
    return out


@compiled(fastmath={"contract"})
def exponential(values, factor, out):
    """Write exp(factor · values) to `out`, to the last digit but one.

    With factor · value = n log 2 + r it is 2ⁿ e^r, and 2ⁿ is a number whose bits are n's.
    """
    bits = np.empty(values.shape[1], np.int32)
    powers = bits.view(np.float32)
    for i in range(len(values)):
        row, found = values[i], out[i]
        for j in range(len(row)):
            x = row[j] * factor
            low = x < LOWEST
            x = LOWEST if low else HIGHEST if x > HIGHEST else x
            n = np.floor(x * PER_LOG + HALF)
            r = (x - n * LOG) - n * LOG_REST
            series = C0 + r * (C1 + r * (C2 + r * (C3 + r * (C4 + r * C5))))
            found[j] = np.float32(0.0) if low else ONE + (r + r * r * series)
            bits[j] = (np.int32(n) + BIAS) << MANTISSA
        for j in range(len(row)):
            found[j] *= powers[j]
    return out


@compiled(fastmath=REORDERED)
def add_up(tile, coefficients, out):
    """Add tile @ coefficients to `out`.

    Examples
    --------
    >>> out = np.zeros(1)
    >>> add_up(np.ones((1, 2), np.float32), np.array([1.0, 2.0]), out)
    >>> out
    array([3.])
    """
    for i in range(tile.shape[0]):
        row, total = tile[i], 0.0
        for k in range(len(row)):
            total += row[k] * coefficients[k]
        out[i] += total


@compiled(fastmath=REORDERED)
def add_rows(array, rows, coefficients, first, last, out):
    """Add Σ coefficients·rows of an array to `out`, only its columns from `first` to `last`.

    Examples
    --------
    >>> out = np.zeros(1)
    >>> add_rows(np.eye(2, dtype=np.float32), np.array([0, 1]), np.array([2.0, 3.0]), 1, 2, out)
    >>> out
    array([3.])
    """
    for r in range(len(rows)):
        row, c = array[rows[r]][first:last], coefficients[r]
        for k in range(last - first):
            out[k] += c * row[k]
