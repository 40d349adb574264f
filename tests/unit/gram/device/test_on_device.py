"""A Gram matrix on a device gives the same numbers as one on the CPU."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mercer.gram.device.blocks as blocks
from mercer.domains import VECTORS, Vectors
from mercer.errors import PlanError, PlanWarning, ValidityError
from mercer.gram import Blocked
from mercer.gram.device import OnDevice, device_choice, product
from mercer.gram.operator import product as product_on_cpu
from mercer.kernels import (
    Categorical,
    Chi2,
    Exponential,
    Gaussian,
    Linear,
    Polynomial,
    from_function,
)
from mercer.solvers import Iterative
from mercer.solvers.quadratic import Quadratic, SMOOptions
from mercer.solvers.ridge.solver import Problem
from mercer.solvers.working_set import maximize

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
KERNELS = [Gaussian(1.5), Exponential(1.0) + Linear(), Chi2(2.0), Gaussian(1.0).on(0) * Linear()]


@pytest.fixture(params=[True, False], ids=["stays", "streamed"])
def stay(request, monkeypatch):
    monkeypatch.setattr("mercer.gram.device.streaming.CHUNK_BYTES", 0)
    monkeypatch.setattr("mercer.gram.device.streaming.MIN_CHUNK_ROWS", 25)
    return request.param


@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_operator(k, stay):
    points = k.admit(np.abs(X))
    ours, theirs = OnDevice(k, points, "cpu", stay=stay), Blocked(k, points)
    assert ours.order == theirs.order
    for shape in ((60,), (60, 1), (60, 3)):
        v = rng.normal(size=shape)
        assert (ours @ v).shape == shape
        assert np.allclose(ours @ v, theirs @ v, rtol=1e-10, atol=1e-10)
    assert np.allclose(ours.diagonal(), theirs.diagonal())
    assert np.allclose(ours.matrix(), theirs.matrix(), atol=1e-12)
    assert np.array_equal(ours.matrix(), ours.matrix().T)


@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_pieces(k, stay):
    points, items = k.admit(np.abs(X)), np.array([5, 2, 40, 59])
    ours, theirs = OnDevice(k, points, "cpu", stay=stay), Blocked(k, points)
    one, two = np.empty((4, 4), np.float32), np.empty((4, 4), np.float32)
    assert np.allclose(ours.block(items, one), theirs.block(items, two), atol=1e-6)
    c = rng.normal(size=4)
    assert np.allclose(ours.combine(items, c), theirs.combine(items, c))
    one, two = np.zeros((6, 60)), np.zeros((6, 60))
    places = np.array([1, 0, 5, 3])
    ours.fill_rows(items, one, places)
    theirs.fill_rows(items, two, places)
    assert np.allclose(one, two, atol=1e-12)
    assert np.allclose(ours.part(items) @ c, theirs.part(items) @ c)


def test_rows_of_all_kinds():
    k = Gaussian(1.0)
    expected, v = k(X), rng.normal(size=60)
    for rows in (
        X,
        X.astype(np.float32),
        sparse.csr_array(X),
        torch.tensor(X),
        np.asfortranarray(X),
    ):
        for precision in ("single", "double"):
            found = OnDevice(k, k.admit(rows), "cpu", precision) @ v
            assert found.dtype == np.float64
            assert np.allclose(found, expected @ v, atol=1e-5)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    k = Gaussian(1.0).on("c", "a")
    assert np.allclose(OnDevice(k, k.admit(frame), "cpu") @ v, k(frame) @ v)


def test_read_only_rows():
    rows = X.copy()
    rows.setflags(write=False)
    assert np.allclose(OnDevice(Linear(), Vectors(rows), "cpu") @ np.ones(60), (X @ X.T).sum(1))


@pytest.mark.parametrize("precision", ["single", "double"])
def test_predictions(precision):
    k, c = Gaussian(1.0), rng.normal(size=(60, 2))
    A, B = k.admit(rng.normal(size=(7, 3))), k.admit(X)
    found = product(k, A, B, c, "cpu", precision)
    assert np.allclose(found, product_on_cpu(k, A, B, c))
    assert product(k, A, B, c[:, 0], "cpu").shape == (7,)


def test_what_is_not_rows_of_numbers_is_refused():
    k = from_function(lambda a, b: 1.0)
    with pytest.raises(PlanError, match='device="cpu"'):
        OnDevice(k, k.admit(["a", "b"]), "cpu")
    k = Gaussian(1.0).on("a") * Categorical().on("b")
    with pytest.raises(PlanError, match="'b'"):
        OnDevice(k, k.admit(pd.DataFrame({"a": [1.0], "b": ["x"]})), "cpu")


def test_infinite_similarities_are_refused():
    k = Polynomial(300, 1.0)
    with pytest.raises(ValidityError, match="not a finite number"):
        OnDevice(k, k.admit(100 * X), "cpu") @ np.ones(60)


def test_solvers_run_on_it():
    k, y = Gaussian(1.5), np.sin(X[:, 0])
    points, solver = k.admit(X), Iterative()
    one, two = (
        solver.solve(solver.prepare(Problem(gram)), y, 0.1)
        for gram in (OnDevice(k, points, "cpu"), Blocked(k, points))
    )
    assert one.status == "solved" and np.allclose(one.coefficients, two.coefficients, atol=1e-6)


def test_support_vectors_have_the_same_certificate():
    k, z = Gaussian(1.5), np.where(X[:, 0] > X[:, 1] ** 2 - 0.5, 1.0, -1.0)
    problem = Quadratic(z, np.minimum(5 * z, 0.0), np.maximum(5 * z, 0.0), np.zeros(60))
    points, options = k.admit(X), SMOOptions(tol=1e-6, working=16, kept=8)
    one, two = (
        maximize(gram, problem, options)
        for gram in (OnDevice(k, points, "cpu"), Blocked(k, points))
    )
    assert one.status == two.status == "solved"
    assert np.isclose(one.objective, two.objective, rtol=1e-9)
    assert one.violation <= 1e-6 and one.gap <= 1e-4


# ---- when the memory is full ------------------------------------------------------------------


def full(limit):
    """Return an `evaluate` for blocks of at most so many entries."""
    true = blocks.evaluate

    def evaluate(kernel, A, B=None):
        if len(A) * len(A if B is None else B) > limit:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return true(kernel, A, B)

    return evaluate


def test_smaller_blocks_are_tried(monkeypatch):
    k, v = Gaussian(1.0), rng.normal(size=60)
    monkeypatch.setattr(blocks, "evaluate", full(60 * 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(OnDevice(k, k.admit(X), "cpu") @ v, k(X) @ v)


def test_then_chunks_then_the_cpu(monkeypatch):
    k, v = Gaussian(1.0), rng.normal(size=60)
    for name in ("mercer.gram.device.blocks.evaluate", "mercer.gram.device.on_device.evaluate"):
        monkeypatch.setattr(name, full(0))
    gram = OnDevice(k, k.admit(X), "cpu")
    with pytest.warns(PlanWarning, match="computed on the CPU instead"):
        assert np.allclose(gram @ v, k(X) @ v)
    with pytest.warns(PlanWarning, match="part of a Gram matrix does not fit"):
        assert np.allclose(gram.block(np.arange(3), np.empty((3, 3))), k(X[:3]))
    with pytest.warns(PlanWarning):
        assert np.allclose(gram.combine(np.arange(60), v), k(X) @ v)
    with pytest.warns(PlanWarning):
        assert np.allclose(gram.matrix(), k(X))
    out = np.empty((2, 60))
    with pytest.warns(PlanWarning):
        gram.fill_rows(np.arange(2), out, np.arange(2))
    assert np.allclose(out, k(X)[:2])


def test_other_errors_are_not_hidden(monkeypatch):
    def broken(*arguments):
        raise RuntimeError("something else")

    monkeypatch.setattr(blocks, "evaluate", broken)
    with pytest.raises(RuntimeError, match="something else"):
        OnDevice(Linear(), VECTORS.admit(X), "cpu") @ np.ones(60)


# ---- which device -----------------------------------------------------------------------------


def test_device_choice(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("mercer.gram.device.devices._driver", lambda: True)
    assert device_choice("auto") == device_choice("cuda") == "cuda"
    assert device_choice("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_choice("auto") == "cpu"
    with pytest.raises(PlanError, match=r"CUDA|nvidia-smi"):
        device_choice("cuda")
    with pytest.raises(PlanError, match='"auto", "cpu" or "cuda"'):
        device_choice("tpu")


def test_without_torch(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert device_choice() == "cpu"
    with pytest.raises(PlanError, match=r"pip install 'mercer\[gpu\]'"):
        device_choice("cuda")
    with pytest.raises(PlanError, match=r"pip install 'mercer\[gpu\]'"):
        OnDevice(Linear(), VECTORS.admit(X), "cpu")
