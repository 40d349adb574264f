"""Machine Learning: perceptrons and support vector machines, its part on kernels.

The characterization of kernels by their Gram matrix, the theorem on finite input spaces, and the
composition rules 1-7 of "kernel engineering".
"""

import numpy as np
import pytest

from mercer.errors import ValidityError
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
