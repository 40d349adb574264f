"""Logistic regression, components and discriminants against scikit-learn's, and by hand."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.datasets import load_iris, make_moons
from sklearn.decomposition import KernelPCA as TheirPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression

from mercer.kernels import Gaussian, Laplacian, Polynomial, normalize
from mercer.machines.discriminant import KernelDiscriminant
from mercer.machines.logistic import KernelLogistic
from mercer.machines.pca import KernelPCA
from mercer.plans import Plan

KERNELS = {
    "linear": ("linear", {"kernel": "linear"}),
    "rbf": (Gaussian(2.0), {"kernel": "rbf", "gamma": 0.125}),
    "laplacian": (
        Laplacian(4.0),
        {"kernel": lambda x, z: np.exp(-np.abs(x - z).sum() / 4.0)},
    ),
    "poly": (
        Polynomial(2, offset=1.0, scale=0.5),
        {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    ),
    "cosine": (normalize(Polynomial(1)), {"kernel": "cosine"}),
}


def data(n=90, classes=3, d=4, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.sort(rng.integers(0, classes, n))
    return rng.normal(size=(n, d)) + rng.normal(size=(classes, d))[codes], codes


def weights(n=90):
    return np.random.default_rng(9).uniform(0.1, 4.0, size=n)


# ---- logistic regression ------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_linear_kernel_gives_ordinary_logistic_regression(
    classes, penalty, intercept, weighted
):
    X, y = data(classes=classes)
    w = weights() if weighted else None
    theirs = LogisticRegression(
        C=1 / penalty, fit_intercept=intercept, tol=1e-10, max_iter=10_000, solver="newton-cg"
    ).fit(X, y, w)
    for route in ("primal", "dual"):
        ours = KernelLogistic(
            "linear", penalty, intercept=intercept, tol=1e-9, follow=Plan(route=route)
        ).fit(X, y, w)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=1e-5
        )
    norm = np.linalg.norm(theirs.coef_, axis=1)
    np.testing.assert_allclose(np.atleast_1d(ours.function_.norm()), norm, rtol=1e-5)


@pytest.mark.parametrize("rule", ["balanced", {0: 1.0, 1: 5.0, 2: 0.5}])
def test_class_weights_are_scikit_learns(rule):
    X, y = data()
    theirs = LogisticRegression(class_weight=rule, tol=1e-10, max_iter=10_000).fit(X, y)
    ours = KernelLogistic("linear", class_weight=rule, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_features_of_the_kernel_give_the_same_as_the_kernel(classes):
    X, y = data(classes=classes)
    k = Polynomial(2, offset=1.0, scale=0.5)
    Phi = k.features(X)
    theirs = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000, solver="newton-cg").fit(Phi, y)
    ours = KernelLogistic(k, 0.5, tol=1e-9, follow=Plan(route="dual")).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(Phi), atol=1e-5)


def test_without_an_intercept_it_is_the_mode_of_a_gaussian_process():
    """Its Laplace approximation is centered at the minimum for λ = 1 (R&W, algorithm 3.1)."""
    X, y = make_moons(60, noise=0.3, random_state=0)
    theirs = GaussianProcessClassifier(RBF(0.7), optimizer=None).fit(X, y)
    ours = KernelLogistic(Gaussian(0.7), 1.0, intercept=False, tol=1e-10).fit(X, y)
    process = theirs.base_estimator_
    mode = process.kernel_(X) @ (process.y_train_ - process.pi_)
    np.testing.assert_allclose(ours.decision_function(X), mode, atol=1e-3)


# ---- principal components -----------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dense", "partial"])
@pytest.mark.parametrize("name", KERNELS)
def test_components_are_scikit_learns(name, solver):
    kernel, parameters = KERNELS[name]
    X, _ = data()
    new, _ = data(15, seed=1)
    count = 3 if name in ("linear", "cosine") else 5
    ours = KernelPCA(kernel, count, solver=solver, random_state=0).fit(X)
    theirs = TheirPCA(count, eigen_solver="dense", **parameters).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.eigenvectors_, theirs.eigenvectors_, atol=1e-6)
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), atol=1e-6)
    np.testing.assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), atol=1e-6)


def test_the_partial_solver_finds_the_same_subspace_as_arpack():
    X, _ = data(800, d=10)
    ours = KernelPCA(Gaussian(3.0), 10, random_state=0).fit(X)
    theirs = TheirPCA(10, kernel="rbf", gamma=1 / 18, eigen_solver="arpack", random_state=0).fit(X)
    assert ours.plan_.method == "partial"
    assert subspace_angles(ours.eigenvectors_, theirs.eigenvectors_).max() < 1e-7


def test_the_randomized_solver_is_more_accurate_than_as_many_power_iterations():
    X, _ = data(400, d=10)
    exact = KernelPCA(Gaussian(3.0), 5, solver="dense").fit(X)
    ours = KernelPCA(Gaussian(3.0), 5, solver="randomized", random_state=0).fit(X)
    theirs = TheirPCA(
        5, kernel="rbf", gamma=1 / 18, eigen_solver="randomized", iterated_power=2, random_state=0
    ).fit(X)
    found, other = (
        subspace_angles(exact.eigenvectors_, machine.eigenvectors_).max()
        for machine in (ours, theirs)
    )
    assert found < other
    assert ours.solution_.certificate < 0.05


# ---- discriminants ------------------------------------------------------------------------------


def matched(X, y, shrinkage):
    """Return the penalty for which Σ + (λ/n)I is the shrunk covariance, up to a factor."""
    classes, counts = np.unique(y, return_counts=True)
    covariance = sum(
        share * np.cov(X[y == c].T, bias=True)
        for c, share in zip(classes, counts / len(y), strict=True)
    )
    return len(y) * shrinkage * np.trace(covariance) / X.shape[1] / (1 - shrinkage)


@pytest.mark.parametrize("route", ["primal", "dual"])
@pytest.mark.parametrize("shrinkage", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_linear_kernel_gives_linear_discriminant_analysis(classes, shrinkage, route):
    X, y = data(classes=classes)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    penalty = matched(X, y, shrinkage)
    ours = KernelDiscriminant("linear", penalty, follow=Plan(route=route)).fit(X, y)
    np.testing.assert_allclose(ours.priors_, theirs.priors_)
    prior, scores, expected = (
        np.log(ours.priors_), ours.decision_function(X), theirs.decision_function(X)
    )  # fmt: skip
    if classes == 2:
        prior = prior[1] - prior[0]
    found, expected = scores - prior, (1 - shrinkage) * (expected - prior)
    if classes > 2:  # a constant for each item is common to all classes
        found, expected = found - found[:, :1], expected - expected[:, :1]
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_with_a_small_penalty_it_is_plain_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    theirs = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    ours = KernelDiscriminant("linear", 1e-6).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    found, expected = ours.transform(X), theirs.transform(X)
    expected = expected * np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-6
    )
