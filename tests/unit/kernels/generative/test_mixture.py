"""Σ p(x|i)·p(z|i)·p(i): weights that sum to one, components that fit together."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from mercer.domains import STRINGS, VECTORS
from mercer.errors import ModelWarning, ValidityError
from mercer.kernels import Density, Mixture, normalize
from mercer.models import GaussianDensity, Model, from_log_density, model

X = np.random.default_rng(0).normal(size=(9, 2))
PARTS = (
    GaussianDensity([0.0, 0.0], 1.0),
    GaussianDensity([2.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]),
    GaussianDensity([0.0, -2.0], 0.3),
)
WEIGHTS = (0.5, 0.2, 0.3)


def at_one(x, height=0.0):
    return height if x == 1 else -np.inf


@model
class Steps(Model):
    """A mixture with components of its own: normal distributions at 0, 1, ..., count − 1."""

    count: int | None = None
    domain: ClassVar = VECTORS

    @property
    def fitted(self):
        return self.count is not None

    @property
    def weights(self):
        return np.full(self.count, 1 / self.count)

    def component_log_densities(self, points):
        return stats.norm.logpdf(points.array - np.arange(self.count))

    def learn(self, points, weights, seed):
        return Steps(round(points.array.max()))


@model
class OfWords(Model):
    domain: ClassVar = STRINGS


def by_definition(points, weights):
    total = np.zeros((len(points), len(points)))
    for part, weight in zip(PARTS, weights, strict=True):
        p = stats.multivariate_normal(part.mean, part.covariance).pdf(points)
        total += weight * np.outer(p, p)
    return total


def test_it_is_the_weighted_sum_over_components():
    k = Mixture(PARTS, WEIGHTS)
    np.testing.assert_allclose(k(X), by_definition(X, WEIGHTS), rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(X), np.diag(by_definition(X, WEIGHTS)), rtol=1e-12)
    assert k.features(X).shape == (9, 3)


def test_without_weights_all_components_count_alike():
    np.testing.assert_allclose(Mixture(PARTS)(X), by_definition(X, np.full(3, 1 / 3)), rtol=1e-12)


def test_a_weight_of_zero_leaves_a_component_out():
    np.testing.assert_allclose(
        Mixture(PARTS, (0.0, 1.0, 0.0))(X), Density(PARTS[1])(X), rtol=1e-12
    )


def test_a_mixture_model_brings_components_and_weights():
    k = Mixture(Steps(3))
    each = tuple(GaussianDensity([float(i)], 1.0) for i in range(3))
    np.testing.assert_allclose(k(X[:, :1]), Mixture(each)(X[:, :1]), rtol=1e-12)
    again = Mixture(Steps(3), WEIGHTS)(X[:, :1])
    np.testing.assert_allclose(again, Mixture(each, WEIGHTS)(X[:, :1]), rtol=1e-12)


def test_a_mixture_model_is_fitted_when_the_kernel_is_resolved():
    k = Mixture(Steps(), fit_model=True)
    assert k.unresolved()
    assert k.resolve([[1.0], [4.0]]) == Mixture(Steps(4))
    with pytest.raises(ValidityError, match="has not been fitted"):
        Mixture(Steps())([[1.0]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((0.5, 0.5, 0.5), "must sum to 1 .* sum to 1.5"),
        ((1.5, -0.5, 0.0), "not negative, found .*-0.5"),
        ((0.5, 0.5), "3 components, but 2 weights"),
        ((np.nan, 0.5, 0.5), "weights of Mixture"),
        ((), "weights of Mixture"),
    ],
)
def test_weights_are_probabilities(weights, message):
    with pytest.raises(ValidityError, match=message):
        Mixture(PARTS, weights)


def test_weights_must_match_the_components_of_a_model():
    with pytest.raises(ValidityError, match="Steps has 3 components, but Mixture has 2 weights"):
        Mixture(Steps(3), (0.5, 0.5))([[1.0]])


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ((), "at least one"),
        ((PARTS[0], "normal"), "components of Mixture: .*is no model"),
        (PARTS[0], "is no mixture"),
        ((PARTS[0], OfWords()), "different kinds of things"),
    ],
)
def test_components_are_models_of_the_same_things(components, message):
    with pytest.raises(ValidityError, match=message):
        Mixture(components)


def test_separate_components_cannot_be_fitted():
    with pytest.raises(ValidityError, match="which items are whose"):
        Mixture(PARTS, fit_model=True)


def test_what_no_component_can_explain_is_zero_to_everything():
    k = Mixture((from_log_density(at_one, height=0.0), from_log_density(at_one, height=-1.0)))
    with pytest.warns(ModelWarning, match="item 1"):
        K = normalize(k)([1, 2])
    np.testing.assert_allclose(K, [[1, 0], [0, 0]], atol=1e-15)


def test_tiny_densities_survive_normalization():
    d = 500
    near, far = GaussianDensity(np.zeros(d), 0.5), GaussianDensity(np.ones(d), 0.5)
    k = normalize(Mixture((near, far)))
    rng = np.random.default_rng(2)
    Z = np.concatenate([rng.normal(0.0, 0.7, (3, d)), rng.normal(1.0, 0.7, (3, d))])
    K = k(Z)
    np.testing.assert_allclose(K, np.kron(np.eye(2), np.ones((3, 3))), atol=1e-12)
    F = k.features(Z)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-12)
    np.testing.assert_array_equal(Mixture((near, far))(Z), np.zeros((6, 6)))
