"""The graphlet kernel: counts of small subgraphs of each shape."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache, lru_cache
from itertools import combinations, permutations
from typing import ClassVar

import numpy as np
from scipy import sparse

from mercer.compiled import compiled
from mercer.domains import GRAPHS, Domain, Graph, Graphs, as_graph
from mercer.engine.tiles import spans
from mercer.errors import ValidityError
from mercer.kernels.base import kernel
from mercer.kernels.patterns import PatternKernel, Patterns, Vocabulary
from mercer.kernels.proof import Proof, proved
from mercer.threads import cores, in_threads
from mercer.values import whole

__all__ = ["Graphlet"]

MAX_SUBSETS = 1_000_000  # so many subsets of nodes are all looked at
DRAWN_SUBSETS = 100_000  # of more than that, so many are drawn


@kernel
class Graphlet(PatternKernel):
    """Σ (how often a shape is in x)·(how often it is in z), over all graphs of `size` nodes.

    Every subset of `size` nodes is counted by its shape, that is, by which of its nodes are
    joined, whatever their order: 4 shapes of 3 nodes, 11 of 4 and 34 of 5, connected or not.
    Labels are not used. A graph with fewer nodes has no shapes, and is 0 to all.

    Subsets of three nodes are always all counted. Of larger ones all are counted while there are
    few; in a large graph a sample is drawn and its counts are scaled up to all subsets. The same
    graph always gets the same sample.

    Valid as an inner product of counts (Shervashidze et al., 2009).

    Parameters
    ----------
    size : {3, 4, 5}
        Number of nodes of a shape.
    samples : int, optional
        How many subsets to draw in each graph that has more. By default 100 000, in graphs with
        more than a million subsets.
    seed : int
        Of the draws.

    Examples
    --------
    >>> path, triangle = [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (0, 2)]
    >>> Graphlet(3)([path, triangle])
    array([[8., 0.],
           [0., 1.]])
    """

    size: int = 3
    samples: int | None = None
    seed: int = 0
    domain: ClassVar[Domain] = GRAPHS

    def __post_init__(self) -> None:
        size = whole(self, "size", self.size)
        if size not in (3, 4, 5):
            raise ValidityError(f"size of Graphlet must be 3, 4 or 5, found {self.size!r}")
        self._normalize("size", size)
        if self.samples is not None:
            self._normalize("samples", whole(self, "samples", self.samples))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer):
            raise ValidityError(f"seed of Graphlet must be a whole number, found {self.seed!r}")
        if self.seed < 0:
            raise ValidityError(f"seed of Graphlet must not be negative, found {self.seed!r}")
        self._normalize("seed", int(self.seed))

    def pair(self, x: object, z: object) -> float:
        left, right = (self._shapes(as_graph(thing)) for thing in (x, z))
        return float(sum(times * right[shape] for shape, times in left.items()))

    def patterns(self, points: Graphs) -> Patterns:
        names, types = shapes(self.size)
        counts, net = np.zeros((len(points), len(names))), points.net
        all_of = count_triples if self.size == 3 else count_all

        def count(some: slice) -> None:
            drawn = np.zeros(len(points), np.bool_)
            for i in range(some.start, some.stop):
                n, begin = int(points.sizes[i]), points.first[i]
                draws = self.draws(n)
                if draws is not None:
                    drawn[i] = True
                    count_some(net.starts, net.neighbors, begin, n, draws, types, counts[i])
                    counts[i] *= math.comb(n, self.size) / len(draws)
            ends = points.first[some], points.last[some]
            all_of(net.starts, net.neighbors, *ends, drawn[some], self.size, types, counts[some])

        in_threads(count, spans(len(points), max(len(points) // (4 * cores()), 1)))
        return Patterns(sparse.csr_array(counts), Vocabulary(names))

    def draws(self, n: int) -> np.ndarray | None:
        """Return the subsets of n nodes that are drawn, or None if all are counted."""
        limit, count = (self.samples,) * 2 if self.samples else (MAX_SUBSETS, DRAWN_SUBSETS)
        if self.size == 3 or math.comb(n, self.size) <= limit:
            return None
        return drawn_subsets(n, self.size, count, self.seed)

    def prove(self) -> Proof:
        return proved(self, "it is an inner product of counts of subgraphs (6.1)")

    def _shapes(self, graph: Graph) -> Counter[str]:
        """Count shapes one subset after the other."""
        names, types = shapes(self.size)
        A, draws = graph.adjacency() > 0, self.draws(graph.nodes)
        subsets = combinations(range(graph.nodes), self.size) if draws is None else draws
        found: Counter[str] = Counter()
        for subset in subsets:
            edges = [A[u, v] for u, v in combinations(subset, 2)]
            code = sum(1 << bit for bit, joined in enumerate(edges) if joined)
            found[names[types[code]]] += 1
        scale = 1.0 if draws is None else math.comb(graph.nodes, self.size) / len(draws)
        return Counter({shape: times * scale for shape, times in found.items()})


@cache
def shapes(size: int) -> tuple[list[str], np.ndarray]:
    """Return the names of all shapes, and the shape of each set of edges.

    A set of edges is a number whose bits are the pairs of nodes in lexical order.
    """
    pairs = list(combinations(range(size), 2))
    place = {pair: bit for bit, pair in enumerate(pairs)}
    codes = np.arange(1 << len(pairs))
    smallest = codes.copy()
    for order in permutations(range(size)):
        moved = np.zeros_like(codes)
        for bit, (u, v) in enumerate(pairs):
            there = place[min(order[u], order[v]), max(order[u], order[v])]
            moved |= ((codes >> bit) & 1) << there
        smallest = np.minimum(smallest, moved)
    different, types = np.unique(smallest, return_inverse=True)
    names = []
    for code in different:
        edges = [f"{u}-{v}" for bit, (u, v) in enumerate(pairs) if code >> bit & 1]
        names.append(f"{size} nodes" + (": " + " ".join(edges) if edges else ", none joined"))
    return names, types.astype(np.int64)


@lru_cache(maxsize=16)
def drawn_subsets(n: int, size: int, count: int, seed: int) -> np.ndarray:
    """Draw subsets of n nodes, each independently of the others."""
    rng = np.random.default_rng([seed, n])
    found = np.empty((0, size), np.int64)
    while len(found) < count:
        more = np.sort(rng.integers(0, n, (count, size)), axis=1)
        different = (more[:, 1:] > more[:, :-1]).all(axis=1)
        found = np.concatenate([found, more[different]])
    return found[:count]


MAX_DENSE_NODES = 2000  # nodes; of larger graphs the matrix is not written out


@compiled
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


@compiled
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


@compiled
def _matrix(starts, neighbors, first, n):
    A = np.zeros((n, n), np.int32)
    for v in range(n):
        for q in range(starts[first + v], starts[first + v + 1]):
            A[v, neighbors[q] - first] = 1
    return A


@compiled
def _fours(A, found):
    n = len(A)
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                code = A[a, b] | A[a, c] << 1 | A[b, c] << 3
                for d in range(c + 1, n):
                    found[code | A[a, d] << 2 | A[b, d] << 4 | A[c, d] << 5] += 1


@compiled
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


@compiled
def count_some(starts, neighbors, first, n, subsets, types, counts):
    """Count the shapes of given subsets of the nodes of one graph."""
    dense = n <= MAX_DENSE_NODES
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


@compiled
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


@compiled
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
