"""What holds for every model: scores, information, values, samples."""

import pickle

import numpy as np
import pytest

import mercer.models
from mercer.errors import DomainError, ValidityError
from mercer.models import (
    AspectModel,
    FromLogDensity,
    FromSciPy,
    GaussianDensity,
    GaussianMixtureModel,
    HiddenMarkovModel,
    MarkovChain,
    Model,
    MultinomialMixture,
    model,
)
from tests.unit.models.cases import (
    CASES,
    NUMBERS,
    ROWS,
    SHARES,
    STRINGS,
    TRACKS,
    WHOLE,
    WORDS,
    log_cauchy,
    log_independent,
    moved,
)

STEP = 1e-5
every_case = pytest.mark.parametrize("case", CASES)


@every_case
def test_the_score_is_the_slope_of_the_log_density(case):
    model, items = CASES[case]
    found = model.score(items)
    names = model.parameter_names
    assert found.shape == (len(model.log_density(items)), len(names))
    assert len(set(names)) == len(names) > 0
    for j, name in enumerate(names):
        rise = moved(model, name, STEP).log_density(items)
        rise = rise - moved(model, name, -STEP).log_density(items)
        np.testing.assert_allclose(found[:, j], rise / (2 * STEP), rtol=1e-6, atol=1e-6)


def samples(model, count):
    long = {"length": 12} if isinstance(model, HiddenMarkovModel | MarkovChain) else {}
    if isinstance(model, MultinomialMixture):
        long = {"length": 12}
    return model.sample(count, seed=3, **long)


KNOWN = [case for case, (model, _) in CASES.items() if model.information() is not None]
DRAWN = [
    case
    for case, (model, _) in CASES.items()
    if not isinstance(model, FromLogDensity | AspectModel)  # the latter is no density
]


@pytest.mark.parametrize("case", KNOWN)
def test_the_exact_information_is_the_mean_square_of_scores(case):
    model, _ = CASES[case]
    G = model.score(samples(model, 20_000))
    products = G[:, :, None] * G[:, None, :]
    # Five standard errors of the mean of 20,000: with the seed, not by chance.
    allowed = 5 * products.std(axis=0) / np.sqrt(len(G))
    assert (np.abs(products.mean(axis=0) - model.information()) <= allowed).all()


def test_the_information_is_known_where_it_can_be():
    assert set(KNOWN) == {
        *("normal", "normal, fixed covariance", "normal, fixed mean"),
        *("norm", "expon", "gamma", "beta", "poisson", "binom"),
        *("one full", "one tied", "one diag", "one spherical"),
    }


@pytest.mark.parametrize("case", DRAWN)
def test_scores_of_samples_are_zero_on_average(case):
    model, _ = CASES[case]
    G = model.score(samples(model, 4000))
    allowed = 5 * G.std(axis=0) / np.sqrt(len(G))
    assert (np.abs(G.mean(axis=0)) <= allowed + 1e-12).all()


@pytest.mark.parametrize("case", DRAWN)
def test_samples_depend_on_the_seed_alone(case):
    model, _ = CASES[case]
    one, two = model.sample(3, seed=5), model.sample(3, seed=5)
    other = model.sample(3, seed=6)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@every_case
def test_a_model_is_a_value(case):
    model, items = CASES[case]
    names = {**vars(mercer.models), "log_cauchy": log_cauchy, "log_independent": log_independent}
    for again in (eval(repr(model), names), pickle.loads(pickle.dumps(model)), model.set_params()):
        assert again == model
        assert hash(again) == hash(model)
        np.testing.assert_array_equal(again.log_density(items), model.log_density(items))
    for value in model.parameters().values():
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
    with pytest.raises(AttributeError):
        model.states = 3


@every_case
def test_items_alone_are_what_they_are_among_others(case):
    model, items = CASES[case]
    points = model.domain.admit(items)
    together, scores = model.log_density(items), model.score(items)
    for i in range(len(together)):
        np.testing.assert_allclose(model.log_density(points[i : i + 1]), together[[i]], rtol=1e-12)
        alone = model.score(points[np.array([i])])
        np.testing.assert_allclose(alone, scores[[i]], rtol=1e-10, atol=1e-10)
    twice = points.concat(points)
    np.testing.assert_allclose(model.log_density(twice), np.tile(together, 2), rtol=1e-12)


FITTED = {
    "own": (
        FromLogDensity(log_cauchy, {"middle": 0.0, "log_scale": 0.0}),
        [[0.3], [1.0], [2.5], [4.0], [-1.0], [0.7]],
    ),
    "normal": (GaussianDensity(), ROWS),
    "normal, fixed covariance": (GaussianDensity(covariance=2.0, fixed="covariance"), ROWS),
    "normal, fixed mean": (GaussianDensity(mean=[0.0, 0.0, 0.0], fixed="mean"), ROWS),
    "norm": (FromSciPy("norm", {"loc": 0.0, "scale": 1.0}), NUMBERS),
    "norm, fixed loc": (FromSciPy("norm", {"loc": 0.5, "scale": 1.0}, "scale"), NUMBERS),
    "expon": (FromSciPy("expon", {"scale": 1.0}), NUMBERS),
    "gamma": (FromSciPy("gamma", {"a": 1.0, "scale": 1.0}), NUMBERS),
    "beta": (FromSciPy("beta", {"a": 1.0, "b": 1.0}), SHARES),
    "poisson": (FromSciPy("poisson", {"mu": 1.0}), WHOLE),
    "binom": (FromSciPy("binom", {"n": 9, "p": 0.5}), WHOLE),
    "mixture": (GaussianMixtureModel(2, "spherical", tolerance=1e-9), ROWS),
    "multinomial mixture": (MultinomialMixture(2, smoothing=0.0, tolerance=1e-12), WORDS),
    "aspects": (AspectModel(2, smoothing=0.0, strength=0.0, tolerance=1e-12), WORDS),
    "chain": (MarkovChain(1), ["abcab", "", "c", "ccbba"]),
    "hidden symbols": (HiddenMarkovModel(2, tolerance=1e-12, iterations=5000), STRINGS),
    "hidden rows": (
        HiddenMarkovModel(2, "gaussian", tolerance=1e-12, iterations=5000),
        [TRACKS[0], TRACKS[2]],
    ),
}


@pytest.mark.parametrize("case", FITTED)
def test_scores_sum_to_zero_at_the_highest_likelihood(case):
    start, items = FITTED[case]
    before = start
    model = start.fit(items, seed=1)
    assert start == before and model.fitted
    total = model.score(items).sum(axis=0)
    np.testing.assert_allclose(total, 0, atol=2e-3 if "gamma" in case or "own" in case else 1e-4)


@pytest.mark.parametrize("case", FITTED)
def test_a_weight_counts_like_a_repetition(case):
    start, items = FITTED[case]
    if case in ("gamma", "beta"):
        with pytest.raises(ValidityError, match="weights"):
            start.fit(items, weights=np.ones(len(items)))
        return
    weights = np.array([2.0, 1.0, 0.0, 3.0, 1.0, 1.0])[: len(items)]
    repeated = [items[i] for i in np.repeat(np.arange(len(items)), weights.astype(int))]
    # From the same beginning, because random ones see the items in another order.
    if hasattr(start, "refine"):
        start = start.fit(items, seed=1)
        one, two = start.refine(items, weights), start.refine(repeated)
    else:
        one, two = start.fit(items, weights), start.fit(repeated)
    for name, value in one.parameters().items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(value, getattr(two, name), atol=1e-6)
        elif name == "theta":
            for (_, a), (_, b) in zip(value, two.theta, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


UNFITTED = [GaussianDensity(), GaussianMixtureModel(2), MultinomialMixture(2), AspectModel(2)]
UNFITTED += [MarkovChain(), HiddenMarkovModel(2), HiddenMarkovModel(2, "gaussian")]


@pytest.mark.parametrize("unfitted", UNFITTED, ids=repr)
def test_a_model_that_is_not_fitted_says_so(unfitted):
    assert not unfitted.fitted
    for use in (
        lambda: unfitted.log_density([[1.0]]),
        lambda: unfitted.score([[1.0]]),
        lambda: unfitted.sample(2),
        lambda: unfitted.parameter_names,
    ):
        with pytest.raises(ValidityError, match="has not been fitted"):
            use()


@model
class Broken(Model):
    """A model that returns what it should not."""

    value: float = 0.0

    def log_densities(self, points):
        return np.array([0.0, self.value])

    def scores(self, points):
        return np.array([[0.0, 1.0], [0.0, self.value]])

    parameter_names = ("one", "two")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_density_is_refused_with_its_item(value):
    with pytest.raises(DomainError, match=rf"log density of item 1 of X under Broken is {value}"):
        Broken(value).log_density([1, 2])
    with pytest.raises(DomainError, match=rf"score of item 1 of X is {value} for two"):
        Broken(value).score([1, 2])


def test_what_is_impossible_has_the_log_density_minus_infinity():
    np.testing.assert_array_equal(Broken(-np.inf).log_density([1, 2]), [0.0, -np.inf])


@pytest.mark.parametrize(
    ("impossible", "items"),
    [
        (FromSciPy("expon", {"scale": 1.0}), [[-1.0]]),
        (MarkovChain(0, [[0.5, 0.5, 0.0]], "abc"), ["c"]),
        (HiddenMarkovModel(1, start=[1], transition=[[1]], emission=[[0.5, 0.5, 0.0]]), [[0, 2]]),
        (MultinomialMixture(1, [1.0], [[0.5, 0.5, 0.0]]), [[0.0, 0.0, 2.0]]),
        (AspectModel(1, [[0.5, 0.5, 0.0]]), [[0.0, 0.0, 2.0]]),
        (GaussianMixtureModel(2, "diag", [0.5, 0.5], [[0.0], [1.0]], [[1.0], [1.0]]), [[1e200]]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_impossible_item_has_no_score(impossible, items):
    assert impossible.log_density(items)[0] == -np.inf
    with pytest.raises(DomainError, match="score of item 0 of X is nan"):
        impossible.score(items)


def test_many_words_for_the_same_parameter_are_refused():
    with pytest.raises(ValidityError, match="did you mean 'diag'"):
        GaussianMixtureModel(2, "diagonal")
    with pytest.raises(ValidityError, match="did you mean 'gaussian'"):
        HiddenMarkovModel(2, "gausian")
    with pytest.raises(ValidityError, match="'covariance', 'mean'"):
        GaussianDensity([0.0], [[1.0]], fixed="sigma")
