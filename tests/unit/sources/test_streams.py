"""Files as streams: Parquet, Arrow and tables of text, a chunk at a time."""

import builtins
import datetime
import decimal
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.domains import COLUMNS, VECTORS, Stream
from mercer.errors import DomainError
from mercer.sources import stream

pa = pytest.importorskip("pyarrow")

COUNT = 50


def written(table, path, rows=20):
    """Write a table in the format that the name says, in batches of some rows."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        parquet.write_table(table, path, row_group_size=rows)
    elif path.suffix == ".feather":
        import pyarrow.feather as feather

        feather.write_feather(table, path, chunksize=rows)
    else:
        new = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
    return path


def numbers(count=COUNT, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table({name: rng.normal(size=count) for name in ("a", "b", "c.d")})


def mixed():
    rows = range(COUNT)
    return pa.table(
        {
            "x": pa.array([i / 3 if i % 7 else None for i in rows]),
            "whole": pa.array([i if i % 10 else None for i in rows], pa.int32()),
            "price": pa.array([decimal.Decimal(i) for i in rows], pa.decimal128(12, 2)),
            "flag": pa.array([i % 3 == 0 for i in rows]),
            "color": pa.array([["red", "blue"][i % 2] for i in rows]).dictionary_encode(),
            "day": pa.array([datetime.date(2024, 1, 1 + i % 28) for i in rows]),
            "y": pa.array(["ab"[i % 2] for i in rows]),
        }
    )


FORMS = ["parquet", "feather", "arrow", "stream"]


@pytest.mark.parametrize("form", FORMS)
def test_numbers_come_as_they_are(tmp_path, form):
    table = numbers()
    path = written(table, tmp_path / f"table.{form}")
    found = stream(path, "b", rows=7)
    assert isinstance(found, Stream)
    chunks = list(found.read(VECTORS))
    assert max(map(len, chunks)) <= 7
    X = np.concatenate([chunk.points.array for chunk in chunks])
    np.testing.assert_array_equal(X, np.column_stack([table["a"], table["c.d"]]))
    np.testing.assert_array_equal(np.concatenate([c.target for c in chunks]), table["b"])
    assert chunks[0].points.names == ("a", "c.d")
    again = stream(path, "b").survey(VECTORS)
    assert (again.count, again.width) == (COUNT, 2)


@pytest.mark.parametrize("form", FORMS)
def test_other_columns_come_as_a_table(tmp_path, form):
    (chunk,) = stream(written(mixed(), tmp_path / f"t.{form}", COUNT), "y").read(COLUMNS)
    frame = chunk.points.frame
    assert list(frame) == ["x", "whole", "price", "flag", "color", "day"]
    assert [frame[name].dtype.kind for name in frame] == ["f", "f", "f", "f", "O", "f"]
    assert frame["x"].isna().sum() == 8
    assert frame["whole"].isna().sum() == 5
    assert frame["price"][3] == 3.0
    assert frame["flag"].tolist()[:4] == [1.0, 0.0, 0.0, 1.0]
    assert frame["color"].tolist()[:2] == ["red", "blue"]
    assert frame["day"][1] == 19724
    assert chunk.target.tolist()[:3] == ["a", "b", "a"]


def test_single_precision_stays(tmp_path):
    table = pa.table({"a": np.float32([1, 2]), "b": np.float32([3, 4])})
    (chunk,) = stream(written(table, tmp_path / "t.parquet")).read(VECTORS)
    assert chunk.points.array.dtype == np.float32


def test_columns_in_the_order_that_was_asked_for(tmp_path):
    path = written(mixed(), tmp_path / "t.parquet")
    (*_, chunk) = stream(path, "flag", ["price", "whole"], rows=9).read(COLUMNS)
    assert list(chunk.points.frame) == ["price", "whole"]
    assert chunk.target.dtype == bool


def test_whole_numbers_as_labels(tmp_path):
    table = pa.table({"a": np.arange(4.0), "y": pa.array([1, 0, 1, 0], pa.int8())})
    survey = stream(written(table, tmp_path / "t.parquet"), "y").survey(VECTORS)
    assert survey.target.dtype.kind == "i"


def test_several_files_and_a_folder(tmp_path):
    tables = [numbers(seed=seed) for seed in range(3)]
    paths = [written(t, tmp_path / f"part-{i}.parquet") for i, t in enumerate(tables)]
    (tmp_path / "_SUCCESS").touch()
    whole = np.concatenate([t["a"] for t in tables])
    for source in (paths, [str(p) for p in paths], tmp_path, str(tmp_path)):
        survey = stream(source, "a", rows=30).survey(VECTORS)
        np.testing.assert_array_equal(survey.target, whole)


def test_the_index_of_pandas_is_left_out(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"x": [1.5, 2.5]}, index=[4, 8]).to_parquet(path)
    assert stream(path).survey(VECTORS).width == 1


def test_a_stream_of_files_can_be_pickled(tmp_path):
    found = stream(written(numbers(), tmp_path / "t.parquet"))
    assert pickle.loads(pickle.dumps(found)).survey(VECTORS).count == COUNT


def test_missing_numbers_are_named_with_their_chunk(tmp_path):
    table = numbers().to_pandas()
    table.loc[31, "b"] = np.nan
    path = written(pa.Table.from_pandas(table), tmp_path / "t.parquet", 10)
    with pytest.raises(DomainError, match="chunk 3, rows 30 to 39: Input X contains NaN at row 1"):
        stream(path, rows=10).survey(VECTORS)
    with pytest.raises(DomainError, match="chunk 3, rows 30 to 39: Input y contains NaN"):
        stream(path, "b", rows=10).survey(VECTORS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "z"}, "has no column 'z'"),
        ({"columns": ["a", "bb"]}, "has no column 'bb'; did you mean 'b'"),
        ({"columns": ["a", "a"]}, "has two columns called 'a'"),
        ({"target": "a", "columns": ["a", "b"]}, "the target 'a' is among the columns"),
        ({"columns": []}, "has no column to learn from"),
        ({"columns": "ab"}, "columns must be a list of names, found 'ab'"),
        ({"rows": 0}, "rows must be a whole number from 1 on"),
    ],
)
def test_what_is_asked_for_must_be_there(tmp_path, arguments, message):
    path = written(numbers(), tmp_path / "t.parquet")
    with pytest.raises(DomainError, match=message):
        stream(path, **arguments)


def test_a_later_file_with_other_columns(tmp_path):
    written(numbers(), tmp_path / "a.parquet")
    written(numbers().select(["a", "b"]), tmp_path / "b.parquet")
    with pytest.raises(DomainError, match=r"chunk 1, from row 50 on: .*b.parquet has no column"):
        stream(tmp_path).survey(VECTORS)


def test_two_columns_with_one_name(tmp_path):
    table = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    with pytest.raises(DomainError, match="two columns called 'a'"):
        stream(written(table, tmp_path / "t.arrow"))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(DomainError, match="there is no file"):
        stream(tmp_path / "table.parquet")
    with pytest.raises(DomainError, match="there is no Parquet file in the folder"):
        stream(tmp_path)
    with pytest.raises(DomainError, match="there are no files"):
        stream([])


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_becomes_shorter(tmp_path, form):
    path = written(numbers(20_000), tmp_path / f"t.{form}", 1000)
    chunks = stream(path, rows=1000).read(VECTORS)
    next(chunks)
    with path.open("r+b") as file:
        file.truncate(100_000)
    with pytest.raises(
        DomainError, match=r"chunk \d+, from row \d+ on: .* cannot be read"
    ) as caught:
        list(chunks)
    assert f"t.{form}" in str(caught.value)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = written(numbers(), tmp_path / "t.parquet")
    original = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DomainError, match=r"pip install 'mercer\[tables\]'"):
        stream(path)


class TestTexts:
    @pytest.fixture
    def path(self, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(COUNT, 2)).round(3), columns=["a", "b"])
        frame["color"] = np.array(["red", "blue"])[rng.integers(0, 2, COUNT)]
        frame["same"] = 1
        frame["kind"] = np.where(frame["a"] > 0, "up", "down")
        frame.to_csv(tmp_path / "table.csv", index=False)
        return tmp_path / "table.csv"

    def test_a_table_is_read_as_its_sample_was(self, path):
        survey = stream(path, "kind", rows=7).survey(COLUMNS)
        whole = pd.read_csv(path)
        pd.testing.assert_frame_equal(
            survey.sample.frame, whole[["a", "b", "color"]].astype({"color": object})
        )
        assert survey.target.tolist() == whole["kind"].tolist()
        assert survey.largest == 7

    def test_columns(self, path):
        survey = stream(path, "kind", ["b", "a"], rows=7).survey(VECTORS)
        np.testing.assert_array_equal(survey.sample.array, pd.read_csv(path)[["b", "a"]])
        with pytest.raises(DomainError, match="nothing can be learned from the column 'same'"):
            stream(path, "kind", ["a", "same"])
        with pytest.raises(DomainError, match="has no column 'aa'"):
            stream(path, "kind", ["aa"])

    def test_a_bad_row_is_named_with_its_chunk_and_line(self, path):
        found = stream(path, "kind", ["a"], rows=10)
        lines = path.read_text().splitlines()
        lines[35] = "x" + lines[35]
        path.write_text("\n".join(lines))
        with pytest.raises(DomainError, match=r"chunk 3, from row 30 on: .* line 36: column 'a'"):
            found.survey(VECTORS)

    def test_libsvm(self, tmp_path):
        path = tmp_path / "table.libsvm"
        path.write_text("1 1:2 3:4\n-1 2:1\n1 1:1 2:2 3:3\n")
        survey = stream(path, rows=2).survey(VECTORS)
        assert sparse.issparse(survey.sample.array)
        assert survey.sample.array.toarray().tolist() == [[2, 0, 4], [0, 1, 0], [1, 2, 3]]

    def test_several_texts_are_refused(self, path):
        with pytest.raises(DomainError, match="several files are read only if they are Parquet"):
            stream([path, path])


def test_numbers_in_a_dictionary_are_numbers_with_gaps_and_without(tmp_path):
    codes = pa.array([1, 2, None, 1, 2, 2]).dictionary_encode()
    path = written(pa.table({"code": codes, "x": np.arange(6.0)}), tmp_path / "t.arrow", 2)
    kinds = {X["code"].dtype for X, _ in stream(path).chunks}
    assert kinds == {np.dtype(np.float64)}


def test_a_folder_stands_for_its_visible_files(tmp_path):
    written(numbers(), tmp_path / "a.parquet")
    (tmp_path / "._a.parquet").write_text("what another system left")
    (tmp_path / "README.txt").write_text("about")
    (tmp_path / "old.parquet").mkdir()
    assert stream(tmp_path).survey(VECTORS).count == COUNT


def test_rows_are_counted(tmp_path):
    path = written(numbers(), tmp_path / "t.parquet")
    with pytest.raises(DomainError, match="rows must be a whole number from 1 on"):
        stream(path, rows=2.5)
