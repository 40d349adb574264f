"""From entries to values."""

import numpy as np
import pytest

from mercer.sources import Column
from mercer.sources.entries import MISSING, convert, days, texts
from mercer.sources.source import objects


def converted(entries, kind, **style):
    return convert(objects(entries), Column("x", kind, "", style=style))


def test_numbers_with_gaps():
    values, problems = converted(["1", " 2.5 ", "", "NA", None, "?"], "numeric")
    np.testing.assert_array_equal(values, [1, 2.5, *[np.nan] * 4])
    assert values.dtype == np.float64
    assert problems == {}


def test_what_is_wrong_is_named_by_its_place():
    _, problems = converted(["1", "x", "inf", "2"], "numeric")
    assert problems == {
        1: "column 'x': 'x' is not a number",
        2: "column 'x': the number is infinite",
    }
    _, problems = converted(["1.2.2024", "soon"], "date", order="day first")
    assert problems == {1: "column 'x': 'soon' is not a date (day first)"}


def test_underlines_do_not_make_numbers():
    assert 0 in converted(["1_000", "2"], "numeric")[1]


def test_words_have_no_spaces_around_them_and_none_for_gaps():
    values, _ = converted([" a ", "b c", "", "NA"], "categorical")
    assert values.tolist() == ["a", "b c", None, None]
    assert converted(["-", "+"], "categorical", signs=True)[0].tolist() == ["-", "+"]
    assert converted(["-", "x"], "categorical")[0].tolist() == [None, "x"]


def test_numbers_as_words():
    assert converted([1, 2.0, 2.5, True, None, float("nan")], "categorical")[0].tolist() == [
        "1", "2", "2.5", "True", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("token", sorted(MISSING))
def test_every_token_for_nothing(token):
    assert texts(objects([f" {token} "])) == [None]
    assert np.isnan(converted([token, "1"], "numeric")[0][0])


def test_times_are_days():
    times = np.array(["1970-01-02T12:00", "NaT"], dtype="datetime64[us]")
    np.testing.assert_array_equal(days(times), [1.5, np.nan])
    assert texts(times[:1]) == ["1970-01-02T12:00"]
