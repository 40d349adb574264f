"""Forms of graphs: networkx graphs, adjacency matrices, edge lists and SMILES as `Graph`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains.graph import Graph
from mercer.domains.molecules import is_molecule, molecule_graph
from mercer.errors import DomainError

__all__ = ["as_graph", "is_graph"]

FORMS = (
    "a Graph, a networkx graph, an object with edge_index, an adjacency matrix, a list of edges "
    "(tuples), a tuple of one of these with labels, or a SMILES string"
)

PLAIN = frozenset({str, int})  # types of names and labels that need no second look
MIXED = object()  # labels that do


def as_graph(thing: object) -> Graph:
    """Return one graph, in whatever form it comes.

    - a `Graph`;
    - a networkx graph, with the attributes "label" of nodes and edges and "attributes" of nodes;
    - a square array, nested list or sparse matrix of zeros and ones: the adjacency matrix;
    - a list or set of pairs, or an array with two columns: the edges (two edges are written as
      tuples, since an array of two rows is an adjacency matrix);
    - a tuple (adjacency matrix or edges, labels) or (…, labels, edge labels);
    - an object with `edge_index`, `num_nodes` and perhaps `x`, as PyTorch Geometric has them: each
      edge in both directions, `x` being the attributes of the nodes;
    - a SMILES string or a molecule of RDKit.

    Parameters
    ----------
    thing : object
        Any of these forms.

    Returns
    -------
    Graph

    Examples
    --------
    >>> as_graph([(0, 1), (1, 2)]) == as_graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    True
    >>> as_graph(([(0, 1)], ["C", "O"]))
    <Graph with 2 nodes and 1 edge, labeled nodes>
    """
    if isinstance(thing, Graph):
        return thing
    if isinstance(thing, str) or is_molecule(thing):
        return molecule_graph(thing)
    if _is_networkx(thing):
        return _from_networkx(thing)
    if getattr(thing, "edge_index", None) is not None:
        return _from_edge_index(thing)
    if isinstance(thing, tuple) and thing and not _is_edge(thing[0]):
        return _from_tuple(thing)
    return _from_structure(thing, None, None)


def is_graph(thing: object) -> bool:
    """Tell whether something is one graph, where a sequence of graphs is expected."""
    if isinstance(thing, Graph) or _is_networkx(thing) or sparse.issparse(thing):
        return True
    return getattr(thing, "edge_index", None) is not None


def _is_networkx(thing: object) -> bool:
    names = ("nodes", "edges", "is_directed", "is_multigraph")
    return all(hasattr(thing, name) for name in names)


def _from_networkx(graph: Any) -> Graph:
    kind = type(graph).__name__
    if graph.is_directed():
        raise DomainError(f"a {kind} has directed edges; use .to_undirected()")
    if graph.is_multigraph():
        raise DomainError(f"a {kind} may have several edges between two nodes; use nx.Graph(g)")
    nodes = dict(graph.nodes(data=True))
    plain = _plain_networkx(graph, nodes)
    if plain is not None:
        return plain
    edges = list(graph.edges(data=True))
    pairs = [(u, v) for u, v, _ in edges]
    return Graph(
        pairs,
        labels=_all_or_none(list(nodes.values()), "label", list(nodes), "node"),
        edge_labels=_all_or_none([data for _, _, data in edges], "label", pairs, "edge"),
        attributes=_all_or_none(list(nodes.values()), "attributes", list(nodes), "node"),
        nodes=list(nodes),
    )


def _plain_networkx(graph: Any, nodes: dict[Any, dict]) -> Graph | None:
    """Return a networkx graph in one pass over its neighbors, where nothing in it is in doubt.

    None if names or labels are other than texts and whole numbers, if some are missing, if there
    are loops or attributes: then `Graph` looks at every part, and says what is wrong with it.
    """
    written = list(nodes.values())
    if not PLAIN.issuperset(map(type, nodes)) or not hasattr(graph, "adjacency"):
        return None
    if any("attributes" in data for data in written):
        return None
    labels = _plain_labels(written)
    place = {name: number for number, name in enumerate(nodes)}
    around = [neighbors for _, neighbors in graph.adjacency()]
    ends = [place[name] for neighbors in around for name in neighbors]
    u = np.repeat(np.arange(len(place)), list(map(len, around)))
    v = np.array(ends, dtype=np.int64)
    data = [found for neighbors in around for found in neighbors.values()]
    on_edges = _plain_labels(data)
    if labels is MIXED or on_edges is MIXED or (u == v).any():
        return None
    kept = np.flatnonzero(u < v)
    kept = kept[np.argsort(u[kept] * len(place) + v[kept])]
    edge_labels = None if on_edges is None else tuple([on_edges[k] for k in kept.tolist()])
    return Graph.made(len(place), np.stack([u[kept], v[kept]], axis=1), labels, edge_labels)


def _plain_labels(found: list[dict]) -> Any:
    """Return all labels, None if there are none, MIXED if something about them is in doubt."""
    labels = tuple([data["label"] for data in found if "label" in data])
    if not labels:
        return None
    doubtful = len(labels) < len(found) or not PLAIN.issuperset(map(type, labels))
    return MIXED if doubtful else labels


def _from_edge_index(thing: Any) -> Graph:
    """Return a graph whose edges are the columns of an array, each in both directions."""
    ends = np.asarray(thing.edge_index)
    if ends.ndim != 2 or ends.shape[0] != 2 or (ends.size and ends.dtype.kind not in "iu"):
        raise DomainError(
            f"edge_index has a row of whole numbers for each end of the edges, found an array of "
            f"shape {ends.shape} and type {ends.dtype}"
        )
    pairs, x = ends.T.astype(np.int64), getattr(thing, "x", None)
    count = getattr(thing, "num_nodes", None)
    if count is None:
        count = int(pairs.max(initial=-1)) + 1
    graph = Graph(pairs, attributes=None if x is None else np.asarray(x), nodes=int(count))
    _check_symmetric(pairs, max(graph.nodes, 1), "edge_index", "edges have no direction here")
    return graph


def _all_or_none(found: list[Any], key: str, names: list[Any], what: str) -> list[Any] | None:
    have = [key in data for data in found]
    if not any(have):
        return None
    if not all(have):
        name = names[have.index(False)]
        raise DomainError(f"{what} {name!r} has no attribute {key!r}, but others have")
    return [data[key] for data in found]


def _from_tuple(parts: tuple[Any, ...]) -> Graph:
    if len(parts) not in (2, 3):
        raise DomainError(
            f"a graph as a tuple is (edges or adjacency matrix, labels) or (…, labels, edge "
            f"labels), found {len(parts)} parts"
        )
    structure, labels, edge_labels = (*parts, None)[:3]
    return _from_structure(structure, labels, edge_labels)


def _from_structure(structure: object, labels: Any, edge_labels: Any) -> Graph:
    if sparse.issparse(structure):
        return _from_adjacency(structure, labels, edge_labels)
    if isinstance(structure, Set):
        return Graph(structure, labels, edge_labels)
    if isinstance(structure, Mapping) or not isinstance(structure, Sequence | np.ndarray):
        raise DomainError(f"{_shown(structure)} is not a graph; a graph is {FORMS}")
    rows: Any = structure
    if not isinstance(rows, np.ndarray) and not all(isinstance(row, tuple) for row in rows):
        try:
            rows = np.asarray(rows)
        except ValueError as error:  # rows of different lengths
            raise DomainError(f"a nested list is neither edges nor a matrix: {error}") from error
    if isinstance(rows, np.ndarray):
        if rows.ndim == 2 and rows.shape[0] == rows.shape[1]:
            return _from_adjacency(rows, labels, edge_labels)
        if rows.size and (rows.ndim != 2 or rows.shape[1] != 2):
            raise DomainError(
                f"an array of shape {rows.shape} is neither a square adjacency matrix nor has a "
                f"row of two nodes for each edge; a graph is {FORMS}"
            )
        rows = rows.reshape(-1, 2)
    return Graph(rows, labels, edge_labels)


def _from_adjacency(matrix: Any, labels: Any, edge_labels: Any) -> Graph:
    if edge_labels is not None and not isinstance(edge_labels, Mapping):
        raise DomainError(
            "edges of an adjacency matrix have no order; give edge labels as {(u, v): label}"
        )
    n, m = matrix.shape
    if n != m:
        raise DomainError(f"an adjacency matrix is square, found the shape {matrix.shape}")
    if sparse.issparse(matrix):
        A = sparse.csr_array(matrix, copy=True)  # which adds up entries given twice
        A.eliminate_zeros()
        A = A.tocoo()
        rows, columns, values = A.row, A.col, np.asarray(A.data)
    else:
        A = np.asarray(matrix)
        if A.dtype.kind not in "biuf":
            raise DomainError(f"an adjacency matrix holds zeros and ones, found {A.dtype}")
        rows, columns = np.nonzero(A)
        values = A[rows, columns]
    one = values == 1
    if not one.all():
        i, two = int(np.argmin(one)), n == 2 and not sparse.issparse(matrix)
        hint = "; if these are two edges, write them as tuples" if two else ""
        raise DomainError(
            f"entry ({rows[i]}, {columns[i]}) of an adjacency matrix is {values[i]}; edges have "
            f"no weights here, use A > 0 or edge labels{hint}"
        )
    pairs = np.stack([rows, columns], axis=1).astype(np.int64)
    _check_symmetric(pairs, n)
    return Graph(pairs, labels, edge_labels, nodes=n)


def _check_symmetric(
    pairs: np.ndarray,
    n: int,
    what: str = "an adjacency matrix",
    advice: str = "edges have no direction here, use A + A.T > 0",
) -> None:
    there, back = pairs[:, 0] * n + pairs[:, 1], pairs[:, 1] * n + pairs[:, 0]
    lonely = ~np.isin(back, there)
    if lonely.any():
        u, v = pairs[int(np.argmax(lonely))]
        raise DomainError(
            f"{what} is not symmetric: entry ({u}, {v}) is 1, but ({v}, {u}) is 0; {advice}"
        )


def _is_edge(thing: object) -> bool:
    """Tell a pair of nodes from a collection of such pairs."""
    if not isinstance(thing, tuple | list) or len(thing) != 2:
        return False
    return not any(isinstance(end, tuple | list | np.ndarray | Set) for end in thing)


def _shown(thing: object) -> str:
    return "None" if thing is None else f"something of type {type(thing).__name__}"
