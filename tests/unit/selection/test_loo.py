"""Leaving one out says what fitting again without each item says; the criteria, what they are."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    SVC,
    SVR,
    GaussianProcess,
    KernelDiscriminant,
    KernelLogistic,
    KernelRidge,
    KernelRidgeClassifier,
)
from mercer.errors import DomainError, SelectionError, ValidityError
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.selection import (
    generalized_cross_validation,
    leave_one_out,
    log_marginal_likelihood,
)

RNG = np.random.default_rng(2)
N = 24
X = RNG.normal(size=(N, 2)) * [1.0, 2.0]
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * RNG.normal(size=N)
LABELS = np.array(["no", "yes"])[(Y > 0.0).astype(int)]
THREE = np.digitize(Y, [-0.4, 0.4])
WEIGHTS = RNG.uniform(0.2, 3.0, N)
SOME = np.where(np.arange(N) % 5 == 0, 0.0, WEIGHTS)
GAUSS = Gaussian(1.5)

each_weight = pytest.mark.parametrize(
    "weights", [None, WEIGHTS, SOME], ids=["alike", "weighted", "some zero"]
)


def refits(machine, y, weights=None, items=X):
    found = []
    for i in range(N):
        others = np.arange(N) != i
        given = {} if weights is None else {"sample_weight": weights[others]}
        fitted = clone(machine).fit(items[others], y[others], **given)
        found.append(fitted.predict(items[i : i + 1])[0])
    return np.array(found)


REGRESSIONS = {
    "ridge": KernelRidge(GAUSS, 0.1),
    "intercept": KernelRidge(GAUSS, 0.1, intercept=True),
    "linear": KernelRidge(Linear(), 0.1, intercept=True),
    "no penalty": KernelRidge(Linear() + 1.0, 0.0),
    "heuristic": KernelRidge(Gaussian("median"), 0.1),
    "small penalty": KernelRidge(Gaussian(4.0), 1e-10, intercept=True),
    "process": GaussianProcess(GAUSS, 0.1),
    "SVR": SVR(GAUSS, tol=1e-10),
}


@each_weight
@pytest.mark.parametrize("name", REGRESSIONS)
def test_regressions(name, weights):
    machine = REGRESSIONS[name]
    if name == "no penalty":
        with pytest.raises(np.linalg.LinAlgError):
            leave_one_out(machine, X, Y, sample_weight=weights)
        return
    found = leave_one_out(machine, X, Y, sample_weight=weights)
    expected = refits(machine, Y, weights)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found.predictions, expected, atol=1e-8 * scale)
    np.testing.assert_allclose(found.residuals, Y - expected, atol=1e-8 * scale)
    np.testing.assert_array_equal(np.asarray(found), found.predictions)
    w = np.ones(N) if weights is None else weights
    assert found.error == pytest.approx(np.average((Y - expected) ** 2, weights=w), rel=1e-6)
    assert len(found) == N and "mean squared error" in str(found)
    assert vars(machine).keys() == vars(clone(machine)).keys()  # it was not touched


def test_several_targets():
    Z = np.column_stack([Y, X[:, 0] ** 2])
    found = leave_one_out(REGRESSIONS["intercept"], X, Z)
    np.testing.assert_allclose(found.predictions, refits(REGRESSIONS["intercept"], Z), atol=1e-9)
    assert found.error == pytest.approx(np.mean(found.residuals**2))


CLASSIFICATIONS = {
    "ridge": KernelRidgeClassifier(GAUSS, 0.1, intercept=True),
    "balanced": KernelRidgeClassifier(GAUSS, 0.1, class_weight="balanced"),
    "discriminant": KernelDiscriminant(GAUSS, 0.1),
    "SVC": SVC(GAUSS, C=3.0),
    "one against the rest": SVC(GAUSS, C=3.0, multiclass="ovr", class_weight="balanced"),
    "heuristic": SVC(Gaussian("scale")),
    "logistic": KernelLogistic(GAUSS, 0.5),
}


@each_weight
@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", CLASSIFICATIONS)
def test_classifications(name, y, weights):
    machine = CLASSIFICATIONS[name]
    found = leave_one_out(machine, X, y, sample_weight=weights)
    expected = refits(machine, y, weights)
    np.testing.assert_array_equal(found.predictions, expected)
    assert found.predictions.dtype == y.dtype and found.residuals is None
    w = np.ones(N) if weights is None else weights
    assert found.error == pytest.approx(np.average(expected != y, weights=w))
    assert "share of wrong labels" in str(found)
    assert not hasattr(machine, "classes_")


def test_a_fitted_machine_stays_as_it_was():
    machine = SVC(GAUSS).fit(X, LABELS)
    before = machine.predict(X)
    leave_one_out(machine, X, THREE)
    np.testing.assert_array_equal(machine.predict(X), before)


def test_pipelines_and_strangers():
    pipeline = make_pipeline(StandardScaler(), KernelRidge(Gaussian("median"), 0.1))
    found = leave_one_out(pipeline, X, Y)
    np.testing.assert_allclose(found.predictions, refits(pipeline, Y), atol=1e-9)
    stranger = LogisticRegression()
    found = leave_one_out(stranger, X, LABELS)
    np.testing.assert_array_equal(found.predictions, refits(stranger, LABELS))


def test_similarities_that_are_given():
    K = GAUSS(X)
    for machine in (KernelRidge("precomputed", 0.1), SVR("precomputed", tol=1e-10)):
        found = leave_one_out(machine, K, Y)
        same = leave_one_out(clone(machine).set_params(kernel=GAUSS), X, Y)
        np.testing.assert_allclose(found.predictions, same.predictions, atol=1e-9)


def test_a_heuristic_is_resolved_without_the_item():
    far = X.copy()
    far[0] *= 50.0
    machine = KernelRidge(Gaussian("scale"), 0.1)
    found = leave_one_out(machine, far, Y)
    np.testing.assert_allclose(found.predictions, refits(machine, Y, items=far), atol=1e-9)
    leaked = KernelRidge(machine.fit(far, Y).kernel_, 0.1)
    assert np.abs(found.predictions - leave_one_out(leaked, far, Y).predictions).max() > 0.01
    assert found.account.counts["Gram matrices"] == N


def test_nothing_is_fitted_again():
    found = leave_one_out(KernelRidge(GAUSS, 0.1), X, Y)
    assert found.account.counts["without a refit"] == N
    assert found.account.counts["Gram matrices"] == 1
    assert found.account.counts["refitted on parts of a Gram matrix"] == 0


def test_standard_error():
    found = leave_one_out(KernelRidge(GAUSS, 0.1), X, Y)
    losses = found.residuals**2
    assert found.standard_error == pytest.approx(losses.std(ddof=1) / np.sqrt(N))
    twice = leave_one_out(KernelRidge(GAUSS, 0.1), X, Y, sample_weight=np.full(N, 2.0))
    halved = leave_one_out(KernelRidge(GAUSS, 0.05), X, Y)
    assert twice.error == pytest.approx(halved.error)


@pytest.mark.parametrize(
    ("machine", "items", "y", "weights", "error", "words"),
    [
        (KernelRidge(GAUSS), X[:1], Y[:1], None, SelectionError, "LeaveOneOut"),
        (KernelRidge(GAUSS), X, Y[:-1], None, SelectionError, "24 items, but 23 targets"),
        (KernelRidge(GAUSS), X, Y, WEIGHTS[:-1], DomainError, "sample_weight has 23"),
        (KernelRidge(GAUSS, -1.0), X, Y, None, ValidityError, "penalty must be"),
        (SVC(GAUSS), X, ["a"] + ["b"] * (N - 1), None, SelectionError, "no item of the class 'a'"),
        (SVC(GAUSS), X, ["b"] * N, None, DomainError, "class"),
        (KernelRidge(GAUSS), np.where(X > 2.0, np.nan, X), Y, None, DomainError, "NaN at row"),
    ],
    ids=["one item", "lengths", "weights", "penalty", "one of a class", "one class", "NaN"],
)
def test_refusals(machine, items, y, weights, error, words):
    with pytest.raises(error, match=words):
        leave_one_out(machine, items, y, sample_weight=weights)


# ---- criteria ---------------------------------------------------------------------------------

KERNELS = [GAUSS, Linear(), Polynomial(2, offset=1.0)]


@each_weight
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=["dual", "linear", "features"])
def test_generalized_cross_validation(kernel, intercept, weights):
    machine = KernelRidge(kernel, 0.3, intercept=intercept)
    found = generalized_cross_validation(machine, X, Y, sample_weight=weights)
    used = slice(None) if weights is None else weights > 0
    A, y = X[used], Y[used]
    w = np.ones(len(y)) if weights is None else weights[used]
    H = np.column_stack([clone(machine).fit(A, e, w).predict(A) for e in np.eye(len(y))])
    residual = np.average((y - H @ y) ** 2, weights=w)
    expected = residual / (1 - np.trace(H) / len(y)) ** 2
    assert found == pytest.approx(expected, rel=1e-9)


@each_weight
@pytest.mark.parametrize("kernel", KERNELS, ids=["dual", "linear", "features"])
def test_log_marginal_likelihood(kernel, weights):
    found = log_marginal_likelihood(KernelRidge(kernel, 0.3), X, Y, sample_weight=weights)
    used = slice(None) if weights is None else weights > 0
    w = np.ones(N)[used] if weights is None else weights[used]
    normal = multivariate_normal(cov=kernel(X[used]) + np.diag(0.3 / w))
    assert found == pytest.approx(normal.logpdf(Y[used]), rel=1e-9)
    machine = GaussianProcess(kernel, 0.3)
    twice = log_marginal_likelihood(machine, X, np.column_stack([Y, -Y]), sample_weight=weights)
    assert twice == pytest.approx(2 * found, rel=1e-9)


def test_log_marginal_likelihood_with_an_intercept():
    machine = GaussianProcess(GAUSS, 0.3, intercept=True)
    found = log_marginal_likelihood(machine, X, Y)
    # A flat prior is the limit of a wide one, whose density at 0 is divided out.
    wide = 1e7
    normal = multivariate_normal(cov=GAUSS(X) + 0.3 * np.eye(N) + wide)
    assert found == pytest.approx(normal.logpdf(Y) + 0.5 * np.log(2 * np.pi * wide), abs=1e-5)
    assert found == pytest.approx(machine.fit(X, Y).log_marginal_likelihood_, rel=1e-9)


def test_criteria_refuse_what_they_cannot_measure():
    for criterion in (generalized_cross_validation, log_marginal_likelihood):
        with pytest.raises(SelectionError, match="found SVC"):
            criterion(SVC(), X, LABELS)
        with pytest.raises(SelectionError, match="use a larger penalty"):
            criterion(KernelRidge(Gaussian(100.0), 0.0), X, Y)
