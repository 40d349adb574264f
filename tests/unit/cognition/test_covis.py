"""COVIS: both systems and their competition, by the equations."""

import numpy as np
import pytest

from mercer.cognition import COVIS, information_integration, shj
from mercer.errors import DomainError, ValidityError
from tests.oracles.learners import covis

BUSY = {"noise": 0.05, "rule_noise": 0.1, "trust": 0.6, "trust_down": 0.1, "ampa": 0.0005,
        "nmda": 0.05, "curiosity": 2.0, "sharpness": 1.5}  # fmt: skip


@pytest.mark.parametrize("parameters", [{}, BUSY])
@pytest.mark.parametrize("seed", [0, 3])
def test_learning_is_that_of_the_equations(parameters, seed):
    design = shj("III", blocks=6)
    # In this order stimuli are numbered as in the design.
    order = np.concatenate([np.arange(8), design.trials(np.random.default_rng(seed))])
    model = COVIS(**parameters, random_state=seed)
    model.fit(design.stimuli[order], design.categories[order])
    codes = (design.categories == "B").astype(int)
    answers, spoke, salience, w, trust = covis(
        design.stimuli.tolist(), codes.tolist(), order.tolist(), model._signs.tolist(),
        model.get_params(), seed,
    )  # fmt: skip
    assert model.trace_.argmax(axis=1).tolist() == answers
    assert model.spoke_.tolist() == spoke
    np.testing.assert_allclose(model.salience_, salience, rtol=1e-12)
    np.testing.assert_allclose(model.weights_, w, rtol=1e-10)
    assert model.trust_ == pytest.approx(trust)
    errors = model.errors(design, order[None])[0]
    np.testing.assert_array_equal(errors, np.array(answers) != codes[order])


def test_each_system_is_good_at_its_own_problem():
    """Rules suit one dimension, habits suit both together (Ashby et al., 1998)."""

    def error(system, kind):
        design = information_integration(kind, size=20, distance=4.0, spread=0.6, seed=1)
        low, high = design.stimuli.min(), design.stimuli.max()
        scaled = type(design)((design.stimuli - low) / (high - low), design.categories,
                              schedule=((1,),) * 12)  # fmt: skip
        middle = float((0 - low) / (high - low))
        model = COVIS(criterion=middle, system=system, width=0.02)
        return model.simulate(scaled, 40)[-3:].mean()

    assert error("explicit", "rule") < error("explicit", "integration") - 0.03
    assert error("procedural", "integration") < 0.5
    assert error("procedural", "integration") < error("explicit", "integration")


def test_a_rule_on_one_dimension_is_found():
    model = COVIS(system="explicit")
    assert model.simulate(shj("I"), 60)[-4:].mean() < 0.1
    assert model.simulate(shj("VI"), 60)[-4:].mean() > 0.4


def test_trust_goes_to_the_system_that_is_right():
    design = shj("I")
    order = design.trials(np.random.default_rng(0))
    easy = COVIS().fit(design.stimuli[order], design.categories[order])
    hard = COVIS().fit(design.stimuli[order], shj("VI").categories[order])
    assert easy.trust_ > 0.9 > 0.5 > hard.trust_
    assert easy.spoke_.mean() > hard.spoke_.mean()


@pytest.mark.parametrize(
    ("model", "y", "kind", "error"),
    [
        (COVIS(), ["a", "b", "c"], DomainError, "two answers, found 3 categories"),
        (COVIS(trust=1.5), ["a", "b", "a"], ValidityError, r"from 0 to 1, found 1\.5"),
        (COVIS(width=0.0), ["a", "b", "a"], ValidityError, "width"),
        (COVIS(system="verbal"), ["a", "b", "a"], ValidityError, "system cannot be 'verbal'"),
    ],
)
def test_what_makes_no_sense_is_refused(model, y, kind, error):
    with pytest.raises(kind, match=error):
        model.fit([[0.0], [0.5], [1.0]], y)
