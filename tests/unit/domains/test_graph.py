"""A graph is what was said about it, or an error that says what is wrong."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from mercer.domains import Graph
from mercer.errors import DomainError


def test_edges_are_sorted_and_kept_once():
    graph = Graph([(2, 1), (0, 1), (1, 2), (1, 0)])
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.nodes == 3


@pytest.mark.parametrize(
    "edges", [[(0, 1), (1, 2)], [[0, 1], [1, 2], [0, 1]], {(0, 1), (2, 1)}, ((0, 1), (1, 2))]
)
def test_edges_come_in_any_collection(edges):
    assert Graph(edges) == Graph([(0, 1), (1, 2)])
    assert Graph(np.array(list(edges))) == Graph([(0, 1), (1, 2)])


@pytest.mark.parametrize(
    ("parts", "nodes"),
    [
        ({"edges": []}, 0),
        ({"edges": [], "labels": []}, 0),
        ({"edges": [], "nodes": 4}, 4),
        ({"edges": [], "labels": "CCO"}, 3),
        ({"edges": [(0, 1)], "attributes": [[1.0], [2.0], [3.0]]}, 3),
        ({"edges": [("a", "b")], "nodes": ["a", "b", "lonely"]}, 3),
        ({"edges": [(3, 1)], "labels": {1: "C", 3: "O", 7: "N"}}, 3),
    ],
    ids=str,
)
def test_the_number_of_nodes(parts, nodes):
    assert Graph(**parts).nodes == nodes


def test_names_of_nodes_only_serve_to_read_edges_and_labels():
    named = Graph(
        [("b", "a"), ("b", "c")],
        labels={"a": 1, "b": 2, "c": 3},
        edge_labels={("a", "b"): "x", ("c", "b"): "y"},
    )
    assert named == Graph([(0, 1), (1, 2)], [1, 2, 3], ["x", "y"])


def test_labels_by_number_come_in_the_order_of_the_numbers():
    assert Graph([(0, 1)], labels={1: "b", 0: "a"}).labels == ("a", "b")


def test_edge_labels_follow_their_edges():
    graph = Graph([(2, 1), (1, 0)], edge_labels=["far", "near"])
    assert graph.edge_labels == ("near", "far")
    assert graph == Graph([(1, 0), (2, 1)], edge_labels={(0, 1): "near", (1, 2): "far"})


def test_labels_become_plain_objects():
    graph = Graph([(0, 1)], labels=np.array([1, 2]), edge_labels=np.array(["a"]))
    assert [type(label) for label in (*graph.labels, *graph.edge_labels)] == [int, int, str]
    assert Graph([], labels=pd.Series([1, 2])) == Graph([], labels=[1, 2])


def test_attributes_of_one_column_need_no_second_dimension():
    assert Graph([], attributes=[1, 2, 3]).attributes.tolist() == [[1.0], [2.0], [3.0]]


def test_a_graph_is_a_value():
    graph = Graph([(0, 1)], "CO", ["="], [[1.0], [2.0]])
    for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert again == graph and hash(again) == hash(graph)
    for name in ("labels", "edges", "anything"):
        with pytest.raises(AttributeError):
            setattr(graph, name, None)
        with pytest.raises(AttributeError):
            delattr(graph, name)
    with pytest.raises(ValueError):
        graph.edges[0, 0] = 5
    assert graph != Graph([(0, 1)], "CN", ["="], [[1.0], [2.0]])
    assert graph != Graph([(0, 1)], "CO", ["-"], [[1.0], [2.0]])
    assert graph != Graph([(0, 1)], "CO", ["="], [[1.0], [3.0]])
    assert graph != Graph([(0, 1)], "CO") and graph != "CO"


def test_attributes_stay_their_users():
    numbers = np.zeros((2, 1))
    graph = Graph([(0, 1)], attributes=numbers)
    numbers[0] = 5.0
    assert graph.attributes[0] == 0.0


def test_the_matrix_and_the_neighbors():
    graph = Graph([(0, 2), (1, 2)], nodes=4, edge_labels=["a", "b"])
    assert graph.adjacency().tolist() == [[0, 0, 1, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert graph.neighbors() == [[(2, "a")], [(2, "b")], [(0, "a"), (1, "b")], []]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"edges": [(0, 1), (1, 5)], "nodes": 3}, "edge 1 joins 1 and 5.*no node 5.*3 nodes"),
        ({"edges": [(0, 4)], "labels": "CO"}, "no node 4 among the 2 nodes that have labels"),
        ({"edges": [(0, -1)]}, "no node -1"),
        ({"edges": [("a", "z")], "nodes": ["a"]}, "no node 'z'"),
        ({"edges": [(0, 1), (2, 2)]}, "edge 1 joins node 2 to itself"),
        ({"edges": [("a", "a")], "nodes": ["a"]}, "joins node a to itself"),
        ({"edges": [(0, 1, 2)]}, r"edge 0 is \(0, 1, 2\), not a pair"),
        ({"edges": [(0, 1), (0,)]}, r"edge 1 is \(0,\), not a pair"),
        ({"edges": [("a", "b")]}, "not a pair of node numbers; give nodes"),
        ({"edges": [(0.5, 1.0)]}, "not a pair of node numbers"),
        ({"edges": ["ab"], "nodes": ["a", "b"]}, "not a pair of nodes"),
        ({"edges": 3}, "edges must be pairs of nodes, found int"),
        ({"edges": [], "nodes": -1}, "cannot have -1 nodes"),
        ({"edges": [], "nodes": 1.5}, "found 1.5"),
        ({"edges": [], "nodes": ["a", "a"]}, "two nodes called 'a'"),
        ({"edges": [], "labels": "CC", "nodes": 3}, "2 labels for 3 nodes"),
        ({"edges": [], "labels": {0: "C"}, "nodes": 2}, "node 1 has no label"),
        ({"edges": [], "labels": {0: "C", 9: "C"}, "nodes": 1}, "9, which is not a node"),
        ({"edges": [], "labels": [None]}, "a label is missing"),
        ({"edges": [], "labels": [float("nan")]}, "a label is missing"),
        ({"edges": [], "labels": [pd.NA]}, "a label is missing"),
        ({"edges": [], "labels": [[1.0, 2.0]]}, "a list, .*attributes="),
        ({"edges": [], "labels": {"C"}}, "sequence or a mapping"),
        ({"edges": [(0, 1)], "edge_labels": ["a", "b"]}, "1 edges, but 2 edge labels"),
        ({"edges": {(0, 1)}, "edge_labels": ["a"]}, "a set of edges has no order"),
        ({"edges": [(0, 1)], "edge_labels": {}}, r"\(0, 1\) has no edge label"),
        ({"edges": [(0, 1)], "edge_labels": {(0, 1): 1, (1, 2): 2}}, r"\(1, 2\) .*not an edge"),
        ({"edges": [(0, 1)], "edge_labels": {(0, 1): 1, (1, 0): 2}}, "two labels, 1 and 2"),
        ({"edges": [(0, 1), (1, 0)], "edge_labels": [1, 2]}, "two labels, 1 and 2"),
        ({"edges": [], "attributes": [[1.0], [np.nan]]}, "attribute 0 of node 1 is nan"),
        ({"edges": [], "attributes": [[1.0, np.inf]]}, "attribute 1 of node 0 is inf"),
        ({"edges": [], "attributes": [["a"]]}, "attributes must be numbers"),
        ({"edges": [], "attributes": [[1.0]], "nodes": 2}, r"shape \(1, 1\).*2 nodes"),
        ({"edges": [], "attributes": np.zeros((2, 2, 2))}, r"shape \(2, 2, 2\)"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(parts, words):
    with pytest.raises(DomainError, match=words):
        Graph(**parts)


def test_its_words():
    assert repr(Graph([])) == "<Graph with 0 nodes and 0 edges>"
    full = Graph([(0, 1)], "CO", ["="], [[1.0], [2.0]])
    assert repr(full).endswith("1 edge, labeled nodes, labeled edges, attributes>")
