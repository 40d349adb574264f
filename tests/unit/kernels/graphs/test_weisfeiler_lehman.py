"""Refined labels: what they count, how they read, and which graphs they cannot take."""

import numpy as np
import pandas as pd
import pytest

from mercer.domains import GRAPHS, Graph
from mercer.errors import DomainError, ValidityError
from mercer.kernels import (
    Categorical,
    Constant,
    Gaussian,
    Graphlet,
    Linear,
    RandomWalk,
    ShortestPath,
    Spectrum,
    WeisfeilerLehman,
)
from mercer.kernels.graphs.refinement_loops import _sort
from tests.laws.graph_items import GRAPH_ITEMS, random_graph

LABELED = GRAPH_ITEMS["graphs"]
ETHANOL = Graph([(0, 1), (1, 2)], "CCO")


def test_depth_zero_counts_labels():
    other = Graph([], "COON")
    assert WeisfeilerLehman(0).pair(ETHANOL, other) == 2 * 1 + 1 * 2
    assert WeisfeilerLehman(0)([ETHANOL], [other]) == [[4.0]]


def test_a_cycle_of_six_looks_like_two_of_three():
    # The refinement cannot tell regular graphs of one degree apart.
    hexagon = Graph([(i, (i + 1) % 6) for i in range(6)])
    triangles = Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    K = WeisfeilerLehman(4)([hexagon, triangles])
    assert K.tolist() == [[5 * 36.0] * 2] * 2


def test_edge_labels_refine_and_may_be_the_only_difference():
    one, two = (Graph([(0, 1)], "CC", [bond]) for bond in ("single", "double"))
    assert WeisfeilerLehman(2)([one], [two]) == [[4.0]]
    assert WeisfeilerLehman(2)([one], [one]) == [[12.0]]


def test_patterns_read_as_trees():
    names = [WeisfeilerLehman(2).encoded(GRAPHS.admit([ETHANOL])).vocabulary[i] for i in range(8)]
    assert names == [
        "depth 0: C",
        "depth 0: O",
        "depth 1: C(C)",
        "depth 1: C(C,O)",
        "depth 1: O(C)",
        "depth 2: C(C(C,O))",
        "depth 2: C(C(C),O(C))",
        "depth 2: O(C(C,O))",
    ]
    bonds = WeisfeilerLehman(1).encoded(GRAPHS.admit(["C=O"])).vocabulary
    assert bonds[2] == "depth 1: C([DOUBLE]O)"
    plain = WeisfeilerLehman(1).encoded(GRAPHS.admit([[(0, 1)]])).vocabulary
    assert plain[1] == "depth 1: •(•)"


def test_the_tree_of_a_hub_is_cut_short():
    star = Graph([(0, i) for i in range(1, 200)])
    vocabulary = WeisfeilerLehman(5).encoded(GRAPHS.admit([star])).vocabulary
    assert max(len(vocabulary[i]) for i in range(len(vocabulary))) < 2000
    assert any("…" in vocabulary[i] for i in range(len(vocabulary)))


def test_a_hub_with_many_neighbors_is_counted_right():
    rng = np.random.default_rng(0)
    hubs = []
    for labels in (rng.choice(list("abc"), 80), rng.choice(list("abc"), 80)):
        hubs.append(Graph([(0, i) for i in range(1, 80)], labels))
    shuffled = Graph([(79, i) for i in range(79)], [*hubs[0].labels[:0:-1], hubs[0].labels[0]])
    k = WeisfeilerLehman(2)
    for x in hubs:
        assert k([x], hubs)[0].tolist() == [k.pair(x, z) for z in hubs]
    assert k([hubs[0]], [shuffled]) == k([hubs[0]])


@pytest.mark.parametrize("name", ["graphs", "plain graphs", "graphs with bonds", "molecules"])
@pytest.mark.parametrize("k", [WeisfeilerLehman(3), ShortestPath()], ids=repr)
def test_occurrences_add_up_to_the_counts(k, name):
    points = GRAPHS.admit(GRAPH_ITEMS[name])
    found, patterns = k.occurrences(points), k.patterns(points)
    total = np.zeros(patterns.matrix.shape)
    np.add.at(total, (found.item, found.column), found.weight)
    assert np.allclose(total, patterns.matrix.toarray(), rtol=1e-14)
    units = k.units(points)
    assert [len(u) for u in units] == points.sizes.tolist()
    assert (found.parts < points.sizes[np.repeat(found.item, np.diff(found.starts))]).all()
    assert found.starts[-1] == len(found.parts)


def test_an_occurrence_is_at_the_node_that_has_the_label():
    points = GRAPHS.admit([ETHANOL, ETHANOL])
    k = WeisfeilerLehman(1)
    found, vocabulary = k.occurrences(points), k.patterns(points).vocabulary
    at = {(int(i), int(p)): [] for i, p in zip(found.item, found.parts, strict=True)}
    for item, column, part in zip(found.item, found.column, found.parts, strict=True):
        at[item, part].append(vocabulary[column])
    assert at[1, 2] == ["depth 0: O", "depth 1: O(C)"]
    assert at[0, 1] == ["depth 0: C", "depth 1: C(C,O)"]
    assert k.units(points) == [["C", "C", "O"]] * 2
    assert k.units(GRAPHS.admit([[(0, 1)]])) == [["0", "1"]]


@pytest.mark.parametrize(
    "k",
    [WeisfeilerLehman(2), WeisfeilerLehman(2, RandomWalk(0.01)), ShortestPath(), RandomWalk(0.01)],
    ids=repr,
)
def test_graphs_with_labels_are_not_compared_to_graphs_without(k):
    with pytest.raises(DomainError, match="labels on their nodes are compared to graphs without"):
        k([ETHANOL], [[(0, 1)]])
    with pytest.raises(DomainError, match="without"):
        k([[(0, 1)]], [ETHANOL])
    assert k([ETHANOL], [[]]) == [[0.0]]  # nothing has no labels to miss


@pytest.mark.parametrize("k", [WeisfeilerLehman(1), RandomWalk(0.1)], ids=repr)
def test_edges_with_labels_are_not_compared_to_edges_without(k):
    with pytest.raises(DomainError, match="labels on their edges"):
        k([Graph([(0, 1)], "CC", ["-"])], [Graph([(0, 1)], "CC")])


def test_labels_never_seen_meet_nothing_but_count_in_themselves():
    strange = Graph([(0, 1)], "XY")
    k = WeisfeilerLehman(2)
    assert not k([strange], LABELED).any()
    assert k.diagonal([strange]) == [6.0]


def test_a_base_on_labels_is_the_kernel_without_one():
    assert np.array_equal(
        WeisfeilerLehman(3, Categorical())(LABELED), WeisfeilerLehman(3)(LABELED)
    )
    assert np.array_equal(ShortestPath(Categorical())(LABELED), ShortestPath()(LABELED).round(9))


def test_a_base_on_graphs_is_added_up_over_depths():
    # Graphlets do not look at labels, so that all depths are the same.
    assert np.array_equal(WeisfeilerLehman(2, Graphlet(3))(LABELED), 3 * Graphlet(3)(LABELED))
    deep = WeisfeilerLehman(1, WeisfeilerLehman(1))
    assert deep.pair(ETHANOL, ETHANOL) == deep([ETHANOL])[0, 0]


def test_patterns_of_a_base_say_their_depth():
    k = WeisfeilerLehman(1, ShortestPath())
    vocabulary = k.encoded(GRAPHS.admit([ETHANOL])).vocabulary
    assert vocabulary[0] == "depth 0: C–C at distance 1"
    assert vocabulary[len(vocabulary) - 1] == "depth 1: C(C,O)–O(C) at distance 1"


@pytest.mark.parametrize(
    "k", [WeisfeilerLehman(1, Gaussian(1.0)), ShortestPath(Linear())], ids=repr
)
def test_a_base_needs_what_it_compares(k):
    with pytest.raises(
        DomainError, match="compares attributes of nodes, but the graphs have none"
    ):
        k([ETHANOL])
    with pytest.raises(DomainError, match="1 and 2 columns"):
        k([Graph([], attributes=[[1.0]])], [Graph([], attributes=[[1.0, 2.0]])])
    assert k([Graph([]), Graph([])]).tolist() == [[0.0, 0.0]] * 2
    assert k.occurrences(GRAPHS.admit([[]])) is None
    with pytest.raises(ValidityError, match="no finite feature map"):
        k.features([Graph([], attributes=[[1.0]])])


def test_a_base_on_labels_needs_labels():
    with pytest.raises(DomainError, match="compares labels of nodes"):
        WeisfeilerLehman(1, Categorical())([[(0, 1)]])


def test_a_constant_base_needs_nothing():
    rng = np.random.default_rng(1)
    graphs = [random_graph(rng, n, attributes=1) for n in (3, 4)]
    assert WeisfeilerLehman(0, Constant(2.0)).pair(*graphs) == pytest.approx(
        2 * WeisfeilerLehman(0).pair(*graphs)
    )
    path = [(0, 1), (1, 2)]
    k = ShortestPath(Constant(1.0))
    assert k([path]) == ShortestPath()([path]) == k.pair(path, path)


def test_a_heuristic_of_the_base_is_resolved_on_all_nodes():
    rng = np.random.default_rng(2)
    graphs = [random_graph(rng, n, attributes=2) for n in (3, 0, 6)]
    nodes = np.concatenate([g.attributes for g in graphs if g.nodes])
    for k in (WeisfeilerLehman(1, Gaussian()), WeisfeilerLehman(1, ShortestPath(Gaussian()))):
        found = k.resolve(graphs)
        base = found.base if isinstance(found.base, Gaussian) else found.base.base
        assert base == Gaussian().resolve(nodes)
    with pytest.raises(DomainError, match="no nodes"):
        WeisfeilerLehman(1, Gaussian()).resolve([Graph([])])


def test_large_graphs_are_cut_into_tiles_of_nodes():
    rng = np.random.default_rng(3)
    graphs = [random_graph(rng, n, 0.01, attributes=2) for n in (700, 30, 650, 5)]
    k = WeisfeilerLehman(1, Gaussian(1.0))
    K = k(graphs)
    assert np.allclose(k.diagonal(graphs), np.diag(K))
    small = [graphs[1], graphs[3]]
    assert np.allclose(K[np.ix_([1, 3], [1, 3])], [[k.pair(x, z) for z in small] for x in small])
    assert np.allclose(k(graphs[1:], graphs[:1]), K[1:, :1])


MANY_BASES = [
    WeisfeilerLehman(2),
    WeisfeilerLehman(2, Gaussian(1.0)),
    WeisfeilerLehman(2, Categorical()),
    WeisfeilerLehman(2, ShortestPath()),
    ShortestPath(Gaussian(1.0)),
]


@pytest.mark.parametrize("before", MANY_BASES, ids=repr)
@pytest.mark.parametrize("k", MANY_BASES, ids=repr)
def test_a_part_of_a_set_that_another_kernel_has_encoded(before, k):
    rng = np.random.default_rng(0)
    graphs = [random_graph(rng, int(n), attributes=2) for n in rng.integers(1, 9, 9)]
    points = GRAPHS.admit(graphs)
    before.encode(points)
    assert k(points[4:8]) == pytest.approx(k(graphs[4:8]))
    assert k(points[4:8], points) == pytest.approx(k(graphs[4:8], graphs))


def test_occurrences_of_a_part_are_in_the_columns_of_the_whole():
    k = WeisfeilerLehman(2)
    points = k.admit(["CCO", "CCN", "c1ccccc1"])
    part = points[1:]
    where = k.occurrences(part)
    counts = np.zeros(k.encoded(part).matrix.shape)
    np.add.at(counts, (where.item, where.column), where.weight)
    assert counts == pytest.approx(k.encoded(part).matrix.toarray())


@pytest.mark.parametrize(
    "base", [ShortestPath(Categorical()), WeisfeilerLehman(1, Spectrum(1))], ids=repr
)
def test_new_labels_are_not_compared_by_what_is_written_on_them(base):
    # Where trees are too large to be written out, different labels would look equal.
    k = WeisfeilerLehman(1, base)
    with pytest.raises(ValidityError, match="can only be equal or not; leave this base out"):
        k([ETHANOL, ETHANOL])


def test_a_column_of_a_table_may_hold_graphs():
    table = pd.DataFrame({"graph": [ETHANOL, Graph([], "C")], "size": [3.0, 1.0]})
    k = WeisfeilerLehman(1).on("graph") + Gaussian(1.0).on("size")
    expected = WeisfeilerLehman(1)(table["graph"]) + Gaussian(1.0)(table[["size"]])
    assert np.allclose(k(table), expected)
    rows = table.to_dict(orient="records")
    assert k.pair(*rows) == pytest.approx(expected[0, 1])


@pytest.mark.parametrize("depth", [-1, 1.5, "two", None, True, False])
def test_bad_depths(depth):
    with pytest.raises(ValidityError, match="depth"):
        WeisfeilerLehman(depth)


@pytest.mark.parametrize("make", [lambda b: WeisfeilerLehman(1, b), ShortestPath])
def test_a_base_is_a_kernel(make):
    with pytest.raises(ValidityError, match="must be a kernel or None, found 'gaussian'"):
        make("gaussian")


@pytest.mark.parametrize("count", [0, 1, 2, 24, 25, 26, 100, 333])
def test_neighbors_are_sorted_however_many_there_are(count):
    words = np.random.default_rng(count).integers(0, 50, count + 6)
    wanted = np.concatenate([words[:3], np.sort(words[3 : 3 + count]), words[3 + count :]])
    _sort(words, 3, 3 + count)
    np.testing.assert_array_equal(words, wanted)
