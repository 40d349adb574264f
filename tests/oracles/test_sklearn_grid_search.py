"""Grid search against scikit-learn's on the same machine: the same table, the same choice."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import model_selection, svm
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_pinball_loss, recall_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mercer import (
    LPSVC,
    SVC,
    SVR,
    ExemplarClassifier,
    GaussianProcess,
    KernelDiscriminant,
    KernelLogistic,
    KernelNeighbors,
    KernelRidge,
    KernelRidgeClassifier,
    NuSVC,
    Perceptron,
    PrototypeClassifier,
    RBFNetwork,
)
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid, from_function
from mercer.machines import ExemplarRegressor, RBFNetworkClassifier
from mercer.selection import GridSearchCV

RNG = np.random.default_rng(8)
N = 36
X = RNG.normal(size=(N, 3)) * [1.0, 5.0, 0.2]
Y = np.sin(2 * X[:, 0]) + 0.2 * X[:, 1] + 0.1 * RNG.normal(size=N)
LABELS = np.array(["no", "yes"])[(Y > 0).astype(int)]
THREE = np.digitize(Y, [-0.5, 0.5])
WEIGHTS = RNG.uniform(0.2, 3.0, N)
GROUPS = np.arange(N) % 7
FOLDS = KFold(4, shuffle=True, random_state=0)
GAUSS = Gaussian(2.0)
RIDGES = {"kernel__bandwidth": [0.5, 2.0], "penalty": [1e-3, 0.1, 10.0]}


def both(estimator, grid, X, y, fit=None, **options):
    """Return our search and theirs, fitted."""
    fit, options = fit or {}, {"cv": FOLDS, **options}
    ours = GridSearchCV(clone(estimator), grid, **options).fit(X, y, **fit)
    theirs = model_selection.GridSearchCV(clone(estimator), grid, **options).fit(X, y, **fit)
    return ours, theirs


def agree(estimator, grid, X, y, fit=None, **options):
    """Compare the tables of both searches, and what follows from them; return ours."""
    ours, theirs = both(estimator, grid, X, y, fit, **options)
    found, expected = ours.cv_results_, theirs.cv_results_
    assert list(found) == list(expected)
    assert repr(found["params"]) == repr(expected["params"])
    for key, values in expected.items():
        if key.startswith("rank") or key.startswith("param_"):
            assert repr(found[key]) == repr(values), key
        elif "score" in key or "_test_" in key or "_train_" in key:
            if "time" not in key:
                np.testing.assert_allclose(found[key], values, rtol=1e-8, atol=1e-8, err_msg=key)
    for name in ("n_splits_", "multimetric_", "best_index_", "best_params_"):
        assert repr(getattr(ours, name, None)) == repr(getattr(theirs, name, None)), name
    assert hasattr(ours, "best_estimator_") == hasattr(theirs, "best_estimator_")
    if hasattr(theirs, "best_score_"):
        assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-8, abs=1e-8)
    if hasattr(theirs, "best_estimator_"):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        assert getattr(ours, "n_features_in_", 0) == getattr(theirs, "n_features_in_", 0)
    return ours


# ---- machines ---------------------------------------------------------------------------------

REGRESSORS = {
    "ridge": (KernelRidge(GAUSS), RIDGES),
    "intercept": (KernelRidge(GAUSS, intercept=True), RIDGES),
    "process": (GaussianProcess(GAUSS), RIDGES),
    "features": (KernelRidge(Linear()), {"penalty": [1e-8, 0.1, 10.0], "intercept": [True, False]}),
    "SVR": (SVR(GAUSS, tol=1e-10), {"C": [0.1, 1.0], "epsilon": [0.1, 0.5]}),
    "exemplar": (ExemplarRegressor(GAUSS), {"kernel__bandwidth": [0.5, 2.0]}),
    "network": (RBFNetwork(GAUSS), {"penalty": [0.1, 1.0]}),
}
CLASSIFIERS = {
    "ridge": (KernelRidgeClassifier(GAUSS), {**RIDGES, "class_weight": [None, "balanced"]}),
    "discriminant": (KernelDiscriminant(GAUSS), RIDGES),
    "SVC": (SVC(GAUSS), {"kernel__bandwidth": [0.5, 2.0], "C": [10.0, 0.1, 1.0]}),
    "linear SVC": (SVC(Linear()), {"C": [0.01, 1.0], "class_weight": [None, "balanced"]}),
    "NuSVC": (NuSVC(GAUSS), {"nu": [0.1, 0.3]}),
    "LPSVC": (LPSVC(GAUSS), {"C": [0.1, 1.0]}),
    "logistic": (KernelLogistic(GAUSS), {"penalty": [0.01, 1.0]}),
    "neighbors": (KernelNeighbors(GAUSS), {"n_neighbors": [1, 5]}),
    "perceptron": (Perceptron(GAUSS), {"kernel__bandwidth": [0.5, 2.0]}),
    "prototype": (PrototypeClassifier(GAUSS), {"kernel__bandwidth": [0.5, 2.0]}),
    "exemplar": (ExemplarClassifier(GAUSS), {"kernel__bandwidth": [0.5, 2.0]}),
    "network": (RBFNetworkClassifier(GAUSS), {"penalty": [0.1, 1.0]}),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, weighted):
    machine, grid = REGRESSORS[name]
    if weighted and name == "network":
        pytest.skip("takes no weights")
    agree(machine, grid, X, Y, {"sample_weight": WEIGHTS} if weighted else None)


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, weighted, y):
    machine, grid = CLASSIFIERS[name]
    if weighted and name in ("neighbors", "perceptron", "LPSVC", "network"):
        pytest.skip("takes no weights")
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    agree(machine, grid, X, y, {"sample_weight": WEIGHTS} if weighted else None, cv=folds)


@pytest.mark.parametrize("seed", range(4))
def test_labels_along_C_are_those_of_machines_fitted_one_by_one(seed):
    """Warm starts end elsewhere within the tolerance, but no label depends on it."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(60, 2)).round(1)  # with ties
    y = rng.integers(0, 3, 60) if seed % 2 else (A.sum(axis=1) > 0).astype(int)
    grid = {"C": [0.01, 0.1, 1.0, 10.0, 1000.0], "multiclass": ["ovo", "ovr"]}
    found = agree(SVC(Gaussian(1.0)), grid, A, y, cv=3)
    assert found.account_.counts["along C"] == 30
    assert found.account_.counts["refitted"] == 0


# ---- splitters --------------------------------------------------------------------------------

MASK = np.arange(N) % 3 == 0
SPLITTERS = {
    "number": 3,
    "none": None,
    "KFold": KFold(3),
    "stratified": StratifiedKFold(3, shuffle=True, random_state=0),
    "groups": GroupKFold(3),
    "one by one": LeaveOneOut(),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "shuffle": ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0),
    "predefined": PredefinedSplit(np.where(np.arange(N) < 4, -1, np.arange(N) % 3)),
    "time": TimeSeriesSplit(3),
    "pairs": [(np.arange(20), np.arange(20, N)), (np.arange(10, N), np.arange(10))],
    "generator": lambda: ((np.arange(k, N), np.arange(k)) for k in (5, 9)),
    "masks": [(~MASK, MASK), (MASK, ~MASK)],
    "negative": [(np.arange(-20, 0), np.arange(10))],
    "lists": [(list(range(20)), [25, 22, 30])],
    "bootstrap": [(RNG.integers(0, 30, N), np.arange(30, N))],
    "overlap": [(np.arange(30), np.arange(25, N)), (np.arange(3, N), np.arange(8))],
}


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_splitters(name, weighted):
    cv = SPLITTERS[name]
    weights = WEIGHTS * (np.arange(N) % 5 > 0)
    fit = {"sample_weight": weights} if weighted else {}
    fit |= {"groups": GROUPS} if name == "groups" else {}
    y = THREE.astype(float) if name == "stratified" else Y
    made = [cv() if callable(cv) else cv for _ in range(2)]
    scoring = "neg_mean_absolute_error"
    if weighted and name in ("one by one", "groups"):
        fit["sample_weight"] = WEIGHTS
    if name == "stratified":
        made = [list(cv.split(X, THREE))] * 2
    grid = {"penalty": [1e-6, 0.1, 10.0]}
    ours = GridSearchCV(KernelRidge(GAUSS), grid, cv=made[0], scoring=scoring).fit(X, y, **fit)
    theirs = model_selection.GridSearchCV(KernelRidge(GAUSS), grid, cv=made[1], scoring=scoring)
    theirs.fit(X, y, **fit)
    assert ours.n_splits_ == theirs.n_splits_
    for k in range(theirs.n_splits_):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(
            ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-8, atol=1e-8
        )
    assert ours.best_params_ == theirs.best_params_


def test_groups_of_a_classifier():
    fit = {"groups": GROUPS}
    agree(KernelRidgeClassifier(GAUSS), RIDGES, X, LABELS, fit, cv=GroupKFold(3))
    agree(KernelRidge(GAUSS), RIDGES, X[:12], Y[:12], cv=LeavePOut(2))


# ---- scores -----------------------------------------------------------------------------------


def own(machine, X, y):
    return -float(np.abs(machine.predict(X) - y).max()) + 0.001 * float(np.sum(np.asarray(X)))


def own_several(machine, X, y):
    return {"worst": own(machine, X, y), "count": len(y)}


REGRESSION_SCORES = {
    "none": (None, True),
    "quick": ("neg_root_mean_squared_error", True),
    "slow": ("neg_median_absolute_error", True),
    "list": (["r2", "neg_mean_squared_error"], "r2"),
    "mixed list": (["r2", "neg_max_error"], "neg_max_error"),
    "tuple": (("r2", "explained_variance"), "r2"),
    "dict": ({"a": "r2", "b": "neg_mean_absolute_error"}, "b"),
    "dict of callables": ({"a": "r2", "b": own}, "b"),
    "made": (make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.2), True),
    "own": (own, True),
    "own several": (own_several, "worst"),
    "without refit": (["r2", "neg_mean_squared_error"], False),
    "not refitted": ("r2", False),
    "own choice": ("r2", lambda results: int(np.argmin(results["mean_test_score"]))),
}


@pytest.mark.parametrize("name", REGRESSION_SCORES)
@pytest.mark.parametrize("train", [False, True], ids=["", "train"])
def test_scores_of_regressions(name, train):
    scoring, refit = REGRESSION_SCORES[name]
    agree(
        KernelRidge(GAUSS), RIDGES, X, Y, scoring=scoring, refit=refit, return_train_score=train
    )


CLASSIFICATION_SCORES = {
    "none": None,
    "accuracy": "accuracy",
    "balanced": "balanced_accuracy",
    "f1": "f1_macro",
    "area": "roc_auc",
    "recall": make_scorer(recall_score, pos_label="yes"),
}


@pytest.mark.parametrize("name", CLASSIFICATION_SCORES)
@pytest.mark.parametrize(
    "machine", [KernelRidgeClassifier(GAUSS), KernelDiscriminant(GAUSS), SVC(GAUSS, tol=1e-10)]
)
def test_scores_of_classifications(machine, name):
    grid = {"C": [0.1, 1.0]} if isinstance(machine, SVC) else RIDGES
    agree(machine, grid, X, LABELS, scoring=CLASSIFICATION_SCORES[name])


@pytest.mark.parametrize("name", ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"])
def test_weights_count_in_scores_as_theirs_do(name):
    agree(KernelRidge(GAUSS), RIDGES, X, Y, {"sample_weight": WEIGHTS}, scoring=name)


def test_probabilities_of_machines_with_and_without_a_heuristic():
    machine = SVC(GAUSS, probability=True, tol=1e-10, random_state=0)
    for kernel in (GAUSS, Gaussian("median")):
        agree(machine.set_params(kernel=kernel), {"C": [0.1, 1.0]}, X, LABELS,
              scoring="neg_log_loss", cv=3)  # fmt: skip
    agree(KernelLogistic(GAUSS), {"penalty": [0.1, 1.0]}, X, LABELS, scoring="neg_log_loss")
    agree(KernelDiscriminant(GAUSS), RIDGES, X, THREE, scoring="neg_log_loss", cv=3)


# ---- kernels and items ------------------------------------------------------------------------


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
    words = ["".join(RNG.choice(list("abcdef"), 4)) for _ in range(20)]
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
    grid = {"standardscaler": ["passthrough", StandardScaler(), StandardScaler(with_mean=False)],
            "kernelridge__kernel": [Gaussian("median"), GAUSS], "kernelridge__penalty": [0.1, 1.0]}
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
    others = agree(KernelLogistic(GAUSS), {"penalty": [0.1, 1.0]}, X, LABELS)
    assert others.account_.counts["Gram matrices"] == 1
    assert others.account_.counts["refitted on parts of a Gram matrix"] == 8
    assert "held out by" in str(found.account_)
