"""Exemplars: Parzen densities of the classes, and Nadaraya-Watson regression."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KernelDensity

from mercer.errors import DomainError, ValidityError
from mercer.kernels import Gaussian, Laplacian, Linear, Shepard
from mercer.machines.exemplar import ExemplarClassifier, ExemplarRegressor


def blobs(classes=3, n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(classes, d))[y], y


# ---- classes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bandwidth", [0.7, (0.5, 2.0)])
def test_the_density_of_a_class_is_that_of_a_parzen_estimate(bandwidth):
    X, y = blobs()
    machine = ExemplarClassifier(Gaussian(bandwidth)).fit(X, y)
    new = X[:10] + 0.3
    found = np.exp(machine.log_density(new))
    for c in range(3):
        terms = [stats.norm.pdf(new, x, bandwidth).prod(axis=1) for x in X[y == c]]
        np.testing.assert_allclose(found[:, c], np.mean(terms, axis=0), rtol=1e-10)


def test_the_log_density_agrees_with_scikit_learn_in_many_dimensions():
    X, y = blobs(2, n=30, d=40)
    found = ExemplarClassifier(Gaussian(3.0)).fit(X, y).log_density(X)
    for c in range(2):
        peer = KernelDensity(bandwidth=3.0).fit(X[y == c])
        np.testing.assert_allclose(found[:, c], peer.score_samples(X), rtol=1e-9)


def test_the_density_of_another_kernel_is_its_mean_similarity():
    X, y = blobs(2)
    machine = ExemplarClassifier(Laplacian(1.0)).fit(X, y)
    expected = [Laplacian(1.0)(X, X[y == c]).mean(axis=1) for c in range(2)]
    np.testing.assert_allclose(np.exp(machine.log_density(X)), np.transpose(expected))


@pytest.mark.parametrize("priors", [None, "empirical", (0.1, 0.2, 0.7)])
def test_probabilities_are_bayes_rule(priors):
    X, y = blobs()
    X, y = X[(y > 0) | (np.arange(60) < 30)], y[(y > 0) | (np.arange(60) < 30)]
    machine = ExemplarClassifier(Gaussian(1.0), priors=priors).fit(X, y)
    shares = np.bincount(y) / len(y)
    p = {None: np.full(3, 1 / 3), "empirical": shares}.get(priors, np.array(priors))
    joint = p * np.transpose([Gaussian(1.0)(X, X[y == c]).mean(axis=1) for c in range(3)])
    np.testing.assert_allclose(machine.predict_proba(X), joint / joint.sum(1, keepdims=True))
    np.testing.assert_array_equal(machine.predict(X), joint.argmax(axis=1))
    np.testing.assert_allclose(machine.function_(X), joint)


def test_the_prediction_is_the_most_probable_class():
    X, y = blobs()
    machine = ExemplarClassifier(priors=(0.5, 0.3, 0.2)).fit(X, y)
    np.testing.assert_array_equal(machine.predict(X), machine.predict_proba(X).argmax(axis=1))


def test_a_similarity_need_not_be_a_valid_kernel():
    X, y = blobs(2)
    refuted = Shepard(sensitivity=1.0, order=3.0, exponent=3.0)
    assert refuted.proof().verdict == "refuted"
    assert ExemplarClassifier(refuted).fit(X, y).score(X, y) > 0.9


def test_negative_similarities_classify_but_are_no_probabilities():
    X, y = blobs(2)
    machine = ExemplarClassifier(Linear()).fit(X, y)
    means = np.array([X[y == c].mean(axis=0) for c in range(2)])
    np.testing.assert_array_equal(machine.predict(X), (X @ means.T).argmax(axis=1))
    for method in (machine.predict_proba, machine.log_density):
        with pytest.raises(ValidityError, match="is negative for item"):
            method(X)


def test_something_like_no_exemplar_gets_the_priors_and_a_warning():
    X, y = blobs(2)
    machine = ExemplarClassifier(Gaussian(0.5), priors=(0.3, 0.7)).fit(X, y)
    new = np.vstack([X[:2], [[1e6, 1e6]]])
    with pytest.warns(UserWarning, match=r"1 of 3 items, the first being item 2") as caught:
        found = machine.predict_proba(new)
    assert caught[0].filename == __file__
    np.testing.assert_allclose(found[2], [0.3, 0.7])
    with pytest.warns(UserWarning, match="larger bandwidth"):
        assert machine.predict(new)[2] == 1
    assert np.isneginf(machine.log_density(new)[2]).all()


@pytest.mark.parametrize("priors", ["emprical", (0.5, 0.6), (1.0, 0.0), (1.0,), (np.nan, 1.0)])
def test_bad_priors_are_refused(priors):
    with pytest.raises(ValidityError, match="priors"):
        ExemplarClassifier(priors=priors).fit(*blobs(2))


def test_a_class_without_weight_has_no_exemplars():
    X, y = blobs(3)
    with pytest.raises(DomainError, match="class"):
        ExemplarClassifier().fit(X, y, sample_weight=(y != 1).astype(float))


# ---- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", [None, 1, 2])
def test_regression_is_the_mean_weighted_by_similarity(targets):
    rng = np.random.default_rng(0)
    X, new, w = rng.normal(size=(20, 2)), rng.normal(size=(7, 2)), rng.uniform(size=20)
    y = rng.normal(size=20 if targets is None else (20, targets))
    machine = ExemplarRegressor(Gaussian(0.8)).fit(X, y, sample_weight=w)
    K = Gaussian(0.8)(new, X) * w
    np.testing.assert_allclose(machine.predict(new), (K @ y).T.__truediv__(K.sum(axis=1)).T)


def test_regression_is_the_function_over_the_density():
    X, y = np.linspace(0, 3, 12)[:, None], np.linspace(0, 3, 12) ** 2
    machine = ExemplarRegressor(Gaussian(0.3)).fit(X, y)
    np.testing.assert_allclose(machine.predict(X), machine.function_(X) / machine.density_(X))


def test_regression_stays_between_the_targets():
    X, y = np.linspace(0, 3, 12)[:, None], np.sin(np.linspace(0, 3, 12))
    for bandwidth in (0.01, 1.0, 100.0):
        found = ExemplarRegressor(Gaussian(bandwidth)).fit(X, y).predict(X)
        assert y.min() - 1e-12 <= found.min() <= found.max() <= y.max() + 1e-12


def test_something_like_no_exemplar_gets_the_mean_and_a_warning():
    machine = ExemplarRegressor(Gaussian(0.1)).fit([[0.0], [1.0]], [1.0, 4.0], [2.0, 1.0])
    with pytest.warns(UserWarning, match="The answer for them is the mean of the targets"):
        found = machine.predict([[500.0], [0.0]])
    np.testing.assert_allclose(found, [2.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.predict([[0.0]])


def test_a_negative_weight_of_the_exemplars_is_refused():
    machine = ExemplarRegressor(Linear()).fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ValidityError, match="negative for item 1"):
        machine.predict([[1.0], [-1.0]])
