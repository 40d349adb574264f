"""Products with a Gram matrix that is never built."""

import numpy as np
import pytest

import mercer.gram.operator as module
from mercer.gram import Blocked
from mercer.gram.operator import product, symmetric_product
from mercer.kernels import Gaussian, Laplacian, Linear, Spectrum, normalize


@pytest.fixture
def small_tiles(monkeypatch):
    """Let a few hundred items be many."""
    monkeypatch.setattr(module, "TILE_SIDE", 32)
    monkeypatch.setattr(module, "SYMMETRIC_FROM", 64)


def rows(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 3)) + 50.0


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Laplacian(2.0) + 0.1 * Linear()])
@pytest.mark.parametrize("count", [64, 65, 301])
@pytest.mark.parametrize("columns", [(), (1,), (4,)])
def test_half_of_the_similarities_give_the_whole_product(small_tiles, kernel, count, columns):
    points = kernel.admit(rows(count))
    c = np.random.default_rng(1).normal(size=(count, *columns))
    whole = np.asarray(kernel(rows(count))) @ c
    assert np.allclose(symmetric_product(kernel, points, c), whole, rtol=1e-11, atol=1e-11)
    assert np.allclose(Blocked(kernel, points) @ c, whole, rtol=1e-11, atol=1e-11)


def test_each_similarity_is_computed_once(small_tiles, monkeypatch):
    computed = []
    real = module.tile

    def counted(kernel, left, right, *where, **how):
        computed.append(len(left) * len(right))
        return real(kernel, left, right, *where, **how)

    monkeypatch.setattr(module, "tile", counted)
    k = Gaussian(1.0)
    symmetric_product(k, k.admit(rows(320)), np.ones(320))
    assert sum(computed) == 320 * (320 + 32) // 2


def test_the_same_on_one_thread_or_many(small_tiles, use_cores):
    k = Gaussian(1.0)
    points, c = k.admit(rows(500)), rows(500)[:, 0]
    answers = []
    for cores in (1, 2):
        use_cores(cores)
        answers.append(symmetric_product(k, points, c))
    assert np.array_equal(*answers)


def test_other_things_go_the_plain_way(small_tiles):
    k = normalize(Spectrum(2))
    strings = [
        "".join(letters) for letters in np.random.default_rng(0).choice(list("ab"), (80, 9))
    ]
    points, c = k.admit(strings), np.arange(80.0)
    assert np.array_equal(symmetric_product(k, points, c), product(k, points, points, c))
