"""The associative learners follow their equations, and show what they were invented for."""

import numpy as np
import pytest

from mercer.cognition import Design, Mackintosh, PearceHall, RescorlaWagner
from mercer.errors import SolveError, ValidityError
from tests.oracles.learners import associative

MODELS = {
    "rescorla-wagner": (RescorlaWagner(0.3, 2.0), {}),
    "mackintosh": (Mackintosh(0.3, 0.03, 2.0, start=0.5), {"rho": 0.03, "start": 0.5}),
    "pearce-hall": (PearceHall(0.3, 0.6, 2.0, start=0.8), {"rho": 0.6, "start": 0.8}),
}
FOOD, NOTHING = "food", "nothing"


def trials(seed=0, n=50):
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, 1.0, 0.5], size=(n, 4))
    return X, rng.integers(3, size=n)


@pytest.mark.parametrize("kind", MODELS)
def test_learning_is_that_of_the_equations(kind):
    model, more = MODELS[kind]
    X, y = trials()
    model.fit(X, y)
    trace, V, alpha = associative(kind, X.tolist(), y, 3, 0.3, theta=2.0, **more)
    np.testing.assert_allclose(model.trace_, trace, rtol=1e-12)
    np.testing.assert_allclose(model.strengths_, V, atol=1e-13)
    if kind != "rescorla-wagner":
        np.testing.assert_allclose(model.associability_, alpha, rtol=1e-12)
        assert np.ptp(model.associability_) > 0.01


@pytest.mark.parametrize("kind", MODELS)
def test_simulated_subjects_are_those_that_learn_alone(kind):
    model, _ = MODELS[kind]
    design = Design(np.eye(3), ["a", "b", "a"], schedule=((4,), (4,)))
    orders = design.orders(4, seed=0)
    errors = model.errors(design, orders)
    for order, row in zip(orders, errors, strict=True):
        model.fit(design.stimuli[order], design.categories[order])
        right = np.searchsorted(model.classes_, design.categories[order])
        np.testing.assert_allclose(1 - model.trace_[np.arange(len(order)), right], row, atol=1e-14)


def strength(model, *phases):
    """Return the strength of each cue for food, after phases of (cues, outcome, how often)."""
    X = [cues for cues, _, times in phases for _ in range(times)]
    y = [outcome for _, outcome, times in phases for _ in range(times)]
    X, y = [*X, [0] * len(X[0])], [*y, NOTHING]  # nothing is learned of no cue
    return model.fit(X, y).strengths_[:, model.classes_.tolist().index(FOOD)]


def test_acquisition_is_exponential():
    for n in (1, 3, 10):
        V = strength(RescorlaWagner(0.2), ([1], FOOD, n))
        assert V[0] == pytest.approx(1 - 0.8**n, rel=1e-12)


def test_blocking_and_overshadowing_need_the_common_error():
    A, AB = [1, 0], [1, 1]
    # A new cue surprises by itself, so that Pearce & Hall's learns in the first trial.
    for model, left in ((RescorlaWagner(0.3), 0.01), (PearceHall(0.3, 1.0), 0.5)):
        blocked = strength(model, (A, FOOD, 50), (AB, FOOD, 10))[1]
        control = strength(model, ([0, 0], NOTHING, 50), (AB, FOOD, 10))[1]
        assert blocked < left * control
    assert strength(RescorlaWagner(0.3), (AB, FOOD, 100)) == pytest.approx([0.5, 0.5])


def test_a_cue_that_announces_that_nothing_comes_gets_negative():
    for model in (RescorlaWagner(0.2), PearceHall(0.2, 0.5)):
        V = strength(model, *[([1, 0], FOOD, 1), ([1, 1], NOTHING, 1)] * 60)
        assert V[0] > 0.5 and V[1] < -0.3


def test_a_cue_that_was_shown_alone_learns_more_slowly_only_for_pearce_and_hall():
    def slowed(model):
        shown = strength(model, ([1], NOTHING, 30), ([1], FOOD, 2))[0]
        return shown / strength(model, ([1], FOOD, 2))[0]

    assert slowed(PearceHall(0.1, 0.3)) < 0.8
    assert slowed(RescorlaWagner(0.1)) == pytest.approx(1.0)


def test_attention_goes_to_the_predictive_cue_only_for_mackintosh():
    phases = [([1, 0, 1, 0], FOOD, 1), ([1, 0, 0, 1], FOOD, 1),
              ([0, 1, 1, 0], NOTHING, 1), ([0, 1, 0, 1], NOTHING, 1)] * 15  # fmt: skip
    model = Mackintosh(0.2, 0.2)
    strength(model, *phases)
    alpha = model.associability_
    assert alpha[:2].min() > alpha[2:].max() + 0.2
    opposite = PearceHall(0.2, 0.3)
    strength(opposite, *phases)
    assert opposite.associability_[:2].min() < 0.5


def test_salience_is_of_all_cues_or_of_each():
    V = strength(RescorlaWagner(0.2, salience=[1.0, 0.25]), ([1, 1], FOOD, 100))
    assert V == pytest.approx([0.8, 0.2])
    with pytest.raises(ValidityError, match="one for each of 2 cues"):
        strength(RescorlaWagner(0.2, salience=[1.0, 0.25, 1.0]), ([1, 1], FOOD, 1))


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (RescorlaWagner(-0.1), "rate"),
        (Mackintosh(0.1, 0.1, start=0.05), r"from least to 1, found 0\.05"),
        (PearceHall(0.1, 1.5), r"from 0 to 1, found 1\.5"),
        (PearceHall(0.1, salience=-1.0), "salience"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(model, error):
    with pytest.raises(ValidityError, match=error):
        model.fit([[1.0], [0.0]], ["a", "b"])


def test_divergence_is_an_error_that_names_the_trial():
    with pytest.raises(SolveError, match="diverged at trial"):
        RescorlaWagner(50.0).fit([[1.0], [1.0]] * 200, ["a", "b"] * 200)
