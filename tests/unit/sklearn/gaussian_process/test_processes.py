"""The drop-in's Gaussian processes: scikit-learn's face, mercer's numbers."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import gaussian_process as theirs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    WhiteKernel,
)

import mercer
from mercer.errors import PlanWarning, ValidityError
from mercer.kernels import Gaussian
from mercer.sklearn import gaussian_process as ours

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(9, 3))
Y = np.sin(X[:, 0]) + 0.3 * RNG.normal(size=40)
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
KERNELS = [
    None,
    ConstantKernel(0.5) * (RBF([0.7, 1.3, 2.0]) + WhiteKernel(0.2)),
    Matern(1.5) + DotProduct(0.3) ** 2,
]


def both(name, *args, **params):
    return [getattr(m, name)(*args, **params) for m in (ours, theirs)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    "params",
    [
        {"alpha": 0.1},
        {"alpha": np.linspace(0.05, 0.5, 40)},
        {"alpha": 0.1, "normalize_y": True},
    ],
    ids=["alpha", "alphas", "normalized"],
)
@pytest.mark.parametrize("targets", [None, 1, 2])
def test_regression_answers_are_scikit_learns(kernel, params, targets):
    y = Y if targets is None else np.column_stack([Y, 3 + 2 * X[:, 1]])[:, :targets]
    a, b = (
        m.fit(X, y) for m in both("GaussianProcessRegressor", kernel, optimizer=None, **params)
    )
    assert a.machine_ is not None
    theta = b.kernel_.theta
    for found, expected in zip(
        a.log_marginal_likelihood(theta, True), b.log_marginal_likelihood(theta, True), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert a.log_marginal_likelihood() == pytest.approx(b.log_marginal_likelihood())
    for wanted in ({}, {"return_std": True}, {"return_cov": True}):
        found, expected = (m.predict(NEW, **wanted) for m in (a, b))
        for one, other in zip(*(v if wanted else [v] for v in (found, expected)), strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(a.L_, b.L_, atol=1e-12)
    np.testing.assert_allclose(a.alpha_, b.alpha_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(a.sample_y(NEW, 2), b.sample_y(NEW, 2), atol=1e-5)


def test_a_search_ends_where_scikit_learns_does():
    kernel = 1.0 * RBF([1.0, 1.0, 1.0]) + WhiteKernel(0.1)
    params = {"n_restarts_optimizer": 2, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # at the bounds, in both
        a, b = (m.fit(X, Y) for m in both("GaussianProcessRegressor", kernel, **params))
    assert a.log_marginal_likelihood_value_ >= b.log_marginal_likelihood_value_ - 1e-6
    np.testing.assert_allclose(a.predict(NEW), b.predict(NEW), atol=1e-3)
    assert a.get_params() == b.get_params() and a._tiling is None


@pytest.mark.parametrize("dtype", [int, np.float32])
def test_numbers_of_any_kind_are_taken(dtype):
    rows, y = (10 * X).astype(dtype), (10 * Y).astype(dtype)
    params = {"kernel": 1.0 * RBF(10.0) + WhiteKernel(1.0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        a, b = (m.fit(rows, y) for m in both("GaussianProcessRegressor", **params))
    np.testing.assert_allclose(a.predict(rows), b.predict(rows), rtol=1e-3, atol=1e-2)
    c, d = (m.fit(rows, LABELS) for m in both("GaussianProcessClassifier", RBF(10.0)))
    np.testing.assert_allclose(c.predict_proba(rows), d.predict_proba(rows), atol=1e-2)


def test_a_native_process_says_the_same():
    a = ours.GaussianProcessRegressor(2.0 * RBF(1.5) + WhiteKernel(0.5), optimizer=None)
    before = a.native()
    assert before.kernel == 2.0 * Gaussian(1.5) and before.penalty == pytest.approx(0.5)
    native = a.fit(X, Y).native()
    assert type(native) is mercer.GaussianProcess
    np.testing.assert_array_equal(native.predict(NEW), a.predict(NEW))
    _, std = native.predict(NEW, return_std=True, noise=True)
    np.testing.assert_allclose(std, a.predict(NEW, return_std=True)[1], rtol=1e-8)
    with pytest.raises(ValidityError, match="a value for each item"):
        ours.GaussianProcessRegressor(alpha=np.ones(40)).native()


def test_a_kernel_without_counterpart_is_left_to_scikit_learn():
    kernel = RBF(2.0) ** 0.5
    with pytest.warns(PlanWarning, match="is left to scikit-learn: the power 0.5 of"):
        a = ours.GaussianProcessRegressor(kernel, alpha=0.5, optimizer=None).fit(X, Y)
    b = theirs.GaussianProcessRegressor(kernel, alpha=0.5, optimizer=None).fit(X, Y)
    assert a.machine_ is None
    np.testing.assert_array_equal(a.predict(NEW), b.predict(NEW))
    np.testing.assert_array_equal(a.L_, b.L_)


def test_a_singular_covariance_is_scikit_learns_error():
    same = np.ones((5, 2))
    with pytest.warns(PlanWarning), pytest.raises(np.linalg.LinAlgError, match="Try gradually"):
        ours.GaussianProcessRegressor(RBF(), alpha=0.0, optimizer=None).fit(same, Y[:5])


def test_a_refit_forgets_what_was_before():
    a = ours.GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None).fit(X, Y)
    first = a.L_
    a.fit(X[:20], Y[:20])
    assert a.L_.shape == (20, 20) and first.shape == (40, 40)
    loaded = pickle.loads(pickle.dumps(a))
    np.testing.assert_array_equal(loaded.predict(NEW), a.predict(NEW))
    assert clone(a).get_params() == a.get_params()


def test_a_kernel_that_was_changed_counts():
    a, b = (
        m.fit(X, Y) for m in both("GaussianProcessRegressor", RBF(1.0), alpha=0.1, optimizer=None)
    )
    for machine in (a, b):
        machine.kernel_.theta = np.array([0.7])
    np.testing.assert_allclose(a.predict(NEW), b.predict(NEW), rtol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("mode", ["one_vs_rest", "one_vs_one"])
def test_classification_answers_are_scikit_learns(kernel, classes, mode):
    y = LABELS if classes == 3 else LABELS == "c"
    a, b = (
        m.fit(X, y)
        for m in both("GaussianProcessClassifier", kernel, optimizer=None, multi_class=mode)
    )
    assert (a.predict(NEW) == b.predict(NEW)).all() and (a.classes_ == b.classes_).all()
    theta = (b if classes == 2 else b.base_estimator_.estimators_[0]).kernel_.theta
    expected = b.log_marginal_likelihood(theta)
    assert a.log_marginal_likelihood(theta) == pytest.approx(expected, abs=1e-8)
    assert a.log_marginal_likelihood() == pytest.approx(b.log_marginal_likelihood(), abs=1e-8)
    if classes == 2:
        found, expected = (m.log_marginal_likelihood(theta, True)[1] for m in (a, b))
        np.testing.assert_allclose(found, expected, atol=1e-6)
        for one, other in zip(*(m.latent_mean_and_variance(NEW) for m in (a, b)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    if mode == "one_vs_rest":
        np.testing.assert_allclose(a.predict_proba(NEW), b.predict_proba(NEW), atol=1e-8)


def test_a_search_for_a_classifier_ends_where_scikit_learns_does():
    a, b = (m.fit(X, LABELS == "c") for m in both("GaussianProcessClassifier", 1.0 * RBF(1.0)))
    assert a.log_marginal_likelihood_value_ >= b.log_marginal_likelihood_value_ - 1e-6
    np.testing.assert_allclose(a.predict_proba(NEW), b.predict_proba(NEW), atol=1e-3)
    loaded = pickle.loads(pickle.dumps(a))
    np.testing.assert_array_equal(loaded.predict_proba(NEW), a.predict_proba(NEW))


def test_a_native_classifier_is_the_mode():
    a = ours.GaussianProcessClassifier(2.0 * RBF(1.5), optimizer=None)
    assert a.native().kernel == 2.0 * Gaussian(1.5)
    y = np.where(LABELS == "c", "yes", "no")
    native = a.fit(X, y).native()
    assert type(native) is mercer.KernelLogistic
    mean, _ = a.latent_mean_and_variance(NEW)
    np.testing.assert_allclose(native.decision_function(NEW), mean, atol=1e-5)
    assert (native.predict(NEW) == a.predict(NEW)).all()
    with pytest.raises(ValidityError, match="there are 3 classes"):
        a.fit(X, LABELS).native()
    assert type(a.base_estimator_.estimators_[0].native()) is mercer.KernelLogistic
    with pytest.raises(ValidityError, match="WhiteKernel is noise"):
        ours.GaussianProcessClassifier(RBF() + WhiteKernel()).native()


def test_a_classifier_with_a_strange_kernel_is_left_to_scikit_learn():
    kernel = RBF(2.0) ** 0.5
    with pytest.warns(PlanWarning, match="GaussianProcessClassifier.* is left to scikit-learn"):
        a = ours.GaussianProcessClassifier(kernel, optimizer=None).fit(X, LABELS)
    b = theirs.GaussianProcessClassifier(kernel, optimizer=None).fit(X, LABELS)
    np.testing.assert_array_equal(a.predict_proba(NEW), b.predict_proba(NEW))
    with pytest.raises(ValidityError, match="scikit-learn's"):
        a.native()
