"""The shortest-path kernel: common pairs of labels at common distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer.compiled import compiled
from mercer.domains import Graph, Graphs, Kind, Labels, Points, as_graph, same_kind
from mercer.domains.points import RowIndex
from mercer.engine.block import Block
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.graphs.vertices import OverVertices, add_paths, values_of, vertex_tiles
from mercer.kernels.patterns import Occurrences, Patterns, Vocabulary
from mercer.kernels.proof import Proof, derive, proved

__all__ = ["ShortestPath"]


@kernel
class ShortestPath(OverVertices):
    """How many shortest paths of two graphs have equal lengths and equal labels at their ends.

    A path of length d from u to v is a pattern (label of u, label of v, d). Every pair of
    different nodes has one in each direction, as Borgwardt & Kriegel (2005) and GraKeL count
    them; nodes that no path joins have none. Nodes of graphs without labels all have the same
    one, and labels of edges are not used. A graph without edges is 0 to all.

    With a `base` kernel on nodes, which compares attributes if it is one on rows of numbers and
    else labels, it is Σ k(u, u')·k(v, v') over all paths of equal length of both graphs.

    Valid as an inner product of counts of patterns; with a base as a sum of products of kernels.

    Parameters
    ----------
    base : Kernel, optional
        On nodes.

    Examples
    --------
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]
    >>> ShortestPath()([path, triangle]).round(9)
    array([[20., 24.],
           [24., 36.]])
    """

    base: Kernel | None = None

    def pair(self, x: object, z: object) -> float:
        left, right = as_graph(x), as_graph(z)
        if self.base is None:
            same = [[float(a == b) for b in _labels(right)] for a in _labels(left)]
        else:
            one, two = values_of(left, self.base), values_of(right, self.base)
            same = [[self.base.pair(a, b) for b in two] for a in one]
        return float(
            sum(
                same[u][w] * same[v][y]
                for u, v, d in _paths(left)
                for w, y, e in _paths(right)
                if d == e
            )
        )

    def patterns(self, points: Graphs) -> Patterns:
        graphs = points.packed
        codes, labels = graphs.node_labels
        net = graphs.net
        indptr, indices, times, keys = count_paths(
            net.starts, net.neighbors, codes, graphs.first, graphs.last
        )
        times *= _weights(keys)[indices]
        matrix = sparse.csr_array((times, indices, indptr), (len(points), len(keys)))
        return Patterns(matrix, Paths(labels, keys, graphs.kind))

    def occurrences(self, points: Graphs) -> Occurrences | None:
        """Return each pair of nodes that a path joins, at both ends of the path."""
        if self.base is not None:
            return None
        graphs = points.packed
        codes, _ = graphs.node_labels
        net = graphs.net
        found = list_paths(net.starts, net.neighbors, graphs.first, graphs.last)
        item, ends = found[:, 0], found[:, 1:3]
        written = np.sort(codes[graphs.first[item][:, None] + ends], axis=1)
        vocabulary = self.encoded(points).vocabulary
        assert isinstance(vocabulary, Paths)
        column = vocabulary.find(np.column_stack([written, found[:, 3]]))
        starts = 2 * np.arange(len(item) + 1)
        weight = _weights(vocabulary.keys)[column]
        return Occurrences(item, column, weight, starts, ends.ravel())

    def encode_structure(self, points: Graphs) -> None:
        self.paths(points)

    def paths(self, points: Any) -> ByDistance:
        """Return all pairs of nodes by distance, found only once."""
        return points.view("paths by distance", ByDistance.of)

    def sum_over_vertices(self, block: Block) -> np.ndarray:
        base = self.base
        assert base is not None
        left, right = self.paths(block.left), self.paths(block.right)
        K = np.zeros(block.shape)
        sides = self.vertices(block.left), self.vertices(block.right)
        for t in vertex_tiles(base, *sides, block.symmetric):
            here, there = left.of_graphs(t.rows), right.of_graphs(t.columns)
            add_paths(t.values, t.tops, t.sides, here, there, K[t.rows, t.columns])
        return K

    def prove(self) -> Proof:
        if self.base is None:
            source = "(Borgwardt & Kriegel, 2005)"
            return proved(self, f"it is an inner product of counts of paths {source}")
        rule = "it is a sum (6.17) over paths of equal length of products (6.18) of"
        return derive(self, rule, self.base)


class Paths(Vocabulary):
    """Pairs of labels with a distance, the smaller code first."""

    def __init__(self, labels: Labels, keys: np.ndarray, kind: Kind) -> None:
        super().__init__(())
        self.labels = labels
        self.keys = keys
        self.kind = kind

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, column: int) -> str:
        """Return a pattern in words, such as ``C–N at distance 3``."""
        one, two, distance = self.keys[column]
        return f"{self.labels[one]}–{self.labels[two]} at distance {distance}"

    def index(self) -> dict[Any, int]:
        if self._index is None:
            self._index = {key: i for i, key in enumerate(map(tuple, self.keys.tolist()))}
        return self._index

    def find(self, keys: np.ndarray) -> np.ndarray:
        """Return the column of each key, -1 where there is none."""
        known = self.index()
        found = (known.get(key, -1) for key in map(tuple, keys.tolist()))
        return np.fromiter(found, np.int64, len(keys))

    def _find(self, other: Any) -> np.ndarray:
        if other is self:
            return np.arange(len(self))
        same_kind(self.kind, other.kind)
        places = self.labels.places(other.labels)
        codes = np.sort(places[self.keys[:, :2]], axis=1)
        found = other.find(np.column_stack([codes, self.keys[:, 2]]))
        return np.where(codes[:, 0] >= 0, found, -1)


class ByDistance(Points):
    """The ordered pairs of nodes of graphs, by distance; parts of the set share them."""

    def __init__(self, flat: tuple[np.ndarray, ...], rows: np.ndarray) -> None:
        super().__init__()
        self.flat = flat
        self.rows = rows

    @classmethod
    def of(cls, points: Graphs) -> ByDistance:
        graphs = points.packed
        net = graphs.net
        flat = by_distance(net.starts, net.neighbors, graphs.first, graphs.last)
        return cls(flat, np.arange(len(points)))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: RowIndex) -> ByDistance:
        return ByDistance(self.flat, self.rows[rows])

    def of_graphs(self, some: slice) -> tuple[np.ndarray, ...]:
        """Return what the loops need about some of these graphs."""
        return (self.rows[some], *self.flat)


def _weights(keys: np.ndarray) -> np.ndarray:
    """Return what one pair of nodes adds to its pattern: two paths are one pattern if the labels
    are equal, and otherwise two patterns with equal counts, which are joined into one."""
    return np.where(keys[:, 0] == keys[:, 1], 2.0, np.sqrt(2.0))


def _labels(graph: Graph) -> list[Any]:
    return list(graph.labels) if graph.labels is not None else [0] * graph.nodes


def _paths(graph: Graph) -> list[tuple[int, int, float]]:
    """Return u, v and the distance of all ordered pairs, by Floyd and Warshall."""
    D = np.where(graph.adjacency() > 0, 1.0, np.inf)
    np.fill_diagonal(D, 0.0)
    for w in range(graph.nodes):
        D = np.minimum(D, D[:, [w]] + D[[w], :])
    return [(u, v, D[u, v]) for u, v in np.argwhere((D > 0) & np.isfinite(D)).tolist()]


@compiled
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


@compiled
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
                for k in range(p):
                    for j in range(4):
                        longer[k, j] = found[k, j]
                found = longer
            for q in range(1, count):
                v = queue[q] - first[g]
                if v > u:
                    found[p, 0], found[p, 1], found[p, 2], found[p, 3] = g, u, v, distance[v]
                    p += 1
    return found[:p].copy()


@compiled
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
                keys, table = _longer_rows(keys, size), _rehashed(keys, known, size)
                place, seen = _longer(place, size), _longer(seen, size)
                for k in range(known, size):
                    seen[k] = -1
            if p + reached > len(indices):
                size = 2 * (p + reached)
                indices, counts = _longer(indices, size), _longer(counts, size)
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


@compiled
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


@compiled
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


@compiled
def _rehashed(keys, known, size):
    room = 1024
    while room < 2 * size:
        room *= 2
    table = np.full(room, -1, np.int64)
    for k in range(known):
        table[_slot(table, keys, keys[k, 0], keys[k, 1], keys[k, 2])] = k
    return table


@compiled
def _longer(values, size):
    """Return a longer array with the same beginning."""
    found = np.empty(size, values.dtype)
    for k in range(len(values)):  # an assignment of arrays would take a second to compile
        found[k] = values[k]
    return found


@compiled
def _longer_rows(keys, size):
    found = np.empty((size, 3), np.int64)
    for k in range(len(keys)):
        for j in range(3):
            found[k, j] = keys[k, j]
    return found
