"""Quantile regression: certified, the right share of items on each side, never crossing."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.metrics import d2_pinball_score

import mercer
from mercer import KernelQuantile
from mercer.errors import ValidityError
from mercer.kernels import Gaussian, Linear
from mercer.solvers.pinball import pinball_gap, pinball_loss

RNG = np.random.default_rng(5)
X = RNG.uniform(-2, 2, size=(120, 2))
Y = X[:, 0] + (0.3 + np.abs(X[:, 1])) * RNG.normal(size=120)


@pytest.mark.parametrize("level", [0.05, 0.3, 0.5, 0.9])
def test_the_share_of_items_below_is_the_level(level):
    machine = KernelQuantile(Gaussian(1.0), level, C=2.0, tol=1e-8).fit(X, Y)
    slack = 1e-6
    below = np.mean(machine.predict(X) > Y + slack)
    not_above = np.mean(machine.predict(X) >= Y - slack)
    assert below <= level <= not_above
    assert machine.predict(X).shape == (120,)


@pytest.mark.parametrize("level", [0.2, 0.5])
def test_without_a_penalty_it_is_koenkers_linear_program(level):
    machine = KernelQuantile(Linear(), level, C=1e3, tol=1e-7).fit(X, Y)
    n, ones = len(Y), np.ones(len(Y))
    design = np.column_stack([X, ones])
    cost = np.concatenate([np.zeros(6), level * ones, (1 - level) * ones])
    parts = np.column_stack([design, -design, np.eye(n), -np.eye(n)])
    found = linprog(cost, A_eq=parts, b_eq=Y, method="highs")
    w = found.x[:3] - found.x[3:6]
    np.testing.assert_allclose(machine.coef_[0], w[:2], atol=1e-3)
    assert machine.intercept_[0] == pytest.approx(w[2], abs=1e-3)


def test_the_gap_is_that_of_the_primal_and_the_dual_value():
    levels, C = (0.1, 0.5, 0.8), 3.0
    machine = KernelQuantile(Gaussian(1.0), levels, C=C).fit(X, Y)
    K = Gaussian(1.0)(X)
    weights = np.full(len(Y), C)
    for level, found in zip(levels, machine.solution_, strict=True):
        beta, b = found.coefficients, float(found.offsets[0])
        primal = beta @ K @ beta / 2 + weights @ pinball_loss(Y - K @ beta - b, level)
        dual = Y @ beta - beta @ K @ beta / 2
        assert (beta >= (level - 1) * C - 1e-9).all()
        assert (beta <= level * C + 1e-9).all()
        assert abs(beta.sum()) < 1e-8
        assert found.gap == pytest.approx(primal - dual, rel=1e-3, abs=1e-6)
        assert pinball_gap(beta, Y - K @ beta, b, level, weights) == pytest.approx(primal - dual)
        assert 0 <= primal - dual < 0.01 * primal


def test_no_other_function_has_a_smaller_objective():
    level, C = 0.7, 2.0
    machine = KernelQuantile(Gaussian(1.0), level, C=C, tol=1e-6).fit(X, Y)
    K, found = Gaussian(1.0)(X), machine.solution_[0]

    def objective(beta, b):
        return beta @ K @ beta / 2 + C * pinball_loss(Y - K @ beta - b, level).sum()

    best = objective(found.coefficients, float(found.offsets[0]))
    for _ in range(50):
        beta = found.coefficients + 0.1 * RNG.normal(size=len(Y))
        assert objective(beta, float(found.offsets[0]) + 0.1 * RNG.normal()) >= best - found.gap


def test_levels_never_cross_even_where_there_are_no_items():
    levels = np.linspace(0.05, 0.95, 19)
    machine = KernelQuantile(Gaussian(0.3), levels, C=50.0).fit(X[:40], Y[:40])
    new = RNG.uniform(-6, 6, size=(500, 2))
    raw = machine.function_(new) + machine.intercept_
    assert (np.diff(raw, axis=1) < 0).any()  # or nothing would have been put in order
    assert (np.diff(machine.predict(new), axis=1) >= 0).all()
    assert machine.levels_ == tuple(levels)


def test_putting_in_order_makes_no_level_worse_in_sum():
    machine = KernelQuantile(Gaussian(0.3), (0.1, 0.5, 0.9), C=20.0).fit(X[:60], Y[:60])
    raw, found = machine.function_(X[60:]) + machine.intercept_, machine.predict(X[60:])

    def loss(values):
        pairs = zip(values.T, (0.1, 0.5, 0.9), strict=True)
        return sum(pinball_loss(Y[60:] - column, level).sum() for column, level in pairs)

    assert loss(found) <= loss(raw) + 1e-9


def test_each_level_is_what_it_is_alone():
    several = KernelQuantile(Gaussian(1.0), (0.9, 0.1), tol=1e-9).fit(X, Y)
    alone = [KernelQuantile(Gaussian(1.0), level, tol=1e-9).fit(X, Y) for level in (0.1, 0.9)]
    raw = several.function_(X) + several.intercept_
    for column, machine in zip(raw.T, alone, strict=True):
        np.testing.assert_allclose(column, machine.predict(X), atol=1e-6)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_of_the_target_change_nothing(factor):
    one = KernelQuantile(Gaussian(1.0), 0.8, C=2.0, tol=1e-10).fit(X, Y)
    other = KernelQuantile(Gaussian(1.0), 0.8, C=2.0 * factor, tol=1e-10).fit(X, factor * Y)
    np.testing.assert_allclose(other.predict(X), factor * one.predict(X), rtol=1e-7)
    assert other.solution_[0].status == "solved"


def test_its_score_is_that_of_sklearn():
    machine = KernelQuantile(Gaussian(1.0), 0.3).fit(X, Y)
    expected = d2_pinball_score(Y, machine.predict(X), alpha=0.3)
    assert machine.score(X, Y) == pytest.approx(expected, abs=0.02)  # quantiles of y are defined
    assert 0 < machine.score(X, Y) < 1  # differently between two items


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, np.nan, "high", (), (0.1, 0.1), [0.2, 1.0]])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(ValidityError, match="level"):
        KernelQuantile(level=level).fit(X, Y)


def test_an_infinite_price_is_refused():
    with pytest.raises(ValidityError, match="finite"):
        KernelQuantile(C=np.inf).fit(X, Y)


def test_it_can_be_saved_and_searched(tmp_path):
    machine = KernelQuantile(Gaussian(1.0), (0.1, 0.9)).fit(X, Y)
    mercer.save(machine, tmp_path / "quantiles.mercer")
    again = mercer.load(tmp_path / "quantiles.mercer")
    np.testing.assert_array_equal(again.predict(X), machine.predict(X))
    grid = mercer.selection.GridSearchCV(KernelQuantile("gaussian", 0.9), {"C": [0.1, 10.0]}, cv=3)
    assert grid.fit(X, Y).best_score_ > 0
    assert clone(machine).level == (0.1, 0.9)


def test_constant_targets_are_a_constant():
    machine = KernelQuantile("gaussian", (0.1, 0.9)).fit(X, np.full(120, 7.0))
    np.testing.assert_allclose(machine.predict(X[:3]), 7.0, atol=1e-6)
