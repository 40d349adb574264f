"""Other files, read in the same way."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError
from mercer.sources import BadRow, chunks, read, read_frame, recipe

HEAD = "name;größe;farbe;wann;notiz;seq;y\n"


def rows(count):
    rng = np.random.default_rng(0)
    for i in range(count):
        sequence = "".join(rng.choice(list("ACGT"), 20))
        day = f"{i % 28 + 1}.{i % 12 + 1}.2024"
        size = f"1.{i:03d},5" if i % 5 else ""
        color, label = ["rot", "blau", "-"][i % 3], "ab"[i % 2]
        yield f'n{i};{size};{color};{day};"ein Satz, Nummer {i}";{sequence};{label}\n'


@pytest.fixture
def path(write):
    return write(HEAD + "".join(rows(60)))


def test_pieces_are_the_whole(path):
    whole = read(path, "y")
    how = recipe(whole)
    assert [step["kind"] for step in how["columns"]] == [
        "numeric", "categorical", "date", "text", "sequence",
    ]  # fmt: skip
    for size in (7, 60, 1000):
        parts = list(chunks(path, how, size))
        pd.testing.assert_frame_equal(
            pd.concat([part.X for part in parts], ignore_index=True), whole.X
        )
        assert np.concatenate([part.y for part in parts]).tolist() == whole.y.tolist()
        assert np.concatenate([part.lines for part in parts]).tolist() == whole.lines.tolist()
        assert np.concatenate([part.rows for part in parts]).tolist() == whole.rows.tolist()
        assert [part.X.index[0] for part in parts] == [0] * len(parts)


def test_a_recipe_is_plain(path):
    how = recipe(read(path, "y"))
    again = json.loads(json.dumps(how))
    assert again == how
    assert how["columns"][0]["style"] == {"decimal": ",", "thousands": "."}
    assert len(list(chunks(path, again, 30))) == 2


def test_other_columns_and_orders_and_delimiters(write):
    how = recipe(read(write("a;b;y\n1,5;u;0\n2,5;v;1\n3,5;u;0\n4,5;v;1\n"), "y"))
    other = write('extra,b,a\n9,v,"7,5"\n8,u,"0,5"\n', "other.csv")
    (sheet,) = chunks(other, how)
    assert sheet.X["a"].tolist() == [7.5, 0.5]
    assert list(sheet.X) == ["a", "b"]
    assert sheet.y is None
    assert sheet.target is None


def test_a_single_row_or_column_is_enough(write):
    how = recipe(
        read(write("text,y\nhello to you,a\nbye and so long,b\nhello again to you,a\n"), "y")
    )
    (sheet,) = chunks(write("text\nwell, hello, and more\n", "one.csv"), how)
    assert sheet.X["text"].tolist() == ["well, hello, and more"]
    how = recipe(read(write("x,y\n1,a\n2,b\n3,a\n"), "y"))
    (sheet,) = chunks(write("x\n5\n", "one.csv"), how)
    assert sheet.X["x"].tolist() == [5]


def test_a_column_that_is_not_there(path, write):
    how = recipe(read(path, "y"))
    other = write(HEAD.replace("farbe", "Farbe") + "".join(rows(3)), "other.csv")
    with pytest.raises(
        DomainError, match="has no column 'farbe', which the model uses; did you mean 'Farbe'"
    ):
        next(chunks(other, how))


def test_bad_rows_stop_or_are_left_out(write):
    how = recipe(
        read(write("a,b,y\n" + "".join(f"{i}.5,u{i % 3},{i % 2}\n" for i in range(9))), "y")
    )
    other = write("a,b,y\n1,u,\nx,u,1\n,new,0\n2\n3,v,7\n", "other.csv")
    with pytest.raises(DomainError, match="2 bad rows: line 3: column 'a': 'x' is not a number"):
        list(chunks(other, how))
    (sheet,) = chunks(other, how, skip_bad=True)
    assert sheet.rows.tolist() == [0, 2, 4]
    assert sheet.total == 5
    assert sheet.bad == (
        BadRow(3, "column 'a': 'x' is not a number"),
        BadRow(5, "1 entry instead of 3"),
    )
    np.testing.assert_array_equal(sheet.X["a"], [1, np.nan, 3])
    assert sheet.y.tolist() == [None, "0", "7"]


def test_a_target_that_cannot_be_read_is_nan(write):
    how = recipe(read(write("a,y\n1,1.5\n2,2.5\n3,0.5\n"), "y"))
    (sheet,) = chunks(write("a,y\n1,?\n2,x\n3,9\n", "other.csv"), how)
    np.testing.assert_array_equal(sheet.y, [np.nan, np.nan, 9])


def test_tables_without_names(write):
    how = recipe(read(write("1.5,ham\n2.5,spam\n3.5,ham\n4.5,ham\n"), "column 2"))
    (sheet,) = chunks(write("7.5,spam\n8.5,ham\n", "other.csv"), how)
    assert sheet.X["column 1"].tolist() == [7.5, 8.5]
    assert sheet.y.tolist() == ["spam", "ham"]
    (sheet,) = chunks(write("7.5\n8.5\n", "other.csv"), how)
    assert len(sheet) == 2


def test_names_are_kept_where_the_first_row_looks_like_entries(write):
    how = recipe(read(write("2019,2020,y\n1,2,0\n3,4,1\n5,7,0\n"), "y"))
    (sheet,) = chunks(write("2019,2020\n1,2\n", "other.csv"), how)
    assert sheet.X["2020"].tolist() == [2]


def test_a_frame_and_a_file_are_read_alike(write):
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": ["u", "v", "u"], "y": [0, 1, 0]})
    how = recipe(read_frame(frame, "y"))
    path = write(frame.to_csv(index=False))
    (file,), (table,) = chunks(path, how), chunks(frame, how)
    pd.testing.assert_frame_equal(file.X, table.X)
    assert file.y.tolist() == table.y.tolist()
    assert file.path == path


def test_an_empty_file_has_no_pieces(write):
    how = recipe(read(write("x,y\n1,a\n2,b\n3,a\n"), "y"))
    assert list(chunks(write("x,y\n", "none.csv"), how)) == []


def test_what_is_no_recipe(path):
    with pytest.raises(DomainError, match="the recipe has version 7, not 1"):
        next(chunks(path, {"version": 7}))
    with pytest.raises(DomainError, match="size must be at least 1"):
        next(chunks(path, recipe(read(path, "y")), 0))
