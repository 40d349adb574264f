"""A sketch on a device is the sketch on the CPU."""

import numpy as np
import pytest

from mercer.domains import VECTORS, InMemory
from mercer.errors import PlanWarning, SolveError
from mercer.gram.device import DeviceSketch, DeviceWhitening
from mercer.gram.sketch import CenterSketch
from mercer.kernels import Gaussian, Laplacian, Linear, Sigmoid

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
X, Z = rng.normal(size=(90, 3)), rng.normal(size=(8, 3))
w = rng.random(90)


class Pieces:
    """Rows that come in pieces."""

    count = 90

    def __init__(self):
        self.passes = 0

    def pieces(self):
        self.passes += 1
        for start in range(0, 90, 40):
            place = slice(start, min(start + 40, 90))
            yield place, VECTORS.admit(X[place])


def sketches(k):
    yield DeviceSketch(k, X, Z, "cpu")
    yield DeviceSketch(k, VECTORS.admit(X), VECTORS.admit(Z), "cpu", "double", stay=False)
    yield DeviceSketch(k, Pieces(), Z, "cpu", stay=False)
    yield DeviceSketch(k, Pieces(), Z, "cpu", stay=True)
    yield DeviceSketch(k, InMemory(VECTORS.admit(X), 7), Z, "cpu")


@pytest.mark.parametrize("k", [Gaussian(1.5), Laplacian(2.0) + Linear().on(1)], ids=str)
def test_sketch(k, monkeypatch):
    monkeypatch.setattr("mercer.gram.device.streaming.CHUNK_BYTES", 0)
    monkeypatch.setattr("mercer.gram.device.streaming.MIN_CHUNK_ROWS", 25)
    truth = CenterSketch(k, InMemory(k.admit(X), 50), k.admit(Z))
    A, V = rng.normal(size=(8, 2)), rng.normal(size=(90, 2))
    for sketch in sketches(k):
        assert (sketch.order, sketch.count) == (90, 8)
        assert np.allclose(sketch.core(), truth.core())
        assert np.allclose(sketch.product(A), truth.product(A))
        assert np.allclose(sketch.adjoint(V), truth.adjoint(V))
        for weights in (None, w, np.column_stack([w, 1 - w])):
            assert np.allclose(sketch.normal(A, weights), truth.normal(A, weights))
        assert np.allclose(sketch.moments(w), truth.moments(w))
        H, sums = sketch.moments_and_adjoint(V)
        assert np.allclose(H, truth.moments()) and np.allclose(sums, truth.adjoint(V))
        places = np.array([0, 39, 41, 89])
        assert np.allclose(sketch.sampled(places), truth.sampled(places))


def test_rows_that_stay_are_read_once():
    rows = Pieces()
    sketch = DeviceSketch(Gaussian(1.0), rows, Z, "cpu", stay=True)
    before = rows.passes
    for _ in range(3):
        sketch.product(np.ones((8, 1)))
    assert rows.passes == before + 1


def test_a_memmap(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X.astype(np.float32))
    rows = np.load(path, mmap_mode="r")
    for stay in (True, False):
        found = DeviceSketch(Gaussian(1.0), rows, Z, "cpu", stay=stay).product(np.ones((8, 1)))
        assert np.allclose(found[:, 0], Gaussian(1.0)(X, Z).sum(axis=1), atol=1e-5)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_whitening(precision):
    k = Gaussian(1.0)
    sketch = DeviceSketch(k, X, Z, "cpu", precision)
    white = sketch.whitening()
    T = white.into(np.eye(8))
    assert np.allclose(T.T @ sketch.core() @ T, np.eye(white.rank), atol=1e-4)
    assert np.allclose(white.back(T), T.T @ T)
    H = sketch.moments()
    assert np.allclose(white.around(H), T.T @ H @ T)


@pytest.mark.parametrize("most", [0, 6000], ids=["centers", "sample"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_preconditioner_is_exact_if_the_centers_are_the_items(precision, most, monkeypatch):
    monkeypatch.setattr("mercer.gram.device.sketch.SAMPLED_UP_TO", most)
    # With C = B the system is TᵀB²T + λI, and n/M = 1.
    sketch = DeviceSketch(Gaussian(0.5), Z, Z, "cpu", precision)
    white = sketch.whitening()
    T, penalty = white.into(np.eye(8)), 0.3
    system = T.T @ sketch.moments() @ T + penalty * np.eye(white.rank)
    found = sketch.preconditioner(white, penalty)(system)
    assert np.allclose(found, np.eye(white.rank), atol=1e-5)
    twice = sketch.preconditioner(white, penalty, total=16.0)(
        2 * system - penalty * np.eye(white.rank)
    )
    assert np.allclose(twice, np.eye(white.rank), atol=1e-5)


def test_a_core_without_a_factor():
    k = Sigmoid(1.0, -1.0)
    with pytest.raises(SolveError, match="could not be factored"):
        DeviceSketch(k, X, Z, "cpu").whitening()
    with pytest.raises(SolveError, match="not finite"):
        DeviceWhitening(torch.full((2, 2), torch.nan, dtype=torch.float64))
    white = DeviceWhitening(torch.eye(2, dtype=torch.float64))
    with pytest.raises(SolveError, match="preconditioner"):
        white.squared(-1e9, 1.0)


def test_equal_centers_are_no_obstacle():
    same = np.repeat(Z[:2], 4, axis=0)
    for precision in ("single", "double"):
        white = DeviceSketch(Gaussian(1.0), X, same, "cpu", precision).whitening()
        assert np.isfinite(white.into(np.ones((white.rank, 1)))).all()


def test_full_memory(monkeypatch):
    def evaluate(kernel, A, B=None):
        raise torch.OutOfMemoryError("CUDA out of memory")

    k, A = Gaussian(1.0), rng.normal(size=(8, 1))
    sketch = DeviceSketch(k, X, Z, "cpu")
    for name in ("mercer.gram.device.blocks.evaluate", "mercer.gram.device.sketch.evaluate"):
        monkeypatch.setattr(name, evaluate)
    C = k(X, Z)
    with pytest.warns(PlanWarning, match="a pass over the items does not fit"):
        assert np.allclose(sketch.product(A), C @ A)
    with pytest.warns(PlanWarning):
        assert np.allclose(sketch.normal(A, w), C.T @ (w[:, None] * (C @ A)))
    with pytest.warns(PlanWarning):
        assert np.allclose(sketch.moments(), C.T @ C)
