"""A graph: nodes, edges that join pairs of them, and what is written on both."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from mercer.domains.graph_parts import (
    check_pairs,
    each_once,
    many,
    read_attributes,
    read_edge_labels,
    read_labels,
    read_nodes,
    read_pairs,
)

__all__ = ["Graph"]


class Graph:
    """An undirected graph without loops, with or without labels.

    Nodes are the numbers 0, 1, 2, …, unless `nodes` or the keys of `labels` give them other names;
    those are only used to read the edges. A graph is a value: it cannot be changed, and two graphs
    are equal if they have the same nodes, edges, labels and attributes.

    Parameters
    ----------
    edges : sequence, set or array of pairs
        The nodes that are joined. An edge that is given twice, or in both directions, is one edge.
    labels : sequence, array or mapping, optional
        One hashable label for each node, in their order or by their names.
    edge_labels : sequence or mapping, optional
        One hashable label for each edge, in their order or by the pair of nodes.
    attributes : array of shape (nodes, columns), optional
        Numbers for each node.
    nodes : int or sequence of hashables, optional
        How many nodes there are, or their names. By default as many as there are labels or
        attributes, or else up to the last one that has an edge.

    Attributes
    ----------
    nodes : int
        How many nodes there are.
    edges : ndarray of shape (edges, 2)
        Sorted, the smaller node first.
    labels, edge_labels : tuple or None
    attributes : ndarray or None

    Examples
    --------
    >>> water = Graph([(0, 1), (0, 2)], labels=["O", "H", "H"])
    >>> water
    <Graph with 3 nodes and 2 edges, labeled nodes>
    >>> water == Graph([("b", "a"), ("a", "c")], labels={"a": "O", "b": "H", "c": "H"})
    True
    >>> Graph([(0, 1), (1, 5)], nodes=3)
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: edge 1 joins 1 and 5, but there is no node 5 among the 3 nodes
    """

    __slots__ = ("attributes", "edge_labels", "edges", "labels", "nodes")

    nodes: int
    edges: np.ndarray
    labels: tuple[Hashable, ...] | None
    edge_labels: tuple[Hashable, ...] | None
    attributes: np.ndarray | None

    def __init__(
        self,
        edges: Any,
        labels: Any = None,
        edge_labels: Any = None,
        attributes: Any = None,
        nodes: Any = None,
    ) -> None:
        index, count, why = read_nodes(nodes, labels, attributes)
        pairs = read_pairs(edges, index)
        if count is None:
            count = int(pairs.max(initial=-1)) + 1
        check_pairs(pairs, count, index, why)
        on_edges = read_edge_labels(edge_labels, edges, pairs, index)
        pairs, written = each_once(pairs, on_edges)
        on_nodes = read_labels(labels, count, index)
        self._store(count, pairs, on_nodes, written, read_attributes(attributes, count))

    @classmethod
    def made(
        cls,
        nodes: int,
        edges: np.ndarray,
        labels: tuple[Hashable, ...] | None = None,
        edge_labels: tuple[Hashable, ...] | None = None,
        attributes: np.ndarray | None = None,
    ) -> Graph:
        """Return a graph of parts that are known to be as `Graph` keeps them."""
        graph = cls.__new__(cls)
        graph._store(nodes, edges, labels, edge_labels, attributes)
        return graph

    def _store(self, nodes: int, edges: Any, labels: Any, written: Any, attributes: Any) -> None:
        edges.setflags(write=False)
        if attributes is not None:
            attributes.setflags(write=False)
        for name, value in (
            ("nodes", nodes),
            ("edges", edges),
            ("labels", labels),
            ("edge_labels", written),
            ("attributes", attributes),
        ):
            object.__setattr__(self, name, value)

    def adjacency(self) -> np.ndarray:
        """Return the matrix with 1 where two nodes are joined.

        Examples
        --------
        >>> Graph([(0, 1)]).adjacency()
        array([[0., 1.],
               [1., 0.]])
        """
        A = np.zeros((self.nodes, self.nodes))
        A[self.edges[:, 0], self.edges[:, 1]] = 1.0
        A[self.edges[:, 1], self.edges[:, 0]] = 1.0
        return A

    def neighbors(self) -> list[list[tuple[int, Any]]]:
        """Return for each node its neighbors, each with the label of the edge (or None).

        Examples
        --------
        >>> Graph([(0, 1), (1, 2)], edge_labels=["a", "b"]).neighbors()
        [[(1, 'a')], [(0, 'a'), (2, 'b')], [(1, 'b')]]
        """
        found: list[list[tuple[int, Any]]] = [[] for _ in range(self.nodes)]
        written = self.edge_labels or (None,) * len(self.edges)
        for (u, v), label in zip(self.edges.tolist(), written, strict=True):
            found[u].append((v, label))
            found[v].append((u, label))
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Graph cannot be changed; make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Graph cannot be changed; make another one")

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Graph) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        attributes = self.attributes
        numbers = None if attributes is None else (attributes.shape, attributes.tobytes())
        return self.nodes, self.edges.tobytes(), self.labels, self.edge_labels, numbers

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.nodes, self.edges, self.labels, self.edge_labels, self.attributes
        return Graph.made, parts

    def __repr__(self) -> str:
        written = (
            ("labeled nodes", self.labels),
            ("labeled edges", self.edge_labels),
            ("attributes", self.attributes),
        )
        more = [word for word, values in written if values is not None]
        size = f"{many(self.nodes, 'node')} and {many(len(self.edges), 'edge')}"
        return f"<Graph with {', '.join([size, *more])}>"
