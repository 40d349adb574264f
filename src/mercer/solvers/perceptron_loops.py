"""Sweeps of the fixed-increment rule over single items, compiled by Numba."""

from __future__ import annotations

from numba import njit

__all__ = ["sweep_dense", "sweep_gram", "sweep_sparse"]

# Sums may be taken in another order than written, which is what lets them use vector registers.
LOOSE = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=LOOSE)
def sweep_dense(X, w, bias, z, c, late, order, rate, margin, time):
    updates = 0
    for t in range(len(order)):
        i = order[t]
        score = bias[0]
        for j in range(X.shape[1]):
            score += w[j] * X[i, j]
        if z[i] * score <= margin:
            step = rate * z[i]
            for j in range(X.shape[1]):
                w[j] += step * X[i, j]
            bias[0] += step
            c[i] += step
            late[i] += step * (time + t)
            updates += 1
    return updates


@njit(cache=True, nogil=True)
def sweep_sparse(data, indices, starts, w, bias, z, c, late, order, rate, margin, time):
    updates = 0
    for t in range(len(order)):
        i = order[t]
        score = bias[0]
        for p in range(starts[i], starts[i + 1]):
            score += w[indices[p]] * data[p]
        if z[i] * score <= margin:
            step = rate * z[i]
            for p in range(starts[i], starts[i + 1]):
                w[indices[p]] += step * data[p]
            bias[0] += step
            c[i] += step
            late[i] += step * (time + t)
            updates += 1
    return updates


@njit(cache=True, nogil=True, fastmath=LOOSE)
def sweep_gram(K, values, z, c, late, order, rate, margin, time):
    updates = 0
    for t in range(len(order)):
        i = order[t]
        if z[i] * values[i] <= margin:
            step = rate * z[i]
            for j in range(len(values)):
                values[j] += step * (K[i, j] + 1.0)
            c[i] += step
            late[i] += step * (time + t)
            updates += 1
    return updates
