"""Linear programs end at the optimum, and the certificate that says so is our own."""

import numpy as np
import pytest
from scipy.optimize import OptimizeResult, linprog

from mercer.errors import ConvergenceWarning, DomainError, SolveError, ValidityError
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid
from mercer.solvers.linear_program import separate

KERNELS = [Gaussian(0.5), Gaussian(3.0), Linear(), Polynomial(3, 1.0), Sigmoid(1.0, -1.0)]


def problem(n=60, seed=0):
    """Return items of two classes that overlap, and their signs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def primal(K, z, C):
    """Return the objective by the lecture's form: α, w₀ and ξ as the variables, interior point."""
    n = len(z)
    A = np.column_stack([z[:, None] * K * z, z, np.eye(n)])
    cost = np.concatenate([np.ones(n), [0.0], np.broadcast_to(C, n)])
    bounds = [(0, None)] * n + [(None, None)] + [(0, None)] * n
    answer = linprog(cost, A_ub=-A, b_ub=-np.ones(n), bounds=bounds, method="highs-ipm")
    assert answer.status == 0
    return answer.fun


def objective(K, z, C, coefficients, b):
    """Return Σ|c| + Σ Cᵢξᵢ for any coefficients of the right signs."""
    slack = np.maximum(0.0, 1.0 - z * (K @ coefficients + b))
    return np.abs(coefficients).sum() + np.sum(C * slack)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0, "varied"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_optimum_is_that_of_the_primal_program(kernel, C):
    X, z = problem()
    K = kernel(X)
    C = np.random.default_rng(1).uniform(0.1, 10.0, 60) if C == "varied" else C
    found = separate(K, z, C)
    assert found.status == "solved" and not found.message
    assert found.objective == pytest.approx(primal(K, z, C), rel=1e-6)
    assert found.objective == pytest.approx(
        objective(K, z, C, found.coefficients, found.intercept), rel=1e-8
    )
    assert (found.coefficients * z >= 0).all()
    assert found.gap < 1e-9 and found.violation < 1e-9
    assert found.certificate == max(found.gap, found.violation)
    assert found.dual_objective <= found.objective * (1 + 1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_no_small_change_is_better(kernel):
    X, z = problem(40)
    K, rng = kernel(X), np.random.default_rng(2)
    found = separate(K, z, 2.0)
    for size in (1e-6, 1e-3, 1e-1):
        for _ in range(50):
            alpha = np.abs(found.coefficients) + size * rng.normal(size=40) * (
                rng.random(40) < 0.2
            )
            b = found.intercept + size * rng.normal()
            other = objective(K, z, 2.0, np.maximum(alpha, 0.0) * z, b)
            assert other >= found.objective * (1 - 1e-12)


def test_every_item_is_on_one_side_of_complementary_slackness():
    X, z = problem()
    K = Gaussian(1.0)(X)
    found = separate(K, z, 1.0)
    margins = z * (K @ found.coefficients + found.intercept)
    # A vertex: as many items on the margin as there are coefficients, and one for the intercept.
    assert np.sum(np.abs(margins - 1) < 1e-9) == np.count_nonzero(found.coefficients) + 1


def test_items_on_a_line_without_slack_as_on_paper():
    # w = Σ αⱼ|xⱼ| must be 1 between −1 and 1, and the longest x gives it at the least price.
    x = np.array([-2.0, -1.0, 1.0, 3.0])
    found = separate(np.outer(x, x), [-1, -1, 1, 1], np.inf)
    np.testing.assert_allclose(found.coefficients, [0, 0, 0, 1 / 3], atol=1e-15)
    assert found.intercept == pytest.approx(0.0, abs=1e-15)
    assert found.objective == pytest.approx(1 / 3) == found.dual_objective


@pytest.mark.parametrize(("C", "best", "slope"), [(0.4, 0.8, 0.0), (0.6, 1.0, 1.0)])
def test_two_items_as_on_paper(C, best, slope):
    # A slope w costs w and saves the slack of both items, 2Cw: it pays from C = 1/2 on.
    x = np.array([-1.0, 1.0])
    found = separate(np.outer(x, x), [-1, 1], C)
    assert found.objective == pytest.approx(best)
    assert x @ found.coefficients == pytest.approx(slope, abs=1e-15)
    assert found.intercept == pytest.approx(0.0, abs=1e-15)  # of all in [−1, 1], the middle


def test_exclusive_or_as_on_paper():
    # K is 9 on the diagonal and 1 elsewhere; the four margins add up to 8Σα, so Σα ≥ 1/2.
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    found = separate(Polynomial(2, 1.0)(X), [1, 1, -1, -1], np.inf)
    assert found.objective == pytest.approx(0.5)
    assert found.violation < 1e-12


def test_the_middle_of_equal_intercepts_is_taken():
    # Nothing to learn from: with three against one, only the three are kept beyond the margin.
    K = np.zeros((4, 4))
    assert separate(K, [1, 1, 1, -1]).intercept == 1.0
    assert separate(K, [1, 1, -1, -1]).intercept == 0.0
    assert separate(K, [1, 1, 1, -1], [1.0, 1.0, 1.0, 3.0]).intercept == 0.0
    assert separate(K, [1, 1, 1, -1], [0.1, 0.1, 0.1, 0.3]).intercept == 0.0
    assert separate(K, [1, 1, 1, -1], [1.0, 1.0, 1.0, np.inf]).intercept == -1.0


def test_a_large_price_is_as_good_as_none_allowed():
    X, z = problem()
    K = Gaussian(0.5)(X)
    hard, soft = separate(K, z, np.inf), separate(K, z, 1e6)
    assert hard.violation < 1e-9
    np.testing.assert_allclose(hard.coefficients, soft.coefficients, rtol=1e-6, atol=1e-9)
    mixed = separate(K, z, np.where(np.arange(60) % 2, np.inf, 1.0))
    margins = z * (K @ mixed.coefficients + mixed.intercept)
    assert margins[1::2].min() > 1 - 1e-9 > margins[::2].min()
    assert mixed.status == "solved" and mixed.objective < hard.objective


def test_classes_that_cannot_be_separated_are_refused():
    x = np.array([-1.0, 0.0, 1.0])
    found = separate(np.outer(x, x), [1, -1, 1], np.inf)
    assert found.status == "inseparable" and np.isnan(found.coefficients).all()
    with pytest.raises(
        SolveError, match=r"not separable in feature space.* finite C, or a richer"
    ):
        found.require_solved()
    assert separate(np.outer(x, x), [1, -1, 1], 1.0).require_solved().objective == 2.0


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_size_of_the_similarities_does_not_matter(scale):
    X, z = problem()
    K = Gaussian(1.0)(X)
    found, scaled = separate(K, z, 3.0), separate(scale * K, z, 3.0 / scale)
    assert scaled.gap < 1e-9
    np.testing.assert_allclose(scale * scaled.coefficients, found.coefficients, atol=1e-9)
    assert scaled.intercept == pytest.approx(found.intercept, abs=1e-9)


def test_weights_are_copies():
    X, z = problem(30)
    times = 1 + np.arange(30) % 3
    rows = np.repeat(np.arange(30), times)
    K = Gaussian(1.0)(X)
    weighted = separate(K, z, 1.0 * times)
    copies = separate(K[np.ix_(rows, rows)], z[rows], 1.0)
    summed = np.bincount(rows, copies.coefficients)
    np.testing.assert_allclose(summed, weighted.coefficients, atol=1e-9)
    assert copies.objective == pytest.approx(weighted.objective, rel=1e-12)


def test_a_matrix_need_not_be_symmetric():
    X, z = problem()
    K = Gaussian(1.0)(X) * np.linspace(0.5, 2.0, 60)  # columns of different sizes
    found = separate(K, z, 1.0)
    assert found.gap < 1e-9
    assert found.objective == pytest.approx(primal(K, z, 1.0), rel=1e-6)


def test_a_gap_above_the_tolerance_is_a_warning():
    X, z = problem(200)
    found = separate(Gaussian(20.0)(X), z, 1e5, tol=1e-18)
    assert found.status == "stalled" and 1e-18 < found.certificate < 1e-6
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* tol=1.0e-18"):
        found.require_solved()


@pytest.mark.parametrize("part", ["x", "ineqlin"])
def test_wrong_answers_of_highs_would_be_noticed(part, monkeypatch):
    X, z = problem()

    def careless(*args, **more):
        answer = linprog(*args, **more)
        values = answer.x if part == "x" else answer.ineqlin.marginals
        values *= 0.5
        return answer

    monkeypatch.setattr("scipy.optimize.linprog", careless)
    monkeypatch.setattr("mercer.solvers.linear_program.POLISHING_STEPS", 0)
    found = separate(Gaussian(1.0)(X), z, 1.0)
    assert found.status == "stalled" and found.gap > 0.01


def test_what_highs_cannot_solve_is_an_error(monkeypatch):
    answer = OptimizeResult(status=4, message="Numerical difficulties encountered")
    monkeypatch.setattr("scipy.optimize.linprog", lambda *args, **more: answer)
    found = separate(np.eye(2), [1, -1])
    assert found.status == "failed"
    with pytest.raises(SolveError, match=r"Numerical difficulties .* Scale the data"):
        found.require_solved()


@pytest.mark.parametrize(
    ("K", "signs", "C", "error", "message"),
    [
        (np.eye(3), [1, -1], 1.0, DomainError, "a sign for each row"),
        (np.ones((2, 3)), [1, -1], 1.0, DomainError, "square"),
        (np.eye(2), [1, 1], 1.0, DomainError, "both"),
        (np.eye(2), [1, 0], 1.0, DomainError, r"\+1 and -1"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), [1, -1], 1.0, DomainError, "items 0 and 1 is nan"),
        (np.eye(2), [1, -1], [1.0, 1.0, 1.0], DomainError, "one for each of 2 items"),
        (np.eye(2), [1, -1], -1.0, ValidityError, "C must be positive, found -1"),
        (np.eye(2), [1, -1], [1.0, np.nan], ValidityError, "C must be positive, found nan"),
        (np.eye(2), [1, -1], "1", DomainError, "C must hold numbers"),
    ],
)  # fmt: skip
def test_bad_programs_are_refused(K, signs, C, error, message):
    with pytest.raises(error, match=message):
        separate(K, signs, C)
