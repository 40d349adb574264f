"""Graphs: many small graphs in a few flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer.domains.graph import Graph
from mercer.domains.graph_conversion import FORMS, as_graph, is_graph
from mercer.domains.molecules import SMILES, MoleculeDomain
from mercer.domains.points import Domain, Items, Points, RowIndex, select_ragged
from mercer.domains.strings import StringDomain
from mercer.domains.tables import things
from mercer.errors import DomainError

__all__ = [
    "GRAPHS",
    "GraphDomain",
    "Graphs",
    "Kind",
    "Labels",
    "Net",
    "encode_labels",
    "same_kind",
]


class Labels:
    """Different labels, each with a number.

    Parameters
    ----------
    values : iterable of hashable values
        Different ones.

    Examples
    --------
    >>> Labels(["C", "N"]).places(Labels(["N", "O"]))
    array([-1,  0])
    """

    only_equal = False  # whether a label says nothing but which others are equal to it

    def __init__(self, values: Iterable[Hashable]) -> None:
        self.values = tuple(values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, code: int) -> Any:
        return self.values[code]

    def places(self, other: Labels) -> np.ndarray:
        """Return the number that each label has in another set, -1 where it has none."""
        if other is self:
            return np.arange(len(self))
        known = {value: code for code, value in enumerate(other.values)}
        found = (known.get(value, -1) for value in self.values)
        return np.fromiter(found, np.int64, len(self))


def encode_labels(labels: list[tuple[Hashable, ...]]) -> tuple[np.ndarray, Labels]:
    """Return the numbers of labels that stand in several tuples, in one array.

    Examples
    --------
    >>> codes, labels = encode_labels([("C", "C"), (), ("O", "C")])
    >>> codes, labels.values
    (array([0, 0, 1, 0]), ('C', 'O'))
    """
    values = tuple(dict.fromkeys(chain.from_iterable(labels)))
    index = {value: code for code, value in enumerate(values)}
    codes = map(index.__getitem__, chain.from_iterable(labels))
    return np.fromiter(codes, np.int64, sum(map(len, labels))), Labels(values)


NODE = Labels(("•",))  # the label of all nodes that have none
EDGE = Labels((None,))  # and of all such edges


class Kind(NamedTuple):
    """Whether the nodes and the edges of a set of graphs have labels; None if there are none.

    Parameters
    ----------
    nodes : bool or None
    edges : bool or None

    Examples
    --------
    >>> GRAPHS.admit([([(0, 1)], ["C", "O"])]).kind
    Kind(nodes=True, edges=False)
    """

    nodes: bool | None
    edges: bool | None


@dataclass(frozen=True, eq=False)
class Net:
    """The nodes of many graphs, all in one net that falls into pieces.

    Attributes
    ----------
    starts, neighbors : ndarray of int
        ``neighbors[starts[v] : starts[v + 1]]`` are the nodes that are joined to v.
    codes, labels : ndarray of int, Labels
        The number of each node's label, and the labels; None if nodes have none.
    edge_codes, edge_labels : ndarray of int, Labels
        The same for each entry of `neighbors`.
    attributes : ndarray of shape (nodes, columns) or None

    Examples
    --------
    >>> net = GRAPHS.admit([[(0, 1)], [(0, 1), (1, 2)]]).net
    >>> net.neighbors[net.starts[3] : net.starts[4]]  # the middle of the second graph
    array([2, 4])
    """

    starts: np.ndarray
    neighbors: np.ndarray
    codes: np.ndarray | None = None
    labels: Any = None
    edge_codes: np.ndarray | None = None
    edge_labels: Labels | None = None
    attributes: np.ndarray | None = None


class Graphs(Points):
    """A set of graphs: which nodes of a net belong to each. Parts of the set share the net.

    Parameters
    ----------
    net : Net
        What the graphs are parts of.
    first, last : ndarray of int
        The nodes of graph i are those from ``first[i]`` to before ``last[i]``.

    Examples
    --------
    >>> points = GRAPHS.admit([[(0, 1)], [(0, 1), (1, 2)]])
    >>> points.first, points.last
    (array([0, 2]), array([2, 5]))
    >>> points[1:].net.neighbors
    array([1, 0, 3, 2, 4, 3])
    >>> points[1:].packed.net.neighbors
    array([1, 0, 2, 1])
    """

    def __init__(self, net: Net, first: np.ndarray, last: np.ndarray) -> None:
        super().__init__()
        self.net = net
        self.first = first
        self.last = last

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: RowIndex) -> Graphs:
        return Graphs(self.net, self.first[rows], self.last[rows])

    def concat(self, other: Graphs) -> Graphs:
        return join_graphs([*self.items(), *other.items()])

    def items(self) -> Iterator[Graph]:
        return (self.graph(i) for i in range(len(self)))

    def units(self) -> list[list[str]]:
        return [
            [str(node if g.labels is None else g.labels[node]) for node in range(g.nodes)]
            for g in self.items()
        ]

    def graph(self, item: int) -> Graph:
        """Return one graph by itself."""
        net, first, last = self.net, int(self.first[item]), int(self.last[item])
        begin, end = net.starts[first], net.starts[last]
        u = np.repeat(np.arange(last - first), np.diff(net.starts[first : last + 1]))
        v = net.neighbors[begin:end] - first
        kept = np.flatnonzero(u < v)
        kept = kept[np.lexsort((v[kept], u[kept]))]
        labels = edge_labels = attributes = None
        if net.codes is not None:
            labels = tuple(net.labels[code] for code in net.codes[first:last])
        if net.edge_codes is not None and net.edge_labels is not None:
            edge_labels = tuple(net.edge_labels[code] for code in net.edge_codes[begin:end][kept])
        if net.attributes is not None:
            attributes = net.attributes[first:last].copy()
        edges = np.stack([u[kept], v[kept]], axis=1)
        return Graph.made(last - first, edges, labels, edge_labels, attributes)

    @property
    def sizes(self) -> np.ndarray:
        """The number of nodes of each graph."""
        return self.last - self.first

    @property
    def bytes(self) -> int:
        degrees = self.net.starts[self.last] - self.net.starts[self.first]
        return 8 * int(self.sizes.sum() + degrees.sum())

    @cached_property
    def kind(self) -> Kind:
        """Whether there are labels."""
        net, joined = self.net, self.net.starts[self.last] > self.net.starts[self.first]
        return Kind(
            net.codes is not None if self.sizes.any() else None,
            net.edge_codes is not None if joined.any() else None,
        )

    @property
    def node_labels(self) -> tuple[np.ndarray, Labels]:
        """The code of each node of the net, and the labels; one for all if they have none."""
        if self.net.codes is None:
            return np.zeros(len(self.net.starts) - 1, np.int64), NODE
        return self.net.codes, self.net.labels

    @property
    def entry_labels(self) -> tuple[np.ndarray, Labels]:
        """The code of the edge to each neighbor, and the labels; one for all if they have none."""
        if self.net.edge_codes is None or self.net.edge_labels is None:
            return np.zeros(len(self.net.neighbors), np.int64), EDGE
        return self.net.edge_codes, self.net.edge_labels

    @cached_property
    def packed(self) -> Graphs:
        """The same graphs in a net of their own, one after the other."""
        net, last = self.net, np.cumsum(self.sizes)
        first = last - self.sizes
        if np.array_equal(first, self.first) and last[-1] == len(net.starts) - 1:
            return self
        nodes = np.repeat(self.first - first, self.sizes) + np.arange(last[-1])
        starts, entries = select_ragged(net.starts, nodes)
        shift = np.repeat(np.repeat(self.first - first, self.sizes), np.diff(starts))
        mine = Net(
            starts,
            net.neighbors[entries] - shift,
            None if net.codes is None else net.codes[nodes],
            net.labels,
            None if net.edge_codes is None else net.edge_codes[entries],
            net.edge_labels,
            None if net.attributes is None else net.attributes[nodes],
        )
        return Graphs(mine, first, last)

    def __getstate__(self) -> dict[str, Any]:
        """Keep the nodes of these graphs alone of what is pickled."""
        mine = self.packed
        return {"net": mine.net, "first": mine.first, "last": mine.last, "_views": {}}


@dataclass(frozen=True)
class GraphDomain(Domain):
    """Undirected graphs in any of the forms that `mercer.domains.as_graph` reads.

    Empty graphs, nodes without edges and graphs in several pieces are graphs too. Either all
    graphs of a set have labels on their nodes, or none; so with labels on edges and attributes.

    Examples
    --------
    >>> GRAPHS.admit([[(0, 1)], [[0, 1, 1], [1, 0, 1], [0, 1, 0]]])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: item 1 of X is not a graph: an adjacency matrix is not ...
    """

    def admit(self, X: Items | Points, name: str = "X") -> Graphs:
        if isinstance(X, Graphs):
            return X
        if is_graph(X):
            raise DomainError(f"{name} is one graph, not a sequence of graphs; put it into a list")
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
            raise DomainError(
                f"{name} is an array of numbers of shape {X.shape}, not a sequence of graphs; put "
                f"graphs into a list. A graph is {FORMS}"
            )
        graphs = []
        for i, item in enumerate(things(X, name).items()):
            try:
                graphs.append(as_graph(item))
            except DomainError as error:
                raise DomainError(f"item {i} of {name} is not a graph: {error}") from error
        return join_graphs(graphs, name)

    def merge(self, other: Domain) -> Domain | None:
        # What is a graph and a string, or a molecule, is a SMILES string.
        if isinstance(other, MoleculeDomain | StringDomain):
            return SMILES
        return super().merge(other)


GRAPHS = GraphDomain()


def join_graphs(graphs: Sequence[Graph], name: str = "X") -> Graphs:
    """Return single graphs as a set of graphs."""
    labeled = _all_have(graphs, name, "labels on its nodes", lambda g: g.nodes, lambda g: g.labels)
    edge_labeled = _all_have(
        graphs, name, "labels on its edges", lambda g: len(g.edges), lambda g: g.edge_labels
    )
    attributes = _attributes(graphs, name)
    sizes = np.array([graph.nodes for graph in graphs], np.int64)
    counts = np.array([len(graph.edges) for graph in graphs], np.int64)
    last = np.cumsum(sizes)
    first, total = last - sizes, int(last[-1])
    edges = np.concatenate([graph.edges for graph in graphs])
    edges = edges + np.repeat(first, counts)[:, None]
    ends = np.concatenate([edges, edges[:, ::-1]])
    order = np.tile(np.arange(len(edges), dtype=np.int64), 2)
    table = sparse.coo_array((order, (ends[:, 0], ends[:, 1])), (total, total)).tocsr()
    table.sort_indices()
    codes = labels = edge_codes = edge_labels = None
    if labeled:
        codes, labels = encode_labels([graph.labels or () for graph in graphs])
    if edge_labeled:
        by_edge, edge_labels = encode_labels([graph.edge_labels or () for graph in graphs])
        edge_codes = by_edge[table.data]
    starts, neighbors = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    net = Net(starts, neighbors, codes, labels, edge_codes, edge_labels, attributes)
    return Graphs(net, first, last)


def _all_have(
    graphs: Sequence[Graph],
    name: str,
    what: str,
    size: Callable[[Graph], int],
    values: Callable[[Graph], Any],
) -> bool:
    """Return whether graphs have something, which none or all of them must have."""
    before: tuple[int, bool] | None = None
    for i, graph in enumerate(graphs):
        if size(graph) == 0:
            continue
        has = values(graph) is not None
        if before is None:
            before = i, has
        elif has != before[1]:
            this, that = ("has", "has none") if has else ("has no", "has them")
            raise DomainError(
                f"item {i} of {name} {this} {what}, but item {before[0]} {that}; give them to all "
                "graphs or to none"
            )
    return before is not None and before[1]


def _attributes(graphs: Sequence[Graph], name: str) -> np.ndarray | None:
    have = _all_have(graphs, name, "attributes", lambda g: g.nodes, lambda g: g.attributes)
    if not have:
        return None
    have_nodes = [(i, graph.attributes) for i, graph in enumerate(graphs) if graph.nodes]
    found = [(i, values) for i, values in have_nodes if values is not None]
    width = found[0][1].shape[1]
    for i, values in found:
        if values.shape[1] != width:
            raise DomainError(
                f"item {i} of {name} has {values.shape[1]} attributes for each node, but item "
                f"{found[0][0]} has {width}"
            )
    return np.concatenate([values for _, values in found])


def same_kind(left: Kind, right: Kind) -> None:
    """Refuse to compare graphs with labels to graphs without.

    Parameters
    ----------
    left, right : Kind

    Examples
    --------
    >>> same_kind(Kind(True, None), Kind(False, None))
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: graphs with labels on their nodes are compared to graphs ...
    """
    for where, one, two in zip(("nodes", "edges"), left, right, strict=True):
        if one is not None and two is not None and one != two:
            raise DomainError(
                f"graphs with labels on their {where} are compared to graphs without; give "
                "labels to all graphs or to none"
            )
