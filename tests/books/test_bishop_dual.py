"""Bishop (2006), Pattern Recognition and Machine Learning, (6.1)-(6.12): features and duals.

The number in a test's name is the number of the equation.
"""

import numpy as np
import pytest

from mercer import KernelRidge, Plan
from mercer.kernels import Gaussian, Linear, Polynomial, from_basis, from_features

ROUNDING = {"rtol": 1e-12, "atol": 1e-12}
PENALTIES = [1e-3, 0.5, 20.0]


def data(n=14, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


def phi(x):
    return np.array([1.0, x[0], x[1] ** 2, np.sin(x[2])])


KERNEL = from_features(phi)


def design(X):
    """Φ, whose n-th row is φ(xₙ)ᵀ."""
    return np.array([phi(x) for x in X])


def gradient(function, at, step=1e-6):
    """The central difference quotient, exact for quadratic functions up to rounding."""
    steps = step * np.eye(len(at))
    return np.array([(function(at + h) - function(at - h)) / (2 * step) for h in steps])


def test_6_1_a_kernel_is_an_inner_product_of_features_and_symmetric():
    X, _ = data()
    Z, _ = data(9, seed=1)
    np.testing.assert_allclose(KERNEL(X, Z), design(X) @ design(Z).T, **ROUNDING)
    np.testing.assert_array_equal(KERNEL(X), KERNEL(X).T)
    np.testing.assert_allclose(KERNEL(X, Z), KERNEL(Z, X).T, **ROUNDING)


def test_6_1_the_identity_map_gives_the_linear_kernel():
    X, _ = data()
    np.testing.assert_allclose(from_features(lambda x: x)(X), Linear()(X), **ROUNDING)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_6_2_the_primal_weights_minimize_the_regularized_error(penalty):
    X, t = data()
    machine = KernelRidge(KERNEL, penalty, follow=Plan(route="primal")).fit(X, t)

    def J(w):
        return 0.5 * np.sum((design(X) @ w - t) ** 2) + penalty / 2 * w @ w

    np.testing.assert_allclose(gradient(J, machine.coef_), np.zeros(4), atol=1e-7)
    expected = np.linalg.solve(design(X).T @ design(X) + penalty * np.eye(4), design(X).T @ t)
    np.testing.assert_allclose(machine.coef_, expected, rtol=1e-10)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_6_3_the_weights_are_a_combination_of_the_feature_vectors(penalty):
    X, t = data()
    dual = KernelRidge(KERNEL, penalty, follow=Plan(route="dual")).fit(X, t)
    primal = KernelRidge(KERNEL, penalty, follow=Plan(route="primal")).fit(X, t)
    np.testing.assert_allclose(primal.coef_, design(X).T @ dual.dual_coef_, rtol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("route", ["primal", "dual"])
def test_6_4_each_dual_coefficient_is_a_scaled_residual(route, penalty):
    X, t = data()
    machine = KernelRidge(KERNEL, penalty, follow=Plan(route=route)).fit(X, t)
    residuals = machine.predict(X) - t
    np.testing.assert_allclose(machine.dual_coef_, -residuals / penalty, rtol=1e-8)


def test_6_5_substituting_the_weights_changes_no_error():
    X, t = data()
    a, penalty, Phi = np.random.default_rng(5).normal(size=14), 0.7, design(X)
    w = Phi.T @ a
    J_w = 0.5 * np.sum((Phi @ w - t) ** 2) + penalty / 2 * w @ w
    K = KERNEL(X)
    J_a = 0.5 * a @ K @ K @ a - a @ K @ t + 0.5 * t @ t + penalty / 2 * a @ K @ a
    assert J_a == pytest.approx(J_w, rel=1e-12)


def test_6_6_the_gram_matrix_collects_all_pairs():
    X, _ = data(6)
    expected = [[KERNEL.pair(x, z) for z in X] for x in X]
    np.testing.assert_allclose(KERNEL(X), expected, **ROUNDING)
    np.testing.assert_allclose(KERNEL.diagonal(X), np.diag(expected), **ROUNDING)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), KERNEL], ids=["gaussian", "features"])
def test_6_7_the_gradient_of_the_dual_error_vanishes_at_the_solution(kernel, penalty):
    X, t = data()
    K = kernel(X)
    a = KernelRidge(kernel, penalty, follow=Plan(route="dual")).fit(X, t).dual_coef_

    def J(a):
        return 0.5 * a @ K @ K @ a - a @ K @ t + 0.5 * t @ t + penalty / 2 * a @ K @ a

    # The quotient's rounding error is ε·J/step.
    np.testing.assert_allclose(gradient(J, a), np.zeros(14), atol=1e-6 * max(1.0, J(a)))
    np.testing.assert_allclose(K @ (K @ a + penalty * a - t), np.zeros(14), atol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Polynomial(3, 1.0)], ids=repr)
def test_6_8_the_dual_solution(kernel, penalty):
    X, t = data()
    machine = KernelRidge(kernel, penalty).fit(X, t)
    expected = np.linalg.solve(kernel(X) + penalty * np.eye(14), t)
    np.testing.assert_allclose(machine.dual_coef_, expected, rtol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Polynomial(3, 1.0)], ids=repr)
def test_6_9_the_prediction_for_a_new_input(kernel, penalty):
    X, t = data()
    new, _ = data(7, seed=3)
    k = kernel(X, new)
    expected = k.T @ np.linalg.solve(kernel(X) + penalty * np.eye(14), t)
    machine = KernelRidge(kernel, penalty).fit(X, t)
    np.testing.assert_allclose(machine.predict(new), expected, rtol=1e-8, atol=1e-10)


def test_6_9_the_prediction_is_linear_in_the_targets():
    X, t = data()
    new, s = data(14, seed=3)
    machine = KernelRidge(Gaussian(1.0), 0.5)
    one, two = machine.fit(X, t).predict(new), machine.fit(X, s).predict(new)
    both = machine.fit(X, 2 * t - 3 * s).predict(new)
    np.testing.assert_allclose(both, 2 * one - 3 * two, **ROUNDING)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), [(30, 3), (4, 9)])
def test_6_9_primal_and_dual_are_the_same_function(n, d, weighted, intercept, penalty):
    """More points than dimensions and fewer."""
    X, t = data(n, d)
    new, _ = data(8, d, seed=3)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, size=n) if weighted else None
    by_route = [
        KernelRidge(Linear(), penalty, intercept=intercept, follow=Plan(route=route))
        .fit(X, t, sample_weight=weights)
        for route in ("primal", "dual")
    ]  # fmt: skip
    primal, dual = by_route
    assert primal.coef_ is not None and dual.coef_ is None
    np.testing.assert_allclose(primal.predict(new), dual.predict(new), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(primal.dual_coef_, dual.dual_coef_, rtol=1e-7, atol=1e-9)
    assert primal.intercept_ == pytest.approx(dual.intercept_, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize(
    "basis",
    [
        [lambda x, p=p: x[0] ** p for p in range(5)],
        [lambda x, m=m: np.exp(-((x[0] - m) ** 2) / 0.08) for m in np.linspace(-1, 1, 11)],
        [lambda x, m=m: 1 / (1 + np.exp(-(x[0] - m) / 0.1)) for m in np.linspace(-1, 1, 11)],
    ],
    ids=["polynomials", "Gaussians", "logistic sigmoids"],
)
def test_6_10_basis_functions_as_in_figure_6_1(basis):
    k, X = from_basis(basis), np.linspace(-1, 1, 9)[:, None]
    expected = [[sum(f(x) * f(z) for f in basis) for z in X] for x in X]
    np.testing.assert_allclose(k(X), expected, **ROUNDING)
    assert k.features(X).shape == (9, len(basis))
    np.testing.assert_allclose(k.features(X) @ k.features(X).T, expected, **ROUNDING)
    assert k.proof().verdict == "proved"


def test_6_11_the_square_of_the_dot_product():
    x, z = data(2, 4)[0]
    assert Polynomial(2).pair(x, z) == pytest.approx((x @ z) ** 2, rel=1e-14)
    assert (Linear() ** 2).pair(x, z) == pytest.approx((x @ z) ** 2, rel=1e-14)


def test_6_12_the_feature_map_of_the_squared_dot_product():
    X = data(6, 2)[0]
    x1, x2 = X.T
    expected = np.column_stack([x1**2, np.sqrt(2) * x1 * x2, x2**2])
    np.testing.assert_allclose(Polynomial(2).features(X), expected, rtol=1e-15)
    np.testing.assert_allclose(expected @ expected.T, Polynomial(2)(X), **ROUNDING)


def test_6_2_the_kernel_with_an_offset_has_constant_linear_and_quadratic_terms():
    """(xᵀz + c)² has the features c, √(2c)·xᵢ, √2·x₁x₂ and xᵢ²."""
    X, c = data(6, 2)[0], 0.7
    x1, x2 = X.T
    root = np.sqrt(2 * c)
    expected = [
        np.full(6, c), root * x1, root * x2, np.sqrt(2) * x1 * x2, x1**2, x2**2,
    ]  # fmt: skip
    features = Polynomial(2, offset=c).features(X)
    by_rank = lambda columns: columns[:, np.lexsort(columns)]
    np.testing.assert_allclose(by_rank(features), by_rank(np.column_stack(expected)), rtol=1e-14)
