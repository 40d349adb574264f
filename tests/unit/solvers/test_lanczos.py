"""A few eigenvalues by Lanczos iteration are those of the full decomposition, certified."""

import numpy as np
import pytest

from mercer.gram import Dense, LowRank
from mercer.gram.centered import Centered, center_gram
from mercer.gram.stored import Striped, one_blas_thread
from mercer.kernels import Gaussian, Linear
from mercer.solvers.eigenpairs import DenseEigensolver
from mercer.solvers.lanczos import Lanczos


def gram(n=200, d=4, seed=0):
    return Gaussian(1.5)(np.random.default_rng(seed).normal(size=(n, d)))


@pytest.mark.parametrize("count", [1, 3, 10, 40])
def test_values_and_vectors_are_those_of_the_full_decomposition(count):
    K = gram()
    few, all_ = (
        Lanczos(random_state=0).solve(Dense(K), count),
        DenseEigensolver().solve(Dense(K), count),
    )
    np.testing.assert_allclose(few.values, all_.values, rtol=1e-11)
    np.testing.assert_allclose(few.vectors, all_.vectors, atol=1e-6)
    assert few.status == "solved" and few.certificate < 1e-9


def test_the_certificate_is_the_residual_of_the_vectors_returned():
    K = gram()
    found = Lanczos(passes=2, random_state=0).solve(Dense(K), 5)
    rest = np.linalg.norm(K @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, rest, rtol=1e-9)
    assert found.certificate == pytest.approx(np.max(rest / found.values))
    # Each residual bounds the distance to some eigenvalue.
    exact = np.linalg.eigvalsh(K)
    for value, bound in zip(found.values, found.residuals, strict=True):
        assert np.abs(exact - value).min() <= bound * (1 + 1e-9)


def test_equal_eigenvalues_are_all_found():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(120, 120)))[0]
    values = np.concatenate([np.full(25, 7.0), np.linspace(0.0, 1.0, 95)])
    K = (Q * values) @ Q.T
    found = Lanczos(random_state=0).solve(Dense(K), 25)
    np.testing.assert_allclose(found.values, 7.0, rtol=1e-11)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(25), atol=1e-12)


@pytest.mark.parametrize("n", [3, 8, 9, 21])
def test_small_matrices_end_with_a_whole_basis(n):
    K = gram(n)
    found = Lanczos(random_state=0).solve(Dense(K), min(3, n))
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1][:3], rtol=1e-11)


def test_a_matrix_of_low_rank_has_the_rank_that_is_reported():
    X = np.random.default_rng(0).normal(size=(100, 3))
    found = Lanczos(random_state=0).solve(Dense(Linear()(X)), 5)
    assert found.rank == 3
    np.testing.assert_allclose(
        found.values[:3], DenseEigensolver().solve(LowRank(X)).values, rtol=1e-11
    )
    zero = Lanczos(random_state=0).solve(Dense(np.zeros((20, 20))), 2)
    assert zero.rank == 0


def test_a_slow_problem_is_restarted_and_ends():
    K = np.diag(1.0 - 1e-3 * np.arange(400))
    found = Lanczos(random_state=0).solve(Dense(K), 4)
    assert len(found.history) > 12
    np.testing.assert_allclose(found.values, 1.0 - 1e-3 * np.arange(4), rtol=1e-11)


def test_too_few_passes_are_told():
    K = np.diag(1.0 - 1e-3 * np.arange(400))
    found = Lanczos(max_passes=3, random_state=0).solve(Dense(K), 4)
    assert found.status == "stalled" and "3 products" in found.message


def test_the_same_seed_gives_the_same_bits_on_one_thread_or_many(use_cores):

    K = gram(1300)
    first = Lanczos(random_state=3).solve(Striped(K), 10)
    use_cores(1)
    with one_blas_thread:
        second = Lanczos(random_state=3).solve(Striped(K), 10)
    np.testing.assert_array_equal(first.vectors, second.vectors)


def test_signs_are_determined():
    found = DenseEigensolver().solve(Dense(gram(50)))
    largest = np.abs(found.vectors).argmax(axis=0)
    assert (found.vectors[largest, np.arange(found.vectors.shape[1])] > 0).all()


def test_the_full_decomposition_by_features_is_that_of_the_matrix():
    Phi = np.random.default_rng(0).normal(size=(60, 5))
    small, large = (
        DenseEigensolver().solve(LowRank(Phi)),
        DenseEigensolver().solve(Dense(Phi @ Phi.T)),
    )
    np.testing.assert_allclose(small.values, large.values, rtol=1e-11)
    np.testing.assert_allclose(small.vectors, large.vectors, atol=1e-9)
    assert small.certificate < 1e-12


def test_centering_takes_the_mean_of_the_features_away():
    Phi = np.random.default_rng(0).normal(size=(30, 4)) + 5.0
    moved = Phi - Phi.mean(axis=0)
    K, expected = Centered(Dense(Phi @ Phi.T)), moved @ moved.T
    V = np.random.default_rng(1).normal(size=(30, 3))
    np.testing.assert_allclose(K.matrix(), expected, atol=1e-12)
    np.testing.assert_allclose(K.upper(), expected, atol=1e-12)
    np.testing.assert_allclose(K @ V, expected @ V, atol=1e-11)
    np.testing.assert_allclose(K.diagonal(), np.diag(expected), atol=1e-12)
    features, means = center_gram(LowRank(Phi))
    np.testing.assert_allclose(features.matrix(), expected, atol=1e-12)
    np.testing.assert_allclose(means, K.means, atol=1e-11)


@pytest.mark.parametrize("columns", [None, 1, 12])
def test_a_product_in_stripes_is_the_product(columns):
    K = gram(1500)
    shape = 1500 if columns is None else (1500, columns)
    V = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_allclose(Striped(K) @ V, K @ V, atol=1e-11)
