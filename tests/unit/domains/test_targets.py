"""Targets, labels and weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from mercer.domains import admit_labels, admit_target, admit_weights
from mercer.errors import DomainError


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        np.array([1, 2, 3], np.int8),
        np.array([1, 2, 3], dtype=object),
        pd.Series([1, 2, 3], index=[5, 6, 7]),
    ],
)
def test_targets_become_doubles(y):
    found = admit_target(y, 3)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.0, 2.0, 3.0])


def test_several_targets_keep_their_shape():
    assert admit_target(np.ones((3, 2)), 3).shape == (3, 2)
    assert admit_target(np.ones((3, 1)), 3).shape == (3, 1)
    assert admit_target(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), 2).shape == (2, 2)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.0, np.nan], r"y contains NaN or infinity at row 1"),
        ([[1.0, 1.0], [1.0, np.inf]], r"y contains NaN or infinity at row 1"),
        ([1.0], r"X has 2, y has 1"),
        ([1j, 2.0], r"Complex data not supported: y"),
        (["a", "b"], r"y must hold numbers .*for labels use a classifier"),
        ([{}, {}], r"y must hold numbers"),
        (None, r"y is None"),
        (3.0, r"y should be a 1d array"),
        (np.ones((2, 2, 2)), r"y should be a 1d array"),
    ],
)
def test_bad_targets(y, words):
    with pytest.raises(DomainError, match=words):
        admit_target(y, 2)


@pytest.mark.parametrize(
    "y",
    [
        ["no", "yes", "no"],
        [3, 1, 3],
        [2.0, -1.0, 2.0],
        [True, False, True],
        pd.Series(["no", "yes", "no"], dtype="category"),
        np.array(["no", "yes", "no"], dtype=object),
    ],
)
def test_labels_are_encoded_so_that_they_come_back(y):
    codes, classes = admit_labels(y, 3)
    np.testing.assert_array_equal(classes[codes], np.asarray(y))
    assert list(classes) == sorted(set(y))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0.5, 1.5], r"Unknown label type: continuous"),
        ([1.0, np.nan], r"NaN or infinity at row 1"),
        (["a", "a"], r"only 1 class"),
        (["a", 1], r"y mixes text and other labels"),
        (np.array(["a", None], dtype=object), r"label of item 1 is missing"),
        ([[1, 0], [0, 1]], r"one label per item, found an array of shape \(2, 2\)"),
        ([1j, 0], r"Complex data not supported"),
        (["a"], r"X has 2, y has 1"),
    ],
)
def test_bad_labels(y, words):
    with pytest.raises(DomainError, match=words):
        admit_labels(y, 2)


def test_a_column_of_labels_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning, match=r"flattened"):
        codes, _ = admit_labels(np.array([["a"], ["b"]]), 2)
    assert codes.tolist() == [0, 1]


def test_weights_are_doubles_or_nothing():
    assert admit_weights(None, 3) is None
    np.testing.assert_array_equal(admit_weights([1, 2, 0], 3), [1.0, 2.0, 0.0])
    np.testing.assert_array_equal(admit_weights(2, 3), [2.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0], r"sample_weight has 1 entries, but there are 2 items"),
        ([1.0, -0.5], r"item 1 has -0.5"),
        ([np.nan, 1.0], r"item 0 has nan"),
        ([0.0, 0.0], r"all sample weights are zero"),
        (-1.0, r"item 0 has -1.0"),
        ([[1.0], [1.0]], r"1D array or scalar, found 2D"),
        (["a", "b"], r"sample_weight.*number"),
        ([1j, 1.0], r"[Cc]omplex"),
    ],
)
def test_bad_weights(weights, words):
    with pytest.raises(DomainError, match=words):
        admit_weights(weights, 2)
