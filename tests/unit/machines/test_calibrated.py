"""Calibrated machines: probabilities that agree with predict, and are worth something."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV as SklearnGridSearchCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer import (
    LPSVC,
    SVC,
    Calibrated,
    KernelDiscriminant,
    KernelRidge,
    KernelRidgeClassifier,
    Perceptron,
    PrototypeClassifier,
    Standardize,
)
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Categorical, Gaussian, Linear, Spectrum, from_function
from mercer.machines.calibrated import deal, fit_slope
from mercer.machines.calibration import fit_sigmoid
from mercer.selection import GridSearchCV

pytestmark = pytest.mark.filterwarnings("ignore::mercer.errors.ConvergenceWarning")

MACHINES = [
    KernelRidgeClassifier("gaussian", 0.1),
    PrototypeClassifier(),
    KernelDiscriminant(penalty=0.1),
    Perceptron("gaussian", averaged=True, max_epochs=20),
    LPSVC(Gaussian(1.0)),
    SVC(Gaussian(1.0)),
    SVC(Gaussian(1.0), multiclass="ovr"),
]


def clouds(n=120, classes=3, spread=0.9, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    angles = 2 * np.pi * y / classes
    return np.column_stack([np.cos(angles), np.sin(angles)]) + spread * rng.normal(size=(n, 2)), y


def everywhere(n=300):
    return 6 * np.random.default_rng(7).uniform(-1, 1, size=(n, 2))


def name(machine):
    return f"{type(machine).__name__} {getattr(machine, 'multiclass', '')}"


# ---- agreement ---------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("machine", MACHINES, ids=name)
def test_the_most_probable_class_is_the_one_that_the_machine_names(machine, classes):
    X, y = clouds(classes=classes)
    labels = np.array(["ant", "bee", "cat"])[y]
    found = Calibrated(machine).fit(X, labels)
    new = np.vstack([X, everywhere()])
    P = found.predict_proba(new)
    assert P.shape == (len(new), classes) and (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(found.classes_[P.argmax(axis=1)], found.predict(new))
    alone = clone(machine).fit(X, labels)
    np.testing.assert_array_equal(found.predict(new), alone.predict(new))
    np.testing.assert_array_equal(found.decision_function(new), alone.decision_function(new))


def test_where_a_sigmoid_is_off_center_the_machine_decides():
    X, y = clouds(200, 2, spread=1.5)
    y = np.where(np.arange(200) % 5, 0, y)  # 1 is rare
    found = Calibrated(PrototypeClassifier()).fit(X, y)
    crossing = -found.shift_ / found.slope_
    assert abs(crossing) > 1e-3
    new = everywhere(2000)
    scores = found.decision_function(new)
    between = (scores > min(0, crossing)) & (scores < max(0, crossing))
    assert between.any()
    np.testing.assert_allclose(found.predict_proba(new)[between], 0.5, atol=1e-9)


def test_logarithms_are_those_of_the_probabilities_and_finite():
    X, y = clouds()
    found = Calibrated(PrototypeClassifier()).fit(X, y)
    np.testing.assert_array_equal(found.predict_log_proba(X), np.log(found.predict_proba(X)))
    far = np.array([[1e6, 0.0], [-1e9, 3.0]])
    assert (found.predict_proba(far) == 0).any()
    assert np.isfinite(found.predict_log_proba(far)).all()


# ---- what is fitted ----------------------------------------------------------------------------


def test_two_classes_are_those_of_scikit_learn_on_the_same_folds():
    X, y = clouds(150, 2)
    machine = KernelRidgeClassifier(Gaussian(1.0), 0.1)
    found = Calibrated(machine, random_state=3).fit(X, y)
    dealt = deal(y, 5, 3)
    splits = [(np.flatnonzero(dealt != k), np.flatnonzero(dealt == k)) for k in range(5)]
    theirs = CalibratedClassifierCV(machine, method="sigmoid", ensemble=False, cv=splits).fit(X, y)
    new = everywhere()
    scores = found.decision_function(new)
    p = expit(found.slope_ * scores + found.shift_)
    np.testing.assert_allclose(p, theirs.predict_proba(new)[:, 1], atol=1e-5)


def test_probabilities_come_from_scores_of_items_that_were_held_out():
    X, y = clouds(90, 3)
    machine = PrototypeClassifier("gaussian")
    found = Calibrated(machine, folds=3, random_state=1).fit(X, y)
    dealt, scores = deal(y, 3, 1), np.empty((90, 3))
    for fold in range(3):
        some = clone(machine).fit(X[dealt != fold], y[dealt != fold])
        scores[dealt == fold] = some.decision_function(X[dealt == fold])
    assert found.slope_ == pytest.approx(fit_slope(scores, y, np.ones(90)), rel=1e-9)


def test_a_machine_that_learns_by_heart_is_not_believed():
    X, y = clouds(150, 3, spread=1.5)
    machine = KernelRidgeClassifier(Gaussian(0.05), 1e-6)
    P = Calibrated(machine).fit(X, y).predict_proba(X)
    assert P.argmax(axis=1).tolist() == y.tolist() and P.max(axis=1).mean() < 0.9


@pytest.mark.parametrize("classes", [3, 7])
def test_the_slope_has_the_largest_likelihood(classes):
    rng = np.random.default_rng(classes)
    codes = rng.integers(0, classes, 80)
    scores = 3.0 * rng.normal(size=(80, classes))
    scores[np.arange(80), codes] += 2.0
    w = rng.uniform(0.5, 2.0, 80)
    doubt = 1 / (w.sum() + 2)
    target = np.full((80, classes), doubt / (classes - 1))
    target[np.arange(80), codes] = 1 - doubt

    def loss(log_a):
        return -w @ (target * log_softmax(np.exp(log_a) * scores, axis=1)).sum(axis=1)

    best = minimize_scalar(loss, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10})
    assert fit_slope(scores, codes, w) == pytest.approx(np.exp(best.x), rel=1e-5)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_the_slope_does_not_mind_the_scale_of_scores(scale):
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(50, 4)), rng.integers(0, 4, 50)
    scores[np.arange(50), codes] += 1.0
    expected = fit_slope(scores, codes, np.ones(50))
    assert fit_slope(scale * scores, codes, np.ones(50)) * scale == pytest.approx(expected)


def test_scores_without_mistakes_have_a_finite_slope_and_bad_ones_a_small_one():
    codes = np.arange(60) % 3
    right = np.eye(3)[codes]
    a = fit_slope(right, codes, np.ones(60))
    sure = np.exp(a) / (np.exp(a) + 2)
    assert sure == pytest.approx(61 / 62, rel=1e-6)
    assert 0 < fit_slope(-right, codes, np.ones(60)) <= 1e-6
    assert np.isfinite(fit_slope(np.ones((60, 3)), codes, np.ones(60)))


# ---- quality -----------------------------------------------------------------------------------


def sigmoids(scores, codes, new):
    """The usual way: one sigmoid for each class against the rest, divided by their sum."""
    P = np.empty(new.shape)
    for k in range(new.shape[1]):
        A, B = fit_sigmoid(scores[:, k], codes == k, np.ones(len(codes)))
        P[:, k] = np.maximum(expit(-(A * new[:, k] + B)), 1e-7)
    return P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "machine", [KernelRidgeClassifier("gaussian", 0.1), PrototypeClassifier()], ids=name
)
def test_one_slope_is_better_than_a_sigmoid_for_each_class(machine, load):
    X, y = load(return_X_y=True)
    X = Standardize().fit_transform(X)
    losses = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))[:500]
        train, test = order[::2], order[1::2]
        found = Calibrated(machine, random_state=seed).fit(X[train], y[train])
        dealt = deal(y[train], 5, seed)
        scores = np.empty((len(train), len(found.classes_)))
        for fold in range(5):
            some = clone(machine).fit(X[train[dealt != fold]], y[train[dealt != fold]])
            scores[dealt == fold] = some.decision_function(X[train[dealt == fold]])
        usual = sigmoids(scores, y[train], found.decision_function(X[test]))
        mine = found.predict_proba(X[test])
        losses.append([log_loss(y[test], mine), log_loss(y[test], usual)])
    mine, usual = np.mean(losses, axis=0)
    assert mine < usual


def test_of_items_called_seventy_percent_about_seventy_percent_are():
    X, y = clouds(3000, 3, spread=1.2)
    found = Calibrated(KernelRidgeClassifier(Gaussian(1.5), 1.0)).fit(X[:600], y[:600])
    P = found.predict_proba(X[600:])
    right, sure = P.argmax(axis=1) == y[600:], P.max(axis=1)
    for low in (0.4, 0.6, 0.8):
        inside = (sure >= low) & (sure < low + 0.2)
        assert inside.sum() > 100
        assert abs(right[inside].mean() - sure[inside].mean()) < 0.1


# ---- folds -------------------------------------------------------------------------------------


def test_every_class_is_dealt_evenly_and_folds_are_of_one_size():
    codes = np.repeat([0, 1, 2, 3], [23, 11, 2, 4])
    dealt = deal(codes, 5, 0)
    assert np.ptp(np.bincount(dealt)) <= 1
    for code in range(4):
        assert np.ptp(np.bincount(dealt[codes == code], minlength=5)) <= 1


def test_something_of_each_class_is_always_left_to_learn_from():
    rng = np.random.default_rng(0)
    for folds in (2, 3, 10):
        codes = np.sort(np.append(rng.integers(0, 12, 40), np.arange(13)))
        weights = rng.integers(0, 2, len(codes)) * 1.0
        dealt = deal(codes, folds, 0, weights)
        assert (dealt[weights == 0] == -1).all()
        for fold in range(folds):
            for code in np.unique(codes[weights > 0]):
                assert weights[(codes == code) & (dealt != fold)].any()


@pytest.mark.parametrize("machine", MACHINES, ids=name)
def test_a_class_with_one_item_is_learned_from(machine):
    X, y = clouds(41, 2)
    y[40] = 2
    found = Calibrated(machine).fit(X, y)
    P = found.predict_proba(X)
    assert P.shape == (41, 3) and found.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(P.argmax(axis=1), found.predict(X))


@pytest.mark.parametrize("classes", [2, 4])
def test_where_nothing_can_be_held_out_odds_are_even(classes):
    X = 100.0 * np.eye(classes)
    found = Calibrated(PrototypeClassifier()).fit(X, np.arange(classes))
    P = found.predict_proba(X)
    np.testing.assert_allclose(P, 1 / classes, atol=1e-5)
    np.testing.assert_array_equal(P.argmax(axis=1), np.arange(classes))


def test_the_seed_decides_about_the_folds():
    X, y = clouds()
    one, two, other = (
        Calibrated(PrototypeClassifier(), random_state=seed).fit(X, y).predict_proba(X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.slow
def test_a_thousand_classes_are_no_trouble():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(1000), 2)
    X = (rng.normal(size=(1000, 8))[y] + 0.2 * rng.normal(size=(2000, 8))).round(3)
    found = Calibrated(PrototypeClassifier(), folds=2).fit(X, y)
    P = found.predict_proba(X)
    np.testing.assert_array_equal(P.argmax(axis=1), found.predict(X))
    assert log_loss(y, P, labels=found.classes_) < 0.5 * np.log(1000)


# ---- weights -----------------------------------------------------------------------------------


def test_items_of_weight_zero_do_not_count():
    X, y = clouds(120)
    w = (np.arange(120) % 4 < 2).astype(float)
    found = Calibrated(KernelRidgeClassifier(Gaussian(1.0)))
    P = found.fit(X, y, sample_weight=w).predict_proba(X)
    alone = found.fit(X[w > 0], y[w > 0]).predict_proba(X)
    np.testing.assert_allclose(P, alone, atol=1e-9)


def test_heavy_items_are_more_probable():
    X, y = clouds(200, 2, spread=2.0)
    found = Calibrated(PrototypeClassifier())
    plain = found.fit(X, y).predict_proba(X)[:, 1].mean()
    heavy = found.fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0)).predict_proba(X)[:, 1].mean()
    assert heavy > plain + 0.1


def test_a_machine_without_weights_says_so():
    X, y = clouds()
    with pytest.raises(ValidityError, match="Perceptron does not take sample_weight"):
        Calibrated(Perceptron()).fit(X, y, sample_weight=np.ones(120))


# ---- the scikit-learn contract -----------------------------------------------------------------

UNEQUAL = {
    f"check_sample_weight_equivalence_on_{kind}_data": "copies of an item fall into several folds"
    for kind in ("dense", "sparse")
}


def test_scikit_learns_checks_pass():
    check_estimator(Calibrated(MACHINES[0]), on_skip=None, expected_failed_checks=UNEQUAL)


def test_parameters_of_the_machine_are_searched():
    X, y = clouds(60)
    grid = {"machine__penalty": [0.01, 1.0], "machine__kernel": [Gaussian(0.5), Linear()]}
    folds = StratifiedKFold(3)
    found = [
        search(Calibrated(KernelRidgeClassifier()), grid, cv=folds, scoring="neg_log_loss").fit(
            X, y
        )
        for search in (GridSearchCV, SklearnGridSearchCV)
    ]
    scores = [search.cv_results_["mean_test_score"] for search in found]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)
    assert found[0].best_params_ == found[1].best_params_
    nested = Calibrated(KernelRidgeClassifier(Gaussian(1.0))).set_params(
        machine__kernel__bandwidth=3.0
    )
    assert nested.machine.kernel == Gaussian(3.0)


def test_what_the_machine_has_learned_is_found():
    X, y = clouds()
    found = Calibrated(MACHINES[0])
    for attribute in ("kernel_", "function_", "n_features_in_", "classes_", "machine_"):
        assert not hasattr(found, attribute)
    found.fit(X, y)
    assert found.kernel_ is found.machine_.kernel_ and found.function_ is found.machine_.function_
    assert found.n_features_in_ == 2 and not hasattr(found, "nothing_")
    assert not hasattr(found, "feature_names_in_")
    table = pd.DataFrame(X, columns=["a", "b"])
    assert found.fit(table, y).feature_names_in_.tolist() == ["a", "b"]
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict_proba(table), found.predict_proba(table))


def test_a_fit_that_fails_changes_nothing():
    X, y = clouds()
    found = Calibrated(MACHINES[1]).fit(X, y)
    before = found.predict_proba(X)
    with pytest.raises(DomainError, match="NaN"):
        found.fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(DomainError, match="only 1 class"):
        found.fit(X, np.zeros(len(X)))
    np.testing.assert_array_equal(found.predict_proba(X), before)
    assert found.machine is MACHINES[1] and not hasattr(found.machine, "classes_")


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """A classifier that says which class, and nothing about how sure it is."""

    def fit(self, X, y):
        return self


@pytest.mark.parametrize(
    ("machine", "folds", "message"),
    [
        (KernelRidge(), 5, "must be a classifier"),
        (KernelRidgeClassifier, 5, "must be a classifier"),
        ("SVC", 5, "must be a classifier"),
        (LabelsOnly(), 5, "must have scores"),
        (SVC(decision_function_shape="ovo"), 5, "scores of pairs"),
        (PrototypeClassifier(), 1, "folds must be"),
        (PrototypeClassifier(), 2.5, "folds must be"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(machine, folds, message):
    with pytest.raises(ValidityError, match=message):
        Calibrated(machine, folds=folds).fit(*clouds())


# ---- any things --------------------------------------------------------------------------------


def test_precomputed_similarities_sparse_rows_and_objects_are_calibrated_alike():
    X, y = clouds(60, 3)
    k = Gaussian(1.0)
    expected = Calibrated(KernelRidgeClassifier(k)).fit(X, y).predict_proba(X)
    given = Calibrated(KernelRidgeClassifier("precomputed")).fit(k(X), y).predict_proba(k(X))
    np.testing.assert_allclose(given, expected, atol=1e-9)
    for rows in (sparse.coo_array(X), sparse.csr_array(X), X.tolist(), pd.DataFrame(X)):
        found = Calibrated(KernelRidgeClassifier(k)).fit(rows, y).predict_proba(rows)
        np.testing.assert_allclose(found, expected, atol=1e-9)
    objects = Calibrated(KernelRidgeClassifier(from_function(k.pair))).fit(list(X), y)
    np.testing.assert_allclose(objects.predict_proba(list(X)), expected, atol=1e-9)


def test_machines_at_the_end_of_a_pipeline_and_of_others_are_calibrated():
    X, y = clouds(90, 3)
    for machine in (make_pipeline(Standardize(), SVC()), LogisticRegression()):
        P = Calibrated(machine).fit(X, y).predict_proba(X)
        assert log_loss(y, P) < 0.8 * np.log(3)


def test_a_calibrated_machine_is_explained_by_its_scores():
    words = ["abab", "baba", "abba", "caca", "acac", "cacc"] * 2
    y = ["b", "b", "b", "c", "c", "c"] * 2
    table = pd.DataFrame({"word": words, "size": np.arange(12.0), "kind": ["x", "y"] * 6})
    kernel = Spectrum(2).on("word") + 0.1 * Gaussian(1.0).on("size") + Categorical().on("kind")
    chain = make_pipeline(Standardize(), Calibrated(KernelRidgeClassifier(kernel, 0.1)))
    chain.fit(table, y)
    why = mercer.explain(chain, table[:3])
    np.testing.assert_allclose(why.scores, -chain.decision_function(table[:3]), atol=1e-9)
    bare = make_pipeline(Standardize(), KernelRidgeClassifier(kernel, 0.1)).fit(table, y)
    np.testing.assert_array_equal(why.scores, mercer.explain(bare, table[:3]).scores)


def test_of_many_items_a_sample_calibrates_and_all_are_learned_from():
    X, y = clouds(300)
    found = Calibrated(KernelRidgeClassifier(Gaussian(1.0)), 3, sample=60).fit(X, y)
    assert len(found.machine_.function_.points) == len(X)
    whole = Calibrated(KernelRidgeClassifier(Gaussian(1.0)), 3).fit(X, y)
    assert found.slope_ != whole.slope_ and found.slope_ == pytest.approx(whole.slope_, rel=0.8)
    same = Calibrated(KernelRidgeClassifier(Gaussian(1.0)), 3, sample=len(X)).fit(X, y)
    assert same.slope_ == whole.slope_


def test_a_rare_class_is_in_every_sample():
    X, y = clouds(300)
    labels = np.where(np.arange(len(y)) < 3, "rare", np.where(y == y[0], "a", "b"))
    found = Calibrated(KernelRidgeClassifier(Gaussian(1.0)), 3, sample=30).fit(X, labels)
    assert found.predict_proba(X).shape == (len(X), 3)


@pytest.mark.parametrize("sample", [1, 2.5, True])
def test_samples_are_whole_numbers(sample):
    X, y = clouds(30)
    with pytest.raises(ValidityError, match="sample must be a whole number from 2 on"):
        Calibrated(KernelRidgeClassifier(), sample=sample).fit(X, y)
