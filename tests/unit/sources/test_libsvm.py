"""LIBSVM text."""

import gzip

import numpy as np
import pytest

from mercer.datasets import read_libsvm
from mercer.errors import DomainError
from mercer.sources import BadRow, chunks, read, recipe

TEXT = "+1 1:0.5 3:2\n-1 2:1 # a comment\n\n+1 qid:3 4:-1e-2\n-1\n"


def test_rows_are_sparse(write):
    path = write(TEXT, "examples")
    sheet = read(path)
    np.testing.assert_array_equal(
        sheet.X.toarray(), [[0.5, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, -0.01], [0, 0, 0, 0]]
    )
    np.testing.assert_array_equal(sheet.X.toarray(), read_libsvm(path).X.toarray())
    assert sheet.y.tolist() == ["+1", "-1", "+1", "-1"]
    assert sheet.lines.tolist() == [1, 2, 4, 5]
    assert sheet.target.name == "label"
    assert [(column.name, column.kind) for column in sheet.used] == [("features", "numeric")]


def test_indices_from_zero(write):
    sheet = read(write("1 0:5 2:6\n2 1:7\n1 0:1\n2 1:1\n", "examples.svm"))
    assert sheet.X.toarray().tolist() == [[5, 0, 6], [0, 7, 0], [1, 0, 0], [0, 1, 0]]


def test_other_files_get_the_same_width(write):
    path = write(TEXT, "train.libsvm")
    how = recipe(read(path))
    other = write("1 1:3\n-1 2:4 9:9\n-1 1:1\n", "test.libsvm")
    first, second = chunks(other, how, 2)
    assert first.X.toarray().tolist() == [[3, 0, 0, 0], [0, 4, 0, 0]]
    assert second.X.toarray().tolist() == [[1, 0, 0, 0]]
    assert second.y.tolist() == ["-1"]


def test_bad_lines(write):
    path = write("1 1:2\n2 2:x\n2 3:1 2:1\n1 1:nan\nspam 1:1\n2 2:2\n2 1.5:2\n1 1:1\n", "x.libsvm")
    with pytest.raises(DomainError, match="5 bad rows of 8: line 2: has '2:x'"):
        read(path)
    sheet = read(path, skip_bad=True)
    assert sheet.y.tolist() == ["1", "2", "1"]
    assert [row.line for row in sheet.bad] == [2, 3, 4, 5, 7]
    assert sheet.bad[2] == BadRow(4, "has '1:nan', but a value is a finite number")
    assert sheet.rows.tolist() == [0, 5, 7]


def test_a_sample(write):
    lines = "".join(f"{i % 3} {i % 7 + 1}:{i}\n" for i in range(200))
    sheet = read(write(gzip.compress(lines.encode()), "many.gz"), limit=20)
    assert sheet.X.shape == (20, 7)
    assert sheet.total == 200
    np.testing.assert_array_equal(sheet.X.sum(axis=1), sheet.rows)


def test_numbers_as_targets(write):
    sheet = read(write("1.5 1:1\n2.5 1:2\n0.5 1:3\n", "x.svm"))
    assert sheet.y.tolist() == [1.5, 2.5, 0.5]


def test_lines_without_any_number(write):
    with pytest.raises(DomainError, match="nothing to learn from: 'features' is missing"):
        read(write("1\n2\n1\n", "x.svm"))


def test_a_file_without_lines(write):
    with pytest.raises(DomainError, match="no rows"):
        read(write("\n# nothing\n", "x.svm"))
