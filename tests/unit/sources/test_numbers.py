"""Numbers as people write them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.sources.numbers import looks_numeric, numbers, read_style, shown


def style_of(*entries):
    return read_style(dict.fromkeys(entries, 1)).style


@pytest.mark.parametrize(
    ("entries", "style", "values"),
    [
        (["1", "2.5", "-3e2", ".5", "+4."], {}, [1, 2.5, -300, 0.5, 4]),
        (["1,5", "2,25", "-3"], {"decimal": ","}, [1.5, 2.25, -3]),
        (["0,125", "0,500"], {"decimal": ","}, [0.125, 0.5]),
        (["1,234.5", "1,000,000", "7"], {"thousands": ","}, [1234.5, 1e6, 7]),
        (["1.234,5", "1.000.000"], {"decimal": ",", "thousands": "."}, [1234.5, 1e6]),
        (["1 234", "12 345 678", "5"], {"thousands": " "}, [1234, 12345678, 5]),
        (["1\u202f234,5", "2,5"], {"decimal": ",", "thousands": " "}, [1234.5, 2.5]),
        (["1'234.50", "9.5"], {"thousands": "'"}, [1234.5, 9.5]),
        (["12 %", "3.5%"], {"symbol": "%"}, [12, 3.5]),
        (["$1,200", "-$3.5", "$7"], {"thousands": ",", "symbol": "$"}, [1200, -3.5, 7]),
        (["1.200,50 €", "3 €"], {"decimal": ",", "thousands": ".", "symbol": "€"}, [1200.5, 3]),
        (["−5", "2"], {}, [-5, 2]),
    ],
)
def test_styles(entries, style, values):
    reading = read_style(dict.fromkeys(entries, 1))
    assert reading.style == style
    assert reading.share == 1
    assert numbers(entries, style).tolist() == values


def test_what_is_no_number_is_nan_and_what_is_infinite_stays():
    found = numbers(["1", None, "x", "inf", "-Infinity", "1e999", "1_000", "1,5"], {})
    np.testing.assert_array_equal(
        found, [1, np.nan, np.nan, np.inf, -np.inf, np.inf, np.nan, np.nan]
    )


@pytest.mark.parametrize(
    "entry", ["1,23,4", "12,34", "1.2.3", "1 2", "abc", "", "1e", "--1", "5%%"]
)
def test_wrong_groups_are_no_numbers(entry):
    assert np.isnan(numbers([entry], {"thousands": ","})[0])


def test_a_share_counts_how_often_entries_are_there():
    reading = read_style({"1": 97, "2": 1, "many": 2})
    assert reading.share == pytest.approx(0.98)


def test_doubt_between_thousands_and_decimals_is_told():
    reading = read_style({"1,234": 1, "5,678": 1})
    assert reading.style == {"thousands": ","}
    assert reading.other == {"decimal": ","}
    assert reading.decimal is None
    certain = read_style({"1,234": 1, "5,67": 1})
    assert (certain.style, certain.other, certain.decimal) == ({"decimal": ","}, None, ",")
    plain = read_style({"1.234": 1, "5.678": 1})
    assert (plain.style, plain.other) == ({}, {"decimal": ",", "thousands": "."})
    assert read_style({"1": 1, "2": 1}).other is None


def test_a_large_number_without_separators_speaks_for_decimal_commas():
    assert style_of("1,234", "12345") == {"decimal": ","}


def test_different_currencies_are_not_compared():
    assert read_style({"$3": 1, "€4": 1}).share == 0


def test_words_for_a_style():
    assert shown({}) == ""
    assert shown({"thousands": " ", "symbol": "%"}) == "thousands separated by spaces, with %"


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_plain_numbers_are_read_exactly(values):
    entries = [repr(value) for value in values]
    assert all(map(looks_numeric, entries))
    assert numbers(entries, {}).tolist() == values


@settings(deadline=None)
@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=20),
    st.sampled_from([(".", ","), (",", "."), (",", " "), (".", " "), (".", "'")]),
)
def test_grouped_numbers_are_read_exactly(values, signs):
    decimal, thousands = signs
    swap = str.maketrans({".": decimal, ",": thousands})
    entries = [f"{value:,.2f}".translate(swap) for value in values]
    style = {"decimal": decimal, "thousands": thousands}
    assert numbers(entries, style).tolist() == [float(value) for value in values]
    found = style_of(*entries)
    assert numbers(entries, found).tolist() == [float(value) for value in values]
