"""Shortest paths: the convention, the words, and the edges of the definition."""

import numpy as np
import pytest

from mercer.domains import GRAPHS, Graph
from mercer.kernels import Linear, ShortestPath

k = ShortestPath()
ETHANOL = Graph([(0, 1), (1, 2)], "CCO")


def test_each_path_counts_in_both_directions():
    # C–C twice as (C, C, 1); C–O as (C, O, 1) and (O, C, 1); C–C–O as (C, O, 2) and (O, C, 2).
    assert k.pair(ETHANOL, ETHANOL) == 2**2 + 1 + 1 + 1 + 1
    assert k([ETHANOL])[0, 0] == pytest.approx(8.0, abs=1e-14)


@pytest.mark.parametrize("graph", [Graph([], labels=[]), Graph([], "CO")])
def test_without_paths_a_graph_is_zero_to_all(graph):
    assert k([graph, ETHANOL])[0].tolist() == [0.0, 0.0]
    assert k.diagonal([graph]) == [0.0]
    assert k.features([graph]).toarray().tolist() == [[0.0]]  # a feature that nothing has


def test_nodes_that_no_path_joins_are_not_counted():
    apart, together = Graph([(0, 1), (2, 3)]), Graph([(0, 1), (1, 2), (2, 3)])
    distances = [k.encoded(GRAPHS.admit([g])).vocabulary for g in (apart, together)]
    assert [len(vocabulary) for vocabulary in distances] == [1, 3]


def test_patterns_read_as_ends_and_distance():
    vocabulary = k.encoded(GRAPHS.admit([ETHANOL])).vocabulary
    assert {vocabulary[i] for i in range(3)} == {
        "C–C at distance 1",
        "C–O at distance 1",
        "C–O at distance 2",
    }


def test_a_path_of_many_nodes_and_patterns():
    # More patterns, and more of them in one graph, than the tables have room for at first.
    n = 300
    path = Graph([(i, i + 1) for i in range(n - 1)], [i % 7 for i in range(n)])
    other = Graph([(i, i + 1) for i in range(n - 1)], [i % 5 for i in range(n)])
    K = k([path, other])
    counts = {}
    for a, labels in enumerate((path.labels, other.labels)):
        found = counts[a] = {}
        for u in range(n):
            for v in range(n):
                if u != v:
                    key = (labels[u], labels[v], abs(u - v))
                    found[key] = found.get(key, 0) + 1
    for a in (0, 1):
        for b in (0, 1):
            expected = sum(c * counts[b].get(key, 0) for key, c in counts[a].items())
            assert K[a, b] == pytest.approx(expected, rel=1e-13)


def test_attributes_weigh_both_ends():
    x = Graph([(0, 1)], attributes=[[1.0], [2.0]])
    z = Graph([(0, 1)], attributes=[[3.0], [5.0]])
    assert ShortestPath(Linear()).pair(x, z) == 2 * (3 * 10 + 5 * 6)
    assert ShortestPath(Linear())([x], [z]) == [[120.0]]


def test_labels_of_edges_are_not_used():
    one, two = (Graph([(0, 1)], "CC", [bond]) for bond in "-=")
    assert k([one], [two]) == k([one])


def test_the_order_of_codes_makes_no_difference():
    # The same labels get other numbers in another set, where the other end is the smaller one.
    before, after = Graph([(0, 1)], "AB"), Graph([(0, 1), (1, 2)], "BAC")
    assert k([before], [after])[0, 0] == pytest.approx(k.pair(before, after), rel=1e-15)
    assert np.array_equal(k([after], [before]).T, k([before], [after]))
