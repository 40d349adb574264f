"""Effects: averages along one column, of few rows, for every kind of column and of answer."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from mercer.sources import read_frame
from mercer.studies.attention import ColumnAttention
from mercer.studies.effects import (
    MAX_LEVELS,
    MAX_VALUES,
    column_effects,
    find_effects,
    rows_for,
    shuffled_losses,
)

RNG = np.random.default_rng(0)


class Formula:
    """A machine whose answers are known."""

    def __init__(self, answer):
        self.answer, self.asked = answer, 0

    def predict(self, X):
        self.asked += len(X)
        return self.answer(X)


class Sure(ClassifierMixin, BaseEstimator):
    """A machine that gives known probabilities, or decision values."""

    def __init__(self, classes, probabilities=None, decisions=None):
        self.classes_ = np.array(classes, dtype=object)
        if probabilities is not None:
            self.predict_proba = probabilities
        if decisions is not None:
            self.decision_function = decisions

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]


def table(n=60):
    return pd.DataFrame({
        "a": RNG.normal(size=n),
        "b": RNG.integers(0, 2, n).astype(float),
        "tree": pd.Series(RNG.choice(["oak", "ash", "elm"], n), dtype=object),
        "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, n), unit="D"),
    })  # fmt: skip


def sheet_of(frame, y):
    types = {"a": "numeric", "b": "numeric", "tree": "categorical", "day": "date"}
    some = {name: kind for name, kind in types.items() if name in frame}
    return read_frame(frame.assign(target=y), "target", some)


def columns(sheet, *names):
    return [column for name in names for column in sheet.used if column.name == name]


@pytest.fixture
def numbers():
    frame = table()
    return sheet_of(frame, frame["a"] + RNG.normal(size=len(frame)))


def test_an_average_is_the_formula_plus_what_the_others_add(numbers):
    model = Formula(lambda X: X["a"].to_numpy() ** 2 + 3 * X["b"].to_numpy())
    effect = column_effects(model, numbers.X, numbers.y, columns(numbers, "a"), seed=0)[0]
    assert effect.column == "a" and effect.answer == "prediction" and effect.classes == ()
    assert len(effect.values) == MAX_VALUES and effect.rows == len(numbers)
    mean = effect.values**2 + 3 * numbers.X["b"].mean()
    np.testing.assert_allclose(effect.mean[0], mean, rtol=1e-12)
    # Columns that only add up give all rows the same curve, wherever it begins.
    np.testing.assert_allclose(effect.low, effect.mean, rtol=1e-9)
    np.testing.assert_allclose(effect.high, effect.mean, rtol=1e-9)
    assert effect.reach == pytest.approx(np.ptp(mean))


def test_columns_that_act_together_spread_single_rows(numbers):
    model = Formula(lambda X: X["a"].to_numpy() * (2 * X["b"].to_numpy() - 1))
    effect = column_effects(model, numbers.X, numbers.y, columns(numbers, "a"), seed=0)[0]
    middle = effect.values - effect.values.mean()
    signs = 2 * numbers.X["b"].to_numpy() - 1
    level = effect.mean.mean()
    expected = level + np.quantile(np.outer(signs, middle), [0.1, 0.9], axis=0)
    np.testing.assert_allclose([effect.low[0], effect.high[0]], expected, atol=1e-12)


def test_values_are_entries_of_the_column(numbers):
    model = Formula(lambda X: X["a"].to_numpy())
    found = column_effects(
        model, numbers.X, numbers.y, columns(numbers, "a", "b", "tree", "day"), seed=0
    )
    a, b, tree, day = found
    assert set(a.values) <= set(numbers.X["a"])
    assert b.values.tolist() == [0.0, 1.0]
    counts = numbers.X["tree"].value_counts()
    assert sorted(counts[list(tree.values)], reverse=True) == list(counts[list(tree.values)])
    assert day.values.dtype.kind == "M" and day.values.min() >= np.datetime64("2020-01-01")


def test_many_levels_leave_the_frequent_ones_and_gaps_are_no_level():
    entries = np.repeat([f"level {k}" for k in range(12)], np.arange(12, 0, -1)).astype(object)
    frame = pd.DataFrame({"tree": pd.Series(entries, dtype=object), "a": 1.0 * np.arange(78)})
    frame.loc[:3, "tree"] = None
    sheet = sheet_of(frame, RNG.normal(size=78))
    model = Formula(lambda X: X["a"].to_numpy())
    effect = column_effects(model, sheet.X, sheet.y, columns(sheet, "tree"), seed=0)[0]
    assert len(effect.values) == MAX_LEVELS and effect.values[0] == "level 1"
    assert None not in effect.values and effect.kind == "categorical"


def test_the_rarer_of_two_classes_is_told():
    frame = table()
    sheet = sheet_of(frame, np.where(np.arange(60) < 50, "z", "b"))
    model = Sure(["b", "z"], lambda X: np.column_stack([X["b"] * 0.2, 1 - X["b"] * 0.2]))
    effect = column_effects(model, sheet.X, sheet.y, columns(sheet, "b"), seed=0)[0]
    assert (effect.answer, effect.classes) == ("probability", ("b",))
    np.testing.assert_allclose(effect.mean, [[0.0, 0.2]])


def test_the_three_most_frequent_of_several_classes_are_told():
    frame = table()
    sheet = sheet_of(frame, np.repeat(list("pqrst"), [4, 20, 6, 18, 12]))
    P = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    model = Sure(list("pqrst"), lambda X: np.tile(P, (len(X), 1)))
    effect = column_effects(model, sheet.X, sheet.y, columns(sheet, "b"), seed=0)[0]
    assert effect.classes == ("q", "s", "t")
    np.testing.assert_allclose(effect.mean[:, 0], [0.2, 0.25, 0.15])


def test_without_probabilities_decision_values_point_to_the_rarer_class():
    frame = table()
    sheet = sheet_of(frame, np.where(np.arange(60) < 50, "z", "b"))
    model = Sure(["b", "z"], decisions=lambda X: X["b"].to_numpy() - 0.5)
    effect = column_effects(model, sheet.X, sheet.y, columns(sheet, "b"), seed=0)[0]
    assert (effect.answer, effect.classes) == ("decision", ("b",))
    np.testing.assert_allclose(effect.mean, [[0.5, -0.5]])  # of class b, which is the negative one


def test_the_work_is_bounded_whatever_was_learned_from(numbers):
    assert rows_for(200, 60) == 200 and rows_for(20_000, 60) == 25
    model = Formula(lambda X: X["a"].to_numpy())
    large = pd.concat([numbers.X] * 300, ignore_index=True)
    column_effects(model, large, np.tile(numbers.y, 300), columns(numbers, "a"), seed=0)
    assert model.asked * len(large) <= 30_000_000


def test_a_constant_column_has_no_effect(numbers):
    model = Formula(lambda X: X["a"].to_numpy())
    X = numbers.X.assign(b=1.0)
    assert column_effects(model, X, numbers.y, columns(numbers, "b"), seed=0) == ()


def test_shuffling_finds_the_column_that_matters(numbers):
    model = Formula(lambda X: X["a"].to_numpy())
    losses = shuffled_losses(model, numbers.X, numbers.X["a"].to_numpy(), 100, seed=0)
    assert max(losses, key=losses.get) == "a" and losses["a"] > 0.5
    assert losses["b"] == losses["tree"] == 0


def test_shuffling_that_takes_long_is_left_out(numbers):
    model = Formula(lambda X: X["a"].to_numpy())
    assert shuffled_losses(model, numbers.X, numbers.y, 10**9, seed=0) == {}
    assert model.asked == 0


def judge_of(sheet, model):
    prepared = SimpleNamespace(new=sheet.X)
    return SimpleNamespace(
        model=lambda: model, prepared=prepared, truth=sheet.X["a"].to_numpy(), y=sheet.y
    )


def test_attention_decides_which_columns_are_shown_and_shuffling_where_there_is_none(numbers):
    model = Formula(lambda X: X["a"].to_numpy())
    attention = ColumnAttention(("tree", "b", "a", "day"), (0.6, 0.3, 0.099, 0.001), (0.0,) * 4)
    judge = judge_of(numbers, model)
    found = find_effects(model, numbers, attention, judge, 0)
    assert [effect.column for effect in found] == ["tree", "b", "a"]
    few = replace(attention, shares=(0.996, 0.002, 0.001, 0.001))
    assert [e.column for e in find_effects(model, numbers, few, judge, 0)] == ["tree"]
    assert [e.column for e in find_effects(model, numbers, None, judge, 0)] == ["a"]


def test_rows_that_are_no_plain_table_have_no_effects(numbers):
    frame = pd.DataFrame({"note": [f"a word and {k} more" for k in range(60)]})
    sheet = read_frame(frame.assign(target=RNG.normal(size=60)), "target", {"note": "text"})
    assert find_effects(None, sheet, None, None, 0) == ()
