"""Grid search against scikit-learn's: kernels and items of all kinds, pipelines, failures."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import model_selection, svm
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from mercer import (
    SVC,
    SVR,
    KernelDiscriminant,
    KernelLogistic,
    KernelRidge,
    KernelRidgeClassifier,
)
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid, from_function
from mercer.selection import GridSearchCV
from tests.oracles.searches import FOLDS, GAUSS, LABELS, RIDGES, WEIGHTS, N, X, Y, agree, own

# ---- kernels and items ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("rule", ["median", "scale"])
def test_heuristics_are_resolved_in_each_fold(rule, weighted):
    fit = {"sample_weight": WEIGHTS} if weighted else None
    grid = {"penalty": [0.01, 1.0], "kernel": [Gaussian(rule), Laplacian(rule)]}
    agree(KernelRidge(), grid, X, Y, fit)
    grid = {"penalty": [0.01, 1.0], "class_weight": [None, "balanced", {"no": 3.0, "yes": 1.0}]}
    agree(KernelRidgeClassifier(Gaussian(rule)), grid, X, LABELS, fit)
    grid = {"C": [0.1, 1.0], "class_weight": [None, "balanced"]}
    agree(SVC(Gaussian(rule)), grid, X, LABELS, fit)


def test_sums_and_products_with_names_of_their_parts():
    kernel = Gaussian(1.0) * Polynomial(2, offset=1.0) + Linear()
    grid = {"kernel__left__left__bandwidth": [0.5, 2.0], "kernel__left__right__degree": [1, 2],
            "penalty": [0.1, 1.0]}  # fmt: skip
    agree(KernelRidge(kernel), grid, X, Y)


def test_several_grids():
    grid = [{"kernel": [Linear()], "penalty": [0.1, 1.0]}, {"kernel": ["gaussian"]},
            {"kernel": [Gaussian(1.0), Gaussian(3.0)], "intercept": [True]}, {}]  # fmt: skip
    agree(KernelRidge(GAUSS), grid, X, Y)


@pytest.mark.parametrize("machine", [KernelRidge("precomputed"), SVR("precomputed", tol=1e-10)])
def test_similarities_that_are_given(machine):
    grid = {"penalty": [0.1, 1.0]} if isinstance(machine, KernelRidge) else {"C": [0.1, 1.0]}
    agree(machine, grid, GAUSS(X), Y)
    agree(machine, grid, GAUSS(X), Y, scoring=own)


def overlap(a, b):
    return float(len(set(a) & set(b)))


@pytest.mark.parametrize("machine", [KernelRidge(intercept=True), SVR(tol=1e-10)])
def test_words(machine):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdef"), 4)) for _ in range(20)]
    y = np.array([word.count("a") + 0.1 * len(set(word)) for word in words])
    grid = {"kernel": [from_function(overlap)]}
    grid |= {"penalty": [0.1, 1.0]} if isinstance(machine, KernelRidge) else {"C": [0.1, 1.0]}
    for items in (words, np.array(words, dtype=object)):
        agree(machine, grid, items, y, cv=3)


def test_tables_sparse_items_and_several_targets():
    table = pd.DataFrame(X, columns=["a", "b", "c"]).set_index(np.arange(N)[::-1])
    kernel = Gaussian(1.0).on("a", "c") + Linear().on("b")
    grid = {"penalty": [0.1, 1.0]}
    found = agree(KernelRidge(kernel), grid, table, pd.Series(Y, index=table.index))
    assert list(found.feature_names_in_) == ["a", "b", "c"]
    thin = sparse.csr_array(X * (np.abs(X) > 0.5))
    for kernel in (GAUSS, Linear()):
        agree(KernelRidge(kernel), grid, thin, Y)
        agree(KernelRidge(kernel, intercept=True), grid, X, np.column_stack([Y, X[:, 0], Y**2]))


def test_a_kernel_that_must_be_repaired():
    machine = KernelRidge(Sigmoid(0.5, -1.0), indefinite="clip")
    agree(machine, {"penalty": [0.1, 1.0], "indefinite": ["clip", "flip"]}, X, Y)


# ---- pipelines and strangers ------------------------------------------------------------------


def test_pipelines():
    chain = make_pipeline(StandardScaler(), FunctionTransformer(), KernelRidge(Gaussian("median")))
    grid = {
        "standardscaler": ["passthrough", StandardScaler(), MinMaxScaler()],
        "kernelridge__kernel": [Gaussian("median"), GAUSS],
        "kernelridge__penalty": [0.1, 1.0],
    }
    agree(chain, grid, X, Y)
    agree(chain, grid, X, Y, scoring=own, return_train_score=True)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    scaler = StandardScaler().set_output(transform="pandas")
    chain = make_pipeline(scaler, SVC(Gaussian(1.0).on("a", "b")))
    agree(chain, {"svc__C": [0.1, 10.0]}, table, LABELS)
    chain = make_pipeline(StandardScaler(), svm.SVC())
    agree(chain, {"svc__C": [0.1, 10.0]}, X, LABELS)


def test_estimators_of_others():
    agree(svm.SVC(), {"C": [0.1, 1.0], "kernel": ["linear", "rbf"]}, X, LABELS)
    agree(svm.SVR(kernel="precomputed"), {"C": [0.1, 1.0]}, X @ X.T, Y)


class Halved(KernelRidge):
    """A machine of the user's own, which answers otherwise than its parent."""

    def predict(self, X):
        return super().predict(X) / 2


class Centered(KernelRidge):
    """A machine of the user's own, which learns from something else than its parent."""

    def fit(self, X, y, sample_weight=None):
        self.mean_ = np.mean(np.asarray(X), axis=0)
        return super().fit(np.asarray(X) - self.mean_, np.asarray(y) ** 2, sample_weight)

    def predict(self, X):
        return super().predict(np.asarray(X) - self.mean_)


@pytest.mark.parametrize("kind", [Halved, Centered])
def test_a_machine_that_overrides_ours(kind):
    agree(kind(GAUSS), RIDGES, X, Y)


# ---- failures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [np.nan, -7.0])
@pytest.mark.parametrize("scoring", [None, ["r2", "neg_mean_squared_error"]])
def test_fits_that_fail_get_the_same_score(score, scoring):
    grid = {"penalty": [-1.0, 0.1, 1.0]}
    options = {"error_score": score, "scoring": scoring, "refit": "r2" if scoring else True}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        agree(KernelRidge(GAUSS), grid, X, Y, **options)
        agree(make_pipeline(StandardScaler(), KernelRidge(GAUSS)),
              {"kernelridge__penalty": [-1.0, 0.1]}, X, Y, **options)  # fmt: skip
    assert any("penalty must be a finite number" in str(one.message) for one in told)


def refuse_the_first(A):
    if np.any(np.asarray(A) == X[0, 0]):
        raise ValueError("there it is")
    return A


@pytest.mark.filterwarnings("ignore")
def test_a_fold_on_which_all_fits_fail_costs_only_that_fold():
    chain = make_pipeline(FunctionTransformer(refuse_the_first), KernelRidge(GAUSS))
    cv = [(np.arange(1, 20), np.arange(20, N)), (np.arange(20), np.arange(20, N))]
    found = agree(chain, {"kernelridge__penalty": [0.1, 1.0]}, X, Y, cv=cv, refit=False)
    assert np.isnan(found.cv_results_["split1_test_score"]).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "machine", [KernelDiscriminant(GAUSS), KernelRidgeClassifier(GAUSS), SVC(GAUSS)]
)
def test_folds_without_weight(machine):
    """A class without weight cannot be learned; a test fold without weight has no score."""
    y = np.where(np.arange(N) < 3, 2, np.arange(N) % 2)
    weights = np.where((np.arange(N) == 0) | (np.arange(N) > 9), 0.0, 1.0)
    weights[1] = 0.0
    cv = [
        (np.arange(1, 10), np.r_[0, 10:14]),  # no weight is tested
        (np.arange(10), np.arange(10, N)),
        (np.arange(N) != 5, np.arange(5, 6)),
        (np.r_[0, 1, 3:N], np.arange(2, 3)),  # what is left of the third class has no weight
    ]
    grid = {"C": [0.1, 1.0]} if isinstance(machine, SVC) else {"penalty": [0.1, 1.0]}
    found = agree(machine, grid, X, y, {"sample_weight": weights}, cv=cv, refit=False)
    lost = [np.isnan(found.cv_results_[f"split{k}_test_score"]).all() for k in range(4)]
    assert lost == [True, True, False, not isinstance(machine, KernelRidgeClassifier)]


def sometimes(machine, X, y):
    if len(y) > 8:
        raise ValueError("too many")
    return float(len(y))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scoring", [sometimes, {"a": "r2", "b": sometimes}], ids=["one", "two"])
def test_a_score_that_fails_sometimes_costs_only_that_split(scoring):
    cv = [(np.arange(20), np.arange(20, 25)), (np.arange(20), np.arange(20, 30))]
    agree(KernelRidge(GAUSS), {"penalty": [0.1, 1.0]}, X, Y, cv=cv, scoring=scoring, refit=False)


# ---- the object -------------------------------------------------------------------------------


def test_the_search_is_an_estimator():
    search = GridSearchCV(SVC(GAUSS), {"C": [0.1, 1.0]}, cv=3)
    fitted = pickle.loads(pickle.dumps(clone(search).fit(X, LABELS)))
    np.testing.assert_array_equal(fitted.predict(X), fitted.best_estimator_.predict(X))
    np.testing.assert_array_equal(
        fitted.decision_function(X), fitted.best_estimator_.decision_function(X)
    )
    assert fitted.score(X, LABELS) == fitted.best_estimator_.score(X, LABELS)
    assert fitted.classes_.tolist() == ["no", "yes"] and fitted.refit_time_ > 0
    assert not hasattr(search, "best_estimator_")
    assert search.get_params()["estimator__kernel__bandwidth"] == 2.0


def test_the_search_can_be_cross_validated_in_its_turn():
    ours, theirs = (
        cross_val_score(kind(KernelRidge(GAUSS), RIDGES, cv=3), X, Y, cv=FOLDS)
        for kind in (GridSearchCV, model_selection.GridSearchCV)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.slow
def test_work_is_shared():
    found = agree(KernelRidge(GAUSS), RIDGES, X, Y)
    assert found.account_.counts["Gram matrices"] == 2
    assert found.account_.counts["without a refit"] == 24
    assert found.account_.counts["refitted"] == 0
    heuristic = agree(KernelRidge(Gaussian("median")), {"penalty": [0.1, 1.0, 9.0]}, X, Y)
    assert heuristic.account_.counts["Gram matrices"] == 4
    features = agree(KernelRidge(Linear()), {"penalty": [0.1, 1.0]}, X, Y)
    assert features.account_.counts["Gram matrices"] == 0
    assert features.account_.counts["without a refit"] == 8
    thin = agree(KernelRidge(Linear()), {"penalty": [0.1, 1.0]}, sparse.csr_array(X), Y)
    assert thin.account_.counts["without a refit"] == 8
    others = agree(KernelLogistic(GAUSS), {"penalty": [0.1, 1.0]}, X, LABELS)
    assert others.account_.counts["Gram matrices"] == 1
    assert others.account_.counts["refitted on parts of a Gram matrix"] == 8
    assert "held out by" in str(found.account_)
