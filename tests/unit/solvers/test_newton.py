"""Newton's method reaches the minimum of the penalized loss, and says how near it is."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from mercer.errors import SolveError
from mercer.gram import Dense, LowRank
from mercer.kernels import Gaussian, Polynomial
from mercer.solvers import Problem
from mercer.solvers.conjugate_gradients import in_kernel_space
from mercer.solvers.losses import Binary, Multinomial
from mercer.solvers.newton import Newton
from mercer.solvers.newton_systems import preconditioner


def problem(n=40, classes=3, seed=0):
    """Return a Gram matrix and codes of classes that overlap."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    X = rng.normal(size=(n, 3)) + rng.normal(size=(classes, 3))[codes]
    return Gaussian(1.5)(X), codes


def weights(n=40):
    return np.random.default_rng(5).uniform(0.2, 3.0, size=n)


def loss_of(codes, w=None):
    w = np.ones(len(codes)) if w is None else w
    classes = codes.max() + 1
    return Binary(codes, w) if classes == 2 else Multinomial(codes, w, classes)


def solve(K, codes, penalty, w=None, intercept=True, **options):
    solver = Newton(**options)
    return solver.solve(solver.prepare(Problem(Dense(K), w, intercept)), codes, penalty)


@pytest.mark.parametrize("classes", [2, 4])
def test_residual_and_curvature_are_derivatives_of_the_loss(classes):
    _, codes = problem(classes=classes)
    loss = loss_of(codes, weights())
    F = np.random.default_rng(1).normal(size=(40, loss.columns))
    near = loss.near(F)
    slope = approx_fprime(F.ravel(), lambda f: loss.value(f.reshape(F.shape)), 1e-7)
    np.testing.assert_allclose(near.residual.ravel(), -slope, atol=1e-5)
    U = np.random.default_rng(2).normal(size=F.shape)
    change = (loss.near(F + 1e-6 * U).residual - loss.near(F - 1e-6 * U).residual) / 2e-6
    np.testing.assert_allclose(near(U), -change, atol=1e-7)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_total_curvature_is_that_of_a_constant(classes):
    _, codes = problem(classes=classes)
    loss = loss_of(codes, weights())
    near = loss.near(np.random.default_rng(1).normal(size=(40, loss.columns)))
    b = np.random.default_rng(3).normal(size=loss.columns)
    b -= b.mean() if classes > 2 else 0.0
    sums = near(np.broadcast_to(b, (40, loss.columns))).sum(axis=0)
    np.testing.assert_allclose(near.total() @ b, sums, atol=1e-12)
    assert np.linalg.eigvalsh(near.total()).min() > 0


def test_two_classes_of_the_softmax_are_the_logistic_loss():
    _, codes = problem(classes=2)
    f = np.random.default_rng(1).normal(size=40)
    F = np.column_stack([np.zeros(40), f])
    both = Multinomial(codes, np.ones(40), 2)
    assert both.value(F) == pytest.approx(loss_of(codes).value(f[:, None]), rel=1e-13)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_minimum_is_that_of_a_general_optimizer(classes, penalty, intercept):
    K, codes = problem(24, classes)
    w = weights(24)
    loss, L = loss_of(codes, w), np.linalg.cholesky(K + 1e-12 * np.eye(24))
    columns = loss.columns

    def split(x):
        v, b = x[: 24 * columns].reshape(24, columns), x[24 * columns :]
        return v, (b if intercept else 0 * b)

    def objective(x):
        v, b = split(x)
        F = L @ v + b
        R = loss.near(F).residual
        slope = np.concatenate([(penalty * v - L.T @ R).ravel(), -R.sum(axis=0) * intercept])
        return loss.value(F) + penalty / 2 * np.sum(v**2), slope

    start = np.zeros(24 * columns + columns)
    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    ours = solve(K, codes, penalty, w, intercept, tol=1e-10)
    assert ours.status == "solved"
    assert ours.objectives[-1] == pytest.approx(found.fun, rel=1e-9)
    v, b = split(found.x)
    values = K @ ours.coefficients.reshape(24, columns) + ours.intercept
    np.testing.assert_allclose(values, L @ v + b, atol=2e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_at_the_minimum_coefficients_are_residuals_over_the_penalty(classes):
    K, codes = problem(classes=classes)
    found = solve(K, codes, 0.3, weights(), tol=1e-11)
    a = found.coefficients.reshape(40, -1)
    near = loss_of(codes, weights()).near(K @ a + found.intercept)
    np.testing.assert_allclose(0.3 * a, near.residual, atol=1e-9)
    np.testing.assert_allclose(a.sum(axis=0), 0.0, atol=1e-9)
    if classes > 2:
        np.testing.assert_allclose(a.sum(axis=1), 0.0, atol=1e-9)
        assert np.sum(found.intercept) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_certificate_is_the_norm_of_the_gradient(classes):
    K, codes = problem(classes=classes)
    found = solve(K, codes, 0.3, max_iter=2)
    a, b = found.coefficients.reshape(40, -1), np.atleast_1d(found.intercept)
    loss = loss_of(codes)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0.0))

    def objective(x):
        w, c = x[: a.size].reshape(a.shape), x[a.size :]
        return loss.value(features @ w + c) + 0.15 * np.sum(w**2)

    start = np.concatenate([(features.T @ a).ravel(), b])
    slope = approx_fprime(start, objective, 1e-6)
    assert found.certificate == pytest.approx(np.linalg.norm(slope), rel=1e-3)
    assert found.certificate == found.history[-1]


def test_the_objective_falls_and_the_last_steps_are_fast():
    K, codes = problem(60, 3)
    found = solve(K, codes, 1e-3, tol=1e-9)
    assert all(np.diff(found.objectives) <= 1e-12)
    assert len(found.history) == len(found.objectives) < 20
    factors = np.array(found.history[1:]) / np.array(found.history[:-1])
    assert factors.min() < 0.01


@pytest.mark.parametrize("classes", [2, 3])
def test_features_give_the_same_function_as_their_gram_matrix(classes):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 2)), np.arange(40) % classes
    k = Polynomial(2, offset=1.0)
    K, Phi = k(X), k.features(X)
    solver = Newton(tol=1e-10)
    state = solver.prepare(Problem(LowRank(Phi), None, True))
    primal, dual = solver.solve(state, codes, 0.1), solve(K, codes, 0.1, tol=1e-10)
    np.testing.assert_allclose(Phi @ primal.weights, K @ dual.coefficients, atol=1e-8)
    np.testing.assert_allclose(primal.intercept, dual.intercept, atol=1e-8)


def test_too_few_steps_are_told():
    K, codes = problem()
    found = solve(K, codes, 1e-3, max_iter=1)
    assert found.status == "stalled"
    assert "gradient norm" in found.message and "max_iter" in found.message


def test_a_tolerance_below_rounding_ends_and_is_told():
    K, codes = problem()
    found = solve(K, codes, 0.1, tol=1e-300)
    assert found.status == "stalled" and "rounding" in found.message
    assert found.certificate < 1e-10


def test_a_matrix_with_negative_eigenvalues_is_refused():
    K = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    with pytest.raises(SolveError, match="negative eigenvalue"):
        solve(K, np.array([0, 1, 0]), 0.1, intercept=False)


def test_conjugate_gradients_solve_in_the_kernels_inner_product():
    K, _ = problem(30)
    h = np.random.default_rng(1).uniform(0.0, 1.0, size=(30, 1))
    y = np.random.default_rng(2).normal(size=(30, 1))
    direct = np.linalg.solve(0.1 * np.eye(30) + h * K, y)
    x, Kx, plain = in_kernel_space(Dense(K), lambda p, Kp: 0.1 * p + h * Kp, y, 1e-10, 500)
    np.testing.assert_allclose(x, direct, atol=1e-7)
    np.testing.assert_allclose(Kx, K @ x, atol=1e-9)
    assert plain < 100


@pytest.mark.parametrize("features", [False, True])
def test_with_two_classes_the_preconditioner_is_the_system_itself(features):
    X = np.random.default_rng(0).normal(size=(30, 2))
    k = Polynomial(2, offset=1.0)
    gram = LowRank(k.features(X)) if features else Dense(k(X))
    near = Binary(np.arange(30) % 2, weights(30)).near(X[:, :1])
    U = np.random.default_rng(1).normal(size=(30, 1))
    found = preconditioner(gram, near, 0.1, each=True)(U)
    np.testing.assert_allclose(0.1 * found + near(gram @ found), U, atol=1e-9)


def test_with_more_classes_a_factor_for_each_class_solves_the_system():
    """Rasmussen & Williams, algorithm 3.3."""
    K, codes = problem(30, 4)
    near = loss_of(codes, weights(30)).near(np.random.default_rng(1).normal(size=(30, 4)))
    U = np.random.default_rng(2).normal(size=(30, 4))
    U -= U.mean(axis=1, keepdims=True)
    found = preconditioner(Dense(K), near, 0.1, each=True)(U)
    np.testing.assert_allclose(0.1 * found + near(K @ found), U, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("each", [True, False])
def test_preconditioners_are_symmetric_and_not_smaller_than_the_system(each, classes):
    K, codes = problem(12, classes)
    loss = loss_of(codes, weights(12))
    near = loss.near(np.random.default_rng(1).normal(size=(12, loss.columns)))
    inverse = preconditioner(Dense(K), near, 0.1, each)
    size = 12 * loss.columns
    units = np.eye(size).reshape(size, 12, loss.columns)
    # In the inner product uᵀKv; and K − K(P⁻¹A) = K(I − P⁻¹A) has no negative eigenvalue.
    P = np.array([(K @ inverse(u)).ravel() for u in units]).T
    np.testing.assert_allclose(P, P.T, atol=1e-9)
    A = np.array([(K @ inverse(0.1 * u + near(K @ u))).ravel() for u in units]).T
    rest = np.kron(K, np.eye(loss.columns)) - (A + A.T) / 2
    assert np.linalg.eigvalsh(rest).min() > -1e-9


@pytest.mark.parametrize("classes", [2, 3])
def test_slow_conjugate_gradients_are_preconditioned_and_the_answer_is_the_same(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    codes = (np.sin(3 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=150) > 0).astype(int)
    codes = codes if classes == 2 else codes + (X[:, 0] > 1)
    K = Gaussian(0.5)(X)
    small = solve(K, codes, 1e-4)
    assert small.status == "solved"
    a = small.coefficients.reshape(150, -1)
    near = loss_of(codes).near(K @ a + small.intercept)
    assert np.linalg.norm(K @ (1e-4 * a - near.residual)) < 1e-4
    assert small.products < 1500
