"""Jäkel, Schölkopf & Wichmann (2007): the equations of the tutorial, each as a test.

A tutorial on kernel methods for categorization. Journal of Mathematical Psychology, 51, 343-358.
The number in a test's name is the number of the equation.
"""

from itertools import product
from math import comb

import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier, Plan
from mercer.kernels import (
    Categorical,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    QuadraticForm,
    from_features,
)
from mercer.rkhs import Function, mean_embedding, section

# Sums of a few dozen terms of order one: a few thousand roundings at most.
ROUNDING = {"rtol": 1e-12, "atol": 1e-12}

VALID = [Linear(), Polynomial(3), Polynomial(2, offset=1.0), Gaussian(1.0), Laplacian(2.0)]


def points(n=6, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def positive_definite(d, seed=0):
    B = np.random.default_rng(seed).normal(size=(d, d))
    return B @ B.T + 0.1 * np.eye(d)


def function(kernel, n=5, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return Function(kernel, rng.normal(size=(n, d)), rng.normal(size=n))


# ---- 1. inner products ------------------------------------------------------------------------


def test_1_the_linear_kernel_is_the_excitation_of_a_neuron():
    w, x = points(2)
    assert Linear().pair(w, x) == pytest.approx(sum(wi * xi for wi, xi in zip(w, x, strict=True)))
    np.testing.assert_allclose(Linear()([w], [x]), [[w @ x]], **ROUNDING)


def test_2_the_diagonal_is_the_squared_norm():
    X = points()
    np.testing.assert_allclose(Linear().diagonal(X), (X**2).sum(axis=1), **ROUNDING)
    norms = [section(Linear(), x).norm() for x in X]
    np.testing.assert_allclose(norms, np.linalg.norm(X, axis=1), **ROUNDING)


def test_3_the_distance_is_the_length_of_the_difference():
    x, y = points(2)
    found = section(Linear(), x).distance(section(Linear(), y))
    assert found == pytest.approx(np.linalg.norm(x - y), rel=1e-12)


def test_4_the_angle_comes_from_the_inner_product():
    v, w = np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])
    assert section(Linear(), v).angle(section(Linear(), w)) == pytest.approx(np.pi / 4)


def test_4_perpendicular_vectors_have_a_right_angle():
    v, w = np.array([1.0, 2.0]), np.array([-2.0, 1.0])
    assert section(Linear(), v).angle(section(Linear(), w)) == pytest.approx(np.pi / 2)


def test_5_closer_to_one_mean_is_a_side_of_a_hyperplane():
    A, B, X = points(9, 2, seed=1) + 1.0, points(7, 2, seed=2), points(40, 2, seed=3)
    a, b = mean_embedding(Linear(), A), mean_embedding(Linear(), B)
    threshold = (a.norm() ** 2 - b.norm() ** 2) / 2
    closer = np.linalg.norm(X - A.mean(axis=0), axis=1) < np.linalg.norm(
        X - B.mean(axis=0), axis=1
    )
    np.testing.assert_array_equal((a - b)(X) > threshold, closer)
    assert 0 < closer.sum() < len(X)


def test_6_a_matrix_defines_an_inner_product_as_a_double_sum():
    K, (w, v) = positive_definite(3), points(2)
    expected = sum(w[i] * v[j] * K[i, j] for i in range(3) for j in range(3))
    assert QuadraticForm(K).pair(w, v) == pytest.approx(expected, rel=1e-12)


def test_7_the_same_as_a_matrix_product():
    K, X, Y = positive_definite(3), points(4), points(5, seed=1)
    np.testing.assert_allclose(QuadraticForm(K)(X, Y), X @ K @ Y.T, **ROUNDING)
    np.testing.assert_allclose(QuadraticForm(K).diagonal(X), np.diag(X @ K @ X.T), **ROUNDING)


def test_7_the_identity_matrix_recovers_the_standard_inner_product():
    X = points()
    np.testing.assert_allclose(QuadraticForm(np.eye(3))(X), Linear()(X), **ROUNDING)


def test_7_the_three_axioms_of_an_inner_product():
    k = QuadraticForm(positive_definite(3))
    u, v, w = points(3)
    assert k.pair(w, v) == pytest.approx(k.pair(v, w))
    assert k.pair(2.5 * u + w, v) == pytest.approx(2.5 * k.pair(u, v) + k.pair(w, v))
    assert k.pair(w, w) > 0
    assert k.pair(np.zeros(3), np.zeros(3)) == 0


def test_8_a_positive_definite_matrix_is_proved_and_gives_no_negative_length():
    k = QuadraticForm(positive_definite(4))
    assert k.proof().verdict == "proved"
    assert (k.diagonal(points(200, 4)) > 0).all()


def test_8_a_negative_eigenvalue_refutes_the_matrix_with_a_vector_of_negative_length():
    k = QuadraticForm([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and −1
    proof = k.proof()
    assert proof.verdict == "refuted"
    assert k.diagonal(proof.witness.points)[0] == pytest.approx(-1.0)
    assert proof.witness.eigenvalue == pytest.approx(-1.0)


def test_8_rotating_and_rescaling_gives_a_standard_inner_product():
    K, X = positive_definite(3), points(5)
    values, U = np.linalg.eigh(K)
    by_hand = X @ U * np.sqrt(values)  # √Λ U w
    features = QuadraticForm(K).features(X)
    np.testing.assert_allclose(features @ features.T, by_hand @ by_hand.T, **ROUNDING)
    np.testing.assert_allclose(features @ features.T, X @ K @ X.T, **ROUNDING)


def test_fig_2_the_inverse_covariance_is_the_right_orthogonality_for_prototypes():
    rng = np.random.default_rng(0)
    covariance = np.array([[1.0, 0.95], [0.95, 1.0]])
    A = rng.multivariate_normal([0.6, -0.6], covariance, 200)
    B = rng.multivariate_normal([0.6, 0.6], covariance, 200)

    def accuracy(kernel):
        a, b = mean_embedding(kernel, A), mean_embedding(kernel, B)
        threshold = (a.norm() ** 2 - b.norm() ** 2) / 2
        return np.mean([*((a - b)(A) > threshold), *((a - b)(B) < threshold)])

    assert accuracy(Linear()) < 0.8
    assert accuracy(QuadraticForm(np.linalg.inv(covariance))) > 0.95


# ---- 1.5 and 2.1: linearization ---------------------------------------------------------------


def test_9_the_polynomial_kernel_has_exactly_these_three_features():
    X = points(7, 2)
    x1, x2 = X.T
    expected = np.column_stack([x1**2, np.sqrt(2) * x1 * x2, x2**2])
    np.testing.assert_allclose(Polynomial(2).features(X), expected, rtol=1e-15)


def test_9_a_circle_becomes_linearly_separable():
    X = points(120, 2)
    inside = np.linalg.norm(X, axis=1) < 1.0

    def accuracy(kernel):
        machine = KernelRidgeClassifier(kernel, penalty=1e-3, intercept=True)
        return machine.fit(X, inside).score(X, inside)

    assert accuracy(Linear()) < 0.75
    assert accuracy(Polynomial(2)) > 0.93


def test_10_a_machine_in_the_linearization_space_is_a_weighted_sum_of_features():
    X, new = points(40, 2), points(9, 2, seed=1)
    primal = KernelRidge(Polynomial(2), penalty=0.1, follow=Plan(route="primal"))
    primal.fit(X, np.sin(X[:, 0]))
    features = Polynomial(2).features(new)
    assert primal.coef_.shape == (3,)
    np.testing.assert_allclose(primal.predict(new), features @ primal.coef_, **ROUNDING)


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 2), (2, 3), (3, 2), (5, 3), (3, 4)])
def test_2_1_ordered_monomials(n, d):
    """⟨Φ'(x), Φ'(y)⟩ = ⟨x, y⟩^d for the n^d ordered monomials."""
    X = points(4, n)
    phi = (Linear() ** d).features(X)
    by_hand = np.array([[np.prod(x[list(i)]) for i in product(range(n), repeat=d)] for x in X])
    assert phi.shape == (4, n**d)
    np.testing.assert_allclose(phi, by_hand, rtol=1e-14)
    np.testing.assert_allclose(phi @ phi.T, (X @ X.T) ** d, **ROUNDING)
    np.testing.assert_allclose((Linear() ** d)(X), (X @ X.T) ** d, **ROUNDING)


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 2), (2, 3), (3, 2), (5, 3), (3, 4)])
def test_2_1_monomials_without_their_order_choose_d_of_n_with_replacement(n, d):
    X = points(4, n)
    phi = Polynomial(d).features(X)
    assert phi.shape == (4, comb(n + d - 1, d))
    np.testing.assert_allclose(phi @ phi.T, (X @ X.T) ** d, **ROUNDING)
    np.testing.assert_allclose(phi @ phi.T, Polynomial(d)(X), **ROUNDING)


def test_2_1_sixteen_by_sixteen_pixels_and_all_monomials_of_degree_ten():
    """The kernel works where the linearization space has 256^10 dimensions."""
    X = points(3, 256) / 16
    k = Linear() ** 10
    assert k.feature_map(X).count == 256**10
    np.testing.assert_allclose(k(X), (X @ X.T) ** 10, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3, offset=1.0)])
def test_11_a_prototype_classifier_in_the_linearization_space(kernel):
    A, B, X = points(8, 2, seed=1), points(5, 2, seed=2) + 0.5, points(20, 2, seed=3)
    means = kernel.features(A).mean(axis=0) - kernel.features(B).mean(axis=0)
    explicit = kernel.features(X) @ means
    similarities = kernel(X, A).mean(axis=1) - kernel(X, B).mean(axis=1)
    function = mean_embedding(kernel, A) - mean_embedding(kernel, B)
    np.testing.assert_allclose(similarities, explicit, **ROUNDING)
    np.testing.assert_allclose(function(X), explicit, **ROUNDING)


def test_12_every_linearization_function_defines_a_kernel():
    def phi(x):
        return [np.sin(x[0]), x[0] * x[1], 1.0]

    X = points(5, 2)
    Phi = np.array([phi(x) for x in X])
    k = from_features(phi)
    np.testing.assert_allclose(k(X), Phi @ Phi.T, **ROUNDING)
    assert k.proof().verdict == "proved"


# ---- 2.2: the reproducing kernel Hilbert space ------------------------------------------------


@pytest.mark.parametrize("kernel", VALID, ids=repr)
def test_13_no_weights_give_a_negative_quadratic_form(kernel):
    X, W = points(30), np.random.default_rng(1).normal(size=(100, 30))
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    forms = np.einsum("ri,ij,rj->r", W, K, W)
    assert (forms >= -1e-12 * np.abs(K).max() * (W**2).sum(axis=1)).all()
    assert np.linalg.eigvalsh(K)[0] >= -30 * np.finfo(float).eps * np.linalg.norm(K, 2)


def test_13_positive_semi_definite_does_not_mean_full_rank():
    values = np.linalg.eigvalsh(Linear()(points(10, 3)))
    assert (values[:7] < 1e-13 * values[-1]).all()
    assert (values[7:] > 1e-3 * values[-1]).all()


@pytest.mark.parametrize("kernel", VALID, ids=repr)
def test_14_a_function_is_a_weighted_sum_of_similarities(kernel):
    f, X = function(kernel), points(4, seed=5)
    expected = [
        sum(w * kernel.pair(x, xi) for w, xi in zip(f.coefficients, f.points.array, strict=True))
        for x in X
    ]
    np.testing.assert_allclose(f(X), expected, **ROUNDING)


def test_14_functions_form_a_vector_space():
    k, X = Gaussian(1.0), points(8, seed=9)
    f, g, h = (function(k, n, seed=n) for n in (3, 5, 4))
    np.testing.assert_allclose((f + g)(X), f(X) + g(X), **ROUNDING)
    np.testing.assert_allclose((f + g)(X), (g + f)(X), **ROUNDING)
    np.testing.assert_allclose(((f + g) + h)(X), (f + (g + h))(X), **ROUNDING)
    np.testing.assert_allclose((2.5 * f)(X), 2.5 * f(X), **ROUNDING)
    np.testing.assert_allclose((2.5 * (f + g))(X), (2.5 * f + 2.5 * g)(X), **ROUNDING)
    np.testing.assert_allclose((f - f)(X), np.zeros(8), **ROUNDING)
    np.testing.assert_allclose((-f)(X), -f(X), **ROUNDING)
    np.testing.assert_allclose((f / 4.0)(X), f(X) / 4, **ROUNDING)


def test_14_the_sum_includes_the_kernel_functions_of_both():
    f, g = function(Gaussian(1.0), 3), function(Gaussian(1.0), 5, seed=1)
    assert len(f + g) == 8


@pytest.mark.parametrize("kernel", VALID, ids=repr)
def test_15_the_inner_product_is_a_double_sum(kernel):
    f, g = function(kernel, 3), function(kernel, 4, seed=1)
    expected = sum(
        w * v * kernel.pair(x, y)
        for w, x in zip(f.coefficients, f.points.array, strict=True)
        for v, y in zip(g.coefficients, g.points.array, strict=True)
    )
    assert f.inner(g) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kernel", VALID, ids=repr)
def test_15_it_is_symmetric_linear_and_positive(kernel):
    f, g, h = (function(kernel, n, seed=n) for n in (3, 4, 5))
    assert f.inner(g) == pytest.approx(g.inner(f), rel=1e-12)
    expected = 2.0 * f.inner(h) - 3.0 * g.inner(h)
    assert (2.0 * f - 3.0 * g).inner(h) == pytest.approx(expected, rel=1e-10)
    assert f.inner(f) > 0


def test_15_definiteness_only_the_zero_function_has_norm_zero():
    f = function(Gaussian(1.0))
    assert f.norm() > 0
    assert (0.0 * f).norm() == 0
    assert (f - f).norm() < 1e-7 * f.norm()  # the root of a rounding error


def duplicated():
    """One function: all of its weight on a point, or shared by three copies of it."""
    k, (x, y) = Gaussian(1.0), points(2)
    return Function(k, [x, y], [3.0, -1.0]), Function(k, [x, x, y, x], [5.0, 2.0, -1.0, -4.0])


def collinear():
    """For the linear kernel, k(·, x) + k(·, y) is k(·, x + y), and 2k(·, x) is k(·, 2x)."""
    k, (x, y) = Linear(), points(2)
    return Function(k, [x, y], [2.0, -1.0]), Function(k, [2 * x - y], [1.0])


def other_points():
    """A quadratic form in two variables, written with two quite different sets of points."""
    k, X, Y = Polynomial(2), points(5, 2), points(3, 2, seed=7)
    w = np.random.default_rng(3).normal(size=5)
    # The space has three dimensions, so any three general points span it.
    v = np.linalg.solve(Polynomial(2).features(Y).T, Polynomial(2).features(X).T @ w)
    return Function(k, X, w), Function(k, Y, v)


def same_categories():
    """Things of the same category have the same section."""
    k = Categorical()
    one = Function(k, ["cat", "dog"], [1.0, 2.0])
    return one, Function(k, ["dog", "cat", "dog", "cat"], [1.5, 0.25, 0.5, 0.75])


@pytest.mark.parametrize("expansions", [duplicated, collinear, other_points, same_categories])
def test_16_the_inner_product_does_not_depend_on_the_expansion(expansions):
    f, same = expansions()
    g = function(f.kernel, d=f.points.width) if f.points.width else 2.0 * f
    assert len(f) != len(same) and not np.array_equal(f.coefficients, same.coefficients)
    # The weights of one expansion come from a linear system, hence a few digits less.
    assert same.inner(g) == pytest.approx(f.inner(g), rel=1e-10)
    assert g.inner(same) == pytest.approx(g.inner(f), rel=1e-10)
    assert same.inner(same) == pytest.approx(f.inner(f), rel=1e-10)
    assert f.inner(same) == pytest.approx(f.inner(f), rel=1e-10)
    assert same.norm() == pytest.approx(f.norm(), rel=1e-10)
    assert f.distance(same) < 1e-6 * f.norm()  # the root of a rounding error


def test_16_both_expansions_are_the_same_function():
    for expansions in (duplicated, collinear, other_points):
        f, same = expansions()
        X = points(6, f.points.width, seed=11)
        np.testing.assert_allclose(f(X), same(X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel", VALID, ids=repr)
def test_17_the_inner_product_with_a_section_evaluates_the_function(kernel):
    f, X = function(kernel), points(5, seed=4)
    reproduced = [section(kernel, x).inner(f) for x in X]
    np.testing.assert_allclose(reproduced, f(X), **ROUNDING)


@pytest.mark.parametrize("kernel", VALID, ids=repr)
def test_18_the_inner_product_of_two_sections_is_the_kernel(kernel):
    x, y = points(2)
    found = section(kernel, x).inner(section(kernel, y))
    assert found == pytest.approx(kernel.pair(x, y), rel=1e-12)
    assert section(kernel, x)([y])[0] == pytest.approx(kernel.pair(x, y), rel=1e-12)


# ---- 2.3: the Gaussian kernel -----------------------------------------------------------------


def test_19_the_tutorials_gaussian_has_bandwidth_one_over_root_two():
    k, X = Gaussian(1 / np.sqrt(2)), points(6)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(k(X), np.exp(-squared), rtol=1e-12)


def test_19_any_gaussian_kernel_matrix_has_full_rank():
    X = points(25, 2) * 3
    values = np.linalg.eigvalsh(Gaussian(1 / np.sqrt(2))(X))
    assert values[0] > 25 * np.finfo(float).eps * values[-1]


@pytest.mark.parametrize("x", [[0.0], [3.0, -4.0], [1e6, 1e6, 1e6, 1e6, 1e6]])
def test_20_the_norm_of_a_gaussian_function_is_one(x):
    assert section(Gaussian(1 / np.sqrt(2)), x).norm() == 1.0


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(1.0), Exponential(2.0)], ids=repr)
def test_20_the_cosine_of_the_angle_of_two_sections_is_their_similarity(kernel):
    X = points(6, 2)
    for x, y in product(X, X):
        angle = section(kernel, x).angle(section(kernel, y))
        assert np.cos(angle) == pytest.approx(kernel.pair(x, y), abs=1e-12)
        assert 0 <= angle < np.pi / 2


def test_20_the_further_apart_the_greater_the_angle():
    k = Gaussian(1.0)
    angles = [section(k, [0.0]).angle(section(k, [t])) for t in np.linspace(0, 6, 30)]
    assert (np.diff(angles) > 0).all()
    assert angles[-1] == pytest.approx(np.pi / 2, abs=1e-7)


def test_21_the_mean_similarity_is_the_value_of_the_mean_embedding():
    k, A, x = Gaussian(0.5), points(12), points(1, seed=3)
    expected = np.mean([k.pair(a, x[0]) for a in A])
    assert mean_embedding(k, A)(x)[0] == pytest.approx(expected, rel=1e-12)


def test_21_exemplars_are_a_prototype_in_the_function_space():
    """Closer to the mean of A in the space of functions, if both means are equally long."""
    k, A, X = Gaussian(0.8), points(10, 2), points(50, 2, seed=3)
    B = A @ [[0.0, -1.0], [1.0, 0.0]]  # a rotation changes no distances, hence no norm
    a, b = mean_embedding(k, A), mean_embedding(k, B)
    assert a.norm() == pytest.approx(b.norm(), rel=1e-12)
    nearer = [a.distance(section(k, x)) < b.distance(section(k, x)) for x in X]
    np.testing.assert_array_equal(k(X, A).mean(axis=1) > k(X, B).mean(axis=1), nearer)


def test_22_a_perceptron_in_the_function_space_evaluates_a_function():
    k = Gaussian(1.0)
    f, X = function(k), points(5, seed=4)
    excitation = [f.inner(section(k, x)) for x in X]
    np.testing.assert_allclose(excitation, f(X), **ROUNDING)


def test_23_a_machine_is_a_weighted_similarity_to_all_exemplars():
    X, new = points(15), points(6, seed=1)
    machine = KernelRidge(Gaussian(1.0), penalty=0.3).fit(X, X[:, 0])
    expected = Gaussian(1.0)(new, X) @ machine.dual_coef_
    np.testing.assert_allclose(machine.predict(new), expected, **ROUNDING)
    np.testing.assert_allclose(machine.function_(new), expected, **ROUNDING)


@pytest.mark.parametrize("seed", range(4))
def test_24_interpolation_solves_any_labels_perfectly(seed):
    X = points(20, seed=seed)
    y = np.random.default_rng(seed).choice([-1.0, 1.0], size=20)
    machine = KernelRidge(Gaussian(0.7), penalty=0.0).fit(X, y)
    w = np.linalg.solve(Gaussian(0.7)(X), y)
    np.testing.assert_allclose(machine.dual_coef_, w, rtol=1e-8)
    np.testing.assert_allclose(machine.predict(X), y, rtol=1e-10)


# ---- 3. regularization ------------------------------------------------------------------------


def split(kernel, seed=0):
    """Return f, the exemplars, f∥ and f⊥."""
    f, X = function(kernel, 8, seed=seed), points(5, seed=seed + 100)
    parallel = f.project(X)
    return f, X, parallel, f - parallel


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0), Polynomial(3, 1.0)], ids=repr)
def test_representer_the_rest_is_orthogonal_to_every_exemplar(kernel):
    f, X, _, rest = split(kernel)
    assert rest.norm() > 0.1 * f.norm()  # otherwise nothing is shown
    for x in X:
        scale = f.norm() * section(kernel, x).norm()
        assert abs(rest.inner(section(kernel, x))) < 1e-11 * scale


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0), Polynomial(3, 1.0)], ids=repr)
def test_representer_the_projection_has_the_same_values_on_the_exemplars(kernel):
    f, X, parallel, rest = split(kernel)
    np.testing.assert_allclose(parallel(X), f(X), rtol=1e-9, atol=1e-11 * np.abs(f(X)).max())
    np.testing.assert_allclose(rest(X), np.zeros(len(X)), atol=1e-11 * np.abs(f(X)).max())


@pytest.mark.parametrize("seed", range(6))
def test_representer_the_projection_is_never_longer(seed):
    f, _, parallel, rest = split(Gaussian(1.0), seed)
    assert parallel.norm() <= f.norm()
    squares = parallel.norm() ** 2 + rest.norm() ** 2
    assert squares == pytest.approx(f.norm() ** 2, rel=1e-9)


def test_representer_projecting_twice_changes_nothing():
    _, X, parallel, _ = split(Gaussian(1.0))
    again = parallel.project(X)
    np.testing.assert_allclose(again.coefficients, parallel.coefficients, rtol=1e-8)


def test_representer_a_function_of_the_span_is_its_own_projection():
    f = function(Gaussian(1.0))
    np.testing.assert_allclose(f.project(f.points).coefficients, f.coefficients, rtol=1e-8)


def test_representer_projection_onto_dependent_exemplars():
    """Seven exemplars span three dimensions of the linear kernel's space: all of it."""
    f, X = function(Linear()), points(7)
    rest = f - f.project(X)
    assert rest.norm() < 1e-6 * f.norm()
    twice = np.concatenate([X, X])
    np.testing.assert_allclose(f.project(twice)(X), f(X), rtol=1e-9, atol=1e-12)


def loss(f, X, y, penalty):
    return np.sum((f(X) - y) ** 2) + penalty * f.inner(f)


def test_25_no_function_of_the_space_has_a_smaller_loss_than_the_machine():
    """Perturbations in the span of the exemplars and out of it, small and large."""
    X, y, penalty = points(12), points(12, 1, seed=1)[:, 0], 0.5
    k = Gaussian(1.0)
    best = KernelRidge(k, penalty=penalty).fit(X, y).function_
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        for where in (X, points(6, seed=5)):
            other = best + Function(k, where, size * rng.normal(size=len(where)))
            assert loss(other, X, y, penalty) > loss(best, X, y, penalty)


def test_3_2_the_squared_norm_is_a_quadratic_form_of_the_weights():
    X = points(9)
    f = KernelRidge(Gaussian(1.0), penalty=0.2).fit(X, X[:, 0]).function_
    w, K = f.coefficients, Gaussian(1.0)(X)
    assert f.norm() ** 2 == pytest.approx(w @ K @ w, rel=1e-12)


@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 1.0, 100.0])
def test_3_2_the_optimal_weights(penalty):
    """w = (K + λI)⁻¹y, where the gradient 2(KK + λK)w − 2Ky vanishes."""
    X, y = points(15), points(15, 1, seed=1)[:, 0]
    K = Gaussian(1.0)(X)
    w = KernelRidge(Gaussian(1.0), penalty=penalty).fit(X, y).dual_coef_
    np.testing.assert_allclose(w, np.linalg.inv(K + penalty * np.eye(15)) @ y, rtol=1e-8)
    np.testing.assert_allclose((K @ K + penalty * K) @ w, K @ y, rtol=1e-9, atol=1e-12)


def test_3_2_a_vanishing_penalty_recovers_interpolation():
    X, y = points(12, 2) * 2, points(12, 1, seed=1)[:, 0]
    exact = KernelRidge(Gaussian(1.0), penalty=0.0).fit(X, y).dual_coef_
    gaps = [
        np.linalg.norm(KernelRidge(Gaussian(1.0), penalty=p).fit(X, y).dual_coef_ - exact)
        for p in (1e-2, 1e-4, 1e-6, 1e-8)
    ]
    assert (np.diff(gaps) < 0).all()
    assert gaps[-1] < 1e-5 * np.linalg.norm(exact)


def test_3_2_a_large_penalty_leaves_only_the_signs_of_the_labels():
    X, penalty = points(20, 2), 1e8
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    w = KernelRidge(Gaussian(1.0), penalty=penalty).fit(X, y).dual_coef_
    # (K + λI)⁻¹ = I/λ − K/λ² + …, and the entries of Ky are at most 20.
    np.testing.assert_allclose(w * penalty, y, atol=20 / penalty * 1.01)


def test_3_2_a_large_penalty_gives_the_boundary_of_21():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(15, 2)) + 1, rng.normal(size=(15, 2)) - 1
    X, y = np.concatenate([A, B]), np.repeat(["a", "b"], 15)
    machine = KernelRidgeClassifier(Gaussian(1.0), penalty=1e9).fit(X, y)
    new = rng.normal(size=(100, 2)) * 2
    k = Gaussian(1.0)
    by_similarity = np.where(k(new, A).mean(axis=1) > k(new, B).mean(axis=1), "a", "b")
    np.testing.assert_array_equal(machine.predict(new), by_similarity)
