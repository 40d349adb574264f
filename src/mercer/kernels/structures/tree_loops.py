"""The loops of tree kernels, compiled by Numba, so imported only when they are needed.

Nodes contribute only in pairs with the same production. They are found by walking through the
productions of both trees in sorted order (Moschitti, 2006), so that the many pairs of nodes that
have nothing in common are never looked at. Only the values of equal pairs are kept.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["common", "own", "rooted"]


@njit(cache=True, nogil=True)
def common(left, right, decay, symmetric, limit, out):
    """Write the decayed numbers of common fragments of all pairs of trees into `out`.

    Parameters
    ----------
    left, right : tuple of arrays of int
        starts, productions, order, child_starts, children: see `Productions`.
    decay : float
    symmetric : bool
        Whether both are the same trees.
    limit : int
        How many values may be kept for one pair.

    Returns
    -------
    int
        0, or how many values the first pair needs that needs more than `limit`.
    """
    room = _room(left[0], right[0])
    table, nodes = np.empty(1024), np.empty(room[0].shape[1])
    for i in range(len(left[0]) - 1):
        for j in range(i if symmetric else 0, len(right[0]) - 1):
            size = _match(left, i, right, j, room)
            if size > limit:
                return size
            if size > len(table):
                table = np.empty(size)
            out[i, j] = _total(left, i, right, j, decay, room, table, nodes)
            if symmetric:
                out[j, i] = out[i, j]
    return 0


@njit(cache=True, nogil=True)
def own(trees, decay, limit, out):
    """Write the decayed number of fragments that each tree shares with itself into `out`."""
    room = _room(trees[0], trees[0])
    table, nodes = np.empty(1024), np.empty(room[0].shape[1])
    for i in range(len(trees[0]) - 1):
        size = _match(trees, i, trees, i, room)
        if size > limit:
            return size
        if size > len(table):
            table = np.empty(size)
        out[i] = _total(trees, i, trees, i, decay, room, table, nodes)
    return 0


@njit(cache=True, nogil=True)
def rooted(left, right, decay, weights, limit, out):
    """Write Σⱼ weightsᵢⱼ times the fragments that begin at each node of tree i into `out`."""
    room = _room(left[0], right[0])
    table, nodes = np.empty(1024), np.empty(room[0].shape[1])
    out[:] = 0.0
    for i in range(len(left[0]) - 1):
        for j in range(len(right[0]) - 1):
            size = _match(left, i, right, j, room)
            if size > limit:
                return size
            if size > len(table):
                table = np.empty(size)
            _total(left, i, right, j, decay, room, table, nodes)
            first, last = left[0][i], left[0][i + 1]
            out[first:last] += weights[i, j] * nodes[: last - first]
    return 0


@njit(cache=True, nogil=True)
def _room(left_starts, right_starts):
    """Return memory for what is known about the nodes of one pair of trees."""
    n = m = 0
    for i in range(len(left_starts) - 1):
        n = max(n, left_starts[i + 1] - left_starts[i])
    for j in range(len(right_starts) - 1):
        m = max(m, right_starts[j + 1] - right_starts[j])
    return np.empty((3, n), np.int64), np.empty(m, np.int64)


@njit(cache=True, nogil=True)
def _match(left, i, right, j, room):
    """Find the nodes with equal productions; return the number of such pairs.

    Of each node of the left tree it notes how many partners it has, where they begin in the
    order of the right tree, and where their values will be; of each node of the right tree, which
    partner it is.
    """
    (counts, firsts, rows), ranks = (room[0][0], room[0][1], room[0][2]), room[1]
    a, a_end, b, b_end = left[0][i], left[0][i + 1], right[0][j], right[0][j + 1]
    productions, others = left[1][a:a_end], right[1][b:b_end]
    order, other_order = left[2][a:a_end], right[2][b:b_end]
    counts[: a_end - a] = 0
    size, p, q = 0, 0, 0
    while p < len(order) and q < len(other_order):
        production, other = productions[order[p]], others[other_order[q]]
        if production < other:
            p += 1
        elif production > other:
            q += 1
        else:
            first = q
            while q < len(other_order) and others[other_order[q]] == production:
                ranks[other_order[q]] = q - first
                q += 1
            while p < len(order) and productions[order[p]] == production:
                node = order[p]
                counts[node], firsts[node], rows[node] = q - first, first, size
                size += q - first
                p += 1
    return size


@njit(cache=True, nogil=True)
def _total(left, i, right, j, decay, room, table, nodes):
    """Add up Collins and Duffy's recursion over all matched nodes, children before parents.

    What the nodes of the left tree contribute is written into `nodes`.
    """
    counts, firsts, rows, ranks = room[0][0], room[0][1], room[0][2], room[1]
    a, b = left[0][i], right[0][j]
    productions, others, other_order = left[1][a:], right[1][b:], right[2][b:]
    total = 0.0
    for node in range(left[0][i + 1] - a - 1, -1, -1):
        begin, end = left[3][a + node], left[3][a + node + 1]
        here = 0.0  # added up apart, which loses fewer digits
        for r in range(counts[node]):
            partner = other_order[firsts[node] + r]
            shift = right[3][b + partner] - begin
            value = decay
            for c in range(begin, end):
                child, other = left[4][c], right[4][c + shift]
                if child >= 0 and other >= 0 and productions[child] == others[other]:
                    value *= 1.0 + table[rows[child] + ranks[other]]
            table[rows[node] + r] = value
            here += value
        nodes[node] = here
        total += here
    return total
