"""Machine Learning: perceptrons and support vector machines.

Its part on kernels: the characterization of kernels by their Gram matrix, the theorem on finite
input spaces, and the composition rules 1-7 of "kernel engineering". Its part on machines: the
margin, the dual, the Kuhn-Tucker conditions, the soft margin and the linear program.
"""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from mercer import LPSVC, SVC, Perceptron
from mercer.datasets import two_gaussians, xor
from mercer.errors import SolveError, ValidityError
from mercer.kernels import (
    Categorical,
    Constant,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    check,
    exp,
    from_function,
    polynomial,
    precomputed,
    pullback,
    rescale,
)
from mercer.rkhs import empirical_map

ROUNDING = {"rtol": 1e-12, "atol": 1e-12}
K1, K2, K3 = Gaussian(1.0), Linear(), Laplacian(2.0)


def points(n=9, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def f(x):
    return x[0] - 0.5 * x[1]


def phi(x):
    return [x[0], x[0] * x[1], np.cos(x[1])]


def images(X):
    return np.array([phi(x) for x in X])


def values(X):
    return np.array([f(x) for x in X])


RULES = {
    "1 sum": (K1 + K2, lambda X: K1(X) + K2(X), "6.17"),
    "2 multiple": (3.0 * K1, lambda X: 3.0 * K1(X), "6.13"),
    "3 product": (K1 * K2, lambda X: K1(X) * K2(X), "6.18"),
    "4 function": (rescale(Constant(1.0), f), lambda X: np.outer(values(X), values(X)), "6.14"),
    "5 map": (pullback(K3, phi), lambda X: K3(images(X)), "6.19"),
    "6 polynomial": (
        polynomial(K2, [1.0, 2.0, 0.5]),
        lambda X: 1.0 + 2.0 * K2(X) + 0.5 * K2(X) ** 2,
        "6.15",
    ),
    "7 exponential": (exp(K2), lambda X: np.exp(K2(X)), "6.16"),
}


@pytest.mark.parametrize("rule", RULES)
def test_composition_rule(rule):
    """The formula, the name of the rule in the proof, and no negative eigenvalue."""
    k, formula, equation = RULES[rule]
    X = points()
    np.testing.assert_allclose(k(X), formula(X), **ROUNDING)
    proof = k.proof()
    assert proof.verdict == "proved"
    assert f"({equation}" in str(proof).splitlines()[0]
    spectrum = np.linalg.eigvalsh(k(X))
    assert spectrum[0] >= -9 * np.finfo(float).eps * spectrum[-1]


def test_rule_2_needs_a_positive_number():
    with pytest.raises(ValidityError, match=r"\(6.13\)"):
        -3.0 * K1


def test_rule_6_needs_positive_coefficients():
    with pytest.raises(ValidityError, match=r"\(6.15\)"):
        polynomial(K2, [1.0, -2.0, 0.5])


def test_possible_kernels_polynomials_with_and_without_one():
    X = points()
    np.testing.assert_allclose(Polynomial(3)(X), (X @ X.T) ** 3, **ROUNDING)
    np.testing.assert_allclose(Polynomial(3, offset=1.0)(X), (X @ X.T + 1) ** 3, **ROUNDING)


# ---- the empirical feature map -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", [K1, Laplacian(1.0), Polynomial(3, 1.0)], ids=repr)
def test_the_map_takes_each_point_to_its_scaled_eigenvector_entries(kernel):
    X = points()
    eigenvalues, V = np.linalg.eigh(kernel(X))
    found = empirical_map(kernel, X)
    kept = len(found.values)
    np.testing.assert_allclose(found.values, eigenvalues[::-1][:kept], rtol=1e-10)
    by_hand = (V * np.sqrt(np.maximum(eigenvalues, 0.0)))[:, ::-1][:, :kept]
    signs = np.sign((found.features * by_hand).sum(axis=0))  # an eigenvector has no sign
    np.testing.assert_allclose(found.features * signs, by_hand, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("kernel", [K1, K2, Laplacian(1.0), Polynomial(3, 1.0)], ids=repr)
def test_inner_products_of_the_map_are_the_gram_matrix(kernel):
    X = points()
    found = empirical_map(kernel, X)
    np.testing.assert_allclose(found.features @ found.features.T, kernel(X), **ROUNDING)
    np.testing.assert_allclose(found(X), found.features, rtol=1e-6, atol=1e-8)


def test_the_map_has_as_many_dimensions_as_the_matrix_has_rank():
    assert empirical_map(Linear(), points(9, 2)).features.shape == (9, 2)
    assert empirical_map(Gaussian(0.5), points(9, 2)).features.shape == (9, 9)
    assert empirical_map(Categorical(), ["a", "b", "a", "c"]).features.shape == (4, 3)


@pytest.mark.parametrize("kernel", [K1, Laplacian(1.0)], ids=repr)
def test_out_of_sample_inner_products_with_the_reference_points_are_exact(kernel):
    X, new = points(), points(6, seed=1)
    found = empirical_map(kernel, X)
    np.testing.assert_allclose(found(new) @ found.features.T, kernel(new, X), rtol=1e-9)


def test_out_of_sample_the_extension_is_the_projection_onto_the_span():
    """Its inner products are k(x)ᵀK⁻¹k(z), at most k(x, x) for a point with itself."""
    X, new = points(), points(6, seed=1)
    found = empirical_map(K1, X)(new)
    expected = K1(new, X) @ np.linalg.solve(K1(X), K1(X, new))
    np.testing.assert_allclose(found @ found.T, expected, rtol=1e-8, atol=1e-10)
    assert (np.diag(found @ found.T) <= 1.0 + 1e-9).all()


def test_out_of_sample_nothing_is_lost_where_the_points_span_the_space():
    X, new = points(), points(6, seed=1)
    found = empirical_map(Linear(), X)(new)
    np.testing.assert_allclose(found @ found.T, new @ new.T, **ROUNDING)


def test_a_map_of_small_rank_keeps_the_largest_eigenvalues():
    X = points(20)
    found = empirical_map(K1, X, rank=3)
    eigenvalues = np.linalg.eigvalsh(K1(X))
    error = np.linalg.norm(found.features @ found.features.T - K1(X), 2)
    assert error == pytest.approx(eigenvalues[-4], rel=1e-10)  # Eckart and Young


# ---- the theorem on finite input spaces --------------------------------------------------------


def similarity_on(names, matrix):
    """A symmetric function on a finite set, given by its table of values."""
    place = {name: i for i, name in enumerate(names)}
    return from_function(lambda a, b: matrix[place[a], place[b]])


def test_finite_space_a_positive_semi_definite_table_is_a_kernel():
    names = ["cat", "dog", "bird", "fish"]
    B = np.random.default_rng(0).normal(size=(4, 2))
    k = similarity_on(names, B @ B.T)
    phi = empirical_map(k, names)
    features = phi.features
    assert features.shape == (4, 2)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            assert features[i] @ features[j] == pytest.approx(k.pair(a, b), abs=1e-12)
    assert check(k, names).positive


def test_finite_space_a_table_with_a_negative_eigenvalue_is_not_a_kernel():
    names = ["cat", "dog", "bird"]
    table = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.9], [0.1, 0.9, 1.0]])
    smallest = np.linalg.eigvalsh(table)[0]
    assert smallest < 0
    k = similarity_on(names, table)
    found = check(k, names)
    assert not found.positive
    assert found.eigenvalues[0] == pytest.approx(smallest)
    with pytest.raises(ValidityError, match=r"negative eigenvalue .*no real features"):
        empirical_map(k, names)


def test_finite_space_the_table_may_be_given_as_it_is():
    B = np.random.default_rng(0).normal(size=(5, 3))
    K = B @ B.T
    phi = empirical_map(precomputed(), K)
    np.testing.assert_allclose(phi.features @ phi.features.T, K, **ROUNDING)
    new = np.random.default_rng(1).normal(size=(4, 3))
    rows = new @ B.T  # similarities of new things to the five
    np.testing.assert_allclose(phi(rows) @ phi(rows).T, new @ new.T, **ROUNDING)


# ---- the maximal margin ------------------------------------------------------------------------

MAPS = {"linear": Linear(), "quadratic": Polynomial(2, 1.0), "RBF": Gaussian(1.0)}
SOLVED = {"rtol": 1e-5, "atol": 1e-5}


def separable(n=30, seed=0):
    spread = 0.3 * np.eye(2)
    return two_gaussians(n, [[-1.6, 1.0], [1.2, -1.4]], [spread, spread], seed=seed)


def overlapping(n=60, seed=0):
    spread = 0.8 * np.eye(2)
    return two_gaussians(n, [[-0.6, 0.5], [0.6, -0.5]], [spread, spread], seed=seed)


def multipliers(machine, n):
    """The α of all items, zero for those that are no support vectors."""
    alpha = np.zeros(n)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return alpha


def dual_value(alpha, z, K):
    """W(α) = Σα − ½ΣΣ zᵢzⱼαᵢαⱼ yᵢᵀyⱼ."""
    return alpha.sum() - (alpha * z) @ K @ (alpha * z) / 2


@pytest.mark.parametrize("kernel", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("seed", range(3))
def test_kuhn_tucker_conditions_of_the_maximal_margin(kernel, seed):
    X, z = separable(seed=seed)
    machine = SVC(kernel, C=np.inf).fit(X, z)
    alpha, g = multipliers(machine, len(X)), machine.decision_function(X)
    assert (alpha >= 0).all() and (alpha == 0).any()
    assert (z * g - 1 >= -1e-5).all()
    np.testing.assert_allclose(alpha * (z * g - 1), 0, atol=1e-5 * max(alpha.max(), 1))


@pytest.mark.parametrize("kernel", MAPS.values(), ids=MAPS)
def test_stationarity_the_weighted_signs_add_up_to_zero(kernel):
    X, z = separable()
    machine = SVC(kernel, C=np.inf).fit(X, z)
    assert multipliers(machine, len(X)) @ z == pytest.approx(0, abs=1e-12)


def test_stationarity_w_is_the_sum_over_the_support_vectors():
    X, z = separable()
    machine = SVC("linear", C=np.inf).fit(X, z)
    w = (multipliers(machine, len(X)) * z) @ X
    np.testing.assert_allclose(machine.decision_function(X), X @ w + machine.intercept_, **SOLVED)


@pytest.mark.parametrize("kernel", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("seed", range(3))
def test_w0_is_in_the_middle_between_the_nearest_items(kernel, seed):
    """w₀ = −½(min over z=1 of wᵀy + max over z=−1 of wᵀy)."""
    X, z = separable(seed=seed)
    machine = SVC(kernel, C=np.inf).fit(X, z)
    values = kernel(X, X[machine.support_]) @ machine.dual_coef_[0]
    w0 = -0.5 * (values[z == 1].min() + values[z == -1].max())
    assert machine.intercept_[0] == pytest.approx(w0, abs=1e-12 * max(1, np.abs(values).max()))


@pytest.mark.parametrize("kernel", MAPS.values(), ids=MAPS)
def test_optimal_margin_the_square_of_w_is_the_sum_of_the_multipliers(kernel):
    X, z = separable()
    machine = SVC(kernel, C=np.inf).fit(X, z)
    alpha = multipliers(machine, len(X))
    square = (alpha * z) @ kernel(X) @ (alpha * z)
    assert square == pytest.approx(alpha.sum(), rel=1e-5)
    assert machine.squared_norm_ == pytest.approx(square, rel=1e-9)
    assert machine.margin_ == pytest.approx(1 / np.sqrt(square), rel=1e-9)


def test_margin_it_is_the_distance_of_the_support_vectors_from_the_hyperplane():
    X, z = separable()
    machine = SVC("linear", C=np.inf).fit(X, z)
    w = machine.dual_coef_[0] @ machine.support_vectors_
    distances = z * (X @ w + machine.intercept_) / np.linalg.norm(w)
    np.testing.assert_allclose(distances[machine.support_], machine.margin_, rtol=1e-5)
    assert distances.min() == pytest.approx(machine.margin_, rel=1e-5)


@pytest.mark.parametrize("order", range(5))
def test_margin_no_perceptron_has_a_wider_one(order):
    X, z = separable()
    walker = Perceptron("linear", margin=20.0, shuffle=True, random_state=order).fit(X, z)
    distances = z * walker.decision_function(X) / np.linalg.norm(walker.coef_)
    widest = SVC("linear", C=np.inf).fit(X, z).margin_
    assert 0 < distances.min() <= widest * (1 + 1e-6)


def test_margin_no_direction_of_the_plane_has_a_wider_one():
    """Maximize m over ‖w‖ = 1 by trying all angles; the best w₀ of each is in the middle."""
    X, z = separable()
    angles = np.linspace(0, 2 * np.pi, 20_001)
    W = np.column_stack([np.cos(angles), np.sin(angles)])
    values = X @ W.T
    halves = (values[z == 1].min(axis=0) - values[z == -1].max(axis=0)) / 2
    assert SVC("linear", C=np.inf).fit(X, z).margin_ == pytest.approx(halves.max(), rel=1e-6)


@pytest.mark.parametrize("kernel", MAPS.values(), ids=MAPS)
def test_dual_problem_its_value_is_that_of_the_primal(kernel):
    X, z = separable()
    machine = SVC(kernel, C=np.inf).fit(X, z)
    value = dual_value(multipliers(machine, len(X)), z, kernel(X))
    assert value == pytest.approx(machine.squared_norm_ / 2, rel=1e-5)
    assert machine.solution_.objective == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_dual_problem_a_general_solver_finds_nothing_better(C):
    X, z = overlapping(n=24)
    K = Gaussian(1.0)(X)
    machine = SVC(Gaussian(1.0), C=C, tol=1e-8).fit(X, z)
    peer = minimize(
        lambda a: -dual_value(a, z, K), np.zeros(len(z)), method="SLSQP",
        jac=lambda a: z * (K @ (a * z)) - 1, bounds=[(0, C)] * len(z),
        constraints={"type": "eq", "fun": lambda a: a @ z, "jac": lambda a: z.astype(float)},
        options={"ftol": 1e-14, "maxiter": 2000},
    )  # fmt: skip
    alpha = multipliers(machine, len(z))
    assert dual_value(alpha, z, K) >= -peer.fun * (1 - 1e-8)
    np.testing.assert_allclose(alpha, peer.x, atol=1e-3 * C)


def test_sparsity_without_the_other_items_the_hyperplane_is_the_same():
    X, z = separable()
    whole = SVC("linear", C=np.inf).fit(X, z)
    few = SVC("linear", C=np.inf).fit(X[whole.support_], z[whole.support_])
    assert len(whole.support_) <= 4 < len(X)
    np.testing.assert_allclose(few.decision_function(X), whole.decision_function(X), **SOLVED)


def test_separability_two_equal_items_of_different_classes_have_no_margin():
    with pytest.raises(SolveError, match="not separable"):
        SVC("linear", C=np.inf).fit([[0.0], [1.0], [1.0]], [-1, -1, 1])


def test_separability_xor_is_separable_after_a_quadratic_map():
    X, y = xor()
    assert SVC(Polynomial(2, 1.0), C=np.inf).fit(X, y).score(X, y) == 1


def test_separability_xor_is_not_separable_without_a_map():
    X, y = xor()
    with pytest.raises(SolveError, match="not separable"):
        SVC("linear", C=np.inf).fit(X, y)


# ---- the soft margin ---------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
class TestSoftMargin:
    """Statements about ½wᵀw + CΣξ with zᵢg(yᵢ) ≥ 1 − ξᵢ."""

    @staticmethod
    def solved(kernel, C):
        X, z = overlapping()
        machine = SVC(kernel, C=C, tol=1e-7).fit(X, z)
        g = machine.decision_function(X)
        return machine, multipliers(machine, len(X)), z, g, np.maximum(0, 1 - z * g), kernel(X)

    def test_constraints_the_multipliers_are_between_zero_and_c(self, kernel, C):
        _, alpha, z, *_ = self.solved(kernel, C)
        assert (alpha >= 0).all() and (alpha <= C).all()
        assert (alpha == C).any()
        assert alpha @ z == pytest.approx(0, abs=1e-10 * C)

    def test_nonzero_slack_only_occurs_where_alpha_is_c(self, kernel, C):
        """ξᵢ(αᵢ − C) = 0."""
        _, alpha, _, _, slack, _ = self.solved(kernel, C)
        assert (slack > 1e-5).any()
        np.testing.assert_array_equal(alpha[slack > 1e-5], C)

    def test_kuhn_tucker_complementary_condition(self, kernel, C):
        """αᵢ(zᵢg(yᵢ) − 1 + ξᵢ) = 0: an item beyond the margin is no support vector."""
        _, alpha, z, g, slack, _ = self.solved(kernel, C)
        np.testing.assert_allclose(alpha * (z * g - 1 + slack), 0, atol=1e-5 * C)
        assert (alpha[z * g > 1 + 1e-5] == 0).all()

    def test_the_gap_between_primal_and_dual_is_closed_and_reported(self, kernel, C):
        machine, alpha, z, _, slack, K = self.solved(kernel, C)
        primal = (alpha * z) @ K @ (alpha * z) / 2 + C * slack.sum()
        gap = primal - dual_value(alpha, z, K)
        assert 0 <= gap + 1e-9 * primal and gap <= 1e-5 * primal
        assert machine.solution_.gap == pytest.approx(gap, abs=1e-8 * primal)

    def test_the_square_of_w_is_the_sum_of_alpha_less_the_price_of_slack(self, kernel, C):
        """From the complementary conditions; with a hard margin there is no slack to pay."""
        machine, alpha, _, _, slack, _ = self.solved(kernel, C)
        expected = alpha.sum() - C * slack.sum()
        assert machine.squared_norm_ == pytest.approx(expected, rel=1e-4)


def test_c_controls_violations_against_margin():
    X, z = overlapping()
    prices = (0.01, 0.1, 1.0, 10.0, 100.0)
    machines = [SVC("linear", C=C, tol=1e-6).fit(X, z) for C in prices]
    margins = [machine.margin_ for machine in machines]
    slacks = [np.maximum(0, 1 - z * m.decision_function(X)).sum() for m in machines]
    assert margins == sorted(margins, reverse=True) and margins[0] > 2 * margins[-1]
    assert slacks == sorted(slacks, reverse=True) and slacks[0] > 1.5 * slacks[-1]


def test_a_large_c_is_the_hard_margin_where_there_is_one():
    X, z = separable()
    hard = SVC("linear", C=np.inf).fit(X, z)
    soft = SVC("linear", C=2 * multipliers(hard, len(X)).max(), tol=1e-6).fit(X, z)
    np.testing.assert_allclose(soft.decision_function(X), hard.decision_function(X), **SOLVED)


# ---- the linear program ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0)], ids=repr)
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_linear_program_minimizes_the_sum_of_alpha_and_the_price_of_slack(kernel, C):
    """min Σα + CΣξ with zᵢ(Σαⱼzⱼ yᵢᵀyⱼ + w₀) ≥ 1 − ξᵢ, written down once more."""
    X, z = overlapping(n=30)
    K, n = kernel(X), len(z)
    machine = LPSVC(kernel, C=C).fit(X, z)
    alpha, g = np.zeros(n), machine.decision_function(X)
    alpha[machine.support_] = z[machine.support_] * machine.dual_coef_
    slack = np.maximum(0, 1 - z * g)
    margins = np.column_stack([np.outer(z, z) * K, np.eye(n), z[:, None]])
    peer = linprog(
        np.concatenate([np.ones(n), np.full(n, C), [0.0]]), -margins, -np.ones(n),
        bounds=[(0, None)] * 2 * n + [(None, None)],
    )  # fmt: skip
    assert (alpha >= 0).all()
    assert alpha.sum() + C * slack.sum() == pytest.approx(peer.fun, rel=1e-6)
    assert machine.solution_.objective == pytest.approx(peer.fun, rel=1e-6)


def test_linear_program_fewer_multipliers_are_positive():
    X, z = overlapping(n=100)
    lp, qp = (machine("gaussian", C=1.0).fit(X, z) for machine in (LPSVC, SVC))
    assert 3 * len(lp.support_) < len(qp.support_)
    assert lp.score(X, z) >= qp.score(X, z) - 0.05


def test_linear_program_needs_no_valid_kernel():
    """There is no scalar product of w with itself in it."""
    table = np.array([[0.0, -1.0], [-1.0, 0.0]])  # eigenvalues 1 and −1
    assert LPSVC("precomputed", C=10.0).fit(table, [0, 1]).score(table, [0, 1]) == 1
