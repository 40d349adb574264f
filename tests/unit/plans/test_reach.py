"""How far an inverse reaches: the arithmetic of the plan, and the steps that are really taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.kernels import Gaussian
from mercer.plans.heldout import MANY, plan_held_out
from mercer.plans.reach import Reach, steps_between
from mercer.solvers.heldout import held_out
from mercer.solvers.influence import Inverse
from mercer.solvers.nearby import Fold, Pole

levels = st.lists(st.floats(-4, 4), min_size=1, max_size=8, unique=True).map(
    lambda powers: 10.0 ** np.sort(powers)
)
worths = st.floats(0.5, 200.0)


@given(levels, st.floats(0.0, 10.0))
def test_steps_grow_with_the_distance(penalties, smallest):
    steps = steps_between(penalties[:1], penalties, smallest)
    assert steps[0] == 0 and (np.diff(steps) >= 0).all()
    back = [steps_between(np.array([p]), penalties[:1], smallest)[0] for p in penalties]
    np.testing.assert_allclose(back, steps, rtol=1e-9)
    nearer = steps_between(penalties[:1], penalties, smallest + 1.0)
    assert (nearer <= steps + 1e-9).all()  # what is small beside the spectrum is near


@given(levels, worths, st.floats(0.0, 20.0), st.floats(0.0, 1.0))
def test_the_best_pole_saves_most(penalties, worth, before, smallest):
    reach = Reach(worth, before)
    saved = []
    for place in range(len(penalties)):
        others = np.sort(steps_between(penalties[place : place + 1], penalties, smallest))[1:]
        brute = [(j + 1) * worth - before - step for j, step in enumerate(others)]
        saved.append(max([0.0, *brute]))
        trip = reach.around(place, penalties, smallest)
        assert place not in trip.others and (not trip.others) == (saved[-1] == 0)
        if trip.others:
            there = steps_between(penalties[place : place + 1], penalties[trip.others], smallest)
            assert trip.steps == pytest.approx(there.max())
            assert trip.steps < trip.longest <= 1.5 * trip.steps + 10
            gain = len(trip.others) * worth - before - trip.steps
            assert gain == pytest.approx(saved[-1], abs=1e-9)
    best = reach.best(penalties, smallest)
    if best is None:
        assert max(saved) == 0
    else:
        assert saved[best] == pytest.approx(max(saved))
    assert 1 <= reach.inverses(penalties, smallest) <= len(penalties) + 1e-9


@pytest.mark.parametrize("penalty", [0.02, 0.05, 0.3, 1.0])
def test_predicted_steps_are_those_that_are_taken(penalty):
    """A smooth kernel has eigenvalues near zero, so that the bound is attained."""
    rng = np.random.default_rng(0)
    n, here = 300, 0.1
    system = Inverse(Gaussian(0.5)(rng.normal(size=(n, 2))), rng.normal(size=(n, 1)))
    influence = system.at(here)
    (held,) = held_out(influence, [slice(0, 60)])
    masks = np.repeat([[0.0, 1.0]], [60, n - 60], axis=1)
    pole = Pole(system, influence, here, [[Fold(slice(0, 60), held, 0)]], masks, [0])
    trip = Reach(1e3, 0.0).around(0, np.array([here, penalty]), pole.smallest_eigenvalue())
    assert len(pole.solve(np.array([penalty]), trip.longest).solved) == 1
    assert len(pole.solve(np.array([penalty]), int(0.6 * trip.steps)).solved) == 0


def folds(penalties, columns=10):
    return plan_held_out(1000, [100] * 10, penalties, columns=columns)


def test_penalties_that_are_near_cost_less():
    near, far = np.logspace(-1, 0, 10).tolist(), np.logspace(-12, 12, 10).tolist()
    assert folds(near).costs["inverse"] < 0.4 * folds(10).costs["inverse"]
    assert folds(near).route == "inverse" and folds(10).route == "spectrum"
    assert folds(far).costs["inverse"] <= folds(10).costs["inverse"]
    assert folds(near).costs["inverse"] < folds(far).costs["inverse"]


def test_when_there_is_nothing_to_reach():
    assert folds([1.0]).costs["inverse"] == folds(1).costs["inverse"]
    assert folds([0.0, 1.0, np.inf]).costs["inverse"] == folds(3).costs["inverse"]
    many = np.logspace(-1, 0, 2 * MANY).tolist()
    assert folds(many).costs["inverse"] == folds(len(many)).costs["inverse"]
    assert folds([0.5, 1.0], columns=0).reach is None
    assert plan_held_out(1000, [1] * 1000, [0.5, 1.0], columns=1000).reach is None
