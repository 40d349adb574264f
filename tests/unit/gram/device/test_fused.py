"""The generated kernel computes the products that it should; in Python where there is no GPU."""

import importlib.util

import numpy as np
import pytest

from mercer.gram.device import fused
from mercer.gram.device.prepared_rows import origins, prepare
from mercer.gram.device.rules import fuse
from mercer.gram.device.source import SourceShape, pieces, text
from mercer.kernels import Exponential, Gaussian, Laplacian, Linear, Polynomial, normalize

torch = pytest.importorskip("torch")
CUDA = torch.cuda.is_available()
rng = np.random.default_rng(0)
KERNELS = [
    (Gaussian(3.0), 10), (Gaussian(0.05), 6), (Exponential(2.0), 6), (Laplacian(3.0), 4),
    (Linear() + Gaussian(2.0).on(0, 1), 3), (normalize(Polynomial(2, 1.0)), 5),
    (Gaussian(15.0), 200),
]  # fmt: skip


def test_text_is_python_and_depends_on_the_structure_only():
    def source(k, targets=1):
        return text(SourceShape(fuse(k, 20), ("product",), (64,), "split", targets))

    for k in (Gaussian(1.0), Linear()):
        for targets in (1, 2, 4, 8, 16, 64):
            compile(source(k, targets), "<test>", "exec")
    assert source(Gaussian(1.0)) == source(Gaussian(2.0)) != source(Linear())
    for way in ("mended", "difference"):
        compile(
            text(SourceShape(fuse(Gaussian(1.0), 3), (way,), (3,), "split", 1)), "<test>", "exec"
        )


def test_pieces_are_powers_of_two():
    for K in range(16, 400, 16):
        found = pieces(K)
        assert sum(found) == K and all(p & (p - 1) == 0 and 16 <= p <= 128 for p in found)


def test_availability():
    assert not fused.available("cpu") or importlib.util.find_spec("triton")
    if importlib.util.find_spec("triton") is None:
        assert not fused.available("cuda")


@pytest.mark.parametrize("targets", [1, 3, 9])
@pytest.mark.parametrize(("k", "d"), KERNELS, ids=str)
def test_products(k, d, targets, monkeypatch):
    pytest.importorskip("triton")
    if not CUDA:
        if targets > 1 and d > 5:
            pytest.skip("takes long in Python")
        monkeypatch.setenv("TRITON_INTERPRET", "1")
        monkeypatch.setattr(fused, "_kernels", {})
    place, products = ("cuda", "split") if CUDA else ("cpu", "ieee")
    X, Z, V = rng.normal(size=(40, d)), rng.normal(size=(70, d)), rng.normal(size=(70, targets))
    Z[5] = X[3]
    program, x, z = fuse(k, d), torch.tensor(X, device=place), torch.tensor(Z, device=place)
    centers = origins(program, z)
    first = prepare(program, x, centers, "first", products)
    second = prepare(program, z, centers, "second", products)
    sizes = None if CUDA else (32, 64, 4, 2)
    found = fused.multiply(
        program, first, second, torch.tensor(V, device=place), products, True, sizes
    ).cpu()
    expected = k(X, Z) @ V
    assert np.linalg.norm(found.numpy() - expected) <= 2e-6 * np.linalg.norm(expected)
