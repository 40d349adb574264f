"""Awkward files, from the disk to the sheet."""

import numpy as np
import pytest

from mercer.errors import DomainError
from mercer.sources import read

IRIS = [
    (5.1, "setosa"),
    (4.9, "setosa"),
    (7.0, "versicolor"),
    (6.4, "versicolor"),
    (6.3, "virginica"),
]


def table(rows=IRIS, delimiter=",", head=("size", "species")):
    return "\n".join(delimiter.join(map(str, row)) for row in [head, *rows]) + "\n"


def test_semicolons_and_decimal_commas(write):
    sheet = read(write(table(delimiter=";").replace(".", ",")), "species")
    assert sheet.X["size"].tolist() == [5.1, 4.9, 7.0, 6.4, 6.3]
    assert sheet.used[0].style == {"decimal": ","}


def test_a_mark_at_the_beginning(write):
    sheet = read(write("\ufeff" + table()), "species")
    assert sheet.used[0].name == "size"


def test_quoted_newlines(write):
    rows = "".join(f'"first line\nsecond, of {i}",{i % 2}\n' for i in range(6))
    sheet = read(write("note,y\n" + rows), "y")
    assert sheet.used[0].kind == "text"
    assert sheet.lines.tolist() == [2, 4, 6, 8, 10, 12]
    assert sheet.X["note"][1] == "first line\nsecond, of 1"


def test_a_thousand_classes(write):
    sheet = read(write(table([(i * 0.5, f"class {i % 1000}") for i in range(2500)])), "species")
    assert len(np.unique(sheet.y)) == 1000
    assert sheet.target.kind == "categorical"


def test_missing_values(write):
    text = "a,b,c,y\n1,,x,0\nNA,,y,1\n3,,,0\n?,,x,1\n"
    sheet = read(write(text), "y")
    assert [column.kind for column in sheet.columns] == ["numeric", "missing", "categorical"]
    np.testing.assert_array_equal(sheet.X["a"], [1, np.nan, 3, np.nan])
    assert sheet.X["c"].tolist() == ["x", "y", None, "x"]
    assert [column.missing for column in sheet.columns] == [2, 4, 1]


def test_dates(write):
    sheet = read(write("when,y\n1.2.1970,1.5\n13.1.1970,2.5\n,3.5\n"), "y")
    np.testing.assert_array_equal(sheet.X["when"], [31, 12, np.nan])


def test_one_row(write):
    sheet = read(write("a,b,y\n1,x,0\n"), "y")
    assert len(sheet) == 1
    assert [column.kind for column in sheet.columns] == ["numeric", "categorical"]
    assert sheet.y.tolist() == ["0"]


def test_unicode_names(write):
    sheet = read(write("größe 📏,цвет,y\n1,красный,да\n2,синий,нет\n3,синий,да\n"), "y")
    assert list(sheet.X) == ["größe 📏", "цвет"]
    assert sheet.y.tolist() == ["да", "нет", "да"]


def test_thousands(write):
    sheet = read(write('pay,y\n"1,234.50",0\n"12,345,678",1\n99,0\n'), "y")
    assert sheet.X["pay"].tolist() == [1234.5, 12345678, 99]
    assert "thousands separated by ," in sheet.used[0].why


def test_what_is_learned_from_has_no_strings_of_pandas(write):
    sheet = read(write("a,b,y\n1,x,0\n2,y,1\n3,x,0\n"), "y")
    assert [str(dtype) for dtype in sheet.X.dtypes] == ["float64", "object"]
    assert all(type(value) is str for value in sheet.X["b"])


def test_nothing_to_learn_from(write):
    with pytest.raises(DomainError) as error:
        read(write("id,same,y\n1,a,0\n2,a,1\n3,a,0\n"), "y")
    assert str(error.value) == (
        "table.csv has nothing to learn from: 'id' is identifier (whole numbers, all different, "
        "in a column that is called so: it names the row); 'same' is constant (every entry is "
        "'a'); --types / types says otherwise"
    )
    with pytest.raises(DomainError, match="no other column than the target"):
        read(write("y\n1\n2\n"), "y")


def test_all_rows_bad(write):
    with pytest.raises(
        DomainError, match=r"all 2 rows of .* are bad: line 2: 2 entries instead of 3"
    ):
        read(write("a,b,c\n1,5\n2,6\n"), skip_bad=True)
    with pytest.raises(DomainError, match=r"all 2 rows of .* are bad: line 2: column 'a'"):
        read(write("a,b\nx,1\ny,2\n"), types={"a": "numeric"}, skip_bad=True)


def test_many_bad_rows_are_counted_and_a_few_named(write):
    rows = "".join("1,2,3\n" if i % 2 else "1,2\n" for i in range(40))
    with pytest.raises(
        DomainError, match=r"20 bad rows of 40: .*line 11.*; and 15 more; --skip-bad"
    ):
        read(write("a,b\n" + rows))


def test_a_row_is_bad_once(write):
    rows = "".join(f"{i}.5,{i}.25,{i % 2}\n" for i in range(30))
    sheet = read(write("a,b,y\n" + rows + "x,inf,\n"), "y", skip_bad=True)
    assert [str(row) for row in sheet.bad] == ["line 32: the target 'y' is missing"]


def test_without_a_target(write):
    sheet = read(write(table()))
    assert sheet.y is None
    assert sheet.target is None
    assert len(sheet.columns) == 2


def test_the_same_twice_is_the_same(write):
    path = write(table([(i * 0.37, "ab"[i % 2]) for i in range(300)]))
    first, second = (read(path, "species", limit=100, seed=5) for _ in range(2))
    assert first.rows.tolist() == second.rows.tolist()
    assert first.columns == second.columns
    assert first.notes == second.notes


def test_importing_is_light():
    import subprocess
    import sys

    code = (
        "import sys, mercer.sources;"
        "print([m for m in ('pandas', 'pyarrow', 'scipy', 'numba', 'rdkit') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
