"""Random walks: how many there are, and when there are too many."""

import numpy as np
import pytest

from mercer.domains import Graph
from mercer.errors import ValidityError
from mercer.kernels import RandomWalk, WeisfeilerLehman, normalize
from mercer.kernels.graphs import random_walk
from mercer.testing.law import patched
from tests.laws.graph_items import GRAPH_ITEMS, random_graph

EDGE, STAR = Graph([(0, 1)]), Graph([(0, i) for i in range(1, 10)])  # eigenvalues 1 and 3


def test_one_step():
    assert RandomWalk(0.5, 1).pair(EDGE, STAR) == 2 * 10 + 0.5 * 2 * 18


def test_the_geometric_series():
    # An edge has two walks of each length: Σ decayᵗ·2·2.
    assert RandomWalk(0.25)([EDGE])[0, 0] == pytest.approx(4 / 0.75, rel=1e-15)


def test_many_steps_come_close_to_all():
    graphs = GRAPH_ITEMS["graphs with bonds"]
    assert np.allclose(RandomWalk(0.02, 200)(graphs), RandomWalk(0.02)(graphs), rtol=1e-13)


def test_labels_must_agree_along_the_way():
    one, two = Graph([(0, 1), (1, 2)], "ABA"), Graph([(0, 1)], "AB")
    k = RandomWalk(0.5, 2)
    # 2 + 1 pairs of nodes, 2 + 2 steps, then A-B-A (twice from each A) and B-A-B.
    assert k.pair(one, two) == 3 + 0.5 * 4 + 0.25 * 6
    assert k([one], [two]) == [[3 + 0.5 * 4 + 0.25 * 6]]


def test_labels_of_edges_must_agree_too():
    one, two = (Graph([(0, 1)], "AA", [bond]) for bond in "-=")
    assert RandomWalk(0.5, 3)([one], [two]) == [[4.0]]


@pytest.mark.parametrize("labels", [None, "A" * 10], ids=["plain", "labeled"])
def test_a_walk_that_diverges_is_refused_by_item_with_a_decay_that_works(labels):
    star = Graph(STAR.edges, labels)
    small = Graph([(0, 1)], labels and "AA")
    graphs = [small, star, small]
    with pytest.raises(ValidityError, match=r"diverges for item 1.*eigenvalue 3.*such as 0\.111;"):
        RandomWalk(1 / 9)(graphs)
    with pytest.raises(ValidityError, match="diverges"):
        RandomWalk(0.2).diagonal(graphs)
    with pytest.raises(ValidityError, match="diverges for a graph"):
        RandomWalk(0.2).pair(small, star)
    assert (RandomWalk(0.111)(graphs) > 0).all()
    assert (RandomWalk(0.2, 5)(graphs) > 0).all()


@pytest.mark.parametrize("scale", [0.7, 5.4, 33.0])
def test_the_decay_that_is_advised_works(scale):
    star = Graph([(0, i) for i in range(1, int(scale**2) + 2)])
    with pytest.raises(ValidityError) as caught:
        RandomWalk(3.0)([star])
    advised = float(str(caught.value).split("such as ")[1].split(";")[0])
    assert np.isfinite(RandomWalk(advised)([star])).all()


def test_new_graphs_are_checked_like_old_ones():
    with pytest.raises(ValidityError, match="item 0"):
        RandomWalk(0.2)([EDGE], [STAR])


def test_close_to_the_border_digits_are_kept():
    decay = (1 - 1e-6) / 9
    labeled = Graph(STAR.edges, "A" * 10)
    for graph in (STAR, labeled):
        k = RandomWalk(decay)
        assert k([graph])[0, 0] == pytest.approx(k.pair(graph, graph), rel=1e-9)


@pytest.mark.parametrize("decay", [1e-6, 0.03])
def test_labels_and_eigenvalues_give_the_same(decay):
    rng = np.random.default_rng(0)
    plain = [random_graph(rng, n, 0.4, labels=False) for n in (8, 5, 1, 9)]
    same = [Graph(g.edges, ["A"] * g.nodes) for g in plain[:2]] + [
        Graph(g.edges, ["A"] * g.nodes, nodes=g.nodes) for g in plain[2:]
    ]
    for k in (RandomWalk(decay), RandomWalk(decay, 3)):
        assert np.allclose(k(plain), k(same), rtol=1e-13)
        with patched(random_walk, MAX_SPECTRUM_NODES=4):  # larger graphs are not decomposed
            assert np.allclose(k(plain), k(same), rtol=1e-13)


def test_similarity_to_itself_is_never_negative():
    graphs = [*GRAPH_ITEMS["graphs"], Graph([], labels=[])]
    for k in (RandomWalk(0.02), RandomWalk(2.0, 7), normalize(RandomWalk(0.01))):
        assert (k.diagonal(graphs) >= 0).all()
    assert RandomWalk(0.02).diagonal([Graph([])]) == [0.0]


def test_too_many_walks_to_count_are_refused():
    with pytest.raises(ValidityError, match="inf for items 0 and 0"):
        RandomWalk(50.0, 1000)([STAR])


def test_a_base_of_the_weisfeiler_lehman_kernel():
    graphs = GRAPH_ITEMS["graphs"][:4]
    k = WeisfeilerLehman(1, RandomWalk(0.05))
    assert np.allclose(k.diagonal(graphs), np.diag(k(graphs)))
    assert (k(graphs) >= RandomWalk(0.05)(graphs)).all()


@pytest.mark.parametrize("decay", [0.0, -0.1, np.nan, "x"])
def test_bad_decays(decay):
    with pytest.raises(ValidityError, match="decay"):
        RandomWalk(decay)


@pytest.mark.parametrize("steps", [0, 1.5, -2, "x"])
def test_bad_steps(steps):
    with pytest.raises(ValidityError, match="steps"):
        RandomWalk(0.1, steps)
