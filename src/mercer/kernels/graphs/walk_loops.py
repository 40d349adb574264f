"""Loops of the random-walk kernel, compiled by Numba; imported when needed."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["from_spectra", "walks"]

SMALL = 1e-20  # squared residual for each pair of nodes, at which the sum has all its digits
STEPS = 1000  # of conjugate gradients; a system that needs more is as large as it takes steps


@njit(cache=True, nogil=True)
def from_spectra(left, right, decay, steps, symmetric, K):
    """Write Σ sᵢtⱼ/(1 − decay·aᵢbⱼ), or the sum up to `steps` if those are not negative."""
    a, s, first, last = left
    b, t, begin, end = right
    for g in range(K.shape[0]):
        for h in range(g if symmetric else 0, K.shape[1]):
            total = 0.0
            for i in range(first[g], last[g]):
                for j in range(begin[h], end[h]):
                    q = decay * a[i] * b[j]
                    if steps < 0:
                        total += s[i] * t[j] / (1.0 - q)
                        continue
                    value = 1.0
                    for _ in range(steps):
                        value = 1.0 + q * value
                    total += s[i] * t[j] * value
            K[g, h] = total
            if symmetric:
                K[h, g] = total


@njit(cache=True, nogil=True)
def walks(left, right, decay, steps, symmetric, K):
    """Write the number of common walks, each step counted `decay` times as much, of all pairs."""
    first, last, begin, end = left[4], left[5], right[4], right[5]
    most = 1
    for g in range(K.shape[0]):
        for h in range(K.shape[1]):
            most = max(most, (last[g] - first[g]) * (end[h] - begin[h]))
    place, pairs = np.empty(most, np.int64), np.empty((most, 2), np.int64)
    starts, near = np.empty(most + 1, np.int64), np.empty(1024, np.int32)
    r, p, q = np.empty(most), np.empty(most), np.empty(most)
    for g in range(K.shape[0]):
        for h in range(g if symmetric else 0, K.shape[1]):
            n = _match(left, right, g, h, place, pairs)
            near = _join(left, right, g, h, place, pairs, n, starts, near)
            if steps < 0:
                K[g, h] = _solve(starts, near, n, decay, r, p, q)
            else:
                K[g, h] = _sum(starts, near, n, decay, steps, p, q)
            if symmetric:
                K[h, g] = K[g, h]


@njit(cache=True, nogil=True)
def _match(left, right, g, h, place, pairs):
    """Number the pairs of nodes with equal labels; return how many there are."""
    codes, others = left[2], right[2]
    first, begin = left[4][g], right[4][h]
    width, n = right[5][h] - begin, 0
    for v in range(left[5][g] - first):
        for w in range(width):
            if codes[first + v] == others[begin + w]:
                place[v * width + w] = n
                pairs[n, 0], pairs[n, 1] = v, w
                n += 1
            else:
                place[v * width + w] = -1
    return n


@njit(cache=True, nogil=True)
def _join(left, right, g, h, place, pairs, n, starts, near):
    """List which pairs a step leads to from each pair; return the lists, perhaps made longer."""
    edges, labels = left[3], right[3]
    first, begin = left[4][g], right[4][h]
    width, count = right[5][h] - begin, 0
    for i in range(n):
        starts[i] = count
        v, w = first + pairs[i, 0], begin + pairs[i, 1]
        here, there = left[0][v], right[0][w]
        degree, other = left[0][v + 1] - here, right[0][w + 1] - there
        if count + degree * other > len(near):
            longer = np.empty(2 * (count + degree * other), np.int32)
            longer[:count] = near[:count]
            near = longer
        for a in range(here, here + degree):
            row = (left[1][a] - first) * width - begin
            for b in range(there, there + other):
                j = place[row + right[1][b]]
                if j >= 0 and edges[a] == labels[b]:
                    near[count] = j
                    count += 1
    starts[n] = count
    return near


@njit(cache=True, nogil=True)
def _step(starts, near, n, x, out):
    """Multiply by the adjacency matrix of the pairs."""
    for i in range(n):
        total = 0.0
        for a in range(starts[i], starts[i + 1]):
            total += x[near[a]]
        out[i] = total


@njit(cache=True, nogil=True)
def _sum(starts, near, n, decay, steps, x, q):
    """Return 1ᵀx after so many times x ← 1 + decay·Wx."""
    x[:n] = 1.0
    for _ in range(steps):
        _step(starts, near, n, x, q)
        for i in range(n):
            x[i] = 1.0 + decay * q[i]
    return np.sum(x[:n])


@njit(cache=True, nogil=True)
def _solve(starts, near, n, decay, r, p, q):
    """Return 1ᵀx for (I − decay·W)x = 1, by conjugate gradients from x = 0.

    Each step of length s adds s·|r|² to 1ᵀx, and what is missing is the squared error of x, so
    that the sum has twice as many digits (Golub & Meurant, 2010). All that is added is positive.
    """
    r[:n] = 1.0
    p[:n] = 1.0
    total, square = 0.0, float(n)
    for _ in range(max(STEPS, 2 * n)):
        if square <= SMALL * n:
            break
        _step(starts, near, n, p, q)
        slope = 0.0
        for i in range(n):
            q[i] = p[i] - decay * q[i]
            slope += p[i] * q[i]
        step, after = square / slope, 0.0
        total += step * square
        for i in range(n):
            r[i] -= step * q[i]
            after += r[i] * r[i]
        for i in range(n):
            p[i] = r[i] + after / square * p[i]
        square = after
    return total
