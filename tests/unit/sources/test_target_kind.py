"""Classes or numbers."""

import numpy as np
import pytest

from mercer.errors import DomainError
from mercer.sources import read
from mercer.sources.source import objects
from mercer.sources.target_kind import infer_target


def taken(entries, task=None):
    return infer_target("y", objects(entries), task, None)


def digits(count, rows):
    return [str(i % count) for i in range(rows)]


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        (["a", "b", "a"], "categorical"),
        (["1.5", "2.5", "1.5"], "numeric"),
        (["0", "1", "0", "1"], "categorical"),
        (["0", "1"], "categorical"),
        (digits(10, 100), "categorical"),
        (digits(20, 60), "categorical"),
        (digits(21, 630), "numeric"),
        (digits(20, 59), "numeric"),
        (["1.0", "2.0", "1.0"], "categorical"),
        (["01", "02", "03", "04"], "categorical"),
        (["1,5", "2,5", "3,5"], "numeric"),
        (["2024-01-01", "2024-01-02"], "date"),
        (["true", "false"], "categorical"),
        (["-1", "+1", "-1"], "categorical"),
    ],
)
def test_the_rule(entries, kind):
    assert taken(entries)[0].kind == kind


def test_whole_numbers_are_noted_with_how_to_say_otherwise():
    assert "--kind regress / task='regress'" in taken(digits(10, 100))[1][0]
    assert "--kind classify / task='classify'" in taken(digits(50, 100))[1][0]
    assert taken(["0", "1", "0"])[1] == []


def test_labels_stay_as_they_are_written(write):
    assert read(write("x,y\n1,1.0\n2,2\n3,1.0\n"), "y").y.tolist() == ["1.0", "2", "1.0"]
    sheet = read(write("x,y\n1,1\n2,2\n3,1.0\n4,2\n"), "y")
    assert sheet.y.tolist() == ["1", "2", "1.0", "2"]
    assert sheet.notes == ("the classes '1' and '1.0' are one number in two forms",)


def test_the_user_decides(write):
    path = write("x,y\n" + "".join(f"{i / 3},{i % 5}\n" for i in range(20)))
    assert read(path, "y").y.dtype.kind == "U"
    assert read(path, "y", task="regress").y.tolist()[:3] == [0.0, 1.0, 2.0]
    assert read(path, "y", types={"y": "number"}).y.dtype == np.float64
    fractions = write("x,y\n" + "".join(f"{i},{i % 2}.5\n" for i in range(4)))
    assert read(fractions, "y", task="classify").y.tolist() == ["0.5", "1.5", "0.5", "1.5"]
    assert read(fractions, "y", types={"y": "category"}).y.dtype.kind == "U"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task": "regres"}, "task cannot be 'regres'; did you mean 'regress'"),
        ({"types": {"kind": "text"}}, "the target cannot be 'text'"),
        ({"task": "regress"}, "entries such as 'a', which are not numbers; --kind classify"),
    ],
)
def test_what_cannot_be_the_task(write, options, words):
    with pytest.raises(DomainError, match=words):
        read(write("x,kind\n1,a\n2,b\n3,a\n"), "kind", **options)


def test_a_constant_target(write):
    with pytest.raises(DomainError) as error:
        read(write("x,y\n1,a\n2,a\n3,a\n"), "y")
    assert str(error.value) == (
        "the target 'y' of table.csv is a in all 3 rows, so there is nothing to learn; choose "
        "another column"
    )


def test_as_many_classes_as_rows(write):
    with pytest.raises(DomainError, match="different in each of its 4 rows, so no class"):
        read(write("x,y\n1,a\n2,b\n3,c\n4,d\n"), "y")


def test_a_target_that_is_not_there(write):
    path = write("x,species\n1,a\n2,b\n")
    with pytest.raises(
        DomainError, match=r"table.csv has no column 'specie'; did you mean 'species'"
    ):
        read(path, "specie")
    wide = write(",".join(f"x{i}" for i in range(50)) + "\n" + ",".join("1" * 50) + "\n")
    with pytest.raises(DomainError, match=r"'x9' and 40 more$"):
        read(wide, "zzz")


def test_a_missing_target_is_a_bad_row(write):
    path = write("x,y\n1,a\n2,\n3,b\n4,NA\n5,a\n")
    with pytest.raises(DomainError, match="2 bad rows of 5: line 3: the target 'y' is missing"):
        read(path, "y")
    sheet = read(path, "y", skip_bad=True)
    assert sheet.y.tolist() == ["a", "b", "a"]
    assert [row.line for row in sheet.bad] == [3, 5]
    with pytest.raises(DomainError, match="missing in all 2 rows"):
        read(write("x,y\n1,\n2,\n"), "y", skip_bad=True)


def test_an_infinite_or_unreadable_target_is_a_bad_row(write):
    rows = "".join(f"{i},{i}.5\n" for i in range(40))
    sheet = read(write("x,y\n" + rows + "41,inf\n42,soon\n"), "y", skip_bad=True)
    assert [str(row) for row in sheet.bad] == [
        "line 42: column 'y': the number is infinite",
        "line 43: column 'y': 'soon' is not a number",
    ]


def test_a_column_with_the_name_of_the_target_is_set_aside(write):
    sheet = read(write("y,x,y\n1,5,1\n2,7,2\n1,6,1\n"), "y")
    assert [column.name for column in sheet.used] == ["x"]
    assert sheet.columns[1].kind == "identifier"


def test_columns_are_judged_without_rows_that_have_no_target(write):
    sheet = read(write("x,z,y\n1,5,a\n1,6,b\n1,7,a\n2,8,\n"), "y", skip_bad=True)
    assert sheet.columns[0].kind == "constant"
