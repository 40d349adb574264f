"""Learning curves."""

import numpy as np
import pytest

from mercer.studies.contest import Procedure, contest
from mercer.studies.families import families
from mercer.studies.folds import splits
from mercer.studies.learning import _verdict, learning_curve


def arenas(count, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    y = np.sin(2 * X[:, 0]) + noise * rng.normal(size=count)
    procedure = Procedure((), True, None, 3, 1000, seed)
    found = [procedure.arena(X, y, *split) for split in splits(y, 5, rng)]
    ridge, _ = families("regress", "ridge", 0)
    contest(found, ridge, 1e9, lambda *_: None)
    return found


def test_errors_fall_with_more_rows_down_to_those_of_the_folds():
    some = arenas(240)
    curve = learning_curve(some, 0)
    assert curve.sizes.tolist() == [24, 48, 96, 192]
    assert curve.errors[0] > curve.errors[-1]
    residuals = np.concatenate([arena.truth - arena.predictions["ridge"] for arena in some])
    assert curve.errors[-1] == pytest.approx(np.sqrt(np.mean(residuals**2)), rel=1e-9)


def test_the_same_seed_gives_the_same_curve():
    some = arenas(80)
    one, other, third = (learning_curve(some, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.errors, other.errors)
    assert not np.array_equal(one.errors, third.errors)


def test_too_few_rows_have_no_curve():
    assert learning_curve(arenas(12), 0) is None


def test_every_step_is_counted():
    counted = []
    learning_curve(arenas(30), 0, lambda n=1, _="": counted.append(n))
    assert sum(counted) == 4 * 5


@pytest.mark.parametrize(
    ("errors", "spreads", "words"),
    [
        ([0.4, 0.2], [0.01, 0.01], "would probably help: twice as many lowered the error by 50%"),
        ([0.4, 0.3], [0.1, 0.1], "might help"),
        ([0.4, 0.4], [0.01, 0.01], "hardly help"),
        ([0.4, 0.5], [0.01, 0.01], "hardly help"),
        ([0.1, 0.0], [0.01, 0.0], "No error is left"),
    ],
)
def test_what_the_last_doubling_says(errors, spreads, words):
    assert words in _verdict(np.array([50, 100]), np.array(errors), np.array(spreads))


def test_all_rows_are_not_learned_from_again():
    some = arenas(120)
    name = some[0].winner.family.name
    for arena in some:
        arena.predictions[name] = arena.truth
    curve = learning_curve(some, 0)
    assert curve.errors[-1] == 0.0 and curve.errors[0] > 0.0
