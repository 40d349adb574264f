"""Support vector machines against their textbook programs, solved by an interior-point method.

The oracle knows nothing of pairs, working sets or slopes: it gets α with Q = zzᵀK, regression
with α and α*, and finds intercepts as the multipliers of the sums.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.kernels import Gaussian, Linear, Polynomial

KERNELS = [Gaussian(1.0), Gaussian(0.3), Linear(), Polynomial(2, 1.0)]
TIGHT = 1e-9
EXACT = {"rtol": 1e-6, "atol": 1e-6}
ROUGH = [0.5, 1e-2, 1e-3]


def interior_point(Q, p, A, b, u):
    """Minimize ½xᵀQx + pᵀx over Ax = b, 0 ≤ x ≤ u; return x and the multipliers of Ax = b."""
    n = len(p)
    x, y, s, w = u / 2, np.zeros(len(A)), np.ones(n), np.ones(n)
    for _ in range(100):
        goal = 0.1 * (x @ s + (u - x) @ w) / (2 * n)
        if goal < 1e-15:
            break
        H = Q + np.diag(s / x + w / (u - x))
        slope = Q @ x + p - A.T @ y - goal / x + goal / (u - x)
        system = np.block([[H, -A.T], [A, np.zeros((len(A), len(A)))]])
        step = np.linalg.solve(system, np.concatenate([-slope, b - A @ x]))
        dx, dy = step[:n], step[n:]
        ds, dw = goal / x - s - s / x * dx, goal / (u - x) - w + w / (u - x) * dx
        far = min(_room(v, dv) for v, dv in ((x, dx), (u - x, -dx), (s, ds), (w, dw)))
        x, y, s, w = x + far * dx, y + far * dy, s + far * ds, w + far * dw
    return x, y


def _room(values, changes):
    shrinking = changes < 0
    return min(1.0, 0.99 * np.min(-values[shrinking] / changes[shrinking], initial=np.inf))


@dataclass
class Textbook:
    """What a textbook's dual problem says: objective to maximize, f and b, and who counts."""

    objective: float
    beta: np.ndarray
    b: float
    bounds: np.ndarray

    @property
    def support(self):
        return np.flatnonzero(np.abs(self.beta) > 1e-6 * self.bounds)

    @property
    def fixes_b(self):
        """Whether there is one b only, because some coefficients are between their bounds."""
        return (np.abs(self.beta[self.support]) < (1 - 1e-6) * self.bounds[self.support]).any()


def classification(K, z, C):
    Q, u = np.outer(z, z) * K, np.broadcast_to(C, len(z)).astype(float)
    a, (b,) = interior_point(Q, -np.ones(len(z)), z[None, :], np.zeros(1), u)
    return Textbook(a.sum() - a @ Q @ a / 2, z * a, -b, u)


def classification_by_nu(K, z, nu):
    """Schölkopf et al. (2000): 0 ≤ α ≤ 1/n, Σzα = 0, Σα = ν; f and b are divided by ρ."""
    n, Q = len(z), np.outer(z, z) * K
    A, u = np.array([z, np.ones(n)]), np.full(n, 1 / n)
    a, (b, rho) = interior_point(Q, np.zeros(n), A, np.array([0.0, nu]), u)
    return Textbook(-a @ Q @ a / 2 * n**2, z * a / rho, -b / rho, u / rho)


def regression(K, y, C, epsilon):
    n, signs = len(y), np.repeat([1.0, -1.0], len(y))
    Q, u = np.outer(signs, signs) * np.tile(K, (2, 2)), np.tile(np.broadcast_to(C, n), 2)
    p = epsilon - signs * np.tile(y, 2)
    a, (b,) = interior_point(Q, p, signs[None, :], np.zeros(1), u.astype(float))
    return Textbook(-(a @ Q @ a / 2 + p @ a), a[:n] - a[n:], -b, u[:n].astype(float))


def novelty(K, nu):
    """Schölkopf et al. (2001): 0 ≤ α ≤ 1/(νn), Σα = 1; LIBSVM and mercer multiply by νn."""
    n = len(K)
    u = np.full(n, 1 / (nu * n))
    a, (rho,) = interior_point(K, np.zeros(n), np.ones((1, n)), np.ones(1), u)
    total = nu * n
    return Textbook(-a @ K @ a / 2 * total**2, a * total, -rho * total, u * total)


def data(n=36, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, z


def numbers(X):
    return np.sin(2 * X[:, 0]) + 0.3 * np.random.default_rng(5).normal(size=len(X))


def coefficients(machine, n):
    """Return zα of all items."""
    beta = np.zeros(n)
    beta[machine.support_] = machine.dual_coef_[0]
    return beta


def scores(machine, X):
    return machine.function_(X) + machine.intercept_


def check(machine, oracle, X, new, kernel):
    assert machine.solution_.status == "solved"
    assert machine.solution_.objective == pytest.approx(oracle.objective, rel=1e-6)
    assert sorted(machine.support_) == oracle.support.tolist()
    np.testing.assert_allclose(coefficients(machine, len(X)), oracle.beta, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(machine.function_(new), kernel(new, X) @ oracle.beta, **EXACT)
    if oracle.fixes_b:
        np.testing.assert_allclose(machine.intercept_, oracle.b, **EXACT)


def free_or_at(beta, bounds):
    """Return which coefficients are zero, between, and at their bound."""
    size = np.abs(beta)
    zero, full = size == 0, size >= bounds * (1 - 1e-12)
    return zero, ~zero & ~full, full


# ---- the oracle itself -------------------------------------------------------------------------


def test_the_oracle_agrees_with_scipy():
    X, z = data(12)
    Q = np.outer(z, z) * Gaussian(1.0)(X)
    theirs = minimize(
        lambda a: a @ Q @ a / 2 - a.sum(), np.full(12, 0.5), jac=lambda a: Q @ a - 1,
        bounds=[(0.0, 2.0)] * 12, constraints={"type": "eq", "fun": lambda a: z @ a,
        "jac": lambda a: z}, method="SLSQP", options={"ftol": 1e-15, "maxiter": 1000},
    )  # fmt: skip
    ours = classification(Gaussian(1.0)(X), z, 2.0)
    assert theirs.success
    assert ours.objective == pytest.approx(-theirs.fun, rel=1e-9)
    np.testing.assert_allclose(z * ours.beta, theirs.x, atol=1e-5)


# ---- same optimum ------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_classification(kernel, C):
    (X, z), (new, _) = data(), data(seed=1)
    machine = SVC(kernel, C, tol=TIGHT).fit(X, z)
    check(machine, classification(kernel(X), z, C), X, new, kernel)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_classification_with_class_and_sample_weights(kernel):
    (X, z), (new, _) = data(), data(seed=1)
    w = np.random.default_rng(2).uniform(0.2, 3.0, len(z))
    machine = SVC(kernel, 2.0, class_weight={-1.0: 0.5, 1.0: 4.0}, tol=TIGHT)
    machine.fit(X, z, sample_weight=w)
    bounds = 2.0 * w * np.where(z > 0, 4.0, 0.5)
    check(machine, classification(kernel(X), z, bounds), X, new, kernel)


@pytest.mark.parametrize("nu", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(2, 1.0)], ids=repr)
def test_classification_by_nu(kernel, nu):
    (X, z), (new, _) = data(), data(seed=1)
    machine = NuSVC(kernel, nu, tol=TIGHT).fit(X, z)
    check(machine, classification_by_nu(kernel(X), z, nu), X, new, kernel)


def test_without_free_coefficients_the_intercept_is_in_the_middle_of_what_is_optimal():
    X, z = data()
    machine = SVC("linear", 0.1, tol=TIGHT).fit(X, z)
    oracle = classification(Linear()(X), z, 0.1)
    assert not oracle.fixes_b
    F, full = z - Linear()(X) @ oracle.beta, np.abs(oracle.beta) > 0.05
    low, high = F[full == (z < 0)].max(), F[full == (z > 0)].min()
    assert low < high
    assert machine.intercept_[0] == pytest.approx((low + high) / 2, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("C", [0.1, 3.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_regression(kernel, C, epsilon):
    (X, _), (new, _) = data(30), data(seed=1)
    machine = SVR(kernel, C, epsilon=epsilon, tol=TIGHT).fit(X, numbers(X))
    check(machine, regression(kernel(X), numbers(X), C, epsilon), X, new, kernel)


def test_regression_with_sample_weights():
    (X, _), (new, _) = data(30), data(seed=1)
    w = np.random.default_rng(2).uniform(0.2, 3.0, 30)
    machine = SVR(Gaussian(1.0), 2.0, tol=TIGHT).fit(X, numbers(X), sample_weight=w)
    oracle = regression(Gaussian(1.0)(X), numbers(X), 2.0 * w, 0.1)
    check(machine, oracle, X, new, Gaussian(1.0))


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian(0.3), Polynomial(2, 1.0)], ids=repr)
def test_novelty(kernel, nu):
    (X, _), (new, _) = data(), data(seed=1)
    machine = OneClassSVM(kernel, nu, tol=TIGHT).fit(X)
    oracle = novelty(kernel(X), nu)
    check(machine, oracle, X, new, kernel)
    assert machine.offset_ == -machine.intercept_[0]


# ---- conditions of Kuhn and Tucker, from the function alone ------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_items_are_beyond_on_or_inside_the_margin_as_their_coefficients_say(kernel, C):
    X, z = data()
    machine = SVC(kernel, C, tol=TIGHT).fit(X, z)
    beta, margins = coefficients(machine, len(z)), z * scores(machine, X)
    zero, free, full = free_or_at(beta, np.full(len(z), C))
    assert beta.sum() == pytest.approx(0.0, abs=1e-10 * C)
    assert (z * beta >= 0).all()
    assert (margins[zero] >= 1 - 1e-8).all()
    np.testing.assert_allclose(margins[free], 1.0, atol=1e-8)
    assert (margins[full] <= 1 + 1e-8).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_numbers_are_in_on_or_outside_the_tube_as_their_coefficients_say(kernel):
    X, _ = data(30)
    y = numbers(X)
    machine = SVR(kernel, 3.0, epsilon=0.2, tol=TIGHT).fit(X, y)
    beta, errors = coefficients(machine, 30), y - scores(machine, X)
    zero, free, full = free_or_at(beta, np.full(30, 3.0))
    assert beta.sum() == pytest.approx(0.0, abs=1e-10)
    assert (np.abs(errors[zero]) <= 0.2 + 1e-8).all()
    np.testing.assert_allclose(errors[free], 0.2 * np.sign(beta[free]), atol=1e-8)
    assert (errors[full] * np.sign(beta[full]) >= 0.2 - 1e-8).all()


@pytest.mark.parametrize("nu", [0.3, 0.5])
def test_nu_bounds_the_share_of_margin_errors_and_of_support_vectors(nu):
    X, z = data()
    machine = NuSVC(Gaussian(1.0), nu, tol=TIGHT).fit(X, z)
    beta, margins = coefficients(machine, len(z)), z * scores(machine, X)
    zero, free, full = free_or_at(beta, np.full(len(z), 1 / machine.rho_))
    assert (margins[zero] >= 1 - 1e-7).all()
    np.testing.assert_allclose(margins[free], 1.0, atol=1e-7)
    assert (margins[full] <= 1 + 1e-7).all()
    assert np.mean(margins < 1 - 1e-6) <= nu <= np.mean(beta != 0)


# ---- certificates ------------------------------------------------------------------------------


def optima(tol):
    """Return machines of all kinds, solved roughly, with the best objectives."""
    X, z = data()
    k, y = Gaussian(0.7), numbers(X)
    K = k(X)
    return [
        (SVC(k, 5.0, tol=tol).fit(X, z), classification(K, z, 5.0)),
        (NuSVC(k, 0.4, tol=tol).fit(X, z), classification_by_nu(K, z, 0.4)),
        (SVR(k, 5.0, tol=tol).fit(X, y), regression(K, y, 5.0, 0.1)),
        (OneClassSVM(k, 0.3, tol=tol).fit(X), novelty(K, 0.3)),
    ]


@pytest.mark.parametrize("tol", [*ROUGH, TIGHT])
def test_the_gap_bounds_what_is_missing_from_the_largest_objective(tol):
    for machine, oracle in optima(tol):
        found = machine.solution_
        missing = oracle.objective - found.objective
        assert -1e-8 <= missing <= found.gap + 1e-8
        assert found.violation <= tol


@pytest.mark.parametrize("tol", ROUGH)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gap_of_classification_is_the_primal_less_the_dual_objective(weighted, tol):
    X, z = data()
    C = 5.0 * (np.linspace(0.1, 2.0, len(z)) if weighted else np.ones(len(z)))
    machine = SVC(Gaussian(0.7), 5.0, tol=tol)
    machine.fit(X, z, sample_weight=C / 5.0 if weighted else None)
    beta = coefficients(machine, len(z))
    square = beta @ Gaussian(0.7)(X) @ beta
    slack = np.maximum(0.0, 1 - z * scores(machine, X))
    primal, dual = square / 2 + C @ slack, np.abs(beta).sum() - square / 2
    assert machine.solution_.objective == pytest.approx(dual, rel=1e-12)
    assert machine.solution_.square == pytest.approx(square, rel=1e-12)
    assert machine.solution_.gap == pytest.approx(primal - dual, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("tol", ROUGH)
def test_the_gap_of_regression_is_the_primal_less_the_dual_objective(tol):
    X, _ = data()
    y = numbers(X)
    machine = SVR(Gaussian(0.7), 5.0, tol=tol).fit(X, y)
    beta = coefficients(machine, len(y))
    square = beta @ Gaussian(0.7)(X) @ beta
    excess = np.maximum(0.0, np.abs(y - scores(machine, X)) - 0.1)
    primal, dual = (
        square / 2 + 5.0 * excess.sum(),
        y @ beta - 0.1 * np.abs(beta).sum() - square / 2,
    )
    assert machine.solution_.objective == pytest.approx(dual, rel=1e-12)
    assert machine.solution_.gap == pytest.approx(primal - dual, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("tol", ROUGH)
def test_the_gap_of_novelty_is_the_primal_less_the_dual_objective(tol):
    X, _ = data()
    machine = OneClassSVM(Gaussian(0.7), 0.3, tol=tol).fit(X)
    rho = -float(machine.solution_.offsets[0])
    values, total = machine.function_(X), 0.3 * len(X)
    assert machine.dual_coef_.sum() == pytest.approx(total, rel=1e-12)
    square = machine.squared_norm_
    primal = square / 2 - total * rho + np.maximum(0.0, rho - values).sum()
    assert machine.solution_.gap == pytest.approx(primal + square / 2, rel=1e-9, abs=1e-11)


def violation(F, beta, lower, upper):
    return F[beta < upper].max() - F[beta > lower].min()


@pytest.mark.parametrize("tol", ROUGH)
def test_the_violation_is_that_of_the_function(tol):
    X, z = data()
    y, none, full = numbers(X), np.zeros(len(z)), np.full(len(z), 5.0)
    machine = SVC(Gaussian(0.7), 5.0, tol=tol).fit(X, z)
    beta, F = coefficients(machine, len(z)), z - machine.function_(X)
    by_hand = violation(F, beta, np.minimum(5 * z, 0.0), np.maximum(5 * z, 0.0))
    assert machine.solution_.violation == pytest.approx(by_hand, abs=1e-10)

    machine = SVR(Gaussian(0.7), 5.0, tol=tol).fit(X, y)
    beta, f = coefficients(machine, len(z)), machine.function_(X)
    two = np.concatenate([np.maximum(beta, 0.0), np.minimum(beta, 0.0)])
    by_hand = violation(
        np.concatenate([y - 0.1 - f, y + 0.1 - f]), two, np.concatenate([none, -full]),
        np.concatenate([full, none]),
    )  # fmt: skip
    assert machine.solution_.violation == pytest.approx(by_hand, abs=1e-10)

    machine = OneClassSVM(Gaussian(0.7), 0.3, tol=tol).fit(X)
    beta, F = coefficients(machine, len(z)), -machine.function_(X)
    by_hand = max(0.0, violation(F, beta, none, np.ones(len(z))))
    assert machine.solution_.violation == pytest.approx(by_hand, abs=1e-10)


def test_the_violation_of_nu_is_the_larger_one_of_the_two_classes():
    X, z = data()
    machine = NuSVC(Gaussian(0.7), 0.4, tol=1e-2).fit(X, z)
    beta, F = coefficients(machine, len(z)) * machine.rho_, -machine.function_(X) * machine.rho_
    sides = [
        violation(F[z == s], beta[z == s], np.minimum(z, 0.0)[z == s], np.maximum(z, 0.0)[z == s])
        for s in (-1.0, 1.0)
    ]
    assert machine.solution_.violation == pytest.approx(max(sides), abs=1e-10)
