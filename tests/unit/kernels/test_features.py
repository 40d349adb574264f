"""Explicit and random features: inner products in plain sight."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.errors import DomainError, ValidityError
from mercer.kernels import (
    Categorical,
    Constant,
    Cosine,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
    Shepard,
    assume_psd,
    exp,
    from_basis,
    from_features,
    from_function,
    normalize,
    polynomial,
    pullback,
    rescale,
)


def rows(n=9, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def dense(F):
    return F.toarray() if sparse.issparse(F) else np.asarray(F)


def length(x):
    return 1.0 + abs(x[0])


FINITE = {
    "linear": (Linear(), 3),
    "constant": (Constant(2.0), 1),
    "polynomial": (Polynomial(3), 10),
    "polynomial with offset and scale": (Polynomial(2, offset=0.5, scale=2.0), 10),
    "cosine": (Cosine(), 3),
    "quadratic form": (QuadraticForm(np.diag([1.0, 2.0, 0.0])), 3),
    "sum": (Linear() + Polynomial(2), 9),
    "product": (Linear() * Polynomial(2), 18),
    "multiple": (3.0 * Linear(), 3),
    "power": (Linear() ** 3, 27),
    "polynomial of a kernel": (polynomial(Linear(), [1.0, 0.0, 2.0]), 10),
    "normalized": (normalize(Polynomial(2, 1.0)), 10),
    "normalized sum": (normalize(Linear() + 1.0), 4),
    "rescaled": (rescale(Linear(), length), 3),
    "mapped": (pullback(Polynomial(2), lambda x: [x[0], x[1] * x[2]]), 3),
    "from features": (from_features(lambda x: [x[0], np.sin(x[1])]), 2),
    "from a basis": (from_basis([lambda x: 1.0, lambda x: x[0] ** 2]), 2),
    "columns": (Linear().on(0, 2) * Polynomial(2).on(1), 2),
    "vouched for": (assume_psd(Linear()), 3),
    "categories": (Categorical() + Linear(), 12),
}


@pytest.mark.parametrize("case", FINITE)
def test_inner_products_of_features_are_the_kernel(case):
    kernel, count = FINITE[case]
    X, new = rows(), rows(5, seed=1)
    phi = kernel.feature_map(X)
    assert phi.count == count
    F, G = dense(phi(X)), dense(phi(new))
    assert F.shape == (9, count)
    np.testing.assert_allclose(F @ F.T, kernel(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(G @ F.T, kernel(new, X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(dense(kernel.features(X)), F)


@pytest.mark.parametrize(
    "kernel", [Linear(), Linear() + 1.0, 2.0 * Linear(), Cosine(), Linear() * Linear()], ids=repr
)
def test_features_of_sparse_rows_stay_sparse(kernel):
    X = sparse.csr_array(np.where(rows(9, 30) > 1, rows(9, 30), 0.0))
    F = kernel.features(X)
    assert sparse.issparse(F)
    np.testing.assert_allclose((F @ F.T).toarray(), kernel(X), rtol=1e-12, atol=1e-12)


def test_a_category_that_is_new_has_no_feature():
    phi = Categorical().feature_map(["a", "b", "a"])
    np.testing.assert_array_equal(dense(phi(["b", "z"])), [[0.0, 1.0], [0.0, 0.0]])


def test_features_of_a_table():
    X = pd.DataFrame({"kind": list("abca"), "size": [1.0, 2.0, 3.0, 4.0]})
    kernel = Categorical().on("kind") * (Linear() + 1.0).on("size")
    F = dense(kernel.features(X))
    assert F.shape == (4, 6)
    np.testing.assert_allclose(F @ F.T, kernel(X))


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.0),
        exp(Linear()),
        Linear() + Gaussian(1.0),
        Linear() * Gaussian(1.0),
        normalize(Laplacian(1.0)),
        Polynomial(2, offset=-1.0),
        QuadraticForm([[-1.0]]),
        from_function(lambda a, b: 1.0),
    ],
    ids=repr,
)
def test_without_a_finite_map_there_is_an_error_that_says_what_else_to_do(kernel):
    with pytest.raises(ValidityError, match=r"no finite feature map.*random_features.*empirical"):
        kernel.features(rows(d=1))


# ---- random features ---------------------------------------------------------------------------

SHIFT_INVARIANT = [
    Gaussian(1.5), Gaussian((1.0, 2.0, 3.0)), Laplacian(3.0), Exponential(2.0),
    Matern(1.5, 2.0), Matern(0.8, 2.0), RationalQuadratic(0.7, 1.5), Periodic(2.0, 1.2),
    Shepard(0.4, 1, 1), Shepard(0.4, 2, 2), Shepard(0.4, 1.5, 1.5), Shepard(0.4, 2, 1),
    Gaussian(2.0) + Laplacian(4.0), Gaussian(2.0) * Exponential(4.0), 3.0 * Gaussian(1.5),
    Gaussian(1.5).on(0, 2), Gaussian(2.0) + 1.0,
]  # fmt: skip


@pytest.mark.parametrize("kernel", SHIFT_INVARIANT, ids=repr)
def test_random_features_approximate_a_shift_invariant_kernel(kernel):
    """The mean of m cosines has an error below 1/√m, times the kernel's height."""
    X = rows(12)
    m = 40_000
    Z = kernel.random_features(m, seed=1)(X)
    height = kernel.diagonal(X)[0]
    assert Z.shape == (12, m)
    np.testing.assert_allclose(np.diag(Z @ Z.T), kernel.diagonal(X), rtol=1e-9)
    assert np.abs(Z @ Z.T - kernel(X)).max() < 5 * height / np.sqrt(m / 2)


def test_the_error_falls_with_the_root_of_their_number():
    X, k = rows(20), Gaussian(1.5)
    errors = [
        np.mean([np.abs((Z := k.random_features(m, seed)(X)) @ Z.T - k(X)).mean()
                 for seed in range(8)])
        for m in (100, 1600)
    ]  # fmt: skip
    assert 2.5 < errors[0] / errors[1] < 6.0  # four, up to chance


def test_one_seed_is_one_map():
    X, k = rows(), Gaussian(1.0)
    one, two = k.random_features(20, seed=3), k.random_features(20, seed=3)
    np.testing.assert_array_equal(one(X), two(X))
    np.testing.assert_array_equal(one(X)[:4], one(X[:4]))
    assert not np.array_equal(one(X), k.random_features(20, seed=4)(X))


def test_random_features_are_refused_where_there_are_none():
    with pytest.raises(ValidityError, match=r"not shift-invariant|spectral density"):
        (Linear() + Gaussian(1.0)).random_features(10)(rows())
    with pytest.raises(ValidityError, match=r"number of random features.*found 7"):
        Gaussian(1.0).random_features(7)
    with pytest.raises((DomainError, ValidityError), match=r"rows of numbers|shift-invariant"):
        Categorical().random_features(10)(["a", "b"])
