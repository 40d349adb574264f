"""The drop-in's linear machines: LIBLINEAR's objective, in the dual and in the primal."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as Theirs
from sklearn.svm import LinearSVR as TheirRegression
from sklearn.svm import l1_min_c as their_min_c

from mercer.errors import PlanWarning, ValidityError
from mercer.sklearn.svm import LinearSVC, LinearSVR, l1_min_c


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


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [sparse.csr_array, lambda X: X.toarray()])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_few_columns_are_learned_in_the_primal(classes, form, C):
    X, y = wide(classes, n=300, d=20)
    params = {"C": C, "class_weight": "balanced", "intercept_scaling": 2.0}
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    ours = LinearSVC(**params).fit(form(X), y, w)
    theirs = Theirs(**params, tol=1e-10, max_iter=10**5).fit(form(X), y, w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert ours.gap_ <= 1e-10 * C * len(y) and ours.n_iter_ < 40


def test_both_ways_have_one_optimum():
    X, y = wide(3, n=200, d=30)
    primal, dual = (
        LinearSVC(dual=dual, tol=1e-10, max_iter=10**5).fit(X, y) for dual in (False, True)
    )
    np.testing.assert_allclose(primal.coef_, dual.coef_, atol=1e-7)


def test_another_penalty_is_left():
    X, y = wide(n=100, d=20)
    with pytest.warns(PlanWarning, match="LinearSVC.penalty='l1'.* is left to scikit-learn"):
        machine = LinearSVC(penalty="l1", dual=False).fit(X, y)
    assert not hasattr(machine, "gap_")
    with pytest.raises(ValidityError, match="is scikit-learn's"):
        machine.native()


def tube_objective(machine, X, y, C, squared, epsilon, w, scaling=1.0):
    slack = np.maximum(np.abs(y - machine.predict(X)) - epsilon, 0)
    square = machine.coef_ @ machine.coef_ + np.atleast_1d(machine.intercept_ / scaling)[0] ** 2
    return square / 2 + C * w @ (slack**2 if squared else slack)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("d", [300, 20])
@pytest.mark.parametrize("params", [{"C": 0.1}, {"C": 10.0, "intercept_scaling": 3.0}])
def test_objectives_of_regression_are_liblinears(loss, epsilon, d, params):
    X, _ = wide(n=120, d=d)
    rng = np.random.default_rng(1)
    y = X @ rng.normal(size=d) + 2.0 + 0.3 * rng.normal(size=120)
    w = rng.uniform(0.0, 2, 120)
    w[:5] = 0.0
    given = {"loss": loss, "epsilon": epsilon, "tol": 1e-6, "max_iter": 10**5, **params}
    ours = LinearSVR(**given, random_state=0).fit(X, y, w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # ours has none
        theirs = TheirRegression(**given, random_state=0).fit(X, y, w)
    squared, scaling = loss.startswith("squared"), params.get("intercept_scaling", 1.0)
    a, b = (
        tube_objective(m, X, y, params["C"], squared, epsilon, w, scaling) for m in (ours, theirs)
    )
    assert ours.gap_ <= 1e-4 * a
    assert a - ours.gap_ <= b <= a + 0.01 * a  # nothing is below what the gap says
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)


def test_the_gap_of_regression_bounds_what_is_missing():
    X, _ = wide(n=120, d=300)
    y = np.asarray(X.sum(axis=1)).ravel()
    w = np.ones(120)
    best = LinearSVR(C=1.0, tol=1e-9, max_iter=10**6).fit(X, y)
    least = tube_objective(best, X, y, 1.0, False, 0.0, w)
    for tol in (0.1, 0.01):
        rough = LinearSVR(C=1.0, tol=tol, random_state=0).fit(X, y)
        missing = tube_objective(rough, X, y, 1.0, False, 0.0, w) - least
        assert -1e-9 <= missing <= rough.gap_ + 1e-9


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("form", [sparse.csr_array, lambda X: X.toarray()])
def test_a_native_function_has_the_same_values(constant, form):
    X, y = wide(3, n=60, d=90)
    X = form(X)
    machine = LinearSVC(dual=True, fit_intercept=constant, intercept_scaling=2.0, tol=1e-8)
    f = machine.set_params(max_iter=10**5).fit(X, y).native()
    np.testing.assert_allclose(f(X), machine.decision_function(X), atol=1e-12)
    norms = np.sum(machine.coef_**2, axis=1) + np.square(machine.intercept_ / 2.0)
    np.testing.assert_allclose(f.norm() ** 2, norms, rtol=1e-9)
    two = LinearSVC(dual=True).fit(X, y == "a")
    np.testing.assert_allclose(two.native()(X), two.decision_function(X), atol=1e-12)
    target = np.arange(60.0)
    line = LinearSVR(fit_intercept=constant, tol=1e-3, max_iter=10**5).fit(X, target)
    np.testing.assert_allclose(line.native()(X), line.predict(X), atol=1e-9)


def test_regression_without_a_counterpart_is_refused():
    X, _ = wide(n=50, d=10)
    left = pytest.warns(PlanWarning, match="LinearSVR.loss=.* is left to scikit-learn")
    with left, pytest.raises(ValueError, match="Unsupported set of arguments"):
        LinearSVR(dual=False).fit(X, np.arange(50.0))
    with pytest.raises(ValueError, match="half the width of a tube"):
        LinearSVR(epsilon=-0.1).fit(X, np.arange(50.0))


def test_the_least_price_is_scikit_learns():
    X, y = wide(n=50, d=10)
    assert l1_min_c is their_min_c and l1_min_c(X, y) > 0


def test_the_same_seed_has_the_same_answer():
    X, y = wide(3)
    a, b = (LinearSVC(dual=True, random_state=3, tol=0.1).fit(X, y).coef_ for _ in range(2))
    np.testing.assert_array_equal(a, b)
