"""Effects of columns: functions whose effects and interactions are known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import make_pipeline

from mercer import Encode, KernelLogistic, KernelRidge
from mercer.errors import DomainError, ValidityError
from mercer.explanations import column_effect, interaction
from mercer.kernels import Gaussian


class Known(RegressorMixin, BaseEstimator):
    """Answers by a formula."""

    def __init__(self, formula):
        self.formula = formula

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.formula(np.asarray(X, dtype=float))


def table(n=300, d=3, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, size=(n, d))


@pytest.mark.parametrize("kind", ["accumulated", "partial"])
def test_a_sum_has_the_effects_of_its_terms(kind):
    X = table()
    machine = Known(lambda X: X[:, 0] ** 2 + 5 * X[:, 1]).fit(X)
    found = column_effect(machine, X, 0, kind=kind, count=10)
    expected = found.values**2
    np.testing.assert_allclose(np.diff(found.effect), np.diff(expected), atol=1e-12)
    np.testing.assert_allclose(found.low, found.high, atol=1.0)
    if kind == "partial":  # all rows have the same curve
        np.testing.assert_allclose(found.low, found.high, atol=1e-12)
    assert column_effect(machine, X, 2, kind=kind).reach < 1e-12


def test_accumulated_effects_do_not_ask_about_rows_that_cannot_be():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 2000)
    X = np.column_stack([x, x + 0.01 * rng.normal(size=2000)])
    # Nonsense where both columns differ, which no row of the table does.
    machine = Known(lambda X: X[:, 0] + 50 * np.maximum(abs(X[:, 0] - X[:, 1]) - 0.2, 0)).fit(X)
    local = column_effect(machine, X, 0, count=20)
    assert abs(local.reach - 1) < 0.02
    assert column_effect(machine, X, 0, kind="partial").reach > 3


def test_a_band_is_two_standard_errors_of_the_sum():
    X = table(400, 2)
    machine = Known(lambda X: X[:, 0] * X[:, 1]).fit(X)
    found = column_effect(machine, X, 0, count=1)
    steps = np.ptp(X[:, 0]) * X[:, 1]  # of each row, over the only bin
    np.testing.assert_allclose(found.effect[1] - found.effect[0], steps.mean())
    expected = 2 * steps.std(ddof=1) / np.sqrt(400)
    np.testing.assert_allclose(found.high[1] - found.effect[1], expected)


def h_by_definition(f, X, j, k):
    """Friedman & Popescu (2008), (44), by loops over rows."""

    def dependence(columns, row):
        Z = X.copy()
        Z[:, columns] = row[columns]
        return f(Z).mean()

    one, other, both = (
        np.array([dependence(columns, row) for row in X]) for columns in ([j], [k], [j, k])
    )
    one, other, both = one - one.mean(), other - other.mean(), both - both.mean()
    return np.sum((both - one - other) ** 2) / np.sum(both**2)


def test_interactions_are_those_of_the_definition():
    X = table(30)

    def f(X):
        return X[:, 0] * X[:, 1] + np.sin(X[:, 1]) + X[:, 2] ** 2

    machine = Known(f).fit(X)
    for j, k in ((0, 1), (1, 2), (0, 2)):
        np.testing.assert_allclose(
            interaction(machine, X, j, k), h_by_definition(f, X, j, k), atol=1e-12
        )
    assert interaction(machine, X, 0) > 0.1 > interaction(machine, X, 2)


def test_tables_with_categories_and_classes_work():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "kind": rng.choice(["a", "b"], 80)})
    y = (frame["x"] + (frame["kind"] == "b") > 0.5).to_numpy()
    encode = Encode(target_kind="classify")
    machine = make_pipeline(encode, KernelLogistic(Gaussian(1.5), 0.1)).fit(frame, y)
    found = column_effect(machine, frame, "kind", kind="partial", label=True)
    assert found.values.tolist() == ["a", "b"] and found.effect[1] > found.effect[0]
    assert column_effect(machine, frame, "x", label=True).effect[-1] > 0
    assert 0 <= interaction(machine, frame, "x", "kind") < 0.5


def test_what_has_no_effects_is_named():
    X = table(40)
    machine = KernelRidge(Gaussian(1.0)).fit(X, X[:, 0])
    with pytest.raises(DomainError, match="there is no column 7"):
        column_effect(machine, X, 7)
    with pytest.raises(ValidityError, match="kind cannot be 'local'"):
        column_effect(machine, X, 0, kind="local")
    with pytest.raises(DomainError, match="single entry"):
        column_effect(machine, np.ones((5, 3)), 0)
    with pytest.raises(ValidityError, match="0 twice"):
        interaction(machine, X, 0, 0)
    words = pd.DataFrame({"word": ["a", "b"] * 10, "x": np.arange(20.0)})
    model = make_pipeline(Encode(), KernelRidge()).fit(words, words["x"])
    many = pd.DataFrame({"word": [f"w{k}" for k in range(200)], "x": np.arange(200.0)})
    with pytest.raises(DomainError, match=r"200 different entries.*part_effects"):
        column_effect(model, many, "word")


def test_categories_are_added_up_in_the_order_of_their_answers():
    rng = np.random.default_rng(0)
    words = pd.DataFrame({"word": list("abc") * 40, "x": rng.normal(size=120)})
    truth = words["word"].map({"a": 2.0, "b": 0.0, "c": 5.0}) + words["x"]
    model = make_pipeline(Encode(), KernelRidge("linear", 1e-6, intercept=True)).fit(words, truth)
    found = column_effect(model, words, "word")
    assert found.values.tolist() == ["b", "a", "c"]
    np.testing.assert_allclose(np.diff(found.effect), [2.0, 3.0], atol=0.01)
    # Minus the mean over the rows; a sum has no spread.
    np.testing.assert_allclose(found.effect.mean(), 0, atol=1e-9)
    np.testing.assert_allclose(found.high, found.low, atol=1e-6)
