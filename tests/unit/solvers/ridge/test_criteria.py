"""Criteria are what refitting says, and their derivatives are those of finite differences."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mercer import KernelRidge
from mercer.errors import SelectionError, SolveError
from mercer.kernels import Gaussian, precomputed
from mercer.solvers.ridge.criteria import CRITERIA
from mercer.solvers.ridge.objective import along_penalties, criterion
from tests.oracles.refits import solved

SYSTEMS = [
    (weighted, intercept, targets)
    for weighted in (False, True)
    for intercept in (False, True)
    for targets in (1, 3)
]


def problem(n=9, weighted=False, targets=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    Y = 2.0 + rng.normal(size=(n, targets))
    return Gaussian(1.2)(X), Y, rng.uniform(0.3, 2.0, n) if weighted else None


def refitted(K, penalty, Y, weights, intercept):
    """Return the weighted mean squared error of machines that have not seen the item."""
    w = np.ones(len(K)) if weights is None else weights
    total = 0.0
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        machine = KernelRidge(precomputed(), penalty, intercept=intercept)
        machine.fit(K[np.ix_(rest, rest)], Y[rest], None if weights is None else w[rest])
        total += w[i] * np.mean((Y[i] - machine.predict(K[[i]][:, rest])[0]) ** 2)
    return total / w.sum()


@pytest.mark.parametrize(("weighted", "intercept", "targets"), SYSTEMS)
@pytest.mark.parametrize("penalty", [1e-3, 1.0])
def test_leaving_one_out_is_what_refitting_says(weighted, intercept, targets, penalty):
    K, Y, w = problem(weighted=weighted, targets=targets)
    found = criterion("leave-one-out", K, penalty, Y, w, intercept).value
    np.testing.assert_allclose(found, refitted(K, penalty, Y, w, intercept), rtol=1e-8)


@pytest.mark.parametrize(("weighted", "intercept", "targets"), SYSTEMS)
def test_gcv_is_the_error_over_the_freedom_that_is_left(weighted, intercept, targets):
    K, Y, w = problem(weighted=weighted, targets=targets)
    n, weights = len(K), np.ones(len(K)) if w is None else w
    machine = KernelRidge(precomputed(), 0.3, intercept=intercept).fit(K, Y, w)
    rss = np.sum(weights[:, None] * (Y - machine.predict(K).reshape(Y.shape)) ** 2) / targets
    hat = KernelRidge(precomputed(), 0.3, intercept=intercept).fit(K, np.eye(n), w).predict(K)
    expected = n**2 / weights.sum() * rss / (n - np.trace(hat)) ** 2
    np.testing.assert_allclose(criterion("gcv", K, 0.3, Y, w, intercept).value, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_evidence_is_the_density_of_the_targets(weighted):
    K, Y, w = problem(weighted=weighted, targets=2)
    covariance = K + 0.3 * np.diag(1 / (np.ones(len(K)) if w is None else w))
    expected = -sum(multivariate_normal.logpdf(y, cov=covariance) for y in Y.T)
    np.testing.assert_allclose(criterion("evidence", K, 0.3, Y, w).value, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_evidence_with_an_intercept_integrates_it_out(weighted):
    K, Y, w = problem(weighted=weighted)
    covariance = K + 0.3 * np.diag(1 / (np.ones(len(K)) if w is None else w))
    b = np.linspace(-20, 25, 4001)
    density = multivariate_normal.pdf(Y.T - b[:, None], cov=covariance)
    expected = -np.log(np.trapezoid(density, b))
    found = criterion("evidence", K, 0.3, Y, w, intercept=True).value
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize(("weighted", "intercept", "targets"), SYSTEMS)
def test_derivatives_are_those_of_finite_differences(name, weighted, intercept, targets):
    K, Y, w = problem(weighted=weighted, targets=targets)
    found = criterion(name, K, 0.4, Y, w, intercept)
    G, step = found.by_gram, 1e-5
    np.testing.assert_allclose(G, G.T, atol=1e-12 * np.abs(G).max())
    rng = np.random.default_rng(5)
    for _ in range(3):
        E = rng.normal(size=K.shape)
        E = E + E.T
        ends = [criterion(name, K + t * E, 0.4, Y, w, intercept).value for t in (step, -step)]
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * step), np.sum(G * E), rtol=1e-5)
    ends = [criterion(name, K, 0.4 * np.exp(t), Y, w, intercept).value for t in (step, -step)]
    np.testing.assert_allclose(
        (ends[0] - ends[1]) / (2 * step), found.by_log_penalty, rtol=1e-5, atol=1e-9
    )


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize(("weighted", "intercept", "targets"), SYSTEMS)
def test_one_decomposition_has_the_values_of_every_penalty(name, weighted, intercept, targets):
    K, Y, w = problem(weighted=weighted, targets=targets)
    penalties = np.array([1e-3, 0.1, 10.0])
    expected = [criterion(name, K, p, Y, w, intercept).value for p in penalties]
    found = along_penalties(name, K, penalties, Y, w, intercept)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("name", CRITERIA)
def test_an_item_of_weight_zero_is_not_there(name):
    K, Y, w = problem(weighted=True)
    w[4] = 0.0
    kept = np.flatnonzero(w)
    found = criterion(name, K, 0.2, Y, w, True)
    rest = criterion(name, K[np.ix_(kept, kept)], 0.2, Y[kept], w[kept], True)
    assert found.value == rest.value
    assert not found.by_gram[4].any()
    np.testing.assert_array_equal(found.by_gram[np.ix_(kept, kept)], rest.by_gram)
    along = along_penalties(name, K, np.array([0.2]), Y, w, True)[0]
    np.testing.assert_allclose(along, found.value)


def test_the_matrix_stays_as_it_is():
    K, Y, w = problem(weighted=True)
    before = K.copy()
    criterion("leave-one-out", K, 0.2, Y, w, True)
    along_penalties("gcv", K, np.array([0.2]), Y, w, True)
    np.testing.assert_array_equal(K, before)


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("width", "penalty"), [(1.0, 1e-10), (0.1, 1e-11)])
def test_small_penalties_of_many_smooth_items_keep_some_digits(width, penalty, intercept):
    """Against an inverse in extended precision, next to the worst condition that is admitted."""
    n = 300
    X = np.linspace(-1.0, 1.0, n)[:, None]
    K, Y = Gaussian(width)(X), np.sin(3 * X)
    P = solved(K + np.longdouble(penalty) * np.eye(n), np.eye(n))
    if intercept:
        P = P - np.outer(P.sum(axis=1), P.sum(axis=0)) / P.sum()
    alpha, own = P @ Y, np.diag(P)
    for name, scale in (("leave-one-out", own[:, None]), ("gcv", own.mean())):
        expected = float(np.mean((alpha / scale) ** 2))
        found = criterion(name, K, penalty, Y, None, intercept).value
        np.testing.assert_allclose(found, expected, rtol=1e-3)
    slopes = criterion("evidence", K, penalty, Y, None, intercept).by_gram
    exact = (P - alpha @ alpha.T).astype(float) / 2
    np.testing.assert_allclose(slopes, exact, rtol=0, atol=1e-3 * np.abs(exact).max())


def test_a_singular_system_is_an_error_that_says_what_to_do():
    K = np.ones((4, 4))
    with pytest.raises(SolveError, match="singular to working precision"):
        criterion("leave-one-out", K, 0.0, np.arange(4.0))
    assert np.isinf(along_penalties("gcv", K, np.array([0.0]), np.arange(4.0))[0])
    with pytest.raises(SolveError, match="not positive definite"):
        criterion("evidence", -np.eye(3), 0.5, np.arange(3.0))
    with pytest.raises(SolveError, match="at least two items"):
        criterion("leave-one-out", np.eye(1), 0.5, np.ones(1), intercept=True)


def test_an_unknown_criterion_is_refused_by_name():
    with pytest.raises(SelectionError, match="did you mean 'evidence'"):
        criterion("evidense", np.eye(2), 1.0, np.ones(2))
