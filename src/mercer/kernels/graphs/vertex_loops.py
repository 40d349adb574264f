"""Loops over pairs of nodes, compiled by Numba; imported when needed."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["add_agreeing", "add_paths"]


@njit(cache=True, nogil=True)
def add_agreeing(values, left, right, tops, sides, out):
    """Sum for each pair of graphs the values of their pairs of nodes, each as often as the labels
    of the two agree. Once those differ, deeper ones do too."""
    levels = left.shape[1]
    for g in range(len(tops) - 1):
        for h in range(len(sides) - 1):
            total = 0.0
            for v in range(tops[g], tops[g + 1]):
                for w in range(sides[h], sides[h + 1]):
                    level = 0
                    while level < levels and left[v, level] == right[w, level]:
                        level += 1
                    if level:
                        total += level * values[v, w]
            out[g, h] = total


@njit(cache=True, nogil=True)
def add_paths(values, tops, sides, left, right, out):
    """Sum for each pair of graphs k(u, u')·k(v, v') over the pairs of nodes u, v of one and u', v'
    of the other that are equally far apart, as Σ_d ⟨D_d K, K D'_d⟩.

    `left` and `right` are the pairs of each graph by distance: which graphs, where the distances
    of a graph begin, where the pairs of each begin, and the pairs.
    """
    for g in range(len(tops) - 1):
        n = tops[g + 1] - tops[g]
        for h in range(len(sides) - 1):
            m = sides[h + 1] - sides[h]
            K = values[tops[g] : tops[g + 1], sides[h] : sides[h + 1]].copy()
            turned = K.T.copy()
            out[g, h] = _equally_far(K, turned, n, m, g, h, left, right)


@njit(cache=True, nogil=True)
def _equally_far(K, turned, n, m, g, h, left, right):
    rows, distances, begins, here, there = left
    columns, others, starts, near, far = right
    g, h = rows[g], columns[h]
    total = 0.0
    DK, KD = np.empty((n, m)), np.empty((m, n))
    most = min(distances[g + 1] - distances[g], others[h + 1] - others[h]) - 1
    for d in range(most):
        DK[...] = 0.0
        KD[...] = 0.0
        for p in range(begins[distances[g] + d], begins[distances[g] + d + 1]):
            u, v = here[p], there[p]
            for w in range(m):
                DK[u, w] += K[v, w]
        for p in range(starts[others[h] + d], starts[others[h] + d + 1]):
            u, v = near[p], far[p]
            for w in range(n):
                KD[u, w] += turned[v, w]
        for v in range(n):
            for w in range(m):
                total += DK[v, w] * KD[w, v]
    return total
