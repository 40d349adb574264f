"""Models are refitted inside each training fold: no model has seen what it is judged by."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

from mercer import KernelRidge
from mercer.kernels import Density, Fisher, Gaussian, LatentGaussian, Mixture
from mercer.models import GaussianDensity
from mercer.selection import GridSearchCV, leave_one_out, nested_cv

rng = np.random.default_rng(8)
X = rng.normal(size=(30, 2)) ** 3
Y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=30)
FOLDS = KFold(4, shuffle=True, random_state=0)

KERNELS = {
    "density": lambda some: 100.0 * Density(GaussianDensity().fit(some)) + 0.1 * Gaussian(1.0),
    "fisher": lambda some: Fisher(GaussianDensity().fit(some)).resolve(some),
    "exact": lambda some: Fisher(GaussianDensity().fit(some), "exact"),
    "latent": lambda some: LatentGaussian(1).resolve(some),
}
REFITTED = {
    "density": 100.0 * Density(GaussianDensity(), fit_model=True) + 0.1 * Gaussian(1.0),
    "fisher": Fisher(GaussianDensity(), fit_model=True),
    "exact": Fisher(GaussianDensity(), "exact", fit_model=True),
    "latent": LatentGaussian(1),
}


def by_hand(made, penalty):
    """Fit model, kernel and machine to the training part of each fold, and score the rest."""
    scores = []
    for train, test in FOLDS.split(X):
        machine = KernelRidge(made(X[train]), penalty).fit(X[train], Y[train])
        scores.append(machine.score(X[test], Y[test]))
    return np.array(scores)


@pytest.mark.parametrize("name", KERNELS)
def test_cross_validation_refits_the_model_without_the_held_out_items(name):
    expected = by_hand(KERNELS[name], 1e-3)
    machine = KernelRidge(REFITTED[name], 1e-3)
    np.testing.assert_allclose(cross_val_score(machine, X, Y, cv=FOLDS), expected, rtol=1e-6)
    search = GridSearchCV(machine, {"penalty": [1e-3, 5.0]}, cv=FOLDS).fit(X, Y)
    found = [search.cv_results_[f"split{k}_test_score"][0] for k in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_a_model_that_has_seen_all_items_gives_other_scores(name):
    everything = KERNELS[name](X)
    leaking = by_hand(lambda some: everything, 1e-3)
    assert np.abs(leaking - by_hand(KERNELS[name], 1e-3)).max() > 1e-3


def test_nested_cross_validation_refits_in_both_loops():
    machine = KernelRidge(Fisher(GaussianDensity(), fit_model=True))
    found = nested_cv(machine, X, Y, {"penalty": [0.5]}, outer=FOLDS, inner=3)
    np.testing.assert_allclose(found.scores, by_hand(KERNELS["fisher"], 0.5), rtol=1e-6)


def test_leaving_one_out_refits_for_each_item():
    machine = KernelRidge(Fisher(GaussianDensity(), "exact", fit_model=True), 0.5)
    found = leave_one_out(machine, X[:8], Y[:8]).predictions
    for i in range(8):
        rest = np.delete(np.arange(8), i)
        alone = KernelRidge(KERNELS["exact"](X[rest]), 0.5).fit(X[rest], Y[rest])
        assert found[i] == pytest.approx(alone.predict(X[[i]])[0], rel=1e-6)


def test_a_grid_reaches_the_parameters_of_a_model():
    machine = KernelRidge(Fisher(GaussianDensity(fixed="mean", mean=[0.0, 0.0]), fit_model=True))
    grid = {"kernel__model__mean": [[0.0, 0.0], [1.0, -1.0]], "kernel__ridge": [0.0, 0.1]}
    search = GridSearchCV(machine, grid, cv=FOLDS).fit(X, Y)
    assert len(set(search.cv_results_["mean_test_score"].round(12))) == 4
    assert search.best_estimator_.kernel_.fit_model is False


def test_a_fitted_machine_keeps_the_fitted_model():
    machine = KernelRidge(Density(GaussianDensity(), fit_model=True)).fit(X, Y)
    assert machine.kernel_ == Density(GaussianDensity().fit(X))
    assert machine.kernel == Density(GaussianDensity(), fit_model=True)


def test_a_mixture_model_is_refitted_too():
    from mercer.models import GaussianMixtureModel

    made = lambda some: Mixture(GaussianMixtureModel(2).fit(some))
    machine = KernelRidge(Mixture(GaussianMixtureModel(2), fit_model=True), 1e-3)
    expected = []
    for train, test in FOLDS.split(X):
        fitted = KernelRidge(made(X[train]), 1e-3).fit(X[train], Y[train])
        expected.append(fitted.score(X[test], Y[test]))
    np.testing.assert_allclose(cross_val_score(machine, X, Y, cv=FOLDS), expected, rtol=1e-6)
