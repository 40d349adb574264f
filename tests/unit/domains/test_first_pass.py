"""Surveys: what one pass learns about a stream, in memory that does not grow with it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mercer.domains import VECTORS
from mercer.domains.streams import Stream

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(100, 3))


def cut(array, sizes):
    """Return an array in parts of some sizes, the last one as long as it needs to be."""
    return np.split(array, [end for end in np.cumsum(sizes) if end < len(array)])


def test_what_it_knows():
    weights = np.arange(100.0)
    stream = Stream.rows(ROWS, ROWS[:, :2], weights, size=40)
    survey = stream.survey(VECTORS, sample=20)
    assert (survey.count, survey.chunks, survey.largest) == (100, 3, 40)
    assert (survey.width, survey.bytes) == (3, 24)
    np.testing.assert_array_equal(survey.target, ROWS[:, :2])
    np.testing.assert_array_equal(survey.weights, weights)
    np.testing.assert_array_equal(survey.sample.array, ROWS[survey.places])
    assert (np.diff(survey.places) > 0).all()


def test_a_sample_of_everything():
    survey = Stream.rows(ROWS, size=7).survey(VECTORS, sample=1000)
    np.testing.assert_array_equal(survey.sample.array, ROWS)
    np.testing.assert_array_equal(survey.places, np.arange(100))


@pytest.mark.parametrize(
    ("parts", "kind", "values"),
    [
        ([["a", "bb"], ["ccc"]], "U", ["a", "bb", "ccc"]),
        ([pd.Series(["a", "bb"], dtype=object), ["ccc"]], "O", ["a", "bb", "ccc"]),
        ([[1, 2], [True]], "i", [1, 2, 1]),
        ([[1, 2], [0.5]], "f", [1.0, 2.0, 0.5]),
        ([[True, False], [True]], "b", [True, False, True]),
        ([np.float32([1, 2]), np.float32([3])], "f", [1.0, 2.0, 3.0]),
    ],
)
def test_targets_of_all_kinds(parts, kind, values):
    survey = Stream([(ROWS[: len(y)], y) for y in parts]).survey(VECTORS)
    assert survey.target.dtype.kind == kind
    assert survey.target.tolist() == values


def test_the_target_does_not_hold_on_to_the_chunk():
    whole = np.zeros((1000, 3))
    survey = Stream([(whole, whole[:, 0])]).survey(VECTORS)
    assert not np.may_share_memory(survey.target, whole)
    assert survey.target.base is None


def test_every_row_has_the_same_chance():
    hits = np.zeros(100)
    for seed in range(300):
        survey = Stream.rows(ROWS, size=9).survey(VECTORS, sample=10, seed=seed)
        assert len(survey.places) == 10
        hits[survey.places] += 1
    # Rows of one sample exclude each other, so chi-square is a little smaller than for
    # independent draws, by the factor 1 - 10/100.
    statistic = ((hits - 30) ** 2 / 30).sum() / 0.9
    assert 0.001 < stats.chi2.sf(statistic, 99) < 0.999
    halves = hits.reshape(2, 50).sum(axis=1)
    assert abs(halves[0] - halves[1]) < 5 * np.sqrt(3000)


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(1, 120), st.booleans())
def test_chunks_do_not_matter(sizes, sample, ahead):
    y = np.where(ROWS[:, 0] > 0, "up", "down")
    parts = zip(cut(ROWS, sizes), cut(y, sizes), strict=True)
    found = Stream(list(parts)).survey(VECTORS, sample, ahead=ahead)
    whole = Stream([(ROWS, y)]).survey(VECTORS, sample)
    assert found.count == whole.count == 100
    assert found.bytes == whole.bytes
    np.testing.assert_array_equal(found.places, whole.places)
    np.testing.assert_array_equal(found.sample.array, whole.sample.array)
    np.testing.assert_array_equal(found.target, whole.target)


def test_seeds_matter():
    a, b, c = (
        Stream.rows(ROWS).survey(VECTORS, sample=10, seed=seed).places for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_large_labels_are_not_rounded():
    small, large = np.array([2**62 + 1]), np.array([2**63 + 1], np.uint64)
    survey = Stream([(ROWS[:1], small), (ROWS[:1], large)]).survey(VECTORS)
    assert survey.target.tolist() == [2**62 + 1, 2**63 + 1]
