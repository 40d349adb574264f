"""Products in single precision."""

import numpy as np
import pytest

import mercer.gram.operator as module
from mercer.engine.tiles import prepare_points
from mercer.errors import ValidityError
from mercer.gram import Blocked, Dense
from mercer.gram.single_precision import SinglePrecision, allows_single, single_products
from mercer.kernels import Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Spectrum


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Let a few hundred items be many."""
    monkeypatch.setattr(module, "SINGLE_TILE_SIDE", 32)
    monkeypatch.setattr(module, "SYMMETRIC_FROM", 64)


def rows(count, width=3, seed=0):
    return np.random.default_rng(seed).normal(size=(count, width)) + 50.0


@pytest.mark.parametrize("width", [3, 40])
@pytest.mark.parametrize("columns", [(), (1,), (3,)])
@pytest.mark.parametrize("size", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("kernel", [Gaussian(5.0), Laplacian(20.0), Matern(1.5, 4.0) + 1.0])
def test_they_have_the_digits_of_single_precision(width, columns, size, kernel):
    X = rows(150, width)
    c = size * np.random.default_rng(1).normal(size=(150, *columns))
    whole = np.asarray(kernel(X)) @ c
    found = single_products(Blocked(kernel, kernel.admit(X))) @ c
    assert 0 < np.abs(found - whole).max() <= 3e-6 * np.abs(whole).max()
    assert found.shape == whole.shape and found.dtype == np.float64


def test_what_single_precision_cannot_hold_is_computed_in_double():
    k = Polynomial(8, 1.0)
    X, c = 1e4 * rows(100), np.ones(100)
    rough = SinglePrecision(k, k.admit(X))
    assert np.allclose(rough @ c, np.asarray(k(X)) @ c, rtol=1e-12)
    assert rough.rounded is None  # once is enough to know


@pytest.mark.parametrize("count", [50, 100])
def test_similarities_may_fit_where_their_sums_do_not(count):
    k = Linear()
    X, c = np.full((count, 1), 1.5e19), np.ones((count, 1))
    rough = SinglePrecision(k, k.admit(X))
    assert np.isfinite(np.float32(k.pair(X[0], X[0])))
    assert np.allclose(rough @ c, count * 2.25e38, rtol=1e-12)
    assert rough.rounded is None


def test_each_column_has_a_size_of_its_own():
    k = Gaussian(1.0)
    X, c = rows(100), np.random.default_rng(1).normal(size=(100, 3)) * [1e-50, 1.0, 0.0]
    whole, found = np.asarray(k(X)) @ c, single_products(Blocked(k, k.admit(X))) @ c
    assert np.all(np.abs(found - whole).max(axis=0) <= 3e-6 * np.abs(whole).max(axis=0))


def test_the_same_on_one_thread_or_many(use_cores):
    k = Gaussian(1.0)
    points, c = k.admit(rows(500)), rows(500)[:, 0]
    answers = []
    for cores in (1, 2):
        use_cores(cores)
        answers.append(SinglePrecision(k, points) @ c)
    assert np.array_equal(*answers)


def test_only_rows_of_numbers_have_them():
    k = Spectrum(2)
    assert single_products(Blocked(k, k.admit(["ab", "ba"]))) is None
    assert single_products(Dense(np.eye(2))) is None


def test_kernels_that_stay_in_double_precision_have_none():
    points = Gaussian(1.0).admit(rows(20))
    assert allows_single(Gaussian(1.0), points) and allows_single(Gaussian(1.0) + Linear(), points)
    assert not allows_single(Cosine(), points) and not allows_single(Cosine() + Linear(), points)
    assert single_products(Blocked(Cosine(), points)) is None


@pytest.mark.parametrize("single", [False, True])
def test_a_similarity_that_is_not_finite_is_named_by_any_product(single):
    X = rows(100)
    X[70] = 1e200
    k = Linear()
    with np.errstate(over="ignore"):
        points = prepare_points(k, k.admit(X), single=single)
    with pytest.raises(ValidityError, match=r"items .*70"):
        Blocked(k, points) @ np.ones(100)
