"""A set of graphs is admitted once, sliced without copying, and complains by item."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.domains import GRAPHS, Graph, Graphs
from mercer.errors import DomainError
from tests.laws.graph_items import random_graph

SET = [
    Graph([(0, 1), (1, 2)], "CCO", ["-", "="]),
    Graph([], labels=[]),
    Graph([], "N"),
    Graph([(0, 3), (1, 2)], "OCCN", ["-", "-"]),
]


@st.composite
def sets(draw):
    """Draw a set of graphs of one kind, of any size from nothing on."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = {"labels": draw(st.booleans()), "edge_labels": draw(st.booleans())}
    sizes = draw(st.lists(st.integers(0, 7), min_size=1, max_size=6))
    attributes = draw(st.sampled_from([0, 2]))
    return [random_graph(rng, n, 0.4, attributes=attributes, **kind) for n in sizes]


def same(found: Graphs, expected: list[Graph]) -> bool:
    """Tell whether graphs are equal, where one without nodes or edges may lose its kind."""
    return all(
        a.nodes == b.nodes
        and np.array_equal(a.edges, b.edges)
        and (not a.nodes or a.labels == b.labels)
        and (not len(a.edges) or a.edge_labels == b.edge_labels)
        and (not a.nodes or np.array_equal(a.attributes, b.attributes))
        for a, b in zip(found.items(), expected, strict=True)
    )


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(sets(), st.data())
def test_graphs_come_out_as_they_went_in(graphs, data):
    points = GRAPHS.admit(graphs)
    assert same(points, graphs)
    rows = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=8))
    some = [graphs[i] for i in rows]
    taken = points[np.array(rows)]
    assert same(taken, some) and same(taken.packed, some)
    assert same(pickle.loads(pickle.dumps(taken)), some)
    assert same(points.concat(taken), graphs + some)
    half = slice(len(graphs) // 2, None)
    assert same(points[half].packed, graphs[half])


def test_parts_share_the_arrays_of_the_whole():
    points = GRAPHS.admit(SET)
    assert points[1:3].net is points.net
    assert points[np.array([3, 0])].net is points.net
    assert points.packed is points


def test_a_pickle_holds_only_its_own_graphs():
    rng = np.random.default_rng(0)
    points = GRAPHS.admit([random_graph(rng, 20) for _ in range(200)])
    assert len(pickle.dumps(points[:2])) < len(pickle.dumps(points)) / 20


def test_neighbors_are_sorted():
    net = GRAPHS.admit([Graph([(2, 0), (2, 3), (1, 2)])]).net
    assert net.neighbors[net.starts[2] : net.starts[3]].tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    "container",
    [
        tuple,
        pd.Series,
        lambda graphs: np.array([*graphs, None], dtype=object)[:-1],
        lambda graphs: pd.DataFrame({"graph": graphs}),
        lambda graphs: pd.Series(graphs, index=range(7, 7 + len(graphs))),
        GRAPHS.admit,
    ],
)
def test_containers(container):
    assert same(GRAPHS.admit(container(SET)), SET)


def test_a_stack_of_matrices_is_a_set_of_graphs():
    stack = np.stack([Graph([(0, 1)], nodes=3).adjacency(), np.zeros((3, 3))])
    assert [len(g.edges) for g in GRAPHS.admit(stack).items()] == [1, 0]


def test_forms_may_be_mixed():
    forms = [[(0, 1)], nx.path_graph(2), np.array([[0, 1], [1, 0]]), Graph([(0, 1)])]
    assert same(GRAPHS.admit(forms), [Graph([(0, 1)])] * 4)


def test_kinds():
    assert GRAPHS.admit(SET).kind == (True, True)
    assert GRAPHS.admit([[(0, 1)]]).kind == (False, False)
    assert GRAPHS.admit([Graph([], "N")]).kind == (True, None)
    assert GRAPHS.admit([Graph([], labels=[]), []]).kind == (None, None)


ONE = Graph([(0, 1)])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([], "0 sample"),
        (ONE, "is one graph.*put it into a list"),
        (nx.path_graph(3), "is one graph"),
        (np.zeros((3, 3)), r"shape \(3, 3\), not a sequence of graphs"),
        (pd.DataFrame({"a": [ONE], "b": [ONE]}), "2 columns"),
        ([ONE, [(0, 0)]], "item 1 of X is not a graph: edge 0 joins node 0 to itself"),
        ([ONE, None], "item 1 of X is not a graph: None"),
        ([ONE, Graph([]), SET[2]], "item 2 of X has labels on its nodes, but item 0 has none"),
        ([SET[2], ONE], "item 1 of X has no labels on its nodes, but item 0 has them"),
        ([SET[0], Graph([(0, 1)], "CC")], "item 1 of X has no labels on its edges"),
        ([ONE, Graph([], attributes=[1.0])], "item 1 of X has attributes"),
        (
            [Graph([], attributes=[[1.0]]), Graph([], attributes=[[1.0, 2.0]])],
            "item 1 of X has 2 attributes for each node, but item 0 has 1",
        ),
    ],
    ids=str,
)
def test_bad_sets_are_refused_by_item(X, words):
    with pytest.raises(DomainError, match=words):
        GRAPHS.admit(X)


def test_the_name_of_the_container_is_in_the_complaint():
    with pytest.raises(DomainError, match="item 0 of centers"):
        GRAPHS.admit([3], "centers")
