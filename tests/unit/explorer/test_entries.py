"""Whatever a machine takes is a table here, and comes back as what the machine takes."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.errors import DomainError
from mercer.explorer.entries import EntryTable, plain_entry


def frame():
    return pd.DataFrame(
        {"n": [1.0, np.nan], "d": [0.0, 365.0], "c": ["x", None], "t": ["one two", "three"]}
    )


@pytest.fixture
def table():
    kinds = {"n": "numeric", "d": "date", "c": "categorical", "t": "text"}
    return EntryTable.of(frame(), kinds)


def test_a_table_comes_back_as_it_was(table):
    pd.testing.assert_frame_equal(table.items(), frame())
    array = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(EntryTable.of(array).items(), array)
    np.testing.assert_array_equal(EntryTable.of(sparse.csr_array(array)).items(), array)
    assert EntryTable.of(["ab", "c"]).items() == ["ab", "c"]
    assert EntryTable.of(["CCO"], what="smiles").kinds == {"item": "smiles"}


def test_columns_that_are_no_texts_keep_their_names():
    found = EntryTable.of(pd.DataFrame({3: [1.0, 2.0]}))
    assert list(found.frame) == ["3"]
    assert list(found.items().columns) == [3]


def test_spans_and_levels_leave_gaps_out(table):
    assert table.spans["n"][:2] == (1.0, 1.0)
    assert table.levels == {"c": ["x"]}


def test_what_is_typed_becomes_an_entry(table):
    row = table.changed(0, {"n": "2.5", "d": "1971-01-01", "c": None, "t": "four"})
    assert row.iloc[0, [0, 1, 3]].tolist() == [2.5, 365.0, "four"]
    assert pd.isna(row["c"].iloc[0])
    assert np.isnan(table.changed(0, {"n": None})["n"].iloc[0])


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"nn": 1}, "no column 'nn'"),
        ({"n": "two"}, "must be a number"),
        ({"n": "inf"}, "must be a number"),
        ({"n": True}, "must be a number"),
        ({"n": [1]}, "must be a number"),
        ({"d": "2024-99-01"}, "must be a date"),
        ({"c": 3}, "needs a text"),
        ({"t": ""}, "at least one letter"),
        ({"t": "x" * 30_000}, "at most 20000"),
    ],
)
def test_what_makes_no_entry_is_refused_by_name(table, cells, words):
    with pytest.raises(DomainError, match=words):
        table.changed(0, cells)


@pytest.mark.parametrize("place", [-1, 2, True, 1.0, "0", None])
def test_rows_that_are_not_there_are_refused(table, place):
    with pytest.raises(DomainError, match="there is no row"):
        table.changed(place, {})


def test_things_cannot_be_typed():
    table = EntryTable.of([object(), object()])
    with pytest.raises(DomainError, match="cannot be typed"):
        table.changed(0, {"item": "x"})


def test_a_category_of_pandas_takes_a_new_level():
    table = EntryTable.of(pd.DataFrame({"c": pd.Categorical(["a", "b"])}))
    assert table.changed(0, {"c": "b"})["c"].iloc[0] == "b"
    assert table.changed(0, {"c": "new"})["c"].iloc[0] == "new"


def test_huge_sparse_tables_are_refused():
    with pytest.raises(DomainError, match="too many to explore"):
        EntryTable.of(sparse.csr_array((30_000, 1000)))


def test_entries_are_plain():
    assert plain_entry(np.nan, "numeric") is None
    assert plain_entry(365.5, "date") == "1971-01-01T12:00:00"
    assert plain_entry("x", "text") == "x"
