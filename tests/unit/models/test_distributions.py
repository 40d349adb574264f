"""Distributions of SciPy as models."""

import numpy as np
import pytest
from scipy import stats

from mercer.errors import DomainError, ValidityError
from mercer.models import FromSciPy


@pytest.mark.parametrize(
    ("frozen", "theta", "free"),
    [
        (stats.norm(1, 2), {"loc": 1.0, "scale": 2.0}, ("loc", "scale")),
        (stats.norm(), {}, ("loc", "scale")),
        (stats.norm(scale=3), {"scale": 3.0}, ("scale",)),
        (stats.expon(scale=2), {"scale": 2.0}, ("scale",)),
        (stats.gamma(2, scale=3), {"a": 2.0, "scale": 3.0}, ("a", "scale")),
        (stats.gamma(2, 1, 3), {"a": 2.0, "loc": 1.0, "scale": 3.0}, ("a", "loc", "scale")),
        (stats.poisson(3), {"mu": 3.0}, ("mu",)),
        (stats.binom(n=5, p=0.5), {"n": 5.0, "p": 0.5}, ("p",)),
        (stats.t(5.0), {"df": 5.0}, ("df",)),
    ],
)
def test_frozen_distributions_are_taken_as_they_are(frozen, theta, free):
    model = FromSciPy(frozen)
    assert dict(model.theta) == theta and model.free == free
    x = np.array([[1.5], [3.0]]) if hasattr(frozen.dist, "pdf") else np.array([[1.0], [3.0]])
    logs = frozen.logpdf(x[:, 0]) if hasattr(frozen.dist, "pdf") else frozen.logpmf(x[:, 0])
    np.testing.assert_allclose(model.log_density(x), logs, rtol=1e-12)


@pytest.mark.parametrize("name", ["norm", "gamma", "beta", "expon"])
def test_scores_of_families_are_those_of_differences(name):
    theta = {"norm": {"loc": 1.0, "scale": 2.0}, "expon": {"loc": 0.1, "scale": 2.0}}
    theta = {"gamma": {"a": 2.0, "loc": -1.0, "scale": 0.5}, "beta": {"a": 2.0, "b": 0.7}, **theta}
    all_free = [key for key in theta[name] if key != "loc" or name == "norm"]
    exact = FromSciPy(name, theta[name], tuple(all_free))
    assert exact.information() is not None
    plain = FromSciPy(name, theta[name], tuple(all_free))
    plain.__dict__["_family"] = None  # as if nobody knew its formulas
    x = np.array([[0.3], [0.9]])
    np.testing.assert_allclose(exact.score(x), plain.score(x), rtol=1e-8, atol=1e-8)


def test_a_free_location_of_a_family_without_one_is_differenced():
    model = FromSciPy("gamma", {"a": 3.0, "loc": 0.5, "scale": 1.0})
    assert model.information() is None
    x = 2.0
    exact = -(3.0 - 1) / (x - 0.5) + 1
    np.testing.assert_allclose(model.score([[x]])[0, 1], exact, rtol=1e-8)


@pytest.mark.parametrize(("loc", "scale"), [(0.0, 1e-5), (1e6, 1.0), (-3.0, 1e7)])
def test_differences_know_the_units_of_a_distribution(loc, scale):
    model = FromSciPy("t", {"df": 3.0, "loc": loc, "scale": scale}, ("loc", "scale"))
    x = np.array([[loc + 0.5 * scale], [loc - 2.0 * scale]])
    z = (x[:, 0] - loc) / scale
    pull = 4 * z / (3 + z**2)  # −d ln p/dz of Student's distribution with three degrees
    expected = np.column_stack([pull, pull * z - 1]) / scale
    np.testing.assert_allclose(model.score(x), expected, rtol=1e-6)


def test_fitting_finds_planted_parameters():
    truth = FromSciPy("gamma", {"a": 2.0, "scale": 3.0})
    found = FromSciPy("gamma", {"a": 1.0, "scale": 1.0}).fit(truth.sample(5000, seed=0))
    np.testing.assert_allclose([v for _, v in found.theta], [2.0, 3.0], rtol=0.07)
    shifted = FromSciPy("norm", {"loc": 5.0, "scale": 1.0}, "scale")
    np.testing.assert_allclose(dict(shifted.fit([[4.0], [8.0]]).theta)["scale"], np.sqrt(5.0))
    assert dict(shifted.fit([[4.0], [8.0]]).theta)["loc"] == 5.0
    coin = FromSciPy("binom", {"n": 4, "p": 0.5}).fit([[1.0], [3.0]], weights=[3.0, 1.0])
    np.testing.assert_allclose(dict(coin.theta)["p"], 6 / 16)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("normal", {}), "no distribution of one number 'normal'"),
        (("multivariate_normal", {}), "use GaussianDensity"),
        (("norm", {"sigma": 1.0}), "norm has no parameter 'sigma'"),
        (("gamma", {"scale": 1.0}), "gamma needs its parameter 'a'"),
        (("norm", {"scale": -1.0}), "norm does not exist"),
        (("norm", {"scale": np.inf}), "scale of FromSciPy must be a finite number"),
        (("norm", {"scale": 1.0}, "shape"), "no free parameter 'shape'"),
        (("binom", {"n": 3, "p": 0.5}, "n"), "no free parameter 'n'; .*'p'"),
        ((stats.norm,), "distribution with its parameters"),
        ((stats.norm(0, 1), {"loc": 1.0}), "distribution with its parameters"),
        ((3,), "found 3"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValidityError, match=message):
        FromSciPy(*arguments)


def test_bad_items_are_named():
    model = FromSciPy("norm", {"loc": 0.0, "scale": 1.0})
    with pytest.raises(DomainError, match="X has 2 columns, but norm is a distribution of one"):
        model.log_density([[1.0, 2.0]])
    with pytest.raises(DomainError, match="items of X are all equal"):
        model.fit([[1.0], [1.0]])
    with pytest.raises(ValidityError, match="nbinom cannot be fitted to data"):
        FromSciPy("nbinom", {"n": 3, "p": 0.5}).fit([[1.0]])
