"""Refinement: labels that say more and more about what is around a node.

At depth 0 a node has its own label. At each next depth it gets a new one, which stands for its
label and the labels of its neighbors (with those of the edges to them) before: Weisfeiler & Leman
(1968). So equal labels at depth h mean equal trees of walks of length h.

A signature is a list of whole numbers: the code of a node, then one number for each neighbor, in
order. Equal signatures get equal codes. They are found by a hash table that compares the whole
lists, so that different ones are never taken for equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mercer.compiled import compiled
from mercer.domains import Graphs, Labels, Net, Points, same_kind
from mercer.domains.points import RowIndex
from mercer.kernels.patterns import Vocabulary

__all__ = ["Refined", "RefinedLabels", "Refinement", "refine", "relabel"]


class DepthLabels(NamedTuple):
    """The labels of one depth: signatures in the codes of the depth before, which has `bound`."""

    begins: np.ndarray
    words: np.ndarray
    bound: int


class Refinement(Vocabulary):
    """The labels of all depths, depth after depth.

    Labels of two sets are matched depth by depth, since their codes are their own: a label is
    known if all the labels that it is made of are, and make a label there too.
    """

    def __init__(self, graphs: Graphs, levels: list[DepthLabels]) -> None:
        super().__init__(())
        self.kind = graphs.kind
        _, self.labels = graphs.node_labels
        _, self.edge_labels = graphs.entry_labels
        self.levels = levels
        counts = [len(self.labels), *(len(level.begins) - 1 for level in levels)]
        self.offsets = np.concatenate([[0], np.cumsum(counts)])

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def __getitem__(self, column: int) -> str:
        """Return a label in words: ``depth 1: C(C,N)`` is C with the neighbors C and N."""
        column = int(column)
        depth = int(np.searchsorted(self.offsets, column, side="right")) - 1
        return f"depth {depth}: {self.words(depth, column - int(self.offsets[depth]))}"

    def words(self, depth: int, code: int, room: float = 60) -> str:
        """Return a label of some depth as a tree, cut short where it has too many nodes."""
        if depth == 0:
            return str(self.labels[code])
        begins, words, bound = self.levels[depth - 1]
        own, *around = words[begins[code] : begins[code + 1]].tolist()
        center = self.words(0, self.root(depth - 1, own))
        if self.sizes[depth][code] > room:
            room = (room - 1) / max(len(around), 1)
            if room < 1:
                return f"{center}(…)"
        neighbors = []
        for word in around:
            edge, node = divmod(word, bound)
            label = self.edge_labels[edge]
            written = "" if label is None else f"[{label}]"
            neighbors.append(written + self.words(depth - 1, node, room))
        return f"{center}({','.join(sorted(neighbors))})"

    def root(self, depth: int, code: int) -> int:
        """Return the first label of the nodes that have a label of some depth."""
        for level in reversed(self.levels[:depth]):
            code = int(level.words[level.begins[code]])
        return code

    @cached_property
    def sizes(self) -> list[np.ndarray]:
        """How many nodes the tree of each label has, depth by depth."""
        found = [np.ones(len(self.labels))]
        for begins, words, bound in self.levels:
            parts = np.where(np.isin(np.arange(len(words)), begins), 1.0, found[-1][words % bound])
            found.append(np.add.reduceat(parts, begins[:-1]) if len(parts) else np.empty(0))
        return found

    def by_level(self, other: Refinement) -> list[np.ndarray]:
        """Return the code of each label in another refinement, depth by depth."""
        places = self.places(other)
        found = []
        for depth in range(len(self.offsets) - 1):
            mine = places[self.offsets[depth] : self.offsets[depth + 1]]
            found.append(np.where(mine >= 0, mine - other.offsets[depth], -1))
        return found

    def _find(self, other: Any) -> np.ndarray:
        if other is self:
            return np.arange(len(self))
        same_kind(self.kind, other.kind)
        edge_places = self.edge_labels.places(other.edge_labels)
        places = self.labels.places(other.labels)
        found = [places]
        for mine, theirs in zip(self.levels, other.levels, strict=True):
            words = translate(*mine, places, edge_places, theirs.bound)
            places = look_up(mine.begins, words, theirs.begins, theirs.words)
            found.append(places)
        shifted = (
            np.where(level >= 0, level + offset, -1)
            for level, offset in zip(found, other.offsets[:-1], strict=True)
        )
        return np.concatenate(list(shifted))


class Refined(Points):
    """The codes of all nodes of some graphs at all depths."""

    def __init__(
        self, codes: np.ndarray, vocabulary: Refinement, first: np.ndarray, last: np.ndarray
    ) -> None:
        super().__init__()
        self.codes = codes
        self.vocabulary = vocabulary
        self.first = first
        self.last = last

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: RowIndex) -> Refined:
        return Refined(self.codes, self.vocabulary, self.first[rows], self.last[rows])

    def nodes(self) -> np.ndarray:
        """Return which codes belong to these graphs, graph after graph.

        Other encodings of the same graphs may number their nodes differently, because those were
        made of a larger or a smaller set.
        """
        sizes = self.last - self.first
        begins = np.cumsum(sizes) - sizes
        return np.repeat(self.first - begins, sizes) + np.arange(int(sizes.sum()))

    def columns(self) -> np.ndarray:
        """Return the column of each label in the vocabulary."""
        return self.codes + self.vocabulary.offsets[:-1, None]

    def items(self) -> Iterator[np.ndarray]:
        return (self.codes[:, a:b] for a, b in zip(self.first, self.last, strict=True))


def refine(points: Graphs, depth: int) -> Refined:
    """Return the labels of all depths up to `depth` of a set of graphs.

    Examples
    --------
    >>> from mercer.domains import GRAPHS
    >>> found = refine(GRAPHS.admit([([(0, 1), (1, 2)], "CCO")]), 1)
    >>> found.codes
    array([[0, 0, 1],
           [0, 1, 2]])
    >>> found.vocabulary[3]
    'depth 1: C(C,O)'
    """
    graphs = points.packed
    codes, labels = graphs.node_labels
    edge_codes, _ = graphs.entry_labels
    found, levels, bound = np.empty((depth + 1, len(codes)), np.int64), [], len(labels)
    found[0] = codes
    for level in range(depth):
        begins, words = signatures(
            found[level], bound, graphs.net.starts, graphs.net.neighbors, edge_codes
        )
        found[level + 1], first = number_signatures(begins, words)
        packed, words_of = pack_signatures(begins, words, first)
        levels.append(DepthLabels(packed, words_of, bound))
        bound = len(first)
    return Refined(found, Refinement(graphs, levels), graphs.first, graphs.last)


class RefinedLabels(Labels):
    """The labels of one depth, as labels of graphs of their own.

    Written out they are made to be read: large trees are cut short, and then look equal.
    """

    only_equal = True

    def __init__(self, vocabulary: Refinement, depth: int) -> None:
        super().__init__(())
        self.vocabulary = vocabulary
        self.depth = depth

    def __len__(self) -> int:
        return int(np.diff(self.vocabulary.offsets)[self.depth])

    def __getitem__(self, code: int) -> str:
        return self.vocabulary.words(self.depth, int(code))

    def places(self, other: Any) -> np.ndarray:
        return self.vocabulary.by_level(other.vocabulary)[self.depth]


def relabel(points: Graphs, refined: Refined, depth: int) -> Graphs:
    """Return the same graphs with the labels of one depth."""
    graphs = points.packed
    net = graphs.net
    labels = RefinedLabels(refined.vocabulary, depth)
    again = Net(
        net.starts,
        net.neighbors,
        refined.codes[depth][refined.nodes()],
        labels,
        net.edge_codes,
        net.edge_labels,
        net.attributes,
    )
    return Graphs(again, graphs.first, graphs.last)


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
