"""Honesty: nothing of the items that are held out is known to the machine that predicts them.

The data have a few items far away, so that a bandwidth or a scaler that has seen them is another.
"""

import warnings

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.base import clone
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelDiscriminant, KernelRidge, KernelRidgeClassifier
from mercer.errors import SelectionWarning
from mercer.kernels import Gaussian
from mercer.selection import GridSearchCV, leave_one_out, nested_cv

RNG = np.random.default_rng(4)
N = 30
X = RNG.normal(size=(N, 2))
X[:4] *= 40.0  # all in the first fold
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=N)
LABELS = (np.abs(X[:, 0]) > 0.7).astype(int)
FOLDS = KFold(3)
PENALTIES = {"penalty": [1e-3, 0.1, 10.0]}


@pytest.fixture(autouse=True)
def borders_do_not_matter_here():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the best", SelectionWarning)
        yield


def by_hand(machine, X, y, splits):
    """Return the score of each split by a machine that has never seen its test items."""
    return [clone(machine).fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits.split(X)]


def scores_of(search):
    found = search.cv_results_
    return np.array([found[f"split{k}_test_score"] for k in range(search.n_splits_)]).T


MACHINES = {
    "ridge": (KernelRidge(Gaussian("scale")), Y, PENALTIES),
    "process": (KernelRidge(Gaussian("scale"), intercept=True), Y, PENALTIES),
    "classifier": (KernelRidgeClassifier(Gaussian("scale")), LABELS, PENALTIES),
    "discriminant": (KernelDiscriminant(Gaussian("scale")), LABELS, PENALTIES),
    "SVC": (SVC(Gaussian("scale")), LABELS, {"C": [0.1, 1.0, 10.0]}),
}
each_machine = pytest.mark.parametrize("name", MACHINES)


def values(grid):
    return [{name: value} for name, all_values in grid.items() for value in all_values]


@each_machine
def test_a_search_resolves_heuristics_without_the_test_items(name):
    machine, y, grid = MACHINES[name]
    found = scores_of(GridSearchCV(machine, grid, cv=FOLDS).fit(X, y))
    honest = [by_hand(clone(machine).set_params(**p), X, y, FOLDS) for p in values(grid)]
    np.testing.assert_allclose(found, honest, rtol=1e-8, atol=1e-9)
    leaked = clone(machine).set_params(kernel=Gaussian("scale").resolve(machine._admit(X)))
    told = scores_of(GridSearchCV(leaked, grid, cv=FOLDS).fit(X, y))
    assert np.abs(found - told).max() > 0.01


@each_machine
def test_leaving_one_out_resolves_heuristics_without_the_item(name):
    machine, y, _ = MACHINES[name]
    found = leave_one_out(machine, X, y).predictions
    honest = [clone(machine).fit(X[a], y[a]).predict(X[b])[0] for a, b in LeaveOneOut().split(X)]
    np.testing.assert_allclose(found, honest, rtol=1e-8, atol=1e-9)


def test_leaving_one_out_with_a_leaked_heuristic_would_say_something_else():
    machine = KernelRidge(Gaussian("scale"), 0.1)
    leaked = KernelRidge(Gaussian("scale").resolve(machine._admit(X)), 0.1)
    found, told = leave_one_out(machine, X, Y), leave_one_out(leaked, X, Y)
    assert np.abs(found.predictions - told.predictions).max() > 0.01
    assert abs(found.error - told.error) > 1e-4


CHAIN = make_pipeline(StandardScaler(), KernelRidge(Gaussian(0.5)))
CHAIN_GRID = {"kernelridge__penalty": [1e-3, 0.1, 10.0]}


def test_a_scaler_sees_the_training_items_only():
    found = scores_of(GridSearchCV(CHAIN, CHAIN_GRID, cv=FOLDS).fit(X, Y))
    honest = [by_hand(clone(CHAIN).set_params(**p), X, Y, FOLDS) for p in values(CHAIN_GRID)]
    np.testing.assert_allclose(found, honest, rtol=1e-8)
    outside = StandardScaler().fit_transform(X)
    told = scores_of(GridSearchCV(CHAIN[-1], PENALTIES, cv=FOLDS).fit(outside, Y))
    assert np.abs(found - told).max() > 0.01
    alone = leave_one_out(CHAIN, X, Y)
    assert (
        np.abs(alone.predictions - leave_one_out(CHAIN[-1], outside, Y).predictions).max() > 1e-3
    )


@pytest.mark.parametrize("name", [*MACHINES, "pipeline"])
def test_nested_scores_are_honest_in_both_loops(name):
    machine, y, grid = (CHAIN, Y, CHAIN_GRID) if name == "pipeline" else MACHINES[name]
    found = nested_cv(machine, X, y, grid, FOLDS, FOLDS)
    for o, (train, test) in enumerate(FOLDS.split(X)):
        search = model_selection.GridSearchCV(machine, grid, cv=FOLDS).fit(X[train], y[train])
        np.testing.assert_allclose(
            found.inner_scores[o], search.cv_results_["mean_test_score"], rtol=1e-8, atol=1e-9
        )
        assert found.choices[o] == search.best_params_
        assert found.scores[o] == pytest.approx(search.score(X[test], y[test]), rel=1e-8)


@pytest.mark.parametrize("name", [*MACHINES, "pipeline", "fixed bandwidth"])
@pytest.mark.parametrize("inner", [FOLDS, None], ids=["inner", "the others"])
def test_items_held_out_have_no_say_in_the_choice(name, inner):
    """Whatever the items of an outer fold are, and their targets, it chooses the same."""
    machine, y, grid = {
        "pipeline": (CHAIN, Y, CHAIN_GRID),
        "fixed bandwidth": (KernelRidge(Gaussian(1.0), intercept=True), Y, PENALTIES),
    }.get(name) or MACHINES[name]
    found = nested_cv(machine, X, y, grid, FOLDS, inner)
    for o, (_, test) in enumerate(FOLDS.split(X)):
        changed, targets = X.copy(), y.copy()
        changed[test] = RNG.normal(size=(len(test), 2)) * 1e3
        targets[test] = targets[test][::-1]
        again = nested_cv(machine, changed, targets, grid, FOLDS, inner)
        np.testing.assert_allclose(
            again.inner_scores[o], found.inner_scores[o], rtol=1e-8, atol=1e-9
        )
        assert again.choices[o] == found.choices[o]
        others = [k for k in range(3) if k != o]
        assert np.abs(again.inner_scores[others] - found.inner_scores[others]).max() > 1e-3


def test_the_optimism_of_a_score_that_chose():
    """Of many useless candidates the best looks good; nested scores do not fall for it."""
    rng = np.random.default_rng(0)
    A, noise = rng.normal(size=(N, 3)), rng.normal(size=N)
    grid = {"kernel__bandwidth": np.logspace(-1.5, 1, 12), "penalty": [1e-3, 0.1, 1.0]}
    search = GridSearchCV(KernelRidge(Gaussian()), grid, cv=FOLDS).fit(A, noise)
    assert (
        nested_cv(KernelRidge(Gaussian()), A, noise, grid, FOLDS, FOLDS).mean < search.best_score_
    )


# ---- machines of a user's own -------------------------------------------------------------------


class Renamed(KernelRidge):
    """Changes nothing, and so inherits all shortcuts."""


class Doubled(KernelRidge):
    """Predicts twice as much, of which the shortcuts know nothing."""

    def predict(self, X):
        return 2 * super().predict(X)


class Declared(KernelRidge):
    """Says itself that the shortcuts hold."""

    abilities = ("shared Gram matrix", "closed-form folds")

    def predict(self, X):
        return super().predict(X)


@pytest.mark.parametrize(("kind", "fast"), [(Renamed, True), (Doubled, False), (Declared, True)])
def test_shortcuts_are_declared(kind, fast):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    grid = {"penalty": [0.1, 1.0, 10.0]}
    found = GridSearchCV(kind(Gaussian(1.0)), grid, cv=4).fit(X, y)
    expected = model_selection.GridSearchCV(kind(Gaussian(1.0)), grid, cv=4).fit(X, y)
    assert bool(found.account_.counts["without a refit"]) == fast
    scores = [one.cv_results_["mean_test_score"] for one in (found, expected)]
    np.testing.assert_allclose(*scores, rtol=1e-9)
