"""Errors of held-out rows and their uncertainty."""

import numpy as np
import pytest

from mercer.studies.folds import splits
from mercer.studies.judgment import baseline, pooled


def test_the_error_of_numbers_is_that_of_all_rows_together():
    rng = np.random.default_rng(0)
    truths = [rng.normal(size=n) for n in (10, 11, 12)]
    answers = [truth + rng.normal(size=len(truth)) for truth in truths]
    error, _ = pooled(truths, answers)
    squares = (np.concatenate(truths) - np.concatenate(answers)) ** 2
    assert error == pytest.approx(np.sqrt(squares.mean()), rel=1e-14)


def test_the_standard_error_of_equal_folds_is_the_usual_one():
    truth = np.array(["a"] * 10, dtype=object)
    answers = []
    for wrong in (1, 3, 2, 6):
        answer = truth.copy()
        answer[:wrong] = "b"
        answers.append(answer)
    _, spread = pooled([truth] * 4, answers)
    assert spread == pytest.approx(np.std([0.1, 0.3, 0.2, 0.6], ddof=1) / 2)


def test_the_standard_error_of_the_root_is_about_its_spread_over_repetitions():
    rng = np.random.default_rng(1)
    found, spreads = [], []
    for _ in range(400):
        truths = [np.zeros(40) for _ in range(10)]
        error, spread = pooled(truths, [rng.normal(size=40) for _ in range(10)])
        found.append(error)
        spreads.append(spread)
    assert np.mean(spreads) == pytest.approx(np.std(found), rel=0.1)


def test_perfect_numbers_have_no_error_and_no_uncertainty():
    assert pooled([np.ones(3)], [np.ones(3)]) == (0.0, 0.0)


def test_the_mean_is_that_of_training_rows_only():
    y = np.array([0.0, 0.0, 10.0, 10.0])
    first, second = np.array([0, 1]), np.array([2, 3])
    assert baseline(y, [(first, second), (second, first)]) == 10.0


def test_the_most_frequent_of_balanced_classes_is_wrong_about_half():
    y = np.array(["cat", "dog"] * 15, dtype=object)
    parts = splits(y, 10, np.random.default_rng(0))
    assert baseline(y, parts) == 0.5


def test_folds_that_agree_do_not_make_an_error_certain():
    truths = [np.array(["a", "b"], dtype=object)] * 20
    answers = [np.array(["a", "a"], dtype=object)] * 20
    error, error_se = pooled(truths, answers)
    assert error == 0.5 and error_se == pytest.approx(np.sqrt(0.25 / 39))
    numbers = [np.array([1.0, -2.0])] * 20
    error, error_se = pooled(numbers, [np.zeros(2)] * 20)
    squares = np.tile([1.0, 4.0], 20)
    spread = squares.std(ddof=1) / np.sqrt(40)
    assert error == pytest.approx(np.sqrt(2.5)) and error_se == pytest.approx(spread / 2 / error)


@pytest.mark.parametrize("unit", [1e-180, 1e180])
def test_squares_of_tiny_and_huge_numbers_are_not_lost(unit):
    rng = np.random.default_rng(0)
    truths, answers = rng.normal(size=(2, 5, 8))
    plain = np.array(pooled(truths, answers))
    assert np.array(pooled(unit * truths, unit * answers)) / unit == pytest.approx(plain)
