"""Rows that are kept, and ranges of a stored matrix: the same sums, fewer evaluations."""

import numpy as np
import pytest

from mercer.gram import Blocked, Dense, GramRanges, RowCache
from mercer.kernels import Gaussian


def matrix(n=12, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A @ A.T


class Counted(Dense):
    """A matrix that remembers which of its rows were asked for."""

    def __init__(self, array):
        super().__init__(array)
        self.combined, self.filled = [], []

    def combine(self, columns, coefficients):
        self.combined += columns.tolist()
        return super().combine(columns, coefficients)

    def fill_rows(self, items, out, places):
        self.filled += items.tolist()
        super().fill_rows(items, out, places)


def ask(rows, columns, keep=True, seed=0):
    """Ask for a sum, and check it."""
    columns = np.array(columns)
    values = np.random.default_rng(seed).normal(size=len(columns))
    total = rows.combine(columns, values, np.full(len(columns), keep))
    expected = rows.operator.array[:, columns] @ values
    np.testing.assert_allclose(total, expected, rtol=1e-5 if rows.dtype == np.float32 else 1e-12)


# ---- Rows --------------------------------------------------------------------------------------


def test_a_row_is_kept_when_it_is_asked_for_a_second_time():
    rows = RowCache(Counted(matrix()), capacity=5)
    ask(rows, [1, 2, 3])
    assert rows.kept == [] and rows.operator.filled == []
    ask(rows, [2, 3, 4])
    assert rows.kept == [2, 3]
    assert rows.operator.filled == [2, 3] and rows.operator.combined == [1, 2, 3, 4]
    ask(rows, [2, 3])
    assert rows.operator.filled == [2, 3] and rows.operator.combined == [1, 2, 3, 4]


def test_rows_that_are_not_wanted_are_never_kept():
    rows = RowCache(Counted(matrix()), capacity=5)
    for _ in range(3):
        ask(rows, [1, 2, 3], keep=False)
    assert rows.kept == []
    for _ in range(2):
        total = rows.combine(np.array([7, 8]), np.ones(2), np.array([True, False]))
    assert rows.kept == [7]
    np.testing.assert_allclose(total, matrix()[:, [7, 8]].sum(axis=1))


def test_the_row_that_was_not_used_for_longest_gives_way():
    rows = RowCache(Counted(matrix()), capacity=3)
    for columns in ([0, 1, 2], [0, 1, 2]):
        ask(rows, columns)
    assert rows.kept == [0, 1, 2]
    ask(rows, [0])
    assert rows.kept == [1, 2, 0]
    for _ in range(2):
        ask(rows, [5])
    assert rows.kept == [2, 0, 5]
    ask(rows, [2, 0, 5, 1])  # which has been seen, and takes the place of 2
    assert rows.kept == [0, 5, 1]


def test_rows_in_use_may_give_way_to_others_of_the_same_sum():
    rows = RowCache(Counted(matrix()), capacity=2)
    for _ in range(2):
        ask(rows, [0, 1])
    ask(rows, [2, 3])
    ask(rows, [0, 1, 2, 3])
    assert rows.kept == [2, 3]
    ask(rows, [2, 3])


def test_more_rows_than_there_is_room_for_are_not_kept_at_all():
    rows = RowCache(Counted(matrix()), capacity=2)
    for _ in range(3):
        ask(rows, [0, 1, 2])
    assert rows.kept == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("capacity", [0, 1, 4, 12, 100])
def test_sums_are_right_whatever_is_kept(capacity, dtype):
    rng = np.random.default_rng(0)
    K = matrix()
    rows = RowCache(Dense(K), capacity, dtype)
    assert rows.capacity == min(capacity, 12)
    for _ in range(60):
        columns = np.sort(rng.choice(12, size=rng.integers(1, 6), replace=False))
        values, keep = rng.normal(size=len(columns)), rng.uniform(size=len(columns)) < 0.7
        total = rows.combine(columns, values, keep)
        assert total.dtype == np.float64
        close = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-10}
        np.testing.assert_allclose(total, K[:, columns] @ values, **close)
        assert len(rows.kept) == len(set(rows.kept)) <= capacity


def test_wide_sums_are_added_up_in_pieces():
    X = np.random.default_rng(0).normal(size=(2500, 3))
    k = Gaussian(1.0)
    operator = Blocked(k, k.admit(X))
    rows, columns = RowCache(operator, 10), np.array([3, 1000, 2400])
    for _ in range(3):
        total = rows.combine(columns, np.array([1.0, -2.0, 3.0]), np.ones(3, dtype=bool))
    assert rows.kept == [3, 1000, 2400]
    np.testing.assert_allclose(total, k(X, X[columns]) @ [1.0, -2.0, 3.0], rtol=1e-12)


# ---- GramRanges --------------------------------------------------------------------------------


RANGES = {
    "all": None,
    "one": [(2, 7)],
    "two": [(0, 3), (6, 12)],
    "not in order": [(6, 9), (0, 4), (10, 11)],
    "empty": [(1, 1), (3, 8)],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", RANGES)
def test_ranges_of_a_stored_matrix_are_its_rows_and_columns(name, dtype):
    K, ranges = matrix().astype(dtype), RANGES[name]
    stored = GramRanges(K, ranges)
    places = np.concatenate([np.arange(a, b) for a, b in ranges or [(0, 12)]])
    part = K[np.ix_(places, places)]
    assert stored.order == len(places)
    assert stored.array is K
    np.testing.assert_array_equal(stored.diagonal(), np.diag(part))
    assert stored.diagonal().dtype == np.float64
    some = np.array([0, 2, 4])
    np.testing.assert_array_equal(stored.block(some, np.empty((3, 3))), part[np.ix_(some, some)])
    values = np.array([1.0, -2.0, 0.5])
    total = stored.combine(some, values)
    assert total.dtype == np.float64
    np.testing.assert_allclose(total, part[:, some].astype(float) @ values, rtol=1e-12, atol=1e-12)
    out = np.zeros((5, stored.order))
    stored.fill_rows(some, out, np.array([4, 0, 2]))
    np.testing.assert_array_equal(out[[4, 0, 2]], part[some])
    assert not out[[1, 3]].any()


def test_sums_of_single_precision_rows_are_in_double_precision():
    K = np.full((3, 3), np.float32(0.1))
    total = GramRanges(K).combine(np.arange(3), np.array([1e8, 1.0, -1e8]))
    np.testing.assert_allclose(total, float(np.float32(0.1)), rtol=1e-7)


def test_a_stored_matrix_can_have_rows_that_are_kept():
    K = matrix()
    rows = RowCache(GramRanges(K, [(2, 9)]), 3)
    for _ in range(3):
        total = rows.combine(np.array([0, 6]), np.ones(2), np.ones(2, dtype=bool))
    assert rows.kept == [0, 6]
    np.testing.assert_allclose(total, K[2:9, 2] + K[2:9, 8])
