"""Graphs and molecules to hold the laws against: empty, in pieces, equal, with rare labels."""

from __future__ import annotations

import numpy as np

from mercer.domains import Graph

__all__ = ["GRAPH_ITEMS", "random_graph"]

ATOMS, BONDS = ("C", "N", "O"), ("single", "double")


def random_graph(
    rng: np.random.Generator,
    nodes: int,
    density: float = 0.35,
    labels: bool = True,
    edge_labels: bool = False,
    attributes: int = 0,
) -> Graph:
    """Return a graph in which each pair of nodes is joined with the same probability."""
    u, v = np.triu_indices(nodes, 1)
    kept = rng.random(len(u)) < density
    edges = np.stack([u[kept], v[kept]], axis=1)
    return Graph(
        edges,
        rng.choice(ATOMS, nodes) if labels else None,
        rng.choice(BONDS, len(edges)) if edge_labels else None,
        rng.normal(size=(nodes, attributes)) if attributes else None,
        nodes,
    )


def several(seed: int, **options) -> list[Graph]:
    """Return small graphs, the first two equal."""
    rng = np.random.default_rng(seed)
    sizes = (4, 6, 3, 5, 7, 2, 6, 5)
    found = [random_graph(rng, nodes, **options) for nodes in sizes]
    return [found[0], *found]


def labeled() -> list[object]:
    return [
        *several(1),
        Graph([], labels=[]),
        ([(0, 1), (2, 3)], ["C", "C", "N", "rare"]),
        (np.array([[0, 1], [1, 0]]).tolist(), {0: "C", 1: "O"}),
        Graph([], labels=["C", "C", "N"]),
        Graph([("a", "b"), ("b", "c")], labels={"a": "C", "b": "N", "c": "C"}),
    ]


def plain() -> list[object]:
    rng = np.random.default_rng(2)
    return [
        *several(3, labels=False),
        [],
        [(0, 1), (1, 2), (0, 2), (3, 4)],
        random_graph(rng, 6, labels=False).adjacency(),
        Graph([], nodes=3),
        np.array([[0, 1], [1, 2], [2, 3]]),
        random_graph(rng, 9, 0.5, labels=False),
    ]


GRAPH_ITEMS: dict[str, object] = {
    "graphs": labeled(),
    "plain graphs": plain(),
    "graphs with bonds": [
        *several(4, edge_labels=True),
        Graph([], labels=["C", "N"]),
        Graph([(0, 1)], labels=["C", "C"], edge_labels=["triple"]),
    ],
    "graphs with attributes": [*several(5, attributes=2), Graph([], labels=[]), Graph([])],
    "molecules": [
        "CCO", "OCC", "c1ccccc1", "C", "CC(=O)Oc1ccccc1C(=O)O", "[Na+].[Cl-]", "C#N", "CCO", "",
        "CC(C)CC1=CC=C(C=C1)C(C)C(=O)O", "N", "C1CC1",
    ],
}  # fmt: skip
