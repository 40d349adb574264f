"""Which machines are tried, and who wins."""

import time

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError, SelectionError
from mercer.kernels import Spectrum
from mercer.sources import Column
from mercer.studies.candidates import families
from mercer.studies.folds import splits
from mercer.studies.nested_cv import (
    InnerSelection,
    _verdict,
    learning_curve,
    try_families,
    work_clock,
)

TRIED, LEFT = families("classify", None, 2)


class Clock:
    """A clock that goes on by a step whenever somebody looks."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def folds(count=40, kernel=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=count) > 0, "a", "b").astype(object)
    procedure = InnerSelection((), True, kernel, 3, 1000, seed)
    everything = np.arange(count)
    parts = splits(y, 3, rng)
    return [procedure.split(X, y, *split) for split in [*parts, (everything, everything[:0])]]


def ignore(*_):
    """Take a step that nobody watches."""


def test_with_enough_time_all_are_tried_on_all_folds():
    some = folds()
    tried = try_families(some, TRIED, 1e9, ignore)
    assert [note for _, note in tried] == [""] * 4
    for fold in some:
        assert set(fold.choices) == {"prototype", "exemplar", "ridge", "svm"}
        lowest = min(choice.error for choice in fold.choices.values())
        assert fold.winner.error == lowest
        first = next(name for name, choice in fold.choices.items() if choice.error == lowest)
        assert fold.winner.family.name == first


def test_without_time_only_the_first_is_tried():
    some = folds()
    tried = try_families(some, TRIED, 2.0, ignore, Clock(1.5))
    assert tried[0][1] == ""
    assert all("time" in note for _, note in tried[1:])
    assert all(set(fold.choices) == {"prototype"} for fold in some)


def test_one_that_would_take_too_long_is_left_out_after_its_first_fold():
    some = folds()
    looks = iter([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 90.0])  # the second machine is slow
    tried = try_families(some, TRIED[:2], 100.0, ignore, lambda: next(looks))
    assert "longer" in tried[1][1]
    assert all("exemplar" not in fold.choices for fold in some)
    assert all("exemplar" not in fold.predictions for fold in some)


@pytest.mark.parametrize("deadline", [2.0, 1e9])
def test_steps_are_counted_also_where_work_is_left_out(deadline):
    counted = []
    try_families(folds(), TRIED, deadline, lambda n=1, _="": counted.append(n), Clock(1.5))
    assert sum(counted) == 4 * len(TRIED)


def test_nothing_that_can_be_fitted_is_an_error_that_says_why():
    with pytest.raises(SelectionError, match="string"):
        try_families(folds(kernel=Spectrum(2)), TRIED, 1e9, ignore)


def test_standardizing_sees_only_training_rows():
    for fold in folds()[:3]:
        assert np.allclose(fold.X.mean(axis=0), 0) and np.allclose(fold.X.std(axis=0), 1)
        assert abs(fold.new.mean(axis=0)).max() > 1e-3


def test_many_rows_choose_by_a_sample_but_are_all_learned_from():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    procedure = InnerSelection((), True, None, 3, 50, 0)
    fold = procedure.split(X, y, np.arange(100), np.arange(100, 120))
    assert len(fold.inner.y) == 50 and len(fold.y) == 100
    fold.try_family(TRIED[3])
    assert len(fold.fit_winner(0).predict(fold.new)) == 20


def test_a_column_without_entries_in_a_fold_is_left_out_there():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"full": rng.normal(size=30), "rare": np.nan, "word": None}, dtype=object)
    X = X.astype({"full": float, "rare": float})
    X.loc[3, "rare"], X.loc[4, "word"] = 1.0, "here"
    y = np.array(["a", "b"] * 15, dtype=object)
    kinds = (Column("word", "categorical", ""),)
    procedure = InnerSelection(kinds, True, None, 3, 1000, 0)
    everything = np.arange(30)
    some = procedure.split(X, y, np.setdiff1d(everything, [3, 4]), np.array([3, 4]))
    assert list(some.X.columns) == list(some.new.columns) == ["full"]
    whole = procedure.split(X, y, everything, everything[:0])
    assert {"full", "rare", "word"} <= set(whole.X.columns)
    try_families([some, whole], TRIED, 1e9, ignore)
    with pytest.raises(DomainError, match="too few entries in 'rare'"):
        procedure.split(X[["rare"]], y, np.setdiff1d(everything, [3]), np.array([3]))


def wave_folds(count, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    y = np.sin(2 * X[:, 0]) + noise * rng.normal(size=count)
    procedure = InnerSelection((), True, None, 3, 1000, seed)
    found = [procedure.split(X, y, *split) for split in splits(y, 5, rng)]
    ridge, _ = families("regress", "ridge", 0)
    try_families(found, ridge, 1e9, lambda *_: None)
    return found


def test_errors_fall_with_more_rows_down_to_those_of_the_folds():
    some = wave_folds(240)
    curve = learning_curve(some, 0)
    assert curve.sizes.tolist() == [24, 48, 96, 192]
    assert curve.errors[0] > curve.errors[-1]
    residuals = np.concatenate([fold.truth - fold.predictions["ridge"] for fold in some])
    assert curve.errors[-1] == pytest.approx(np.sqrt(np.mean(residuals**2)), rel=1e-9)


def test_the_same_seed_gives_the_same_curve():
    some = wave_folds(80)
    one, other, third = (learning_curve(some, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.errors, other.errors)
    assert not np.array_equal(one.errors, third.errors)


def test_too_few_rows_have_no_curve():
    assert learning_curve(wave_folds(12), 0) is None


def test_every_step_is_counted():
    counted = []
    learning_curve(wave_folds(30), 0, lambda n=1, _="": counted.append(n))
    assert sum(counted) == 4 * 5


@pytest.mark.parametrize(
    ("errors", "spreads", "words"),
    [
        ([0.4, 0.2], [0.01, 0.01], "would probably help: twice as many lowered the error by 50%"),
        ([0.4, 0.3], [0.1, 0.1], "might help"),
        ([0.4, 0.4], [0.01, 0.01], "hardly help"),
        ([0.4, 0.5], [0.01, 0.01], "hardly help"),
        ([0.1, 0.0], [0.01, 0.0], "No error is left"),
    ],
)
def test_what_the_last_doubling_says(errors, spreads, words):
    assert words in _verdict(np.array([50, 100]), np.array(errors), np.array(spreads))


def test_all_rows_are_not_learned_from_again():
    some = wave_folds(120)
    name = some[0].winner.family.name
    for fold in some:
        fold.predictions[name] = fold.truth
    curve = learning_curve(some, 0)
    assert curve.errors[-1] == 0.0 and curve.errors[0] > 0.0


def test_the_clock_of_a_study_stands_still_while_numba_compiles():
    import numba

    @numba.njit
    def total(x):
        found = 0.0
        for i in range(len(x)):
            found += x[i]
        return found

    begin = time.monotonic()
    with work_clock() as clock:
        start = clock()
        assert total(np.ones(3)) == 3.0
        compiled = time.monotonic() - begin
        assert clock() - start < 0.5 * compiled
        time.sleep(0.01)
        assert clock() - start >= 0.01
