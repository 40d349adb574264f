"""Ridge machines against scikit-learn's `KernelRidge`, `Ridge` and `RidgeClassifier`."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import kernel_ridge, linear_model

from mercer import KernelRidge, KernelRidgeClassifier, Plan
from mercer.errors import ConvergenceWarning
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, normalize

# Both solve systems with condition numbers up to about 1e5 in double precision.
TOLERANCE = {"rtol": 1e-7, "atol": 1e-9}

KERNELS = {
    "linear": (Linear(), {"kernel": "linear"}),
    "rbf": (Gaussian(2.0), {"kernel": "rbf", "gamma": 0.125}),
    "laplacian": (Laplacian(4.0), {"kernel": "laplacian", "gamma": 0.25}),
    "poly": (
        Polynomial(3, offset=1.0, scale=0.5),
        {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0},
    ),
    "cosine": (normalize(Linear()), {"kernel": "cosine"}),
}
ALPHAS = [1e-3, 0.1, 1.0, 50.0]


def data(n=40, d=5, targets=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    shape = n if targets is None else (n, targets)
    return X, rng.normal(size=shape) + 3.0


def weights(n=40):
    return np.random.default_rng(9).uniform(0.1, 4.0, size=n)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_ridge(name, targets, alpha):
    kernel, parameters = KERNELS[name]
    X, y = data(targets=targets)
    new, _ = data(15, seed=1)
    ours = KernelRidge(kernel, penalty=alpha, follow=Plan(route="dual")).fit(X, y)
    theirs = kernel_ridge.KernelRidge(alpha=alpha, **parameters).fit(X, y)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, **TOLERANCE)
    assert ours.predict(new).shape == theirs.predict(new).shape
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), **TOLERANCE)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_ridge_with_sample_weights(name, alpha):
    kernel, parameters = KERNELS[name]
    X, y = data(targets=2)
    ours = KernelRidge(kernel, penalty=alpha, follow=Plan(route="dual"))
    ours.fit(X, y, sample_weight=weights())
    theirs = kernel_ridge.KernelRidge(alpha=alpha, **parameters)
    theirs.fit(X, y, sample_weight=weights())
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, **TOLERANCE)


@pytest.mark.parametrize("follow", [Plan(solver="eigen"), Plan(precision="mixed"), None], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_ridge_by_every_way(weighted, follow):
    X, y = data(101)
    w = weights(101) if weighted else None
    ours = KernelRidge(Gaussian(2.0), 0.05, follow=follow).fit(X, y, sample_weight=w)
    theirs = kernel_ridge.KernelRidge(alpha=0.05, kernel="rbf", gamma=0.125)
    theirs.fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, **TOLERANCE)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("follow", [Plan(solver="eigen"), Plan(precision="mixed"), None], ids=repr)
def test_kernel_ridge_of_very_few_items(follow, n):
    X, y = data(n)
    ours = KernelRidge(Gaussian(2.0), 0.05, follow=follow).fit(X, y)
    theirs = kernel_ridge.KernelRidge(alpha=0.05, kernel="rbf", gamma=0.125).fit(X, y)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, **TOLERANCE)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), **TOLERANCE)


@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_ridge_on_a_precomputed_matrix(weighted):
    X, y = data()
    new, _ = data(15, seed=1)
    k, w = Gaussian(2.0), weights() if weighted else None
    ours = KernelRidge("precomputed", 0.3).fit(k(X), y, sample_weight=w)
    theirs = kernel_ridge.KernelRidge(kernel="precomputed", alpha=0.3)
    theirs.fit(k(X), y, sample_weight=w)
    np.testing.assert_allclose(ours.predict(k(new, X)), theirs.predict(k(new, X)), **TOLERANCE)


def test_kernel_ridge_on_sparse_rows():
    X, y = data()
    X[np.abs(X) < 1] = 0.0
    ours = KernelRidge(Gaussian(2.0), 0.3).fit(sparse.csr_array(X), y)
    theirs = kernel_ridge.KernelRidge(kernel="rbf", gamma=0.125, alpha=0.3).fit(X, y)
    np.testing.assert_allclose(ours.predict(sparse.csr_array(X)), theirs.predict(X), **TOLERANCE)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), **TOLERANCE)


# ---- linear ridge regression -------------------------------------------------------------------


@pytest.mark.parametrize("route", ["primal", "dual", "auto"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), [(40, 5), (12, 30)])
def test_ridge_regression(n, d, weighted, intercept, route):
    X, y = data(n, d, targets=2)
    X = X + 2.0  # so that an intercept matters
    new, _ = data(15, d, seed=1)
    w = weights(n) if weighted else None
    ours = KernelRidge(Linear(), 0.7, intercept=intercept, follow=Plan(route=route))
    ours.fit(X, y, sample_weight=w)
    theirs = linear_model.Ridge(alpha=0.7, fit_intercept=intercept, solver="cholesky")
    theirs.fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), **TOLERANCE)
    np.testing.assert_allclose(X.T @ ours.dual_coef_, theirs.coef_.T, **TOLERANCE)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **TOLERANCE)
    if ours.coef_ is not None:
        np.testing.assert_allclose(ours.coef_, theirs.coef_.T, **TOLERANCE)


def test_ridge_regression_with_an_intercept_that_was_computed_as_a_feature():
    """An intercept is the limit of a constant kernel with a large value, hardly penalized."""
    X, y = data()
    exact = KernelRidge(Linear(), 0.7, intercept=True).fit(X, y).predict(X)
    large = KernelRidge(Linear() + 1e8, 0.7).fit(X, y).predict(X)
    np.testing.assert_allclose(large, exact, rtol=1e-5)


@pytest.mark.parametrize("penalty", [1e-4, 1e-6, 1e-7])
@pytest.mark.parametrize("route", ["primal", "dual"])
def test_the_learned_function_predicts_what_the_machine_predicts(route, penalty):
    """`function_` and `predict` are one function, as far as weights residual/λ can tell."""
    X, y = data(60, 4)
    machine = KernelRidge(Linear(), penalty, intercept=True, follow=Plan(route=route)).fit(X, y)
    # A rounding error ε|K| of the matrix, or ε|y| of a residual, is divided by λ.
    allowed = 1e-9 + 50 * np.finfo(float).eps * np.linalg.norm(X @ X.T, 2) / penalty
    by_function = machine.function_(X) + machine.intercept_
    np.testing.assert_allclose(by_function, machine.predict(X), atol=allowed)
    theirs = linear_model.Ridge(alpha=penalty).fit(X, y).predict(X)
    np.testing.assert_allclose(
        machine.predict(X), theirs, atol=1e-9 if route == "primal" else allowed
    )


def test_data_in_single_precision_are_the_same_numbers():
    X, y = data(80)
    single = X.astype(np.float32)
    machine = KernelRidge(Gaussian(2.0), 1e-5)
    one = machine.fit(single, y).predict(single)
    two = machine.fit(single.astype(np.float64), y).predict(single.astype(np.float64))
    np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-7)
    assert one.dtype == np.float64


# ---- classification ----------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 5.0, 2: 0.5}])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_ridge_classifier(intercept, classes, class_weight):
    X, _ = data(60)
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [0.3, 1.0][: classes - 1])
    if isinstance(class_weight, dict) and classes == 2:
        class_weight = {0: 1.0, 1: 5.0}
    ours = KernelRidgeClassifier(Linear(), 0.7, intercept=intercept, class_weight=class_weight)
    ours.fit(X, y)
    theirs = linear_model.RidgeClassifier(
        alpha=0.7, fit_intercept=intercept, class_weight=class_weight, solver="cholesky"
    ).fit(X, y)
    scores = ours.decision_function(X)
    np.testing.assert_allclose(scores, theirs.decision_function(X), **TOLERANCE)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [0.0, 1.0], [False, True]])
def test_ridge_classifier_speaks_the_users_labels(labels):
    X, _ = data(40)
    y = np.array(labels)[(X[:, 0] > 0).astype(int)]
    ours = KernelRidgeClassifier(Linear(), 0.7).fit(X, y)
    theirs = linear_model.RidgeClassifier(alpha=0.7, fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.predict(X).dtype == y.dtype


def test_ridge_classifier_with_sample_weights_and_class_weights_together():
    """A weight counts like repetitions, also where the classes are balanced."""
    X, _ = data(60)
    y, counts = (X[:, 0] > 0.8).astype(int), np.arange(60) % 4
    ours = KernelRidgeClassifier(Linear(), 0.7, intercept=True, class_weight="balanced")
    ours.fit(X, y, sample_weight=counts)
    theirs = linear_model.RidgeClassifier(alpha=0.7, class_weight="balanced", solver="cholesky")
    theirs.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    scores = ours.decision_function(X)
    np.testing.assert_allclose(scores, theirs.decision_function(X), **TOLERANCE)


def test_too_small_a_penalty_is_said_with_the_residual():
    X, y = data(60, 4)
    machine = KernelRidge(Linear(), 1e-13, follow=Plan(route="dual"))
    with pytest.warns(ConvergenceWarning, match=r"residual is .*ill-conditioned.*larger penalty"):
        machine.fit(X, y)
    assert machine.solution_.status == "stalled"
    assert machine.solution_.certificate > 1e-8
