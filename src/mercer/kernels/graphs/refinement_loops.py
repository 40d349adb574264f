"""Loops of refinement: signatures of nodes, their codes, and how often each code is there.

A signature is a list of whole numbers, ``words[begins[v] : begins[v + 1]]`` for node v.
"""

from __future__ import annotations

import numpy as np

from mercer.compiled import compiled

__all__ = ["look_up", "number_signatures", "pack_signatures", "signatures", "tally", "translate"]


@compiled
def signatures(codes, bound, starts, neighbors, edge_codes):
    """Return where the signature of each node begins, and all signatures."""
    n = len(codes)
    begins = np.empty(n + 1, np.int64)
    words = np.empty(n + starts[n], np.int64)
    for v in range(n):
        p = starts[v] + v
        begins[v] = p
        words[p] = codes[v]
        for q in range(starts[v], starts[v + 1]):
            words[q + v + 1] = edge_codes[q] * bound + codes[neighbors[q]]
        _sort(words, p + 1, starts[v + 1] + v + 1)
    begins[n] = len(words)
    return begins, words


@compiled
def number_signatures(begins, words):
    """Return the code of each signature, in order of appearance, and where each code is first."""
    n = len(begins) - 1
    table, mask = _table(n)
    codes, first, count = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for v in range(n):
        slot = _hash(words, begins[v], begins[v + 1]) & mask
        while True:
            code = table[slot]
            if code < 0:
                table[slot] = codes[v] = count
                first[count] = v
                count += 1
                break
            w = first[code]
            if _equal(words, begins[v], begins[v + 1], words, begins[w], begins[w + 1]):
                codes[v] = code
                break
            slot = (slot + 1) & mask
    return codes, first[:count].copy()


@compiled
def pack_signatures(begins, words, some):
    """Return the signatures of some nodes, packed."""
    packed = np.zeros(len(some) + 1, np.int64)
    for i in range(len(some)):
        packed[i + 1] = packed[i] + begins[some[i] + 1] - begins[some[i]]
    found = np.empty(packed[-1], np.int64)
    for i in range(len(some)):
        p = begins[some[i]]
        for q in range(packed[i + 1] - packed[i]):
            found[packed[i] + q] = words[p + q]
    return packed, found


@compiled
def translate(begins, words, bound, places, edge_places, other_bound):
    """Return signatures in the codes of another set; the first word is -1 if it has none."""
    found = np.empty_like(words)
    for s in range(len(begins) - 1):
        p, end = begins[s], begins[s + 1]
        found[p] = places[words[p]]
        for q in range(p + 1, end):
            edge, node = edge_places[words[q] // bound], places[words[q] % bound]
            if edge < 0 or node < 0:
                found[p] = -1
                break
            found[q] = edge * other_bound + node
        if found[p] >= 0:
            _sort(found, p + 1, end)
    return found


@compiled
def look_up(begins, words, known_begins, known_words):
    """Return the place of each signature among different known ones, -1 where it is not."""
    table, mask = _table(len(known_begins) - 1)
    for k in range(len(known_begins) - 1):
        slot = _hash(known_words, known_begins[k], known_begins[k + 1]) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = k
    n = len(begins) - 1
    found = np.full(n, -1, np.int64)
    for s in range(n):
        if words[begins[s]] < 0:
            continue
        a, b = begins[s], begins[s + 1]
        slot = _hash(words, a, b) & mask
        while table[slot] >= 0:
            k = table[slot]
            if _equal(words, a, b, known_words, known_begins[k], known_begins[k + 1]):
                found[s] = k
                break
            slot = (slot + 1) & mask
    return found


@compiled
def tally(columns, first, last, width):
    """Return a sparse matrix of how often each graph has each column, given one of each level
    for each node: its row starts, columns and counts."""
    levels = columns.shape[0]
    seen, place = np.full(width, -1, np.int64), np.empty(width, np.int64)
    size = 0
    for g in range(len(first)):
        size += levels * (last[g] - first[g])
    indptr = np.zeros(len(first) + 1, np.int64)
    indices, counts, p = np.empty(size, np.int32), np.empty(size, np.float64), 0
    for g in range(len(first)):
        for level in range(levels):
            for v in range(first[g], last[g]):
                column = columns[level, v]
                if seen[column] != g:
                    seen[column], place[column] = g, p
                    indices[p], counts[p] = column, 0.0
                    p += 1
                counts[place[column]] += 1.0
        indptr[g + 1] = p
    return indptr, indices[:p].copy(), counts[:p].copy()


@compiled
def _table(count):
    """Return an empty hash table for so many entries, and the mask of its size."""
    size = 16
    while size < 2 * count:
        size *= 2
    return np.full(size, -1, np.int64), np.int64(size - 1)


@compiled
def _hash(words, a, b):
    found = np.uint64(b - a)
    for p in range(a, b):
        found = (found ^ np.uint64(words[p])) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return np.int64(found >> np.uint64(1))


@compiled
def _equal(left, a, b, right, c, d):
    if b - a != d - c:
        return False
    p = 0
    while p < b - a and left[a + p] == right[c + p]:
        p += 1
    return p == b - a


@compiled
def _sort(words, a, b):
    """Sort a part of the words, by a heap from 25 on; NumPy's sort takes seconds to compile."""
    if b - a > 24:
        for top in range((b - a) // 2 - 1, -1, -1):
            _sift(words, a, top, b - a)
        for end in range(b - a - 1, 0, -1):
            words[a], words[a + end] = words[a + end], words[a]
            _sift(words, a, 0, end)
        return
    for p in range(a + 1, b):
        word, q = words[p], p - 1
        while q >= a and words[q] > word:
            words[q + 1] = words[q]
            q -= 1
        words[q + 1] = word


@compiled
def _sift(words, a, top, count):
    """Let a word sink to its place in the heap that begins at a."""
    word = words[a + top]
    while 2 * top + 1 < count:
        child = 2 * top + 1
        if child + 1 < count and words[a + child + 1] > words[a + child]:
            child += 1
        if words[a + child] <= word:
            break
        words[a + top] = words[a + child]
        top = child
    words[a + top] = word
