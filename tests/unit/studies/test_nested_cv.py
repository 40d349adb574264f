"""Which machines are tried, and who wins."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError, SelectionError
from mercer.kernels import Spectrum
from mercer.sources import Column
from mercer.studies.candidates import families
from mercer.studies.folds import splits
from mercer.studies.learning_curve import _verdict, expected_error, learned_parts, learning_curve
from mercer.studies.nested_cv import InnerSelection, error_of, try_families
from mercer.studies.preparation import Preparation

TRIED, LEFT = families("classify", None, 2, learned=False)


def selection(columns=(), kernel=None, most=1000, seed=0, encode=False, task="classify"):
    how = Preparation(columns, task, encode, not encode, seed)
    return InnerSelection(columns, how, kernel, 3, most, seed)


def folds(count=40, kernel=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=count) > 0, "a", "b").astype(object)
    procedure = selection(kernel=kernel, seed=seed)
    everything = np.arange(count)
    parts = splits(y, 3, rng)
    return [procedure.split(X, y, *split) for split in [*parts, (everything, everything[:0])]]


def ignore(*_):
    """Take a step that nobody watches."""


def test_all_are_tried_on_all_folds_and_the_strongest_wins_unless_one_is_clearly_better():
    some = folds()
    tried = try_families(some, TRIED, ignore)
    assert [note for _, note in tried] == [""] * 5
    for fold in some:
        assert list(fold.choices) == ["svm", "ridge", "exemplar", "prototype", "constant"]
        lowest = min(choice.error for choice in fold.choices.values())
        noise = 0.5 * np.sqrt(fold.winner.error * (1 - fold.winner.error) / len(fold.inner.some))
        assert lowest <= fold.winner.error <= lowest + noise


def test_a_later_family_wins_if_it_is_better_by_more_than_noise():
    fold = folds()[0]
    try_families([fold], TRIED, ignore)
    fold.choices = {
        name: replace(choice, error=error)
        for (name, choice), error in zip(
            fold.choices.items(), (0.3, 0.29, 0.1, 0.1, 0.1), strict=True
        )
    }
    assert fold.winner.family.name == "exemplar"


def test_steps_are_counted_also_where_work_is_left_out():
    counted = []
    try_families(folds(), TRIED, lambda n=1, _="": counted.append(n))
    assert sum(counted) == 4 * len(TRIED)


def test_nothing_that_can_be_fitted_is_an_error_that_says_why():
    with pytest.raises(SelectionError, match="string"):
        try_families(folds(kernel=Spectrum(2)), TRIED, ignore)


def test_standardizing_sees_only_training_rows():
    for fold in folds()[:3]:
        X, new = fold.prepared.rows(""), fold.prepared.new_rows("")
        assert np.allclose(X.mean(axis=0), 0) and np.allclose(X.std(axis=0), 1)
        assert abs(new.mean(axis=0)).max() > 1e-3


def test_many_rows_choose_by_a_sample_but_are_all_learned_from():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    procedure = selection(most=50)
    fold = procedure.split(X, y, np.arange(100), np.arange(100, 120))
    assert len(fold.inner.on("").y) == 50 and len(fold.y) == 100
    fold.choose(TRIED[1])
    fold.judge()
    assert len(fold.predictions["ridge"]) == 20 and fold.probabilities.shape == (20, 2)
    assert len(fold.machine.machine_.function_.points) == 100


def test_other_families_are_judged_where_that_takes_little_time():
    some = folds()[0]
    try_families([some], TRIED, ignore)
    some.judge()
    assert set(some.predictions) == {some.winner.family.name}
    some.judge_others()
    assert set(some.predictions) == {family.name for family in TRIED}


def test_kernels_are_resolved_on_all_rows_that_are_learned_from():
    texts = pd.DataFrame({"text": [f"word{i} other{i % 3}" for i in range(60)]}, dtype=object)
    y = np.array(["a", "b"] * 30, dtype=object)
    kinds = (Column("text", "text", ""),)
    fold = selection(kinds, most=20).split(texts, y, np.arange(60), np.arange(0))
    fold.choose(TRIED[1])
    fold.judge()
    new = texts.iloc[[57]]
    assert fold.machine.kernel_.diagonal(new)[0] == pytest.approx(1.0)
    assert "word57" in repr(fold.machine.kernel_)


def test_a_column_without_entries_in_a_fold_is_left_out_there():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"full": rng.normal(size=30), "rare": np.nan, "word": None}, dtype=object)
    X = X.astype({"full": float, "rare": float})
    X.loc[3, "rare"], X.loc[4, "word"] = 1.0, "here"
    y = np.array(["a", "b"] * 15, dtype=object)
    kinds = (Column("word", "categorical", ""),)
    procedure = selection(kinds)
    everything = np.arange(30)
    some = procedure.split(X, y, np.setdiff1d(everything, [3, 4]), np.array([3, 4]))
    assert list(some.prepared.X.columns) == list(some.prepared.new.columns) == ["full"]
    whole = procedure.split(X, y, everything, everything[:0])
    assert {"full", "rare", "word"} <= set(whole.prepared.X.columns)
    try_families([some, whole], TRIED, ignore)
    with pytest.raises(DomainError, match="too few entries in 'rare'"):
        procedure.split(X[["rare"]], y, np.setdiff1d(everything, [3]), np.array([3]))


def wave_folds(count, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    y = np.sin(2 * X[:, 0]) + noise * rng.normal(size=count)
    procedure = selection(seed=seed, task="regress")
    found = [procedure.split(X, y, *split) for split in splits(y, 5, rng)]
    ridge, _ = families("regress", "ridge", 0)
    try_families(found, ridge, ignore)
    for fold in found:
        fold.judge()
    return found


def test_errors_fall_with_more_rows_down_to_those_of_the_folds():
    some = wave_folds(240)
    curve = learning_curve(some, learned_parts(some, 0))
    assert curve.sizes.tolist() == [24, 48, 96, 192]
    assert curve.errors[0] > curve.errors[-1]
    residuals = np.concatenate([fold.truth - fold.predictions["ridge"] for fold in some])
    assert curve.errors[-1] == pytest.approx(np.sqrt(np.mean(residuals**2)), rel=1e-9)


def test_where_more_rows_help_less_is_expected_of_all_rows_than_of_folds():
    some = wave_folds(100, noise=0.05)
    every = selection(task="regress").split(
        np.concatenate([fold.prepared.new for fold in some]),
        np.concatenate([fold.truth for fold in some]),
        np.arange(100), np.zeros(0, dtype=int),
    )  # fmt: skip
    parts = learned_parts(some, 0)
    found = expected_error(some, parts, every)
    assert (found.measured, found.measured_se) == error_of(
        some, [fold.predictions["ridge"] for fold in some]
    )
    assert found.extrapolated and 0.6 * found.measured < found.error < found.measured
    without = [part for part in parts if part.share != 0.5]
    assert expected_error(some, without, every).error == found.measured


def test_the_same_seed_gives_the_same_curve():
    some = wave_folds(80)
    one, other, third = (learning_curve(some, learned_parts(some, seed)) for seed in (0, 0, 1))
    assert np.array_equal(one.errors, other.errors)
    assert not np.array_equal(one.errors, third.errors)


def test_too_few_rows_have_no_curve():
    some = wave_folds(12)
    assert learning_curve(some, learned_parts(some, 0)) is None


def test_every_step_is_counted():
    counted = []
    learned_parts(wave_folds(30), 0, lambda n=1, _="": counted.append(n))
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
    curve = learning_curve(some, learned_parts(some, 0))
    assert curve.errors[-1] == 0.0 and curve.errors[0] > 0.0
