"""Mixtures of normal distributions. scikit-learn as an oracle is in tests/oracles."""

import numpy as np
import pytest

from mercer.errors import ConvergenceWarning, DomainError, ValidityError
from mercer.models import GaussianMixtureModel
from tests.unit.models.cases import CASES, MATRICES, MEANS, VARIANCES

FORMS = ("full", "tied", "diag", "spherical")
rng = np.random.default_rng(0)
BLOBS = np.vstack([rng.normal(m, 0.5, size=(60, 2)) for m in ([0, 0], [4, 0], [0, 5])])


@pytest.mark.parametrize("covariance", FORMS)
def test_no_step_loses_likelihood_and_planted_means_are_found(covariance):
    found = GaussianMixtureModel(3, covariance, tolerance=1e-8).ascend(BLOBS, seed=0)
    gains = np.diff(found.history)
    assert found.converged and (gains >= -1e-8).all()
    means = found.model.means[np.lexsort(found.model.means.round().T)]
    np.testing.assert_allclose(means, [[0, 0], [4, 0], [0, 5]], atol=0.25)
    np.testing.assert_allclose(found.model.weights, 1 / 3, atol=0.02)


@pytest.mark.parametrize("covariance", FORMS)
def test_far_from_the_origin_digits_are_kept(covariance):
    model, items = CASES[f"{covariance} mixture"]
    away = model.set_params(means=model.means + 1e6)
    expected = model.log_density(items)
    np.testing.assert_allclose(away.log_density(items + 1e6), expected, rtol=1e-8)
    np.testing.assert_allclose(away.score(items + 1e6), model.score(items), atol=1e-7)


@pytest.mark.parametrize("covariance", ["diag", "spherical"])
@pytest.mark.parametrize(("apart", "deviation"), [(1e8, 1.0), (3e3, 1.0), (1.0, 1e-7)])
def test_components_far_apart_keep_their_digits(covariance, apart, deviation):
    variances = {"diag": [[deviation**2]] * 2, "spherical": [deviation**2] * 2}[covariance]
    model = GaussianMixtureModel(2, covariance, [0.5, 0.5], [[0.0], [apart]], variances)
    X = np.array([[0.3 * deviation], [apart + 0.25 * deviation]])
    z = (X - model.means)[:, 0] / deviation  # each from the mean of its own component
    expected = -0.5 * z**2 - 0.5 * np.log(2 * np.pi) - np.log(deviation) + np.log(0.5)
    np.testing.assert_allclose(model.log_density(X), expected, rtol=1e-8)


def test_threads_change_no_digit(use_cores):
    model = CASES["diag mixture"][0]
    X = model.sample(5000)
    many = model.score(X)
    use_cores(1)
    np.testing.assert_array_equal(model.score(X), many)


def test_the_usual_information_is_exact_for_components_far_apart():
    far = GaussianMixtureModel(
        2, "diag", [0.3, 0.7], [[0.0, 0.0], [60.0, 0.0]], [[1, 2], [0.5, 3]]
    )
    assert far.information() is None
    G = far.score(far.sample(20_000, seed=1))
    products = G[:, :, None] * G[:, None, :]
    allowed = 5 * products.std(axis=0) / np.sqrt(len(G)) + 1e-12
    assert (np.abs(products.mean(axis=0) - far.approximate_information()) <= allowed).all()


@pytest.mark.parametrize("covariance", FORMS)
def test_the_usual_information_has_a_row_for_each_parameter(covariance):
    model = CASES[f"{covariance} mixture"][0]
    F = model.approximate_information()
    assert F.shape == (len(model.parameter_names),) * 2
    np.testing.assert_allclose(F, F.T)
    assert np.linalg.eigvalsh(F)[0] > 0


def test_a_component_without_weight_is_no_parameter():
    model = GaussianMixtureModel(3, "spherical", [0.5, 0.5, 0.0], MEANS, [1.0, 1.0, 1.0])
    assert model.parameter_names[:2] == ["weight[0]", "mean[0, 0]"]
    assert np.isfinite(model.score(MEANS)).all()
    assert np.isfinite(model.fit(BLOBS).log_density(BLOBS)).all()


def test_a_single_item_of_its_own_does_not_collapse():
    X = np.vstack([BLOBS[:60], [[100.0, 100.0]]])
    found = GaussianMixtureModel(2, "full", floor=1e-3).fit(X)
    assert np.isfinite(found.log_density(X)).all()
    floors = 1e-3 * X.var(axis=0)
    assert np.linalg.eigvalsh(found.covariances / np.sqrt(np.outer(floors, floors))).min() >= 0.999


def test_fitting_that_stops_early_says_so():
    with pytest.warns(ConvergenceWarning, match="GaussianMixtureModel stopped after 2 steps"):
        GaussianMixtureModel(3, iterations=2, tolerance=1e-12).fit(BLOBS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"weights": [0.5, 0.2, 0.2]},
            "weights of GaussianMixtureModel must sum to one, found 0.9",
        ),
        ({"weights": [0.5, 0.7, -0.2]}, "must be probabilities, found -0.2"),
        ({"weights": None}, "needs weights, means and covariances, or none"),
        ({"covariances": VARIANCES[:2]}, "shape 3 × 3, found 2 × 3"),
        ({"covariances": -VARIANCES}, "must be positive variances"),
        ({"covariance": "full", "covariances": -MATRICES}, "covariance 0 .* positive definite"),
        ({"components": 2.5}, "whole number"),
        ({"floor": 0.0}, "floor .* positive"),
        ({"tolerance": -1.0}, "tolerance .* not negative"),
    ],
)
def test_bad_parameters_are_named(changes, message):
    with pytest.raises(ValidityError, match=message):
        CASES["diag mixture"][0].set_params(**changes)


def test_bad_items_are_named():
    with pytest.raises(DomainError, match=r"fewer different items than .* components"):
        GaussianMixtureModel(3).fit([[1.0], [1.0], [2.0], [2.0]])
    with pytest.raises(DomainError, match="X has 2 columns, but GaussianMixtureModel is about 3"):
        CASES["diag mixture"][0].score(BLOBS)
