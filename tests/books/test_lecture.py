"""Müller, Samek & Brandl, Cognitive Algorithms, lecture 5: its algorithms, written as they stand.

The lecture stores data points as columns, X of shape D × N; so does the naive code here.
"""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from mercer import KernelRidge, KernelRidgeClassifier, Plan
from mercer.kernels import Exponential, Gaussian, Linear, Polynomial

ROUNDING = {"rtol": 1e-11, "atol": 1e-12}


def gaussian_kernel(X, Z, sigma):
    """Algorithm 1."""
    n, m = X.shape[1], Z.shape[1]
    left = np.tile((X * X).sum(axis=0)[:, None], (1, m))
    right = np.tile((Z * Z).sum(axis=0)[None, :], (n, 1))
    H = left - 2 * X.T @ Z + right
    return np.exp(-H / 2 / sigma**2)


def train(K, y, ridge):
    """Algorithm 2."""
    return np.linalg.inv(K + ridge * np.eye(len(K))) @ y.T


def predict(K, alpha):
    """Algorithm 3."""
    return (K @ alpha).T


def columns(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(d, n))


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("d", [1, 3, 10])
def test_algorithm_1_the_gaussian_kernel(d, sigma):
    X, Z = columns(12, d), columns(7, d, seed=1)
    np.testing.assert_allclose(Gaussian(sigma)(X.T, Z.T), gaussian_kernel(X, Z, sigma), **ROUNDING)


@pytest.mark.parametrize("ridge", [1e-4, 0.1, 10.0])
def test_algorithm_2_training(ridge):
    X = columns(25, 4)
    y = np.sin(X[0])
    machine = KernelRidge(Gaussian(1.5), penalty=ridge).fit(X.T, y)
    expected = train(gaussian_kernel(X, X, 1.5), y, ridge)
    np.testing.assert_allclose(machine.dual_coef_, expected, rtol=1e-8)


@pytest.mark.parametrize("ridge", [1e-4, 0.1, 10.0])
def test_algorithm_3_prediction(ridge):
    X, new = columns(25, 4), columns(10, 4, seed=1)
    y = np.stack([np.sin(X[0]), X[1] ** 2])  # two targets
    machine = KernelRidge(Gaussian(1.5), penalty=ridge).fit(X.T, y.T)
    alpha = train(gaussian_kernel(X, X, 1.5), y, ridge)
    expected = predict(gaussian_kernel(new, X, 1.5), alpha)
    np.testing.assert_allclose(machine.predict(new.T), expected.T, rtol=1e-8, atol=1e-10)


def test_algorithms_1_to_3_on_a_precomputed_kernel_matrix():
    X, new = columns(25, 4), columns(10, 4, seed=1)
    K, K_new = gaussian_kernel(X, X, 1.5), gaussian_kernel(new, X, 1.5)
    machine = KernelRidge("precomputed", penalty=0.1).fit(K, X[0])
    np.testing.assert_allclose(machine.predict(K_new), predict(K_new, train(K, X[0], 0.1)))


def test_equation_1_the_similarity_decays_to_zero_with_the_distance_from_the_prototype():
    distances = np.linspace(0, 5, 20)[:, None]
    for kernel in (Gaussian(1.0), Exponential(1.0)):
        similarity = kernel(distances, [[0.0]])[:, 0]
        assert similarity[0] == 1.0
        assert (np.diff(similarity) < 0).all()


def test_the_simple_example():
    """φ(x) = (x₁², x₂², √2·x₁x₂) has the kernel (xᵀy)²."""
    x, y = columns(2, 2).T
    phi = lambda x: np.array([x[0] ** 2, x[1] ** 2, np.sqrt(2) * x[0] * x[1]])
    assert phi(x) @ phi(y) == pytest.approx(Polynomial(2).pair(x, y), rel=1e-14)


def test_the_polynomial_kernel_of_the_lecture():
    X, Z = columns(6, 3), columns(4, 3, seed=1)
    np.testing.assert_allclose(
        Polynomial(3, offset=2.0)(X.T, Z.T), (X.T @ Z + 2.0) ** 3, **ROUNDING
    )


@pytest.mark.parametrize(("n", "d"), [(60, 4), (4, 60), (12, 12)])
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_the_optimal_weights_are_a_combination_of_the_data_points(n, d, ridge):
    """w = (XXᵀ + λI)⁻¹Xyᵀ = X(XᵀX + λI)⁻¹yᵀ: fewer points than dimensions, and the reverse."""
    X, y = columns(n, d), columns(n, 1, seed=1)[0]
    new = columns(9, d, seed=2)
    w = np.linalg.solve(X @ X.T + ridge * np.eye(d), X @ y)
    np.testing.assert_allclose(X @ train(X.T @ X, y, ridge), w, rtol=1e-7, atol=1e-10)
    for route in ("primal", "dual", "auto"):
        machine = KernelRidge(Linear(), penalty=ridge, follow=Plan(route=route)).fit(X.T, y)
        np.testing.assert_allclose(machine.predict(new.T), w @ new, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(X @ machine.dual_coef_, w, rtol=1e-6, atol=1e-9)


def test_fewer_points_than_dimensions_are_solved_in_the_dual_and_the_mirror_in_the_primal():
    machine = KernelRidge(Linear())
    few, many = columns(10, 200).T, columns(200, 10).T
    assert machine.plan(few).route == "dual"
    assert machine.plan(many).route == "primal"
    assert "- dual, because" in machine.plan(few).explain()
    assert "- primal, because 10 features and 200 items" in machine.plan(many).explain()


def test_a_multilayer_problem_xor_is_solved_by_similarities_to_the_data_points():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    assert KernelRidgeClassifier(Linear(), intercept=True).fit(X, y).score(X, y) < 1.0
    assert KernelRidgeClassifier(Gaussian(0.5)).fit(X, y).score(X, y) == 1.0


def test_cross_validation_for_model_selection_and_evaluation():
    """Algorithm 4, with this machine and with the naive code: the same choice, the same error."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(1, 40))
    y = np.sin(2 * X[0]) + 0.1 * rng.normal(size=40)
    widths = (0.05, 0.5, 5.0)

    def by_machine(sigma, rows, test):
        machine = KernelRidge(Gaussian(sigma), penalty=0.1).fit(X[:, rows].T, y[rows])
        return np.mean((machine.predict(X[:, test].T) - y[test]) ** 2)

    def by_hand(sigma, rows, test):
        alpha = train(gaussian_kernel(X[:, rows], X[:, rows], sigma), y[rows], 0.1)
        guess = predict(gaussian_kernel(X[:, test], X[:, rows], sigma), alpha)
        return np.mean((guess - y[test]) ** 2)

    def nested(error):
        chosen, errors = [], []
        for outer, held_out in KFold(4).split(y):
            inner = list(KFold(3).split(outer))
            mean = [np.mean([error(s, outer[a], outer[b]) for a, b in inner]) for s in widths]
            chosen.append(widths[int(np.argmin(mean))])
            errors.append(error(chosen[-1], outer, held_out))
        return chosen, errors

    assert nested(by_machine)[0] == nested(by_hand)[0] == [0.5] * 4
    np.testing.assert_allclose(nested(by_machine)[1], nested(by_hand)[1], rtol=1e-9)
