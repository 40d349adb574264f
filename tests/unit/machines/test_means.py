"""k-means in feature space: against scikit-learn, the definition, and hard starts."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from mercer.errors import ConvergenceWarning, DomainError, ValidityError
from mercer.gram import Blocked, LowRank
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid, from_features
from mercer.machines.means import KernelMeans, Lloyd


def blobs(clusters=4, n=80, d=2, seed=0, spread=0.3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % clusters
    return spread * rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(clusters, d))[y], y


def rings(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.where(y, 3.0, 0.5) + 0.1 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def sum_of_squares(kernel, X, labels, weights=None):
    """Return Σ wᵢ|φ(xᵢ) − μ|² by the definition, cluster by cluster."""
    K, w, total = kernel(X), np.ones(len(X)) if weights is None else weights, 0.0
    for c in np.unique(labels):
        inside = labels == c
        share = w[inside] / w[inside].sum()
        mean = share @ K[np.ix_(inside, inside)] @ share
        own = np.diag(K)[inside] - 2 * K[np.ix_(inside, inside)] @ share + mean
        total += w[inside] @ own
    return total


def test_the_linear_kernel_gives_k_means():
    X, _ = blobs(spread=1.0)
    machine = KernelMeans("linear", 4).fit(X)
    peer = KMeans(4, n_init=20, random_state=0).fit(X)
    assert machine.inertia_ == pytest.approx(peer.inertia_)
    assert adjusted_rand_score(machine.labels_, peer.labels_) == 1.0
    np.testing.assert_allclose(
        np.sort(machine.coef_, axis=1), np.sort(peer.cluster_centers_.T, axis=1)
    )


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Polynomial(2, offset=1.0)])
def test_inertia_is_the_sum_of_squares(kernel):
    X, _ = blobs(spread=1.0)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    machine = KernelMeans(kernel, 3).fit(X, sample_weight=w)
    assert machine.inertia_ == pytest.approx(sum_of_squares(kernel, X, machine.labels_, w))


@pytest.mark.parametrize("kernel", ["linear", Gaussian(1.0)])
def test_every_item_is_in_the_cluster_with_the_nearest_mean(kernel):
    X, _ = blobs(spread=1.0)
    machine = KernelMeans(kernel, 5).fit(X)
    np.testing.assert_array_equal(machine.predict(X), machine.labels_)
    for c in range(5):
        inside = machine.labels_ == c
        np.testing.assert_allclose(machine.function_.coefficients[:, c], inside / inside.sum())
    np.testing.assert_allclose(machine.function_.norm() ** 2, -2 * machine.intercept_)


def test_a_kernel_separates_rings_that_no_line_does():
    X, y = rings()
    radius = from_features(lambda x: [x @ x])
    assert adjusted_rand_score(KernelMeans(radius, 2).fit_predict(X), y) == 1.0
    assert adjusted_rand_score(KernelMeans("linear", 2).fit_predict(X), y) < 0.5


def test_the_seed_decides():
    X, _ = blobs(8, spread=2.0)
    settings = {"n_init": 1, "n_clusters": 8}
    first = KernelMeans(random_state=1, **settings).fit_predict(X)
    np.testing.assert_array_equal(KernelMeans(random_state=1, **settings).fit_predict(X), first)
    others = [KernelMeans(random_state=s, **settings).fit_predict(X) for s in range(2, 6)]
    assert any(not np.array_equal(other, first) for other in others)


def test_another_order_of_the_items_changes_nothing():
    X, _ = blobs(8, spread=2.0)
    order = np.random.default_rng(0).permutation(len(X))
    first = KernelMeans(Gaussian(1.0), 6, n_init=2).fit_predict(X)
    np.testing.assert_array_equal(
        KernelMeans(Gaussian(1.0), 6, n_init=2).fit_predict(X[order]), first[order]
    )


def test_a_weight_is_a_repetition():
    X, _ = blobs(5, spread=2.0)
    times = np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), times)
    one = KernelMeans(Gaussian(2.0), 4, n_init=2).fit(X, sample_weight=times)
    many = KernelMeans(Gaussian(2.0), 4, n_init=2).fit(X[rows])
    np.testing.assert_array_equal(one.labels_[rows], many.labels_)
    assert one.inertia_ == pytest.approx(many.inertia_)


def test_more_starts_are_never_worse():
    X, _ = blobs(8, spread=1.5)
    sums = [KernelMeans("linear", 8, n_init=n).fit(X).inertia_ for n in (1, 3, 10)]
    assert sums == sorted(sums, reverse=True)


def test_an_empty_cluster_takes_the_item_farthest_from_its_mean():
    search = Lloyd(Linear(), Linear().admit([[0.0], [1.0], [2.0], [9.0]]), None, 3)
    labels = search.refill(np.array([0, 0, 0, 2]), np.array([1.0, 0.1, 5.0, 9.0]), 3)
    assert labels.tolist() == [0, 0, 1, 2]  # not item 3, which is the last one of its cluster


def test_a_start_with_an_empty_cluster_still_ends_with_all_of_them():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    search = Lloyd(Linear(), Linear().admit(X), None, 3)
    # Cluster 1 has its mean between the others and loses both of its items.
    end = search.descend(np.array([0, 1, 0, 2, 1, 2]), 100)
    assert len(np.unique(end.labels)) == 3
    assert end.converged


def test_k_means_plus_plus_starts_in_every_far_cluster():
    X, y = blobs(4, spread=0.01)
    search = Lloyd(Gaussian(1.0), Gaussian(1.0).admit(X), None, 4)
    for seed in range(20):
        labels = search.start(np.random.RandomState(seed))
        assert adjusted_rand_score(labels, y) == 1.0


def test_copies_do_not_make_more_clusters():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [3.0, 3.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"only 3 clusters .* use n_clusters=3"):
        machine = KernelMeans(Gaussian(1.0), 5).fit(X)
    assert machine.function_.coefficients.shape == (15, 3)
    assert machine.inertia_ == pytest.approx(0.0, abs=1e-12)


def test_a_descent_cut_short_says_so():
    X, _ = blobs(8, n=300, spread=3.0)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations"):
        machine = KernelMeans("linear", 8, max_iter=1, n_init=1).fit(X)
    np.testing.assert_array_equal(machine.predict(X), machine.labels_)


def test_features_are_used_where_they_are_fewer_and_tiles_where_memory_is_short(free_memory):
    X, _ = blobs(spread=1.0)
    stored = KernelMeans(Gaussian(1.0), 3).fit(X)
    free_memory(0)
    assert isinstance(Lloyd(Linear(), Linear().admit(X), None, 3).gram, LowRank)
    k = Gaussian(1.0)
    assert isinstance(Lloyd(k, k.admit(X), None, 3).gram, Blocked)
    tiled = KernelMeans(Gaussian(1.0), 3).fit(X)
    np.testing.assert_array_equal(tiled.labels_, stored.labels_)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"n_clusters": 0}, ValidityError, "n_clusters .* whole number from 1 on"),
        ({"n_clusters": 81}, DomainError, "n_samples=80 should be >= n_clusters=81"),
        ({"n_init": 0}, ValidityError, "n_init .* whole number"),
        ({"max_iter": -1}, ValidityError, "max_iter .* whole number"),
        ({"kernel": Sigmoid(1.0, -1.0)}, ValidityError, "positive semi-definite"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(settings, error, words):
    with pytest.raises(error, match=words):
        KernelMeans(**settings).fit(blobs()[0])


def test_items_without_weight_found_no_cluster():
    X, _ = blobs()
    w = np.zeros(len(X))
    w[:2] = 1.0
    with pytest.raises(DomainError, match="only 2 items have a positive weight"):
        KernelMeans(n_clusters=3).fit(X, sample_weight=w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine = KernelMeans(Gaussian(1.0), 2).fit(X, sample_weight=w)
    assert machine.inertia_ == pytest.approx(0.0, abs=1e-12)
