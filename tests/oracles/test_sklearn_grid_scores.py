"""Grid search against scikit-learn's where a score depends on more than the size of errors."""

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mercer import SVC, KernelDiscriminant, KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.selection import GridSearchCV, leave_one_out, nested_cv
from tests.oracles.searches import GAUSS, LABELS, THREE, X, Y, agree

DIGITS, WHICH = load_digits(return_X_y=True)
DIGITS, WHICH = DIGITS[:200], WHICH[:200]
ODD = WHICH % 2
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
NARROW = {"kernel__bandwidth": [1.0, 2.0, 3.0, 20.0], "penalty": [0.5, 1.0, 2.0]}


def both(machine, grid, items, y, **options):
    """Return the table of all scores, by mercer and by scikit-learn."""
    return [
        search(machine, grid, refit=False, **options).fit(items, y).cv_results_["mean_test_score"]
        for search in (GridSearchCV, model_selection.GridSearchCV)
    ]


# ---- scores that are small beside the targets -------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("y", [WHICH, ODD], ids=["ten", "two"])
@pytest.mark.parametrize(
    "machine",
    [
        KernelRidgeClassifier(Gaussian()),
        KernelRidgeClassifier(Gaussian(), intercept=True),
        KernelDiscriminant(Gaussian()),
    ],
    ids=["ridge", "intercept", "discriminant"],
)
def test_labels_of_narrow_kernels(machine, y):
    """A residual says y − f, and nothing about an f of 1e-50; but the label depends on it."""
    ours, theirs = both(machine, NARROW, DIGITS, y, cv=FOLDS)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
def test_the_order_of_items_under_narrow_kernels(intercept):
    machine = KernelRidgeClassifier(Gaussian(), intercept=intercept)
    ours, theirs = both(machine, NARROW, DIGITS, ODD, cv=FOLDS, scoring="roc_auc")
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.slow
def test_one_digit_left_out():
    machine = KernelRidgeClassifier(Gaussian(2.0))
    found = leave_one_out(machine, DIGITS, WHICH)
    expected = cross_val_predict(machine, DIGITS, WHICH, cv=LeaveOneOut())
    np.testing.assert_array_equal(found.predictions, expected)
    assert found.account.counts["without a refit"] == len(DIGITS)


def test_nested_folds_of_narrow_kernels():
    grid = {"kernel__bandwidth": [1.0, 2.0], "penalty": [0.5, 1.0]}
    machine = KernelRidgeClassifier(Gaussian())
    found = nested_cv(machine, DIGITS, ODD, grid, FOLDS, FOLDS)
    theirs = model_selection.GridSearchCV(machine, grid, cv=FOLDS)
    expected = model_selection.cross_val_score(theirs, DIGITS, ODD, cv=FOLDS)
    np.testing.assert_array_equal(found.scores, expected)


# ---- what is scored ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (KernelRidgeClassifier(GAUSS), {"penalty": [0.1, 1.0]}),
        (KernelDiscriminant(GAUSS), {"penalty": [0.1, 1.0]}),
        (SVC(GAUSS), {"C": [0.1, 1.0]}),
    ],
)
@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_mean_absolute_error", "r2"])
def test_numeric_scores_of_classifiers_are_those_of_their_labels(machine, grid, scoring):
    y = np.array([-1, 5, 40])[THREE]
    ours, theirs = both(machine, grid, X, y, cv=3, scoring=scoring)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_each_machine_is_scored_by_its_own_score():
    pipeline = Pipeline([("scale", StandardScaler()), ("machine", KernelRidge(GAUSS))])
    grid = {"machine": [KernelRidge(GAUSS), KernelRidgeClassifier(GAUSS)]}
    ours, theirs = both(pipeline, grid, X, (Y > 0).astype(int), cv=3)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("limit", [3, 10])
@pytest.mark.filterwarnings("ignore::mercer.errors.ConvergenceWarning")
def test_solutions_that_stop_early_begin_where_the_machine_would(limit):
    ours, theirs = both(SVC(GAUSS, max_iter=limit), {"C": [0.1, 1.0, 10.0]}, X, THREE, cv=3)
    np.testing.assert_array_equal(ours, theirs)


# ---- pipelines --------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[1, 1.0], [1.0, 1]], ids=str)
def test_a_number_of_items_is_not_a_share(values):
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefgh"), 6)) for _ in range(60)]
    words = CountVectorizer(analyzer="char", ngram_range=(3, 3))
    pipeline = make_pipeline(words, KernelRidge(Linear()))
    grid = {"countvectorizer__max_df": values}
    ours, theirs = both(pipeline, grid, texts, np.arange(60.0) % 7, cv=3)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert ours[0] != ours[1]


class Shrinks(FunctionTransformer):
    """Makes of the items that it learns from something else than of others, as encoders do."""

    def fit_transform(self, A, y=None):
        return 0.5 * self.fit(A, y).transform(A)


def test_training_items_are_scored_as_new_ones_would_be():
    pipeline = make_pipeline(Shrinks(), KernelRidge(Gaussian(1.0)))
    grid = {"kernelridge__penalty": [0.1, 1.0]}
    agree(pipeline, grid, X, Y, return_train_score=True)


# ---- digits that a Gram matrix does not have --------------------------------------------------


def test_fewer_features_than_items_need_no_gram_matrix():
    """Beyond its condition limit a machine is fitted to the items, whose features have digits."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(70, 45))
    y = items[:, 0] * items[:, 1] + 0.1 * rng.normal(size=70)
    penalties = [1e-10, 1e-8, 1e-6]
    ours, theirs = both(KernelRidge(Linear()), {"penalty": penalties}, items, y, cv=5)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    exact = model_selection.GridSearchCV(
        Ridge(fit_intercept=False, solver="svd"), {"alpha": penalties}, cv=5
    ).fit(items, y)
    np.testing.assert_allclose(ours, exact.cv_results_["mean_test_score"], rtol=1e-9)


def test_a_penalty_that_is_next_to_nothing():
    rng = np.random.default_rng(0)
    items, y = rng.normal(size=(70, 5)), rng.normal(size=70)
    ours, theirs = both(KernelRidge(Polynomial(3, 1.0)), {"penalty": [1e-300]}, items, y, cv=5)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


# ---- forms of items ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["coo", "dia", "bsr", "csc"])
@pytest.mark.filterwarnings("ignore:the best penalty")
@pytest.mark.parametrize("scoring", [None, lambda machine, A, y: machine.score(A, y)])
def test_sparse_formats(form, scoring):
    from scipy import sparse

    items = sparse.coo_matrix(X).asformat(form)
    ours, theirs = both(KernelRidge(Linear()), {"penalty": [0.1, 1.0]}, items, Y, scoring=scoring)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    penalties = {"penalty": [1e-4, 1e4]}
    kinds = [nested_cv(KernelRidge(Linear()), A, Y, penalties, 3, 3).scores for A in (items, X)]
    np.testing.assert_allclose(*kinds, rtol=1e-9)


def test_a_step_that_needs_many_items_is_no_reason_to_miss_a_score():
    items = np.random.default_rng(0).normal(size=(120, 50))
    pipeline = make_pipeline(PCA(), KernelRidge(Gaussian(5.0)))
    agree(pipeline, {"pca__n_components": [45, 2]}, items, items[:, 0], cv=3)


def test_labels_are_names():
    agree(KernelRidgeClassifier(GAUSS), {"penalty": [0.1, 1.0]}, X, LABELS, scoring="f1_macro")
