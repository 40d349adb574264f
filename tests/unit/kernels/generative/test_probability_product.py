"""Products of the Gaussians that samples look like."""

import math

import numpy as np
import pytest
from scipy import integrate

from mercer.errors import DomainError, ValidityError
from mercer.kernels import ProbabilityProduct

rng = np.random.default_rng(5)
SAMPLES = [rng.normal(size=(n, 2)) @ rng.normal(size=(2, 2)) for n in (1, 2, 5, 30, 8)]
NUMBERS = [rng.normal(2.0 * i, 1.0 + i, size=(6, 1)) for i in range(3)]


def density(sample, ridge):
    mean, variance = float(sample.mean()), float(sample.var() + ridge)
    return lambda y: math.exp(-((y - mean) ** 2) / 2 / variance) / math.sqrt(math.tau * variance)


@pytest.mark.parametrize("power", [0.5, 1.0, 0.3, 2.0])
@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
def test_it_is_the_integral_of_the_product_of_powers(power, covariance):
    K = ProbabilityProduct(power, covariance, ridge=0.2)(NUMBERS)
    for i, a in enumerate(NUMBERS):
        for j, b in enumerate(NUMBERS):
            p, q = density(a, 0.2), density(b, 0.2)
            expected, _ = integrate.quad(
                lambda y, p=p, q=q: (p(y) * q(y)) ** power, -60, 60, limit=200
            )
            assert K[i, j] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
def test_bhattacharyya_is_one_for_equal_distributions_and_less_for_others(covariance):
    K = ProbabilityProduct(0.5, covariance, 0.1)(SAMPLES)
    np.testing.assert_allclose(np.diag(K), 1.0, rtol=1e-12)
    assert (K[~np.eye(5, dtype=bool)] < 1).all()


def test_the_order_of_rows_does_not_matter():
    k = ProbabilityProduct(ridge=0.1)
    turned = [sample[::-1] for sample in SAMPLES]
    np.testing.assert_allclose(k(turned), k(SAMPLES), rtol=1e-12)


def test_the_scale_of_the_ridge_is_that_of_all_rows_together():
    k = ProbabilityProduct().resolve(SAMPLES)
    assert k.ridge == pytest.approx(0.1 * np.concatenate(SAMPLES).var(axis=0).mean())
    with pytest.raises(DomainError, match="no scale for the ridge"):
        ProbabilityProduct().resolve([[[1.0]], [[1.0], [1.0]]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"power": 0.0}, "power of ProbabilityProduct"),
        ({"covariance": "ful"}, "did you mean 'full'"),
        ({"ridge": 0.0}, "ridge of ProbabilityProduct"),
        ({"ridge": "sale"}, "ridge of ProbabilityProduct"),
    ],
)
def test_parameters(arguments, message):
    with pytest.raises(ValidityError, match=message):
        ProbabilityProduct(**arguments)


def test_samples_with_other_columns_or_without_rows_are_refused():
    k = ProbabilityProduct(ridge=1.0)
    with pytest.raises(DomainError, match="2 and with 1 columns"):
        k(SAMPLES, NUMBERS)
    with pytest.raises(DomainError, match="item 1 of X"):
        k([SAMPLES[0], np.empty((0, 2))])
