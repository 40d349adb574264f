"""Every kind of plain thing that a machine may hold comes back as it was."""

import datetime
import decimal
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import mercer
from mercer.domains import GRAPHS, MISSING, ZERO, Graph
from mercer.errors import FileError
from mercer.files.codecs import MAX_INLINE_ITEMS as MANY
from mercer.files.codecs import Decoder, Encoder
from mercer.files.store import CODECS


def again(thing):
    """Write a thing and read it, without a disk."""
    encoder = Encoder(CODECS)
    text = json.dumps(encoder.encode(thing, "thing"), allow_nan=False)
    return Decoder(CODECS, Memory(encoder.tensors)).decode(json.loads(text))


class Memory:
    def __init__(self, tensors):
        self.tensors = tensors

    def keys(self):
        return self.tensors.keys()

    def get_tensor(self, name):
        return self.tensors[name].copy()


def size(thing, folder):
    mercer.save(thing, folder / "thing")
    return (folder / "thing").stat().st_size


def same(found, expected):
    """Tell whether two things are equal, with their types, to the last bit."""
    if type(found) is not type(expected):
        return False
    if isinstance(expected, np.ndarray):
        if found.dtype != expected.dtype or found.shape != expected.shape:
            return False
        if expected.dtype == object:
            return all(map(same, found.ravel(), expected.ravel()))
        return found.tobytes() == expected.tobytes()
    if isinstance(expected, np.generic):
        return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()
    if isinstance(expected, float):
        return repr(found) == repr(expected)
    if isinstance(expected, complex):
        return same(found.real, expected.real) and same(found.imag, expected.imag)
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, dict):
        return same(list(found.items()), list(expected.items()))
    return bool(found == expected)


PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    | st.complex_numbers() | st.dates() | st.datetimes() | st.decimals(allow_nan=False)
)  # fmt: skip
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), inner)
    ),
)


@pytest.mark.slow
@settings(max_examples=50)
@given(thing=NESTED)
def test_nested_things(thing):
    assert same(again(thing), thing)


NUMBERS = arrays.arrays(
    st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "c16",
                     "c8", "U3", "M8[ns]", "m8[D]", ">f8", ">i4"]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)  # fmt: skip


@given(array=NUMBERS)
def test_arrays_of_all_types(array):
    found = again(array)
    assert found.dtype == array.dtype.newbyteorder("=")
    assert same(found, array.astype(array.dtype.newbyteorder("=")))
    assert found.flags.writeable


@given(elements=st.frozensets(st.text() | st.integers() | st.tuples(st.text())))
def test_sets(elements):
    assert again(elements) == elements and type(again(elements)) is frozenset
    assert again(set(elements)) == elements and type(again(set(elements))) is set


def test_sets_are_written_alike_in_whatever_order_they_come():
    """The order changes from run to run, with the hashes of texts."""
    rows = [tuple(f"{i} {j}" for j in range(MANY + 1)) for i in range(4)]
    things = [*rows, (1, "x"), frozenset({"a"}), "c", 2.5]
    codec = next(codec for codec in CODECS if codec.tag == "set")
    written = []
    for order in (things, things[::-1]):
        encoder = Encoder(CODECS)
        node = codec.encode(encoder, order, "set")
        written.append((node, {name: data.tobytes() for name, data in encoder.tensors.items()}))
    assert written[0] == written[1]


@given(texts=st.lists(st.text(st.characters(), max_size=5)))
def test_texts_with_any_characters(texts):
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    assert same(again(array), array)
    assert again(texts) == texts


@pytest.mark.parametrize(
    "thing",
    [
        math.inf, -math.inf, math.nan, -0.0, 1e-320, 10**40, slice(1, None, -2), slice("a", "b"),
        np.float64(0.1), np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("é"),
        np.datetime64("2001-02-03", "D"), np.timedelta64(3, "ms"), np.float64("nan"),
        "\ud800 alone", b"\x00\xff", decimal.Decimal("1.10"), datetime.date(2001, 2, 3),
        datetime.datetime(2001, 2, 3, 4, 5, 6, 7, tzinfo=datetime.UTC),
        pd.Timestamp("2001-02-03 04:05:06.000000007"), pd.Timestamp("2001-02-03", tz="UTC"),
        pd.Timedelta("3 days 00:00:00.000000001"), Graph([(0, 1)], labels=["a", "b"]),
        Graph([], nodes=3), Graph([(0, 1), (1, 2)], edge_labels=[1, ("x", 2)],
                                  attributes=[[0.1], [0.2], [0.3]]),
    ],
    ids=repr,
)  # fmt: skip
def test_single_things(thing):
    assert same(again(thing), thing)
    assert same(again([thing, (thing,)]), [thing, (thing,)])


def test_things_of_which_there_is_one():
    for thing in (ZERO, MISSING, pd.NA, pd.NaT):
        assert again([thing])[0] is thing


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_in_memory_is_kept(order):
    array = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    found = again(array)
    assert same(found, array)
    assert found.flags.c_contiguous == (order == "C")


def test_views_and_files_in_memory_are_plain_arrays(tmp_path):
    array = np.arange(24.0).reshape(4, 6)
    assert same(again(array[::2, 1::2]), array[::2, 1::2].copy())
    assert same(again(np.broadcast_to(array[0], (3, 6))), np.broadcast_to(array[0], (3, 6)).copy())
    mapped = np.memmap(tmp_path / "m", float, "w+", shape=(2, 3))
    mapped[:] = 1.5
    assert same(again(mapped), np.full((2, 3), 1.5))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mostly_empty_arrays_are_small_and_exact(tmp_path, dtype):
    array = np.zeros((1000, 10), dtype)
    array[::50, 3] = np.random.default_rng(0).normal(size=20)
    array[7, 7], array[8, 8] = -0.0, np.nan
    assert same(again(array), array)
    assert size(array, tmp_path) < array.nbytes / 10


def test_equal_arrays_are_kept_once_and_come_back_apart(tmp_path):
    array = np.random.default_rng(0).normal(size=(100, 10))
    several = [array, array.copy(), array.reshape(10, 100), array.T]
    assert size(several, tmp_path) < 3 * array.nbytes
    found = mercer.load(tmp_path / "thing")
    assert same(found[:3], [array, array, array.reshape(10, 100)])
    assert same(found[3], array.T)
    found[0][:] = 0
    assert found[1].any()


def test_zeros_of_both_signs_are_different_arrays():
    plus, minus = np.zeros(3), -np.zeros(3)
    assert same(again([plus, minus]), [plus, minus])


@pytest.mark.parametrize(
    ("make", "indices"),
    [(sparse.csr_array, np.int32), (sparse.csr_array, np.int64), (sparse.csc_array, np.int64),
     (sparse.csr_matrix, np.int32)],
)  # fmt: skip
def test_sparse_matrices(make, indices):
    matrix = make(sparse.random_array((9, 7), density=0.3, rng=0))
    matrix.indices, matrix.indptr = matrix.indices.astype(indices), matrix.indptr.astype(indices)
    found = again(matrix)
    assert type(found) is type(matrix) and found.shape == matrix.shape
    for part in ("data", "indices", "indptr"):
        assert same(getattr(found, part), getattr(matrix, part))


def test_objects_of_all_sorts():
    things = np.empty((2, 2), dtype=object)
    things[0, 0], things[0, 1] = [1, "a"], np.arange(3)
    things[1, 0], things[1, 1] = {"x": (None,)}, frozenset({"b", "a"})
    assert same(again(things), things)


def test_long_rows_leave_the_header():
    encoder = Encoder(CODECS)
    node = encoder.encode(tuple(range(MANY + 1)), "numbers")
    assert list(node["tuple"]) == ["json"] and list(encoder.tensors) == ["numbers[]"]
    assert encoder.encode(tuple(range(MANY)), "few") == {"tuple": list(range(MANY))}


def test_many_small_arrays_and_graphs_stay_together(tmp_path):
    rng = np.random.default_rng(0)
    many = np.empty(2 * MANY, dtype=object)
    for i in range(len(many)):
        many[i] = rng.normal(size=(i % 5, 2)) if i % 2 else Graph([(0, 1)], labels=["a", "b"])
    many[0] = rng.normal(size=(100, 100))
    encoder = Encoder(CODECS)
    encoder.encode(many, "many")
    assert len(encoder.tensors) == 2
    assert same(again(many), many)


def test_a_selection_of_graphs_is_kept_alone(tmp_path):
    points = GRAPHS.admit([[(0, 1), (1, 2)]] * 500)
    found = again(points[3:5])
    assert len(found) == 2 and len(found.net.neighbors) == 8
    assert list(found.items()) == list(points[3:5].items())


@pytest.mark.parametrize("random", [np.random.RandomState(3), np.random.default_rng(3),
                                    np.random.Generator(np.random.MT19937(1)),
                                    np.random.Generator(np.random.Philox(1))],
                         ids=["state", "PCG64", "MT19937", "Philox"])  # fmt: skip
def test_random_states_go_on_where_they_were(random):
    random.normal(size=3)
    found = again(random)
    assert found.normal(size=5).tolist() == random.normal(size=5).tolist()


COLUMNS = {
    "floats": pd.Series([1.5, np.nan, -0.0]),
    "small": pd.Series([1, 2, 3], dtype="int8"),
    "truth": pd.Series([True, False, True]),
    "text": pd.Series(["a", None, "é"], dtype="str"),
    "string": pd.Series(["a", None, "c"], dtype="string"),
    "object": pd.Series([1, "x", None], dtype=object),
    "things": pd.Series([[1.0, 2.0], np.arange(2), ("a",)], dtype=object),
    "gaps": pd.Series([1, None, 3], dtype="Int64"),
    "unsure": pd.Series([True, None, False], dtype="boolean"),
    "category": pd.Series(["x", None, "y"], dtype="category"),
    "ordered": pd.Series(pd.Categorical([3, 1, 2], categories=[3, 2, 1], ordered=True)),
    "day": pd.Series(pd.to_datetime(["2001-02-03", None, "1999-01-01"])),
    "zoned": pd.Series(pd.to_datetime(["2001-02-03", None, "1999-07-01"])).dt.tz_localize(
        "Europe/Berlin"
    ),
    "span": pd.Series(pd.to_timedelta([1, 2, None], unit="s")),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_tables(name):
    frame = pd.DataFrame({name: COLUMNS[name], "other": [1.0, 2.0, 3.0]})
    found = again(frame)
    pd.testing.assert_series_equal(found["other"], frame["other"])
    if name == "things":
        assert same(found[name].to_list(), frame[name].to_list())
    else:
        pd.testing.assert_series_equal(found[name], frame[name])


def test_tables_with_other_names_and_rows():
    frame = pd.DataFrame({3: [1.0, 2.0], "b": ["x", "y"], ("c", 1): [0, 1]}, index=["r", "s"])
    found = again(frame)
    assert list(found.columns) == [3, "b", ("c", 1)]
    assert found.to_numpy().tolist() == frame.to_numpy().tolist()
    assert found.index.tolist() == [0, 1]  # the names of rows are nothing to a kernel


@pytest.mark.parametrize(
    "column",
    [pd.Series(pd.period_range("2001", periods=2, freq="Y")),
     pd.Series(pd.arrays.SparseArray([0.0, 1.0])), pd.Series(pd.interval_range(0, 2))],
    ids=lambda column: str(column.dtype),
)  # fmt: skip
def test_a_column_that_cannot_be_kept_is_named(column):
    with pytest.raises(FileError, match=r"\['when'\] is a column of type"):
        again(pd.DataFrame({"when": column}))
