"""Loops that count subgraphs, compiled by Numba; imported when needed."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["count_all", "count_some", "count_triples"]

DENSE = 2000  # nodes; of larger graphs the matrix is not written out


@njit(cache=True, nogil=True)
def count_triples(starts, neighbors, first, last, drawn, size, types, counts):
    """Count the shapes of three nodes from degrees and triangles, in time of order Σ degree²."""
    for g in range(len(first)):
        n, m, wedges, triangles = float(last[g] - first[g]), 0.0, 0.0, 0.0
        for v in range(first[g], last[g]):
            degree = starts[v + 1] - starts[v]
            m += degree / 2
            wedges += degree * (degree - 1) / 2
            for q in range(starts[v], starts[v + 1]):
                if neighbors[q] > v:
                    triangles += _common(starts, neighbors, v, neighbors[q]) / 3
        triangles = np.rint(triangles)
        paths = wedges - 3 * triangles
        single = m * (n - 2) - 2 * paths - 3 * triangles
        counts[g, types[0b111]] += triangles
        counts[g, types[0b011]] += paths
        counts[g, types[0b001]] += single
        counts[g, types[0]] += n * (n - 1) * (n - 2) / 6 - triangles - paths - single


@njit(cache=True, nogil=True)
def count_all(starts, neighbors, first, last, drawn, size, types, counts):
    """Count the shapes of all subsets of four or five nodes, of graphs that are not drawn."""
    for g in range(len(first)):
        n = last[g] - first[g]
        if drawn[g] or n < size:
            continue
        A = _matrix(starts, neighbors, first[g], n)
        found = np.zeros(len(types), np.int64)
        if size == 4:
            _fours(A, found)
        else:
            _fives(A, found)
        for code in range(len(types)):
            counts[g, types[code]] += found[code]


@njit(cache=True, nogil=True)
def _matrix(starts, neighbors, first, n):
    A = np.zeros((n, n), np.int32)
    for v in range(n):
        for q in range(starts[first + v], starts[first + v + 1]):
            A[v, neighbors[q] - first] = 1
    return A


@njit(cache=True, nogil=True)
def _fours(A, found):
    n = len(A)
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                code = A[a, b] | A[a, c] << 1 | A[b, c] << 3
                for d in range(c + 1, n):
                    found[code | A[a, d] << 2 | A[b, d] << 4 | A[c, d] << 5] += 1


@njit(cache=True, nogil=True)
def _fives(A, found):
    n = len(A)
    rows = np.empty(n, np.int32)  # the edges of a, b and c to each further node
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                three = A[a, b] | A[a, c] << 1 | A[b, c] << 4
                for e in range(c + 1, n):
                    rows[e] = A[a, e] << 3 | A[b, e] << 6 | A[c, e] << 8
                for d in range(c + 1, n):
                    four = three | A[a, d] << 2 | A[b, d] << 5 | A[c, d] << 7
                    for e in range(d + 1, n):
                        found[four | rows[e] | A[d, e] << 9] += 1


@njit(cache=True, nogil=True)
def count_some(starts, neighbors, first, n, subsets, types, counts):
    """Count the shapes of given subsets of the nodes of one graph."""
    dense = n <= DENSE
    A = _matrix(starts, neighbors, first, n if dense else 0)
    for s in range(len(subsets)):
        code, bit = 0, 0
        for i in range(subsets.shape[1]):
            u = subsets[s, i]
            for j in range(i + 1, subsets.shape[1]):
                v = subsets[s, j]
                if A[u, v] if dense else _joined(starts, neighbors, first + u, first + v):
                    code |= 1 << bit
                bit += 1
        counts[types[code]] += 1.0


@njit(cache=True, nogil=True)
def _joined(starts, neighbors, u, v):
    """Tell whether v is among the neighbors of u, which are sorted."""
    low, high = starts[u], starts[u + 1]
    while low < high:
        middle = (low + high) // 2
        if neighbors[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < starts[u + 1] and neighbors[low] == v


@njit(cache=True, nogil=True)
def _common(starts, neighbors, u, v):
    """Return how many neighbors two nodes have in common."""
    i, j, found = starts[u], starts[v], 0
    while i < starts[u + 1] and j < starts[v + 1]:
        if neighbors[i] == neighbors[j]:
            found, i, j = found + 1, i + 1, j + 1
        elif neighbors[i] < neighbors[j]:
            i += 1
        else:
            j += 1
    return found
