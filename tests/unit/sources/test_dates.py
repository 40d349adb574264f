"""Dates as people write them."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.sources.dates import dates, read_order

MARCH = (datetime(2024, 3, 1) - datetime(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("entry", "style"),
    [
        ("2024-03-01", {}),
        ("2024/3/1", {}),
        ("2024.03.01", {}),
        ("2024-03", {}),
        ("2024-03-01T00:00:00Z", {}),
        ("2024-03-01 01:30:00+01:30", {}),
        ("2024-02-29T19:00-0500", {}),
        ("1.3.2024", {"order": "day first"}),
        ("01/03/24", {"order": "day first"}),
        ("3/1/2024", {"order": "month first"}),
        ("03-01-24 12:00 AM", {"order": "month first"}),
        ("1 March 2024", {}),
        ("1. Mar 2024", {}),
        ("01-Mar-24", {}),
        ("March 1, 2024", {}),
        ("Mar 1st 2024", {}),
        ("Fri, 1 Mar 2024 00:00:00 GMT", {}),
        ("20240301", {"compact": True}),
    ],
)
def test_forms(entry, style):
    assert dates([entry], style).tolist() == [MARCH]


@pytest.mark.parametrize(
    "entry",
    ["2024-02-30", "2024-13-01", "31.4.2024", "1.3", "1/3-2024", "20240301", "Smith 12 2024",
     "2024-03-01 25:00", "12:30", "March", "1e5", "1.234.567"],
)  # fmt: skip
def test_what_is_no_date(entry):
    assert np.isnan(dates([entry], {"order": "day first"})[0])


def test_years_of_two_digits():
    values = dates(["1.1.69", "1.1.68"], {"order": "day first"})
    assert values[0] < 0 < values[1]


@pytest.mark.parametrize(
    ("entries", "order", "doubt"),
    [
        (["2024-03-01", "2024-03-02"], "year first", False),
        (["1.3.2024", "13.3.2024"], "day first", False),
        (["1/3/2024", "1/13/2024"], "month first", False),
        (["1.3.2024", "2.4.2024"], "day first", True),
        (["1/3/2024", "2/4/2024"], "month first", True),
        (["1 Mar 2024", "April 2, 2024"], "month by name", False),
    ],
)
def test_the_data_decide_the_order(entries, order, doubt):
    style, share, unsure = read_order(dict.fromkeys(entries, 1))
    assert (style["order"], share, unsure) == (order, 1, doubt)


def test_dates_that_contradict_the_others_do_not_count():
    style, share, _ = read_order({"13.1.2024": 9, "1.13.2024": 1})
    assert style["order"] == "day first"
    assert share == pytest.approx(0.9)


@settings(deadline=None)
@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours))),
)
def test_iso_times_are_those_of_python(moment, zone):
    moment = moment.replace(tzinfo=zone)
    expected = (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / 86400
    assert dates([moment.isoformat()], {})[0] == pytest.approx(expected, rel=1e-12, abs=1e-9)
