"""Rows of mapped arrays, read from their files."""

import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains.memmap import copied, mapping, read_rows
from mercer.errors import DomainError


@pytest.fixture
def mapped(tmp_path):
    """Return a function that maps an array, after a few bytes of something else."""

    def make(array, offset=0, order="C", mode="r"):
        path = tmp_path / "rows.bin"
        path.write_bytes(bytes(offset) + array.tobytes(order))
        return np.memmap(path, array.dtype, mode, offset, array.shape, order)

    return make


NUMBERS = np.arange(60.0).reshape(12, 5)
VIEWS = {
    "whole": lambda X: X,
    "rows": lambda X: X[3:9],
    "rows of rows": lambda X: X[2:][1:5],
    "columns": lambda X: X[:, 1:4],
    "one column": lambda X: X[:, -1],
    "every third row": lambda X: X[1::3],
    "every other column": lambda X: X[:, ::2],
    "reversed": lambda X: X[::-1],
    "transposed": lambda X: X.T,
    "flat": lambda X: X.reshape(-1),
    "cube": lambda X: X.reshape(3, 4, 5),
    "array": lambda X: np.asarray(X)[1:],
}


@pytest.mark.parametrize("offset", [0, 24, 5000])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_read_from_its_place_in_the_file(mapped, view, order, offset):
    X = mapped(NUMBERS, offset, order)
    part, expected = VIEWS[view](X), VIEWS[view](NUMBERS)
    if order == "F" and view in ("flat", "cube"):
        part = np.asarray(part)  # a copy, in memory
    for start, stop in ((0, len(part)), (1, 3), (len(part) - 1, len(part))):
        found = read_rows(part, start, stop)
        np.testing.assert_array_equal(found, expected[start:stop])
        assert mapping(found) is None


@pytest.mark.parametrize("dtype", ["float32", "float64", ">f8", "int16", "bool", "S3"])
def test_numbers_keep_their_type(mapped, dtype):
    array = NUMBERS.astype(dtype)
    found = read_rows(mapped(array), 2, 7)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array[2:7])


def test_rows_far_apart_are_read_in_blocks(mapped, monkeypatch):
    monkeypatch.setattr("mercer.domains.memmap.BLOCK_BYTES", 100)
    X = mapped(NUMBERS)
    np.testing.assert_array_equal(read_rows(X[::2, 1:3], 0, 6), NUMBERS[::2, 1:3])
    np.testing.assert_array_equal(read_rows(X[::6], 0, 2), NUMBERS[::6])


def test_private_changes_are_seen(mapped):
    X = mapped(NUMBERS, mode="c")
    X[4, 2] = -1.0
    assert read_rows(X, 4, 5)[0, 2] == -1.0


def test_shared_changes_are_seen(mapped):
    X = mapped(NUMBERS, mode="r+")
    X[4, 2] = -1.0
    assert read_rows(X, 4, 5)[0, 2] == -1.0


def test_a_file_without_a_name():
    with tempfile.TemporaryFile() as file:
        file.write(NUMBERS.tobytes())
        file.flush()
        X = np.memmap(file, np.float64, "r", shape=(12, 5))
        assert X.filename is None
        np.testing.assert_array_equal(read_rows(X, 3, 5), NUMBERS[3:5])
        file.truncate(10 * 40)
        np.testing.assert_array_equal(read_rows(X, 3, 10), NUMBERS[3:10])
        with pytest.raises(DomainError, match="the mapped file has become shorter: rows 9 to 11"):
            read_rows(X, 9, 12)


def test_a_file_that_was_deleted_is_there_for_its_mapping(mapped, tmp_path):
    X = mapped(NUMBERS)
    (tmp_path / "rows.bin").unlink()
    np.testing.assert_array_equal(read_rows(X, 0, 12), NUMBERS)


def test_what_is_in_memory_stays_what_it_is(mapped):
    words = ["cat", "hat"]
    assert copied(words) is words
    X = mapped(NUMBERS)
    assert mapping(X[[1, 2]]) is None
    assert mapping(X + 1) is None
    assert mapping(copied(X)) is None


@pytest.mark.parametrize("view", ["rows", "columns", "one column", "reversed", "transposed"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_that_has_become_shorter_is_an_error(mapped, tmp_path, view, order):
    part = VIEWS[view](mapped(NUMBERS, 24, order))
    with (tmp_path / "rows.bin").open("r+b") as file:
        file.truncate(24)
    with pytest.raises(DomainError, match=r"rows.bin has become shorter: rows 1 to 2 take \d+ by"):
        read_rows(part, 1, 3)


def test_the_error_says_how_many_bytes(mapped, tmp_path):
    X = mapped(NUMBERS, 24)
    with (tmp_path / "rows.bin").open("r+b") as file:
        file.truncate(24 + 7 * 40 + 3)
    np.testing.assert_array_equal(read_rows(X, 0, 7), NUMBERS[:7])
    with pytest.raises(
        DomainError, match="rows 6 to 8 take 120 bytes from byte 264 on, and 43 were found"
    ):
        read_rows(X, 6, 9)


@given(st.data())
def test_any_slice_is_read_as_numpy_reads_it(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("mapped") / "rows.bin"
    NUMBERS.tofile(path)
    rows, columns = data.draw(st.slices(12)), data.draw(st.slices(5))
    part = np.memmap(path, np.float64, "r", shape=(12, 5))[rows, columns]
    if not part.size:
        return
    start = data.draw(st.integers(0, len(part) - 1))
    stop = data.draw(st.integers(start + 1, len(part)))
    np.testing.assert_array_equal(read_rows(part, start, stop), NUMBERS[rows, columns][start:stop])


def test_another_file_of_that_name_is_not_taken_for_it(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(20.0))
    mapped = np.load(path, mmap_mode="r")
    np.save(tmp_path / "y.npy", np.zeros(30))
    (tmp_path / "y.npy").replace(path)
    np.testing.assert_array_equal(read_rows(mapped, 3, 9), np.arange(3.0, 9.0))
