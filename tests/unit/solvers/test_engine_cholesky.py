"""Cholesky where an engine stores the matrix: the CPU's answer, with the same certificate."""

import warnings

import numpy as np
import pytest

from mercer.errors import PlanWarning, SolveError
from mercer.gram import Blocked, Dense
from mercer.gram.device import OnDevice
from mercer.gram.device.matrix import DeviceMatrix
from mercer.gram.engines import NumPyEngine, Storing, TorchEngine
from mercer.kernels import Gaussian, Linear
from mercer.solvers import Cholesky
from mercer.solvers.device_cholesky import DeviceCholesky
from mercer.solvers.ridge.engine_cholesky import EngineCholesky
from mercer.solvers.ridge.solver import Problem

torch = pytest.importorskip("torch")
TORCH = TorchEngine("cpu")
rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))
y = np.column_stack([np.sin(X[:, 0]), X[:, 1]])
k = Gaussian(1.5)
POINTS = k.admit(X)
WEIGHTS = rng.integers(0, 3, 50).astype(float)


def both(weights=None, intercept=False, penalty=0.1, gram=None):
    gram = gram or OnDevice(k, POINTS, "cpu", "double")
    ours, theirs = EngineCholesky(TORCH), Cholesky()
    one = ours.solve(ours.prepare(Problem(gram, weights, intercept)), y, penalty)
    true = Problem(Blocked(k, POINTS), weights, intercept)
    return one, theirs.solve(theirs.prepare(true), y, penalty)


@pytest.mark.parametrize("room", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_same_answer(weights, intercept, room, monkeypatch):
    monkeypatch.setattr(DeviceMatrix, "room_for_two", room)
    one, two = both(weights, intercept)
    assert one.status == "solved" and one.certificate < 1e-12
    assert np.allclose(one.coefficients, two.coefficients, atol=1e-10)
    assert np.allclose(one.intercept, two.intercept)


def test_any_operator_will_do():
    one, two = both(gram=Dense(k(X)))
    assert np.allclose(one.coefficients, two.coefficients, atol=1e-10)


def test_several_penalties_share_the_matrix():
    solver = EngineCholesky(TORCH)
    state = solver.prepare(Problem(OnDevice(k, POINTS, "cpu", "double")))
    for penalty in (1.0, 0.01, 1.0):
        found = solver.solve(state, y, penalty).coefficients
        assert np.allclose((k(X) + penalty * np.eye(50)) @ found, y)


@pytest.mark.parametrize("room", [True, False])
def test_singular(room, monkeypatch):
    monkeypatch.setattr(DeviceMatrix, "room_for_two", room)
    gram = OnDevice(Linear(), Linear().admit(X), "cpu", "double")
    solver = EngineCholesky(TORCH)
    solution = solver.solve(solver.prepare(Problem(gram)), y, 0.0)
    assert solution.status == "singular"
    with pytest.raises(SolveError, match="singular"):
        solution.require_solved()


def full(*arguments):
    raise torch.OutOfMemoryError("CUDA out of memory")


@pytest.mark.parametrize("place", ["on_device.allocate", "on_device.evaluate"])
def test_full_memory(place, monkeypatch):
    monkeypatch.setattr(f"mercer.gram.device.{place}", full)
    with pytest.warns(PlanWarning, match="factored on the CPU instead"):
        one, two = both(WEIGHTS, True)
    assert one.status == "solved" and one.certificate < 1e-12
    assert np.allclose(one.coefficients, two.coefficients, atol=1e-10)


def test_room_is_a_quiet_matter():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both()


def test_an_engine_declares_that_it_stores():
    assert isinstance(TORCH, Storing) and not isinstance(NumPyEngine(), Storing)


def test_the_former_name_warns():
    with pytest.warns(DeprecationWarning, match="EngineCholesky"):
        assert isinstance(DeviceCholesky("cpu"), EngineCholesky)
