"""Objects, categories, tables, Gram rows: the domains that are not vectors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.domains import (
    ANYTHING,
    CATEGORIES,
    COLUMNS,
    GRAM_ROWS,
    MISSING,
    VECTORS,
    Columns,
    GramRows,
    Objects,
    Table,
    VectorDomain,
    join,
    things,
)
from mercer.errors import DomainError

# ---- objects -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "things",
    [
        ["cat", "dog"],
        [{"a": 1}, {"b": 2}],
        [[1, 2], [3, 4, 5]],
        [{1, 2}, frozenset()],
        [None, 3],
        (print, len),
        [np.zeros((2, 2)), np.zeros((3, 3))],
        [np.zeros(2), np.zeros(2)],
    ],
    ids=repr,
)
def test_objects_are_kept_as_they_are(things):
    points = ANYTHING.admit(things)
    assert len(points) == len(things)
    assert all(one is two for one, two in zip(points.items(), things, strict=True))
    assert next(points[1:].items()) is things[1]


def test_rows_of_an_array_are_its_things():
    X = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(list(Objects(X).items())[1], [2.0, 3.0])


def test_a_series_is_its_values():
    series = pd.Series(["a", "b", "c"], index=[7, 8, 9])
    assert list(Objects(series).items()) == ["a", "b", "c"]


def test_objects_are_joined_in_order():
    assert list(Objects(["a"]).concat(Objects(["b", "c"])).items()) == ["a", "b", "c"]


@pytest.mark.parametrize("X", ["word", b"word", {"a": 1}, 3, None, object()])
def test_what_is_no_sequence_is_refused(X):
    with pytest.raises(DomainError, match=r"must be a sequence of things.*put the things into a"):
        ANYTHING.admit(X)


def test_nothing_is_refused():
    with pytest.raises(DomainError, match=r"Y with 0 sample\(s\)"):
        ANYTHING.admit([], "Y")


@pytest.mark.parametrize(
    "container",
    [
        ["cat", "dog"],
        ("cat", "dog"),
        np.array(["cat", "dog"]),
        np.array([["cat"], ["dog"]], dtype=object),
        pd.Series(["cat", "dog"], index=[3, 4]),
        pd.DataFrame({"word": ["cat", "dog"]}, index=[3, 4]),
        Table(pd.DataFrame({"word": ["cat", "dog"], "n": [1, 2]})).select(("word",)),
        Table(np.array([["cat", 1], ["dog", 2]], dtype=object)).select((0,)),
        Objects(["cat", "dog"]),
    ],
    ids=lambda c: type(c).__name__,
)
def test_things_of_any_container(container):
    assert list(things(container).items()) == ["cat", "dog"]


def test_things_are_in_one_column_and_rows_of_numbers_are_things():
    with pytest.raises(DomainError, match=r"Y has 2 columns, but a kernel on whole things"):
        things(pd.DataFrame({"a": ["x"], "b": ["y"]}), "Y")
    assert [len(row) for row in things(np.eye(3)).items()] == [3, 3, 3]
    assert [len(row) for row in things(VECTORS.admit(np.eye(3))).items()] == [3, 3, 3]


# ---- categories --------------------------------------------------------------------------------


def test_one_label_per_item():
    assert list(CATEGORIES.admit(["a", 1, (2, 3)]).items()) == ["a", 1, (2, 3)]
    assert list(CATEGORIES.admit(np.array([[1, 2], [1, 3]])).items()) == [(1, 2), (1, 3)]
    assert list(CATEGORIES.admit(np.array([["a"], ["b"]])).items()) == ["a", "b"]
    assert list(CATEGORIES.admit(pd.DataFrame({"k": ["a", "b"]})).items()) == ["a", "b"]
    frame = pd.DataFrame({"k": ["a", "b"], "n": [1, 2]})
    assert list(CATEGORIES.admit(frame).items()) == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA, pd.NaT])
def test_a_missing_category_is_named(missing):
    with pytest.raises(DomainError, match=r"row 2 of X has a missing category; fill it in or"):
        CATEGORIES.admit(["a", "b", missing])
    with pytest.raises(DomainError, match=r"row 1 of X has a missing category"):
        CATEGORIES.admit(pd.DataFrame({"k": ["a", missing], "n": [1, 2]}))


def test_what_cannot_be_compared_is_named():
    with pytest.raises(DomainError, match=r"row 1 of X is a set, which cannot be a category"):
        CATEGORIES.admit(["a", {1}])


# ---- tables ------------------------------------------------------------------------------------


def frame():
    return pd.DataFrame({"height": [1.0, 2.0], "kind": ["a", "b"]}, index=[10, 20])


def test_a_table_slices_by_position_whatever_its_index():
    table = COLUMNS.admit(frame())
    assert list(table[1:].items()) == [{"height": 2.0, "kind": "b"}]
    assert next(table[np.array([1, 0])].items())["kind"] == "b"


def test_a_table_selects_columns_in_the_order_asked_for():
    table = COLUMNS.admit(frame())
    assert list(table.select(("kind", "height")).frame.columns) == ["kind", "height"]
    assert list(table.select((slice(0, 1), -1)).frame.columns) == ["height", "kind"]


def test_integers_are_names_first_if_the_table_has_such_names():
    table = Table(pd.DataFrame({1: [5.0], 0: [7.0]}))
    assert table.select((0,)).frame.iloc[0, 0] == 7.0


def test_arrays_and_sparse_rows_are_tables_without_names():
    for X in (np.eye(3), sparse.csr_array(np.eye(3)), np.eye(3).tolist()):
        selected = COLUMNS.admit(X).select((2, 0)).frame
        selected = selected.toarray() if sparse.issparse(selected) else selected
        np.testing.assert_array_equal(selected, np.eye(3)[:, [2, 0]])


def test_tables_are_joined_by_rows():
    joined = COLUMNS.admit(frame()).concat(COLUMNS.admit(frame()))
    assert len(joined) == 4
    assert [row["kind"] for row in joined.items()] == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), r"two columns called 'a'; rename one"),
        (frame().iloc[:0], r"0 sample\(s\) \(shape=\(0, 2\)\)"),
        (np.array([[1.0, np.nan]]), r"NaN at row 0, column 1"),
        (np.ones(3), r"Expected 2D array, got 1D"),
    ],
)
def test_bad_tables_are_refused(X, words):
    with pytest.raises(DomainError, match=words):
        COLUMNS.admit(X)


def test_a_table_knows_its_gaps_and_fills_them():
    X = pd.DataFrame({"a": [1.0, np.nan], "b": [None, [1, 2]]})
    gaps = Table(X).absent()
    np.testing.assert_array_equal(gaps, [[False, True], [True, False]])
    full = Table(X).filled(gaps, [0.0, [3, 4]]).frame
    assert full["a"].tolist() == [1.0, 0.0] and full["b"].tolist() == [[3, 4], [1, 2]]
    assert np.isnan(X.loc[1, "a"]) and X.loc[0, "b"] is None
    assert (
        Table(np.eye(2)).absent() is None and Table(sparse.csr_array(np.eye(2))).absent() is None
    )
    A = np.array([[1.0, np.nan]])
    assert Table(A).filled(np.isnan(A), [MISSING] * 2).frame.tolist() == [[1.0, MISSING]]
    assert Table(np.array([[1, 2]])).absent() is None
    assert Table(np.array([["a", "b"]])).absent() is None


def test_numbers_with_gaps_are_admitted_where_a_kernel_knows_what_to_do():
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert Columns(gaps=True).admit(X).frame is X
    assert join(COLUMNS, Columns(gaps=True)) == join(Columns(gaps=True), COLUMNS) != COLUMNS


# ---- Gram rows ---------------------------------------------------------------------------------


def test_a_square_matrix_is_its_own_reference():
    rows = GRAM_ROWS.admit(np.eye(3))
    np.testing.assert_array_equal(rows.places, [0, 1, 2])
    np.testing.assert_array_equal(rows[1:].places, [1, 2])
    assert GRAM_ROWS.admit(np.ones((2, 3))).places is None
    assert rows.width == 3


def test_rows_of_similarities_are_joined():
    square, more = GRAM_ROWS.admit(np.eye(3)), GRAM_ROWS.admit(np.ones((2, 3)))
    assert square.concat(square).places.tolist() == [0, 1, 2, 0, 1, 2]
    assert square.concat(more).places is None
    assert isinstance(square.concat(more), GramRows)


def test_similarities_must_be_finite_and_dense():
    with pytest.raises(DomainError, match=r"NaN at row 0, column 1"):
        GRAM_ROWS.admit([[1.0, np.nan], [1.0, 1.0]])
    with pytest.raises(DomainError, match=r"sparse; a precomputed Gram matrix must be dense"):
        GRAM_ROWS.admit(sparse.csr_array(np.eye(2)))


# ---- what goes together ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two", "both"),
    [
        (VECTORS, VECTORS, VECTORS),
        (VECTORS, VectorDomain(nonnegative=True), VectorDomain(nonnegative=True)),
        (CATEGORIES, VECTORS, VECTORS),
        (CATEGORIES, CATEGORIES, CATEGORIES),
        (COLUMNS, VECTORS, COLUMNS),
        (COLUMNS, CATEGORIES, COLUMNS),
        (ANYTHING, VECTORS, VECTORS),
        (ANYTHING, GRAM_ROWS, GRAM_ROWS),
        (VECTORS, GRAM_ROWS, None),
        (CATEGORIES, GRAM_ROWS, None),
        (COLUMNS, GRAM_ROWS, None),
    ],
)
def test_domains_join_in_either_order(one, two, both):
    assert join(one, two) == both
    assert join(two, one) == both
