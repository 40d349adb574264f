"""Slopes of learners: held against differences, in every variant of the rules."""

import numpy as np
import pytest

from mercer.cognition import (
    ALCOVE,
    DIVA,
    SUSTAIN,
    ConfiguralCue,
    DeltaRule,
    Mackintosh,
    PearceHall,
    RescorlaWagner,
    shj,
)
from mercer.errors import SolveError, ValidityError

FOUR = {"sensitivity": 4.0, "choice": 2.0, "association_rate": 0.1, "attention_rate": 0.3}
MODELS = [
    ALCOVE(**FOUR),
    ALCOVE(**FOUR, teacher="strict", noise=0.3),
    ALCOVE(**FOUR, order=2, exponent=1),
    ALCOVE(**FOUR, order=2, exponent=2, attention_constraint="simplex"),
    ALCOVE(**FOUR, order=2, exponent=1, attention_rule="simple", attention_constraint="sum"),
    ALCOVE(**FOUR, response="background", noise=0.05, absent=0.0, attention_constraint="sum"),
    DeltaRule(0.1, 3.0),
    ConfiguralCue(0.03, 3.0),
    RescorlaWagner(0.2, 3.0, absent=0.6),
    Mackintosh(0.3, 0.2, 3.0, absent=0.6),
    PearceHall(0.3, 0.4, 3.0, absent=0.6),
    SUSTAIN(2.5, 1.5, 6.0, 0.15),
    SUSTAIN(2.5, 1.5, 6.0, 0.15, dimensions="continuous"),
    SUSTAIN(2.5, 1.5, 6.0, 0.15, ties="random", max_clusters=3),
]


def trials(seed=0, n=60, graded=False):
    rng = np.random.default_rng(seed)
    problem = shj("IV")
    X = problem.stimuli + (0.3 * rng.normal(size=(8, 3)) if graded else 0.0)
    order = rng.integers(0, 8, n)
    control = np.where(rng.random(n) < 0.1, 2, 0)
    control[n // 2] = 1
    return X[order], problem.categories[order], control


def up_to_a_jump(one, other):
    """Return the trials before another cluster wins, where clusters are equally active."""
    if not isinstance(one, SUSTAIN):
        return slice(None)
    apart = np.flatnonzero(one.winners_ != other.winners_)
    end = int(apart[0]) if len(apart) else None
    assert end is None or end >= 3
    return slice(end)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: repr(m)[:40])
@pytest.mark.parametrize("seed", [0, 1])
def test_slopes_are_those_of_differences(model, seed):
    graded = getattr(model, "dimensions", "") != "nominal" and not isinstance(model, ConfiguralCue)
    X, y, control = trials(seed, graded=graded)
    names = [one for one in model.sloped if one is not None and hasattr(model, one)]
    slopes = model.slopes(X, y, names, control=control)
    assert slopes.shape == (60, 2, len(names))
    np.testing.assert_allclose(slopes.sum(axis=1), 0, atol=1e-12)  # probabilities sum to one
    moved = 0
    for i, name in enumerate(names):
        here = getattr(model, name)
        places = [here + 1e-6, here - 1e-6] if here != 0 else [1e-7, 0.0]
        ends = [
            type(model)(**{**model.get_params(), name: value}).fit(X, y, control=control)
            for value in places
        ]
        numeric = (ends[0].trace_ - ends[1].trace_) / (places[0] - places[1])
        same = up_to_a_jump(*ends)
        np.testing.assert_allclose(slopes[same, :, i], numeric[same], rtol=2e-5, atol=1e-6)
        moved += np.abs(numeric).max() > 1e-3
    assert moved >= 2  # there is something to be told


def test_three_categories_and_none_of_the_parameters():
    X, y = np.eye(3)[[0, 1, 2, 0, 1, 2]], list("abcabc")
    model = ALCOVE(**FOUR)
    assert model.slopes(X, y, []).shape == (6, 3, 0)
    slopes = model.slopes(X, y, ["choice"])
    near = ALCOVE(**{**FOUR, "choice": 2.0 + 1e-6}).fit(X, y).trace_ - model.fit(X, y).trace_
    np.testing.assert_allclose(slopes[:, :, 0], near / 1e-6, atol=1e-5)


def test_what_has_no_slope_is_named():
    X, y = np.eye(2), ["a", "b"]
    with pytest.raises(ValidityError, match="ALCOVE has no slope for 'order'"):
        ALCOVE(**FOUR).slopes(X, y, ["order"])
    with pytest.raises(ValidityError, match="DIVA has no slope for 'rate': it has no slopes"):
        DIVA(0.5).slopes(X, y, ["rate"])
    with pytest.raises(ValidityError, match="did you mean 'choice'"):
        DeltaRule(0.1).slopes(X, y, ["choise"])
    with pytest.raises(SolveError, match="learning diverged at trial"):
        X, y = np.tile(1e150 * np.eye(2), (4, 1)), ["a", "b"] * 4
        DeltaRule(9.0, 1.0).slopes(X, y, ["rate"])
