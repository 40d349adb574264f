"""Laplace's approximation against its definition."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from mercer.sklearn.gaussian_process.laplace import find_mode, gram_slopes


def problem(n=12, seed=0, height=3.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return height * np.exp(-D / 2), (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(float)


def log_posterior(f, K, t):
    z = 2 * t - 1
    return -f @ np.linalg.solve(K, f) / 2 - np.logaddexp(0, -z * f).sum()


def approximate(K, t):
    """Return log q(t) by the textbook's formula, with a mode found by general optimization."""
    L = np.linalg.cholesky(K)  # f = Lv, in which the problem is well-conditioned
    found = minimize(lambda v: -log_posterior(L @ v, K, t), np.zeros(len(t)), tol=1e-10)
    f = L @ found.x
    W = np.exp(-f) / (1 + np.exp(-f)) ** 2
    _, volume = np.linalg.slogdet(np.eye(len(t)) + K * W)
    return -found.fun - volume / 2


@pytest.mark.parametrize("height", [0.01, 3.0, 1000.0])
def test_the_mode_is_the_highest_point(height):
    K, t = problem(height=height)
    mode = find_mode(K, t, 100)
    f = K @ mode.coefficients
    np.testing.assert_allclose(mode.coefficients, t - mode.shares, atol=1e-9)
    np.testing.assert_allclose(mode.shares, 1 / (1 + np.exp(-f)), atol=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(5):
        other = f + 1e-2 * K @ rng.normal(size=len(t)) / height
        assert log_posterior(other, K, t) < log_posterior(f, K, t)


def test_the_likelihood_is_the_textbooks():
    K, t = problem()
    assert find_mode(K, t, 100).log_likelihood == pytest.approx(approximate(K, t), abs=1e-7)


def test_slopes_are_derivatives():
    K, t = problem()
    rng = np.random.default_rng(2)
    A = rng.normal(size=K.shape)
    change = A @ A.T / 20
    G = gram_slopes(K, find_mode(K, t, 100))
    expected = approx_fprime(
        [0.0], lambda s: find_mode(K + s[0] * change, t, 100).log_likelihood, 1e-6
    )
    assert float(np.sum(G * change)) == pytest.approx(expected[0], rel=1e-4)


def test_steps_are_few_and_end():
    K, t = problem()
    assert np.abs(find_mode(K, t, 1).coefficients).max() > 0
    good = find_mode(K, t, 100)
    again = find_mode(K, t, 1, start=good.coefficients)
    np.testing.assert_allclose(again.coefficients, good.coefficients, atol=1e-9)


def test_a_matrix_that_is_not_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not returning a positive definite"):
        find_mode(-20.0 * np.eye(3), np.array([0.0, 1.0, 1.0]), 10)
