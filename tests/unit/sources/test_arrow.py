"""Parquet and Arrow."""

import builtins
import datetime
import decimal

import numpy as np
import pytest

from mercer.errors import DomainError
from mercer.sources import chunks, read, recipe

pa = pytest.importorskip("pyarrow")


@pytest.fixture
def table():
    rows = range(50)
    moments = [datetime.datetime(2024, 1, 1, i % 24) for i in rows]
    colors = pa.array([["red", "blue", None][i % 3] for i in rows])
    return pa.table(
        {
            "x": pa.array([i / 3 if i < 49 else None for i in rows]),
            "small": pa.array([i % 7 * 10 for i in rows], pa.int8()),
            "whole": pa.array([i % 9 + i % 5 if i % 10 else None for i in rows], pa.int64()),
            "price": pa.array([decimal.Decimal(i * 25) for i in rows], pa.decimal128(12, 2)),
            "color": colors.dictionary_encode(),
            "word": pa.array([["yes", "no"][i % 2] for i in rows]),
            "flag": pa.array([i % 3 == 0 for i in rows]),
            "day": pa.array([datetime.date(2024, 1, 1 + i % 28) for i in rows]),
            "moment": pa.array(moments, pa.timestamp("ns", "UTC")),
            "many": pa.array([[1, 2] for _ in rows]),
            "y": pa.array(["ab"[i % 2] for i in rows]),
        }
    )


def written(table, folder, form):
    path = folder / f"table.{form}"
    if form == "parquet":
        import pyarrow.parquet as parquet

        parquet.write_table(table, path, row_group_size=20)
    elif form == "feather":
        import pyarrow.feather as feather

        feather.write_feather(table, path, chunksize=20)
    elif form == "stream":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=20)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.parametrize("form", ["parquet", "feather", "arrow", "stream"])
def test_typed_columns(table, tmp_path, form):
    sheet = read(written(table, tmp_path, form), "y")
    assert {column.name: column.kind for column in sheet.columns} == {
        "x": "numeric", "small": "numeric", "whole": "numeric", "price": "numeric",
        "color": "categorical", "word": "categorical", "flag": "categorical", "day": "date",
        "moment": "date", "many": "identifier",
    }  # fmt: skip
    X = sheet.X
    np.testing.assert_array_equal(X["x"][:49], np.arange(49) / 3)
    assert np.isnan(X["x"][49])
    assert np.isnan(X["whole"][10])
    assert X["price"][3] == 75
    assert X["color"].tolist()[:3] == ["red", "blue", None]
    assert X["flag"].tolist()[:2] == ["True", "False"]
    assert X["day"][1] == 19724
    assert X["moment"][6] == 19723.25
    assert sheet.lines.tolist()[:2] == [1, 2]


@pytest.mark.parametrize("form", ["parquet", "feather", "stream"])
def test_pieces(table, tmp_path, form):
    path = written(table, tmp_path, form)
    whole = read(path, "y")
    parts = list(chunks(path, recipe(whole), 7))
    assert sum(map(len, parts)) == 50
    assert max(map(len, parts)) <= 7
    joined = np.concatenate([part.X["x"] for part in parts])
    np.testing.assert_array_equal(joined, whole.X["x"])
    assert [row for part in parts for row in part.rows] == list(range(50))


def test_a_name_with_a_dot_and_one_that_is_there_twice(tmp_path):
    columns = [pa.array([1.5, 2.5]), pa.array([3.5, 4.5]), pa.array([5.5, 6.5])]
    path = written(pa.table(columns, names=["a.b", "c", "c"]), tmp_path, "feather")
    assert list(read(path).X) == ["a.b", "c", "c (2)"]


def test_the_index_of_pandas_is_set_aside(tmp_path):
    import pandas as pd

    path = tmp_path / "table.parquet"
    pd.DataFrame({"x": [1.5, 2.5, 4.5]}, index=[4, 8, 2]).to_parquet(path)
    sheet = read(path)
    assert [column.kind for column in sheet.columns] == ["numeric", "identifier"]


def test_a_broken_file_is_refused(table, tmp_path):
    path = written(table, tmp_path, "parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DomainError, match="cannot be read"):
        read(path)
    path.write_bytes(b"no,parquet\n1,2\n")
    with pytest.raises(DomainError, match=r"is called .parquet, but it does not begin"):
        read(path)


def test_without_pyarrow_the_extra_is_named(table, tmp_path, monkeypatch):
    path = written(table, tmp_path, "parquet")
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(DomainError, match=r"pip install 'mercer\[tables\]'"):
        read(path)


def test_spans_of_time_are_days(tmp_path):
    import pyarrow.parquet as parquet

    spans = [None if days is None else datetime.timedelta(days=days) for days in (0.5, None, 2, 3)]
    table = pa.table({"span": pa.array(spans), "kind": ["a", "b", "a", "b"]})
    parquet.write_table(table, tmp_path / "table.parquet")
    sheet = read(tmp_path / "table.parquet", "kind")
    assert sheet.columns[0].kind == "numeric"
    assert sheet.X["span"].tolist() == pytest.approx([0.5, np.nan, 2.0, 3.0], nan_ok=True)


def test_a_file_that_becomes_shorter_is_refused(tmp_path):
    from mercer.sources.arrow import Arrow

    path = tmp_path / "table.arrow"
    table = pa.table({"x": np.arange(50_000.0)})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    pieces = Arrow(path, "arrow").pieces(1000)
    next(pieces)
    with path.open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(DomainError, match="cannot be read"):
        list(pieces)
