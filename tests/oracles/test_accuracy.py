"""Distances where rounding hurts: far from the origin, nearly equal, in many dimensions.

The oracle takes differences first, in extended precision: what the stored numbers really say. A
distance may lose five digits of sixteen, as `mercer.engine.block` promises, so that an exponent t
is known to 1e-10·t and its exponential to the same relative error.
"""

import numpy as np
import pytest
from scipy import sparse

from mercer import KernelRidge
from mercer.kernels import (
    Brownian,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    RationalQuadratic,
    Shepard,
    gaussian_over,
)
from mercer.rkhs import Function

DIGITS = 1e-10

DIMENSIONS = [1, 2, 4, 5, 8, 30, 100]


def exact_squares(X, Z):
    X, Z = np.asarray(X, np.longdouble), np.asarray(Z, np.longdouble)
    return np.array([[((x - z) ** 2).sum() for z in Z] for x in X])


def cloud(n, d, offset, spread=1.0, seed=0):
    return offset + spread * np.random.default_rng(seed).normal(size=(n, d))


def assert_exponentials(found, exponents):
    """Hold found = exp(−exponents), each up to the relative error of its exponent."""
    expected = np.exp(-exponents)
    error = np.abs(found - expected)
    allowed = expected * (DIGITS * exponents + 1e-14) + 1e-300
    assert (error <= allowed).all(), float(np.max(error / allowed))


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, -1e7, 1e8])
@pytest.mark.parametrize("d", DIMENSIONS)
def test_gaussian_far_from_the_origin(d, offset):
    X, Z = cloud(20, d, offset), cloud(15, d, offset, seed=1)
    for sigma in (0.3 * np.sqrt(d), 3 * np.sqrt(d)):
        exponents = exact_squares(X, Z) / (2 * np.longdouble(sigma) ** 2)
        assert_exponentials(Gaussian(sigma)(X, Z), exponents)
        exponents = exact_squares(X, X) / (2 * np.longdouble(sigma) ** 2)
        assert_exponentials(Gaussian(sigma)(X), exponents)


@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("d", DIMENSIONS)
def test_gaussian_with_a_tiny_bandwidth_far_from_the_origin(d, offset):
    spread = 1e-5 if offset == 1e6 else 1e-4
    X, sigma = cloud(20, d, offset, spread), spread * np.sqrt(d)
    exponents = exact_squares(X, X) / (2 * np.longdouble(sigma) ** 2)
    assert 0.1 < np.median(exponents) < 10  # otherwise nothing is shown
    assert_exponentials(Gaussian(sigma)(X), exponents)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12])
def test_gaussian_of_points_that_nearly_coincide(gap, d):
    X = cloud(20, d, 0.0)
    Z = X + gap * cloud(20, d, 0.0, seed=1)
    sigma = gap * np.sqrt(d)
    exponents = exact_squares(X, Z) / (2 * np.longdouble(sigma) ** 2)
    near = np.eye(20, dtype=bool)
    assert (exponents[near] < 20).all()
    found = Gaussian(sigma)(X, Z)
    assert_exponentials(found[near], exponents[near])


@pytest.mark.parametrize("d", DIMENSIONS)
def test_gaussian_of_a_tight_group_beside_a_distant_one(d):
    """Points at 0 are known to 1e-22 and lie 1e-6 apart, whatever else is in the data."""
    group, distant = cloud(6, d, 0.0, 1e-6), cloud(6, d, 1e8, seed=1)
    X, sigma = np.concatenate([group, distant]), 1e-6 * np.sqrt(d)
    exponents = exact_squares(group, group) / (2 * np.longdouble(sigma) ** 2)
    assert_exponentials(Gaussian(sigma)(X)[:6, :6], exponents)


@pytest.mark.parametrize("d", [5, 30])
def test_one_outlier_does_not_spoil_the_others(d):
    X = cloud(12, d, 0.0, 1e-3)
    X[7] = 1e10
    others = np.arange(12) != 7
    sigma = 1e-3 * np.sqrt(d)
    exponents = exact_squares(X[others], X[others]) / (2 * np.longdouble(sigma) ** 2)
    assert_exponentials(Gaussian(sigma)(X)[np.ix_(others, others)], exponents)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_one_bandwidth_per_dimension_far_from_the_origin(d):
    scales = 10.0 ** np.linspace(-2, 2, d)
    X = 1e6 + scales * cloud(15, d, 0.0)
    scaled = np.asarray(X, np.longdouble) / scales
    exponents = exact_squares(scaled, scaled) / (2 * np.longdouble(d))
    found = Gaussian(scales * np.sqrt(d))(X)
    assert_exponentials(found, exponents)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("d", [1, 4, 5, 100])
def test_the_other_stationary_kernels_far_from_the_origin(d, offset):
    X = cloud(15, d, offset)
    squares = exact_squares(X, X)
    r, s = np.sqrt(squares), np.longdouble(2 * np.sqrt(d))
    assert_exponentials(Exponential(float(s))(X), r / s)
    t = np.sqrt(np.longdouble(3)) * r / s
    np.testing.assert_allclose(Matern(1.5, float(s))(X), (1 + t) * np.exp(-t), rtol=1e-9)
    rational = 1 / (1 + squares / (2 * s**2))
    np.testing.assert_allclose(RationalQuadratic(1.0, float(s))(X), rational, rtol=1e-9)
    L = np.asarray(X, np.longdouble)
    city = np.array([[np.abs(a - b).sum() for b in L] for a in L])
    assert_exponentials(Laplacian(float(s))(X), city / s)
    assert_exponentials(Shepard(float(1 / s), 1, 1)(X), city / s)


def test_periodic_far_from_the_origin():
    x = 1e8 + np.linspace(0, 3, 20)
    turns = (x[:, None] - x[None]).astype(np.longdouble)
    exponents = 2 * np.sin(np.longdouble(np.pi) * turns) ** 2
    np.testing.assert_allclose(Periodic(1.0, 1.0)(x[:, None]), np.exp(-exponents), rtol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_a_gaussian_over_the_linear_kernel_is_never_more_than_one(offset):
    """(6.26) subtracts large numbers, but no two things are more alike than equal ones."""
    X = cloud(15, 6, offset)
    k = gaussian_over(Linear(), 1.0)
    assert k(X).max() <= 1.0
    np.testing.assert_allclose(np.diag(k(X)), k.diagonal(X), atol=1e-9)


def test_sparse_rows_that_nearly_coincide():
    X = np.zeros((6, 50))
    X[:, ::7] = cloud(6, 8, 100.0)
    Z = X.copy()
    Z[:, ::7] += 1e-7 * cloud(6, 8, 0.0, seed=1)
    exponents = exact_squares(X, Z) / (2 * np.longdouble(3e-7) ** 2)
    found = Gaussian(3e-7)(sparse.csr_array(X), sparse.csr_array(Z))
    near = np.eye(6, dtype=bool)
    assert (exponents[near] < 10).all()
    assert_exponentials(found[near], exponents[near])


@pytest.mark.parametrize("d", [3, 10])
def test_brownian_of_distant_points_that_nearly_coincide(d):
    X = cloud(8, d, 1e6)
    lengths = np.sqrt((np.asarray(X, np.longdouble) ** 2).sum(axis=1))
    exact = (lengths[:, None] + lengths - np.sqrt(exact_squares(X, X))) / 2
    np.testing.assert_allclose(Brownian()(X), exact, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [1e-300, 1e-200, 1e-160])
@pytest.mark.parametrize("kernel", [Gaussian, Exponential, Laplacian])
def test_a_vanishing_bandwidth_makes_every_point_similar_only_to_itself(kernel, bandwidth):
    np.testing.assert_array_equal(kernel(bandwidth)(cloud(4, 6, 0.0)), np.eye(4))


@pytest.mark.parametrize("bandwidth", [1e160, 1e200, 1e300])
@pytest.mark.parametrize("kernel", [Gaussian, Exponential, Laplacian])
def test_an_endless_bandwidth_makes_everything_alike(kernel, bandwidth):
    np.testing.assert_array_equal(kernel(bandwidth)(cloud(4, 6, 0.0)), np.ones((4, 4)))


@pytest.mark.parametrize("shift", [1e6, 1e8])
def test_a_shift_of_all_data_changes_no_prediction(shift):
    """Multiples of 1/8 stay exact under the shift, so that nothing at all may change."""
    rng = np.random.default_rng(0)
    X, new = (rng.integers(-20, 20, size=(n, 6)) / 8 for n in (60, 20))
    y = np.sin(X[:, 0])
    near = KernelRidge(Gaussian(1.0), penalty=1e-3).fit(X, y)
    far = KernelRidge(Gaussian(1.0), penalty=1e-3).fit(X + shift, y)
    np.testing.assert_allclose(far.predict(new + shift), near.predict(new), rtol=1e-7, atol=1e-9)


def test_a_function_of_many_tiles_is_its_matrix_product():
    """Rows and columns beyond one tile, evaluated without the matrix."""
    rng = np.random.default_rng(0)
    X, Z, w = rng.normal(size=(900, 7)), rng.normal(size=(801, 7)), rng.normal(size=801)
    expected = np.exp(-exact_squares(X[:50], Z).astype(float) / 2) @ w
    found = Function(Gaussian(1.0), Z, w)(X)
    np.testing.assert_allclose(found[:50], expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found, Gaussian(1.0)(X, Z) @ w, rtol=1e-11, atol=1e-11)
