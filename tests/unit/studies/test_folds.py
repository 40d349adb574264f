"""Rows dealt into folds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.studies.folds import PAIR, RARE, deal, portion, rare, splits


@given(st.lists(st.integers(0, 4), min_size=12, max_size=60), st.integers(2, 6), st.integers(0, 9))
def test_every_class_is_spread_evenly(labels, folds, seed):
    y = np.array([f"class {label}" for label in labels], dtype=object)
    fold = deal(y, folds, np.random.default_rng(seed))
    for label in set(y):
        counts = np.bincount(fold[y == label], minlength=folds)
        assert counts.max() - counts.min() <= 1
    counts = np.bincount(fold, minlength=folds)
    assert counts.max() - counts.min() <= 1


@given(st.lists(st.integers(0, 6), min_size=10, max_size=60), st.integers(2, 6))
def test_splits_hold_out_every_row_once_and_never_learn_from_rare_classes(labels, folds):
    y = np.array([str(label) for label in labels], dtype=object)
    few = rare(y)
    if not (~few).any():
        return
    parts = splits(y, folds, np.random.default_rng(0))
    held = np.concatenate([test for _, test in parts])
    assert sorted(held) == list(range(len(y)))
    for train, test in parts:
        assert not few[train].any()
        assert not set(train) & set(test)
        assert set(train) == set(np.flatnonzero(~few)) - set(test)


def test_a_class_of_three_is_in_every_training_part():
    y = np.array(["a"] * 20 + ["b"] * RARE, dtype=object)
    for train, _ in splits(y, 10, np.random.default_rng(3)):
        assert (y[train] == "b").sum() >= RARE - 1


def test_numbers_are_never_rare_and_are_dealt_too():
    y = np.arange(10.0)
    assert not rare(y).any()
    assert [len(test) for _, test in splits(y, 5, np.random.default_rng(0))] == [2] * 5


def test_fewer_rows_than_folds_make_fewer_folds():
    assert len(splits(np.arange(4.0), 10, np.random.default_rng(0))) == 4


@pytest.mark.parametrize("count", [7, 40, 99, 100, 500])
def test_a_portion_keeps_the_shares_of_classes(count):
    y = np.array(["a"] * 80 + ["b"] * 18 + ["c"] * 2, dtype=object)
    some = portion(y, count, np.random.default_rng(1))
    assert len(set(some)) == len(some)
    assert (y[some] == "c").sum() == 2
    assert abs((y[some] == "a").sum() - 0.8 * min(count, 100)) <= 1


def test_a_portion_of_numbers_has_the_size_that_was_asked_for():
    some = portion(np.arange(50.0), 20, np.random.default_rng(1))
    assert len(some) == 20 and (np.diff(some) > 0).all()


def test_inner_folds_learn_from_classes_of_two():
    y = np.array(["a"] * 12 + ["b", "b", "c"], dtype=object)
    for train, test in splits(y, 3, np.random.default_rng(0), PAIR):
        assert set(y[train]) == {"a", "b"}
        assert not set(train) & set(test)
