"""Generative models against plain loops, enumeration and scikit-learn."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln, logsumexp, xlogy
from sklearn.mixture import GaussianMixture

from mercer.models import (
    AspectModel,
    GaussianMixtureModel,
    HiddenMarkovModel,
    MarkovChain,
    MultinomialMixture,
    as_model,
)
from tests.unit.models.cases import (
    EMISSION,
    MATRICES,
    MATRIX,
    MEANS,
    ROWS,
    START,
    STEP,
    VARIANCES,
    WORDS,
)

SYMBOLS = HiddenMarkovModel(3, start=START, transition=STEP, emission=EMISSION, alphabet="ACGT")
INDEPENDENT = HiddenMarkovModel(
    3, "gaussian", start=START, transition=STEP, means=MEANS, covariances=VARIANCES
)
CORRELATED = HiddenMarkovModel(
    3,
    "gaussian",
    start=START,
    transition=STEP,
    means=MEANS,
    covariances=MATRICES,
    covariance="full",
)
rng = np.random.default_rng(0)
TRACKS = [rng.normal(size=(n, 3)) * 2 for n in (1, 2, 5)]
MISSING = [np.array([[0.5, np.nan, 1.0], [np.nan] * 3, [np.nan, 0.0, np.nan], [1.0, 1.0, 1.0]])]
GONE = [np.array([[0.5, -1.0, 1.0], [np.nan] * 3, [1.0, 1.0, 1.0]])]
CASES = [
    (SYMBOLS, ["A", "ACGT", "TTGCA", "A??G", "?", "AGC?T"]),
    (INDEPENDENT, TRACKS + MISSING),
    (CORRELATED, TRACKS + GONE),
]
hidden_cases = pytest.mark.parametrize(
    ("model", "items"), CASES, ids=["symbols", "independent", "correlated"]
)


def emitted(model, state, thing):
    """Return the probability of one observation by the textbook, 1 if it is missing."""
    if model.emissions == "discrete":
        return 1.0 if thing == "?" else model.emission[state, model.alphabet.index(thing)]
    there = ~np.isnan(thing)
    if not there.any():
        return 1.0
    covariance = model.covariances[state]
    covariance = covariance if covariance.ndim == 2 else np.diag(covariance)
    d, part = (thing - model.means[state])[there], covariance[np.ix_(there, there)]
    return np.exp(-0.5 * d @ np.linalg.solve(part, d)) / np.sqrt(np.linalg.det(2 * np.pi * part))


def along(model, item, path):
    """Return p(X, Z) of a sequence and one hidden path, factor by factor."""
    value = model.start[path[0]] * emitted(model, path[0], item[0])
    for t in range(1, len(item)):
        value *= model.transition[path[t - 1], path[t]] * emitted(model, path[t], item[t])
    return value


def all_paths(model, item):
    return list(itertools.product(range(model.states), repeat=len(item)))


@hidden_cases
def test_the_density_of_a_hidden_markov_model_is_a_sum_over_all_paths(model, items):
    sums = [sum(along(model, item, path) for path in all_paths(model, item)) for item in items]
    np.testing.assert_allclose(model.log_density(items), np.log(sums), rtol=1e-12)


@hidden_cases
def test_posteriors_are_shares_of_all_paths(model, items):
    for item, found in zip(items, model.posterior(items), strict=True):
        expected = np.zeros((len(item), model.states))
        for path in all_paths(model, item):
            expected[np.arange(len(item)), list(path)] += along(model, item, path)
        np.testing.assert_allclose(
            found, expected / expected.sum(axis=1, keepdims=True), atol=1e-12
        )


@hidden_cases
def test_viterbi_finds_the_best_of_all_paths(model, items):
    for item, path in zip(items, model.viterbi(items), strict=True):
        best = max(along(model, item, other) for other in all_paths(model, item))
        np.testing.assert_allclose(along(model, item, path), best, rtol=1e-12)


@hidden_cases
def test_one_step_of_baum_and_welch_counts_all_paths(model, items):
    start, step = np.zeros(3), np.zeros((3, 3))
    for item in items:
        paths = all_paths(model, item)
        values = np.array([along(model, item, path) for path in paths])
        for path, share in zip(paths, values / values.sum(), strict=True):
            start[path[0]] += share
            for a, b in itertools.pairwise(path):
                step[a, b] += share
    better, value = model.improve(model.domain.admit(items), np.ones(len(items)))
    np.testing.assert_allclose(better.start, start / start.sum(), atol=1e-12)
    np.testing.assert_allclose(
        better.transition, step / step.sum(axis=1, keepdims=True), atol=1e-12
    )
    np.testing.assert_allclose(value, model.log_density(items).sum())


def naive_forward(model, item):
    """Return ln p by the forward recursion in logarithms, one step after the other."""
    with np.errstate(divide="ignore"):
        log_start, log_step = np.log(model.start), np.log(model.transition)
        logs = [np.log([emitted(model, k, thing) for k in range(model.states)]) for thing in item]
    alpha = log_start + logs[0]
    for b in logs[1:]:
        alpha = np.logaddexp.reduce(alpha[:, None] + log_step, axis=0) + b
    return np.logaddexp.reduce(alpha)


def test_long_sequences_neither_underflow_nor_lose_digits():
    item = SYMBOLS.sample(1, seed=2, length=10_000)[0]
    expected = naive_forward(SYMBOLS, item)
    assert expected < -10_000  # far below the smallest number
    np.testing.assert_allclose(SYMBOLS.log_density([item]), [expected], rtol=1e-12)
    track = INDEPENDENT.sample(1, seed=2, length=300)[0]
    np.testing.assert_allclose(
        INDEPENDENT.log_density([track]), [naive_forward(INDEPENDENT, track)], rtol=1e-12
    )


# State 0 explains every "a" far better than state 1, but nothing goes from one to the other.
APART = HiddenMarkovModel(
    2,
    start=[0.5, 0.5],
    transition=[[1.0, 0.0], [0.0, 1.0]],
    emission=[[1.0, 0.0], [1e-3, 0.999]],
    alphabet="ab",
)


def test_a_path_that_seems_hopeless_is_not_given_up():
    item = "a" * 2000 + "b"  # only state 1 can end with b
    expected = np.log(0.5) + 2000 * np.log(1e-3) + np.log(0.999)
    np.testing.assert_allclose(APART.log_density([item]), [expected], rtol=1e-12)
    np.testing.assert_allclose(APART.posterior([item])[0], [[0.0, 1.0]] * 2001, atol=1e-12)
    np.testing.assert_allclose(APART.score([item]), [[-0.5, 2000 - 2.001]], rtol=1e-9)
    assert (APART.viterbi([item])[0] == 1).all()


def test_tiny_transitions_and_far_measurements_count():
    tiny = HiddenMarkovModel(
        2,
        "gaussian",
        start=[1.0, 0.0],
        transition=[[1.0, 1e-300], [0.0, 1.0]],
        means=[[0.0], [100.0]],
        covariances=[[1.0], [1.0]],
    )
    stay = 2 * stats.norm(0, 1).logpdf(0) + stats.norm(0, 1).logpdf(100)
    leave = 2 * stats.norm(0, 1).logpdf(0) + np.log(1e-300) + stats.norm(0, 1).logpdf(0)
    found = tiny.log_density([[0.0, 0.0, 100.0]])
    np.testing.assert_allclose(found, [np.logaddexp(stay, leave)], rtol=1e-12)
    np.testing.assert_array_equal(tiny.viterbi([[0.0, 0.0, 100.0]])[0], [0, 0, 1])


def test_nothing_gets_lost_by_underflow_of_a_product():
    # State 2 alone can end with b, and its only way there has the probability 1e-190 · 1e-150.
    narrow = HiddenMarkovModel(
        3,
        start=[1.0, 1e-190, 0.0],
        transition=[[1.0, 0.0, 0.0], [0.0, 1.0, 1e-150], [0.0, 0.0, 1.0]],
        emission=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
        alphabet="ab",
    )
    np.testing.assert_allclose(narrow.log_density(["ab"]), [-340 * np.log(10)], rtol=1e-12)
    np.testing.assert_allclose(narrow.posterior(["ab"])[0], [[0, 1, 0], [0, 0, 1]], atol=1e-12)
    # The first step is 100 deviations from state 1, but all others as far from state 0.
    apart = HiddenMarkovModel(
        2,
        "gaussian",
        start=[0.5, 0.5],
        transition=[[1.0, 0.0], [0.0, 1.0]],
        means=[[0.0], [100.0]],
        covariances=[[1.0], [1.0]],
    )
    item = [0.0, 100.0, 100.0]
    expected = np.log(0.5) + stats.norm(100, 1).logpdf(item).sum()
    np.testing.assert_allclose(apart.log_density([item]), [expected], rtol=1e-12)
    np.testing.assert_allclose(apart.posterior([item])[0], [[0.0, 1.0]] * 3, atol=1e-12)


@pytest.mark.parametrize("start", [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
def test_a_state_that_cannot_be_reached_does_not_disturb_the_others(start):
    # Each step is 10¹³⁵ times as probable in state 2, where the sequence never is.
    outside = HiddenMarkovModel(
        3,
        "gaussian",
        start=start,
        transition=[[0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.0, 0.5, 0.5]],
        means=[[0.0], [1.0], [25.0]],
        covariances=[[1.0], [1.0], [1.0]],
    )
    inside = HiddenMarkovModel(
        2,
        "gaussian",
        start=start[:2],
        transition=outside.transition[:2, :2],
        means=outside.means[:2],
        covariances=outside.covariances[:2],
    )
    items = [np.full(6, 25.0), np.full(3, 25.0)]
    for found, expected in zip(outside.posterior(items), inside.posterior(items), strict=True):
        np.testing.assert_allclose(found[:, :2], expected, rtol=1e-12, atol=1e-300)
        np.testing.assert_array_equal(found[:, 2], 0.0)
    names = outside.parameter_names
    kept = [names.index(name) for name in inside.parameter_names]
    np.testing.assert_allclose(outside.score(items)[:, kept], inside.score(items), rtol=1e-9)
    assert np.isfinite(outside.refine(items).means).all()


def test_a_missing_observation_is_the_sum_over_all_that_it_could_be():
    gaps = ["A?G", "??", "T?"]
    for gap in gaps:
        filled = [
            "".join(letters)
            for letters in itertools.product(*("ACGT" if c == "?" else c for c in gap))
        ]
        expected = logsumexp(SYMBOLS.log_density(filled))
        np.testing.assert_allclose(SYMBOLS.log_density([gap]), [expected], rtol=1e-12)


@pytest.mark.parametrize(
    ("covariance", "array"),
    [("full", MATRICES), ("tied", MATRIX), ("diag", VARIANCES), ("spherical", [0.5, 1.0, 2.0])],
)
def test_mixtures_are_those_of_scikit_learn(covariance, array):
    X = np.vstack([ROWS, 2 * ROWS + 1, ROWS[::-1] - 2])
    weights = np.array([0.5, 0.2, 0.3])
    ours = GaussianMixtureModel(3, covariance, weights, MEANS, array, floor=1e-12)
    array = np.asarray(array)
    theirs = GaussianMixture(
        3,
        covariance_type=covariance,
        weights_init=weights,
        means_init=MEANS,
        precisions_init=1 / array if covariance in ("diag", "spherical") else np.linalg.inv(array),
        reg_covar=0.0,
        tol=0.0,
        max_iter=1,
    )
    for _ in range(3):
        with pytest.warns(Warning, match="did not converge"):
            theirs.fit(X)
        before = ours
        ours, value = ours.improve(ours.domain.admit(X), np.ones(len(X)))
        np.testing.assert_allclose(value, before.log_density(X).sum())
        np.testing.assert_allclose(ours.weights, theirs.weights_, rtol=1e-8)
        np.testing.assert_allclose(ours.means, theirs.means_, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(ours.covariances, theirs.covariances_, rtol=1e-6, atol=1e-8)
        adopted = as_model(theirs)
        np.testing.assert_allclose(adopted.log_density(X), theirs.score_samples(X))
        np.testing.assert_allclose(
            adopted.responsibilities(X), theirs.predict_proba(X), atol=1e-12
        )
        theirs.set_params(
            weights_init=theirs.weights_,
            means_init=theirs.means_,
            precisions_init=theirs.precisions_,
        )


def test_multinomial_mixtures_are_sums_of_scipys():
    p = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.2, 0.2, 0.1]])
    model = MultinomialMixture(2, [0.3, 0.7], p)
    expected = [
        np.log(
            0.3 * stats.multinomial(x.sum(), p[0]).pmf(x)
            + 0.7 * stats.multinomial(x.sum(), p[1]).pmf(x)
        )
        for x in WORDS
    ]
    np.testing.assert_allclose(model.log_density(WORDS), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("strength", [0.0, 0.5, 4.0])
def test_topics_of_a_document_are_the_best_mixture(strength):
    words = np.array([[0.7, 0.2, 0.1, 0.0], [0.0, 0.1, 0.3, 0.6], [0.25, 0.25, 0.25, 0.25]])
    q = np.array([0.5, 0.3, 0.2])
    model = AspectModel(3, words, q, strength)
    steps = range(0 if strength == 0 else 1, 101)
    grid = [(a, b, 100 - a - b) for a in steps for b in steps if 100 - a - b in steps]
    mixtures = np.array(grid) / 100

    def densities(x, pi):
        with np.errstate(divide="ignore"):
            logs = xlogy(x, pi @ words).sum(axis=1) + gammaln(x.sum() + 1) - gammaln(x + 1).sum()
        a = 1 + strength * q
        return (
            logs
            + xlogy(a - 1, pi).sum(axis=1)
            + (gammaln(a.sum()) - gammaln(a).sum()) * (strength > 0)
        )

    for x, value, best in zip(WORDS, model.log_density(WORDS), model.mixtures(WORDS), strict=True):
        values = densities(x, mixtures)
        assert values.max() - 1e-9 <= value <= values.max() + 0.05  # the grid has one nearby
        np.testing.assert_allclose(value, densities(x, best[None])[0], atol=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_chains_are_products_of_transitions(order):
    contexts = [c for n in range(order + 1) for c in itertools.product("ab", repeat=n)]
    table = np.random.default_rng(order).dirichlet([1, 1], size=len(contexts))
    chain = MarkovChain(order, table, "ab")
    for item in ("", "a", "bab", "abbaab"):
        value = 1.0
        for t, letter in enumerate(item):
            context = tuple(item[max(t - order, 0) : t])
            value *= table[contexts.index(context), "ab".index(letter)]
        np.testing.assert_allclose(chain.log_density([item]), [np.log(value)], atol=1e-12)
    # The probabilities of all strings of one length sum to one.
    strings = ["".join(letters) for letters in itertools.product("ab", repeat=5)]
    np.testing.assert_allclose(np.exp(chain.log_density(strings)).sum(), 1)
