"""Rows that are mostly zero: compared over their nonzeros, with the same answers."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from mercer.domains import ZERO
from mercer.engine.block import Block
from mercer.engine.distances import squared_distances
from mercer.engine.nonzeros import Nonzeros
from mercer.engine.tiles import MANY_ROWS, fill, prepare_points
from mercer.gram import product
from mercer.kernels import Exponential, Gaussian, Matern


def rows(n=MANY_ROWS + 37, width=40, share=0.1, whole=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width)) * (rng.random((n, width)) < share)
    return np.rint(3 * X) if whole else X


def direct(X, Z, gamma):
    return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=-1))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_distances_are_those_of_the_formula(whole, container):
    X = rows(whole=whole)
    kernel = Gaussian(2.0)
    points = prepare_points(kernel, kernel.admit(container(X)))
    assert points.origin is ZERO and not points.is_sparse
    found = np.asarray(fill(kernel, points, points[np.arange(0, 900, 7)]))
    np.testing.assert_allclose(found, direct(X, X[0:900:7], 1 / 8), atol=1e-14)


def test_equal_rows_have_distance_zero_although_digits_cancel():
    X = rows(share=0.2) * 1e4
    X[5] = X[600]
    kernel = Exponential(1.0)
    K = kernel(X)
    assert K[5, 600] == 1.0 and (np.diag(K) == 1.0).all()


def test_full_rows_keep_their_mean_as_origin():
    X = np.random.default_rng(0).normal(size=(MANY_ROWS + 5, 40))
    kernel = Gaussian(1.0)
    assert prepare_points(kernel, kernel.admit(X)).origin is not ZERO


def test_any_part_of_the_rows_can_be_taken():
    X = rows(60, 12, 0.3)
    whole = Nonzeros.of(X)
    for part in (slice(3, 20), slice(5, 5), np.array([7, 2, 2, 59])):
        some = whole.take(part)
        again = some.take(slice(1, 3))
        np.testing.assert_array_equal(np.diff(some.starts), np.count_nonzero(X[part], axis=1))
        np.testing.assert_array_equal(some.turned, X[part].T)
        np.testing.assert_array_equal(
            np.diff(again.starts), np.count_nonzero(X[part][1:3], axis=1)
        )


def test_settled_points_survive_pickling_without_their_encodings():
    kernel = Gaussian(1.0)
    points = prepare_points(kernel, kernel.admit(rows()))
    again = pickle.loads(pickle.dumps(points))
    assert again.origin is ZERO and not again._views
    np.testing.assert_array_equal(kernel(again), kernel(points))


def test_points_that_moved_to_another_origin_are_encoded_anew():
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(30, 6)), rng.normal(size=(20, 6)) + 1e6
    kernel = Gaussian(1.0)
    here = prepare_points(kernel, kernel.admit(near))
    there = prepare_points(kernel, kernel.admit(far))
    found = np.asarray(fill(kernel, here, there))
    np.testing.assert_allclose(found, direct(near, far, 0.5), atol=1e-12)
    again = np.asarray(fill(kernel, there, prepare_points(kernel, kernel.admit(far + 0.5))))
    np.testing.assert_allclose(again, direct(far, far + 0.5, 0.5), atol=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(1.5), Exponential(1.0), Matern(1.5, 1.0), Gaussian((1.0, 2.0, 3.0, 1.0, 1.0))],
    ids=repr,
)
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_single_precision_is_used_only_when_asked_for_and_is_near(kernel, shift):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5)) + shift
    X[7] = X[200]
    exact = kernel(X)
    points = prepare_points(kernel, kernel.admit(X), single=True)
    K = fill(kernel, points, dtype=np.float32)
    assert exact.dtype == np.float64 and K.dtype == np.float32
    np.testing.assert_allclose(K, exact, atol=3e-5)
    coefficients = rng.normal(size=300)
    found = product(kernel, points, points, coefficients)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, exact @ coefficients, atol=1e-3)


@pytest.mark.parametrize("width", [1, 3])
def test_single_precision_of_few_dimensions_is_near_too(width):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, width)) + 1e5
    kernel = Gaussian(1.0)
    points = prepare_points(kernel, kernel.admit(X), single=True)
    found = np.asarray(fill(kernel, points, dtype=np.float32))
    np.testing.assert_allclose(found, direct(X, X, 0.5), atol=1e-5)


@pytest.mark.parametrize("most", [10, 1000, 999_999])
@pytest.mark.parametrize("single", [False, True])
def test_large_whole_numbers_are_exact_only_where_their_squares_are(most, single):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((1200, 40)) < 0.15, rng.integers(most // 2, most, (1200, 40)), 0.0)
    X[1::2] = X[::2]
    X[1::2, 0] += 1.0
    kernel = Gaussian(1.0)
    points = prepare_points(kernel, kernel.admit(X), single=single)[:100]
    assert points.origin is ZERO
    D = squared_distances(Block(points, points))
    exact = ((X[:100, None] - X[None, :100]) ** 2).sum(axis=2)
    np.testing.assert_allclose(D, exact, rtol=1e-6 if single else 1e-15)
