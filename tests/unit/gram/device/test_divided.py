"""Several devices: here two of Torch on the CPU, of which each computes a share of the rows."""

import numpy as np
import pytest

from mercer import SVC, KernelRidge, Plan
from mercer.gram import engines
from mercer.gram.device import OnDevice, divided
from mercer.gram.device.divided import Divided
from mercer.kernels import Gaussian

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
X = rng.normal(size=(201, 3))
K = Gaussian(1.5)
POINTS = K.admit(X)
V = rng.normal(size=(201, 2))


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("count", [2, 3])
def test_products(count, precision):
    gram = Divided(K, POINTS, ["cpu"] * count, precision)
    for V_ in (V, V[:, 0]):
        np.testing.assert_allclose(gram @ V_, K(X) @ V_, atol=1e-11)
    np.testing.assert_allclose(gram.in_double() @ V, K(X) @ V, atol=1e-11)
    some = np.arange(0, 201, 3)
    np.testing.assert_allclose(gram.part(some) @ V[some], K(X[some]) @ V[some], atol=1e-11)
    assert f"rows divided among {count} devices" in gram.way


def test_each_device_has_its_share(monkeypatch):
    seen = []

    def counted(gram, rows, *rest):
        seen.append((rows.start, rows.stop))
        return whole(gram, rows, *rest)

    whole = divided.rows_times
    monkeypatch.setattr(divided, "rows_times", counted)
    Divided(K, POINTS, ["cpu", "cpu"], "double") @ V
    assert sorted(seen) == [(0, 101), (101, 201)]


def test_a_full_device_leaves_the_product_to_the_cpu(monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    gram = Divided(K, POINTS, ["cpu", "cpu"], "double")
    monkeypatch.setattr(divided, "rows_times", full)
    np.testing.assert_allclose(gram @ V, K(X) @ V, atol=1e-11)  # rows come from the host then


def test_machines_and_plans(monkeypatch):
    monkeypatch.setattr("mercer.gram.device.device_choice", lambda device: "cuda")
    monkeypatch.setitem(engines._engines, "cuda", engines.TorchEngine("cpu", ("cpu", "cpu")))
    y, labels = np.sin(X[:, 0]), X[:, 0] * X[:, 1] > 0
    follow = Plan(device="cuda", solver="iterative")
    machine = KernelRidge(K, 0.1, follow=follow).fit(X, y)
    assert "on 2 GPUs" in machine.plan_.explain()
    np.testing.assert_allclose(machine.predict(X), KernelRidge(K, 0.1).fit(X, y).predict(X))
    there = SVC(K, follow=Plan(device="cuda")).fit(X, labels)
    assert np.array_equal(there.predict(X), SVC(K).fit(X, labels).predict(X))
    assert isinstance(engines.engine_named("cuda").gram(K, POINTS, "double"), Divided)
    assert type(engines.TorchEngine("cpu").gram(K, POINTS, "double")) is OnDevice
