"""Grid search against scikit-learn's on the same machine: the same table, the same choice."""

import numpy as np
import pytest
from sklearn import model_selection
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
)

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
from mercer.kernels import Gaussian, Linear
from mercer.machines import ExemplarRegressor, RBFNetworkClassifier
from mercer.selection import GridSearchCV
from tests.oracles.searches import GAUSS, LABELS, RIDGES, THREE, WEIGHTS, N, X, Y, agree, own

# ---- machines ---------------------------------------------------------------------------------

REGRESSORS = {
    "ridge": (KernelRidge(GAUSS), RIDGES),
    "intercept": (KernelRidge(GAUSS, intercept=True), RIDGES),
    "process": (GaussianProcess(GAUSS), RIDGES),
    "features": (
        KernelRidge(Linear()),
        {"penalty": [1e-8, 0.1, 10.0], "intercept": [True, False]},
    ),
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


WEIGHTLESS = ("neighbors", "perceptron", "LPSVC", "network")  # these take no weights


def with_and_without_weights(names):
    return [(name, w) for name in names for w in (False, True) if not w or name not in WEIGHTLESS]


@pytest.mark.parametrize(("name", "weighted"), with_and_without_weights(REGRESSORS))
def test_regressors(name, weighted):
    machine, grid = REGRESSORS[name]
    agree(machine, grid, X, Y, {"sample_weight": WEIGHTS} if weighted else None)


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
@pytest.mark.parametrize(("name", "weighted"), with_and_without_weights(CLASSIFIERS))
def test_classifiers(name, weighted, y):
    machine, grid = CLASSIFIERS[name]
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    agree(machine, grid, X, y, {"sample_weight": WEIGHTS} if weighted else None, cv=folds)


@pytest.mark.parametrize("tol", [1e-3, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_labels_along_C_are_those_of_machines_fitted_one_by_one(seed, tol):
    """Warm starts end elsewhere within the tolerance, but no label depends on it."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(60, 2)).round(1)  # with ties
    y = rng.integers(0, 3, 60) if seed % 2 else (A.sum(axis=1) > 0).astype(int)
    grid = {"C": [0.01, 0.1, 1.0, 10.0, 1000.0], "multiclass": ["ovo", "ovr"]}
    found = agree(SVC(Gaussian(1.0), tol=tol), grid, A, y, cv=3)
    assert found.account_.counts["along C"] == 30
    assert found.account_.counts["refitted"] == 0


# ---- splitters --------------------------------------------------------------------------------

GROUPS = np.arange(N) % 7
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
    "bootstrap": [(np.arange(N) ** 2 % 30, np.arange(30, N))],
    "overlap": [(np.arange(30), np.arange(25, N)), (np.arange(3, N), np.arange(8))],
}


@pytest.mark.slow
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


@pytest.mark.slow
def test_groups_of_a_classifier():
    fit = {"groups": GROUPS}
    agree(KernelRidgeClassifier(GAUSS), RIDGES, X, LABELS, fit, cv=GroupKFold(3))
    agree(KernelRidge(GAUSS), RIDGES, X[:12], Y[:12], cv=LeavePOut(2))


# ---- scores -----------------------------------------------------------------------------------


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


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSION_SCORES)
@pytest.mark.parametrize("train", [False, True], ids=["", "train"])
def test_scores_of_regressions(name, train):
    scoring, refit = REGRESSION_SCORES[name]
    agree(KernelRidge(GAUSS), RIDGES, X, Y, scoring=scoring, refit=refit, return_train_score=train)


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


@pytest.mark.slow
def test_probabilities_of_machines_with_and_without_a_heuristic():
    machine = SVC(GAUSS, probability=True, tol=1e-10, random_state=0)
    for kernel in (GAUSS, Gaussian("median")):
        agree(machine.set_params(kernel=kernel), {"C": [0.1, 1.0]}, X, LABELS,
              scoring="neg_log_loss", cv=3)  # fmt: skip
    agree(KernelLogistic(GAUSS), {"penalty": [0.1, 1.0]}, X, LABELS, scoring="neg_log_loss")
    agree(KernelDiscriminant(GAUSS), RIDGES, X, THREE, scoring="neg_log_loss", cv=3)
