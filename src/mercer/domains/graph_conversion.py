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
    "a Graph, a networkx graph, an adjacency matrix, a list of edges (tuples), a tuple of one of "
    "these with labels, or a SMILES string"
)


def as_graph(thing: object) -> Graph:
    """Return one graph, in whatever form it comes.

    - a `Graph`;
    - a networkx graph, with the attributes "label" of nodes and edges and "attributes" of nodes;
    - a square array, nested list or sparse matrix of zeros and ones: the adjacency matrix;
    - a list or set of pairs, or an array with two columns: the edges (two edges are written as
      tuples, since an array of two rows is an adjacency matrix);
    - a tuple (adjacency matrix or edges, labels) or (…, labels, edge labels);
    - a SMILES string or a molecule of RDKit.

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
    if isinstance(thing, tuple) and thing and not _is_edge(thing[0]):
        return _from_tuple(thing)
    return _from_structure(thing, None, None)


def is_graph(thing: object) -> bool:
    """Tell whether something is one graph, where a sequence of graphs is expected."""
    return isinstance(thing, Graph) or _is_networkx(thing) or sparse.issparse(thing)


def _is_networkx(thing: object) -> bool:
    names = ("nodes", "edges", "is_directed", "is_multigraph")
    return all(hasattr(thing, name) for name in names)


def _from_networkx(graph: Any) -> Graph:
    kind = type(graph).__name__
    if graph.is_directed():
        raise DomainError(f"a {kind} has directed edges; use .to_undirected()")
    if graph.is_multigraph():
        raise DomainError(f"a {kind} may have several edges between two nodes; use nx.Graph(g)")
    nodes, edges = dict(graph.nodes(data=True)), list(graph.edges(data=True))
    pairs = [(u, v) for u, v, _ in edges]
    return Graph(
        pairs,
        labels=_all_or_none(list(nodes.values()), "label", list(nodes), "node"),
        edge_labels=_all_or_none([data for _, _, data in edges], "label", pairs, "edge"),
        attributes=_all_or_none(list(nodes.values()), "attributes", list(nodes), "node"),
        nodes=list(nodes),
    )


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


def _check_symmetric(pairs: np.ndarray, n: int) -> None:
    there, back = pairs[:, 0] * n + pairs[:, 1], pairs[:, 1] * n + pairs[:, 0]
    lonely = ~np.isin(back, there)
    if lonely.any():
        u, v = pairs[int(np.argmax(lonely))]
        raise DomainError(
            f"an adjacency matrix is not symmetric: entry ({u}, {v}) is 1, but ({v}, {u}) is 0; "
            "edges have no direction here, use A + A.T > 0"
        )


def _is_edge(thing: object) -> bool:
    """Tell a pair of nodes from a collection of such pairs."""
    if not isinstance(thing, tuple | list) or len(thing) != 2:
        return False
    return not any(isinstance(end, tuple | list | np.ndarray | Set) for end in thing)


def _shown(thing: object) -> str:
    return "None" if thing is None else f"something of type {type(thing).__name__}"
