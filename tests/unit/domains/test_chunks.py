"""Chunks: every fault has a name and a place."""

import threading

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.domains import VECTORS
from mercer.domains.streams import Stream
from mercer.errors import DomainError, DomainTypeError

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(100, 3))


FRAMES = [pd.DataFrame({"a": [1.0], "b": [2.0]}) for _ in range(3)]
FAULTS = {
    "nan": (
        [ROWS[:10], np.where(np.arange(30).reshape(10, 3) == 7, np.nan, ROWS[:10])],
        "chunk 1, rows 10 to 19: Input X contains NaN at row 2, column 1",
    ),
    "width": ([ROWS, ROWS[:5, :2]], "chunk 1, rows 100 to 104: X has 2 columns, but the first"),
    "names": (
        [*FRAMES, FRAMES[0][["b", "a"]]],
        "chunk 3, row 3: column 0 of X is called 'b', but 'a' in the first chunk",
    ),
    "no names": ([FRAMES[0], ROWS[:1, :2]], "have no names, but those of the first chunk have na"),
    "dense": (
        [sparse.csr_array(ROWS), ROWS],
        "chunk 1, rows 100 to 199: X holds dense rows, but the first chunk sparse rows",
    ),
    "sparse": ([ROWS, sparse.csr_array(ROWS)], "X holds sparse rows, but the first chunk dense"),
    "shape": ([ROWS, ROWS[0]], "chunk 1, rows 100 to 102: Expected 2D array, got 1D"),
    "text": ([ROWS, [["a", "b", "c"]]], "chunk 1, row 100: X holds <U1 values"),
    "tuple": ([ROWS, (ROWS, 1, 2, 3)], "chunk 1, from row 100 on: a chunk is X, .* a tuple of 4"),
    "one thing": ([ROWS, "cat"], "chunk 1, rows 100 to 102: X must be rows of numbers, found str"),
    "none": ([ROWS, None], "chunk 1, from row 100 on: X must be rows of numbers"),
    "y short": (
        [(ROWS, ROWS[:, 0]), (ROWS, ROWS[:99, 0])],
        "chunk 1, rows 100 to 199: Found input variables with inconsistent numbers of samples: X "
        "has 100, y has 99",
    ),
    "y without X": ([(ROWS, ROWS[:, 0]), (ROWS[:0], [1.0])], "chunk 1, from row 100 on: Found X"),
    "y missing": ([(ROWS, ROWS[:, 0]), ROWS], "chunk 1, .*: the chunk has no y, but the first on"),
    "y appears": ([ROWS, (ROWS, ROWS[:, 0])], "chunk 1, .*: the chunk has y, but the first one d"),
    "y nan": (
        [(ROWS, ROWS[:, 0]), (ROWS[:3], [1.0, np.nan, 2.0])],
        "chunk 1, rows 100 to 102: Input y contains NaN or infinity at row 1",
    ),
    "y none": ([(ROWS[:2], ["a", None])], "chunk 0, rows 0 to 1: y mixes text and other labels"),
    "y gap": (
        [(ROWS[:2], pd.Series(["a", None], dtype=object))],
        "chunk 0, rows 0 to 1: the label of item 1 is missing",
    ),
    "y text": ([(ROWS[:2], [1, 2]), (ROWS[:1], ["a"])], "y holds text, but that of the first chu"),
    "y wide": (
        [(ROWS, ROWS), (ROWS, ROWS[:, :2])],
        "chunk 1, .*: y has 2 columns, but that of the first chunk has 3 columns",
    ),
    "target dimensions": (
        [(ROWS[:2], [[1], [2]]), (ROWS[:2], [1, 2])],
        "chunk 1, .*: y has one dimension, but that of the first chunk has 1 column",
    ),
    "target of bytes": (
        [(ROWS[:1], np.array([b"\xff"])), (ROWS[:1], np.array(["a"]))],
        "chunk 1, .*: y holds text, but that of the first chunk bytes",
    ),
    "missing time": (
        [(ROWS[:2], np.array(["2020-01-01", "NaT"], "M8[D]"))],
        "chunk 0, .*: the label of item 1 is missing",
    ),
    "weights": (
        [(ROWS[:2], [1, 2], [1.0, -1.0])],
        "chunk 0, rows 0 to 1: sample_weight must be finite and not negative; item 1 has -1.0",
    ),
    "weights long": ([(ROWS[:2], [1, 2], [1, 1, 1])], r"sample_weight has 3 entries, but ther"),
    "weights appear": (
        [(ROWS, None, None), (ROWS, None, 1.0)],
        "the chunk has weights, but the f",
    ),
}


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_chunk(fault, ahead):
    chunks, message = FAULTS[fault]
    with pytest.raises(DomainError, match=message):
        list(Stream(chunks).read(VECTORS, ahead=ahead))
    with pytest.raises(DomainError, match=message):
        Stream(chunks).survey(VECTORS, ahead=ahead)
    assert not [t for t in threading.enumerate() if t.name == "mercer-prefetch"]


def test_a_nan_in_chunk_700():
    X = np.random.default_rng(1).normal(size=(10_000, 4))
    X[7005, 3] = np.nan
    with pytest.raises(DomainError) as caught:
        Stream.rows(X, size=10).survey(VECTORS)
    assert str(caught.value).startswith(
        "chunk 700, rows 7000 to 7009: Input X contains NaN at row 5, column 3; "
    )


def test_the_class_of_an_error_stays():
    odd = np.array([[object()]])
    with pytest.raises(DomainTypeError, match="chunk 0, row 0: X holds objects that are not"):
        list(Stream([odd]).read(VECTORS))


def test_the_name_of_the_rows_is_the_users():
    with pytest.raises(DomainError, match="chunk 0, row 0: Input images contains infinity"):
        list(Stream([[[np.inf]]], name="images").read(VECTORS))


def test_an_empty_stream():
    for chunks in ([], [np.empty((0, 3))], lambda: iter(())):
        with pytest.raises(DomainError, match="the stream is empty: 0 sample"):
            Stream(chunks).survey(VECTORS)


@pytest.mark.parametrize("ahead", [False, True])
def test_an_error_of_the_iterator_comes_through_with_a_note(ahead):
    def chunks():
        yield ROWS
        yield ROWS
        raise ConnectionError("the server is gone")

    with pytest.raises(ConnectionError, match="the server is gone") as caught:
        list(Stream(chunks).read(VECTORS, ahead=ahead))
    assert "chunk 2, from row 200 on" in caught.value.__notes__[0]


def test_an_error_of_the_function_itself():
    def chunks():
        raise ConnectionError("no server")

    with pytest.raises(ConnectionError) as caught:
        list(Stream(chunks).read(VECTORS))
    assert "chunk 0" in caught.value.__notes__[0]


def test_all_weights_are_zero():
    with pytest.raises(DomainError, match="all sample weights are zero"):
        Stream([(ROWS, None, 0.0), (ROWS, None, 0.0)]).survey(VECTORS)
    survey = Stream([(ROWS, None, 0.0), (ROWS, None, 1.0)]).survey(VECTORS)
    assert survey.weights.sum() == 100


@pytest.mark.parametrize("value", [0, -1, True, 2.5, "two"])
def test_sizes_are_positive(value):
    with pytest.raises(DomainError, match="size must be a whole number from 1 on"):
        Stream.rows(ROWS, size=value)
    with pytest.raises(DomainError, match="sample must be a whole number from 1 on"):
        Stream.rows(ROWS).survey(VECTORS, sample=value)
