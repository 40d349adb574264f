"""Scores of items that a ridge classifier has not seen, held against fits of each fold."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import SVC, Calibrated, KernelRidgeClassifier
from mercer.kernels import Exponential, Gaussian, Linear
from mercer.machines.calibrated import deal
from mercer.machines.ridge_scores import MAX_INVERTED, bytes_of_inverse, held_out_scores

KERNEL = Gaussian(1.0) + Exponential(2.0, order=1)


def iris(classes):
    X, y = load_iris(return_X_y=True)
    return X[y < classes], y[y < classes]


def pairs(y, folds=5):
    dealt = deal(y, folds, 0)
    return [(np.flatnonzero(dealt != k), np.flatnonzero(dealt == k)) for k in range(folds)]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_machines_fitted_to_the_other_folds(classes, intercept, weighted):
    X, y = iris(classes)
    w = np.random.default_rng(0).random(len(y)) + 0.1 if weighted else None

    def fitted(rows):
        own = None if w is None else w[rows]
        return KernelRidgeClassifier(KERNEL, 0.1, intercept=intercept).fit(X[rows], y[rows], own)

    found = held_out_scores(fitted(np.arange(len(y))), X, y, w, pairs(y))
    slow = [fitted(rest).decision_function(X[test]) for rest, test in pairs(y)]
    expected = np.concatenate([one.reshape(len(one), -1) for one in slow])
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_probabilities_are_the_same_as_by_fits():
    X, y = iris(3)
    machine = KernelRidgeClassifier(KERNEL, 0.1)
    quick = Calibrated(machine).fit(X, y)
    slow = Calibrated(_Fitted(KERNEL, 0.1)).fit(X, y)
    np.testing.assert_allclose(quick.predict_proba(X), slow.predict_proba(X), atol=1e-9)
    some = (
        Calibrated(machine, sample=60).fit(X, y),
        Calibrated(_Fitted(KERNEL, 0.1), sample=60).fit(X, y),
    )
    assert some[0].slope_ == pytest.approx(some[1].slope_, rel=1e-9)


class _Fitted(KernelRidgeClassifier):
    """The same machine, of which nothing is known in closed form."""


def test_what_has_no_closed_form_is_left_to_fits():
    X, y = iris(2)
    splits = pairs(y)

    def scores(machine, splits=splits, w=None):
        return held_out_scores(machine.fit(X, y), X, y, w, splits)

    assert scores(KernelRidgeClassifier(KERNEL)) is not None
    assert scores(KernelRidgeClassifier("gaussian")) is None  # a median for each fold
    assert scores(KernelRidgeClassifier(Linear())) is None  # by features
    assert scores(KernelRidgeClassifier(KERNEL, class_weight="balanced")) is None
    assert scores(SVC(KERNEL)) is None
    past = [(np.arange(20), np.arange(20, 40)), (np.arange(40), np.arange(40, 60))]
    assert scores(KernelRidgeClassifier(KERNEL), past) is None
    w = np.ones(len(y))
    w[3] = 0.0
    assert scores(KernelRidgeClassifier(KERNEL), w=w) is None


def test_its_bytes_are_part_of_the_plan():
    machine = KernelRidgeClassifier(KERNEL)
    assert bytes_of_inverse(machine, MAX_INVERTED + 1) == bytes_of_inverse(SVC(), 10) == 0
    plan = Calibrated(machine).plan(np.random.default_rng(0).normal(size=(900, 3)))
    assert plan.bytes >= bytes_of_inverse(machine, 900)
