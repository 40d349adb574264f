"""DataFrames, with the types of pandas."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from mercer.domains import Graph
from mercer.errors import DomainError
from mercer.sources import BadRow, read, read_frame


def kinds(sheet):
    return {column.name: column.kind for column in sheet.columns}


def test_types_of_pandas_are_believed():
    frame = pd.DataFrame(
        {
            "float": [1.5, np.nan, 3.0, 4.0],
            "int": [4, 5, 7, 7],
            "Int64": pd.array([1, None, 3, 3], dtype="Int64"),
            "Float64": pd.array([1.5, None, 2.5, 1.5], dtype="Float64"),
            "bool": [True, False, True, True],
            "boolean": pd.array([True, None, False, True], dtype="boolean"),
            "category": pd.Categorical([1, 2, 1, None]),
            "string": pd.array(["a", "b", None, "a"], dtype="string"),
            "object": ["a", None, "b", "a"],
            "time": pd.to_datetime(
                ["2024-01-01 00:00", "2024-01-02 12:00", None, "2024-01-04 00:00"]
            ),
            "zoned": pd.date_range("2024-01-01", periods=4, tz="Europe/Berlin"),
            "wait": pd.to_timedelta([1, 2, 36, None], unit="h"),
            "date": [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)],
            "price": [decimal.Decimal("1.50"), decimal.Decimal("2.25"), None, decimal.Decimal(3)],
            "period": pd.period_range("2024-01", periods=4, freq="M"),
        }
    )
    sheet = read_frame(frame)
    expected = dict.fromkeys(frame.columns, "numeric")
    expected |= dict.fromkeys(["bool", "boolean", "category", "string", "object"], "categorical")
    expected |= dict.fromkeys(["time", "zoned", "date", "period"], "date")
    assert kinds(sheet) == expected
    X = sheet.X
    assert X["Int64"].tolist()[::2] == [1, 3]
    assert np.isnan(X["Int64"][1])
    assert X["bool"].tolist() == ["True", "False", "True", "True"]
    assert X["boolean"][1] is None
    assert X["category"].tolist() == ["1", "2", "1", None]
    assert X["string"].tolist() == ["a", "b", None, "a"]
    assert X["time"][1] == 19724.5
    assert X["zoned"][0] == 19723 - 1 / 24
    assert X["wait"].tolist()[:3] == [1 / 24, 2 / 24, 1.5]
    assert X["date"].tolist() == [19723, 19724, 19725, 19726]
    assert {str(dtype) for dtype in X.dtypes} == {"float64", "object"}
    assert sheet.lines.tolist() == [1, 2, 3, 4]
    assert sheet.path is None


def test_a_target_of_numbers_has_the_form_of_whole_numbers():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5], "y": [0, 1, 0], "z": [0.0, 1.0, 0.0]})
    assert read_frame(frame, "y").y.tolist() == ["0", "1", "0"]
    assert read_frame(frame, "z").y.tolist() == ["0", "1", "0"]


def test_bad_rows_are_counted_from_one():
    frame = pd.DataFrame({"x": [1.0, np.inf, 3.0, 4.0, 5.0], "y": ["a", "b", None, "a", "b"]})
    sheet = read_frame(frame, "y", skip_bad=True)
    assert sheet.bad == (
        BadRow(2, "column 'x': the number is infinite", "row"),
        BadRow(3, "the target 'y' is missing", "row"),
    )
    with pytest.raises(DomainError, match="the DataFrame has 2 bad rows of 5: row 2: column 'x'"):
        read_frame(frame, "y")


def test_names_that_are_no_texts_or_are_there_twice():
    frame = pd.DataFrame([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]], columns=[0, "a", "a"])
    assert list(read_frame(frame).X) == ["0", "a", "a (2)"]


def test_the_index_is_not_read():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5]}, index=[9, 9, 9])
    assert read_frame(frame).X.index.tolist() == [0, 1, 2]


def test_graphs_stay_graphs():
    graphs = np.empty(3, dtype=object)
    graphs[:] = [Graph([(0, 1)]), None, Graph([(0, 1), (1, 2)])]
    sheet = read_frame(pd.DataFrame({"g": graphs, "y": ["a", "b", "a"]}), "y")
    assert sheet.used[0].kind == "graph"
    assert sheet.X["g"][0] is graphs[0]
    assert sheet.X["g"][1] is None


def test_categories_that_all_differ_name_rows():
    frame = pd.DataFrame({"k": pd.Categorical(["a", "b", "c"]), "x": [1.5, 2.5, 3.5]})
    assert kinds(read_frame(frame))["k"] == "identifier"


def test_other_libraries_frames_are_turned_into_those_of_pandas():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"x": [1.5, 2.5], "y": ["a", "b"]})
    assert read_frame(table, "y").y.tolist() == ["a", "b"]


def test_something_else_is_refused():
    with pytest.raises(DomainError, match=r"found something of type builtins.list"):
        read_frame([1, 2])
    with pytest.raises(DomainError, match="expected a path or a DataFrame"):
        read(None)


def test_a_frame_without_rows():
    with pytest.raises(DomainError, match="has names of columns, but no rows"):
        read_frame(pd.DataFrame({"x": []}))
