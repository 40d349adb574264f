"""Bishop (2006), (6.13)-(6.22): how to build valid kernels, and what each rule demands.

Each rule is held to three things: the new kernel has the values of the formula, its proof names
the rule, and breaking the side condition is an error or a refutation.
"""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError, ValidityError
from mercer.kernels import (
    Categorical,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    QuadraticForm,
    Sigmoid,
    exp,
    from_function,
    polynomial,
    precomputed,
    pullback,
    rescale,
)
from mercer.kernels.algebra import Scale
from mercer.kernels.tables import On

ROUNDING = {"rtol": 1e-12, "atol": 1e-12}
K1, K2 = Gaussian(1.3), Polynomial(2, offset=0.5)


def points(n=7, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def proves_with(k, equation, *parts):
    """Hold that the derivation is printed, names its rule and shows each part as a premise."""
    proof, text = k.proof(), str(k.proof())
    assert proof.verdict == "proved"
    first, *rest = text.splitlines()
    assert "is positive semi-definite because" in first
    assert f"({equation}" in first
    assert [premise.kernel for premise in proof.premises] == list(parts)
    for part in parts:
        assert any(f"─ {part!r}, positive semi-definite because" in line for line in rest)


def is_not_negative(k, X):
    K = k(X)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -len(K) * np.finfo(float).eps * np.abs(values).max()


# ---- (6.13) a multiple -------------------------------------------------------------------------


@pytest.mark.parametrize("c", [1e-3, 2.5, 4])
def test_6_13_a_multiple(c):
    X, Z = points(), points(5, seed=1)
    np.testing.assert_allclose((c * K1)(X, Z), c * K1(X, Z), **ROUNDING)
    np.testing.assert_allclose((K1 * c)(X, Z), c * K1(X, Z), **ROUNDING)
    np.testing.assert_allclose((c * K1).diagonal(X), c * np.ones(7), **ROUNDING)
    proves_with(c * K1, "6.13", K1)
    is_not_negative(c * K1, X)


@pytest.mark.parametrize("c", [-1.0, -1e-9])
def test_6_13_a_negative_multiple_is_refused_at_construction_and_the_node_named(c):
    with pytest.raises(ValidityError, match=r"factor of Gaussian\(bandwidth=1.3\).*\(6.13\)"):
        c * K1


@pytest.mark.parametrize("c", [float("nan"), float("inf"), float("-inf")])
def test_6_13_an_infinite_multiple_is_refused_at_construction(c):
    with pytest.raises(ValidityError, match=r"factor of .* finite"):
        c * K1


def test_6_13_a_negative_multiple_would_indeed_not_be_valid():
    assert np.linalg.eigvalsh(-1.0 * K1(points()))[0] < -0.5


# ---- (6.14) a function on both sides -----------------------------------------------------------


def height(x):
    return 1.0 + x[0] ** 2


def test_6_14_a_function_on_both_sides():
    X, Z = points(), points(5, seed=1)
    k = rescale(K1, height)
    f, g = (np.array([height(x) for x in side]) for side in (X, Z))
    np.testing.assert_allclose(k(X, Z), f[:, None] * K1(X, Z) * g, **ROUNDING)
    np.testing.assert_allclose(k.diagonal(X), f**2, **ROUNDING)
    proves_with(k, "6.14", K1)
    is_not_negative(k, X)


def test_6_14_any_function_will_do_also_a_negative_or_vanishing_one():
    X = points()
    k = rescale(K1, lambda x: min(x[0], 0.0) * 3.0 - (x[1] > 0))
    proves_with(k, "6.14", K1)
    is_not_negative(k, X)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_6_14_a_function_that_is_never_finite_is_refused_at_construction(value):
    with pytest.raises(ValidityError, match=r"f of rescale\(.*finite numbers \(6.14\)"):
        rescale(K1, lambda x: value)


def test_6_14_a_function_that_is_not_finite_at_a_later_item_is_refused_there():
    X = points()
    X[4, 0] = -7.0
    k = rescale(K1, lambda x: float("nan") if x[0] == -7.0 else 1.0)
    with pytest.raises(ValidityError, match=r"f of rescale\(.*is nan for item 4.*\(6.14\)"):
        k(X)
    with pytest.raises(ValidityError, match=r"is nan for item 4"):
        k.diagonal(X)
    np.testing.assert_allclose(k(X[:4]), K1(X[:4]), **ROUNDING)


def test_6_14_f_must_be_a_function():
    with pytest.raises(ValidityError, match=r"f must be a function, found float"):
        rescale(K1, 2.0)


# ---- (6.15) a polynomial -----------------------------------------------------------------------


@pytest.mark.parametrize("coefficients", [[0.5], [0.0, 2.0], [1.0, 0.0, 0.0, 3.0], [1, 2, 3]])
def test_6_15_a_polynomial(coefficients):
    X, Z = points(), points(5, seed=1)
    k = polynomial(K1, coefficients)
    expected = sum(c * K1(X, Z) ** p for p, c in enumerate(coefficients))
    np.testing.assert_allclose(k(X, Z), expected, **ROUNDING)
    proves_with(k, "6.15", K1)
    is_not_negative(k, X)


def test_6_15_its_features_are_those_of_its_powers():
    k, X = polynomial(Linear(), [0.5, 1.0, 2.0]), points()
    features = k.features(X)
    assert features.shape == (7, 1 + 3 + 9)
    np.testing.assert_allclose(features @ features.T, k(X), **ROUNDING)


@pytest.mark.parametrize(
    ("coefficients", "power"), [([-1.0], 0), ([1.0, -1e-9], 1), ([1.0, 2.0, -3.0, 1.0], 2)]
)
def test_6_15_a_negative_coefficient_is_refused_and_named(coefficients, power):
    with pytest.raises(ValidityError, match=rf"coefficient of .*\^{power} must.*\(6.15\)"):
        polynomial(K1, coefficients)


def test_6_15_a_polynomial_kernel_with_a_negative_coefficient_is_refuted():
    k = Polynomial(3, offset=-1.0)  # (xᵀz)³ − 3(xᵀz)² + 3xᵀz − 1
    proof = k.proof()
    assert proof.verdict == "refuted"
    assert "(6.15)" in str(proof)
    values = np.linalg.eigvalsh(k(proof.witness.points))
    assert values[0] == pytest.approx(proof.witness.eigenvalue)
    assert values[0] < 0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_6_15_an_infinite_coefficient_is_refused(value):
    with pytest.raises(ValidityError, match=r"coefficient.* finite"):
        polynomial(K1, [1.0, value])


def test_6_15_a_polynomial_needs_coefficients():
    with pytest.raises(ValidityError, match=r"one or several numbers"):
        polynomial(K1, [])


# ---- (6.16) an exponential ---------------------------------------------------------------------


def test_6_16_an_exponential():
    X, Z = points(), points(5, seed=1)
    np.testing.assert_allclose(exp(K2)(X, Z), np.exp(K2(X, Z)), rtol=1e-11)
    proves_with(exp(K2), "6.16", K2)
    is_not_negative(exp(Linear()), X)


def test_6_16_the_exponential_is_the_limit_of_polynomials():
    X = points() / 2
    k = exp(Linear())
    taylor = polynomial(Linear(), 1 / np.cumprod([1.0, *range(1, 25)]))
    np.testing.assert_allclose(k(X), taylor(X), rtol=1e-12)


def test_6_16_an_exponential_that_overflows_is_refused_and_names_the_items():
    X = np.array([[1.0], [30.0]])  # e^900 is not a float
    with pytest.raises(ValidityError, match=r"exp\(Linear\(\)\) is inf for items 1 and 1"):
        exp(Linear())(X)


# ---- (6.17) a sum ------------------------------------------------------------------------------


def test_6_17_a_sum():
    X, Z = points(), points(5, seed=1)
    np.testing.assert_allclose((K1 + K2)(X, Z), K1(X, Z) + K2(X, Z), **ROUNDING)
    proves_with(K1 + K2, "6.17", K1, K2)
    is_not_negative(K1 + K2, X)


def test_6_17_a_number_is_a_constant_kernel():
    X = points()
    np.testing.assert_allclose((K1 + 2.0)(X), K1(X) + 2.0, **ROUNDING)
    np.testing.assert_allclose((2 + K1)(X), K1(X) + 2.0, **ROUNDING)
    assert (K1 + 2.0).proof().verdict == "proved"


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_6_17_a_negative_constant_is_refused(value):
    with pytest.raises(ValidityError, match=r"value of Constant must be"):
        K1 + value


def test_6_17_a_sum_with_a_refuted_part_is_refuted_only_by_a_witness():
    bad = Sigmoid(1.0, -1.0)
    refuted = (bad + 0.001 * Linear()).proof()
    assert refuted.verdict == "refuted"
    assert np.linalg.eigvalsh((bad + 0.001 * Linear())(refuted.witness.points))[0] < 0
    assert (bad + 10.0).proof().verdict == "unknown"  # tanh(·) + 10 passes at these points


# ---- (6.18) a product --------------------------------------------------------------------------


def test_6_18_a_product():
    X, Z = points(), points(5, seed=1)
    np.testing.assert_allclose((K1 * K2)(X, Z), K1(X, Z) * K2(X, Z), **ROUNDING)
    proves_with(K1 * K2, "6.18", K1, K2)
    is_not_negative(K1 * K2, X)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_6_18_a_power_is_a_repeated_product(p):
    X = points()
    np.testing.assert_allclose((K2**p)(X), K2(X) ** p, **ROUNDING)
    proves_with(K2**p, "6.18", K2)


@pytest.mark.parametrize("p", [0, -1, 0.5, 1.5, float("nan"), float("inf"), True, "two", None])
def test_6_18_other_powers_are_refused(p):
    with pytest.raises(ValidityError, match=r"exponent"):
        K1**p


def test_6_18_a_fractional_power_need_not_be_valid():
    """Why 1/2 is refused: the root of (xᵀz)² is |xᵀz|, which is not a kernel."""
    angles = np.pi * np.arange(3) / 3
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    many = np.random.default_rng(0).normal(size=(60, 3))
    assert np.linalg.eigvalsh(np.sqrt((Linear() ** 2)(X)))[0] > 0  # three points do not show it
    assert np.linalg.eigvalsh(np.sqrt((Linear() ** 2)(many)))[0] < -0.1


# ---- (6.19) a pullback -------------------------------------------------------------------------


def polar(x):
    return [np.hypot(x[0], x[1]), np.arctan2(x[1], x[0])]


def test_6_19_a_kernel_of_images():
    X, Z = points(d=2), points(5, d=2, seed=1)
    k = pullback(K1, polar)
    images = [np.array([polar(x) for x in side]) for side in (X, Z)]
    np.testing.assert_allclose(k(X, Z), K1(*images), **ROUNDING)
    proves_with(k, "6.19", K1)
    is_not_negative(k, X)


def test_6_19_the_things_may_be_anything_that_phi_takes():
    words = ["cat", "cart", "a", "banana"]
    k = pullback(Gaussian(1.0), lambda word: [len(word), word.count("a")])
    expected = Gaussian(1.0)([[len(w), w.count("a")] for w in words])
    np.testing.assert_allclose(k(words), expected, **ROUNDING)


def test_6_19_an_image_that_is_not_in_the_kernels_domain_is_refused():
    with pytest.raises(DomainError, match=r"phi\(X\) contains NaN at row 1"):
        pullback(K1, lambda x: [x[0], np.nan if x[0] > 2 else 0.0])([[1.0], [3.0]])
    with pytest.raises(ValidityError, match=r"phi must be a function"):
        pullback(K1, [1.0, 2.0])


# ---- (6.20) a quadratic form -------------------------------------------------------------------


def test_6_20_a_quadratic_form():
    B = points(3)
    A, X, Z = B.T @ B, points(), points(5, seed=1)
    np.testing.assert_allclose(QuadraticForm(A)(X, Z), X @ A @ Z.T, **ROUNDING)
    proof = QuadraticForm(A).proof()
    assert proof.verdict == "proved"
    assert "(6.20)" in str(proof)
    is_not_negative(QuadraticForm(A), X)


def test_6_20_a_singular_matrix_is_still_positive_semi_definite():
    assert QuadraticForm([[1.0, 1.0], [1.0, 1.0]]).proof().verdict == "proved"
    assert QuadraticForm(np.zeros((2, 2))).proof().verdict == "proved"


@pytest.mark.parametrize("smallest", [-1.0, -1e-3, -1e-9])
def test_6_20_a_matrix_that_is_not_positive_is_refuted_by_an_eigenvector(smallest):
    Q, _ = np.linalg.qr(points(4, 4))
    A = Q @ np.diag([3.0, 2.0, 1.0, smallest]) @ Q.T
    k = QuadraticForm((A + A.T) / 2)
    proof = k.proof()
    assert proof.verdict == "refuted"
    assert "against (6.20)" in str(proof)
    assert k(proof.witness.points)[0, 0] == pytest.approx(smallest, rel=1e-5)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1.0, 2.0], [0.0, 1.0]], r"must be symmetric \(6.20\)"),
        ([[1.0, 2.0]], "must be square"),
        ([1.0, 2.0], "must be square"),
        ([[np.nan]], "NaN or infinity"),
    ],
)
def test_6_20_what_is_not_a_symmetric_matrix_is_refused(matrix, words):
    with pytest.raises(ValidityError, match=words):
        QuadraticForm(matrix)


def test_6_20_vectors_must_fit_the_matrix():
    with pytest.raises(DomainError, match=r"X has 3 columns, but .*QuadraticForm.* 2"):
        QuadraticForm(np.eye(2))(points())


# ---- (6.21) and (6.22) kernels on parts --------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"), [((0,), (1, 2)), ((0, 1), (1, 2)), ((slice(0, 2),), (-1,))],
    ids=["disjoint", "overlapping", "slice and negative index"],
)  # fmt: skip
def test_6_21_and_6_22_kernels_on_parts_of_x(a, b):
    X = points()
    columns = np.arange(3)
    Xa, Xb = (np.column_stack([X[:, columns[c]] for c in part]) for part in (a, b))
    added, multiplied = K1.on(*a) + K2.on(*b), K1.on(*a) * K2.on(*b)
    np.testing.assert_allclose(added(X), K1(Xa) + K2(Xb), **ROUNDING)
    np.testing.assert_allclose(multiplied(X), K1(Xa) * K2(Xb), **ROUNDING)
    proves_with(added, "6.17", K1.on(*a), K2.on(*b))
    proves_with(multiplied, "6.18", K1.on(*a), K2.on(*b))
    proves_with(K1.on(*a), "6.21, 6.22", K1)
    is_not_negative(added, X)
    is_not_negative(multiplied, X)


def test_6_21_over_different_spaces_numbers_and_names():
    table = pd.DataFrame({"size": [1.0, 2.0, 4.0], "kind": ["a", "b", "a"], "age": [3, 4, 5]})
    k = Gaussian(1.0).on("size", "age") + 2 * Categorical().on("kind")
    same = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    expected = Gaussian(1.0)(table[["size", "age"]].to_numpy()) + 2 * same
    np.testing.assert_allclose(k(table), expected, **ROUNDING)
    product = Gaussian(1.0).on("size", "age") * Categorical().on("kind")
    np.testing.assert_allclose(product(table), (expected - 2 * same) * same, **ROUNDING)


@pytest.mark.parametrize("operation", [lambda a, b: a + b, lambda a, b: a * b], ids=["+", "*"])
def test_6_17_and_6_18_kernels_of_different_domains_are_refused(operation):
    with pytest.raises(ValidityError, match=r"Gaussian.* and precomputed\(\) compare different"):
        operation(K1, precomputed())
    with pytest.raises(ValidityError, match=r"compare different things.*\.on\("):
        operation(precomputed(), Categorical())


def test_6_21_a_part_needs_columns():
    with pytest.raises(ValidityError, match=r"at least one column"):
        K1.on()
    with pytest.raises(ValidityError, match=r"an index, a slice or a name"):
        K1.on(["a", "b"])
    with pytest.raises(ValidityError, match=r"an index, a slice or a name"):
        K1.on(1.5)


# ---- the whole tree ----------------------------------------------------------------------------


def test_a_derivation_prints_every_step():
    k = 2.0 * (Gaussian(1.0).on(0) * exp(Linear())) + rescale(Laplacian(1.0), height)
    text = str(k.proof())
    assert k.proof().verdict == "proved"
    for rule in ("(6.17)", "(6.13)", "(6.18)", "(6.16)", "(6.14)", "(6.21, 6.22)", "(6.1)"):
        assert rule in text, rule
    assert len(text.splitlines()) == 9  # one line for each node of the expression


def test_an_unknown_part_leaves_the_whole_unknown():
    k = Gaussian(1.0) + from_function(lambda x, z: float(x[0] * z[0]))
    proof = k.proof()
    assert proof.verdict == "unknown"
    assert "not known to be positive semi-definite" in str(proof).splitlines()[0]


def test_the_rules_are_checked_again_when_a_parameter_is_changed():
    with pytest.raises(ValidityError, match=r"\(6.13\)"):
        (2.0 * K1).set_params(factor=-1.0)
    with pytest.raises(ValidityError, match=r"exponent"):
        (K1**2).set_params(exponent=0.5)
    with pytest.raises(ValidityError, match=r"compare different"):
        (K1 + K2).set_params(left=precomputed())
    assert Scale(2.0, K1).factor == 2.0
    assert On(K1, (0,)).columns == (0,)
