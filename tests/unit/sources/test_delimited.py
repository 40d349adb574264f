"""Tables in text files, row by row."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.errors import DomainError
from mercer.sources import BadRow, read
from mercer.sources.delimited import Delimited


def cells(path, size=1000):
    """Return names and rows of a table as texts."""
    source = Delimited(path)
    pieces = list(source.pieces(size))
    rows = [
        list(row)
        for piece in pieces
        for row in zip(*(piece.columns[name] for name in source.columns), strict=True)
    ]
    return source.columns, rows, pieces


def test_lines_are_those_where_rows_begin(write):
    path = write('a,b\r\n1,x\r\n\r\n2,"y\r\nz"\r\n3,"u\n\nv"\r\n4,w\r\n')
    sheet = read(path, "a", {"b": "text"}, task="regress")
    assert sheet.lines.tolist() == [2, 4, 6, 9]
    assert sheet.rows.tolist() == [0, 1, 2, 3]
    assert sheet.X["b"].tolist() == ["x", "y\r\nz", "u\n\nv", "w"]


def test_old_ends_of_lines(write):
    assert read(write("a,b\r1,x\r2,y\r3,x\r"), "b").lines.tolist() == [2, 3, 4]


def test_rows_of_other_lengths_are_bad(write):
    path = write("a,b\n1,x\n2\n3,y,z\n4,x\n5,x\n")
    with pytest.raises(DomainError) as error:
        read(path, "b")
    assert str(error.value) == (
        "table.csv has 2 bad rows of 5: line 3: 1 entry instead of 2; line 4: 3 entries instead "
        "of 2; --skip-bad / skip_bad=True leaves them out"
    )
    with pytest.raises(DomainError, match="is x in all 3 rows"):
        read(path, "b", skip_bad=True)
    sheet = read(path, "a", skip_bad=True, types={"b": "text"})
    assert sheet.bad == (BadRow(3, "1 entry instead of 2"), BadRow(4, "3 entries instead of 2"))
    assert sheet.total == 5
    assert sheet.rows.tolist() == [0, 3, 4]
    assert sheet.lines.tolist() == [2, 5, 6]
    assert "2 rows of 5 could not be read" in sheet.notes[0]


def test_a_quotation_mark_that_is_not_closed_is_a_bad_row_not_the_rest_of_the_file(write):
    good = "".join(f'"k{i % 3}",{i}.5\n' for i in range(30))
    path = write("a,b\n" + good + '"k,31\n"k1",32\n')
    sheet = read(path, "b", skip_bad=True)
    assert len(sheet) == 30
    assert sheet.bad[0].line == 32
    assert "quotation mark" in sheet.bad[0].problem
    tail = write("a,b\n" + good + '"k,31\nk1,32\n')
    sheet = read(tail, "b", skip_bad=True)
    assert len(sheet) == 30
    assert sheet.bad[0].problem.startswith("a quotation mark is opened and not closed")


def test_names_that_are_repeated_in_the_middle_are_bad_rows(write):
    sheet = read(write("a,b\n1,x\n2,y\na,b\n3,x\n"), "b", skip_bad=True)
    assert sheet.bad == (BadRow(4, "repeats the names of the columns"),)


def test_a_long_entry_is_read(write):
    long = "word " * 60_000  # longer than the csv module would take
    sheet = read(write(f"a,b\n1,{long}\n2,short one here\n3,and a third\n"), "a")
    assert sheet.X["b"][0] == long.strip()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n \n\n", "is empty"),
        ("a,b\n", "has names of columns, but no rows"),
        ("\ufeff", "is empty"),
    ],
)
def test_nothing_is_an_error(write, text, words):
    with pytest.raises(DomainError, match=words):
        read(write(text))


def test_names_are_made_different_and_never_empty(write):
    path = write(" a ,b,a,,a (2),a\n1,2,3,4,5,6\n2,3,4,5,6,8\n")
    sheet = read(path)
    assert [column.name for column in sheet.columns] == [
        "a", "b", "a (3)", "column 4", "a (2)", "a (4)",
    ]  # fmt: skip
    assert sheet.notes[0] == "two columns are called 'a'; that in place 3 is 'a (3)' here"


def test_a_table_without_names_says_so(write):
    sheet = read(write("1,a\n2,b\n3,a\n"), "column 2")
    assert sheet.used[0].name == "column 1"
    assert "'column 1', 'column 2'" in sheet.notes[0]
    assert sheet.lines.tolist() == [1, 2, 3]


def test_formulas_and_markup_are_plain_text(write):
    path = write("a,b\n=1+1,<b>x</b>\n@SUM(A1),<script>\n=1+1,<b>x</b>\n+cmd|x,<i>\n")
    sheet = read(path, types={"a": "categorical", "b": "categorical"})
    assert sheet.X["a"].tolist() == ["=1+1", "@SUM(A1)", "=1+1", "+cmd|x"]
    assert sheet.X["b"][1] == "<script>"


def test_pieces_have_the_wanted_columns_and_sizes(write):
    path = write("a,b\n" + "".join(f"{i},{i}\n" for i in range(25)))
    pieces = list(Delimited(path).pieces(10, {"b"}))
    assert [len(piece) for piece in pieces] == [10, 10, 5]
    assert all(list(piece.columns) == ["b"] for piece in pieces)
    assert np.concatenate([piece.rows for piece in pieces]).tolist() == list(range(25))


letters = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufeff"), max_size=6
)
entry = st.one_of(
    letters,
    st.integers(-999, 999).map(str),
    st.sampled_from(["a,b", "x;y", 'say "no"', "two\nlines", "two\r\nlines", "|", "\t", "=1", ""]),
)


@st.composite
def tables(draw):
    width = draw(st.integers(2, 4))
    rows = draw(st.lists(st.lists(entry, min_size=width, max_size=width), min_size=1, max_size=6))
    return [f"name {i}" for i in range(width)], rows


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(
    tables(),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.integers(1, 7),
)
def test_what_was_written_is_read(tmp_path_factory, table, delimiter, end, quoting, size):
    names, rows = table
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([names, *rows])
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    path.write_bytes(out.getvalue().encode())
    found, back, pieces = cells(path, size)
    assert found == names
    # Spaces before an entry that is not quoted do not count.
    assert [[e.lstrip(" ") for e in row] for row in back] == [
        [e.lstrip(" ") for e in row] for row in rows
    ]
    assert not any(piece.bad for piece in pieces)


def test_names_whose_quotation_mark_is_not_closed(write):
    with pytest.raises(DomainError, match="line 1: a quotation mark"):
        read(write('"a"x,"b"\n"1","2"\n"3","4"\n"5","6"\n'))
