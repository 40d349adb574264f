"""Series: what is one, in which containers they come, and what is wrong with the others."""

import pickle

import numpy as np
import pandas as pd
import pytest

from mercer.domains import SERIES, Objects, Series, Table
from mercer.errors import DomainError

ONE = [[1.0, 2.0, 3.0], [4.0], [5.0, 6.0]]


def object_array(things):
    array = np.empty(len(things), dtype=object)
    for i, thing in enumerate(things):
        array[i] = thing
    return array


@pytest.mark.parametrize(
    "container",
    [
        ONE,
        tuple(map(tuple, ONE)),
        [np.array(x) for x in ONE],
        [np.array(x)[:, None] for x in ONE],
        [np.array(x, dtype=np.float32) for x in ONE],
        [pd.Series(x, index=range(5, 5 + len(x))) for x in ONE],
        [[1, 2, 3], [4], [5, 6]],
        pd.Series(ONE, index=[7, 8, 9]),
        object_array(ONE),
        object_array(ONE)[:, None],
        pd.DataFrame({"course": ONE}),
        Table(pd.DataFrame({"course": ONE, "name": list("abc")})).select(("course",)),
        Table(np.column_stack([object_array(ONE), list("abc")])).select((0,)),
        Objects(ONE),
        (x for x in ONE),
    ],
    ids=lambda c: type(c).__name__,
)
def test_series_come_in_many_containers(container):
    series = SERIES.admit(container)
    assert [x.ravel().tolist() for x in series.items()] == ONE
    assert series.channels == 1 and series.lengths.tolist() == [3, 1, 2]


def test_rows_of_numbers_are_series_of_equal_length():
    X = np.arange(6.0).reshape(2, 3)
    for rows in (X, pd.DataFrame(X), X.tolist(), Table(X)):
        assert [x.ravel().tolist() for x in SERIES.admit(rows).items()] == X.tolist()
    steps = np.arange(12.0).reshape(2, 3, 2)
    assert SERIES.admit(steps).channels == 2
    np.testing.assert_array_equal(next(SERIES.admit(steps).items()), steps[0])


def test_a_frame_of_steps_is_a_series_of_several_channels():
    walk = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    np.testing.assert_array_equal(next(SERIES.admit([walk]).items()), walk.to_numpy())


def test_admitted_series_are_not_read_again():
    series = SERIES.admit(ONE)
    assert SERIES.admit(series) is series


@pytest.mark.parametrize("rows", [slice(1, 3), slice(None), slice(0, 0), slice(None, None, -2)])
def test_slices(rows):
    part = SERIES.admit(ONE)[rows]
    assert [x.ravel().tolist() for x in part.items()] == ONE[rows]
    assert part.starts[0] == 0 and part.starts[-1] == len(part.steps)


def test_rows_by_number_mask_and_concatenation():
    series = SERIES.admit(ONE)
    for rows in (np.array([2, 0, 2]), np.array([True, False, True])):
        expected = [ONE[i] for i in np.arange(3)[rows]]
        assert [x.ravel().tolist() for x in series[rows].items()] == expected
    both = series[1:].concat(series[:1])
    assert [x.ravel().tolist() for x in both.items()] == [ONE[1], ONE[2], ONE[0]]
    again = pickle.loads(pickle.dumps(both))
    assert isinstance(again, Series) and again.bytes == 8 * 6


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([1.0, np.nan, 2.0], r"item 1 of X contains NaN at step 1; fill it in, or cut"),
        ([1.0, None], r"item 1 of X contains NaN at step 1"),
        ([1.0, -np.inf], r"item 1 of X contains infinity at step 1"),
        (np.ma.masked_equal([1.0, 2.0, 7.0], 7.0), r"item 1 of X contains NaN at step 2"),
        ([], r"item 1 of X has no steps"),
        (np.zeros((2, 0)), r"item 1 of X has no channels"),
        (np.zeros((0, 1)), r"item 1 of X has no steps"),
        (3.0, r"item 1 of X has 0 dimensions; a series is a sequence of numbers"),
        (np.zeros((2, 2, 2)), r"item 1 of X has 3 dimensions"),
        (np.zeros((2, 2)), r"item 1 of X has 2 channels, but item 0 has 1 channel"),
        ([[1.0, 2.0], [3.0]], r"item 1 of X has steps with different numbers of channels"),
        ("cat", r"item 1 of X is of type str, not a series of numbers"),
        (None, r"item 1 of X is None, not a series"),
        ({"a": 1}, r"item 1 of X is of type dict"),
        (["1.0", "2.0"], r"item 1 of X holds <U3 values, not numbers"),
        ([1.0, "two"], r"item 1 of X holds <U32 values, not numbers"),
        (np.array([1.0, "two"], dtype=object), r"item 1 of X is not a series.*holds text"),
        ([1.0 + 1j], r"item 1 of X holds complex128 values, not numbers"),
        (pd.date_range("2024-01-01", periods=2), r"item 1 of X holds datetime64"),
        ([pd.NA], r"item 1 of X is not a series of numbers"),
    ],
)
def test_what_is_wrong_with_a_series_is_said_with_its_number(bad, words):
    with pytest.raises(DomainError, match=words):
        SERIES.admit([[1.0, 2.0], bad, [3.0]])


def test_the_channel_of_a_nan_is_named_where_there_are_several():
    with pytest.raises(DomainError, match=r"item 0 of Y contains NaN at step 1, channel 2; fill"):
        SERIES.admit([[[1.0, 2.0, 3.0], [1.0, 2.0, np.nan]]], "Y")


@pytest.mark.parametrize("X", ["word", 3.0, None])
def test_what_is_no_container_is_refused(X):
    with pytest.raises(DomainError, match=r"X must be a sequence of things"):
        SERIES.admit(X)


def test_no_series_are_refused():
    with pytest.raises(DomainError, match=r"0 sample\(s\)"):
        SERIES.admit([])
