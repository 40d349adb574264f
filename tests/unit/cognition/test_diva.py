"""DIVA redraws stimuli by its equations."""

import numpy as np
import pytest

from mercer.cognition import DIVA, shj
from mercer.errors import DomainError, ValidityError
from tests.oracles.learners import diva


@pytest.mark.parametrize(
    "parameters", [{}, {"focus": 2.0, "choice": 1.5, "error": "cross-entropy"}]
)
def test_learning_is_that_of_the_equations(parameters):
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 3)), rng.integers(2, size=30)
    first = DIVA(0.0, hidden=4, spread=1.0, **parameters).fit(X, y)
    model = DIVA(0.8, hidden=4, spread=1.0, **parameters).fit(X, y)
    trace = diva(
        X.tolist(), y, first.encoder_.tolist(), first.decoders_.tolist(), 0.8, **parameters
    )
    np.testing.assert_allclose(model.trace_, trace, rtol=1e-6)
    assert np.ptp(first.encoder_) <= 2.0 and np.ptp(model.trace_[:, 0]) > 0.1


def test_simulated_subjects_and_predictions_are_those_of_one_that_learns():
    design = shj("IV", blocks=3)
    model, orders = DIVA(1.5, spread=1.0), design.orders(4, seed=0)
    errors = model.errors(design, orders)
    assert np.ptp(errors[:, 0]) > 0  # first weights differ
    order = np.concatenate([np.arange(8), orders[0][8:]])  # so that fit numbers stimuli alike
    X, y = design.stimuli[order], design.categories[order]
    model.fit(X, y)
    right = np.searchsorted(model.classes_, y)
    alone = 1 - model.trace_[np.arange(len(order)), right]
    np.testing.assert_allclose(alone, model.errors(design, order[None])[0], atol=1e-12)
    control = np.repeat([0, 2], [40, 8])
    tail = model.fit(X, y, control=control).trace_[40:]
    np.testing.assert_allclose(model.predict_proba(X[40:]), tail, rtol=1e-12)


def test_the_order_of_difficulty_is_that_of_the_paper():
    """Kurtz (2007): type II is easier than IV, and VI hardest, without any attention."""
    model = DIVA(1.5, hidden=3, spread=1.0)
    I, II, III, IV, V, VI = (model.simulate(shj(k), 400).mean() for k in range(1, 7))
    assert I < min(II, III, IV, V) and max(II, III, IV, V) < VI and II < IV < VI


@pytest.mark.parametrize(
    ("model", "X", "kind", "error"),
    [
        (DIVA(0.1), [[0.0], [2.0]], DomainError, r"stimulus 1 is 2\.0; DIVA redraws"),
        (DIVA(0.1, error="crossentropy"), [[0.0], [1.0]], ValidityError, "mean 'cross-entropy'"),
        (DIVA(0.1, hidden=0), [[0.0], [1.0]], ValidityError, "hidden"),
        (DIVA(0.1, spread=0.0), [[0.0], [1.0]], ValidityError, "would stay equal"),
    ],
)
def test_what_makes_no_sense_is_refused(model, X, kind, error):
    with pytest.raises(kind, match=error):
        model.fit(X, ["a", "b"])
