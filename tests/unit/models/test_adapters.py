"""Models of other libraries."""

import numpy as np
import pytest
from scipy import stats
from sklearn.mixture import GaussianMixture

from mercer.errors import ValidityError
from mercer.models import (
    FromSciPy,
    GaussianDensity,
    GaussianMixtureModel,
    HiddenMarkovModel,
    MarkovChain,
    as_model,
)

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(30, 2)), rng.normal(5, 1, size=(30, 2))])


def test_a_model_stays_what_it_is():
    chain = MarkovChain()
    assert as_model(chain) is chain


def test_distributions_of_scipy():
    assert as_model(stats.norm(1, 2)) == FromSciPy("norm", {"loc": 1.0, "scale": 2.0})
    assert as_model(stats.poisson(2)) == FromSciPy("poisson", {"mu": 2.0})
    many = stats.multivariate_normal([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]])
    assert isinstance(as_model(many), GaussianDensity)
    np.testing.assert_allclose(as_model(many).log_density(X), many.logpdf(X))


def test_mixtures_that_are_not_fitted_keep_their_settings():
    other = GaussianMixture(3, covariance_type="tied", max_iter=7, tol=0.5, n_init=2)
    expected = GaussianMixtureModel(3, "tied", iterations=7, tolerance=0.5, starts=2)
    assert as_model(other) == expected
    other.set_params(n_components=2, max_iter=100)
    fitted = as_model(other.fit(X))
    np.testing.assert_allclose(fitted.log_density(X), other.score_samples(X))


# hmmlearn is not needed: a model is known by its name and its attributes.


class CategoricalHMM:
    n_components, n_iter = 2, 10


class GaussianHMM:
    n_components, n_iter, covariance_type = 2, 10, "diag"


def test_hidden_markov_models_of_symbols():
    assert as_model(CategoricalHMM()) == HiddenMarkovModel(2, iterations=10)
    other = CategoricalHMM()
    other.startprob_ = np.array([0.5, 0.5000001])
    other.transmat_ = np.array([[0.9, 0.1], [0.2, 0.8]])
    other.emissionprob_ = np.array([[0.7, 0.3], [0.4, 0.6]])
    found = as_model(other)
    assert found.alphabet == (0, 1)
    np.testing.assert_allclose(np.exp(found.log_density([[0]])), 0.55, rtol=1e-6)


@pytest.mark.parametrize(
    ("form", "matrices"),
    [
        ("diag", np.array([np.diag([1.0, 2.0]), np.diag([3.0, 4.0])])),
        ("spherical", np.array([np.eye(2), 2 * np.eye(2)])),
        ("spherical", np.array([np.eye(2), np.eye(2), 2 * np.eye(2), 2 * np.eye(2)])),
        ("full", np.array([[[1.0, 0.5], [0.5, 1.0]], np.eye(2)])),
        ("tied", np.array([[1.0, 0.5], [0.5, 1.0]])),
    ],
)
def test_hidden_markov_models_of_measurements(form, matrices):
    other = GaussianHMM()
    other.covariance_type = form
    full = form in ("full", "tied")
    assert not as_model(other).fitted
    other.startprob_ = np.array([1.0, 0.0])
    other.transmat_ = np.array([[0.9, 0.1], [0.2, 0.8]])
    other.means_ = np.array([[0.0, 1.0], [2.0, 3.0]])
    other.covars_ = matrices
    found = as_model(other)
    assert found.covariance == ("full" if full else "diag")
    first = matrices if form == "tied" else matrices[0]
    expected = stats.multivariate_normal([0.0, 1.0], first).logpdf([1.0, 1.0])
    np.testing.assert_allclose(found.log_density([[[1.0, 1.0]]]), expected)
    second = matrices if form == "tied" else matrices[-1]
    found = found.set_params(start=[0.0, 1.0])
    expected = stats.multivariate_normal([2.0, 3.0], second).logpdf([1.0, 1.0])
    np.testing.assert_allclose(found.log_density([[[1.0, 1.0]]]), expected)


@pytest.mark.parametrize("thing", [3, "gaussian", np.log, stats.norm, GaussianMixture, None])
def test_what_is_no_model_is_refused_with_advice(thing):
    with pytest.raises(ValidityError, match=r"is no model: .* from_log_density"):
        as_model(thing)
