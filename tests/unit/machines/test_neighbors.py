"""Neighbors in kernel distance: against all distances, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from mercer.engine.tiles import TILE
from mercer.errors import DomainError, ValidityError
from mercer.gram.nearest import nearest
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid, from_function, kernel
from mercer.machines.neighbors import KernelNeighbors


def blobs(classes=3, n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, d)) + 2.0 * rng.normal(size=(classes, d))[y], y


def all_distances(kernel, A, B):
    """Return the kernel distances (6.24) pair by pair."""
    k = kernel.pair
    return np.array([[np.sqrt(max(k(a, a) + k(b, b) - 2 * k(a, b), 0)) for b in B] for a in A])


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, offset=1.0), Gaussian(2.0)])
def test_neighbors_are_the_smallest_of_all_distances(kernel):
    X, y = blobs()
    new = X[:20] + 0.1
    distances, places = KernelNeighbors(kernel, 4).fit(X, y).kneighbors(new)
    D = all_distances(kernel, new, X)
    np.testing.assert_array_equal(places, np.argsort(D, axis=1)[:, :4])
    np.testing.assert_allclose(distances, np.sort(D, axis=1)[:, :4], atol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "gaussian", Gaussian(0.5)])
@pytest.mark.parametrize("neighbors", [1, 5, 8])
def test_votes_are_those_of_scikit_learn(kernel, neighbors):
    X, y = blobs(n=200)
    new = np.random.default_rng(1).normal(scale=3.0, size=(100, 2))
    machine = KernelNeighbors(kernel, neighbors).fit(X, y)
    peer = KNeighborsClassifier(neighbors).fit(X, y)
    np.testing.assert_allclose(machine.predict_proba(new), peer.predict_proba(new))
    np.testing.assert_array_equal(machine.predict(new), peer.predict(new))


def test_votes_by_similarity_are_weighted():
    X, y = blobs()
    machine = KernelNeighbors(Gaussian(1.0), 6, weights="similarity").fit(X, y)
    new = X[:9] + 0.2
    _, places = machine.kneighbors(new)
    for row, near, x in zip(machine.predict_proba(new), places, new, strict=True):
        weights = np.array([Gaussian(1.0).pair(x, X[i]) for i in near])
        votes = [weights[y[near] == c].sum() for c in range(3)]
        np.testing.assert_allclose(row, votes / np.sum(votes))


def test_when_everybody_is_a_neighbor_the_votes_are_the_function():
    X, y = blobs()
    machine = KernelNeighbors(Gaussian(1.0), len(X), weights="similarity").fit(X, y)
    sums = machine.function_(X)
    np.testing.assert_allclose(machine.predict_proba(X), sums / sums.sum(axis=1, keepdims=True))


def test_neighbors_of_the_examples_are_others():
    X, y = blobs()
    machine = KernelNeighbors("linear", 3).fit(X, y)
    distances, places = machine.kneighbors()
    D = all_distances(Linear(), X, X) + np.diag(np.full(len(X), np.inf))
    np.testing.assert_array_equal(places, np.argsort(D, axis=1)[:, :3])
    np.testing.assert_allclose(distances, np.sort(D, axis=1)[:, :3], atol=1e-6)
    assert machine.kneighbors(return_distance=False, n_neighbors=1).shape == (60, 1)


def test_the_search_in_tiles_finds_what_a_sort_of_everything_finds():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(TILE + 5, 3)), rng.normal(size=(2 * TILE + 7, 3))
    k = Gaussian(1.0)
    K = k(A, B)
    for count in (1, 3, TILE + 1, len(B)):
        places, similarities = nearest(k, k.admit(A), k.admit(B), k.diagonal(B), count)
        expected = np.argsort(-K, axis=1, kind="stable")[:, :count]
        np.testing.assert_array_equal(places, expected)
        np.testing.assert_allclose(similarities, np.take_along_axis(K, expected, axis=1))
    places, _ = nearest(k, k.admit(B), k.admit(B), k.diagonal(B), 2, others=True)
    K = k(B) - 2 * np.eye(len(B))
    np.testing.assert_array_equal(places, np.argsort(-K, axis=1, kind="stable")[:, :2])


def test_of_equally_near_examples_the_first_is_the_neighbor():
    B = np.zeros((TILE + 9, 1))
    k = Linear()
    places, _ = nearest(k, k.admit([[0.0]]), k.admit(B), np.zeros(len(B)), 4)
    assert places.tolist() == [[0, 1, 2, 3]]


def test_tiny_similarities_still_tell_near_from_far():
    machine = KernelNeighbors(Gaussian(1.0), 1).fit([[0.0], [20.0], [10.0]], ["a", "b", "b"])
    assert machine.kneighbors([[31.0]], return_distance=False).tolist() == [[1]]


def test_neighbors_without_any_similarity_have_one_vote_each_and_a_warning():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    machine = KernelNeighbors(Gaussian(0.1), 2, weights="similarity").fit(X, y)
    with pytest.warns(UserWarning, match=r"1 of 2 items, the first being item 1") as caught:
        found = machine.predict_proba([[0.0], [900.0]])
    assert caught[0].filename == __file__
    np.testing.assert_allclose(found[1], [0.5, 0.5, 0.0])
    with pytest.warns(UserWarning, match="larger bandwidth"):
        machine.kneighbors([[900.0]])


def test_memory_is_that_of_a_few_tiles():
    shapes = []

    @kernel
    class Watched(Gaussian):
        def evaluate(self, block):
            shapes.append(block.shape)
            return super().evaluate(block)

    X, y = blobs(n=3 * TILE)
    machine = KernelNeighbors(Watched(1.0)).fit(X, y)
    shapes.clear()
    machine.predict(X)
    assert max(rows * columns for rows, columns in shapes) <= TILE**2


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"n_neighbors": 0}, ValidityError, "n_neighbors .* whole number from 1 on"),
        ({"n_neighbors": 2.5}, ValidityError, "n_neighbors .* whole number"),
        ({"n_neighbors": 61}, DomainError, "only 60 examples .* smaller n_neighbors"),
        ({"weights": "uniforn"}, ValidityError, "did you mean 'uniform'"),
        ({"kernel": Sigmoid(1.0, -1.0)}, ValidityError, "positive semi-definite"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(settings, error, words):
    with pytest.raises(error, match=words):
        KernelNeighbors(**settings).fit(*blobs())


def test_more_neighbors_than_others_are_refused():
    machine = KernelNeighbors("linear", 3).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert machine.kneighbors([[0.0]])[1].shape == (1, 3)
    with pytest.raises(DomainError, match="only 2 examples"):
        machine.kneighbors()


def test_negative_votes_are_refused():
    machine = KernelNeighbors("linear", 2, weights="similarity").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValidityError, match="item 0 has a neighbor of similarity"):
        machine.predict([[-1.0]])


def crossed(a, b):
    return 1.0 if a == b else 2.0


def test_a_similarity_without_distances_is_noticed():
    machine = KernelNeighbors(from_function(crossed), 1).fit(["a", "b"], [0, 1])
    with pytest.raises(ValidityError, match="squared distance -2"):
        machine.kneighbors(["a"])
