"""Graph kernels that weigh pairs of nodes by a base kernel, and what it sees of graphs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from mercer.compiled import compiled
from mercer.domains import (
    GRAPHS,
    VECTORS,
    Anything,
    Columns,
    Domain,
    Graph,
    Graphs,
    Points,
    VectorDomain,
)
from mercer.domains.graphs import NODE
from mercer.domains.points import RowIndex
from mercer.engine.block import Block, same_width
from mercer.engine.tiles import tile
from mercer.errors import DomainError, ValidityError
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.patterns import PatternKernel

__all__ = [
    "OverVertices",
    "VertexTile",
    "Vertices",
    "counts",
    "resolve_on_vertices",
    "values_of",
    "vertex_tiles",
    "vertices",
]


class Vertices(Points):
    """The nodes of graphs as the points of a kernel; parts of the set share them."""

    def __init__(self, nodes: Points | None, first: np.ndarray, last: np.ndarray) -> None:
        super().__init__()
        self.nodes = nodes
        self.first = first
        self.last = last

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: RowIndex) -> Vertices:
        return Vertices(self.nodes, self.first[rows], self.last[rows])

    def items(self) -> Iterator[Points | None]:
        pairs = zip(self.first, self.last, strict=True)
        return (None if self.nodes is None else self.nodes[a:b] for a, b in pairs)


def vertices(points: Graphs, base: Kernel) -> Vertices:
    """Return the nodes of graphs, admitted and encoded for a kernel on nodes.

    A kernel on rows of numbers sees the attributes, any other the labels.
    """
    graphs = points.packed
    if graphs.last[-1] == 0:
        return Vertices(None, graphs.first, graphs.last)
    net = graphs.net
    values: Any = net.attributes
    if not _sees_attributes(base, values is not None):
        codes, labels = graphs.node_labels
        if graphs.kind.nodes is False and not isinstance(base.domain, Anything):
            raise DomainError(f"{base!r} compares labels of nodes, but the graphs have none")
        if labels.only_equal:
            raise ValidityError(
                f"{base!r} compares labels of nodes, but WeisfeilerLehman gives them new ones, "
                "which can only be equal or not; leave this base out"
            )
        written = np.empty(len(labels), dtype=object)
        written[:] = [labels[code] for code in range(len(labels))]
        values = written[codes]
    elif values is None:
        raise DomainError(f"{base!r} compares attributes of nodes, but the graphs have none")
    nodes = base.domain.admit(values, "the nodes")
    base.encode(nodes)
    return Vertices(nodes, graphs.first, graphs.last)


def values_of(graph: Graph, base: Kernel) -> list[Any]:
    """Return what a kernel on nodes sees of each node of one graph."""
    if _sees_attributes(base, graph.attributes is not None):
        return [] if graph.attributes is None else list(graph.attributes)
    return list(graph.labels) if graph.labels is not None else [NODE[0]] * graph.nodes


def resolve_on_vertices(base: Kernel, points: Graphs, weights: np.ndarray | None) -> Kernel:
    """Return a kernel on nodes with its heuristics resolved on all nodes of the graphs."""
    nodes = vertices(points, base).nodes
    if nodes is None:
        raise DomainError(f"{base.unresolved()[0]} needs data, but the graphs have no nodes")
    times = None if weights is None else np.repeat(weights, points.sizes)
    return base.resolve(nodes, times)


class VertexTile(NamedTuple):
    """The values of a kernel for all pairs of nodes of some graphs.

    Attributes
    ----------
    rows, columns : slice
        The graphs of both sides.
    values : ndarray
        A row and a column for each of their nodes.
    tops, sides : ndarray of int
        Where the nodes of each graph begin among the rows and columns, and where the last end.
    """

    rows: slice
    columns: slice
    values: np.ndarray
    tops: np.ndarray
    sides: np.ndarray


def vertex_tiles(
    base: Kernel, left: Vertices, right: Vertices, symmetric: bool
) -> Iterator[VertexTile]:
    """Evaluate a kernel on nodes, whole graphs at a time; above the diagonal if symmetric."""
    if left.nodes is None or right.nodes is None:
        return
    same_width(left.nodes, right.nodes)
    down, across = list(_gathered(left)), list(_gathered(right))
    for i, (rows, numbers, tops) in enumerate(down):
        some = left.nodes[numbers]
        for columns, others, sides in across[i if symmetric else 0 :]:
            with tile(base, some, right.nodes[others], 0, 0) as values:
                yield VertexTile(rows, columns, values, tops, sides)


def _gathered(points: Vertices) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Cut graphs into groups with not too many nodes: which graphs, nodes and where they begin."""
    sizes = points.last - points.first
    begin = 0
    while begin < len(sizes):
        total = np.cumsum(sizes[begin:])
        # So many nodes of one side are compared at once.
        end = begin + max(int(np.searchsorted(total, 600, side="right")), 1)
        count = total[end - begin - 1]
        starts = np.concatenate([[0], total[: end - begin]])
        shift = np.repeat(points.first[begin:end] - starts[:-1], sizes[begin:end])
        if count:
            yield slice(begin, end), shift + np.arange(count), starts
        begin = end


def _sees_attributes(base: Kernel, have: bool) -> bool:
    numbers = isinstance(base.domain, VectorDomain | Columns) or base.domain == VECTORS
    return numbers or (have and isinstance(base.domain, Anything))


@compiled
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


@compiled
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


@compiled
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


class OverVertices(PatternKernel):
    """A kernel on graphs with an optional `base` kernel on their nodes.

    Without a base it is an inner product of counts, with explicit features. With one, its author
    writes `sum_over_vertices`, and there are no patterns.
    """

    base: Kernel | None
    domain: ClassVar[Domain] = GRAPHS

    def __post_init__(self) -> None:
        if self.base is not None and not isinstance(self.base, Kernel):
            raise ValidityError(
                f"base of {type(self).__name__} must be a kernel or None, found {self.base!r}"
            )

    def sum_over_vertices(self, block: Block) -> np.ndarray:
        """Return the Gram matrix with the base; what is below a symmetric diagonal is not used."""
        raise NotImplementedError

    def encode_structure(self, points: Graphs) -> None:
        """Encode what `sum_over_vertices` needs beside the nodes."""
        raise NotImplementedError

    @property
    def of_counts(self) -> bool:
        """Whether this is an inner product of counts of patterns."""
        return self.base is None

    @property
    def slow(self) -> bool:
        return not self.of_counts

    @property
    def threads(self) -> bool:  # type: ignore[override]
        return self.base is None or self.base.threads

    def vertices(self, points: Any) -> Vertices:
        """Return the nodes as the base sees them, encoded only once."""
        base = self.base
        assert base is not None
        return points.view(("vertices", base), lambda graphs: vertices(graphs, base))

    def encode(self, points: Any) -> None:
        if self.of_counts:
            self.encoded(points)
        else:
            self.vertices(points)
            self.encode_structure(points)

    def evaluate(self, block: Block) -> np.ndarray:
        if self.of_counts:
            return super().evaluate(block)
        K = self.sum_over_vertices(block)
        return np.triu(K) + np.triu(K, 1).T if block.symmetric else K

    def evaluate_diagonal(self, points: Any) -> np.ndarray:
        if self.of_counts:
            return super().evaluate_diagonal(points)
        parts = (points[i : i + 1] for i in range(len(points)))
        return np.array([self.sum_over_vertices(Block(p, p, True))[0, 0] for p in parts])

    def map_features(self, points: Any) -> FeatureMap | None:
        return super().map_features(points) if self.of_counts else None

    def resolve(self, A: Any, weights: np.ndarray | None = None) -> Self:
        if self.base is None or not self.unresolved():
            return self
        return dataclasses.replace(self, base=self.resolved_base(self.domain.admit(A), weights))  # type: ignore[type-var]

    def resolved_base(self, points: Points, weights: np.ndarray | None) -> Kernel:
        """Return the base with its heuristics resolved."""
        assert self.base is not None and isinstance(points, Graphs)
        return resolve_on_vertices(self.base, points, weights)


def counts(k: Kernel | None) -> bool:
    """Tell whether a kernel on graphs is an inner product of counts."""
    return k.of_counts if isinstance(k, OverVertices) else isinstance(k, PatternKernel)
