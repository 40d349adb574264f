"""A graph: nodes, edges that join pairs of them, and what is written on both."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains.points import Items
from mercer.errors import DomainError

__all__ = ["Graph"]

Index = dict[Hashable, int] | None
Labeling = Iterable[Hashable] | None  # in the order of the nodes or edges, or by their names


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
        edges: Items,
        labels: Labeling = None,
        edge_labels: Labeling = None,
        attributes: ArrayLike | None = None,
        nodes: int | Iterable[Hashable] | None = None,
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

    def _store(
        self,
        nodes: int,
        edges: np.ndarray,
        labels: tuple[Hashable, ...] | None,
        written: tuple[Hashable, ...] | None,
        attributes: np.ndarray | None,
    ) -> None:
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

    def __setattr__(self, name: str, value: object) -> None:
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


def read_nodes(nodes: Any, labels: Any, attributes: Any) -> tuple[Index, int | None, str]:
    """Return the places of named nodes, or None for numbered ones, how many there are, and what
    says so."""
    if nodes is None and isinstance(labels, Mapping):
        nodes = list(labels)
        if set(nodes) == set(range(len(nodes))):
            nodes = len(nodes)
    if nodes is None:
        for values, what in ((labels, "labels"), (attributes, "attributes")):
            if values is not None and hasattr(values, "__len__"):
                return None, len(values), f" that have {what}"
        return None, None, ""
    if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool):
        if nodes < 0:
            raise DomainError(f"a graph cannot have {nodes} nodes")
        return None, int(nodes), ""
    if isinstance(nodes, str) or not hasattr(nodes, "__iter__"):
        raise DomainError(f"nodes must be their number or their names, found {nodes!r}")
    names = [plain(name, "node") for name in nodes]
    index = {name: place for place, name in enumerate(names)}
    if len(index) < len(names):
        twice = next(name for place, name in enumerate(names) if index[name] != place)
        raise DomainError(f"there are two nodes called {twice!r}")
    return index, len(names), ""


def read_pairs(edges: Any, index: Index) -> np.ndarray:
    """Return the edges as pairs of places, which may not exist where nodes have numbers."""
    if isinstance(edges, str | bytes | Mapping) or not hasattr(edges, "__iter__"):
        raise DomainError(f"edges must be pairs of nodes, found {type(edges).__name__}")
    if index is not None:
        return _named_pairs(edges, index)
    rows = edges if isinstance(edges, np.ndarray) else list(edges)
    if len(rows) == 0:
        return np.empty((0, 2), np.int64)
    try:
        pairs = np.asarray(rows)
    except ValueError:  # of different lengths
        pairs = np.empty(0)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        place = next((i for i, row in enumerate(rows) if not _is_pair(row)), 0)
        raise DomainError(
            f"edge {place} is {rows[place]!r}, not a pair of node numbers; give nodes=... or "
            "labels={name: label} if nodes have names, and edge_labels=... for what is on an edge"
        )
    return pairs.astype(np.int64)


def _is_pair(row: Any) -> bool:
    two = isinstance(row, Sequence | np.ndarray) and len(row) == 2
    return two and all(isinstance(end, int | np.integer) for end in row)


def _named_pairs(edges: Any, index: dict[Hashable, int]) -> np.ndarray:
    found = []
    for i, edge in enumerate(edges):
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise DomainError(f"edge {i} is {edge!r}, not a pair of nodes")
        u, v = (plain(end, "node") for end in edge)
        for end in (u, v):
            if end not in index:
                raise DomainError(f"edge {i} joins {u!r} and {v!r}, but there is no node {end!r}")
        found.append((index[u], index[v]))
    return np.array(found, np.int64).reshape(-1, 2)


def check_pairs(pairs: np.ndarray, count: int, index: Index, why: str) -> None:
    """Refuse edges to nodes that do not exist, or from a node to itself."""
    outside = (pairs < 0) | (pairs >= count)
    if outside.any():
        i = int(np.argmax(outside.any(axis=1)))
        (u, v), end = pairs[i], pairs[i][outside[i]][0]
        raise DomainError(
            f"edge {i} joins {u} and {v}, but there is no node {end} among the "
            f"{many(count, 'node')}{why}"
        )
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        i = int(np.argmax(loops))
        node = pairs[i, 0] if index is None else list(index)[pairs[i, 0]]
        raise DomainError(
            f"edge {i} joins node {node!s} to itself; graphs have no loops here, remove it"
        )


def read_edge_labels(
    values: Labeling, edges: Items, pairs: np.ndarray, index: Index
) -> list[Any] | None:
    """Return the labels in the order of the pairs."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        return _labels_by_pair(values, pairs, index)
    if isinstance(edges, Set):
        raise DomainError("a set of edges has no order; give edge_labels as {(u, v): label}")
    found = _listed(values, "edge_labels")
    if len(found) != len(pairs):
        raise DomainError(f"there are {len(pairs)} edges, but {len(found)} edge labels")
    return [plain(value, "edge label") for value in found]


def _labels_by_pair(values: Mapping[Any, Any], pairs: np.ndarray, index: Index) -> list[Any]:
    keys = list(values)
    places = read_pairs(keys, index).tolist()
    known: dict[tuple[int, int], Any] = {}
    for (u, v), key in zip(places, keys, strict=True):
        pair, label = (min(u, v), max(u, v)), plain(values[key], "edge label")
        if known.setdefault(pair, label) != label:
            raise DomainError(f"edge {key} has two labels, {known[pair]!r} and {label!r}")
    wanted = [(min(u, v), max(u, v)) for u, v in pairs.tolist()]
    names = list(range(1 + max((v for _, v in [*known, *wanted]), default=0)))
    shown = names if index is None else list(index)
    for here, there, problem in (
        (wanted, known, "has no edge label, but others have"),
        (known, set(wanted), "has an edge label, but is not an edge"),
    ):
        for u, v in here:
            if (u, v) not in there:
                raise DomainError(f"({shown[u]!r}, {shown[v]!r}) {problem}")
    return [known[pair] for pair in wanted]


def each_once(
    pairs: np.ndarray, written: list[Any] | None
) -> tuple[np.ndarray, tuple[Hashable, ...] | None]:
    """Sort the edges and keep each once."""
    pairs = np.sort(pairs, axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    again = np.zeros(len(pairs), bool)
    again[1:] = (pairs[1:] == pairs[:-1]).all(axis=1)
    if written is None:
        return pairs[~again], None
    labels = [written[i] for i in order]
    for i in np.flatnonzero(again):
        if labels[i] != labels[i - 1]:
            u, v = pairs[i]
            raise DomainError(
                f"edge ({u}, {v}) has two labels, {labels[i - 1]!r} and {labels[i]!r}"
            )
    return pairs[~again], tuple(labels[i] for i in np.flatnonzero(~again))


def read_labels(values: Labeling, count: int, index: Index) -> tuple[Hashable, ...] | None:
    if values is None:
        return None
    if isinstance(values, Mapping):
        names: Any = range(count) if index is None else index
        found = []
        for name in names:
            if name not in values:
                raise DomainError(f"node {name!r} has no label")
            found.append(values[name])
        if len(values) > count:
            stranger = next(name for name in values if name not in set(names))
            raise DomainError(f"there is a label for {stranger!r}, which is not a node")
    else:
        found = _listed(values, "labels")
    if len(found) != count:
        raise DomainError(
            f"there {'is' if len(found) == 1 else 'are'} {many(len(found), 'label')} for "
            f"{many(count, 'node')}"
        )
    return tuple([plain(value, "label") for value in found])


def read_attributes(values: ArrayLike | None, count: int) -> np.ndarray | None:
    if values is None:
        return None
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DomainError(f"attributes must be numbers, found {error}") from error
    if array.ndim == 1:
        array = array.reshape(len(array), -1) if len(array) else array.reshape(0, 1)
    if array.ndim != 2 or len(array) != count:
        raise DomainError(
            f"attributes have the shape {array.shape}, but there are {many(count, 'node')}"
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        node, column = bad[0]
        raise DomainError(f"attribute {column} of node {node} is {array[node, column]}")
    return array


def _listed(values: object, name: str) -> list[Any]:
    if isinstance(values, bytes | Set) or not hasattr(values, "__iter__"):
        raise DomainError(f"{name} must be a sequence or a mapping, found {values!r}")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def plain(value: object, what: str) -> Any:
    """Return a label as a Python object, refusing what is missing or cannot be compared."""
    if type(value) is str or type(value) is int:
        return value
    if isinstance(value, np.generic):
        value = value.item()
    try:
        hash(value)
    except TypeError as error:
        raise DomainError(
            f"a {what} is a {type(value).__name__}, which cannot be compared for equality; "
            "numbers of a node belong into Graph(..., attributes=...)"
        ) from error
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        raise DomainError(f"a {what} is missing ({value!r}); fill it in, or leave all of them out")
    return value


def many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
