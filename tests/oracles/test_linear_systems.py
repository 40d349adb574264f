"""The solvers against `numpy.linalg.solve`, for all sizes, penalties and ways."""

import re

import numpy as np
import pytest

from mercer import KernelRidge, Plan
from mercer.errors import SolveError
from mercer.gram import Blocked, Dense
from mercer.kernels import Gaussian, Linear
from mercer.solvers import Cholesky, Eigen, Problem

SOLVERS = [Cholesky("double"), Cholesky("mixed"), Eigen()]
SIZES = [1, 2, 3, 4, 5, 10, 11, 64, 65, 300, 301]


def gram(n, d=5, seed=0):
    return Gaussian(2.0)(np.random.default_rng(seed).normal(size=(n, d)))


def targets(n, count=None, seed=1):
    shape = n if count is None else (n, count)
    return np.random.default_rng(seed).normal(size=shape)


def solve(solver, K, y, penalty, weights=None, intercept=False):
    problem = Problem(Dense(K), weights, intercept)
    return solver.solve(solver.prepare(problem), y, penalty)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_one_target(solver, n):
    K, y = gram(n), targets(n)
    found = solve(solver, K, y, 0.5)
    expected = np.linalg.solve(K + 0.5 * np.eye(n), y)
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-9, atol=1e-12)
    assert found.status == "solved"
    assert found.intercept == 0.0
    assert found.message == ""
    assert found.penalty == 0.5


@pytest.mark.parametrize("n", [1, 2, 3, 10, 11])
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_several_targets(solver, count, n):
    K, Y = gram(n), targets(n, count)
    found = solve(solver, K, Y, 0.1)
    expected = np.linalg.solve(K + 0.1 * np.eye(n), Y)
    assert found.coefficients.shape == (n, count)
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_certificate_is_the_relative_residual_and_tiny(solver):
    K, Y = gram(80), targets(80, 3)
    found = solve(solver, K, Y, 0.01)
    rest = Y - K @ found.coefficients - 0.01 * found.coefficients
    worst = np.max(np.linalg.norm(rest, axis=0) / np.linalg.norm(Y, axis=0))
    assert found.certificate < 1e-12
    assert found.certificate == pytest.approx(worst, abs=1e-13)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_one_state_serves_every_penalty_and_target_in_any_order(solver):
    K = gram(51)
    state = solver.prepare(Problem(Dense(K)))
    for penalty, seed in [(1.0, 0), (1e-3, 1), (100.0, 0), (1e-3, 1), (0.0, 2), (1.0, 0)]:
        y = targets(51, seed=seed)
        found = solver.solve(state, y, penalty)
        expected = np.linalg.solve(K + penalty * np.eye(51), y)
        rest = K @ found.coefficients + penalty * found.coefficients - y
        assert np.linalg.norm(rest) < 1e-9 * np.linalg.norm(y)
        np.testing.assert_allclose(found.coefficients, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_an_intercept_solves_the_bordered_system(solver, n):
    """[K + λI, 1; 1ᵀ, 0](a, b) = (y, 0)."""
    K, Y = gram(n), targets(n, 2) + 5.0
    ones = np.ones((n, 1))
    bordered = np.block([[K + 0.3 * np.eye(n), ones], [ones.T, np.zeros((1, 1))]])
    expected = np.linalg.solve(bordered, np.vstack([Y, np.zeros((1, 2))]))
    found = solve(solver, K, Y, 0.3, intercept=True)
    np.testing.assert_allclose(found.coefficients, expected[:-1], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.intercept, expected[-1], rtol=1e-10)
    np.testing.assert_allclose(found.coefficients.sum(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_weights_solve_the_weighted_system(solver, intercept):
    """(K + λW⁻¹)a + b = y."""
    K, y = gram(20), targets(20) + 2.0
    w = np.random.default_rng(2).uniform(0.1, 5.0, size=20)
    M = K + 0.3 * np.diag(1 / w)
    if intercept:
        ones = np.ones((20, 1))
        M, y_all = np.block([[M, ones], [ones.T, np.zeros((1, 1))]]), np.append(y, 0.0)
    else:
        y_all = y
    expected = np.linalg.solve(M, y_all)[:20]
    found = solve(solver, K, y, 0.3, weights=w, intercept=intercept)
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_an_item_of_weight_zero_drops_out(solver, intercept):
    K, y, w = gram(12), targets(12), np.ones(12)
    w[[3, 8]] = 0.0
    kept = w > 0
    without = solve(solver, K[np.ix_(kept, kept)], y[kept], 0.3, intercept=intercept)
    y[[3, 8]] = 1e6  # whatever it says
    found = solve(solver, K, y, 0.3, weights=w, intercept=intercept)
    np.testing.assert_array_equal(found.coefficients[~kept], [0.0, 0.0])
    np.testing.assert_allclose(found.coefficients[kept], without.coefficients, rtol=1e-9)
    assert found.intercept == pytest.approx(without.intercept, rel=1e-9, abs=1e-12)


# ---- ill conditioning --------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [1e-1, 1e-3, 1e-4])
def test_refinement_reaches_double_accuracy(penalty):
    K, y = gram(200), targets(200)
    mixed, double = (solve(Cholesky(p), K, y, penalty) for p in ("mixed", "double"))
    assert mixed.history[0] > 1e-8  # single precision was used at first
    assert mixed.certificate < 4 * double.certificate + 1e-13
    condition = np.linalg.cond(K + penalty * np.eye(200))
    gap = np.linalg.norm(mixed.coefficients - double.coefficients)
    assert gap < 1e-14 * condition * np.linalg.norm(double.coefficients)


@pytest.mark.parametrize("penalty", [1e-8, 1e-9, 1e-10])
def test_where_refinement_fails_the_double_way_is_taken_and_said(penalty):
    K, y = gram(200, d=1), targets(200)  # smooth in one dimension: eigenvalues down to nothing
    found = solve(Cholesky("mixed"), K, y, penalty)
    double = solve(Cholesky("double"), K, y, penalty)
    assert found.status == double.status != "singular"
    assert "single precision" in found.message
    np.testing.assert_array_equal(found.coefficients, double.coefficients)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("penalty", [1e-6, 1e-8, 1e-10])
def test_predictions_survive_bad_conditioning(solver, penalty):
    """Coefficients may be large and uncertain, the values K·a hardly are."""
    K, y = gram(200, d=1), np.sin(np.arange(200) / 10)
    found = solve(solver, K, y, penalty)
    values, V = np.linalg.eigh(K)
    values = np.maximum(values, 0.0)
    expected = V @ (values / (values + penalty) * (V.T @ y))
    # A backward error ε|K| moves the smoothed values by at most ε|K|/λ.
    allowed = 10 * np.finfo(float).eps * values[-1] / penalty + 1e-10
    assert np.abs(K @ found.coefficients - expected).max() < allowed


def test_the_machine_says_when_single_precision_was_not_enough():
    X = np.linspace(0, 1, 150)[:, None]
    machine = KernelRidge(Gaussian(1.0), penalty=1e-10, follow=Plan(precision="mixed"))
    machine.fit(X, np.sin(X[:, 0]))
    assert "single precision" in machine.solution_.message
    assert machine.solution_.status == "solved"
    np.testing.assert_allclose(machine.predict(X), np.sin(X[:, 0]), atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_singular_matrix_without_penalty_is_a_status_and_an_error(solver):
    x = np.array([[0.0], [1.0], [1.0]])
    found = solve(solver, Gaussian(1.0)(x), np.array([1.0, 2.0, 3.0]), 0.0)
    assert found.status == "singular"
    assert found.certificate == np.inf
    assert np.isnan(found.coefficients).all()
    with pytest.raises(SolveError, match=r"singular to working precision.*remove duplicates"):
        found.require_solved()


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_penalty_that_the_message_suggests_suffices(solver):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X = np.concatenate([X, X[:5]])
    K, y = Gaussian(1.0)(X), targets(35)
    message = solve(solver, K, y, 0.0).message
    (suggested,) = map(float, re.findall(r"penalty of (?:at least )?about ([\d.e-]+\d)", message))
    assert suggested < 1e-6
    assert solve(solver, K, y, suggested).status == "solved"


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_more_items_than_features_without_penalty_are_singular(solver):
    K = Linear()(np.random.default_rng(0).normal(size=(10, 3)))
    assert solve(solver, K, targets(10), 0.0).status == "singular"


# ---- nothing is spoiled ------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_users_matrix_is_not_overwritten(solver):
    K = gram(30)
    before = K.copy()
    solve(solver, K, targets(30), 0.1, weights=np.full(30, 2.0))
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_matrix_that_is_never_stored_gives_the_same_answer(solver):
    k, X = Gaussian(2.0), np.random.default_rng(0).normal(size=(40, 5))
    blocked = Problem(Blocked(k, k.admit(X)))
    found = solver.solve(solver.prepare(blocked), targets(40), 0.1)
    expected = solve(solver, k(X), targets(40), 0.1)
    np.testing.assert_allclose(found.coefficients, expected.coefficients, rtol=1e-12)
