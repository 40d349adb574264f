"""Streams over mapped arrays: the rows of the file, a file that shrinks, a bound on memory."""

import subprocess
import sys

import numpy as np
import pytest

from mercer.domains import VECTORS
from mercer.domains.streams import Stream, Streamed, is_stream
from mercer.errors import DomainError
from tests.measure import peak

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(100, 3))


def rows_of(stream, domain=VECTORS, **how):
    return np.concatenate([chunk.points.array for chunk in stream.read(domain, **how)])


@pytest.fixture
def mapped(tmp_path):
    def make(array, name="rows.bin"):
        array.tofile(tmp_path / name)
        return np.memmap(tmp_path / name, array.dtype, "r", shape=array.shape)

    return make


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ahead", [False, True])
def test_rows_are_those_of_the_file(mapped, dtype, ahead):
    X = mapped(ROWS.astype(dtype))
    found = rows_of(Stream.rows(X, size=7), ahead=ahead)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, ROWS.astype(dtype))


def test_target_and_weights_may_be_mapped(mapped):
    both = mapped(np.column_stack([ROWS, ROWS[:, 0] > 0]))
    weights = mapped(np.arange(100.0), "weights.bin")
    survey = Stream.rows(both[:, :3], both[:, 3], weights, size=7).survey(VECTORS)
    np.testing.assert_array_equal(survey.sample.array, ROWS)
    np.testing.assert_array_equal(survey.target, ROWS[:, 0] > 0)
    np.testing.assert_array_equal(survey.weights, np.arange(100.0))


@pytest.mark.parametrize("ahead", [False, True])
def test_a_file_that_shrinks_between_two_chunks(mapped, tmp_path, ahead):
    X = mapped(ROWS)
    chunks = Stream.rows(X, size=10).read(VECTORS, ahead=ahead)
    for _ in range(3):
        next(chunks)
    with (tmp_path / "rows.bin").open("r+b") as file:
        file.truncate(24 * 55)
    message = (
        "chunk 5, from row 50 on: .*rows.bin has become shorter: rows 50 to 59 take 240 bytes "
        "from byte 1200 on, and 120 were found"
    )
    with pytest.raises(DomainError, match=message):
        list(chunks)


def test_the_process_survives_where_the_mapping_would_end_it(tmp_path):
    code = f"""
import numpy as np
from mercer import Stream
from mercer.domains import VECTORS
from mercer.errors import DomainError
path = {str(tmp_path / "rows.bin")!r}
np.ones((20_000, 4)).tofile(path)
X = np.memmap(path, np.float64, "r", shape=(20_000, 4))
for stream in (
    Stream.rows(X, size=1000),
    Stream.rows(X[:, 1:3], size=1000),
    Stream.rows(X[::-1], size=1000),
    Stream(lambda: (X[i : i + 1000] for i in range(0, 20_000, 1000))),
):
    np.ones((20_000, 4)).tofile(path)
    chunks = stream.read(VECTORS)
    next(chunks)
    open(path, "r+b").truncate(0)
    try:
        list(chunks)
    except DomainError as error:
        print(str(error)[:8])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["chunk", "1,"] * 4


def test_large_mapped_arrays_are_streams(tmp_path):
    large = np.memmap(tmp_path / "large", np.float64, "w+", shape=(1_000_000, 8))
    assert is_stream(large)
    assert is_stream(Stream.rows(large))
    assert not is_stream(large[:1000])
    assert not is_stream(ROWS)
    assert not is_stream([["cat"]])


def test_a_chunk_has_about_32_megabytes(tmp_path):
    for dtype, rows in ((np.float64, 500_000), (np.float32, 1_000_000), (np.int8, 500_000)):
        large = np.memmap(tmp_path / "large", dtype, "w+", shape=(2_000_000, 8))
        assert Stream.rows(large).chunks.size == rows
    assert Stream.rows(ROWS).chunks.size == 100
    assert Stream.rows(["cat"] * 3).chunks.size == 10_000


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [False, True])
def test_memory_does_not_grow_with_the_file(tmp_path, ahead):
    # 200 MB, with holes, so that the disk has little of it.
    X = np.memmap(tmp_path / "large", np.float64, "w+", shape=(1_000_000, 25))
    X[::100_000, 0] = 1.0
    y = np.zeros(1_000_000, dtype=np.float32)
    stream = Stream.rows(X, y, size=50_000)  # 10 MB
    kept = []

    def work():
        survey = stream.survey(VECTORS, ahead=ahead)
        kept.append(survey.target.nbytes + survey.sample.bytes)
        total = 0.0
        for _, points in Streamed(stream, VECTORS, survey, ahead).pieces():
            total += points.array[:, 0].sum()
            del points
        assert total == 10.0

    used = peak(work)
    # Two chunks; the target and its parts; a random number for each row of a chunk.
    assert used < 2 * 10e6 + 2 * kept[0] + 2e6
    assert used > 9e6
