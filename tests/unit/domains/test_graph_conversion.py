"""All forms of a graph are the same graph."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from mercer.domains import Graph, as_graph, graph_conversion
from mercer.errors import DomainError
from mercer.kernels import WeisfeilerLehman

PATH = Graph([(0, 1), (1, 2)])
MATRIX = PATH.adjacency()


@pytest.mark.parametrize(
    "form",
    [
        PATH,
        [(0, 1), (1, 2)],
        ((0, 1), (1, 2)),
        {(0, 1), (2, 1)},
        [[0, 1], [1, 2], [2, 1]],
        np.array([[0, 1], [1, 2], [2, 1]]),
        MATRIX,
        MATRIX.astype(bool),
        MATRIX.astype(int).tolist(),
        sparse.csr_matrix(MATRIX),
        sparse.coo_array(MATRIX),
        nx.path_graph(3),
    ],
    ids=lambda form: type(form).__name__,
)
def test_a_path(form):
    assert as_graph(form) == PATH


@pytest.mark.parametrize("form", [[], (), np.empty((0, 2), int), np.zeros((0, 0)), nx.Graph()])
def test_nothing(form):
    found = as_graph(form)
    assert found.nodes == 0 and len(found.edges) == 0


@pytest.mark.parametrize(
    "form",
    [
        ([(0, 1), (1, 2)], "CCO"),
        ([(0, 1), (1, 2)], ["C", "C", "O"]),
        (MATRIX, np.array(["C", "C", "O"])),
        (MATRIX.astype(int).tolist(), {0: "C", 1: "C", 2: "O"}),
        (sparse.csr_array(MATRIX), "CCO"),
        ({(1, 2), (2, 3)}, {1: "C", 2: "C", 3: "O"}),
        (((0, 1), (1, 2)), "CCO"),
        (np.array([[0, 1], [1, 2], [1, 0]]), "CCO", None),
    ],
    ids=str,
)
def test_a_path_with_labels(form):
    assert as_graph(form) == Graph([(0, 1), (1, 2)], "CCO")


@pytest.mark.parametrize(
    "form",
    [
        ([(0, 1), (1, 2)], "CCO", ["-", "="]),
        (MATRIX, "CCO", {(0, 1): "-", (2, 1): "="}),
        ([(0, 1), (1, 2)], "CCO", {(1, 0): "-", (2, 1): "="}),
    ],
    ids=str,
)
def test_a_path_with_labels_on_edges_too(form):
    assert as_graph(form) == Graph([(0, 1), (1, 2)], "CCO", ["-", "="])


def test_nodes_without_edges_keep_their_labels():
    assert as_graph(([], ["C", "N"])) == Graph([], "CN")
    assert as_graph((np.zeros((2, 2)), "CN")) == Graph([], "CN")
    assert as_graph(np.zeros((2, 2))).nodes == 2


def test_labels_and_attributes_of_networkx():
    graph = nx.Graph()
    graph.add_node("x", label="C", attributes=[1.0, 2.0])
    graph.add_node("y", label="O", attributes=[3.0, 4.0])
    graph.add_edge("y", "x", label="=", weight=5.0)
    expected = Graph([(0, 1)], "CO", ["="], [[1.0, 2.0], [3.0, 4.0]])
    assert as_graph(graph) == expected


def broken_networkx():
    graph = nx.path_graph(2)
    graph.nodes[0]["label"] = "C"
    return graph


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (nx.DiGraph([(0, 1)]), "DiGraph has directed edges"),
        (nx.MultiGraph([(0, 1)]), "MultiGraph may have several edges"),
        (nx.Graph([(0, 0)]), "to itself"),
        (broken_networkx(), "node 1 has no attribute 'label'"),
        ([[0, 1, 0], [0, 0, 0], [0, 0, 0]], r"not symmetric: entry \(0, 1\) is 1"),
        (sparse.csr_array(np.triu(MATRIX)), "not symmetric"),
        (MATRIX * 0.5, r"entry \(0, 1\) of an adjacency matrix is 0.5; edges have no weights"),
        (np.where(MATRIX > 0, np.nan, 0.0), "is nan"),
        (np.eye(3), "to itself"),
        (np.array([[0, 1], [1, 2]]), "write them as tuples"),
        (np.array([["a", "b", "c"]] * 3), "zeros and ones"),
        (sparse.csr_array(np.ones((2, 3))), "is square"),
        (np.zeros((3, 4)), r"shape \(3, 4\) is neither"),
        (np.zeros(3), r"shape \(3,\) is neither"),
        ([[0, 1], [0]], "neither edges nor a matrix"),
        (MATRIX[:, :2], "not a pair of node numbers"),
        ((MATRIX, "CC"), "2 labels for 3 nodes"),
        ((MATRIX, "CCO", ["-", "="]), "have no order; give edge labels as"),
        ((MATRIX,), "found 1 parts"),
        ((MATRIX, None, None, None), "found 4 parts"),
        (None, "None is not a graph"),
        (3.5, "type float is not a graph"),
        ({0: [1]}, "type dict is not a graph"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_graph_is_refused_by_its_reason(form, words):
    with pytest.raises(DomainError, match=words):
        as_graph(form)


def test_entries_of_a_sparse_matrix_that_are_zero_are_no_edges():
    matrix = sparse.coo_array(([1, 1, 0, 0], ([0, 1, 0, 2], [1, 0, 2, 0])), (3, 3))
    assert as_graph(matrix) == Graph([(0, 1)], nodes=3)


# ---- networkx graphs in one pass, and edge_index -----------------------------------------------


def random_networkx(seed):
    """Return a graph of networkx with names and labels of several kinds."""
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(int(rng.integers(0, 9)), int(rng.integers(0, 12)), seed=seed)
    if seed % 2:
        graph = nx.relabel_nodes(graph, {node: f"n{7 * node % 10}" for node in graph})
    if seed % 3:
        for node in graph:
            graph.nodes[node]["label"] = "CNO"[int(rng.integers(3))]
    if seed % 5 < 2:
        for edge in graph.edges:
            graph.edges[edge]["label"] = int(rng.integers(3))
    return graph


@pytest.mark.parametrize("seed", range(30))
def test_one_pass_gives_what_looking_at_every_part_gives(monkeypatch, seed):
    graph = random_networkx(seed)
    quick = as_graph(graph)
    assert graph_conversion._plain_networkx(graph, dict(graph.nodes(data=True))) == quick
    monkeypatch.setattr(graph_conversion, "PLAIN", frozenset())
    slow = as_graph(graph)
    assert quick == slow and repr(quick) == repr(slow)
    assert not quick.edges.flags.writeable


@pytest.mark.parametrize(
    "spoil",
    [
        lambda g: g.add_edge(1, 1),
        lambda g: g.nodes[1].update(label=None),
        lambda g: g.nodes[1].update(label=float("nan")),
        lambda g: g.nodes[1].pop("label"),
        lambda g: g.edges[0, 1].update(label="a"),
        lambda g: g.nodes[1].update(label=["C"]),
    ],
)
def test_what_is_wrong_with_a_networkx_graph_is_still_said(monkeypatch, spoil):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, "C", "label")
    spoil(graph)
    with pytest.raises(DomainError) as quick:
        as_graph(graph)
    monkeypatch.setattr(graph_conversion, "PLAIN", frozenset())
    with pytest.raises(DomainError) as slow:
        as_graph(graph)
    assert str(quick.value) == str(slow.value)


def test_attributes_and_odd_names_take_the_long_way():
    graph = nx.Graph([((0, 0), (0, 1)), ((0, 1), (1, 1))])
    assert as_graph(graph) == PATH
    nx.set_node_attributes(graph, [1.0, 2.0], "attributes")
    np.testing.assert_array_equal(as_graph(graph).attributes, [[1.0, 2.0]] * 3)
    view = nx.path_graph(5).subgraph([1, 2, 3])
    assert as_graph(view) == PATH


def edge_index(pairs, **more):
    return SimpleNamespace(edge_index=np.array(pairs).T.reshape(2, -1), **more)


BOTH_WAYS = [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_an_edge_index_is_a_graph():
    assert as_graph(edge_index(BOTH_WAYS)) == PATH
    assert as_graph(edge_index(BOTH_WAYS, num_nodes=4)).nodes == 4
    found = as_graph(edge_index(BOTH_WAYS, num_nodes=3, x=[[1.0], [2.0], [3.0]]))
    np.testing.assert_array_equal(found.attributes, [[1.0], [2.0], [3.0]])
    empty = SimpleNamespace(edge_index=np.empty((2, 0), int), num_nodes=2)
    assert as_graph(empty) == Graph([], nodes=2)
    with pytest.raises(DomainError, match="put it into a list"):
        WeisfeilerLehman(1)(edge_index(BOTH_WAYS))


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (edge_index(BOTH_WAYS[:3]), r"entry \(1, 2\) is 1, but \(2, 1\) is 0"),
        (SimpleNamespace(edge_index=np.zeros((3, 2), int)), r"shape \(3, 2\)"),
        (SimpleNamespace(edge_index=np.array([[0.5], [1.0]])), "whole numbers"),
        (edge_index(BOTH_WAYS, num_nodes=2), "there is no node 2"),
        (edge_index([(0, 0)]), "to itself"),
        (edge_index(BOTH_WAYS, x=[[1.0], [float("nan")], [0.0]]), "attribute 0 of node 1 is nan"),
    ],
)
def test_a_wrong_edge_index_is_named(thing, words):
    with pytest.raises(DomainError, match=words):
        as_graph(thing)
