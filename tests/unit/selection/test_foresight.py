"""Foresight: how many inverses a grid takes, and scores that are the same on every way."""

from unittest.mock import patch

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.kernels import Gaussian
from mercer.machines.discriminant import KernelDiscriminant
from mercer.machines.ridge import Regression
from mercer.selection import GridSearchCV, foresight, nested_cv
from mercer.selection.foresight import Job, foretell
from mercer.selection.splits import Split
from mercer.solvers import krylov, nearby
from mercer.solvers.influence import Inverse
from tests.oracles.refits import forced

N = 800  # so many that the plan sees a gain


@pytest.fixture
def inverses(monkeypatch):
    """Count the inverses that are computed; leave no penalty to steps alone."""
    found, at = [], Inverse.at

    def counted(self, penalty):
        found.append(penalty)
        return at(self, penalty)

    monkeypatch.setattr(Inverse, "at", counted)
    monkeypatch.setattr(krylov, "ACCEPTED", 0.0)
    monkeypatch.setattr(foresight, "ALONE", 0)
    return found


def jobs(levels, bandwidths=(0.5, 1.0), weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=N)
    parts = np.array_split(rng.permutation(N), 5)
    splits = [Split(np.setdiff1d(np.arange(N), part), np.sort(part)) for part in parts]
    task = Regression(y, weights)
    return [Job(KernelRidge(), task, Gaussian(b)(X), splits, levels) for b in bandwidths]


def scores(found):
    assert all(one is not None for each in found for row in each.scores for one in row)
    return np.array([[np.concatenate(row) for row in each.scores] for each in found])


def one_by_one(some):
    with patch.object(foresight, "affordable", lambda size: False):
        return scores(foretell(some))


@pytest.mark.parametrize("bandwidths", [(1.0,), (0.5, 1.0)], ids=["one kernel", "two kernels"])
def test_neighbors_share_an_inverse(inverses, bandwidths):
    some = jobs(np.logspace(-2, 0, 12).tolist(), bandwidths)
    expected = one_by_one(some)
    assert len(inverses) == 12 * len(bandwidths)
    inverses.clear()
    found = scores(foretell(some))
    assert len(bandwidths) <= len(inverses) <= 6 * len(bandwidths)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_penalties_far_apart_share_none(inverses):
    levels = [1e-4, 1e4, 1e-1, 1e8]
    some = jobs(levels)
    np.testing.assert_allclose(scores(foretell(some)), one_by_one(some), rtol=0, atol=1e-9)
    assert sorted(inverses) == sorted(4 * levels)  # for two kernels, and each time


def test_what_is_not_reached_is_computed_by_itself(inverses, monkeypatch):
    some = jobs(np.logspace(-2, 0, 6).tolist())
    expected = one_by_one(some)
    inverses.clear()
    monkeypatch.setattr(nearby, "ACCEPTED", 0.0)
    np.testing.assert_array_equal(scores(foretell(some)), expected)
    assert sorted(set(inverses)) == sorted(some[0].penalties) and len(inverses) == 12


def test_equal_penalties(inverses):
    some = jobs([0.1, 0.1, 0.2, 0.1])
    found = scores(foretell(some))
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found, one_by_one(some), rtol=0, atol=1e-9)


def test_ill_conditioned_penalties_are_not_reached_from_others(inverses):
    """Below the limit each has its own inverse, or none that can be trusted."""
    some = jobs([1e-6, 2e-6, 4e-6], (5.0,), np.random.default_rng(1).uniform(0.1, 2.0, N))
    foretell(some)
    assert sorted(inverses) == some[0].penalties


@pytest.mark.filterwarnings("ignore:the best:mercer.errors.SelectionWarning")
def test_grids_and_nested_folds_say_what_they_said(inverses):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=150)
    grid = {"kernel__bandwidth": [0.5, 1.0], "penalty": np.logspace(-2, 0, 8).tolist()}
    machine = KernelRidge(Gaussian(), intercept=True)
    labels = np.where(y > 0, "above", "below")

    def all_of_it():
        search = GridSearchCV(machine, grid, cv=5).fit(X, y)
        classes = GridSearchCV(KernelDiscriminant(Gaussian()), grid, cv=4).fit(X, labels)
        within = nested_cv(machine, X, y, grid, 3, 4)
        means = [one.cv_results_["mean_test_score"] for one in (search, classes)]
        return np.concatenate([*means, within.scores])

    with forced("nearby"):
        found, few = all_of_it(), len(inverses)
    inverses.clear()
    with forced("inverse"):
        expected = all_of_it()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert few < 0.7 * len(inverses)
