"""Vertices: what a kernel on nodes sees of graphs, and its values for all pairs of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mercer.domains import VECTORS, Anything, Columns, Graph, Graphs, Points, VectorDomain
from mercer.domains.graphs import NODE
from mercer.engine.block import same_width
from mercer.engine.tiles import tile
from mercer.errors import DomainError, ValidityError
from mercer.kernels.base import Kernel

__all__ = [
    "VertexTile",
    "Vertices",
    "resolve_on_vertices",
    "values_of",
    "vertex_tiles",
    "vertices",
]

NODES = 600  # of one side, that are compared at once


class Vertices(Points):
    """The nodes of graphs as the points of a kernel; parts of the set share them."""

    def __init__(self, nodes: Points | None, first: np.ndarray, last: np.ndarray) -> None:
        super().__init__()
        self.nodes = nodes
        self.first = first
        self.last = last

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: Any) -> Vertices:
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
        end = begin + max(int(np.searchsorted(total, NODES, side="right")), 1)
        count = total[end - begin - 1]
        starts = np.concatenate([[0], total[: end - begin]])
        shift = np.repeat(points.first[begin:end] - starts[:-1], sizes[begin:end])
        if count:
            yield slice(begin, end), shift + np.arange(count), starts
        begin = end


def _sees_attributes(base: Kernel, have: bool) -> bool:
    numbers = isinstance(base.domain, VectorDomain | Columns) or base.domain == VECTORS
    return numbers or (have and isinstance(base.domain, Anything))
