"""Kernels against those of scikit-learn, which were written by others from the same formulas."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from mercer.kernels import (
    Chi2,
    Constant,
    Cosine,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    exp,
    normalize,
)

# scikit-learn expands squares without a second look at small distances, so that its entries,
# not ours, have errors of about 1e-14 here.
TOLERANCE = {"rtol": 1e-10, "atol": 1e-12}

PAIRWISE = {
    "linear": (Linear(), pairwise.linear_kernel, {}),
    "cubic": (Polynomial(3), pairwise.polynomial_kernel, {"degree": 3, "gamma": 1, "coef0": 0}),
    "polynomial": (
        Polynomial(4, offset=0.7, scale=0.3),
        pairwise.polynomial_kernel,
        {"degree": 4, "gamma": 0.3, "coef0": 0.7},
    ),
    "rbf": (Gaussian(1 / np.sqrt(2 * 0.4)), pairwise.rbf_kernel, {"gamma": 0.4}),
    "rbf, narrow": (Gaussian(0.1), pairwise.rbf_kernel, {"gamma": 50.0}),
    "laplacian": (Laplacian(2.5), pairwise.laplacian_kernel, {"gamma": 0.4}),
    "sigmoid": (Sigmoid(0.2, -0.5), pairwise.sigmoid_kernel, {"gamma": 0.2, "coef0": -0.5}),
    "cosine": (Cosine(), pairwise.cosine_similarity, {}),
    "normalized linear": (normalize(Linear()), pairwise.cosine_similarity, {}),
}


def points(n=30, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def histograms(n=20, d=6, seed=0):
    counts = np.random.default_rng(seed).poisson(2.0, size=(n, d)).astype(float)
    counts[0] = 0.0
    return counts


def thinned(n=30, d=40, seed=0):
    """Sparse rows, one of them empty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.15)
    X[3] = 0.0
    return sparse.csr_array(X)


@pytest.mark.parametrize("d", [1, 4, 5, 60])
@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise_kernels(name, d):
    kernel, theirs, parameters = PAIRWISE[name]
    X, Z = points(d=d), points(17, d, seed=1)
    np.testing.assert_allclose(kernel(X, Z), theirs(X, Z, **parameters), **TOLERANCE)
    np.testing.assert_allclose(kernel(X), theirs(X, **parameters), **TOLERANCE)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(theirs(X, **parameters)), **TOLERANCE)


@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise_kernels_of_sparse_rows(name):
    kernel, theirs, parameters = PAIRWISE[name]
    X, Z = thinned(), thinned(17, seed=1)
    expected = np.asarray(theirs(X.toarray(), Z.toarray(), **parameters))
    np.testing.assert_allclose(kernel(X, Z), expected, **TOLERANCE)
    np.testing.assert_allclose(kernel(X, Z.toarray()), expected, **TOLERANCE)
    np.testing.assert_allclose(kernel(X.toarray(), Z), expected, **TOLERANCE)
    diagonal = np.diag(theirs(X.toarray(), **parameters))
    np.testing.assert_allclose(kernel.diagonal(X), diagonal, **TOLERANCE)


@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise_kernels_of_single_precision_rows(name):
    kernel, theirs, parameters = PAIRWISE[name]
    X, Z = points().astype(np.float32), points(17, seed=1).astype(np.float32)
    exact = theirs(X.astype(float), Z.astype(float), **parameters)
    # One rounding to single precision at the end, 6e-8, since sums are in double.
    np.testing.assert_allclose(kernel(X, Z), exact, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("gamma", [1.0, 0.1, 3.0])
def test_chi2(gamma):
    X, Z = histograms(), histograms(9, seed=1)
    expected = pairwise.chi2_kernel(X, Z, gamma=gamma)
    np.testing.assert_allclose(Chi2(1 / gamma)(X, Z), expected, **TOLERANCE)


def test_additive_chi2_is_the_logarithm():
    X, Z = histograms(), histograms(9, seed=1)
    expected = pairwise.additive_chi2_kernel(X, Z)
    np.testing.assert_allclose(np.log(Chi2(100.0)(X, Z)) * 100, expected, rtol=1e-10, atol=1e-12)


# ---- Gaussian processes ------------------------------------------------------------------------

SCALES = (0.5, 1.0, 2.0, 4.0, 1.5, 0.9)

PROCESSES = {
    "RBF": (Gaussian(1.7), gp.RBF(1.7)),
    "RBF, one scale per dimension": (Gaussian(SCALES), gp.RBF(SCALES)),
    "Matern 1/2": (Matern(0.5, 1.7), gp.Matern(1.7, nu=0.5)),
    "Matern 1/2 as Exponential": (Exponential(1.7), gp.Matern(1.7, nu=0.5)),
    "Matern 3/2": (Matern(1.5, 1.7), gp.Matern(1.7, nu=1.5)),
    "Matern 5/2": (Matern(2.5, 1.7), gp.Matern(1.7, nu=2.5)),
    "Matern, smooth": (Matern(float("inf"), 1.7), gp.Matern(1.7, nu=float("inf"))),
    "Matern 0.8": (Matern(0.8, 1.7), gp.Matern(1.7, nu=0.8)),
    "Matern 4.2": (Matern(4.2, 1.7), gp.Matern(1.7, nu=4.2)),
    "Matern, one scale per dimension": (Matern(1.5, SCALES), gp.Matern(SCALES, nu=1.5)),
    "RationalQuadratic": (RationalQuadratic(0.6, 1.7), gp.RationalQuadratic(1.7, alpha=0.6)),
    "DotProduct": (Linear() + Constant(0.49), gp.DotProduct(sigma_0=0.7)),
    "squared DotProduct": ((Linear() + 0.49) ** 2, gp.DotProduct(sigma_0=0.7) ** 2),
    "a sum": (Gaussian(1.0) + 2.0 * Linear(), gp.RBF(1.0) + 2.0 * gp.DotProduct(0.0)),
    "a product": (
        Gaussian(1.0) * RationalQuadratic(2.0, 3.0),
        gp.RBF(1.0) * gp.RationalQuadratic(3.0, alpha=2.0),
    ),
}


@pytest.mark.parametrize("name", PROCESSES)
def test_gaussian_process_kernels(name):
    kernel, theirs = PROCESSES[name]
    X, Z = points(), points(17, seed=1)
    np.testing.assert_allclose(kernel(X, Z), theirs(X, Z), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), theirs.diag(X), rtol=1e-12)


@pytest.mark.parametrize(("period", "scale"), [(1.0, 1.0), (24.0, 0.5), (0.1, 3.0)])
def test_periodic_in_one_dimension_is_their_exp_sine_squared(period, scale):
    X = np.linspace(-3, 3, 25)[:, None]
    theirs = gp.ExpSineSquared(length_scale=scale, periodicity=period)
    np.testing.assert_allclose(Periodic(period, scale)(X), theirs(X), rtol=1e-10)


def test_periodic_in_several_dimensions_is_a_product_and_so_valid_unlike_theirs():
    X = points(40, 2) * 2
    theirs = [gp.ExpSineSquared(0.3, 1.0)(X[:, [i]]) for i in range(2)]
    np.testing.assert_allclose(Periodic(1.0, 0.3)(X), theirs[0] * theirs[1], rtol=1e-9, atol=1e-15)
    assert np.linalg.eigvalsh(Periodic(1.0, 0.3)(X))[0] > -1e-12
    assert np.linalg.eigvalsh(gp.ExpSineSquared(0.3, 1.0)(X))[0] < -1e-3


def test_the_exponential_of_a_kernel_is_theirs_too():
    X = points() / 3
    np.testing.assert_allclose(exp(Linear())(X), np.exp(gp.DotProduct(0.0)(X)), rtol=1e-12)


# ---- heuristics --------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 5.0, 1e4])
def test_scale_is_their_gamma_scale(shift):
    X = points(40) * [1, 2, 3, 4, 5, 6] + shift
    gamma = SVC(gamma="scale").fit(X, np.arange(40) % 2)._gamma
    sigma = Gaussian("scale").resolve(X).bandwidth
    assert 1 / (2 * sigma**2) == pytest.approx(gamma, rel=1e-9)
    expected = pairwise.rbf_kernel(X, gamma=1 / (6 * X.var()))
    np.testing.assert_allclose(Gaussian(sigma)(X), expected, rtol=1e-5, atol=1e-9)


def test_scale_on_sparse_rows_is_their_gamma_scale():
    X = thinned()
    gamma = SVC(gamma="scale").fit(X, np.arange(30) % 2)._gamma
    assert Gaussian("scale").resolve(X).bandwidth == pytest.approx(np.sqrt(0.5 / gamma), rel=1e-12)


def test_median_distance_is_the_median_of_their_distances():
    X = points(40)
    between = np.triu_indices(40, 1)
    euclidean = np.median(pairwise.euclidean_distances(X)[between])
    city = np.median(pairwise.manhattan_distances(X)[between])
    assert Gaussian("median").resolve(X).bandwidth == pytest.approx(euclidean, rel=1e-12)
    assert Exponential("median").resolve(X).bandwidth == pytest.approx(euclidean, rel=1e-12)
    assert Laplacian("median").resolve(X).bandwidth == pytest.approx(city, rel=1e-12)
