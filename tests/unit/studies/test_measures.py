"""Measures beyond the error, for classes of which one may be rare."""

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    log_loss,
    roc_auc_score,
)

from mercer.studies.measures import measures_of

CLASSES = np.array(["no", "yes"])


def rare(count=1500, strength=1.0, seed=0):
    """Return targets of a rare class, and probabilities that know something of it."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=count)
    p = 1 / (1 + np.exp(4.0 - strength * z))
    y = np.where(rng.random(count) < p, "yes", "no")
    return y, np.column_stack([1 - p, p])


def test_they_are_those_of_scikit_learn():
    y, P = rare(strength=2.0)
    said = CLASSES[(P[:, 1] > 0.3).astype(int)]
    found = measures_of(y, said, P, CLASSES).as_dict()
    assert found["balanced error"]["value"] == pytest.approx(1 - balanced_accuracy_score(y, said))
    assert found["log loss"]["value"] == pytest.approx(log_loss(y, P))
    assert found["area under ROC"]["value"] == pytest.approx(roc_auc_score(y, P[:, 1]))
    own = average_precision_score(y == CLASSES[1], P[:, 1])  # of the rarer class
    assert found["area under precision-recall"]["value"] == pytest.approx(own)
    shares = np.mean(y == "yes")
    entropy = -shares * np.log(shares) - (1 - shares) * np.log(1 - shares)
    assert found["log loss"]["baseline"] == pytest.approx(entropy)


def test_many_classes_are_each_against_the_others():
    rng = np.random.default_rng(1)
    classes = np.array(["a", "b", "c"])
    codes = rng.integers(0, 3, 300)
    P = rng.dirichlet(np.ones(3), 300) + 0.8 * np.eye(3)[codes]
    P /= P.sum(axis=1, keepdims=True)
    y = classes[codes]
    found = measures_of(y, classes[P.argmax(axis=1)], P, classes).as_dict()
    area = np.mean([roc_auc_score(codes == k, P[:, k]) for k in range(3)])
    assert found["area under ROC"]["value"] == pytest.approx(area)


def test_a_rare_class_is_seen_where_the_error_sees_nothing():
    y, P = rare(strength=1.5)
    always = np.full(len(y), "no")
    assert measures_of(y, always, P, CLASSES).informative


def test_chance_is_not_informative():
    false_alarms = 0
    for seed in range(40):
        y, _ = rare(seed=seed)
        _, P = rare(seed=seed + 1000)
        false_alarms += measures_of(y, np.full(len(y), "no"), P, CLASSES).informative
    assert false_alarms <= 1


def test_ties_are_half_an_area():
    y = np.array(["no", "yes", "no", "yes"])
    P = np.full((4, 2), 0.5)
    found = measures_of(y, np.full(4, "no"), P, CLASSES).as_dict()
    assert found["area under ROC"]["value"] == 0.5


def test_labels_that_no_probability_is_for_are_left_out_of_the_areas():
    y = np.array(["no", "yes", "odd", "no", "yes"])
    P = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.8, 0.2], [0.4, 0.6]])
    found = measures_of(y, CLASSES[P.argmax(axis=1)], P, CLASSES).as_dict()
    assert found["area under ROC"]["value"] == 1.0


def test_without_probabilities_there_is_the_balanced_error():
    y = np.array(["no", "no", "no", "yes"])
    found = measures_of(y, np.full(4, "no"), None, CLASSES)
    assert found.as_dict() == {"balanced error": {"value": 0.5, "baseline": 0.5}}
    assert measures_of(y[:3], y[:3], None, CLASSES).names == ()
