"""Scores of fitted machines, computed here, are those of scikit-learn's scorers."""

import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.selection.scoring import scoring_of

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(60, 3)), RNG.random(60)
WORDS = np.where(X[:, 0] > 0, "a", "b")
LABELS = {"text": WORDS, "object": WORDS.astype(object), "number": (X[:, 0] > 0).astype(int)}


def both(machine, y, name, weighted):
    machine.fit(X[:30], y[:30])
    scoring = scoring_of(name, [machine], {"sample_weight": W} if weighted else {})
    given = {"sample_weight": W[30:]} if weighted else {}
    quick = scoring.of_machine(machine, X[30:], y[30:], W[30:] if weighted else None)
    return quick, scoring.scorer(machine, X[30:], y[30:], **given)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", LABELS)
def test_accuracy_is_the_same_to_the_last_bit(kind, weighted):
    quick, slow = both(KernelRidgeClassifier("gaussian"), LABELS[kind], "accuracy", weighted)
    assert quick == slow and 0.5 < quick <= 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "name",
    ["r2", "neg_mean_squared_error", "neg_mean_absolute_error", "neg_root_mean_squared_error"],
)
def test_scores_of_numbers_are_the_same_to_the_last_bit(name, weighted):
    quick, slow = both(KernelRidge("gaussian"), 2 * X[:, 0], name, weighted)
    assert quick == slow and type(quick) is float


class Silent(KernelRidge):
    """A machine that never says a number."""

    def predict(self, X):
        return np.full(len(X), np.nan)


def test_predictions_that_are_no_numbers_are_still_refused():
    machine = Silent("gaussian").fit(X[:30], X[:30, 0])
    scoring = scoring_of("r2", [machine], {})
    with pytest.raises(ValueError, match="NaN"):
        scoring.of_machine(machine, X[30:], X[30:, 0])
