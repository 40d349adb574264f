"""Vectors: what is admitted as rows of numbers, and what is said about the rest.

Refusals at the level of kernels and machines are tested beside those; here is what only the first
room knows.
"""

import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.domains import VECTORS, Objects, Table, VectorDomain, Vectors
from mercer.errors import DomainError, DomainTypeError


def rows(n=5, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize(
    ("X", "dtype"),
    [
        (rows(), np.float64),
        (rows().astype(np.float32), np.float32),
        (rows().astype(np.float16), np.float64),
        (rows().astype(np.longdouble), np.float64),
        (np.arange(6).reshape(3, 2), np.float64),
        (np.arange(6, dtype=np.uint8).reshape(3, 2), np.float64),
        (np.eye(3, dtype=bool), np.float64),
        (rows().astype(object), np.float64),
        ([[1, 2], [3, 4]], np.float64),
        (((1.0, 2.0), (3.0, 4.0)), np.float64),
        ([np.array([1.0, 2.0]), [3.0, 4.0]], np.float64),
        (np.asfortranarray(rows()), np.float64),
        (rows()[::2, ::-1], np.float64),
    ],
)
def test_what_holds_real_numbers_is_admitted(X, dtype):
    points = VECTORS.admit(X)
    assert points.array.dtype == dtype
    np.testing.assert_allclose(points.array, np.asarray(X, dtype=float))
    assert points.width == points.array.shape[1]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_every_sparse_form_becomes_rows(kind, form):
    X = np.where(rows(6, 8) > 0.5, rows(6, 8), 0.0)
    points = VECTORS.admit(kind(X).asformat(form))
    assert points.is_sparse
    np.testing.assert_array_equal(points.array.toarray(), X)
    assert points.array.indices.dtype == np.int32


def test_numeric_columns_of_every_kind_are_admitted():
    X = pd.DataFrame({
        "float": [1.5, 2.5], "int": [1, 2], "bool": [True, False],
        "nullable": pd.array([3, 4], dtype="Int64"), "single": np.array([1, 2], dtype=np.float32),
    })  # fmt: skip
    points = VECTORS.admit(X)
    expected = [[1.5, 1, 1, 3, 1], [2.5, 2, 0, 4, 2]]
    np.testing.assert_array_equal(points.array, expected)
    assert points.names == ("float", "int", "bool", "nullable", "single")


def test_admitting_admitted_points_is_free():
    points = VECTORS.admit(rows())
    assert VECTORS.admit(points) is points


def test_double_precision_data_are_not_copied():
    X = rows()
    assert VECTORS.admit(X).array is X


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (4, 2), (2, 1)])
def test_a_bad_value_is_found_wherever_it_is(row, column, value):
    word = "NaN" if np.isnan(value) else "infinity"
    X = rows()
    X[row, column] = value
    place = rf"contains {word} at row {row}, column {column}; remove the item or fill in"
    for container in (np.asarray, sparse.csr_array, sparse.csc_array, np.ndarray.tolist):
        with pytest.raises(DomainError, match=place):
            VECTORS.admit(container(X))
    with pytest.raises(DomainError, match=rf"row {row}, column {column} \('c{column}'\)"):
        VECTORS.admit(pd.DataFrame(X, columns=["c0", "c1", "c2"]))


def test_the_first_bad_value_is_named_and_the_container_too():
    X = rows()
    X[3, 0] = X[1, 2] = np.nan
    with pytest.raises(DomainError, match=r"Input Y contains NaN at row 1, column 2"):
        VECTORS.admit(X, "Y")


def test_opposite_infinities_do_not_hide_each_other():
    X = rows()
    X[1, 0], X[2, 0] = np.inf, -np.inf
    with pytest.raises(DomainError, match=r"infinity at row 1, column 0"):
        VECTORS.admit(X)


def test_finite_values_whose_sum_overflows_are_admitted():
    X = np.full((2, 2), 1.7e308)
    np.testing.assert_array_equal(VECTORS.admit(X).array, X)


def test_an_explicit_zero_and_an_empty_row_of_a_sparse_matrix_are_fine():
    X = sparse.csr_array((np.array([0.0, 2.0]), np.array([1, 0]), np.array([0, 1, 1, 2])), (3, 2))
    np.testing.assert_array_equal(VECTORS.admit(X).array.toarray(), [[0, 0], [0, 0], [2, 0]])


def test_objects_that_are_no_numbers_have_their_own_error():
    with pytest.raises(DomainTypeError, match=r"objects that are not numbers"):
        VECTORS.admit(np.array([[{}, {}]], dtype=object))
    assert issubclass(DomainTypeError, TypeError) and issubclass(DomainTypeError, DomainError)


def test_points_are_sliced_with_everything_that_was_made_of_them():
    points = VECTORS.admit(rows())
    made = []

    def double(p):
        made.append(len(p))
        return Vectors(2 * p.array)

    whole = points.view("double", double)
    part = points[1:3].view("double", double)
    np.testing.assert_array_equal(part.array, whole.array[1:3])
    np.testing.assert_array_equal(points[np.array([4, 0])].view("double", double).array,
                                  whole.array[[4, 0]])  # fmt: skip
    assert made == [5]


def test_points_can_be_joined():
    one, two = VECTORS.admit(rows()), VECTORS.admit(rows(2, seed=1))
    np.testing.assert_array_equal(one.concat(two).array, np.concatenate([rows(), rows(2, seed=1)]))
    mixed = one.concat(VECTORS.admit(sparse.csr_array(rows(2, seed=1))))
    assert mixed.is_sparse and len(mixed) == 7


def test_items_are_single_vectors():
    for X in (rows(), sparse.csr_array(rows())):
        items = list(VECTORS.admit(X).items())
        np.testing.assert_allclose(items, rows())
        assert items[0].shape == (3,)


def test_other_points_are_read_again():
    np.testing.assert_array_equal(VECTORS.admit(Objects(rows())).array, rows())
    np.testing.assert_array_equal(VECTORS.admit(Table(pd.DataFrame(rows()))).array, rows())


def test_conditions_of_two_kernels_are_joined():
    both = VectorDomain(nonnegative=True).merge(VectorDomain(dense_for="Chi2"))
    assert both == VectorDomain(nonnegative=True, dense_for="Chi2")
    with pytest.raises(DomainError, match=r"negative"):
        both.admit([[-1.0]])
    with pytest.raises(DomainError, match=r"Chi2"):
        both.admit(sparse.csr_array([[1.0]]))


def test_minus_zero_is_not_negative():
    VectorDomain(nonnegative=True).admit([[-0.0, 1.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thousands_of_columns_are_read_at_once(dtype):
    plain = rows(6, 3000).astype(dtype)
    frame = pd.DataFrame(plain, columns=[f"x{j}" for j in range(3000)])
    begin = time.process_time()
    found = VECTORS.admit(frame)
    at_once = time.process_time() - begin
    assert found.array.dtype == dtype and (found.array == plain).all()
    assert found.array.flags.c_contiguous and not np.shares_memory(found.array, plain)
    begin = time.process_time()
    for j in range(3000):
        frame.iloc[:, j].to_numpy()
    assert at_once < (time.process_time() - begin) / 3
