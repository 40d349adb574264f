"""The drop-in's linear classifier: LIBLINEAR's objective, on sparse and wide rows."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as Theirs

from mercer.errors import PlanWarning
from mercer.sklearn.svm import LinearSVC


def wide(classes=2, n=80, d=300, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.1, rng=rng).tocsr()
    scores = X @ rng.normal(size=(d, classes)) + 0.3 * rng.normal(size=(n, classes))
    return X, np.array(["a", "b", "c"])[scores.argmax(axis=1)]


def objective(machine, X, y, C, squared, w=None):
    """Return the largest primal objective of a class against the rest."""
    sides = machine.classes_[1:] if len(machine.coef_) == 1 else machine.classes_
    scores = machine.decision_function(X).reshape(len(y), -1)
    found = []
    for k, side in enumerate(sides):
        slack = np.maximum(1 - np.where(y == side, 1, -1) * scores[:, k], 0)
        price = C * (np.ones(len(y)) if w is None else w)
        square = machine.coef_[k] @ machine.coef_[k] + np.atleast_1d(machine.intercept_)[k] ** 2
        found.append(square / 2 + price @ (slack**2 if squared else slack))
    return np.array(found)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_objectives_are_liblinears(classes, loss, C):
    X, y = wide(classes)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    params = {"loss": loss, "C": C, "dual": True, "tol": 1e-8, "max_iter": 10**5}
    ours, theirs = (m(**params, random_state=0).fit(X, y, w) for m in (LinearSVC, Theirs))
    a, b = (objective(m, X, y, C, loss == "squared_hinge", w) for m in (ours, theirs))
    np.testing.assert_allclose(a, b, rtol=1e-6)
    assert ours.coef_.shape == theirs.coef_.shape and ours.intercept_.shape == b.shape
    assert ours.gap_ <= 1e-5 * a.max()


def test_the_gap_bounds_what_is_missing():
    X, y = wide()
    best = objective(LinearSVC(dual=True, tol=1e-10, max_iter=10**5).fit(X, y), X, y, 1.0, True)
    for tol in (1.0, 0.1, 0.01):
        rough = LinearSVC(dual=True, tol=tol, random_state=0).fit(X, y)
        assert 0 <= objective(rough, X, y, 1.0, True)[0] - best[0] <= rough.gap_ + 1e-9


def test_too_few_epochs_are_said_with_the_gap():
    X, y = wide()
    with pytest.warns(ConvergenceWarning, match="failed to converge.*duality gap is"):
        machine = LinearSVC(dual=True, max_iter=2, tol=1e-12).fit(X, y)
    assert machine.n_iter_ == 2


def test_what_is_not_learned_in_the_dual_is_left():
    X, y = wide(n=100, d=20)
    with pytest.warns(PlanWarning, match="LinearSVC.dual=False. is left to scikit-learn"):
        machine = LinearSVC().fit(X, y)
    assert not hasattr(machine, "gap_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        LinearSVC(penalty="l1", dual=False).fit(X, y)


def test_the_same_seed_has_the_same_answer():
    X, y = wide(3)
    a, b = (LinearSVC(dual=True, random_state=3, tol=0.1).fit(X, y).coef_ for _ in range(2))
    np.testing.assert_array_equal(a, b)
