"""Streams: every fault has a name and a place, every pass the same rows, memory a bound."""

import pickle
import threading
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.domains import CATEGORIES, COLUMNS, GRAPHS, STRINGS, VECTORS
from mercer.domains.streams import InMemory, Stream, Streamed
from mercer.errors import DomainError
from mercer.kernels import Gaussian

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(100, 3))


def cut(array, sizes):
    """Return an array in parts of some sizes, the last one as long as it needs to be."""
    return np.split(array, [end for end in np.cumsum(sizes) if end < len(array)])


def rows_of(stream, domain=VECTORS, **how):
    return np.concatenate([chunk.points.array for chunk in stream.read(domain, **how)])


def test_a_function_a_list_and_an_iterable_are_streams():
    class Again:
        def __iter__(self):
            return iter(cut(ROWS, [40, 40]))

    def function():
        yield from cut(ROWS, [40, 40])

    for chunks in (function, lambda: cut(ROWS, [40]), cut(ROWS, [7]), Again(), Again):
        stream = Stream(chunks)
        for _ in range(2):
            np.testing.assert_array_equal(rows_of(stream), ROWS)


@pytest.mark.parametrize("once", [iter([ROWS]), (x for x in [ROWS]), map(abs, [ROWS])])
def test_what_can_be_read_only_once_is_refused(once):
    with pytest.raises(DomainError, match="pass the function that makes it"):
        Stream(once)


@pytest.mark.parametrize("rows", [ROWS, sparse.csr_array(ROWS), pd.DataFrame(ROWS)])
def test_rows_are_no_chunks(rows):
    with pytest.raises(DomainError, match=r"one set of rows; use Stream.rows\(array\)"):
        Stream(rows)


@pytest.mark.parametrize("other", ["text", {}, 3, None])
def test_other_things_are_refused(other):
    with pytest.raises(DomainError, match="Stream takes a function"):
        Stream(other)


def test_a_function_that_returns_no_iterator():
    with pytest.raises(DomainError, match="must return an iterator over chunks, but it ret"):
        list(Stream(lambda: 3).read(VECTORS))


def test_where_a_chunk_is():
    chunks = list(Stream(cut(ROWS, [30, 50])).read(VECTORS))
    assert [c.number for c in chunks] == [0, 1, 2]
    assert [c.place for c in chunks] == [slice(0, 30), slice(30, 80), slice(80, 100)]
    assert chunks[1].title == "chunk 1, rows 30 to 79"


def test_target_and_weights_come_along():
    (chunk,) = Stream([(ROWS, list(range(100)), np.ones(100))]).read(VECTORS)
    assert chunk.target.tolist() == list(range(100))
    assert chunk.weights.dtype == np.float64
    (chunk,) = Stream([(ROWS, None, 2)]).read(VECTORS)
    assert chunk.target is None
    assert chunk.weights.tolist() == [2.0] * 100


def test_a_chunk_without_rows_is_skipped_and_counted():
    empty = (np.empty((0, 3)), [])
    stream = Stream([empty, (ROWS[:4], [1] * 4), ([], None), (ROWS[4:6], [1] * 2)])
    assert [(c.number, c.start) for c in stream.read(VECTORS)] == [(1, 0), (3, 4)]


@pytest.mark.parametrize(
    ("domain", "chunks"),
    [
        (STRINGS, [["cat", "hat"], ["dog"]]),
        (CATEGORIES, [["a", "b"], ["b"]]),
        (COLUMNS, [pd.DataFrame({"a": [1, 2], "b": "x"}), pd.DataFrame({"a": [3], "b": "y"})]),
        (VECTORS, [sparse.csr_array(np.eye(2)), sparse.csr_array(np.eye(2)[:1])]),
        (GRAPHS, [[1 - np.eye(2)] * 2, [1 - np.eye(3)]]),
    ],
)
def test_everything_that_a_kernel_compares(domain, chunks):
    survey = Stream(chunks).survey(domain, sample=2)
    assert survey.count == 3
    assert len(survey.sample) == 2
    assert type(survey.sample) is type(domain.admit(chunks[0]))
    rows = Streamed(Stream(chunks), domain, survey)
    assert [len(part) for _, part in rows.pieces()] == [2, 1]


def test_a_kernel_admits_as_a_domain_does():
    assert len(next(Stream([ROWS]).read(Gaussian(1.0)))) == 100


def test_streams_of_arrays_can_be_pickled():
    again = pickle.loads(pickle.dumps(Stream.rows(ROWS, size=30)))
    np.testing.assert_array_equal(rows_of(again), ROWS)


def test_what_it_looks_like():
    assert repr(Stream.rows(ROWS, size=30)) == "Stream.rows(ndarray of 100 rows, size=30)"
    assert repr(Stream([ROWS])) == "Stream(list)"


def later(first, second, domain=VECTORS, sample=10):
    """Return what a second pass says, if it differs from the first one."""
    passes = iter([first, second])
    stream = Stream(lambda: iter(next(passes)))
    rows = Streamed(stream, domain, stream.survey(domain, sample=sample))
    with pytest.raises(DomainError) as caught:
        list(rows.pieces())
    return str(caught.value)


def test_the_same_rows_again_and_again():
    stream = Stream.rows(ROWS, ROWS[:, 0] > 0, size=7)
    rows = Streamed(stream, VECTORS, stream.survey(VECTORS))
    assert rows.count == 100
    for _ in range(3):
        found = np.empty_like(ROWS)
        for place, points in rows.pieces():
            found[place] = points.array
        np.testing.assert_array_equal(found, ROWS)


def test_fewer_rows():
    message = later([ROWS, ROWS], [ROWS, ROWS[:99]])
    assert message.startswith("chunk 2, from row 199 on: the stream ended after 199 rows, but")


def test_no_rows_because_the_iterator_is_the_old_one():
    generator = iter([ROWS])
    stream = Stream(lambda: generator)
    rows = Streamed(stream, VECTORS, stream.survey(VECTORS))
    with pytest.raises(DomainError, match=r"after 0 rows.* make a new iterator at each call"):
        list(rows.pieces())


def test_more_rows():
    message = later([ROWS], [ROWS, ROWS])
    assert message.startswith("chunk 1, rows 100 to 199: the first pass ended after 100 rows")


def test_another_width():
    assert "X has 2 columns, but the first chunk has 3" in later([ROWS], [ROWS[:, :2]])


def test_another_target():
    message = later([(ROWS, ROWS[:, 0])], [(ROWS, -ROWS[:, 0])])
    assert message.startswith("chunk 0, rows 0 to 99: y at row 0 is not what it was in the fi")


def test_shuffled_labels():
    labels = np.array(["a", "b"])[RNG.integers(0, 2, 100)]
    message = later([(ROWS, labels)], [(ROWS, labels[::-1])])
    assert "nothing may be shuffled" in message


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_shuffled_rows(form):
    message = later([form(ROWS[:50]), form(ROWS[50:])], [form(ROWS[:50])] * 2)
    assert message.startswith("chunk 1, rows 50 to 99: some of the rows")


def test_shuffled_strings():
    first = [["cat", "hat"], ["dog"]]
    assert "some of the rows 0 to 0" in later(first, [first[0], ["cow"]], STRINGS)


def test_rows_in_memory():
    points = VECTORS.admit(ROWS)
    rows = InMemory(points, 30)
    assert rows.count == 100
    parts = list(rows.pieces())
    assert [(place.start, place.stop) for place, _ in parts][-1] == (90, 100)
    np.testing.assert_array_equal(np.concatenate([p.array for _, p in parts]), ROWS)


def test_whoever_stops_early_leaves_no_thread():
    stream = Stream.rows(ROWS, size=10)
    rows = Streamed(stream, VECTORS, stream.survey(VECTORS))
    for place, _ in rows.pieces():
        if place.start == 30:
            break
    assert not [t for t in threading.enumerate() if t.name == "mercer-prefetch"]


def test_an_array_that_is_filled_again_and_again():
    buffer = np.empty((10, 3))

    def chunks():
        for part in np.split(ROWS, 10):
            buffer[...] = part
            yield buffer

    stream = Stream(chunks)
    rows = Streamed(stream, VECTORS, stream.survey(VECTORS))
    found = np.empty_like(ROWS)
    for place, points in rows.pieces():
        for _ in range(3):
            found[place] = points.array
    np.testing.assert_array_equal(found, ROWS)


def test_an_iterator_that_must_stay_in_its_thread():
    where = set()

    def chunks():
        where.add(threading.current_thread())
        yield ROWS

    list(Stream(chunks, ahead=False).read(VECTORS, ahead=True))
    assert where == {threading.current_thread()}
    list(Stream(chunks).read(VECTORS, ahead=True))
    assert len(where) == 2


def test_of_anything():
    frame = pd.DataFrame({"a": range(5), "b": list("abcde")}, index=range(10, 15))
    parts = [c.points.frame for c in Stream.rows(frame, size=2).read(COLUMNS)]
    pd.testing.assert_frame_equal(pd.concat(parts), frame)
    words = Stream.rows(["cat", "hat", "dog"], y=pd.Series([1, 2, 3]), size=2)
    assert words.survey(STRINGS).target.tolist() == [1, 2, 3]
    spare = Stream.rows(sparse.csr_array(np.eye(5)), weights=2.0, size=2)
    assert spare.survey(VECTORS).weights.tolist() == [2.0] * 5


def test_lengths_are_compared_at_once():
    with pytest.raises(DomainError, match="X has 100, y has 99"):
        Stream.rows(ROWS, ROWS[:99, 0])
    with pytest.raises(DomainError, match="X has 100, sample_weight has 2"):
        Stream.rows(ROWS, weights=[1, 2])


def test_a_stream_is_no_array():
    with pytest.raises(DomainError, match="this is a stream already"):
        Stream.rows(Stream([ROWS]))
    with pytest.raises(DomainError, match="takes rows, found int"):
        Stream.rows(3)


def test_a_tensor_that_is_filled_again_and_again():
    torch = pytest.importorskip("torch")
    buffer = torch.zeros(3, 2)

    def chunks():
        for number in range(4):
            buffer[:] = number
            yield buffer

    means = []
    for chunk in Stream(chunks).read(VECTORS, ahead=True):
        time.sleep(0.02)  # the next one is filled meanwhile
        means.append(float(chunk.points.array.mean()))
    assert means == [0, 1, 2, 3]


@pytest.mark.parametrize("form", ["coo", "csc", "dia", "lil", "dok", "bsr"])
def test_sparse_rows_of_any_form(form):
    X = sparse.random_array((9, 4), density=0.5, rng=0).asformat(form)
    parts = [chunk.points.array.toarray() for chunk in Stream.rows(X, size=2).read(VECTORS)]
    np.testing.assert_array_equal(np.vstack(parts), X.toarray())


def test_one_number_is_no_rows():
    with pytest.raises(DomainError, match="takes rows, found ndarray"):
        Stream.rows(np.array(3.0))
