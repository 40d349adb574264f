"""Graphlets: shapes, counts and samples."""

import math

import numpy as np
import pytest

from mercer import threads
from mercer.domains import GRAPHS, Graph
from mercer.errors import ValidityError
from mercer.kernels import Graphlet
from mercer.kernels.graphs import graphlet
from mercer.kernels.graphs.graphlet import drawn_subsets, shapes
from mercer.testing.law import patched
from tests.laws.graph_items import random_graph

rng = np.random.default_rng(5)
SIZES = ((0, 0.5), (2, 0.9), (3, 0.5), (5, 0.4), (9, 0.2), (11, 0.5), (14, 0.7))
GRAPHS_OF_ALL_SIZES = [random_graph(rng, n, density, labels=False) for n, density in SIZES]


def counts(k, graphs):
    return k.encoded(GRAPHS.admit(graphs)).matrix.toarray()


@pytest.mark.parametrize(("size", "number"), [(3, 4), (4, 11), (5, 34)])
def test_there_are_as_many_shapes_as_graphs_up_to_isomorphism(size, number):
    names, types = shapes(size)
    assert len(names) == len(set(names)) == types.max() + 1 == number


@pytest.mark.parametrize("size", [3, 4, 5])
def test_every_subset_is_counted_once(size):
    found = counts(Graphlet(size), GRAPHS_OF_ALL_SIZES)
    expected = [math.comb(g.nodes, size) for g in GRAPHS_OF_ALL_SIZES]
    assert found.sum(axis=1).tolist() == expected
    assert (found >= 0).all()


@pytest.mark.parametrize("size", [3, 4, 5])
def test_counts_are_those_of_one_subset_after_the_other(size):
    k = Graphlet(size)
    names, _ = shapes(size)
    for graph in GRAPHS_OF_ALL_SIZES:
        slow = k._shapes(graph)
        assert counts(k, [graph])[0].tolist() == [slow[name] for name in names]


def test_shapes_have_names():
    star = Graph([(0, 1), (0, 2), (0, 3)])
    names, _ = shapes(4)
    assert names[int(counts(Graphlet(4), [star])[0].argmax())] == "4 nodes: 0-1 0-2 0-3"
    assert names[0] == "4 nodes, none joined"


@pytest.mark.parametrize("size", [4, 5])
def test_a_sample_estimates_the_counts(size):
    graph = random_graph(np.random.default_rng(6), 24, 0.4, labels=False)
    exact = counts(Graphlet(size), [graph])[0]
    total = math.comb(24, size)
    found = np.mean([counts(Graphlet(size, 2000, seed), [graph])[0] for seed in range(20)], axis=0)
    assert found.sum() == pytest.approx(total)
    share = exact / total
    allowed = 5 * np.sqrt(share * (1 - share) / 40_000) + 1e-12
    assert (np.abs(found / total - share) < allowed).all()


def test_a_sample_depends_on_the_seed_alone_not_on_the_place():
    a, b = (random_graph(np.random.default_rng(s), 20, 0.3, labels=False) for s in (7, 8))
    k = Graphlet(4, 100, 3)
    assert np.array_equal(counts(k, [a, b])[0], counts(k, [b, b, a])[2])
    assert not np.array_equal(counts(k, [a]), counts(Graphlet(4, 100, 4), [a]))
    assert k([a], [b])[0, 0] == pytest.approx(k.pair(a, b), rel=1e-13)


def test_few_subsets_are_all_counted_whatever_the_samples():
    graph = random_graph(np.random.default_rng(9), 8, 0.3, labels=False)
    assert np.array_equal(counts(Graphlet(4, 70), [graph]), counts(Graphlet(4), [graph]))
    assert Graphlet(4, 69).draws(8).shape == (69, 4)
    assert Graphlet(3, 5).draws(1000) is None
    assert Graphlet(4).draws(70) is None and len(Graphlet(4).draws(80)) == graphlet.DRAWN_SUBSETS


def test_large_graphs_are_searched_instead_of_written_out():
    graph = random_graph(np.random.default_rng(10), 30, 0.3, labels=False)
    k = Graphlet(5, 500)
    expected, subsets = counts(k, [graph])[0], k.draws(30)
    net, (_, types) = GRAPHS.admit([graph]).net, shapes(5)
    found = np.zeros(34)
    loops = graphlet.count_some.py_func
    with patched(graphlet, MAX_DENSE_NODES=5, _matrix=graphlet._matrix.py_func):
        loops(net.starts, net.neighbors, 0, 30, subsets, types, found)
    assert np.allclose(found * math.comb(30, 5) / 500, expected)


def test_subsets_have_different_nodes_and_are_all_as_likely():
    drawn = drawn_subsets(6, 3, 20_000, 0)
    assert (np.diff(drawn, axis=1) > 0).all()
    _, times = np.unique(drawn, axis=0, return_counts=True)
    assert len(times) == 20
    assert np.abs(times - 1000).max() < 5 * math.sqrt(1000)


def test_threads_make_no_difference():
    found = []
    for number in (1, 3):
        with threads.using(number):
            found.append(counts(Graphlet(5), GRAPHS_OF_ALL_SIZES))
    assert np.array_equal(*found)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ((2,), "3, 4 or 5, found 2"),
        ((6,), "3, 4 or 5"),
        (("x",), "size"),
        ((3, 0), "samples"),
        ((3, 2.5), "samples"),
        ((3, None, -1), "seed"),
        ((3, None, 0.5), "seed"),
        ((3, None, True), "seed"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValidityError, match=words):
        Graphlet(*parameters)
