"""p(x)·p(z): what is impossible, what is too small for a number, what is not a density."""

import warnings

import numpy as np
import pytest
from scipy import stats

from mercer.errors import DomainError, ModelWarning, ValidityError
from mercer.kernels import Density, Gaussian, normalize
from mercer.models import FromSciPy, GaussianDensity, from_log_density

X = np.random.default_rng(0).normal(size=(9, 2))
NORMAL = GaussianDensity([0.5, -1.0], [[2.0, 0.3], [0.3, 1.0]])


def uniform(x, width=1.0):
    return 0.0 if 0 <= x <= 1 else -np.inf


def broken(x, shift=0.0):
    return float("nan") if x == 2 else 0.0


def test_it_is_the_product_of_densities():
    p = stats.multivariate_normal(NORMAL.mean, NORMAL.covariance).pdf(X)
    np.testing.assert_allclose(Density(NORMAL)(X), np.outer(p, p), rtol=1e-12)
    np.testing.assert_allclose(Density(NORMAL).features(X), p[:, None], rtol=1e-12)


def test_models_of_other_libraries_are_adapted():
    k = Density(stats.poisson(3.0))
    assert k == Density(FromSciPy("poisson", {"mu": 3.0}))
    np.testing.assert_allclose(k([[2.0]]), stats.poisson(3.0).pmf(2) ** 2)


def test_what_is_no_model_is_refused_with_the_name_of_the_parameter():
    with pytest.raises(ValidityError, match=r"model of Density: .*is no model"):
        Density("normal")


@pytest.mark.parametrize("flag", [1, "yes", None])
def test_fit_model_is_true_or_false(flag):
    with pytest.raises(ValidityError, match="fit_model of Density is True or False"):
        Density(NORMAL, fit_model=flag)


def test_an_impossible_item_is_zero_to_everything_with_one_warning():
    k = Density(from_log_density(uniform, width=1.0))
    items = [0.5, 2.0, 0.25, 3.0]
    with pytest.warns(ModelWarning) as caught:
        K = k(items)
    np.testing.assert_array_equal(K, np.outer([1, 0, 1, 0], [1, 0, 1, 0]))
    assert len(caught) == 1
    assert "2 of 4 items" in str(caught[0].message) and "item 1;" in str(caught[0].message)


def test_an_impossible_item_is_zero_after_normalization_too():
    k = normalize(Density(from_log_density(uniform, width=1.0)))
    with pytest.warns(ModelWarning):
        K, d, F = k([0.5, 2.0]), k.diagonal([0.5, 2.0]), k.features([0.5, 2.0])
    np.testing.assert_array_equal(K, [[1, 0], [0, 0]])
    np.testing.assert_array_equal(d, [1, 0])
    np.testing.assert_array_equal(F, [[1], [0]])


def test_a_density_that_is_not_a_number_is_refused_by_item():
    with pytest.raises(DomainError, match=r"item 2 of X .* is nan"):
        Density(from_log_density(broken, shift=0.0))([0, 1, 2])


def test_tiny_densities_survive_normalization():
    model = GaussianDensity(np.zeros(1000), 1e-2)
    Z = np.random.default_rng(1).normal(size=(5, 1000))  # ln p is about −50000
    np.testing.assert_array_equal(Density(model)(Z), np.zeros((5, 5)))
    np.testing.assert_allclose(normalize(Density(model))(Z), np.ones((5, 5)), rtol=1e-9)
    np.testing.assert_allclose(normalize(Density(model)).features(Z), np.ones((5, 1)), rtol=1e-9)


def test_densities_that_overflow_are_refused_but_can_be_normalized():
    model = GaussianDensity(np.zeros(400), 1e-3)
    with pytest.raises(ValidityError, match="normalize the kernel"):
        Density(model)(np.zeros((2, 400)))
    np.testing.assert_array_equal(normalize(Density(model))(np.zeros((2, 400))), np.ones((2, 2)))


def test_an_unfitted_model_says_what_to_do():
    with pytest.raises(ValidityError, match="fit_model=True"):
        Density(GaussianDensity())(X)
    with pytest.raises(ValidityError, match=r"call k.resolve\(X\) first"):
        Density(GaussianDensity(), fit_model=True)(X)


def test_resolving_fits_the_model():
    k = Density(GaussianDensity(), fit_model=True)
    assert k.resolve(X) == Density(GaussianDensity().fit(X))
    weights = np.arange(9.0)
    assert k.resolve(X, weights) == Density(GaussianDensity().fit(X, weights))


def test_it_takes_part_in_the_algebra():
    k = 3.0 * Density(NORMAL) * Gaussian(1.0) + 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = 3.0 * Density(NORMAL)(X) * Gaussian(1.0)(X) + 0.5
    np.testing.assert_allclose(k(X), expected, rtol=1e-12)
    assert k.proof().verdict == "proved"


def test_parameters_of_the_model_can_be_reached_by_name():
    k = (Density(NORMAL) + 1.0).set_params(left__model__mean=[0.0, 0.0])
    assert k.left.model.mean.tolist() == [0.0, 0.0]
