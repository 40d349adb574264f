"""Delimiters, quotation marks and rows of names, found from the beginning of a file."""

import pytest

from mercer.sources import read
from mercer.sources.dialect import ALONE, Dialect, has_header, sniff


def found(text, **options):
    layout = sniff(text, True, **options)
    return layout.delimiter, layout.quoted, layout.header


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter):
    rows = [["name", "size", "note"], ["a", "1.5", "b"], ["c", "2", "d"]]
    text = "\n".join(delimiter.join(row) for row in rows)
    assert found(text) == (delimiter, True, True)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),  # decimal commas, twice in each row
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("a,b\nx; y,1\nz; w,2\n", ","),
        ("a\tb\nx, y\t1\nz, w\t2\n", "\t"),
        ("a|b\nx, y|1\nz, w|2\n", "|"),
        ('a,b\n"x;y;z",1\n"u;v;w",2\n', ","),
        ('a;b\n"1;2;3";x\n"4;5";y\n', ";"),
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", ","),
        ("a;b;c\n1;2;3\n4;5\n6;7;8\n", ";"),
    ],
)
def test_what_stands_inside_of_entries_is_no_delimiter(text, delimiter):
    assert sniff(text, True).delimiter == delimiter


@pytest.mark.parametrize(
    "text",
    [
        "text\nhello, you\nthat, and that, and more\nno\n",
        "size\n1\n2\n",
        "size\n1,5\n2,5\n3,5\n",
        '"text"\n"one, two"\n"three"\n',
    ],
)
def test_a_table_may_have_a_single_column(text):
    assert sniff(text, True).delimiter == ALONE


def test_quotation_marks_that_are_not_closed_are_letters():
    text = 'ham\t"What is it\nspam\tWin "now"\nham\tno "\nham\t"yes" he said\n'
    assert found(text) == ("\t", False, False)


def test_quoted_entries_with_newlines_are_one_row():
    text = 'a,b\n"x\ny",1\n"z\n\n,w",2\n'
    assert found(text) == (",", True, True)


def test_the_cut_end_of_a_sample_is_not_looked_at():
    text = 'a,b\n"x",1\n"y",2\n"z'
    assert sniff(text, False) == Dialect(",")


def test_excel_says_its_delimiter(write):
    sheet = read(write("sep=|\nx|y\n1|a\n2|b\n3|b\n"), "y")
    assert sheet.layout["delimiter"] == "|"
    assert sheet.lines.tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["a", "b"], ["1", "2"]], True),
        ([["1", "2"], ["3", "4"]], False),
        ([["1,5", "2 %"], ["3", "4"]], False),
        ([["", "2"], ["3", "4"]], True),
        ([["ham", "hello"], ["ham", "you"], ["spam", "win"], ["ham", "x"]], False),
        ([["a", "b"], ["a", "b"], ["1", "2"], ["a", "b"]], True),  # files put together
        ([["yes", "size"], ["yes", "1"], ["no", "2"]], True),  # once is not enough
    ],
)
def test_a_row_of_names_has_no_numbers_and_nothing_that_repeats(rows, header):
    assert has_header(rows) is header


def test_the_target_tells_a_row_of_names():
    rows = [["2019", "2020"], ["1", "2"], ["3", "4"]]
    assert not has_header(rows)
    assert has_header(rows, target="2020")
    assert not has_header([["a", "b"], ["c", "d"]], target="column 2")


def test_known_names_settle_the_layout():
    assert sniff("a;b\n1,5;2,5\n", True, known=["a", "b"]).delimiter == ";"
    assert sniff("text\nx,y\nu,v\n", True, known=["text"]).delimiter == ALONE
    assert found("1,2\n3,4\n", known=["a"], header=True)[2] is True
    assert found("ham,2\nspam,4\n", known=["a"], header=False)[2] is False


def test_spaces_separate_numbers_but_not_words(write):
    sheet = read(write("a  b y\n 1 2.5 u \n3   4 v\n5 6 u\n", "table.dat"), "y")
    assert sheet.X["b"].tolist() == [2.5, 4, 6]
    assert sheet.y.tolist() == ["u", "v", "u"]
    assert sniff("a b c\nthis is it\nthat is not\n", True).delimiter == ALONE


def test_row_names_of_r(write):
    text = '"size" "kind"\n"r1" 1.5 "a"\n"r2" 2.5 "b"\n"r3" 3.5 "a"\n'
    sheet = read(write(text.replace(" ", ",")), "kind")
    assert [(c.name, c.kind) for c in sheet.columns] == [
        ("row names", "identifier"),
        ("size", "numeric"),
    ]
    assert sheet.y.tolist() == ["a", "b", "a"]
    assert "it names the row" in sheet.notes[0]


def test_rows_that_end_with_a_delimiter(write):
    sheet = read(write("a,b\n1.5,x,\n2.5,y,\n3.5,x,\n"), "b")
    assert sheet.X["a"].tolist() == [1.5, 2.5, 3.5]
    assert sheet.columns[1].kind == "missing"
