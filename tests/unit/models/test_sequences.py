"""Sequences with gaps: how they are read, cut, joined, and combined with other domains."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains import ANYTHING, SERIES, STRINGS, VECTORS, join
from mercer.errors import DomainError
from mercer.models.sequences import GapDomain, SymbolDomain, spans

SYMBOLS = SymbolDomain(missing="?")


def things(points):
    return [tuple(item) for item in points.items()]


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (["ab", "", "?b"], [("a", "b"), (), (None, "b")]),
        (pd.Series(["ab", "c"], index=[5, 6]), [("a", "b"), ("c",)]),
        (STRINGS.admit(["ba"]), [("b", "a")]),
        ([np.array([5, 3]), np.array([], dtype=int)], [(5, 3), ()]),
        ([np.array([5, 2**40])], [(5, 2**40)]),
        (np.array([[1, 2], [2, 1]]), [(1, 2), (2, 1)]),
        ([["up", "down"], ("up", None), "ab"], [("up", "down"), ("up", None), ("a", "b")]),
        ([[1.0, np.nan], [2, 1]], [(1.0, None), (2, 1)]),
        ([[1, "a", (2, 3)]], [(1, "a", (2, 3))]),
        ([[pd.NA, "x"]], [(None, "x")]),
        ([["?", "x"]], [(None, "x")]),
        (VECTORS.admit([[1.0, 2.0]]), [(1.0, 2.0)]),
        (pd.DataFrame({"first": ["a", "b"], "second": ["b", None]}), [("a", "b"), ("b", None)]),
        (np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]), [(1, None), (3, 4)]),
    ],
)
def test_symbols_are_read_from_what_users_have(X, expected):
    points = SYMBOLS.admit(X)
    assert things(points) == expected
    assert points.starts[-1] == sum(map(len, expected))


@given(st.lists(st.text("abcd?é\U0001f600", max_size=5), min_size=1, max_size=6))
def test_cutting_and_joining_keeps_every_symbol(items):
    points = SYMBOLS.admit(items)
    expected = things(points)
    assert expected == [tuple(None if c == "?" else c for c in item) for item in items]
    backwards = np.arange(len(items))[::-1]
    assert things(points[backwards]) == expected[::-1]
    other = SYMBOLS.admit(["xa"])
    assert things(points.concat(other)) == [*expected, ("x", "a")]
    assert things(points[1:]) == expected[1:]


def test_alphabets_are_in_order():
    assert SYMBOLS.admit(["cab"]).alphabet == ("a", "b", "c")
    assert SYMBOLS.admit([[3, 1, 2]]).alphabet == (1, 2, 3)
    assert SYMBOLS.admit([["b", 1, "a"]]).alphabet == SYMBOLS.admit([["a", "b", 1]]).alphabet


def test_a_model_that_needs_every_symbol_says_which_is_missing():
    strict = SymbolDomain(gaps=False)
    with pytest.raises(DomainError, match="item 1 of X has no symbol at step 2"):
        strict.admit([["a"], ["a", "b", None]])
    assert things(strict.admit(["a?"])) == [("a", "?")]  # no symbol stands for what is missing
    with pytest.raises(DomainError, match="item 0 of Z"):
        strict.admit(SYMBOLS.admit(["?"]), "Z")


def test_sequences_may_be_compared_together_with_strings_and_series():
    assert join(SYMBOLS, STRINGS) == STRINGS == join(STRINGS, SYMBOLS)
    assert join(SYMBOLS, SYMBOLS) == SYMBOLS
    assert join(SYMBOLS, SymbolDomain(gaps=False)) == ANYTHING
    assert join(SYMBOLS, VECTORS) is None
    assert join(GapDomain(), SERIES) == SERIES == join(SERIES, GapDomain())
    assert join(GapDomain(), GapDomain()) == GapDomain()


@pytest.mark.parametrize(
    ("X", "steps", "starts"),
    [
        ([[1.0, 2.0], [3.0]], [[1], [2], [3]], [0, 2, 3]),
        ([[1, None], []], [[1], [np.nan]], [0, 2, 2]),
        ([[]], np.empty((0, 1)), [0, 0]),
        (np.array([[1.0, 2.0], [3.0, np.nan]]), [[1], [2], [3], [np.nan]], [0, 2, 4]),
        (pd.DataFrame({"a": [1, 2], "b": [3, 4]}), [[1], [3], [2], [4]], [0, 2, 4]),
        ([pd.Series([1, None])], [[1], [np.nan]], [0, 2]),
        ([np.ma.array([1, 2], mask=[0, 1])], [[1], [np.nan]], [0, 2]),
        (np.ma.array([[1, 2]], mask=[[0, 1]]), [[1], [np.nan]], [0, 2]),
        ([[[1, 2], [3, 4]], [[5, 6]]], [[1, 2], [3, 4], [5, 6]], [0, 2, 3]),
        (SERIES.admit([[1.0]]), [[1]], [0, 1]),
        (VECTORS.admit([[1.0, 2.0]]), [[1], [2]], [0, 2]),
    ],
)
def test_series_may_have_gaps_and_no_steps(X, steps, starts):
    points = GapDomain().admit(X)
    np.testing.assert_array_equal(points.steps, steps)
    np.testing.assert_array_equal(points.starts, starts)


@pytest.mark.parametrize("item", [3.0, "abc", None, {"a": 1}, np.zeros((2, 2, 2)), [[1], [2, 3]]])
def test_what_is_no_series_is_refused(item):
    with pytest.raises(DomainError, match="item 1 of X"):
        GapDomain().admit([[1.0], item])


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 12), st.integers(1, 5))
def test_jobs_cover_all_sequences_once(lengths, steps, count):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
    found = spans(starts, steps, count)
    assert [i for a, b in found for i in range(a, b)] == list(range(len(lengths)))
    for a, b in found:
        assert b - a <= count
        assert b - a == 1 or starts[b] - starts[a] <= steps
