"""Estimated shares: they add up, go to the exact ones, and know tables and classes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from mercer import SVC, KernelRidge
from mercer.errors import DomainError, ValidityError
from mercer.explanations import estimate_shares, shapley
from mercer.kernels import Gaussian


def rows(count=60, width=4, seed=0):
    X = np.random.default_rng(seed).normal(size=(count, width))
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def test_many_orders_come_near_to_the_exact_shares():
    X, y = rows()
    machine = KernelRidge(Gaussian(2.0), 0.1).fit(X, y)
    exact = shapley(machine, X[:5], reference=X, absent="joint")
    few, many = (
        estimate_shares(machine, X[:5], X, orders=orders, random_state=1) for orders in (20, 2000)
    )
    errors = [np.abs(one.values - exact.values).max() for one in (few, many)]
    assert errors[1] < 0.25 * errors[0] and errors[1] < 0.06
    np.testing.assert_allclose(many.base + many.values.sum(axis=1), machine.predict(X[:5]))
    assert exact.orders == 0 and many.orders == 2000


def test_a_column_that_says_nothing_gets_nothing():
    X, y = rows()
    machine = KernelRidge(Gaussian(2.0).on(0, 1, 2), 0.1).fit(X, y)
    why = estimate_shares(machine, X[:3], X)
    np.testing.assert_allclose(why.values[:, 3], 0, atol=1e-12)


def test_scores_are_for_the_predicted_class_of_any_machine():
    X, y = rows()
    labels = np.where(y > 0, "yes", "no")
    machine = SVC(Gaussian(2.0)).fit(X, labels)
    why = estimate_shares(machine, X[:6], X)
    np.testing.assert_allclose(why.scores, np.abs(machine.decision_function(X[:6])))
    assert why.toward == machine.predict(X[:6]).tolist()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, labels)
    assert np.isfinite(estimate_shares(tree, X[:6], X).values).all()
    three = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    machine = SVC(Gaussian(2.0)).fit(X, three)
    found = estimate_shares(machine, X[:6], X)
    np.testing.assert_allclose(found.scores, machine.decision_function(X[:6]).max(axis=1))


def test_tables_keep_their_kinds():
    X, y = rows()
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "x", "y")})
    kernel = Gaussian(1.0).on("a")
    machine = KernelRidge(kernel, 0.1).fit(table, y)
    why = estimate_shares(machine, table.iloc[:4], table)
    assert why.columns == ("a", "b")
    np.testing.assert_allclose(why.values[:, 1], 0, atol=1e-12)


def test_what_cannot_be_is_refused():
    X, y = rows()
    machine = KernelRidge().fit(X, y)
    with pytest.raises(ValidityError, match="even number from 2 on, found 3"):
        estimate_shares(machine, X, X, orders=3)
    with pytest.raises(DomainError, match="4 columns of X"):
        estimate_shares(machine, X, X[:, :2])
    with pytest.raises(DomainError, match="no columns"):
        estimate_shares(machine, ["a"], X)
