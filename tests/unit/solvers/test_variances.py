"""Variances between bounds, which hold after every number of steps."""

import numpy as np
import pytest

from mercer.errors import SolveError
from mercer.gram import Blocked
from mercer.kernels import Gaussian
from mercer.solvers.iterative import Iterative
from mercer.solvers.ridge.solver import Problem
from mercer.solvers.ridge.variances import bound_variances

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(250, 2)), rng.normal(size=(30, 2)) * 1.5
K = Gaussian(0.4)
POINTS = K.admit(X)
PRIOR = np.ones(30)


def exact(penalty, weights=None):
    noise = np.eye(250) if weights is None else np.diag(1 / weights)
    C = K(X, NEW)
    return PRIOR - np.sum(C * np.linalg.solve(K(X) + penalty * noise, C), axis=0)


def bounds(penalty, weights=None, rank=20, gram=None, **how):
    solver = Iterative(rank=rank)
    state = solver.prepare(Problem(gram or Blocked(K, POINTS), weights))
    return bound_variances(solver, state, K(X, NEW), PRIOR, penalty, **how)


@pytest.mark.parametrize("steps", [0, 1, 3, 10])
@pytest.mark.parametrize("weights", [None, rng.uniform(0.5, 2.0, 250)], ids=["plain", "weighted"])
def test_the_truth_lies_between(steps, weights):
    found = bounds(0.01, weights, tol=1e-12, steps=steps)
    truth = exact(0.01, weights)
    assert found.steps <= steps
    assert (found.lower <= truth + 1e-10).all() and (truth <= found.upper + 1e-10).all()


def test_they_meet():
    found = bounds(0.01, tol=1e-6, steps=500)
    assert (found.error <= 5.1e-7).all()
    np.testing.assert_allclose(found.middle, exact(0.01), atol=1e-6)
    # A better preconditioner needs fewer steps.
    assert bounds(0.01, rank=150, tol=1e-6, steps=500).steps < found.steps


def test_on_a_device():
    pytest.importorskip("torch")
    from mercer.gram.device import OnDevice

    found = bounds(0.01, gram=OnDevice(K, POINTS, "cpu", "double"), tol=1e-6, steps=500)
    np.testing.assert_allclose(found.middle, exact(0.01), atol=1e-6)


def test_without_noise_there_are_none():
    with pytest.raises(SolveError, match="positive penalty"):
        bounds(0.0)
