"""The integral over a Gaussian cause, by its formula."""

import numpy as np
import pytest
from scipy import stats
from sklearn.decomposition import PCA

from mercer.errors import DomainError, ValidityError
from mercer.kernels import Density, LatentGaussian, normalize
from mercer.models import GaussianDensity

rng = np.random.default_rng(3)
X = rng.normal(size=(8, 3))
W = rng.normal(size=(3, 2))
NOISE = np.array([[1.0, 0.2, 0.0], [0.2, 0.8, 0.1], [0.0, 0.1, 0.5]])


def test_forms_of_the_noise():
    matrix = LatentGaussian(W, 0.7 * np.eye(3))(X)
    np.testing.assert_allclose(LatentGaussian(W, 0.7)(X), matrix, rtol=1e-12)
    np.testing.assert_allclose(LatentGaussian(W, [0.7] * 3)(X), matrix, rtol=1e-12)


def test_a_single_latent_dimension_may_be_a_list():
    np.testing.assert_array_equal(
        LatentGaussian([1.0, 2.0, 0.0], 1.0)(X), LatentGaussian([[1.0], [2.0], [0.0]], 1.0)(X)
    )


def test_without_a_common_cause_it_is_the_density_kernel():
    k = LatentGaussian(np.zeros((3, 1)), NOISE, [1.0, 0.0, -1.0])
    np.testing.assert_allclose(
        k(X), Density(GaussianDensity([1.0, 0.0, -1.0], NOISE))(X), rtol=1e-11
    )


def test_normalized_it_works_where_densities_underflow():
    d = 300
    loading = rng.normal(size=(d, 1))
    first = loading[:, 0] + rng.normal(size=d)
    Z = np.array([first, first + 0.08 * loading[:, 0], -first])
    k = LatentGaussian(loading, 1.0)
    np.testing.assert_array_equal(k(Z), np.zeros((3, 3)))
    common = loading @ loading.T
    alone = common + np.eye(d)
    both = stats.multivariate_normal(cov=np.block([[alone, common], [common, alone]]))
    logs = np.array([[both.logpdf(np.concatenate([x, z])) for z in Z] for x in Z])
    expected = np.exp(logs - np.diag(logs) / 2 - np.diag(logs)[:, None] / 2)
    assert 0.1 < expected[0, 1] < 0.9
    np.testing.assert_allclose(normalize(k)(Z), expected, rtol=1e-9, atol=1e-12)


def test_probabilistic_components_are_learned():
    k = LatentGaussian(2).resolve(X)
    pca = PCA(2).fit(X)
    C = k.loading @ k.loading.T + k.noise * np.eye(3)
    np.testing.assert_allclose(C, pca.get_covariance() * (7 / 8), rtol=1e-10)  # divided by n
    np.testing.assert_allclose(k.mean, X.mean(axis=0))
    assert k.unresolved() == []


def test_the_number_of_latent_dimensions_is_smaller_than_that_of_columns():
    with pytest.raises(DomainError, match=r"3 latent dimensions cannot explain .* 3 columns"):
        LatentGaussian(3).resolve(X)
    flat = np.outer(np.arange(5.0), [1.0, 2.0, 3.0])
    with pytest.raises(DomainError, match="no noise to learn"):
        LatentGaussian(1).resolve(flat)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loading": W}, "needs its noise"),
        ({"loading": 2, "noise": 1.0}, "learned together"),
        ({"loading": 0}, "whole number"),
        ({"loading": W, "noise": 0.0}, "must be positive, found 0"),
        ({"loading": W, "noise": [1.0, -1.0, 1.0]}, "must be positive, found -1"),
        ({"loading": W, "noise": [1.0, 1.0]}, "found shape"),
        ({"loading": W, "noise": -np.eye(3)}, "positive definite"),
        ({"loading": W, "noise": np.triu(np.ones((3, 3)))}, "symmetric"),
        ({"loading": W, "noise": np.nan}, "NaN"),
        ({"loading": W, "noise": "much"}, "noise of LatentGaussian"),
        ({"loading": W, "noise": 1.0, "mean": [0.0]}, "mean of LatentGaussian must have 3"),
        ({"loading": np.zeros((0, 2)), "noise": 1.0}, "row for each dimension"),
    ],
)
def test_parameters_that_describe_no_model_are_refused(arguments, message):
    with pytest.raises(ValidityError, match=message):
        LatentGaussian(**arguments)


def test_rows_of_another_width_are_refused():
    with pytest.raises(DomainError, match="made for 3"):
        LatentGaussian(W, 1.0)(X[:, :2])
