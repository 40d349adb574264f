"""Dates: days, years and cycles, as far as the range of the dates allows."""

import numpy as np
import pandas as pd
import pytest

from mercer.machines.encoding.reading import as_days
from mercer.machines.encoding.times import learn_dates


def days(*texts):
    return as_days(list(texts))


def test_december_is_beside_january():
    dates = learn_dates(days("2020-01-01", "2021-07-01", "2022-12-31"), "standard")
    places = [dates.parts.index(f": {wave} of day of year") for wave in ("sine", "cosine")]
    new, mid, old = dates(days("2025-01-01", "2025-07-01", "2024-12-31"))[:, places]
    assert np.linalg.norm(new - old) < 0.05 and np.linalg.norm(new - mid) > 1.9


def test_the_week_starts_on_monday_and_ends_on_sunday():
    span = np.arange(19_000.0, 19_060.0)
    dates = learn_dates(span, "standard")
    assert dates.parts[1:] == [": sine of weekday", ": cosine of weekday", ": weekend"]
    stamps = pd.to_datetime(span, unit="D")
    angle = 2 * np.pi * stamps.day_of_week.to_numpy() / 7
    found = dates(span)
    np.testing.assert_allclose(found[:, 1], np.sin(angle), atol=1e-12)
    np.testing.assert_allclose(found[:, 2], np.cos(angle), atol=1e-12)
    np.testing.assert_array_equal(found[:, 3] > 0, stamps.day_of_week >= 5)


def test_before_1970_the_week_goes_on():
    span = as_days(pd.date_range("1960-01-01", periods=40).to_series())
    found = learn_dates(span, "standard")(span)[:, -1] > 0
    np.testing.assert_array_equal(found, pd.date_range("1960-01-01", periods=40).day_of_week >= 5)


@pytest.mark.parametrize(
    ("first", "last", "step", "cycles"),
    [
        ("2024-01-01", "2024-01-10", "1D", []),
        ("2024-01-01", "2024-02-10", "1D", ["weekday"]),
        ("2020-01-01", "2024-01-01", "1D", ["day of year", "weekday"]),
        ("2024-01-01", "2024-01-10", "1h", ["hour"]),
        ("2020-01-06", "2024-01-01", "7D", ["day of year"]),  # Mondays only
    ],
)
def test_cycles_are_those_that_the_range_has(first, last, step, cycles):
    stamps = pd.date_range(first, last, freq=step).to_series()
    dates = learn_dates(as_days(stamps), "standard")
    assert dates.cycles == cycles
    assert dates.weekend == ("weekday" in cycles)  # as far as there are two weeks


def test_the_calendar_year_is_there_from_three_years_on():
    two = learn_dates(days("2020-02-01", "2021-02-01", "2021-08-01"), "standard")
    three = learn_dates(days("2020-02-01", "2021-02-01", "2022-08-01"), "standard")
    assert two.year is None and three.year is not None
    found = three(days("2020-12-31", "2021-01-01"))[:, three.parts.index(": year")]
    assert found[1] - found[0] == pytest.approx(1 / np.std([2020, 2021, 2022]))


def test_a_missing_date_is_zero_everywhere():
    dates = learn_dates(days("2020-01-01", None, "2023-06-01"), "standard")
    assert (dates(np.array([np.nan])) == 0.0).all()


@pytest.mark.parametrize("far", [-1e300, 1e300, -1e8, 1e8])
def test_dates_out_of_all_calendars_are_finite(far):
    dates = learn_dates(days("2020-01-01", "2021-01-01", "2022-06-01"), "standard")
    assert np.isfinite(dates(np.array([far]))).all()
