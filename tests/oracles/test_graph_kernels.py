"""Kernels on graphs against networkx, RDKit, printed numbers, and laws of graphs themselves."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator

from mercer import SVC, KernelRidgeClassifier
from mercer.domains import Graph
from mercer.kernels import (
    Gaussian,
    Graphlet,
    Molecule,
    RandomWalk,
    ShortestPath,
    WeisfeilerLehman,
    normalize,
)
from mercer.selection import GridSearchCV
from tests.laws.graph_items import GRAPH_ITEMS, random_graph

rng = np.random.default_rng(11)
LABELED = [random_graph(rng, n, 0.3) for n in (0, 1, 5, 9, 12, 8)]


def to_networkx(graph: Graph) -> nx.Graph:
    found = nx.Graph()
    for node in range(graph.nodes):
        label = graph.labels[node] if graph.labels is not None else "x"
        found.add_node(node, label=str(label))
    found.add_edges_from(graph.edges.tolist())
    return found


def test_grakel_has_the_same_numbers():
    # GraKeL 0.1.11: WeisfeilerLehman(n_iter=3) on vertex histograms, and ShortestPath().
    graphs = [
        Graph([(0, 1), (1, 2)], "CCO"),
        Graph([(0, 1), (1, 2), (2, 3), (3, 0)], "CCCO"),
        Graph([(0, 1), (2, 3)], "COCC"),
    ]
    subtrees = [[14.0, 9.0, 10.0], [9.0, 28.0, 10.0], [10.0, 10.0, 28.0]]
    paths = [[8.0, 14.0, 6.0], [14.0, 30.0, 12.0], [6.0, 12.0, 6.0]]
    assert WeisfeilerLehman(3)(graphs).tolist() == subtrees
    assert ShortestPath()(graphs).round(12).tolist() == paths


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_labels_agree_where_the_hashes_of_networkx_do(depth):
    hashes = []
    for graph in LABELED:
        found = nx.weisfeiler_lehman_subgraph_hashes(
            to_networkx(graph), node_attr="label", iterations=max(depth, 1),
            include_initial_labels=True, digest_size=32,
        )  # fmt: skip
        # A hash does not know its depth.
        counted = Counter((h, digest) for row in found.values() for h, digest in enumerate(row))
        hashes.append(Counter({key: c for key, c in counted.items() if key[0] <= depth}))
    expected = [[sum(c * b[key] for key, c in a.items()) for b in hashes] for a in hashes]
    assert np.array_equal(WeisfeilerLehman(depth)(LABELED), expected)


def test_paths_are_those_of_networkx():
    counts = []
    for graph in LABELED:
        lengths = dict(nx.all_pairs_shortest_path_length(to_networkx(graph)))
        counts.append(
            Counter(
                (graph.labels[u], graph.labels[v], d)
                for u, row in lengths.items()
                for v, d in row.items()
                if u != v
            )
        )
    expected = [[sum(c * b[key] for key, c in a.items()) for b in counts] for a in counts]
    assert np.allclose(ShortestPath()(LABELED), expected, rtol=1e-14)


def test_walks_are_those_in_the_tensor_product_of_networkx():
    decay = 0.02
    for x in LABELED[2:]:
        for z in LABELED[2:]:
            product = nx.tensor_product(to_networkx(x), to_networkx(z))
            kept = [(u, v) for u, v in product if x.labels[u] == z.labels[v]]
            W = nx.to_numpy_array(product.subgraph(kept)) if kept else np.zeros((0, 0))
            ones = np.ones(len(W))
            expected = ones @ np.linalg.solve(np.eye(len(W)) - decay * W, ones)
            assert RandomWalk(decay)([x], [z])[0, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_shapes_are_those_that_networkx_calls_isomorphic(size):
    graphs = [random_graph(np.random.default_rng(s), 9, 0.4, labels=False) for s in (1, 2)]
    kinds: list[nx.Graph] = []
    counts = []
    for graph in map(to_networkx, graphs):
        found: Counter[int] = Counter()
        for subset in combinations(range(9), size):
            part = nx.Graph(graph.subgraph(subset))
            same = (i for i, kind in enumerate(kinds) if nx.faster_could_be_isomorphic(part, kind)
                    and nx.is_isomorphic(part, kind))  # fmt: skip
            place = next(same, None)
            if place is None:
                place = len(kinds)
                kinds.append(part)
            found[place] += 1
        counts.append(found)
    expected = [[sum(c * b[key] for key, c in a.items()) for b in counts] for a in counts]
    assert np.array_equal(Graphlet(size)(graphs), expected)


def test_fingerprints_are_compared_as_rdkit_does():
    texts = [text for text in GRAPH_ITEMS["molecules"] if text]
    make = rdFingerprintGenerator.GetMorganGenerator(radius=3, fpSize=512).GetFingerprint
    prints = [make(Chem.MolFromSmiles(text)) for text in texts]
    expected = [DataStructs.BulkTanimotoSimilarity(one, prints) for one in prints]
    assert np.allclose(Molecule(3, 512)(texts), expected, rtol=1e-15)


KERNELS = [
    WeisfeilerLehman(3),
    WeisfeilerLehman(2, Gaussian(1.0)),
    WeisfeilerLehman(1, ShortestPath()),
    ShortestPath(),
    ShortestPath(Gaussian(1.0)),
    RandomWalk(0.01),
    RandomWalk(0.3, 3),
    Graphlet(4),
]
seeds = st.integers(0, 10**6)
draws = settings(max_examples=15, deadline=None)


def drawn(seed: int, kind: int, most: int = 7) -> Graph:
    """Return some graph with attributes, with labels on nodes and edges by its kind."""
    rng = np.random.default_rng(seed)
    options = {"labels": kind in (1, 2), "edge_labels": kind >= 2, "attributes": 2}
    return random_graph(rng, int(rng.integers(0, most + 1)), 0.4, **options)


def moved(graph: Graph, order: np.ndarray) -> Graph:
    """Return the same graph with its nodes in another order."""
    back = np.argsort(order)
    labels = None if graph.labels is None else [graph.labels[v] for v in order]
    return Graph(
        back[graph.edges], labels, graph.edge_labels, graph.attributes[order], nodes=graph.nodes
    )


def united(one: Graph, two: Graph) -> Graph:
    """Return two graphs as the pieces of one."""

    def both(name: str):
        a, b = getattr(one, name), getattr(two, name)
        return None if a is None and b is None else [*(a or ()), *(b or ())]

    edges = np.concatenate([one.edges, two.edges + one.nodes])
    attributes = np.concatenate([one.attributes, two.attributes])
    return Graph(edges, both("labels"), both("edge_labels"), attributes, one.nodes + two.nodes)


def nonempty(seed: int, kind: int) -> Graph:
    return next(g for s in range(1000) if (g := drawn(seed + s, kind)).nodes)


@draws
@given(seeds, seeds, st.integers(0, 3))
@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_the_order_of_nodes_makes_no_difference(k, one, two, kind):
    x, z = nonempty(one, kind), nonempty(two, kind)
    order = np.random.default_rng(one).permutation(x.nodes)
    assert k([moved(x, order)], [z, x]) == pytest.approx(k([x], [z, x]), rel=1e-12)


@draws
@given(seeds, seeds, seeds, st.integers(0, 3))
@pytest.mark.parametrize("k", KERNELS[:-1], ids=repr)
def test_a_graph_in_pieces_is_the_sum_of_its_pieces(k, one, two, three, kind):
    x, y, z = (nonempty(seed, kind) for seed in (one, two, three))
    expected = k([x], [z]) + k([y], [z])
    assert k([united(x, y)], [z]) == pytest.approx(expected, rel=1e-12)


@draws
@given(seeds, st.integers(0, 3))
@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_every_pair_is_what_the_definition_says(k, seed, kind):
    graphs = [nonempty(seed + i, kind) for i in range(3)] + [Graph([])]
    expected = [[k.pair(x, z) for z in graphs] for x in graphs]
    assert k(graphs) == pytest.approx(np.array(expected), rel=1e-11, abs=1e-12)
    # Sets that are encoded apart have labels of their own, with numbers of their own.
    apart = k(graphs[::-1], graphs[1:])
    assert apart == pytest.approx(np.array(expected)[::-1, 1:], rel=1e-11, abs=1e-12)
    values = np.linalg.eigvalsh(k(graphs))
    assert values[0] >= -1e-12 * max(values[-1], 1.0)


def rings_and_paths():
    rng = np.random.default_rng(3)
    graphs, y = [], []
    for i in range(60):
        n = int(rng.integers(4, 9))
        edges = [(j, j + 1) for j in range(n - 1)] + ([(n - 1, 0)] if i % 2 else [])
        graphs.append(Graph(edges, rng.choice(list("CN"), n)))
        y.append("ring" if i % 2 else "path")
    return np.array([*graphs, None], dtype=object)[:-1], np.array(y)


@pytest.mark.parametrize(
    "k",
    [
        WeisfeilerLehman(2),
        ShortestPath(),
        RandomWalk(0.2),
        WeisfeilerLehman(1, ShortestPath()),
    ],
    ids=repr,
)
def test_machines_learn_from_graphs(k):
    X, y = rings_and_paths()
    for machine in (SVC(normalize(k), C=100.0), KernelRidgeClassifier(normalize(k), 1e-3)):
        machine.fit(X[:40], y[:40])
        assert machine.score(X[40:], y[40:]) >= 0.75
        assert machine.predict([Graph([(0, 1), (1, 2)], "CXC")])[0] in ("path", "ring")


def test_the_depth_is_searched_like_any_parameter():
    X, y = rings_and_paths()
    grid = {"kernel__kernel__depth": [0, 1, 2], "C": [1.0, 100.0]}
    search = GridSearchCV(SVC(normalize(WeisfeilerLehman(1))), grid, cv=3).fit(X, y)
    assert search.best_params_["kernel__kernel__depth"] > 0
    assert search.best_score_ > 0.9
