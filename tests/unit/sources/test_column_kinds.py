"""What columns are taken for."""

import numpy as np
import pytest

from mercer.errors import DomainError
from mercer.sources import read
from mercer.sources.column_kinds import admit_types, infer_column, infer_decimal
from mercer.sources.source import objects


def judged(entries, name="x", **options):
    raw = objects(entries)
    return infer_column(name, raw, np.arange(len(raw)), **options)[0]


def test_numbers():
    column = judged(["1.5", "2", "", "NA", "4.25"])
    assert (column.kind, column.missing, column.distinct) == ("numeric", 2, 3)
    assert column.why.startswith("numbers in 3 of 5 rows")
    assert column.examples == ("1.5", "2", "4.25")
    assert judged([str(i / 7) for i in range(9)]).why == "numbers in all 9 rows"


def test_few_whole_numbers_stay_numbers_and_it_is_said():
    column = judged(["0", "1", "1", "0", "1"])
    assert column.kind == "numeric"
    assert "only 2 different whole ones (they could be categories)" in column.why


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        (["x"] * 4, "constant"),
        (["7"] * 4, "constant"),
        (["", "NA", "?", None], "missing"),
        (["yes", "", "yes", ""], "categorical"),
        (["true", "false", "true"], "categorical"),
        (["2024-03-01", "2024-03-02", "", "2024-03-01"], "date"),
        (["+", "-", "+", "-"], "categorical"),
        (["01", "02", "11", "02", "01", "11"], "categorical"),  # codes
        (["one"], "categorical"),
        (["1"], "numeric"),
    ],
)
def test_kinds(entries, kind):
    assert judged(entries).kind == kind


def test_a_dash_is_missing_unless_there_is_a_plus():
    assert judged(["1", "-", "3"]).missing == 1
    column = judged(["+", "-", "+"])
    assert (column.missing, column.distinct, column.style) == (0, 2, {"signs": True})


def test_numbers_with_zeros_before_them_are_codes():
    column = judged(["01067", "80331", "01067", "80331"])
    assert column.kind == "categorical"
    assert column.why.endswith("codes because of the zeros before them")


def test_the_words_none_and_missing_are_entries_but_nan_is_not():
    assert judged(["none", "missing", "none"]).missing == 0
    assert judged(["nan", "b", "a", "b"]).missing == 1


def test_a_column_with_less_than_five_percent_others_is_numeric():
    assert judged(["oops"] + [f"{i}.5" for i in range(25)]).kind == "numeric"
    assert judged(["oops", "no"] + [f"{i}.5" for i in range(30)]).kind != "numeric"


def test_one_other_of_eight_is_a_mistake_of_seven_is_not():
    assert judged(["oops"] + [f"{i}.5" for i in range(7)]).kind == "numeric"
    assert judged(["oops"] + [f"{i}.5" for i in range(6)]).kind != "numeric"


def test_numbers_among_words_are_noted():
    raw = objects(["low", "high"] + [f"{i}.5" for i in range(10)])
    column, notes = infer_column("dose", raw, np.arange(12))
    assert column.kind == "identifier"
    assert notes == [
        "column 'dose' has 83% numbers, but also entries such as 'low'; --types / types can say "
        "that it is numeric"
    ]


@pytest.mark.parametrize(
    ("name", "entries", "first", "kind"),
    [
        ("id", ["5", "17", "3"], False, "identifier"),
        ("PassengerId", ["1", "2", "3"], False, "identifier"),
        ("id", ["5", "5", "3"], False, "numeric"),
        ("refractive_index", ["1.5", "1.25", "1.75"], False, "numeric"),
        ("n", [str(i) for i in range(1, 31)], True, "identifier"),
        ("n", [str(i) for i in range(1, 31)], False, "numeric"),
        ("n", [str(i + i // 15) for i in range(1, 31)], True, "identifier"),
        ("n", [str(2 * i) for i in range(1, 31)], True, "numeric"),
        ("n", [str(i) for i in range(100, 130)], True, "numeric"),
        ("day", [str(i) for i in range(1, 31)], True, "numeric"),
        ("card", [str(10**15 + i * 997) for i in range(9)], False, "identifier"),
        ("id", [f"{i:08d}" for i in range(30)], False, "identifier"),
    ],
)
def test_numbers_that_name_rows(name, entries, first, kind):
    assert judged(entries, name, first=first).kind == kind


def test_a_sample_of_counted_rows_still_counts_them():
    rows = np.sort(np.random.default_rng(0).choice(10_000, 100, replace=False))
    column, _ = infer_column("n", objects(map(str, rows + 1)), rows, first=True)
    assert column.why == "counts the rows"


def test_the_only_column_is_learned_from_even_if_it_counts_rows(write):
    sheet = read(write("x,y\n" + "".join(f"{i},{i * i}.5\n" for i in range(30))), "y")
    assert sheet.used[0].why == "the only numbers there are"


def test_the_file_decides_what_a_column_alone_cannot(write):
    sheet = read(write('a;b;c\n1,5;1,234;1.234\n2,25;5,678;5.678\n3,5;9,876;"1.234"\n'))
    assert sheet.X["b"].tolist() == [1.234, 5.678, 9.876]
    assert sheet.X["c"].tolist() == [1234, 5678, 1234]
    sheet = read(write('a,b\n1.5,"1,234"\n2.25,"5,678"\n'))
    assert sheet.X["b"].tolist() == [1234, 5678]
    assert infer_decimal([], ";") == ","


def test_doubt_about_commas_is_said_if_nothing_tells(write):
    sheet = read(write('a,b\nx,"1,234"\ny,"5,678"\nx,"2,345"\n'))
    assert sheet.X["b"].tolist() == [1234, 5678, 2345]
    assert "could be decimal commas" in sheet.notes[0]


def test_doubt_about_dates_is_said(write):
    sheet = read(write("when,y\n1/2/2024,5.5\n3/4/2024,6.5\n"), "y")
    assert sheet.notes[0].endswith("they were read month first")


def test_eight_digits_are_a_date_where_the_name_says_so():
    assert judged(["20240301", "20240302"], "date").kind == "date"
    assert judged(["20240301", "20240302"], "count").kind == "numeric"


def test_types_are_the_users(write):
    path = write("zip,word,note\n1,a,x\n2,b,y\n1,a,z\n3,a,x\n")
    sheet = read(path, types={"zip": "category", "word": "TEXT", "note": "drop"})
    assert [(c.kind, c.why) for c in sheet.columns] == [
        ("categorical", "you said so"),
        ("text", "you said so"),
        ("identifier", "you said so"),
    ]
    assert sheet.X["zip"].tolist() == ["1", "2", "1", "3"]


@pytest.mark.parametrize(
    ("types", "words"),
    [
        ({"weigth": "text"}, "no column 'weigth'; did you mean 'weight'"),
        ({"weight": "numerc"}, "column 'weight' cannot be 'numerc'; did you mean 'numeric'"),
        ({"weight": "constant"}, "cannot be 'constant'"),
    ],
)
def test_types_that_do_not_exist(types, words):
    with pytest.raises(DomainError, match=words):
        admit_types(types, ["weight", "height"])


def test_what_cannot_be_read_as_said_is_one_error(write):
    path = write("a,b\nred,1\nblue,2\n3,3\n")
    with pytest.raises(DomainError) as error:
        read(path, types={"a": "numeric"})
    assert "2 bad rows of 3: line 2: column 'a': 'red' is not a number" in str(error.value)
    with pytest.raises(DomainError, match=r"'red' is not a date"):
        read(path, types={"a": "date"})


def test_typed_columns():
    rows = np.arange(4)
    assert infer_column("x", np.array([1.5, np.nan, 2.5, 3.0]), rows)[0].missing == 1
    assert infer_column("x", np.full(4, np.nan), rows)[0].kind == "missing"
    assert infer_column("x", np.full(4, 3), rows)[0].kind == "constant"
    assert infer_column("row", np.array([4, 1, 2, 3]), rows)[0].kind == "identifier"
    times = np.array(["2024-01-01", "NaT", "2024-01-03", "2024-01-01"], dtype="datetime64[us]")
    column = infer_column("x", times, rows)[0]
    assert (column.kind, column.missing, column.distinct) == ("date", 1, 2)
    assert infer_column("x", times[[1, 1]], rows[:2])[0].kind == "missing"
    assert infer_column("x", times[[0, 0]], rows[:2])[0].kind == "constant"


def test_lists_are_not_learned_from():
    column = judged([[1, 2], None, [3]])
    assert (column.kind, column.missing) == ("identifier", 1)
    assert "list" in column.why


def test_codes_and_infinities_are_not_a_mixture():
    assert infer_column("x", objects(["inf", "01", "2", "01"]), np.arange(4))[1] == []
