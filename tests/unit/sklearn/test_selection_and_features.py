"""The drop-in's grid search, similarities of pairs and approximate features."""

import numpy as np
import pytest
import sklearn.kernel_approximation as their_approximation
from scipy import sparse
from sklearn import config_context
from sklearn import model_selection as theirs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise as their_pairs

from mercer.sklearn import kernel_approximation
from mercer.sklearn.kernel_ridge import KernelRidge
from mercer.sklearn.metrics import pairwise
from mercer.sklearn.model_selection import GridSearchCV
from mercer.sklearn.svm import SVC, SVR

X, Y = load_iris(return_X_y=True)
NAMES = [name for name in pairwise.__all__ if name not in ("pairwise_kernels",)]


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (SVC(tol=1e-6), {"C": [0.1, 10.0], "gamma": ["scale", "auto", 0.1], "kernel": ["rbf"]}),
        (SVC(tol=1e-6), [{"kernel": ["linear"], "C": [1.0]}, {"kernel": ["rbf"], "C": [2.0]}]),
        (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0], "gamma": [None, 0.1]}),
        (SVR(tol=1e-6), {"epsilon": [0.1, 0.2]}),
    ],
)
def test_a_shared_search_has_scikit_learns_table(machine, grid):
    ours = GridSearchCV(machine, grid, cv=3, return_train_score=True).fit(X, Y)
    other = theirs.GridSearchCV(machine, grid, cv=3, return_train_score=True).fit(X, Y)
    assert hasattr(ours, "account_")
    assert set(ours.cv_results_) == set(other.cv_results_)
    assert ours.cv_results_["params"] == other.cv_results_["params"]
    for name in ("mean_test_score", "split1_test_score", "mean_train_score"):
        np.testing.assert_allclose(ours.cv_results_[name], other.cv_results_[name], atol=1e-5)
    assert type(ours.best_estimator_) is type(machine) and ours.best_params_ in list(
        theirs.ParameterGrid(grid)
    )
    assert ours.score(X, Y) == pytest.approx(other.score(X, Y), abs=1e-2)


def test_other_estimators_are_searched_by_scikit_learn():
    search = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}).fit(X, Y)
    assert not hasattr(search, "account_") and search.best_score_ > 0.9


def test_what_cannot_be_shared_is_fitted_one_by_one():
    search = GridSearchCV(SVC(kernel="sigmoid"), {"gamma": [0.01, 0.1]}).fit(X, Y)
    assert not hasattr(search, "account_") and type(search.best_estimator_) is SVC


class Calls:
    """A callback of scikit-learn's that counts."""

    def __init__(self):
        self.count = 0

    def setup(self, *given, **named):
        pass

    def teardown(self, *given, **named):
        pass

    def on_fit_task_begin(self, *given, **named):
        self.count += 1

    def on_fit_task_end(self, *given, **named):
        self.count += 1


def test_callbacks_are_called_as_scikit_learn_calls_them():
    counts = []
    for search in (GridSearchCV, theirs.GridSearchCV):
        calls = Calls()
        search(SVC(), {"C": [1.0, 2.0]}, cv=3).set_callbacks(calls).fit(X, Y)
        counts.append(calls.count)
    assert counts[0] == counts[1] > 0


def test_words_about_progress_are_scikit_learns(capsys):
    said = []
    for search in (GridSearchCV, theirs.GridSearchCV):
        search(SVC(), {"C": [1.0, 2.0]}, cv=3, verbose=3).fit(X, Y)
        said.append(
            [line.partition(" total time")[0] for line in capsys.readouterr().out.split("\n")]
        )
    assert said[0] == said[1] and len(said[0]) > 6


class Forgetful(ClassifierMixin, BaseEstimator):
    """An estimator whose `fit` returns nothing."""

    def __init__(self, which=0):
        self.which = which

    def fit(self, rows, labels):
        self.classes_ = np.unique(labels)

    def predict(self, rows):
        return np.repeat(self.classes_[self.which], len(rows))


@pytest.mark.parametrize(
    ("machine", "grid", "cv"),
    [
        (SVC(), {}, 3),
        (Forgetful(), {"which": [0, 1]}, 3),
        (SVC(), {"C": [1.0]}, [(np.arange(100), np.arange(100, 150))]),
    ],
    ids=["no parameter", "a fit of nothing", "a class missing in a fold"],
)
@pytest.mark.filterwarnings("ignore:the search over SVC is not shared")
def test_odd_searches_are_scikit_learns(machine, grid, cv):
    a, b = (
        m(machine, grid, cv=cv, refit=False).fit(X, Y) for m in (GridSearchCV, theirs.GridSearchCV)
    )
    assert a.cv_results_["params"] == b.cv_results_["params"]
    np.testing.assert_allclose(
        a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"], atol=0.02
    )


def test_metadata_is_routed_as_in_scikit_learn():
    weights = np.linspace(0.5, 2, len(Y))
    with config_context(enable_metadata_routing=True):
        machine = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        a, b = (
            m(machine, {"C": [0.1, 1.0]}, cv=3).fit(X, Y, sample_weight=weights)
            for m in (GridSearchCV, theirs.GridSearchCV)
        )
        np.testing.assert_allclose(
            a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"]
        )
        with pytest.raises(UnsetMetadataPassedError):
            GridSearchCV(SVC(), {"C": [1.0]}).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [X, sparse.csr_array(X)])
def test_similarities_are_scikit_learns(name, rows):
    if name == "chi2_kernel" and sparse.issparse(rows):
        return
    ours, other = getattr(pairwise, name), getattr(their_pairs, name)
    np.testing.assert_allclose(ours(rows), other(rows), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours(rows[:9], rows), other(rows[:9], rows), rtol=1e-8, atol=1e-10)


def test_a_metric_by_name_takes_its_own_parameters():
    params = {"gamma": 0.1, "degree": 2, "coef0": 0.5}
    for metric in ("poly", "rbf", "cosine", "additive_chi2"):
        ours, other = (
            m.pairwise_kernels(X[:20], metric=metric, filter_params=True, **params)
            for m in (pairwise, their_pairs)
        )
        np.testing.assert_allclose(ours, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
def test_nystroem_features_are_scikit_learns(kernel):
    ours, other = (
        m.Nystroem(kernel, n_components=30, random_state=3).fit_transform(X)
        for m in (kernel_approximation, their_approximation)
    )
    np.testing.assert_allclose(ours @ ours.T, other @ other.T, rtol=1e-6, atol=1e-6)


def test_nystroem_of_a_precomputed_matrix_may_use_some_of_its_columns():
    K = their_pairs.rbf_kernel(X, gamma=0.1)
    some = kernel_approximation.Nystroem("precomputed", n_components=60, random_state=0)
    F = some.fit_transform(K)
    assert F.shape == (150, 60)
    np.testing.assert_allclose(F @ F.T, K, atol=0.05)  # of 60 columns of 150
    np.testing.assert_allclose(some.transform(K[:5]), F[:5])


def test_random_features_are_scikit_learns():
    ours, other = (
        m.RBFSampler(random_state=0).fit_transform(X)
        for m in (kernel_approximation, their_approximation)
    )
    np.testing.assert_array_equal(ours, other)


@pytest.mark.parametrize("rows", [X[:, 0], X[:0]])
def test_rows_that_are_none_are_refused_in_scikit_learns_words(rows):
    with pytest.raises(ValueError, match=r"2D array|0 sample|n_samples=0|Cannot have number"):
        GridSearchCV(SVC(), {"C": [1.0]}, cv=3).fit(rows, Y[: len(rows)])
