"""Blocks of a Gram matrix on Torch."""

import numpy as np
import pytest

from mercer.engine import distances
from mercer.gram.device import blocks
from mercer.kernels import Gaussian, Laplacian

torch = pytest.importorskip("torch")


def rows(count, width=8, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(count, width)))


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(3.0) + 0.5 * Gaussian(1.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_normal_equations_from_one_evaluation(kernel, weighted, monkeypatch):
    A, B, V = rows(200), rows(30, seed=1), rows(30, 2, seed=2)
    W = rows(200, 2, seed=3) ** 2 if weighted else None
    monkeypatch.setattr(blocks, "rows_at_once", lambda *_: 64)
    evaluated = []
    real = blocks.evaluate

    def counted(kernel, A, B=None):
        evaluated.append(len(A))
        return real(kernel, A, B)

    monkeypatch.setattr(blocks, "evaluate", counted)
    found = blocks.normal(kernel, A, B, V, W)
    C = torch.from_numpy(np.asarray(kernel(A.numpy(), B.numpy())))
    assert torch.allclose(found, C.T @ (C @ V if W is None else W * (C @ V)), rtol=1e-10)
    assert sum(evaluated) == 200


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian([1.0, 2.0] * 4)])
def test_near_pairs_are_computed_again_and_only_those(kernel, monkeypatch):
    """Two clouds far from the mean, in which some items are nearly equal."""
    X = rows(120)
    X[60:] += 1e4
    X[7], X[80] = X[3] + 1e-6, X[90]
    exact = np.asarray(kernel(X.numpy()))
    assert np.abs(blocks.evaluate(kernel, X).numpy() - exact).max() <= 1e-12

    def whole(*_):
        raise AssertionError("all pairs were computed again")

    monkeypatch.setattr(distances, "_direct", whole)
    few = torch.cat([rows(120), rows(1) + 1e-9])
    near = blocks.evaluate(kernel, few).numpy()
    assert np.abs(near - np.asarray(kernel(few.numpy()))).max() <= 1e-12
