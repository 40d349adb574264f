"""Kernels against the plainest possible loops, integrals and closed forms."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse, special

from mercer.kernels import (
    ArcCosine,
    Brownian,
    Categorical,
    Chi2,
    Constant,
    Cosine,
    Exponential,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    QuadraticForm,
    RationalQuadratic,
    Shepard,
    Tanimoto,
    from_function,
    normalize,
)

TOLERANCE = {"rtol": 1e-11, "atol": 1e-13}


def points(n=12, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def counts(n=12, d=7, seed=0):
    X = np.random.default_rng(seed).poisson(1.5, size=(n, d)).astype(float)
    X[2] = 0.0
    return X


def loop(formula, X, Z):
    return np.array([[formula(x, z) for z in Z] for x in X])


def length(x):
    return math.sqrt(sum(t * t for t in x))


def apart(x, z):
    return length([a - b for a, b in zip(x, z, strict=True)])


def city(x, z):
    return sum(abs(a - b) for a, b in zip(x, z, strict=True))


def dot(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def cosine(x, z):
    return dot(x, z) / (length(x) * length(z)) if any(x) and any(z) else 0.0


def periodic(x, z):
    waves = [math.sin(math.pi * (a - b) / 3.0) ** 2 for a, b in zip(x, z, strict=True)]
    return math.exp(-2 * sum(waves) / 0.8**2)


def tanimoto(x, z):
    union = dot(x, x) + dot(z, z) - dot(x, z)
    return dot(x, z) / union if union else 1.0


FORMULAS = {
    "constant": (Constant(0.3), lambda x, z: 0.3),
    "linear": (Linear(), dot),
    "exponential": (Exponential(1.5), lambda x, z: math.exp(-apart(x, z) / 1.5)),
    "laplacian": (Laplacian(1.5), lambda x, z: math.exp(-city(x, z) / 1.5)),
    "rational": (
        RationalQuadratic(0.7, 1.5),
        lambda x, z: (1 + apart(x, z) ** 2 / (2 * 0.7 * 1.5**2)) ** -0.7,
    ),
    "periodic": (Periodic(3.0, 0.8), periodic),
    "brownian": (Brownian(), lambda x, z: (length(x) + length(z) - apart(x, z)) / 2),
    "cosine": (Cosine(), cosine),
    "tanimoto": (Tanimoto(), tanimoto),
}


@pytest.mark.parametrize("d", [1, 3, 4, 5, 30])
@pytest.mark.parametrize("name", FORMULAS)
def test_kernels_on_vectors(name, d):
    kernel, formula = FORMULAS[name]
    X, Z = points(d=d), points(7, d, seed=1)
    X[0] = 0.0
    np.testing.assert_allclose(kernel(X, Z), loop(formula, X, Z), **TOLERANCE)
    np.testing.assert_allclose(kernel(X), loop(formula, X, X), **TOLERANCE)


HISTOGRAMS = {
    "intersection": (Intersection(), lambda x, z: sum(map(min, x, z))),
    "tanimoto": (Tanimoto(), tanimoto),
    "chi2": (
        Chi2(2.0),
        lambda x, z: math.exp(
            -sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b) / 2.0
        ),
    ),
}


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_kernels_on_histograms(name):
    kernel, formula = HISTOGRAMS[name]
    X, Z = counts(), counts(8, seed=1)
    np.testing.assert_allclose(kernel(X, Z), loop(formula, X, Z), **TOLERANCE)


@pytest.mark.parametrize(
    "kernel",
    [
        Intersection(), Tanimoto(), Brownian(), Cosine(), QuadraticForm(np.diag(np.arange(7.0))),
        ArcCosine(0), ArcCosine(1), ArcCosine(2), Exponential(2.0), Matern(0.8, 2.0),
        Gaussian((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)), normalize(Linear() + 1.0),
        Gaussian(1.0).on(0, 3) + Linear().on(slice(1, 4)),
    ],
    ids=repr,
)  # fmt: skip
def test_sparse_rows_have_the_same_similarities_as_dense_ones(kernel):
    X, Z = counts(), counts(8, seed=1)
    found = kernel(sparse.csr_array(X), sparse.csr_array(Z))
    np.testing.assert_allclose(found, kernel(X, Z), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel(sparse.csr_array(X)), kernel(X), rtol=1e-10, atol=1e-12)
    diagonal = kernel.diagonal(sparse.csr_array(X))
    np.testing.assert_allclose(diagonal, kernel.diagonal(X), rtol=1e-10, atol=1e-12)


def test_on_binary_vectors_tanimoto_is_the_shared_share():
    X = (counts() > 0).astype(float)
    sets = [set(np.flatnonzero(x)) for x in X]
    jaccard = lambda a, b: len(a & b) / len(a | b) if a | b else 1.0
    np.testing.assert_allclose(Tanimoto()(X), loop(jaccard, sets, sets), **TOLERANCE)


def test_brownian_on_positive_numbers_is_the_minimum():
    x, z = np.random.default_rng(0).uniform(0, 10, size=(2, 15))
    expected = np.minimum(x[:, None], z[None])
    np.testing.assert_allclose(Brownian()(x[:, None], z[:, None]), expected, **TOLERANCE)


def test_brownian_on_opposite_sides_of_the_origin_is_zero():
    np.testing.assert_allclose(Brownian()([[2.0]], [[-3.0]]), [[0.0]], atol=1e-15)


def test_brownian_is_the_covariance_of_random_walks():
    steps = np.random.default_rng(0).normal(size=(40_000, 8)) / math.sqrt(8)
    walks = np.cumsum(steps, axis=1)
    t = (np.arange(8)[:, None] + 1) / 8
    # A product of two standard normals has variance at most 2.
    np.testing.assert_allclose(
        walks.T @ walks / 40_000, Brownian()(t), atol=4 * math.sqrt(2 / 4e4)
    )


@pytest.mark.parametrize("attention", [None, (0.5, 2.0, 1.0), (1.0, 0.0, 3.0)])
@pytest.mark.parametrize(("r", "p"), [(1, 1), (2, 1), (2, 2), (1.5, 0.7), (0.5, 0.5), (3, 2)])
def test_shepard(r, p, attention):
    w = attention or (1.0, 1.0, 1.0)

    def formula(x, z):
        total = sum(wi * abs(a - b) ** r for wi, a, b in zip(w, x, z, strict=True))
        return math.exp(-0.8 * total ** (p / r))

    X, Z = points(d=3), points(7, 3, seed=1)
    kernel = Shepard(0.8, order=r, exponent=p, attention=attention)
    np.testing.assert_allclose(kernel(X, Z), loop(formula, X, Z), **TOLERANCE)


def test_shepard_has_gaussian_laplacian_and_exponential_as_cases():
    X = points()
    np.testing.assert_allclose(Shepard(0.5, 2, 2)(X), Gaussian(1.0)(X), **TOLERANCE)
    np.testing.assert_allclose(Shepard(0.5, 1, 1)(X), Laplacian(2.0)(X), **TOLERANCE)
    np.testing.assert_allclose(Shepard(0.5, 2, 1)(X), Exponential(2.0)(X), **TOLERANCE)


def test_categorical_on_numbers_words_and_rows():
    equal = lambda a, b: float(a == b)
    words = ["a", "b", "a", "c"]
    np.testing.assert_array_equal(Categorical()(words), loop(equal, words, words))
    numbers = [1, 2.0, 1.0, 3]
    np.testing.assert_array_equal(Categorical()(numbers), loop(equal, numbers, numbers))
    rows = np.array([[1, 2], [1, 3], [1, 2]])
    same = loop(lambda a, b: float((a == b).all()), rows, rows)
    np.testing.assert_array_equal(Categorical()(rows), same)


def test_from_function_is_the_loop_and_asks_for_one_triangle_only():
    asked = []

    def overlap(a, b):
        asked.append((a, b))
        return float(len(set(a) & set(b)))

    words = ["cat", "hat", "dog", "a"]
    np.testing.assert_array_equal(
        from_function(overlap)(words), loop(lambda a, b: float(len(set(a) & set(b))), words, words)
    )
    assert len(asked) == 4 * 5 // 2


def test_from_function_may_itself_use_kernels():
    """A kernel inside a kernel: neither may spoil the other's memory."""
    inner, X, Z = Gaussian(2.0), points(6, 5), points(7, 5, seed=1)
    outer = Gaussian(1.0) + from_function(lambda x, z: inner([x], [z])[0, 0])
    np.testing.assert_allclose(outer(X, Z), Gaussian(1.0)(X, Z) + inner(X, Z), **TOLERANCE)


# ---- integrals and special functions -----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1, 2])
def test_arccosine_is_the_similarity_in_a_wide_random_layer(order):
    """2·E[Θ(wᵀx)Θ(wᵀz)(wᵀx)ⁿ(wᵀz)ⁿ] over Gaussian w, by simulation (Cho & Saul, 2009)."""
    X = points(6, 3)
    w = np.random.default_rng(1).normal(size=(400_000, 3))
    layer = np.where(w @ X.T > 0, (w @ X.T) ** order, 0.0)
    products = 2 * layer[:, :, None] * layer[:, None, :]
    mean, error = products.mean(axis=0), products.std(axis=0) / math.sqrt(len(w))
    assert (np.abs(ArcCosine(order)(X) - mean) < 5 * error).all()


@pytest.mark.parametrize("order", [0, 1, 2])
def test_arccosine_against_the_formula_with_the_angle(order):
    def formula(x, z):
        angle = math.acos(max(-1.0, min(1.0, cosine(x, z))))
        height = (
            math.pi - angle,
            math.sin(angle) + (math.pi - angle) * math.cos(angle),
            3 * math.sin(angle) * math.cos(angle)
            + (math.pi - angle) * (1 + 2 * math.cos(angle) ** 2),
        )[order]
        return (length(x) * length(z)) ** order * height / math.pi

    X, Z = points(), points(7, seed=1)
    np.testing.assert_allclose(ArcCosine(order)(X, Z), loop(formula, X, Z), rtol=1e-9, atol=1e-9)


def bessel(nu, sigma):
    def formula(x, z):
        t = math.sqrt(2 * nu) * apart(x, z) / sigma
        if t == 0:
            return 1.0
        return 2 ** (1 - nu) / special.gamma(nu) * t**nu * special.kv(nu, t)

    return formula


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5, 0.9, 1.5, 2.0, 2.5, 3.5, 7.3, 20.0])
def test_matern_of_any_smoothness_is_a_bessel_function(nu):
    X, Z = points(), points(7, seed=1)
    np.testing.assert_allclose(Matern(nu, 1.3)(X, Z), loop(bessel(nu, 1.3), X, Z), rtol=1e-9)
    np.testing.assert_allclose(Matern(nu, 1.3)(X), loop(bessel(nu, 1.3), X, X), rtol=1e-9)


def test_matern_seven_halves_has_a_closed_form():
    def formula(x, z):
        t = math.sqrt(7) * apart(x, z) / 0.9
        return (1 + t + 2 * t**2 / 5 + t**3 / 15) * math.exp(-t)

    X = points()
    np.testing.assert_allclose(Matern(3.5, 0.9)(X), loop(formula, X, X), rtol=1e-11)


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.5, 2.5, 3.5, 20.0])
@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9, 1e-13])
def test_matern_of_points_that_nearly_coincide(nu, distance):
    """Near 0 it falls off like a power 2ν of the distance if ν < 1, otherwise like the square."""
    found = Matern(nu, 1.0)([[0.0]], [[distance]])[0, 0]
    assert found == pytest.approx(bessel(nu, 1.0)([0.0], [distance]), rel=1e-9)


@pytest.mark.parametrize("nu", [50.0, 100.0, 400.0])
@pytest.mark.parametrize("distance", [0.0, 1e-6, 1e-3, 0.1, 1.0, 2.0])
def test_matern_approaches_the_gaussian_at_any_distance(nu, distance):
    found = Matern(nu, 1.0)([[0.0]], [[distance]])[0, 0]
    assert found == pytest.approx(math.exp(-(distance**2) / 2), abs=2 / nu)


def test_matern_is_one_formula_for_pairs_and_for_matrices_also_when_very_smooth():
    kernel = Matern(200.0, 1.0)
    assert kernel.pair([0.0], [0.5]) == pytest.approx(math.exp(-0.125), abs=0.01)


def test_rational_quadratic_is_a_mixture_of_gaussians():
    """An average over precisions drawn from a gamma distribution."""
    alpha, distance = 1.5, 1.2
    precision = np.random.default_rng(0).gamma(alpha, 1 / alpha, size=400_000)
    simulated = np.exp(-precision * distance**2 / 2)
    error = simulated.std() / math.sqrt(len(simulated))
    found = RationalQuadratic(alpha, 1.0).pair([0.0], [distance])
    assert abs(found - simulated.mean()) < 5 * error


# ---- heuristics --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 10, 11])
@pytest.mark.parametrize(
    ("kernel", "distance"), [(Gaussian(), apart), (Exponential(), apart), (Laplacian(), city)]
)
def test_median_heuristic_by_brute_force(kernel, distance, n):
    X = points(n, 5)
    expected = np.median([distance(x, z) for x, z in combinations(X, 2)])
    assert kernel.resolve(X).bandwidth == pytest.approx(expected, rel=1e-12)


def test_median_heuristic_of_histograms_uses_their_own_distance():
    X = counts()
    chi2 = lambda x, z: sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b)
    between = [chi2(x, z) for x, z in combinations(X, 2)]
    expected = np.median([d for d in between if d > 0])
    assert Chi2("median").resolve(X).bandwidth == pytest.approx(expected, rel=1e-12)


def test_median_heuristic_leaves_out_items_that_coincide():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [3.0]])
    assert Gaussian("median").resolve(X).bandwidth == 3.0


def test_median_heuristic_of_equal_items_is_one():
    assert Gaussian("median").resolve(np.ones((5, 2))).bandwidth == 1.0
    assert Gaussian("scale").resolve(np.ones((5, 2))).bandwidth == 1.0


@pytest.mark.parametrize("rule", ["median", "scale"])
def test_a_weight_counts_like_repetitions(rule):
    X, weights = points(9, 3), np.array([1, 2, 3, 1, 1, 0, 2, 5, 1])
    repeated = Gaussian(rule).resolve(np.repeat(X, weights, axis=0)).bandwidth
    weighted = Gaussian(rule).resolve(X, weights.astype(float)).bandwidth
    assert weighted == pytest.approx(repeated, rel=1e-12)


def test_median_heuristic_of_many_items_looks_at_a_fixed_sample():
    X = np.random.default_rng(0).normal(size=(3000, 1))
    found = Gaussian("median").resolve(X).bandwidth
    assert found == Gaussian("median").resolve(X).bandwidth
    # The median of |N(0, 2)|; a sample of 2000 items knows it to about two percent.
    assert found == pytest.approx(math.sqrt(2) * 0.6745, rel=0.05)
