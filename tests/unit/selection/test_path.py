"""Paths say what fitting again at each penalty, without each item, would say."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold

from mercer import (
    SVC,
    SVR,
    GaussianProcess,
    KernelDiscriminant,
    KernelRidge,
    KernelRidgeClassifier,
)
from mercer.datasets import sinc, two_gaussians
from mercer.errors import DomainError, SelectionError, SelectionWarning, ValidityError
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid
from mercer.selection import leave_one_out
from mercer.selection.margin_path import MarginPath
from mercer.selection.path import RidgePath

RNG = np.random.default_rng(3)
N = 24
EPS = np.finfo(float).eps
X = RNG.normal(size=(N, 3))
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * RNG.normal(size=N)
LABELS = np.array(["no", "yes"])[(Y > 0.2).astype(int)]
THREE = np.digitize(Y, [-0.4, 0.4])
WEIGHTS = RNG.uniform(0.2, 3.0, N)
SOME = np.where(np.arange(N) % 5 == 0, 0.0, WEIGHTS)
PENALTIES = np.array([0.001, 0.1, 5.0, 100.0])

KERNELS = {
    "dual": Gaussian(1.5),
    "primal": Linear() + 0.7,
    "features": Polynomial(2, offset=1.0),
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
each_weight = pytest.mark.parametrize(
    "weights", [None, WEIGHTS, SOME], ids=["alike", "weighted", "some zero"]
)
each_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])


@pytest.fixture(autouse=True)
def borders_do_not_matter_here():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the best", SelectionWarning)
        yield


def left_out(machine, y, weights, scores="predict"):
    """Return what each item is given by a machine that was fitted to the others."""
    found = []
    for i in range(N):
        others = np.arange(N) != i
        w = None if weights is None else weights[others]
        fitted = machine.fit(X[others], y[others], w)
        found.append(getattr(fitted, scores)(X[i : i + 1])[0])
    return np.array(found)


# ---- leave-one-out ----------------------------------------------------------------------------


@each_kernel
@each_weight
@each_intercept
def test_predictions_are_those_of_machines_that_never_saw_the_item(kernel, weights, intercept):
    machine = KernelRidge(kernel, intercept=intercept)
    path = RidgePath(machine, PENALTIES).fit(X, Y, weights)
    counted = np.ones(N, bool) if weights is None else weights > 0
    for k, penalty in enumerate(PENALTIES):
        expected = left_out(machine.set_params(penalty=penalty), Y, weights)
        found = path.loo_predictions_[k]
        np.testing.assert_allclose(found[counted], expected[counted], rtol=1e-8, atol=1e-10)
        assert np.isnan(found[~counted]).all()
        losses = (Y - expected)[counted] ** 2
        w = np.ones(N) if weights is None else weights
        np.testing.assert_allclose(
            path.loo_error_[k], np.average(losses, weights=w[counted]), rtol=1e-8
        )


def test_the_standard_error_is_that_of_a_mean():
    path = RidgePath(KernelRidge(KERNELS["dual"]), PENALTIES).fit(X, Y)
    losses = (Y - path.loo_predictions_) ** 2
    np.testing.assert_allclose(path.loo_se_, losses.std(axis=1, ddof=1) / np.sqrt(N))
    constant = RidgePath(KernelRidge(KERNELS["dual"]), PENALTIES).fit(X, Y, np.full(N, 1.0))
    np.testing.assert_allclose(constant.loo_se_, path.loo_se_)


def test_several_targets_have_one_error():
    both = np.column_stack([Y, X[:, 2] ** 2])
    machine = KernelRidge(KERNELS["dual"], penalty=0.1, intercept=True)
    path = RidgePath(machine, [0.1]).fit(X, both)
    expected = left_out(machine, both, None)
    np.testing.assert_allclose(path.loo_predictions_[0], expected, rtol=1e-8)
    np.testing.assert_allclose(path.loo_error_, np.mean((both - expected) ** 2))
    alone = [RidgePath(machine, [0.1]).fit(X, y) for y in both.T]
    for name in ("norm_", "log_marginal_likelihood_"):
        np.testing.assert_allclose(getattr(path, name), sum(getattr(a, name) for a in alone))


@pytest.mark.slow
@each_intercept
@pytest.mark.parametrize("labels", [LABELS, THREE], ids=["two", "three"])
@pytest.mark.parametrize("class_weight", [None, "two"])
def test_classifiers_count_their_mistakes(labels, intercept, class_weight):
    first = np.unique(labels)[0].item()
    machine = KernelRidgeClassifier(
        KERNELS["dual"], intercept=intercept, class_weight=class_weight and {first: 2.0}
    )
    path = RidgePath(machine, PENALTIES).fit(X, labels, WEIGHTS)
    for k, penalty in enumerate(PENALTIES):
        machine.set_params(penalty=penalty)
        scores = left_out(machine, labels, WEIGHTS, "decision_function")
        np.testing.assert_allclose(path.loo_predictions_[k], scores, rtol=1e-8, atol=1e-10)
        wrong = left_out(machine, labels, WEIGHTS) != labels
        expected = np.average(wrong, weights=WEIGHTS)
        np.testing.assert_allclose(path.loo_misclassification_[k], expected, atol=1e-12)


@pytest.mark.parametrize("labels", [LABELS, THREE], ids=["two", "three"])
def test_a_discriminant_is_a_regression_on_indicators(labels):
    codes = np.unique(labels, return_inverse=True)[1]
    indicators = np.eye(codes.max() + 1)[codes]
    path = RidgePath(KernelDiscriminant(KERNELS["dual"]), PENALTIES).fit(X, labels, SOME)
    ridge = RidgePath(KernelRidge(KERNELS["dual"], intercept=True), PENALTIES)
    ridge.fit(X, indicators, SOME)
    np.testing.assert_allclose(path.loo_predictions_, ridge.loo_predictions_)
    shown = np.argmax(path.loo_predictions_[1], axis=1) != codes
    assert path.loo_misclassification_[1] == pytest.approx(np.average(shown, weights=SOME))
    assert ridge.loo_misclassification_ is None


@each_intercept
def test_the_errors_are_those_of_scikit_learn(intercept):
    found = RidgeCV(PENALTIES, fit_intercept=intercept, store_cv_results=True).fit(X, Y)
    path = RidgePath(KernelRidge("linear", intercept=intercept), PENALTIES).fit(X, Y)
    losses = (Y - path.loo_predictions_) ** 2
    np.testing.assert_allclose(losses.T, found.cv_results_, rtol=1e-8)
    assert path.best_penalty_ == found.alpha_


def test_other_kinds_of_items_have_paths_too():
    path = RidgePath(KernelRidge(Gaussian(1.5)), PENALTIES).fit(X, Y, SOME)
    same = RidgePath(KernelRidge("precomputed"), PENALTIES).fit(Gaussian(1.5)(X), Y, SOME)
    np.testing.assert_allclose(same.loo_error_, path.loo_error_, rtol=1e-9)
    dense = RidgePath(KernelRidge("linear", intercept=True), PENALTIES).fit(X, Y, WEIGHTS)
    few = RidgePath(KernelRidge("linear", intercept=True), PENALTIES)
    few.fit(sparse.csr_array(X), Y, WEIGHTS)
    np.testing.assert_allclose(few.loo_error_, dense.loo_error_, rtol=1e-10)


# ---- the other criteria -------------------------------------------------------------------------


def smoother(K, weights, penalty, intercept):
    """Return the matrix that maps y to fitted values, naively."""
    system = np.zeros((N + 1, N + 1))
    system[:N, :N] = K + penalty * np.diag(1 / weights)
    system[:N, N] = system[N, :N] = 1.0 if intercept else 0.0
    system[N, N] = 0.0 if intercept else 1.0
    inverse = np.linalg.inv(system)
    return K @ inverse[:N, :N] + inverse[N, :N] * intercept, inverse[:N, :N]


@each_kernel
@each_intercept
@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["alike", "weighted"])
def test_degrees_norm_and_gcv_are_those_of_the_matrices(kernel, intercept, weights):
    machine = KernelRidge(kernel, intercept=intercept)
    path = RidgePath(machine, PENALTIES).fit(X, Y, weights)
    for k, penalty in enumerate(PENALTIES):
        H, A = smoother(kernel(X), weights, penalty, intercept)
        training = np.average((Y - H @ Y) ** 2, weights=weights)
        fitted = machine.set_params(penalty=penalty).fit(X, Y, weights)
        np.testing.assert_allclose(path.degrees_[k], np.trace(H), rtol=1e-8)
        a, K = A @ Y, kernel(X)
        # For small penalties the coefficients are large, and cancel each other in aᵀKa.
        rounding = 5 * EPS * np.abs(a) @ np.abs(K) @ np.abs(a)
        for norm in (a @ K @ a, fitted.function_.norm() ** 2):
            np.testing.assert_allclose(path.norm_[k], norm, rtol=1e-12, atol=rounding)
        np.testing.assert_allclose(path.training_error_[k], training, rtol=1e-8)
        gcv = training / (1 - np.trace(H) / N) ** 2
        np.testing.assert_allclose(path.gcv_[k], gcv, rtol=1e-8)


@each_kernel
@each_weight
def test_the_evidence_is_the_density_of_the_targets(kernel, weights):
    path = RidgePath(KernelRidge(kernel), PENALTIES).fit(X, Y, weights)
    w = np.ones(N) if weights is None else weights
    some = w > 0
    for k, penalty in enumerate(PENALTIES):
        M = kernel(X[some]) + np.diag(penalty / w[some])
        expected = multivariate_normal(np.zeros(some.sum()), M).logpdf(Y[some])
        np.testing.assert_allclose(path.log_marginal_likelihood_[k], expected, rtol=1e-8)


def test_with_an_intercept_the_evidence_is_integrated_over_it():
    kernel, penalty = KERNELS["dual"], 0.1
    path = RidgePath(KernelRidge(kernel, intercept=True), [penalty]).fit(X, Y, WEIGHTS)
    M = kernel(X) + np.diag(penalty / WEIGHTS)
    b, step = np.linspace(-15, 15, 6001, retstep=True)
    logs = multivariate_normal(np.zeros(N), M).logpdf(Y - b[:, None])
    expected = logs.max() + np.log(np.sum(np.exp(logs - logs.max())) * step)
    np.testing.assert_allclose(path.log_marginal_likelihood_, expected, rtol=1e-10)


@each_kernel
@each_intercept
def test_the_evidence_is_that_of_the_gaussian_process(kernel, intercept):
    machine = GaussianProcess(kernel, intercept=intercept)
    path = RidgePath(machine, PENALTIES).fit(X, Y, SOME)
    for k, penalty in enumerate(PENALTIES):
        expected = machine.set_params(penalty=penalty).fit(X, Y, SOME).log_marginal_likelihood_
        np.testing.assert_allclose(path.log_marginal_likelihood_[k], expected, rtol=1e-8)


# ---- the grid -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_the_default_penalties_follow_the_scale_of_the_kernel(scale):
    path = RidgePath(KernelRidge(scale * Gaussian(1.5))).fit(X, Y, np.full(N, 2.0))
    assert len(path.penalties_) == 50
    np.testing.assert_allclose(path.penalties_[[0, -1]], np.array([2e-6, 2e3]) * scale)
    assert path.degrees_[0] > 0.99 * N and path.degrees_[-1] < 1


def test_the_best_penalty_has_the_least_error_and_the_table_says_so():
    path = RidgePath(KernelRidge(Gaussian(1.5)), PENALTIES[::-1]).fit(*sinc(seed=0))
    np.testing.assert_array_equal(path.penalties_, PENALTIES)
    best = int(np.argmin(path.loo_error_))
    assert path.best_penalty_ == PENALTIES[best] and path.best_index_ == best
    table = path.cv_results_
    assert table["params"][best] == {"penalty": path.best_penalty_}
    assert table["rank_test_score"][best] == 1 and sorted(table["rank_test_score"]) == [1, 2, 3, 4]
    np.testing.assert_array_equal(table["mean_test_score"], -path.loo_error_)
    np.testing.assert_array_equal(table["mean_train_score"], -path.training_error_)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Linear()], ids=["dual", "primal"])
def test_penalties_that_leave_no_digits_are_nan_and_said_to_be(kernel):
    twice, target = np.vstack([X, X]), np.concatenate([Y, Y + 0.1])
    with pytest.warns(SelectionWarning, match="of 4 penalties, 2 are so small"):
        path = RidgePath(KernelRidge(kernel), [0.0, 1e-12, 0.1, 1.0]).fit(twice, target)
    for name in ("loo_error_", "gcv_", "norm_", "degrees_", "log_marginal_likelihood_"):
        np.testing.assert_array_equal(np.isnan(getattr(path, name)), [True, True, False, False])
    assert path.best_index_ >= 2 and path.cv_results_["rank_test_score"].max() == 3
    with pytest.raises(SelectionError, match="larger penalties"):
        RidgePath(KernelRidge(kernel), [0.0]).fit(twice, target)


def test_without_a_penalty_there_is_a_path_where_the_matrix_is_regular():
    path = RidgePath(KernelRidge(Gaussian(0.5)), [0.0, 0.1]).fit(X, Y)
    expected = left_out(KernelRidge(Gaussian(0.5), penalty=0.0), Y, None)
    np.testing.assert_allclose(path.loo_predictions_[0], expected, atol=1e-9)
    almost = RidgePath(KernelRidge(Gaussian(0.5)), [1e-7]).fit(X, Y)
    assert path.training_error_[0] == 0 and path.degrees_[0] == pytest.approx(N)
    assert path.gcv_[0] == pytest.approx(almost.gcv_[0], rel=1e-4)


def test_a_best_value_at_the_border_is_said_to_be():
    for penalties, end in (([1.0, 10.0, 100.0], "smallest"), ([1e-5, 1e-4, 1e-3], "largest")):
        with pytest.warns(SelectionWarning, match=f"the {end} one"):
            RidgePath(KernelRidge(Gaussian(1.0)), penalties).fit(*sinc(60, noise=0.2, seed=0))


def test_no_path_is_better_than_a_wrong_one():
    K = Sigmoid(1.0, -1.0)
    with pytest.raises(ValidityError, match="indefinite"):
        RidgePath(KernelRidge(K)).fit(X, Y)
    with pytest.raises(SelectionError, match="changes when an item is left out"):
        RidgePath(KernelRidge(K, indefinite="clip")).fit(X, Y)
    valid = Gaussian(1.5)(X)  # nothing is known about it, and nothing has to be repaired
    path = RidgePath(KernelRidge("precomputed", indefinite="clip"), PENALTIES).fit(valid, Y)
    same = RidgePath(KernelRidge(Gaussian(1.5)), PENALTIES).fit(X, Y)
    np.testing.assert_allclose(path.loo_error_, same.loo_error_, rtol=1e-10)


@pytest.mark.parametrize(
    ("error", "machine", "penalties", "message"),
    [
        (SelectionError, KernelRidge(), [], "penalties must be a list"),
        (SelectionError, KernelRidge(), [[1.0], [2.0]], "penalties must be a list"),
        (ValidityError, KernelRidge(), [1.0, -1.0], "not negative, found -1.0"),
        (ValidityError, KernelRidge(), [1.0, np.nan], "found nan"),
        (ValidityError, KernelRidge(), [np.inf], "found inf"),
        (DomainError, KernelRidge(), ["small"], "penalties must hold numbers"),
        (SelectionError, SVR(), None, "KernelRidge.*found SVR"),
        (SelectionError, KernelRidge, None, r"write KernelRidge\(\)"),
    ],
)
def test_bad_penalties_and_machines_are_refused(error, machine, penalties, message):
    with pytest.raises(error, match=message):
        RidgePath(machine, penalties).fit(X, Y)


def test_the_only_item_cannot_be_left_out():
    alone = np.eye(N)[3]
    with pytest.raises(SelectionError, match="the only one"):
        RidgePath(KernelRidge(intercept=True)).fit(X, Y, alone)
    path = RidgePath(KernelRidge(Gaussian(1.0)), [0.1]).fit(X, Y, alone)
    assert path.loo_predictions_[0, 3] == pytest.approx(0.0)  # what no item says is zero


def test_a_criterion_must_be_known():
    path = RidgePath(KernelRidge(), [0.1]).fit(X, Y)
    with pytest.raises(SelectionError, match="did you mean 'gcv'"):
        path.curve("gvc")
    with pytest.raises(SelectionError, match="misclassification"):
        path.curve("misclassification")


# ---- margins ------------------------------------------------------------------------------------

PRICES = np.array([0.05, 0.5, 5.0, 50.0])
PROBLEM = two_gaussians(90, seed=4)


def cold(machine, C, data, labels, train, test, weights=None):
    """Return a machine that was fitted once, and its share of wrong answers."""
    w = None if weights is None else weights[train]
    fitted = SVC(**{**machine.get_params(deep=False), "C": C}).fit(data[train], labels[train], w)
    wrong = fitted.predict(data[test]) != labels[test]
    return fitted, np.average(wrong, weights=None if weights is None else weights[test])


@pytest.mark.parametrize("case", ["two classes", "three classes", "weights"])
def test_a_path_of_margins_is_that_of_separate_fits(case):
    data, labels = PROBLEM
    labels = np.digitize(data[:, 0], [-0.5, 1.0]) if case == "three classes" else labels
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data)) if case == "weights" else None
    machine = SVC(Gaussian(1.0), tol=1e-8)
    path = MarginPath(machine, PRICES[::-1]).fit(data, labels, weights)
    np.testing.assert_array_equal(path.C_, PRICES)
    every = np.arange(len(data))
    for k, C in enumerate(PRICES):
        fitted, error = cold(machine, C, data, labels, every, every, weights)
        assert path.n_support_[k] == len(fitted.support_)
        np.testing.assert_allclose(path.margin_[k], fitted.margin_, rtol=1e-5)
        np.testing.assert_allclose(path.training_error_[k], error)
        folds = StratifiedKFold(5).split(data, labels)
        for fold, (train, test) in enumerate(folds):
            error = cold(machine, C, data, labels, train, test, weights)[1]
            np.testing.assert_allclose(path.fold_error_[k, fold], error)
    assert path.gap_.max() < 1e-6


def test_the_best_price_has_the_least_error_and_the_table_says_so():
    path = MarginPath(SVC(Gaussian(0.5)), PRICES).fit(*PROBLEM, cv=KFold(4))
    assert path.fold_error_.shape == (4, 4)
    np.testing.assert_allclose(path.cv_error_, path.fold_error_.mean(axis=1))
    np.testing.assert_allclose(path.cv_se_, path.fold_error_.std(axis=1, ddof=1) / 2)
    assert path.best_C_ == PRICES[np.argmin(path.cv_error_)]
    table = path.cv_results_
    np.testing.assert_array_equal(table["mean_test_score"], 1 - path.cv_error_)
    np.testing.assert_array_equal(table["split3_test_score"], 1 - path.fold_error_[:, 3])


def test_precomputed_similarities_and_default_prices():
    data, labels = PROBLEM
    machine = SVC("precomputed", warm_start=False, probability=True)
    path = MarginPath(machine).fit(10 * Gaussian(1.0)(data), labels, cv=3)
    same = MarginPath(SVC(10 * Gaussian(1.0))).fit(data, labels, cv=3)
    np.testing.assert_allclose(path.C_[[0, -1]], [1e-3, 1e2])
    np.testing.assert_array_equal(path.n_support_, same.n_support_)
    np.testing.assert_array_equal(path.fold_error_, same.fold_error_)
    assert machine.probability and not machine.warm_start  # the user's machine is as it was


@pytest.mark.parametrize(
    ("error", "machine", "C", "cv", "message"),
    [
        (SelectionError, SVC(), [], 5, "C must be a list"),
        (ValidityError, SVC(), [0.0, 1.0], 5, "positive, found 0.0"),
        (ValidityError, SVC(), [np.inf], 5, "found inf"),
        (ValidityError, SVC(), [np.nan], 5, "found nan"),
        (SelectionError, SVR(), None, 5, "needs SVC, found SVR"),
        (SelectionError, SVC(), None, 1000, "1000 folds, but there are only 90 items"),
        (SelectionError, SVC(), None, "five", "cv must be a number of folds"),
    ],
)
def test_bad_prices_machines_and_folds_are_refused(error, machine, C, cv, message):
    with pytest.raises(error, match=message):
        MarginPath(machine, C).fit(*PROBLEM, cv=cv)


def test_a_fold_without_weight_has_no_error():
    weights = np.r_[np.zeros(30), np.ones(60)]
    with pytest.raises(SelectionError, match="fold 0"):
        MarginPath(SVC(), [1.0]).fit(*PROBLEM, weights, cv=KFold(3))


def test_standard_errors_are_those_of_leaving_one_out():
    machine = KernelRidge(Gaussian(1.5))
    path = RidgePath(machine, [0.1, 1.0]).fit(X, Y, WEIGHTS)
    found = leave_one_out(machine.set_params(penalty=1.0), X, Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(path.loo_se_[1], found.standard_error, rtol=1e-9)


@pytest.mark.parametrize("criterion", ["loo", "gcv", "evidence"])
def test_a_picture_shows_what_is_near_the_best(criterion):
    """Also where the largest penalty loses nothing, and the smallest very much."""
    y = 0.3 * X[:, 0] + RNG.normal(size=N)
    path = RidgePath(KernelRidge(Gaussian(4.0), intercept=True)).fit(X, 100 * y)
    curve = path.curve(criterion)
    top = curve.heights[curve.best]
    far = np.nanmax(np.abs(curve.heights - top))
    assert abs(curve.limit - top) < 0.3 * far
    assert (curve.limit < top) == (criterion == "evidence")


@pytest.mark.parametrize("intercept", [False, True])
def test_the_norm_of_few_features_loses_no_digits_to_small_penalties(intercept):
    path = RidgePath(KernelRidge(Linear(), intercept=intercept)).fit(X, Y)
    F, y = (X - X.mean(axis=0), Y - Y.mean()) if intercept else (X, Y)
    for penalty, norm in zip(path.penalties_, path.norm_, strict=True):
        w = np.linalg.solve(F.T @ F + penalty * np.eye(3), F.T @ y)
        np.testing.assert_allclose(norm, w @ w, rtol=1e-12)


def test_a_path_is_for_machines_that_declare_it():
    class Renamed(SVC):
        """Changes nothing, and says nothing."""

    class Changed(SVC):
        def fit(self, X, y=None, sample_weight=None):
            return super().fit(X, y, sample_weight)

    class Declared(Changed):
        abilities = ("path along C",)

    paths = [MarginPath(one(Gaussian(0.5)), PRICES) for one in (SVC, Renamed, Declared)]
    errors = [path.fit(*PROBLEM, cv=3).fold_error_ for path in paths]
    assert np.array_equal(errors[0], errors[1]) and np.array_equal(errors[0], errors[2])
    with pytest.raises(SelectionError, match=r"needs SVC, found Changed.*abilities"):
        MarginPath(Changed(), PRICES).fit(*PROBLEM)
