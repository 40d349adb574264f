"""Support vector machines against scikit-learn's, which are LIBSVM's.

LIBSVM keeps similarities in single precision, so that its coefficients are right to about 1e-6
times the condition of the problem, whatever its tolerance.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets, svm
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.kernels import Gaussian, Linear, Polynomial

TOL = 1e-8
VALUES = {"rtol": 1e-4, "atol": 1e-4}
COEFFICIENTS = {"rtol": 1e-4, "atol": 2e-4}  # in multiples of the largest
PRICES = [0.1, 1.0, 10.0]
KINDS = ["gaussian", "linear", "polynomial"]


def iris():
    """Return iris with a little noise: some flowers are identical, so that who counts is open."""
    X, y = datasets.load_iris(return_X_y=True)
    return scale(X) + 0.05 * np.random.default_rng(0).normal(size=X.shape), y


def wine():
    X, y = datasets.load_wine(return_X_y=True)
    return scale(X), y


def cancer():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return scale(X)[:240], y[:240]


def digits():
    X, y = datasets.load_digits(return_X_y=True)
    return X[:400] / 16, y[:400]


def made_up():
    return datasets.make_classification(
        200, 6, n_informative=4, n_redundant=0, n_classes=4, n_clusters_per_class=1,
        class_sep=0.7, flip_y=0.1, random_state=0,
    )  # fmt: skip


def two_clouds():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 2))
    score = X[:, 0] * X[:, 1] + X[:, 0] + 0.5 * rng.normal(size=120)
    return X, np.where(score > 0, "yes", "no")


DATA = {f.__name__: f for f in (iris, wine, cancer, digits, made_up, two_clouds)}


def parted(name):
    """Return items to learn from, their labels, and new items."""
    X, y = DATA[name]()
    new = np.arange(len(X)) % 4 == 0
    return X[~new], y[~new], X[new]


def kernels(d):
    """Return kernels for d scaled features, ours and theirs."""
    return {
        "gaussian": (Gaussian(np.sqrt(d / 2)), {"kernel": "rbf", "gamma": 1 / d}),
        "linear": (Linear(), {"kernel": "linear"}),
        "polynomial": (
            Polynomial(3, offset=1.0, scale=1 / d),
            {"kernel": "poly", "degree": 3, "gamma": 1 / d, "coef0": 1.0},
        ),
    }


def objectives(machine, K, y):
    """Return Σα − ½αᵀQα of each pair of classes, from what scikit-learn lists."""
    classes, code = np.unique(y, return_inverse=True)
    found = []
    for i, j in combinations(range(len(classes)), 2):
        beta = np.zeros(len(y))
        owners = code[machine.support_]
        for own, other in ((i, j), (j, i)):
            row = 0 if len(classes) == 2 else other - (other > own)
            here = owners == own
            beta[machine.support_[here]] = machine.dual_coef_[row, here]
        found.append(np.abs(beta).sum() - beta @ K @ beta / 2)
    return np.array(found)


def check(ours, theirs, X, y, new):
    """Compare all that both show."""
    K = ours.kernel_(X)
    assert (objectives(ours, K, y) >= objectives(theirs, K, y) * (1 - 1e-6)).all()
    compare(ours, theirs)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    compare_scores(ours, theirs, new)


def compare(ours, theirs):
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert ours.support_.dtype == theirs.support_.dtype
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    scale = max(1.0, np.abs(theirs.dual_coef_).max())
    np.testing.assert_allclose(ours.dual_coef_ / scale, theirs.dual_coef_ / scale, **COEFFICIENTS)
    assert ours.intercept_.shape == theirs.intercept_.shape
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **VALUES)


def compare_scores(ours, theirs, new, theirs_new=None):
    theirs_new = new if theirs_new is None else theirs_new
    for shape in ("ovr", "ovo"):
        ours.decision_function_shape = theirs.decision_function_shape = shape
        found, expected = ours.decision_function(new), theirs.decision_function(theirs_new)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, **VALUES)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(theirs_new))


# ---- SVC ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", PRICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DATA)
def test_classification(name, kind, C):
    X, y, new = parted(name)
    kernel, parameters = kernels(X.shape[1])[kind]
    theirs = svm.SVC(C=C, tol=TOL, **parameters).fit(X, y)
    check(SVC(kernel, C, tol=TOL).fit(X, y), theirs, X, y, new)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DATA)
def test_classification_with_a_large_price_of_slack(name, kind):
    """Then LIBSVM's rounding shows in the coefficients, but not in who counts and who wins."""
    X, y, new = parted(name)
    kernel, parameters = kernels(X.shape[1])[kind]
    ours = SVC(kernel, 100.0, tol=1e-6).fit(X, y)
    theirs = svm.SVC(C=100.0, tol=1e-6, **parameters).fit(X, y)
    K = kernel(X)
    assert (objectives(ours, K, y) >= objectives(theirs, K, y) * (1 - 1e-6)).all()
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    found, expected = ours.decision_function(new), theirs.decision_function(new)
    np.testing.assert_allclose(found, expected, rtol=5e-3, atol=5e-3)


UNEQUAL = {"setosa": 0.1, "virginica": 5.0}


# Of "balanced" with sample weights both have another idea: counts there, sums of weights here.
@pytest.mark.parametrize(
    ("weighted", "class_weight"),
    [(False, "balanced"), (False, UNEQUAL), (True, None), (True, UNEQUAL)],
)
def test_classification_with_class_and_sample_weights(weighted, class_weight):
    X, y = iris()
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    w = np.random.default_rng(1).uniform(0.1, 3.0, len(y[::2])) if weighted else None
    ours = SVC(Gaussian(1.0), 2.0, class_weight=class_weight, tol=TOL)
    theirs = svm.SVC(C=2.0, gamma=0.5, class_weight=class_weight, tol=TOL)
    ours.fit(X[::2], y[::2], sample_weight=w)
    theirs.fit(X[::2], y[::2], sample_weight=w)
    compare(ours, theirs)
    compare_scores(ours, theirs, X[1::2])


def test_classification_where_some_items_weigh_nothing():
    X, y, new = parted("made_up")
    w = np.arange(len(y)) % 3
    ours = SVC(Gaussian(1.5), 2.0, tol=TOL).fit(X, y, sample_weight=w)
    theirs = svm.SVC(C=2.0, gamma=1 / 4.5, tol=TOL).fit(X, y, sample_weight=w)
    theirs.support_ = np.flatnonzero(w)[theirs.support_].astype(np.int32)  # LIBSVM skips the rest
    compare(ours, theirs)
    compare_scores(ours, theirs, new)


def test_unsorted_labels_do_not_change_the_order_of_support_vectors():
    X, y, new = parted("made_up")
    order = np.random.default_rng(0).permutation(len(y))
    ours = SVC(Gaussian(1.5), 2.0, tol=TOL).fit(X[order], -3 * y[order])
    theirs = svm.SVC(C=2.0, gamma=1 / 4.5, tol=TOL).fit(X[order], -3 * y[order])
    check(ours, theirs, X[order], -3 * y[order], new)
    np.testing.assert_allclose(ours.support_vectors_, theirs.support_vectors_)


@pytest.mark.parametrize("name", ["iris", "cancer"])
def test_classification_of_a_precomputed_matrix(name):
    X, y, new = parted(name)
    k = Gaussian(np.sqrt(X.shape[1] / 2))
    ours = SVC("precomputed", 3.0, tol=TOL).fit(k(X), y)
    theirs = svm.SVC(C=3.0, kernel="precomputed", tol=TOL).fit(k(X), y)
    compare(ours, theirs)
    compare_scores(ours, theirs, k(new, X))


@pytest.mark.parametrize("kind", KINDS)
def test_classification_of_sparse_rows(kind):
    X, y, new = parted("digits")
    kernel, parameters = kernels(8)[kind]
    ours = SVC(kernel, 3.0, tol=TOL).fit(sparse.csr_array(X), y)
    theirs = svm.SVC(C=3.0, tol=TOL, **parameters).fit(X, y)
    compare(ours, theirs)
    compare_scores(ours, theirs, sparse.csr_array(new), new)
    np.testing.assert_allclose(
        ours.decision_function(new), theirs.decision_function(new), **VALUES
    )


@pytest.mark.parametrize("break_ties", [False, True])
@pytest.mark.parametrize("name", ["digits", "made_up"])
def test_ties_are_broken_alike(name, break_ties):
    """On a wide grid many points have equal votes."""
    X, y, _ = parted(name)
    grid = 3 * np.random.default_rng(0).normal(size=(2000, X.shape[1])) * X.std() + X.mean()
    kernel, parameters = kernels(X.shape[1])["linear"]
    ours = SVC(kernel, 1.0, break_ties=break_ties, tol=TOL).fit(X, y)
    theirs = svm.SVC(C=1.0, break_ties=break_ties, tol=TOL, **parameters).fit(X, y)
    np.testing.assert_array_equal(ours.predict(grid), theirs.predict(grid))
    other = SVC(kernel, 1.0, break_ties=not break_ties, tol=TOL).fit(X, y)
    assert (ours.predict(grid) != other.predict(grid)).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "wine", "made_up", "digits"])
@pytest.mark.parametrize("kind", ["gaussian", "linear"])
def test_each_class_against_the_rest(kind, name):
    X, y, new = parted(name)
    kernel, parameters = kernels(X.shape[1])[kind]
    ours = SVC(kernel, 1.0, multiclass="ovr", tol=TOL).fit(X, y)
    theirs = OneVsRestClassifier(svm.SVC(C=1.0, tol=TOL, **parameters)).fit(X, y)
    found, expected = ours.decision_function(new), theirs.decision_function(new)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, **VALUES)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    intercepts = [float(machine.intercept_[0]) for machine in theirs.estimators_]
    np.testing.assert_allclose(ours.intercept_, intercepts, **VALUES)
    assert ours.dual_coef_.shape == (len(ours.classes_), len(ours.support_))
    for row, machine in zip(ours.dual_coef_, theirs.estimators_, strict=True):
        assert set(ours.support_[row != 0]) == set(machine.support_)


# ---- NuSVC -------------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [0.45, 0.53])
@pytest.mark.parametrize("kind", ["gaussian", "polynomial"])
@pytest.mark.parametrize("name", ["iris", "wine", "made_up", "two_clouds"])
def test_classification_by_nu(name, kind, nu):
    X, y, new = parted(name)
    kernel, parameters = kernels(X.shape[1])[kind]
    ours = NuSVC(kernel, nu, tol=TOL).fit(X, y)
    theirs = svm.NuSVC(nu=nu, tol=TOL, **parameters).fit(X, y)
    compare(ours, theirs)
    compare_scores(ours, theirs, new)


def test_classification_by_nu_with_sample_weights():
    X, y, new = parted("made_up")
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    ours = NuSVC(Gaussian(1.5), 0.3, tol=TOL).fit(X, y, sample_weight=w)
    theirs = svm.NuSVC(nu=0.3, gamma=1 / 4.5, tol=TOL).fit(X, y, sample_weight=w)
    compare(ours, theirs)
    compare_scores(ours, theirs, new)


# ---- SVR ---------------------------------------------------------------------------------------


def diabetes():
    X, y = datasets.load_diabetes(return_X_y=True)
    return scale(X)[:200], scale(y)[:200]


@pytest.mark.parametrize("C", PRICES)
@pytest.mark.parametrize("epsilon", [0.05, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_regression(kind, epsilon, C):
    X, y = diabetes()
    kernel, parameters = kernels(X.shape[1])[kind]
    ours = SVR(kernel, C, epsilon=epsilon, tol=TOL).fit(X[::2], y[::2])
    theirs = svm.SVR(C=C, epsilon=epsilon, tol=TOL, **parameters).fit(X[::2], y[::2])
    compare(ours, theirs)
    np.testing.assert_allclose(ours.predict(X[1::2]), theirs.predict(X[1::2]), **VALUES)


def test_regression_of_a_precomputed_matrix_with_sample_weights():
    X, y = diabetes()
    K, w = Gaussian(2.0)(X), np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    ours = SVR("precomputed", 2.0, tol=TOL).fit(K, y, sample_weight=w)
    theirs = svm.SVR(C=2.0, kernel="precomputed", tol=TOL).fit(K, y, sample_weight=w)
    compare(ours, theirs)
    np.testing.assert_allclose(ours.predict(K), theirs.predict(K), **VALUES)


def test_regression_where_some_items_weigh_nothing():
    X, y = diabetes()
    w = np.arange(len(y)) % 3 * 1.0
    ours = SVR(Gaussian(2.0), 2.0, tol=TOL).fit(X, y, sample_weight=w)
    theirs = svm.SVR(C=2.0, gamma=0.125, tol=TOL).fit(X[w > 0], y[w > 0], sample_weight=w[w > 0])
    np.testing.assert_array_equal(ours.support_, np.flatnonzero(w)[theirs.support_])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), **VALUES)


# ---- OneClassSVM -------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.7])
@pytest.mark.parametrize("kind", ["gaussian", "polynomial"])
@pytest.mark.parametrize("name", ["iris", "wine", "two_clouds"])
def test_novelty(name, kind, nu):
    """Except that items on the boundary are inside: our ρ is lower, by the tolerance."""
    X, _, new = parted(name)
    kernel, parameters = kernels(X.shape[1])[kind]
    ours = OneClassSVM(kernel, nu, tol=TOL).fit(X)
    theirs = svm.OneClassSVM(nu=nu, tol=TOL, **parameters).fit(X)
    compare(ours, theirs)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, **VALUES)
    for method in ("decision_function", "score_samples"):
        found, expected = getattr(ours, method)(new), getattr(theirs, method)(new)
        np.testing.assert_allclose(found, expected, **VALUES)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))


def test_novelty_with_sample_weights():
    X, _, new = parted("wine")
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    ours = OneClassSVM(Gaussian(2.0), 0.2, tol=TOL).fit(X, sample_weight=w)
    theirs = svm.OneClassSVM(nu=0.2, gamma=0.125, tol=TOL).fit(X, sample_weight=w)
    compare(ours, theirs)
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new), **VALUES)
