"""Loops over shortest paths, compiled by Numba; imported when needed."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["by_distance", "count_paths", "list_paths"]


@njit(cache=True, nogil=True)
def _reach(starts, neighbors, first, source, distance, queue):
    """Search a graph from a node; return how many nodes are in the queue, nearest first."""
    queue[0] = source
    distance[source - first] = 0
    count, p = 1, 0
    while p < count:
        v = queue[p]
        p += 1
        for q in range(starts[v], starts[v + 1]):
            w = neighbors[q]
            if distance[w - first] < 0:
                distance[w - first] = distance[v - first] + 1
                queue[count] = w
                count += 1
    return count


@njit(cache=True, nogil=True)
def list_paths(starts, neighbors, first, last):
    """Return all pairs of nodes u < v with a path: graph, u, v (in the graph) and distance."""
    largest = 0
    for g in range(len(first)):
        largest = max(largest, last[g] - first[g])
    distance, queue = np.empty(largest, np.int64), np.empty(largest, np.int64)
    found, p = np.empty((1024, 4), np.int64), 0
    for g in range(len(first)):
        n = last[g] - first[g]
        for u in range(n):
            distance[:n] = -1
            count = _reach(starts, neighbors, first[g], first[g] + u, distance, queue)
            if p + count > len(found):
                longer = np.empty((2 * len(found) + count, 4), np.int64)
                longer[:p] = found[:p]
                found = longer
            for q in range(1, count):
                v = queue[q] - first[g]
                if v > u:
                    found[p, 0], found[p, 1], found[p, 2], found[p, 3] = g, u, v, distance[v]
                    p += 1
    return found[:p].copy()


@njit(cache=True, nogil=True)
def count_paths(starts, neighbors, codes, first, last):
    """Count the pairs of nodes u < v of each graph by their codes and distance.

    Returns the rows of a sparse matrix (row starts, columns, counts), and for each column the
    smaller code, the larger one and the distance.
    """
    largest = 0
    for g in range(len(first)):
        largest = max(largest, last[g] - first[g])
    distance, queue = np.empty(largest, np.int64), np.empty(largest, np.int64)
    keys, table = np.empty((512, 3), np.int64), np.full(1024, -1, np.int64)
    seen, place = np.full(512, -1, np.int64), np.empty(512, np.int64)
    indptr = np.zeros(len(first) + 1, np.int64)
    indices, counts = np.empty(1024, np.int32), np.empty(1024, np.float64)
    known, p = 0, 0
    for g in range(len(first)):
        n = last[g] - first[g]
        for u in range(n):
            distance[:n] = -1
            reached = _reach(starts, neighbors, first[g], first[g] + u, distance, queue)
            if known + reached > len(keys):
                size = 2 * (known + reached)
                keys, seen = _longer_rows(keys, size), _longer(seen, size, -1)
                place, table = _longer(place, size, 0), _rehashed(keys, known, size)
            if p + reached > len(indices):
                size = 2 * (p + reached)
                indices, counts = _longer(indices, size, 0), _longer(counts, size, 0)
            for q in range(1, reached):
                v = queue[q] - first[g]
                if v < u:
                    continue
                one, two = codes[first[g] + u], codes[queue[q]]
                low, high = min(one, two), max(one, two)
                slot = _slot(table, keys, low, high, distance[v])
                column = table[slot]
                if column < 0:
                    table[slot] = column = known
                    keys[known, 0], keys[known, 1], keys[known, 2] = low, high, distance[v]
                    known += 1
                if seen[column] != g:
                    seen[column], place[column] = g, p
                    indices[p], counts[p] = column, 0.0
                    p += 1
                counts[place[column]] += 1.0
        indptr[g + 1] = p
    return indptr, indices[:p].copy(), counts[:p].copy(), keys[:known].copy()


@njit(cache=True, nogil=True)
def by_distance(starts, neighbors, first, last):
    """Return all ordered pairs of different nodes of each graph by distance.

    ``begins[distances[g] + d]`` is where the pairs at distance d + 1 of graph g begin; each graph
    ends with where its last pairs end.
    """
    largest, size = 0, 0
    for g in range(len(first)):
        n = last[g] - first[g]
        largest, size = max(largest, n), size + n * n
    distance, queue = np.empty(largest, np.int64), np.empty(largest, np.int64)
    near, far = np.empty(size, np.int32), np.empty(size, np.int32)
    apart = np.empty(size, np.int32)
    distances = np.zeros(len(first) + 1, np.int64)
    begins = np.empty(size + len(first), np.int64)
    p, filled = 0, 0
    for g in range(len(first)):
        n, begin, most = last[g] - first[g], p, 0
        for u in range(n):
            distance[:n] = -1
            count = _reach(starts, neighbors, first[g], first[g] + u, distance, queue)
            for q in range(1, count):
                v = queue[q] - first[g]
                near[p], far[p], apart[p] = u, v, distance[v]
                most = max(most, distance[v])
                p += 1
        order = np.argsort(apart[begin:p], kind="mergesort")
        near[begin:p], far[begin:p] = near[begin:p][order], far[begin:p][order]
        apart[begin:p] = apart[begin:p][order]
        q = begin
        for d in range(most):
            begins[filled + d] = q
            while q < p and apart[q] == d + 1:
                q += 1
        begins[filled + most] = p
        filled += most + 1
        distances[g + 1] = filled
    return distances, begins[:filled].copy(), near[:p].copy(), far[:p].copy()


@njit(cache=True, nogil=True)
def _slot(table, keys, low, high, apart):
    """Return where a key is in the table, or where it belongs."""
    found = np.uint64(low) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(high)
    found = (found ^ (found >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ np.uint64(apart)) * np.uint64(0x94D049BB133111EB)
    mask = np.int64(len(table) - 1)
    slot = np.int64(found >> np.uint64(20)) & mask
    while table[slot] >= 0:
        k = table[slot]
        if keys[k, 0] == low and keys[k, 1] == high and keys[k, 2] == apart:
            break
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _rehashed(keys, known, size):
    room = 1024
    while room < 2 * size:
        room *= 2
    table = np.full(room, -1, np.int64)
    for k in range(known):
        table[_slot(table, keys, keys[k, 0], keys[k, 1], keys[k, 2])] = k
    return table


@njit(cache=True, nogil=True)
def _longer(values, size, fill):
    found = np.full(size, fill, values.dtype)
    found[: len(values)] = values
    return found


@njit(cache=True, nogil=True)
def _longer_rows(keys, size):
    found = np.empty((size, 3), np.int64)
    found[: len(keys)] = keys
    return found
