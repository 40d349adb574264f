"""EXIT learns as its equations say."""

import numpy as np
import pytest

from mercer.cognition import EXIT, RescorlaWagner, inverse_base_rate
from mercer.errors import DomainError, ValidityError
from tests.oracles.learners import exit_model

PARAMETERS = [(2.87, 2.48, 4.42, 4.42, 0.222, 1.13), (0.3, 1.0, 2.0, 0.5, 0.1, 0.5)]


def trials(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.integers(2, size=(n, 4)).astype(float)
    X[3] = 0.0  # nothing is there
    return X, rng.integers(3, size=n)


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("context", [0.0, 0.4])
def test_learning_is_that_of_the_equations(parameters, context):
    X, y = trials()
    model = EXIT(*parameters, context=context).fit(X, y)
    cues = np.hstack([X, np.ones((len(X), 1))]) if context else X
    sigma = [1.0] * 4 + [context] * bool(context)
    trace, w = exit_model(cues.tolist(), y, 3, model.nodes_.tolist(), sigma, *parameters)
    np.testing.assert_allclose(model.trace_, trace, rtol=1e-9)
    np.testing.assert_allclose(model.association_, w, atol=1e-10)


def test_simulated_subjects_and_predictions_are_those_of_one_that_learns():
    design = inverse_base_rate(blocks=4)
    model = EXIT(*PARAMETERS[0], context=0.4)
    orders, nodes = design.orders(3, seed=0), np.unique(design.stimuli, axis=0)
    errors = model.errors(design, orders)
    for order, row in zip(orders, errors, strict=True):
        X, y = design.stimuli[order], design.categories[order]
        model.fit(X, y, nodes)
        right = np.searchsorted(model.classes_, y)
        np.testing.assert_allclose(1 - model.trace_[np.arange(len(order)), right], row, atol=1e-12)
        control = np.repeat([0, 2], [24, 8])
        P = EXIT(*PARAMETERS[0], context=0.4).fit(X[:24], y[:24], nodes)
        tail = model.fit(X, y, nodes, control=control).trace_[24:]
        np.testing.assert_allclose(P.predict_proba(X[24:]), tail, rtol=1e-10)


def test_without_shifts_single_cues_learn_by_rescorla_and_wagner():
    X, y = np.eye(3)[[0, 1, 2, 0, 1, 1, 2]], list("abbabab")
    model = EXIT(1.0, 2.0, 3.0, 0.0, 0.2, 1.0).fit(X, y)
    np.testing.assert_allclose(model.trace_, RescorlaWagner(0.2, 3.0).fit(X, y).trace_)


def test_attention_has_the_norm_of_its_capacity():
    X, y = trials()
    model = EXIT(*PARAMETERS[0], context=0.4).fit(X, y)
    alpha = model.attention(X[:3])
    np.testing.assert_allclose((alpha**2.48).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("model", "X", "kind", "error"),
    [
        (EXIT(1, 1, 1, 1, 0.1, 1), [[0.5], [1]], DomainError, r"cue 0 of stimulus 0 is 0\.5"),
        (EXIT(1, 0, 1, 1, 0.1, 1), [[0], [1]], ValidityError, "capacity"),
        (EXIT(1, 1, 1, 1, 0.1, 1, iterations=1.5), [[0], [1]], ValidityError, "iterations"),
    ],
)
def test_what_makes_no_sense_is_refused(model, X, kind, error):
    with pytest.raises(kind, match=error):
        model.fit(X, ["a", "b"])
