"""LAPACK without the interpreter's lock says what SciPy's says, on rows of any stride."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import linalg

from mercer import lapack
from tests.oracles.refits import solved

sizes = st.integers(1, 12)
seeds = st.integers(0, 2**16)


def definite(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n)


def spread(A, gap=3):
    """Return the same matrix with room between its rows."""
    room = np.full((len(A), A.shape[1] + gap), np.nan)
    room[:, : A.shape[1]] = A
    return room[:, : A.shape[1]]


LAYOUTS = {
    "plain": np.array,
    "spread": spread,
    "every other row": lambda A: np.repeat(A, 2, axis=0)[::2],
    "inside": lambda A: np.pad(A, 2, constant_values=7.0)[2:-2, 2:-2],
}
each_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


@each_layout
@given(sizes, seeds)
def test_factor(layout, n, seed):
    M = definite(np.random.default_rng(seed), n)
    L = layout(M)
    assert lapack.factor(L) is True
    np.testing.assert_allclose(np.tril(L), linalg.cholesky(M, lower=True), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(np.triu(L, 1), np.triu(M, 1))  # not written


@given(sizes, seeds)
def test_only_the_lower_triangle_is_read(n, seed):
    M = definite(np.random.default_rng(seed), n)
    spoiled = np.tril(M) + np.triu(np.full((n, n), np.nan), 1)
    assert lapack.factor(spoiled)
    np.testing.assert_allclose(np.tril(spoiled), linalg.cholesky(M, lower=True), rtol=1e-10)
    R = np.ones((n, 2))
    np.testing.assert_allclose(lapack.solve(spoiled, R), linalg.solve(M, R), rtol=1e-8)
    assert lapack.invert(spoiled) is spoiled
    np.testing.assert_allclose(lapack.times_inverse(spoiled, R), linalg.solve(M, R), rtol=1e-8)
    C = lapack.inverse_from_factor_inverse(spoiled)
    np.testing.assert_allclose(np.tril(C), np.tril(linalg.inv(M)), atol=1e-9)
    assert lapack.norm(C) == pytest.approx(np.linalg.norm(linalg.inv(M), 1))


@pytest.mark.parametrize("place", [0, 2, 4])
@each_layout
def test_what_is_not_positive_definite_has_no_factor(layout, place):
    M = np.eye(5)
    for value in (0.0, -1.0):
        M[place, place] = value
        assert lapack.factor(layout(M)) is False
    assert not lapack.factor(layout(np.ones((3, 3)) - 1e-3 * np.eye(3)))


@each_layout
@given(sizes, st.integers(1, 4), seeds)
def test_solve(layout, n, columns, seed):
    rng = np.random.default_rng(seed)
    M, R = definite(rng, n), rng.normal(size=(n, columns))
    L = layout(np.linalg.cholesky(M))
    sides = [R, R[:, 0], np.asfortranarray(R), np.column_stack([R, R])[:, ::2], R[::-1][::-1]]
    for side in sides:
        before = side.copy()
        found = lapack.solve(L, side)
        np.testing.assert_allclose(found, linalg.solve(M, side), rtol=1e-8, atol=1e-10)
        assert found.shape == side.shape
        np.testing.assert_array_equal(side, before)


@pytest.fixture
def small(monkeypatch):
    """Let matrices of three be worked on in parts."""
    monkeypatch.setattr(lapack, "LEAF_ORDER", 2)
    monkeypatch.setattr(lapack, "MIN_ORDER_FOR_LEAVES", 3)


patched = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@each_layout
@given(n=sizes, seed=seeds)
@patched
def test_factor_leaf_by_leaf(small, layout, n, seed):
    rng = np.random.default_rng(seed)
    M = definite(rng, n)
    L = layout(M)
    assert lapack.factor(L) is True
    np.testing.assert_allclose(np.tril(L), linalg.cholesky(M, lower=True), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(np.triu(L, 1), np.triu(M, 1))  # not written
    M[-1, -1] = -1.0
    assert lapack.factor(layout(M)) is False


@pytest.mark.parametrize("size", [1.0, 1e150, 1e-150])
@pytest.mark.parametrize("penalty", [1.0, 1e-8, 1e-12])
def test_leaves_lose_no_digits(penalty, size):
    """However ill-conditioned; products with inverted leaves would leave 30 to 200 times more."""
    n = 2 * lapack.LEAF_ORDER + 9
    x = np.linspace(0.0, 3.0, n)
    L = size * np.linalg.cholesky(np.exp(-((x - x[:, None]) ** 2)) + penalty * np.eye(n))
    rows = np.random.default_rng(1).normal(size=(lapack.LEAF_ORDER, n))
    found = lapack.solve_rows(L, rows.copy())
    assert np.abs(rows - found @ L.T).max() <= 1e-15 * np.abs(found).max() * size


@pytest.mark.parametrize("penalty", [1e-3, 1e-6, 1e-10])
def test_a_large_factor_has_the_digits_of_lapacks(penalty):
    n = lapack.MIN_ORDER_FOR_LEAVES + 5
    x = np.sort(np.random.default_rng(0).uniform(0.0, 10.0, n))
    M = np.exp(-2 * (x - x[:, None]) ** 2) + penalty * np.eye(n)
    ours, theirs = M.copy(), linalg.cholesky(M, lower=True)
    assert lapack.factor(ours)
    ours = np.tril(ours)
    assert np.abs(ours @ ours.T - M).max() <= 5 * np.abs(theirs @ theirs.T - M).max()


@each_layout
@given(n=sizes, seed=seeds)
@patched
def test_invert(small, layout, n, seed):
    M = definite(np.random.default_rng(seed), n)
    X = layout(M)
    assert lapack.factor(X) and lapack.invert(X) is X
    exact = linalg.inv(linalg.cholesky(M, lower=True))
    np.testing.assert_allclose(np.tril(X), exact, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(np.triu(X, 1), np.triu(M, 1))  # not written
    C = lapack.inverse_from_factor_inverse(X)
    np.testing.assert_allclose(np.tril(C), np.tril(linalg.inv(M)), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("penalty", [1e-6, 1e-10])
def test_a_large_inverse_has_the_digits_of_lapacks(penalty):
    """Of smooth similarities, whose digits are lost first."""
    n = 257
    x = np.linspace(0.0, 1.0, n)
    M = np.exp(-2 * (x - x[:, None]) ** 2) + penalty * np.eye(n)
    exact = np.tril(solved(M, np.eye(n)))
    X = M.copy()
    assert lapack.factor(X)
    ours = np.tril(lapack.inverse_from_factor_inverse(lapack.invert(X)))
    theirs = np.tril(linalg.lapack.dpotri(linalg.cholesky(M, lower=True), lower=1)[0])
    assert np.abs(ours - exact).max() <= 5 * np.abs(theirs - exact).max()


def test_sums_that_overflow_are_infinite():
    assert lapack.norm(np.full((3, 3), 1e308)) == np.inf
    assert lapack.norm(np.full((3, 3), np.inf)) == np.inf


@each_layout
@given(n=sizes, seed=seeds)
@patched
def test_mirror(small, layout, n, seed):
    C = definite(np.random.default_rng(seed), n)
    half = layout(np.tril(C) + np.triu(np.full((n, n), np.nan), 1))
    assert lapack.mirror(half) is half
    np.testing.assert_array_equal(half, C)


@each_layout
@pytest.mark.parametrize("leaf", [2, 64])
@given(n=sizes, count=st.integers(1, 6), seed=seeds)
@patched
def test_solve_rows(monkeypatch, layout, leaf, n, count, seed):
    monkeypatch.setattr(lapack, "LEAF_ORDER", leaf)
    rng = np.random.default_rng(seed)
    L = np.linalg.cholesky(definite(rng, n))
    rows = rng.normal(size=(count, n))
    expected = linalg.solve_triangular(L, rows.T, lower=True).T
    B = layout(rows)
    assert lapack.solve_rows(layout(L), B) is B
    np.testing.assert_allclose(B, expected, rtol=1e-8, atol=1e-10)


@each_layout
@pytest.mark.parametrize("transposed", [False, True])
@given(sizes, st.integers(1, 6), seeds)
def test_times_rows(layout, transposed, n, count, seed):
    rng = np.random.default_rng(seed)
    L = np.linalg.cholesky(definite(rng, n))
    rows = rng.normal(size=(count, n))
    B = layout(rows)
    assert lapack.multiply_rows(layout(L), B, transposed) is B
    np.testing.assert_allclose(B, rows @ (L if transposed else L.T), rtol=1e-8, atol=1e-10)


@given(sizes, seeds)
def test_a_single_row_may_have_any_stride(n, seed):
    """NumPy calls a column, transposed, contiguous, but its rows are one number apart."""
    rng = np.random.default_rng(seed)
    L = np.linalg.cholesky(definite(rng, n))
    column = rng.normal(size=(n, 1))
    expected = linalg.solve_triangular(L, column, lower=True)
    for row in (column.copy().T, rng.normal(size=(3, n))[1:2]):
        row[:] = column.T
        np.testing.assert_allclose(lapack.solve_rows(L, row), expected.T, rtol=1e-8, atol=1e-10)
        found = lapack.multiply_rows(L, row)
        np.testing.assert_allclose(found, column.T, rtol=1e-8, atol=1e-10)


@each_layout
@pytest.mark.parametrize("sign", [1.0, -1.0])
@given(sizes, st.integers(0, 5), seeds)
def test_add_products(layout, sign, n, columns, seed):
    rng = np.random.default_rng(seed)
    A, C = rng.normal(size=(n, columns)), rng.normal(size=(n, n))
    found = layout(C)
    assert lapack.add_outer(found, layout(A), sign) is found
    np.testing.assert_allclose(np.tril(found), np.tril(C + sign * A @ A.T), atol=1e-12)
    np.testing.assert_array_equal(np.triu(found, 1), np.triu(C, 1))


def test_a_matrix_of_one_number():
    M = np.array([[4.0]])
    assert lapack.factor(M) and M[0, 0] == 2.0
    assert lapack.solve(M, np.array([8.0])).tolist() == [2.0]
    assert lapack.solve_rows(M, np.array([[6.0], [8.0]])).tolist() == [[3.0], [4.0]]
    assert lapack.multiply_rows(M, np.array([[6.0], [8.0]])).tolist() == [[12.0], [16.0]]
    X = np.array([[4.0]])
    assert lapack.factor(X) and lapack.invert(X)[0, 0] == 0.5
    assert lapack.times_inverse(X, np.array([[8.0]])).tolist() == [[2.0]]
    assert lapack.inverse_from_factor_inverse(X)[0, 0] == lapack.norm(X) == 0.25
    assert not lapack.factor(np.array([[-4.0]]))


@pytest.mark.parametrize("wrong", [np.eye(3, dtype=np.float32), np.arange(9.0).reshape(3, 3).T])
def test_other_arrays_are_refused(wrong):
    with pytest.raises(AssertionError):
        lapack.factor(wrong)


def test_threads_do_not_disturb_each_other():
    rng = np.random.default_rng(0)
    matrices = [definite(rng, n) for n in rng.integers(20, 300, 24)]

    def inverse(M):
        X = M.copy()
        assert lapack.factor(X)
        return np.tril(lapack.inverse_from_factor_inverse(lapack.invert(X)))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(inverse, matrices))
    for M, C in zip(matrices, found, strict=True):
        np.testing.assert_allclose(C, np.tril(linalg.inv(M)), atol=1e-10)
