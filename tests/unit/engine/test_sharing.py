"""Sums share work: dot products and distances are computed once per tile, whoever needs them."""

import threading
import time

import numpy as np
import pytest

from mercer.engine import block, distances
from mercer.engine.tiles import TILE, spans
from mercer.gram import product
from mercer.kernels import (
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from mercer.threads import cores, in_threads, stopping


@pytest.fixture
def counted(monkeypatch):
    """Count the calls of what is expensive."""
    calls = {"_squared": 0, "multiply": 0, "_cityblock": 0}
    lock = threading.Lock()

    def spy(name):
        original = getattr(distances, name)

        def counting(*arguments):
            with lock:
                calls[name] += 1
            return original(*arguments)

        for place in (block, distances):
            if hasattr(place, name):
                monkeypatch.setattr(place, name, counting)

    for name in calls:
        spy(name)
    return calls


def rows(n, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def tiles(n, m=None):
    across = -(-n // TILE)
    return across * (across + 1) // 2 if m is None else across * -(-m // TILE)


THREE = Gaussian(0.5) + Gaussian(1.0) + Gaussian(2.0)


@pytest.mark.parametrize("n", [5, TILE, TILE + 1, 2 * TILE + 7])
def test_three_gaussians_cost_one_matrix_product_per_tile(counted, n):
    THREE(rows(n))
    assert counted == {"_squared": tiles(n), "multiply": tiles(n), "_cityblock": 0}


def test_the_upper_triangle_is_all_that_is_computed(counted):
    Gaussian(1.0)(rows(3 * TILE))
    assert counted["multiply"] == 6  # of nine tiles


def test_two_sets_have_all_their_tiles_computed_once(counted):
    THREE(rows(TILE + 1), rows(2 * TILE + 1, seed=1))
    assert counted["multiply"] == tiles(TILE + 1, 2 * TILE + 1) == 6


def test_a_product_with_coefficients_shares_as_well(counted):
    A, B = THREE.admit(rows(TILE + 1)), THREE.admit(rows(TILE + 1, seed=1))
    product(THREE, A, B, np.ones(TILE + 1))
    assert counted["multiply"] == 1  # tiles that are not stored may be larger


def test_all_kernels_of_the_distance_share_it(counted):
    kernel = Gaussian(1.0) + Exponential(1.0) * Matern(1.5, 2.0) + RationalQuadratic(1.0, 1.0) ** 2
    kernel(rows(10))
    assert counted["_squared"] == 1


def test_all_kernels_of_the_dot_product_share_it(counted):
    (Linear() + Polynomial(3, 1.0) * Sigmoid(0.1, 0.5) + 2.0 * Linear() ** 2)(rows(10))
    assert counted["multiply"] == 1


def test_city_block_distances_are_shared(counted):
    (Laplacian(1.0) + Laplacian(3.0))(rows(10))
    assert counted["_cityblock"] == 1


def test_kernels_on_the_same_columns_share(counted):
    columns = (0, 1, 2, 3, 4)
    (Gaussian(1.0).on(*columns) + Gaussian(2.0).on(*columns) * Linear().on(0))(rows(10))
    assert counted["_squared"] == 1


def test_kernels_on_other_columns_or_scales_do_not_share(counted):
    (Gaussian(1.0).on(0, 1, 2, 3, 4) + Gaussian(1.0).on(1, 2, 3, 4, 5))(rows(10))
    assert counted["_squared"] == 2
    (Gaussian(1.0) + Gaussian((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)))(rows(10))
    assert counted["_squared"] == 4


@pytest.mark.parametrize(
    "kernel",
    [
        THREE,
        Gaussian(1.0) + Linear() + Gaussian(1.0),
        Linear() + Linear(),
        Gaussian(1.0) * Gaussian(1.0) + Gaussian(1.0),
        Linear() * Linear() + Polynomial(2),
        Laplacian(1.0) + Laplacian(1.0) * Laplacian(1.0),
        Gaussian(1.0).on(0, 1) + Gaussian(1.0).on(0, 1),
    ],
    ids=repr,
)
def test_what_is_shared_is_not_spoiled(kernel):
    """Nobody writes into the common array: every entry is that of the pair."""
    X, Z = rows(9), rows(7, seed=1)
    expected = [[kernel.pair(x, z) for z in Z] for x in X]
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)  # and again


# ---- tiles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, TILE - 1, TILE, TILE + 1, 2 * TILE + 3])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Laplacian(2.0)], ids=repr)
def test_a_matrix_of_many_tiles_is_exactly_symmetric_and_has_every_entry(kernel, n):
    X = rows(n)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, kernel(X, X.copy()), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.diag(K), kernel.diagonal(X), rtol=1e-12)
    for i, j in [(0, n - 1), (n // 2, n // 3), (n - 1, n - 1)]:
        assert K[i, j] == pytest.approx(kernel.pair(X[i], X[j]), rel=1e-11)


def test_the_answer_does_not_depend_on_the_number_of_threads(use_cores):
    X = rows(2 * TILE + 5)
    w = np.random.default_rng(1).normal(size=len(X))
    points = THREE.admit(X)
    many = THREE(X), product(THREE, points, points, w)
    use_cores(1)
    one = THREE(X), product(THREE, points, points, w)
    use_cores(5)
    five = THREE(X), product(THREE, points, points, w)
    for matrix, vector in (one, five):
        np.testing.assert_array_equal(matrix, many[0])
        np.testing.assert_array_equal(vector, many[1])


def test_spans_cut_a_range_without_gaps():
    for count, size in [(1, 3), (3, 3), (4, 3), (10, 3)]:
        joined = [i for part in spans(count, size) for i in range(part.start, part.stop)]
        assert joined == list(range(count))
        assert all(part.stop - part.start <= size for part in spans(count, size))


def test_an_error_in_a_thread_reaches_the_caller():
    def work(job):
        if job == 3:
            raise ValueError("job three")

    with pytest.raises(ValueError, match=r"job three"):
        in_threads(work, range(5))


def test_there_is_at_least_one_core():
    assert cores() >= 1


def test_jobs_are_told_when_nobody_waits_for_them_any_more(use_cores):
    use_cores(2)
    started, told = threading.Event(), []

    def work(job):
        if job == 0:
            started.wait(10)
            raise KeyboardInterrupt
        started.set()
        told.append(any(stopping() or time.sleep(0.01) for _ in range(1000)))

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, [0, 1, 2, 3])
    deadline = time.monotonic() + 10
    while not told and time.monotonic() < deadline:
        time.sleep(0.01)
    assert told == [True]  # the job that ran was told, and those that waited never began
    assert not stopping()
