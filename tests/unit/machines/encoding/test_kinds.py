"""What each column is taken for, and how its entries are read."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError, DomainTypeError
from mercer.machines.encoding.kinds import infer_kind, kinds_of
from mercer.machines.encoding.reading import read_days, read_numbers, read_texts

KINDS = [
    ([1, 2], "numeric"),
    ([1.5, None], "numeric"),
    ([Decimal("1.5"), None], "numeric"),
    (["1", "2.5", None], "numeric"),
    (["1", "inf"], "numeric"),  # and refused when it is read
    (["01", "02"], "categorical"),
    (["0.5", "-0.25", "0"], "numeric"),
    (["1", "two"], "categorical"),
    ([1, "two"], "categorical"),
    (["a", None], "categorical"),
    ([True, False], "boolean"),
    ([True, None], "boolean"),
    ([None, np.nan], "missing"),
    (["2024-03-01", "2024-03-02 12:30"], "date"),
    (["2024-03-01", "2024-13-01"], "categorical"),
    (["20240301"], "numeric"),
    ([datetime.date(2024, 3, 1), None], "date"),
    ([datetime.datetime(2024, 3, 1, 5)], "date"),
]


@pytest.mark.parametrize(("entries", "kind"), KINDS)
def test_a_column_of_objects_is_what_its_entries_are(entries, kind):
    assert infer_kind(pd.Series(entries, dtype=object)) == kind


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.Series([1, None], dtype="Int64"), "numeric"),
        (pd.Series([True, None], dtype="boolean"), "boolean"),
        (pd.Series(["a", None], dtype="string"), "categorical"),
        (pd.Series([1, 2], dtype="category"), "categorical"),
        (pd.Series(pd.Categorical([1, 2], ordered=True)), "ordered"),
        (pd.Series(pd.to_datetime(["2024-01-01"])), "date"),
        (pd.Series(pd.to_datetime(["2024-01-01"])).dt.tz_localize("Asia/Tokyo"), "date"),
        (pd.Series(pd.period_range("2024-01", periods=2, freq="M")), "date"),
        (pd.Series(pd.to_timedelta([1, 2], unit="h")), "numeric"),
    ],
)
def test_a_typed_column_is_what_its_type_says(column, kind):
    assert infer_kind(column) == kind


def test_texts_stay_texts_if_asked():
    assert infer_kind(pd.Series(["1", "2"]), texts=False) == "categorical"
    assert infer_kind(pd.Series(["2024-01-01"]), texts=False) == "categorical"


def test_what_the_user_says_comes_first():
    table = pd.DataFrame({"zip": [1, 2], "day": [0, 9], "id": ["x", "y"], "empty": [None, None]})
    said = {"zip": "categorical", "day": "date", "id": "ignored", "empty": "numeric"}
    found = kinds_of(table, list(table.columns), said, True)
    assert found == {"zip": "categorical", "day": "date", "id": "ignored", "empty": "missing"}
    assert kinds_of(np.zeros((2, 2)), [0, 1], {1: "categorical"}, True) == {
        0: "numeric",
        1: "categorical",
    }


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"hight": "numeric"}, r"kinds names 'hight', which is no column.*'height'"),
        ({"height": "number"}, r"'height' cannot be 'number'.*'numeric'"),
        ({"height": 3}, "'height' cannot be 3"),
        ({"height": "missing"}, "'height' cannot be 'missing'"),
        ({"height": "ordered"}, r"'height' has no order.*ordered pandas.Categorical"),
    ],
)
def test_kinds_that_cannot_be_are_refused(said, message):
    with pytest.raises(DomainError, match=message):
        kinds_of(pd.DataFrame({"height": [1.0]}), ["height"], said, True)


def test_complex_numbers_are_refused():
    with pytest.raises(DomainError, match="Complex data not supported: column 'z'"):
        infer_kind(pd.Series([1j], name="z"))


@pytest.mark.parametrize("thing", [[1], {1: 2}, {3}])
def test_things_without_a_text_are_refused(thing):
    column = pd.Series([thing, "a", None], name="things", dtype=object)
    with pytest.raises(DomainTypeError, match=f"column 'things' .* type {type(thing).__name__}"):
        infer_kind(column)
    with pytest.raises(DomainTypeError, match="column 'things'"):
        read_texts(column)


# ---- reading -----------------------------------------------------------------------------------


def test_numbers_are_read_from_any_type():
    for column in (
        pd.Series([1, None, 2.5]),
        pd.Series(["1", None, "2.5"]),
        pd.Series([Decimal(1), None, 2.5], dtype=object),
        pd.Series([1, None, 2.5], dtype="Float64"),
        pd.Series(pd.to_timedelta(["1D", None, "60h"])),
    ):
        np.testing.assert_array_equal(read_numbers(column), [1.0, np.nan, 2.5])


def test_what_is_no_number_is_refused_with_its_row_or_a_gap():
    column = pd.Series(["1", "?"], name="size")
    with pytest.raises(DomainError, match=r"row 1, column 'size' of X: '\?' is not a number"):
        read_numbers(column)
    np.testing.assert_array_equal(read_numbers(column, lenient=True), [1.0, np.nan])


@pytest.mark.parametrize("entries", [[1.0, -np.inf], ["1", "inf"], [1, float("inf")]])
@pytest.mark.parametrize("lenient", [True, False])
def test_infinity_is_refused_with_its_row(entries, lenient):
    with pytest.raises(DomainError, match=r"infinity at row 1, column .size..*gap"):
        read_numbers(pd.Series(entries, name="size", dtype=object), lenient)


def test_days_are_counted_from_1970_in_any_form():
    expected = [18_321.0, np.nan, 18_321.5]
    texts = ["2020-02-29", None, "2020-02-29 12:00"]
    stamps = pd.Series(pd.to_datetime(texts, format="ISO8601"))
    forms = (pd.Series(texts), stamps, stamps.dt.tz_localize("UTC"), pd.Series(expected))
    for column in forms:
        np.testing.assert_array_equal(read_days(column), expected)
    months = pd.Series(pd.PeriodIndex(["1970-02", None], freq="M"))
    np.testing.assert_array_equal(read_days(months), [31.0, np.nan])
    ancient = pd.Series(["0001-01-01", "9999-12-31"])
    np.testing.assert_array_equal(read_days(ancient), [-719_162.0, 2_932_896.0])


def test_what_is_no_date_is_refused_with_its_row_or_a_gap():
    column = pd.Series(["2024-01-01", "soon"], name="day")
    with pytest.raises(DomainError, match="row 1, column 'day' of X: 'soon' is not a date"):
        read_days(column)
    np.testing.assert_array_equal(read_days(column, lenient=True), [19_723.0, np.nan])


def test_whole_numbers_are_one_level_in_all_forms():
    codes, levels = read_texts(pd.Series([1, 1.0, "1", np.int8(1), 1.5, True], dtype=object))
    assert codes[:4].tolist() == [0, 0, 0, 0] and codes[4] == 1 and levels[:2] == ["1", "1.5"]
    assert read_texts(pd.Series([2.0, None]))[1] == ["2"]
