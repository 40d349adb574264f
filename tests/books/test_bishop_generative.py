"""Bishop (2006), (6.28)-(6.36): kernels from generative models, held to the equations."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from mercer.kernels import (
    Density,
    Fisher,
    HiddenMarkov,
    LatentGaussian,
    Linear,
    Mixture,
    Spectrum,
)
from mercer.models import FromSciPy, GaussianDensity, HiddenMarkovModel, from_log_density

rng = np.random.default_rng(20060217)
X = rng.normal(size=(12, 2))
NORMAL = GaussianDensity([0.3, -0.2], [[1.5, 0.4], [0.4, 0.8]])
ROUNDING = {"rtol": 1e-10, "atol": 1e-14}


# ---- (6.28) and (6.29): densities and mixtures --------------------------------------------------


def test_6_28_is_the_inner_product_in_a_space_of_one_dimension():
    p = stats.multivariate_normal(NORMAL.mean, NORMAL.covariance).pdf(X)
    K = Density(NORMAL)(X)
    np.testing.assert_allclose(K, np.outer(p, p), **ROUNDING)
    assert np.linalg.matrix_rank(K / K.max()) == 1


def test_6_29_of_one_component_is_6_28():
    np.testing.assert_allclose(Mixture((NORMAL,), (1.0,))(X), Density(NORMAL)(X), **ROUNDING)
    assert Mixture((NORMAL,), (1.0,)).features(X).shape == (12, 1)


def test_6_29_is_a_sum_over_components():
    other = GaussianDensity([1.0, 1.0], 0.5)
    expected = 0.3 * Density(NORMAL)(X) + 0.7 * Density(other)(X)  # by (6.13) and (6.17)
    np.testing.assert_allclose(Mixture((NORMAL, other), (0.3, 0.7))(X), expected, **ROUNDING)


# ---- (6.30): a continuous latent variable -------------------------------------------------------


@pytest.mark.parametrize(("x", "z"), [([0.0, 0.5], [0.3, -0.4]), ([1.0, 1.0], [1.2, 0.9])])
def test_6_30_is_the_integral_over_the_latent_variable(x, z):
    w, noise, mean = np.array([0.8, -0.3]), np.array([0.5, 1.2]), np.array([0.1, 0.2])

    def integrand(u):
        p = stats.norm(w * u + mean, np.sqrt(noise))
        return np.prod(p.pdf(x)) * np.prod(p.pdf(z)) * stats.norm.pdf(u)

    expected, _ = integrate.quad(integrand, -12, 12)
    k = LatentGaussian(w, noise, mean)
    assert k.pair(x, z) == pytest.approx(expected, rel=1e-8)
    assert k([x], [z])[0, 0] == pytest.approx(expected, rel=1e-8)


def test_6_30_is_the_limit_of_6_29():
    w, noise = np.array([[0.8], [-0.3]]), 0.5
    places = np.linspace(-6, 6, 121)
    weights = stats.norm.pdf(places)
    parts = tuple(GaussianDensity(w[:, 0] * u, noise) for u in places)
    K = Mixture(parts, weights / weights.sum())(X)
    np.testing.assert_allclose(LatentGaussian(w, noise)(X), K, rtol=1e-8)


# ---- (6.31): hidden Markov models ---------------------------------------------------------------


def random_model(seed, states=3, letters="ab", zeros=False):
    draw = np.random.default_rng(seed)
    rows = lambda n, m: draw.dirichlet(np.ones(m), size=n)
    transition = rows(states, states)
    if zeros:  # states are left only forward
        transition = np.triu(transition)
        transition /= transition.sum(axis=1, keepdims=True)
    return HiddenMarkovModel(
        states,
        start=rows(1, states)[0],
        transition=transition,
        emission=rows(states, len(letters)),
        alphabet=tuple(letters),
    )


def over_all_paths(model, x, z, likely):
    """Σ_Z p(X|Z)·p(X'|Z)·p(Z), term by term; steps beyond the end of a sequence are not observed.

    `likely(state, symbol)` is the probability of an observation.
    """
    total, length = 0.0, max(len(x), len(z))
    for path in itertools.product(range(model.states), repeat=length):
        term = model.start[path[0]]
        for before, after in itertools.pairwise(path):
            term *= model.transition[before, after]
        for sequence in (x, z):
            for state, symbol in zip(path, sequence, strict=False):
                term *= likely(state, symbol)
        total += term
    return total


def letters_of(model):
    return lambda state, symbol: model.emission[state, model.alphabet.index(symbol)]


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_6_31_is_the_sum_over_all_hidden_paths(seed, zeros):
    model = random_model(seed, zeros=zeros)
    words = ["abba", "aaab", "bbbb", "baba"]
    K = HiddenMarkov(model, normalized=False)(words)
    expected = [[over_all_paths(model, x, z, letters_of(model)) for z in words] for x in words]
    np.testing.assert_allclose(K, expected, **ROUNDING)
    d = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(HiddenMarkov(model)(words), expected / np.outer(d, d), **ROUNDING)


def test_6_31_with_sequences_of_different_lengths():
    model = random_model(3)
    words = ["a", "abb", "babab", "aaaaaa"]
    K = HiddenMarkov(model, normalized=False)(words)
    expected = [[over_all_paths(model, x, z, letters_of(model)) for z in words] for x in words]
    np.testing.assert_allclose(K, expected, **ROUNDING)


def test_6_31_with_gaussian_emissions():
    means, variances = np.array([[0.0], [2.0], [-1.0]]), np.array([[1.0], [0.5], [2.0]])
    base = random_model(4)
    model = HiddenMarkovModel(
        3, "gaussian", start=base.start, transition=base.transition,
        means=means, covariances=variances,
    )  # fmt: skip
    series = [rng.normal(size=n) for n in (3, 5, 4)]

    def likely(state, x):
        variance = variances[state, 0]
        return np.exp(-((x - means[state, 0]) ** 2) / 2 / variance) / np.sqrt(2 * np.pi * variance)

    K = HiddenMarkov(model, normalized=False)(series)
    expected = [[over_all_paths(model, x, z, likely) for z in series] for x in series]
    np.testing.assert_allclose(K, expected, **ROUNDING)


def test_6_31_where_an_observation_is_missing_every_state_may_be():
    model = random_model(5)
    known = letters_of(model)
    likely = lambda state, symbol: 1.0 if symbol is None else known(state, symbol)
    words = [["a", None, "b"], ["b", "b", "a"], [None, "a"]]
    K = HiddenMarkov(model, normalized=False)(words)
    expected = [[over_all_paths(model, x, z, likely) for z in words] for x in words]
    np.testing.assert_allclose(K, expected, **ROUNDING)


def test_6_31_a_sequence_without_observations_gives_the_probability_of_the_other():
    model = random_model(6)
    K = HiddenMarkov(model, normalized=False)(["", "abba"])
    assert K[0, 0] == pytest.approx(1.0)
    assert K[0, 1] == pytest.approx(np.exp(model.log_density(["abba"])[0]), rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    words=st.lists(st.text("ab", max_size=12), min_size=2, max_size=10),
    zeros=st.booleans(),
)
def test_6_31_is_positive_semi_definite_for_any_lengths(seed, words, zeros):
    K = HiddenMarkov(random_model(seed, zeros=zeros))(words)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * len(K)


def test_6_31_of_ten_thousand_steps_is_finite():
    model = random_model(7, letters="abcd")
    long = model.sample(3, seed=1, length=[10_000, 10_000, 9_990])
    k = HiddenMarkov(model)
    logs = HiddenMarkov(model, normalized=False).log_diagonal(k.admit(long))
    assert np.isfinite(logs).all() and (logs < -10_000).all()
    K = k(long)
    np.testing.assert_array_equal(np.diag(K), np.ones(3))
    assert np.isfinite(K).all() and (K >= 0).all() and (K <= 1).all()
    almost = long[0][:-3] + "abc"
    assert 1e-3 < k([long[0]], [almost])[0, 0] < 1
    assert np.isfinite(Fisher(model, "identity")(long)).all()


# ---- (6.32) to (6.36): Fisher kernels -----------------------------------------------------------


def by_differences(log_density, theta, h=1e-5):
    """Return the gradient of a function of θ by central differences."""
    steps = h * np.eye(len(theta))
    rises = [log_density(theta + e) - log_density(theta - e) for e in steps]
    return np.array(rises) / (2 * h)


def test_6_32_the_score_of_a_gaussian_is_the_gradient():
    def log_density(theta, x):
        L = np.array([[np.exp(theta[2]), 0.0], [theta[3], np.exp(theta[4])]])
        return stats.multivariate_normal(theta[:2], L @ L.T).logpdf(x)

    L = np.linalg.cholesky(NORMAL.covariance)
    theta = np.array([*NORMAL.mean, np.log(L[0, 0]), L[1, 0], np.log(L[1, 1])])
    for x, found in zip(X, NORMAL.score(X), strict=True):
        expected = by_differences(lambda t, x=x: log_density(t, x), theta)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_6_32_the_score_of_a_hidden_markov_model_is_the_gradient():
    """The parameters are logarithms of odds against the last outcome of each row."""
    model = random_model(8)
    tables = [model.start[None], model.transition, model.emission]
    logits = [np.log(t[:, :-1] / t[:, -1:]) for t in tables]
    shapes = [part.shape for part in logits]

    def moved(theta):
        parts, begin = [], 0
        for shape in shapes:
            part = theta[begin : begin + np.prod(shape)].reshape(shape)
            odds = np.exp(np.hstack([part, np.zeros((len(part), 1))]))
            parts.append(odds / odds.sum(axis=1, keepdims=True))
            begin += np.prod(shape)
        start, transition, emission = parts
        return model.set_params(start=start[0], transition=transition, emission=emission)

    theta = np.concatenate([part.ravel() for part in logits])
    words = ["abba", "b", "aababbabab"]
    for word, found in zip(words, model.score(words), strict=True):
        expected = by_differences(lambda t, w=word: moved(t).log_density([w])[0], theta)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


MODELS = {
    "gaussian": NORMAL,
    "known covariance": NORMAL.set_params(fixed="covariance"),
    "poisson": FromSciPy("poisson", {"mu": 2.5}),
    "gamma": FromSciPy("gamma", {"a": 2.0, "scale": 1.5}),
}


@pytest.mark.parametrize("name", MODELS)
def test_6_34_the_exact_information_is_the_expectation_under_the_model(name):
    model, count = MODELS[name], 200_000
    G = model.score(model.sample(count, seed=3))
    products = G[:, :, None] * G[:, None, :]
    error = products.std(axis=0) / np.sqrt(count)
    off = np.abs(products.mean(axis=0) - model.information())
    assert (off <= 5 * error + 1e-12).all()
    assert error.max() < 0.05 * np.abs(model.information()).max()
    # The expected score is zero, so that the information is the covariance of scores.
    assert (np.abs(G.mean(axis=0)) <= 5 * G.std(axis=0) / np.sqrt(count)).all()


def test_6_35_is_the_mean_over_the_items_and_whitens_the_scores():
    G = NORMAL.score(X)
    F = sum(np.outer(g, g) for g in G) / len(G)
    k = Fisher(NORMAL, "empirical").resolve(X)
    np.testing.assert_allclose(k.information, F, rtol=1e-12)
    np.testing.assert_allclose(k(X), G @ np.linalg.inv(F) @ G.T, rtol=1e-8, atol=1e-8)
    Phi = k.features(X)
    np.testing.assert_allclose(Phi.T @ Phi / len(X), np.eye(5), atol=1e-10)


def usual(x, mean=0.5, deviation=1.5):
    return stats.norm.logpdf(x, mean, deviation)


def natural(x, ratio=0.2, half_precision=-0.2):
    """The same density by its natural parameters μ/σ² and −1/2σ², a nonlinear ψ of μ and σ."""
    variance = -0.5 / half_precision
    return stats.norm.logpdf(x, ratio * variance, np.sqrt(variance))


def cubed(x, mean=0.8, deviation=0.4):
    """Again the same density: the mean is the cube of one parameter, the deviation exponential."""
    return stats.norm.logpdf(x, mean**3, np.exp(deviation))


THETA = from_log_density(usual, vectorized=True, mean=0.5, deviation=1.5)
PSI = {
    "natural": from_log_density(
        natural, vectorized=True, ratio=0.5 / 1.5**2, half_precision=-0.5 / 1.5**2
    ),
    "cubed": from_log_density(cubed, vectorized=True, mean=0.5 ** (1 / 3), deviation=np.log(1.5)),
}
NUMBERS = rng.normal(0.4, 1.3, size=15)


@pytest.mark.parametrize("psi", PSI)
def test_6_33_does_not_depend_on_how_the_parameters_are_chosen(psi):
    one = Fisher(THETA).resolve(NUMBERS)(NUMBERS)
    two = Fisher(PSI[psi]).resolve(NUMBERS)(NUMBERS)
    np.testing.assert_allclose(two, one, rtol=1e-5, atol=1e-6)


def test_6_33_with_the_exact_information_does_not_either():
    """Exercise 6.13: F becomes JᵀFJ and g becomes Jᵀg for θ = θ(ψ) with the derivative J."""
    G = THETA.score(NUMBERS)
    F = np.diag([1 / 1.5**2, 2 / 1.5**2])
    J = np.array([[3 * 0.5 ** (2 / 3), 0.0], [0.0, 1.5]])  # of the cube and the exponential
    expected = G @ np.linalg.solve(F, G.T)
    found = Fisher(PSI["cubed"], J.T @ F @ J)(NUMBERS)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(Fisher(THETA, F)(NUMBERS), expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("psi", PSI)
def test_6_36_does_depend_on_it(psi):
    one, two = (Fisher(m, "identity")(NUMBERS) for m in (THETA, PSI[psi]))
    assert np.abs(one / one.max() - two / two.max()).max() > 0.05  # not even up to a factor
    np.testing.assert_allclose(one, THETA.score(NUMBERS) @ THETA.score(NUMBERS).T, rtol=1e-9)


def test_a_gaussian_with_known_variance_gives_the_linear_kernel():
    """With p(x|μ) = N(μ, S), (6.33) is (x − μ)ᵀS⁻¹(z − μ) (exercise 6.14)."""
    mean, variance = np.array([0.5, -1.0]), 4.0
    k = Fisher(GaussianDensity(mean, variance, fixed="covariance"), "exact")
    np.testing.assert_allclose(k(X), Linear()(X - mean) / variance, **ROUNDING)
    S = NORMAL.covariance
    k = Fisher(NORMAL.set_params(fixed="covariance"), "exact")
    centered = X - NORMAL.mean
    np.testing.assert_allclose(k(X), centered @ np.linalg.inv(S) @ centered.T, **ROUNDING)


def test_kernels_of_models_of_strings_can_be_added_to_string_kernels():
    model = random_model(9)
    words = ["abba", "ab", "babab"]
    k = HiddenMarkov(model) + Spectrum(2)
    np.testing.assert_allclose(k(words), HiddenMarkov(model)(words) + Spectrum(2)(words))
