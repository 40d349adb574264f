"""Files as people have them: workbooks, databases, records, pipes; and what is no file at all."""

import json
import os
import sqlite3
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.errors import DomainError, DomainTypeError
from mercer.sources import chunks, read, read_frame, recipe
from mercer.sources.places import place_of

ROWS = pd.DataFrame({
    "size": [1.5, 2.0, None, 4.25], "color": ["red", "blue", "red", None],
    "day": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"]),
    "kind": ["a", "b", "a", "b"],
})  # fmt: skip


def same(sheet, dated=True):
    """Tell whether a sheet holds what `ROWS` holds."""
    assert sheet.y.tolist() == ["a", "b", "a", "b"]
    assert np.array_equal(sheet.X["size"], ROWS["size"], equal_nan=True)
    assert sheet.X["color"].tolist() == ["red", "blue", "red", None]
    kinds = {column.name: column.kind for column in sheet.columns}
    assert kinds["size"] == "numeric" and kinds["color"] == "categorical"
    assert kinds["day"] == "date" or not dated
    return True


def workbook(path, **sheets):
    with pd.ExcelWriter(path) as book:
        for name, frame in sheets.items():
            frame.to_excel(book, sheet_name=name, index=False)
    return path


def database(path, **tables):
    known = sqlite3.connect(path)
    for name, frame in tables.items():
        frame.assign(day=frame["day"].astype(str)).to_sql(name, known, index=False)
    known.close()
    return path


def test_workbooks(tmp_path):
    empty, other = pd.DataFrame(), pd.DataFrame({"x": [1, 2], "kind": ["p", "q"]})
    path = workbook(tmp_path / "book.xlsx", notes=empty, rows=ROWS, more=other)
    assert same(read(path, "kind"))  # the first sheet with rows
    assert len(read(f"{path}::more", "kind")) == 2
    with pytest.raises(DomainError, match="no sheet 'row'; did you mean 'rows'"):
        read(f"{path}::row", "kind")
    with pytest.raises(DomainError, match=r"the sheet 'notes' of .* has no table"):
        read(f"{path}::notes", "kind")


def test_databases(tmp_path):
    path = database(tmp_path / "shop.db", rows=ROWS, other=ROWS)
    sheet = read(f"{path}::rows", "kind")
    assert same(sheet)
    assert [len(piece) for piece in chunks(f"{path}::other", recipe(sheet), size=3)] == [3, 1]
    with pytest.raises(DomainError, match="has 2 tables; name one of them"):
        read(path, "kind")
    with pytest.raises(DomainError, match="no table 'row'; did you mean 'rows'"):
        read(f"{path}::row", "kind")
    assert same(read(database(tmp_path / "one.db", rows=ROWS), "kind"))


def test_names_in_a_database_are_names_whatever_stands_in_them(tmp_path):
    evil = 'a"; DROP TABLE rows; --'
    known = sqlite3.connect(tmp_path / "evil.db")
    known.execute('CREATE TABLE rows ("a""; DROP TABLE rows; --" REAL, kind TEXT)')
    known.executemany("INSERT INTO rows VALUES (?, ?)", [(1.0, "p"), (2.5, "q"), (3.0, "p")])
    known.commit()
    known.close()
    before = (tmp_path / "evil.db").read_bytes()
    assert read(tmp_path / "evil.db", "kind").X[evil].tolist() == [1.0, 2.5, 3.0]
    assert (tmp_path / "evil.db").read_bytes() == before


def test_json_lines_and_arrays(write):
    rows = json.loads(ROWS.assign(day=ROWS["day"].astype(str)).to_json(orient="records"))
    assert same(read(write("\n".join(map(json.dumps, rows)).encode(), "rows.jsonl"), "kind"))
    assert same(read(write(json.dumps(rows).encode(), "rows.json"), "kind"))
    some = [{k: v for k, v in row.items() if v is not None} for row in rows]
    assert same(read(write("\n".join(map(json.dumps, some)).encode(), "a.txt"), "kind"))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"size": [1], "kind": "a"}', "line 3: 'size' holds a list or an object"),
        ('{"size": 1,', "line 3: it is not valid JSON"),
        ("[1, 2]", "line 3: it is no JSON object"),
    ],
)
def test_bad_json_lines_are_named(write, line, complaint):
    good = '{"size": 1.5, "kind": "a"}\n{"size": 2.5, "kind": "b"}\n'
    path = write(f"{good}{line}\n{good}".encode(), "rows.jsonl")
    with pytest.raises(DomainError, match=complaint):
        read(path, "kind")
    assert len(read(path, "kind", skip_bad=True)) == 4


ARFF = """% a remark
@RELATION fruit
@ATTRIBUTE size NUMERIC
@ATTRIBUTE 'the color' {red, 'dark blue'}
@attribute kind {a,b}
@DATA
1.5, red, a
% another
2.0, 'dark blue', b
?, red, a
{0 4.25, 2 b}
"""


def test_arff(write):
    sheet = read(write(ARFF.encode(), "fruit.arff"), "kind")
    assert np.array_equal(sheet.X["size"], [1.5, 2.0, np.nan, 4.25], equal_nan=True)
    assert sheet.X["the color"].tolist() == ["red", "dark blue", "red", "red"]
    assert sheet.y.tolist() == ["a", "b", "a", "b"] and sheet.lines.tolist() == [7, 9, 10, 11]
    assert read(write(ARFF.encode(), "fruit.txt"), "kind").total == 4
    with pytest.raises(DomainError, match="line 7: it has 2 entries, not 3"):
        read(write(ARFF.replace("1.5, red, a", "1.5, red").encode(), "b.arff"), "kind")
    with pytest.raises(DomainError, match="has no @data"):
        read(write(ARFF.split("@DATA", maxsplit=1)[0].encode(), "c.arff"), "kind")


def archive(path, **files):
    with zipfile.ZipFile(path, "w") as found:
        for name, content in files.items():
            found.writestr(name, content)
    return path


def test_what_is_no_table_is_called_what_it_is(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.eye(2))
    with pytest.raises(DomainError, match=r"arrays of NumPy \(.npz\)"):
        read(tmp_path / "a.npz")
    with pytest.raises(DomainError, match="a document of Word"):
        read(archive(tmp_path / "a.docx", **{"word/document.xml": ""}))
    with pytest.raises(DomainError, match="a zip archive; unpack it"):
        read(archive(tmp_path / "a.zip", **{"a.csv": "x,y"}))
    with pytest.raises(DomainError, match="holds one table only"):
        (tmp_path / "a.csv").write_text("x,y\n1,2\n")
        read(f"{tmp_path / 'a.csv'}::rows")


@pytest.mark.parametrize("text", ["https://x.org/a.csv", "https:/x.org/a.csv", "s3://bucket/a"])
def test_addresses_are_refused_in_one_line(text):
    with pytest.raises(DomainError, match=r"is an address, and only files are read") as caught:
        place_of(text)
    assert "\n" not in str(caught.value)


def test_the_standard_input():
    code = "import sys; from mercer.sources import read; s = read(sys.argv[1], 'kind'); " \
           "print(s.name, len(s), s.y.tolist())"  # fmt: skip
    for name in ("-", "/dev/stdin"):
        found = subprocess.run(
            [sys.executable, "-c", code, name], input=b"size,kind\n1,a\n2,b\n3,a\n",
            capture_output=True, env=os.environ, timeout=100,
        )  # fmt: skip
        assert found.stdout.decode().strip() == "the standard input 3 ['a', 'b', 'a']", (
            found.stderr
        )
    empty = subprocess.run([sys.executable, "-c", code, "-"], input=b"", capture_output=True,
                           timeout=100)  # fmt: skip
    assert b"the standard input is empty" in empty.stderr


class Spoken:
    """A table of a library that speaks the interchange protocol alone."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, **how):
        return self.frame.__dataframe__(**how)


@pytest.mark.filterwarnings("ignore:.*interchange.*")
def test_tables_of_other_libraries():
    plain = ROWS[["size", "kind"]].dropna()
    assert read_frame(Spoken(plain), "kind").y.tolist() == ["a", "b", "b"]
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({n: [None if pd.isna(v) else v for v in ROWS[n]] for n in ROWS})
    assert same(read_frame(frame, "kind"))
    with pytest.raises(DomainError, match=r"not computed yet; pass table.collect\(\)"):
        read_frame(frame.lazy(), "kind")
    with pytest.raises(DomainTypeError, match=r"pandas, polars or Arrow, found .*builtins.dict"):
        read_frame({"x": [1]}, "kind")


def test_rows_and_targets_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    found = mercer.study(X, y, machine="prototype", kernel="linear", budget=5, references=False)
    assert found.error < 0.2 and list(found.X.columns) == ["x0", "x1"]
    with pytest.raises(DomainError, match="there are 60 rows, but 59 targets"):
        mercer.study(X, y[:-1])
