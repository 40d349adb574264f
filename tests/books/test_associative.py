"""Associative learners: the simulations that made them, with the numbers that follow from them.

The papers print curves and orders, and few parameters. Where every parameter that matters is in
the equations, the value at the end is exact: what remains of A and B after overexpectation is half
of λ whatever the rates are. Others are orders, and are held as such.
"""

import numpy as np
import pytest

from mercer.cognition import Mackintosh, PearceHall, RescorlaWagner

FOOD, NOTHING = "food", "nothing"


def strength(model, *phases, cues=3):
    """Return the strengths for food after phases of (cues, outcome, trials)."""
    X = [cue for cue, _, trials in phases for _ in range(trials)]
    y = [outcome for _, outcome, trials in phases for _ in range(trials)]
    model.fit([*X, [0] * cues], [*y, NOTHING])
    return model.strengths_[:, list(model.classes_).index(FOOD)]


A, B, AB, ABC, AC = [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]


def test_acquisition_and_extinction_are_exponential():
    """Rescorla & Wagner (1972): V after n trials is λ(1 − (1 − αβ)ⁿ), and falls likewise."""
    model = RescorlaWagner(0.2)
    assert strength(model, (A, FOOD, 7))[0] == pytest.approx(1 - 0.8**7, rel=1e-12)
    left = strength(model, (A, FOOD, 7), (A, NOTHING, 4))[0]
    assert left == pytest.approx((1 - 0.8**7) * 0.8**4, rel=1e-12)


def test_blocking_is_complete_after_long_training():
    """Kamin (1969): what comes with a cue that predicts everything learns nothing."""
    V = strength(RescorlaWagner(0.3), (A, FOOD, 100), (AB, FOOD, 100))
    np.testing.assert_allclose(V[:2], [1, 0], atol=1e-12)
    alone = strength(RescorlaWagner(0.3), (AB, FOOD, 100))
    np.testing.assert_allclose(alone[:2], [0.5, 0.5], atol=1e-12)


@pytest.mark.parametrize("salience", [(0.1, 0.4, 0.4), (0.3, 0.6, 0.2)])
def test_overshadowing_shares_by_salience(salience):
    V = strength(RescorlaWagner(0.5, salience=salience), (AB, FOOD, 400))
    np.testing.assert_allclose(V[:2], np.array(salience[:2]) / sum(salience[:2]), atol=1e-9)


def test_overexpectation_takes_half_of_each():
    """Two cues, each trained to λ, predict 2λ together, and lose λ between them."""
    trained = [(A, FOOD, 200), (B, FOOD, 200)]
    V = strength(RescorlaWagner(0.2), *trained, (AB, FOOD, 200))
    np.testing.assert_allclose(V[:2], [0.5, 0.5], atol=1e-12)
    superseded = strength(RescorlaWagner(0.2), *trained, (ABC, FOOD, 400))
    np.testing.assert_allclose(superseded, [2 / 3, 2 / 3, -1 / 3], atol=1e-12)


def test_an_inhibitor_is_as_negative_as_the_other_cue_is_positive():
    """Conditioned inhibition: A+ and AB− end at V_A = λ, V_B = −λ."""
    mixed = [phase for _ in range(400) for phase in ((A, FOOD, 1), (AB, NOTHING, 1))]
    V = strength(RescorlaWagner(0.2), *mixed)
    np.testing.assert_allclose(V[:2], [1, -1], atol=1e-6)
    # Superconditioning: with an inhibitor a new cue has to make up for it.
    more = strength(RescorlaWagner(0.2), *mixed, ([0, 1, 1], FOOD, 400))
    assert more[2] == pytest.approx(1.0, abs=1e-6)


def test_contingency_is_the_strength_beside_the_context():
    """The cue ends at ΔP where the context is a cue that is always there."""
    with_cue, without = [1, 1, 0], [0, 1, 0]
    rng = np.random.default_rng(0)
    values = []
    for p, q in ((0.8, 0.2), (0.6, 0.6), (0.2, 0.8)):
        trials = [
            (cue, FOOD if rng.random() < chance else NOTHING, 1)
            for _ in range(15_000)
            for cue, chance in ((with_cue, p), (without, q))
        ]
        values.append(strength(RescorlaWagner(0.004), *trials)[0])
    np.testing.assert_allclose(values, [0.6, 0.0, -0.6], atol=0.06)


def test_mackintosh_one_trial_of_a_compound_is_enough_to_attend_to_the_better_cue():
    """Mackintosh (1975): α grows where |λ − Vᵢ| is the smaller error, and falls where not."""
    model = Mackintosh(0.3, 0.2, start=0.5)
    strength(model, (A, FOOD, 20), (AB, FOOD, 1))
    assert model.associability_[0] > 0.5 > model.associability_[1]
    # |λ − V_A| − |λ − V_B|, with V before the trial: A has learned for 20 trials, B not at all.
    change = model.associability_[1] - 0.5
    V = strength(Mackintosh(0.3, 0.2, start=0.5), (A, FOOD, 20))[0]
    assert change == pytest.approx(0.2 * ((1 - V) - 1) / 2 + 0.2 * (abs(0 - 0) - 0) / 2, rel=1e-9)


def test_intradimensional_shifts_are_easier_for_mackintosh_only():
    """New cues of a dimension that mattered before are learned faster (Mackintosh, 1965)."""

    def learned(model):
        rng = np.random.default_rng(0)
        first = rng.integers(0, 2, 160)
        noise = rng.integers(0, 2, 160)
        X = np.column_stack([first, 1 - first, noise, 1 - noise])
        model.fit(X, np.where(first == 1, FOOD, NOTHING))
        return model.associability_

    relevant = learned(Mackintosh(0.2, 0.1))
    assert relevant[:2].min() > relevant[2:].max()
    watched = learned(PearceHall(0.2, 0.3))
    assert watched[:2].max() < 0.2  # what is understood is no longer watched


def test_latent_inhibition_and_its_loss_are_those_of_pearce_and_hall():
    """Hall & Pearce (1979): training with a weak shock retards training with a strong one."""
    novel = strength(PearceHall(0.1, 1.0), (A, FOOD, 3))[0]
    exposed = strength(PearceHall(0.1, 1.0), (A, NOTHING, 20), (A, FOOD, 3))[0]
    assert exposed < novel
    surprised = strength(
        PearceHall(0.1, 1.0), (A, NOTHING, 20), (A, FOOD, 1), (A, NOTHING, 1), (A, FOOD, 3)
    )[0]
    assert surprised > exposed
    for other in (RescorlaWagner(0.1),):
        same = strength(other, (A, NOTHING, 20), (A, FOOD, 3))[0]
        assert same == pytest.approx(strength(other, (A, FOOD, 3))[0], rel=1e-12)


def test_one_trial_of_blocking_divides_the_models():
    """Pearce & Hall (1980): the added cue learns in its first trial, as its α is still whole."""
    phases = (A, FOOD, 200), (AB, FOOD, 1)
    assert strength(RescorlaWagner(0.3), *phases)[1] == pytest.approx(0, abs=1e-12)
    assert strength(PearceHall(0.3, 1.0), *phases)[1] == pytest.approx(0.3, rel=1e-9)
    assert strength(Mackintosh(0.3, 0.2, start=0.5), *phases)[1] == pytest.approx(0.15, rel=1e-9)
