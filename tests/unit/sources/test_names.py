"""Names of columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.sources.column_kinds import names_rows
from mercer.sources.source import is_copy, suggest_name, unique_names


@given(st.lists(st.sampled_from(["a", "b", "", "a (2)", " a", "column 2", "a (2) (2)"])))
def test_names_are_always_different(first):
    names, notes = unique_names(first)
    assert len(set(names)) == len(names) == len(first)
    assert all(names)
    assert all(
        name.strip() == entry.strip() for name, entry in zip(names, first, strict=True)
    ) or (len(notes) or "" in [entry.strip() for entry in first])


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("id", True), ("ID", True), ("customer_id", True), ("customerID", True), ("rowNum", True),
        ("Unnamed: 0", True), ("index", True), ("idea", False), ("valid", False), ("grid", False),
        ("Number of Rings", False), ("id_age", False), ("", False), ("größe", False),
    ],
)  # fmt: skip
def test_names_that_name_rows(name, is_one):
    assert names_rows(name) is is_one


def test_copies():
    assert is_copy("y (2)", "y")
    assert not is_copy("y (old)", "y")
    assert not is_copy("y", "y")
    assert not is_copy("yes (2)", "y")


def test_hints_are_short():
    assert suggest_name("b", ["x", "y"]) == "; known are 'x', 'y'"
    assert suggest_name("zzz", [f"x{i}" for i in range(100)]).endswith("'x9' and 90 more")
