"""Gram operators: the stored matrix and the one that never exists agree, the latter is small."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.engine.tiles import TILE
from mercer.errors import DomainError, ValidityError
from mercer.gram import Blocked, Dense, LowRank, assemble, product
from mercer.kernels import (
    Categorical,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    from_function,
    precomputed,
)
from tests.measure import peak

TOLERANCE = {"rtol": 1e-11, "atol": 1e-11}


def rows(n, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("n", [1, 10, TILE, TILE + 1, 2 * TILE + 9])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Laplacian(2.0)], ids=repr)
def test_a_blocked_product_is_the_product_with_the_matrix(kernel, shape, n):
    X = rows(n)
    v = np.random.default_rng(1).normal(size=(n, *shape))
    blocked = Blocked(kernel, kernel.admit(X))
    dense = Dense(kernel(X))
    assert blocked.order == dense.order == n
    assert (blocked @ v).shape == v.shape
    np.testing.assert_allclose(blocked @ v, dense @ v, **TOLERANCE)
    np.testing.assert_allclose(blocked.diagonal(), dense.diagonal(), **TOLERANCE)
    np.testing.assert_array_equal(blocked.matrix(), dense.matrix())


def test_a_product_of_two_sets():
    k, A, B = Gaussian(1.0), rows(TILE + 3), rows(2 * TILE + 1, seed=1)
    w = np.random.default_rng(2).normal(size=(len(B), 2))
    found = product(k, k.admit(A), k.admit(B), w)
    np.testing.assert_allclose(found, k(A, B) @ w, **TOLERANCE)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (Gaussian(1.0), sparse.csr_array(np.where(rows(30) > 0, rows(30), 0.0))),
        (Categorical(), list("abcab" * 6)),
        (from_function(lambda a, b: float(a * b)), list(range(30))),
        (
            Linear().on("a") + Categorical().on("b"),
            pd.DataFrame({"a": range(30), "b": list("xyz" * 10)}),
        ),
        (precomputed(), Gaussian(1.0)(rows(30))),
        (Gaussian(1.0), rows(30).astype(np.float32)),
    ],
    ids=["sparse", "categories", "objects", "table", "precomputed", "single precision"],
)
def test_products_of_things_of_every_kind(kernel, X):
    points, v = kernel.admit(X), np.random.default_rng(1).normal(size=30)
    exact = kernel(X).astype(float)
    # Rounding a matrix to single precision costs 6e-8 of each entry.
    np.testing.assert_allclose(Blocked(kernel, points) @ v, exact @ v, rtol=1e-6, atol=1e-5)
    assert Blocked(kernel, points).matrix().dtype == np.float64


def test_a_product_never_builds_the_matrix(use_cores):
    use_cores(2)
    k = Gaussian(1.0)
    A, B = k.admit(rows(3000)), k.admit(rows(4000, seed=1))
    w = np.ones(4000)
    product(k, A[:400], B[:400], w[:400])  # scratch memory and imports
    matrix = 8 * 3000 * 4000
    assert peak(lambda: product(k, A, B, w)) < matrix / 5  # scratch of each thread: 3 MB a tile


@pytest.mark.slow
def test_a_product_takes_as_much_memory_for_twice_the_columns(use_cores):
    use_cores(2)
    k, w = Gaussian(1.0), np.ones(6000)
    A, B = k.admit(rows(800)), k.admit(rows(6000, seed=1))
    product(k, A, B[:400], w[:400])
    small = peak(lambda: product(k, A, B[:3000], w[:3000]))
    large = peak(lambda: product(k, A, B, w))
    # The columns seen from their mean, and some tiles of 3 MB; the matrix would take 19 MB more.
    assert large < small + 8 * 800 * 3000 / 2


@pytest.mark.slow
def test_a_diagonal_never_builds_the_matrix():
    k, X = Gaussian(1.0) * Polynomial(2, 1.0), rows(4000)
    k.diagonal(X[:10])
    assert peak(lambda: k.diagonal(X)) < 8 * 4000 * 50


@pytest.mark.slow
def test_a_filled_matrix_is_filled_where_it_lies():
    k, X = Gaussian(1.0), rows(2000)
    k(X[:400])
    assert peak(lambda: k(X)) < 1.35 * 8 * 2000**2


# ---- who may write -----------------------------------------------------------------------------


def test_a_matrix_of_the_user_is_copied_before_it_is_overwritten():
    K = Gaussian(1.0)(rows(5))
    assert Dense(K).matrix() is K
    assert Dense(K).upper() is not K
    assert Dense(K, owned=True).upper() is K
    diagonal = Dense(K).diagonal()
    diagonal[:] = 7.0
    np.testing.assert_array_equal(np.diag(K), np.ones(5))


def test_a_precomputed_matrix_is_used_where_it_lies():
    K = Gaussian(1.0)(rows(5))
    assert assemble(precomputed(), precomputed().admit(K)).matrix() is K


def test_another_type_is_a_copy_that_may_be_overwritten():
    single = np.eye(3, dtype=np.float32)
    operator = Dense(single)
    assert operator.matrix().dtype == np.float64
    operator.upper()[:] = 5.0
    np.testing.assert_array_equal(single, np.eye(3))


# ---- features ----------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_features_stand_for_their_gram_matrix(container):
    F, v = rows(8, 3), rows(8, 2, seed=1)
    operator = LowRank(container(F))
    assert operator.order == 8
    np.testing.assert_allclose(operator @ v, F @ F.T @ v, **TOLERANCE)
    np.testing.assert_allclose(operator.diagonal(), np.diag(F @ F.T), **TOLERANCE)
    np.testing.assert_allclose(operator.matrix(), F @ F.T, **TOLERANCE)


def test_the_route_decides_what_is_assembled():
    k, X = Polynomial(2), rows(9, 2)
    points = k.admit(X)
    assert isinstance(assemble(k, points, "primal"), LowRank)
    assert isinstance(assemble(k, points), Blocked)
    np.testing.assert_allclose(
        assemble(k, points, "primal").matrix(), assemble(k, points).matrix(), **TOLERANCE
    )
    with pytest.raises(ValidityError, match=r"no finite feature map"):
        assemble(Gaussian(1.0), Gaussian(1.0).admit(X), "primal")


@pytest.mark.parametrize("shape", [(2, 3), (3,), (2, 2, 2)])
def test_a_matrix_must_be_square(shape):
    with pytest.raises(DomainError, match=r"square"):
        Dense(np.ones(shape))


def test_precomputed_rows_must_be_square():
    k = precomputed()
    with pytest.raises(DomainError, match=r"square matrix. Input is a 2x3 matrix"):
        assemble(k, k.admit(np.ones((2, 3))))


def test_overflow_in_a_product_is_refused():
    k = Polynomial(200)
    points = k.admit([[0.01], [100.0]])
    with pytest.raises(ValidityError, match=r"is inf for items 1 and 1"):
        Blocked(k, points) @ np.ones(2)
    with pytest.raises(ValidityError, match=r"is inf for items 1 and 1"):
        Blocked(k, points).matrix()
    with pytest.raises(ValidityError, match=r"inf"):
        Blocked(k, points).diagonal()
