"""Rows dealt into folds, and the error of held-out rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.studies.folds import (
    MIN_IN_CLASS,
    MIN_IN_INNER_CLASS,
    baseline_error,
    deal,
    pooled_error,
    portion,
    rare,
    splits,
    standard_error,
)


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
    y = np.array(["a"] * 20 + ["b"] * MIN_IN_CLASS, dtype=object)
    for train, _ in splits(y, 10, np.random.default_rng(3)):
        assert (y[train] == "b").sum() >= MIN_IN_CLASS - 1


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
    for train, test in splits(y, 3, np.random.default_rng(0), MIN_IN_INNER_CLASS):
        assert set(y[train]) == {"a", "b"}
        assert not set(train) & set(test)


def test_the_error_of_numbers_is_that_of_all_rows_together():
    rng = np.random.default_rng(0)
    truths = [rng.normal(size=n) for n in (10, 11, 12)]
    answers = [truth + rng.normal(size=len(truth)) for truth in truths]
    error, _ = pooled_error(truths, answers)
    squares = (np.concatenate(truths) - np.concatenate(answers)) ** 2
    assert error == pytest.approx(np.sqrt(squares.mean()), rel=1e-14)


def test_the_standard_error_of_equal_folds_is_the_usual_one():
    truth = np.array(["a"] * 10, dtype=object)
    answers = []
    for wrong in (1, 3, 2, 6):
        answer = truth.copy()
        answer[:wrong] = "b"
        answers.append(answer)
    _, spread = pooled_error([truth] * 4, answers)
    assert spread == pytest.approx(np.std([0.1, 0.3, 0.2, 0.6], ddof=1) / 2)


def test_the_standard_error_of_the_root_is_about_its_spread_over_repetitions():
    rng = np.random.default_rng(1)
    found, spreads = [], []
    for _ in range(400):
        truths = [np.zeros(40) for _ in range(10)]
        error, spread = pooled_error(truths, [rng.normal(size=40) for _ in range(10)])
        found.append(error)
        spreads.append(spread)
    assert np.mean(spreads) == pytest.approx(np.std(found), rel=0.1)


def test_perfect_numbers_have_no_error_and_no_uncertainty():
    assert pooled_error([np.ones(3)], [np.ones(3)]) == (0.0, 0.0)


def test_the_mean_is_that_of_training_rows_only():
    y = np.array([0.0, 0.0, 10.0, 10.0])
    first, second = np.array([0, 1]), np.array([2, 3])
    assert baseline_error(y, [(first, second), (second, first)]) == 10.0


def test_the_most_frequent_of_balanced_classes_is_wrong_about_half():
    y = np.array(["cat", "dog"] * 15, dtype=object)
    parts = splits(y, 10, np.random.default_rng(0))
    assert baseline_error(y, parts) == 0.5


def test_folds_that_agree_do_not_make_an_error_certain():
    truths = [np.array(["a", "b"], dtype=object)] * 20
    answers = [np.array(["a", "a"], dtype=object)] * 20
    error, error_se = pooled_error(truths, answers)
    assert error == 0.5 and error_se == pytest.approx(np.sqrt(0.25 / 39))
    numbers = [np.array([1.0, -2.0])] * 20
    error, error_se = pooled_error(numbers, [np.zeros(2)] * 20)
    squares = np.tile([1.0, 4.0], 20)
    spread = squares.std(ddof=1) / np.sqrt(40)
    assert error == pytest.approx(np.sqrt(2.5)) and error_se == pytest.approx(spread / 2 / error)


@pytest.mark.parametrize("unit", [1e-180, 1e180])
def test_squares_of_tiny_and_huge_numbers_are_not_lost(unit):
    rng = np.random.default_rng(0)
    truths, answers = rng.normal(size=(2, 5, 8))
    plain = np.array(pooled_error(truths, answers))
    assert np.array(pooled_error(unit * truths, unit * answers)) / unit == pytest.approx(plain)


def test_a_few_rows_with_most_of_the_loss_make_the_standard_error_larger():
    rng = np.random.default_rng(0)
    even, heavy = rng.uniform(size=300), rng.standard_t(3, size=300) ** 2
    plain = [float(x.std(ddof=1) / np.sqrt(len(x))) for x in (even, heavy)]
    told = [standard_error(x, np.ones(300)) for x in (even, heavy)]
    assert told[0] == pytest.approx(plain[0], rel=1e-12)
    assert told[1] > 1.1 * plain[1]


def test_stated_errors_of_heavy_tails_are_as_uncertain_as_they_say():
    rng = np.random.default_rng(1)
    losses = rng.lognormal(0.0, 1.5, size=(2000, 200))  # of 2000 tables with 200 rows
    truth = float(np.exp(1.5**2 / 2))
    plain = losses.std(axis=1, ddof=1) / np.sqrt(200)
    told = np.array([standard_error(one, np.ones(200)) for one in losses])
    off = np.abs(losses.mean(axis=1) - truth)
    assert np.mean(off <= 2 * told) > np.mean(off <= 2 * plain) + 0.02
