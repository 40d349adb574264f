"""Tiles in single precision."""

import numpy as np
import pytest

from mercer.engine.block import Block
from mercer.engine.distances import FEW_IN_SINGLE, squared_distances
from mercer.engine.single import absolute, exponential, squared
from mercer.engine.tiles import prepare_points
from mercer.kernels import Gaussian

EPS = float(np.finfo(np.float32).eps)


def rows(count, width, seed=0):
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 9, 16, 24])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_distances_are_those_of_double_precision(width, count):
    X, Z = rows(count, width), rows(5, width, seed=1)
    D = squared(X, np.ascontiguousarray(Z.T), np.empty((count, 5), np.float32))
    apart = X[:, None].astype(float) - Z[None].astype(float)
    assert np.abs(D / (apart**2).sum(axis=2) - 1).max() <= 8 * EPS
    absolute(X, np.ascontiguousarray(Z.T), D)
    assert np.abs(D / np.abs(apart).sum(axis=2) - 1).max() <= 8 * EPS


def test_the_exponential_is_right_to_the_last_digit_but_one():
    x = np.concatenate([np.linspace(-87, 88.3, 100_001), rows(1, 10_000)[0]])
    x = x.astype(np.float32)[None]
    found = exponential(x, np.float32(1.0), np.empty_like(x))
    assert np.abs(found / np.exp(x.astype(float)) - 1).max() <= EPS


def test_the_exponential_of_what_is_beyond():
    x = np.array([[-1e30, -np.inf, -88.0, 90.0, np.inf, np.nan]], np.float32)
    found = exponential(x, np.float32(1.0), np.empty_like(x))
    assert np.array_equal(found, [[0, 0, 0, np.inf, np.inf, np.nan]], equal_nan=True)


@pytest.mark.parametrize("width", [FEW_IN_SINGLE, FEW_IN_SINGLE + 1])
def test_near_pairs_far_away_keep_their_digits(width):
    """Of items that lie a hundred times farther out than they lie apart, and of others."""
    X = rows(60, width).astype(float)
    X[::2] += 100.0
    X[20] = X[10] + 1e-3
    k = Gaussian(3.0)
    points = prepare_points(k, k.admit(X), single=True)
    D = squared_distances(Block(points, points))
    exact = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    others = ~np.eye(60, dtype=bool)
    assert D.dtype == np.float32
    assert D[20, 10] == pytest.approx(width * 1e-6, rel=0.02)  # of coordinates near 100
    D[20, 10] = D[10, 20] = exact[20, 10]
    assert np.abs(D / np.where(others, exact, 1) - 1)[others].max() <= 1e-4
    assert not D[~others].any()


def test_near_pairs_of_tensors_keep_their_digits():
    """In single precision, and in double where scales are far from zero."""
    torch = pytest.importorskip("torch")
    X = np.linspace(0.0, 100.0, 200)[:, None] * np.ones(40)
    k = Gaussian(1.0)
    points = k.admit(torch.tensor(X, dtype=torch.float32))
    exact = ((points.array.double()[:, None] - points.array.double()[None]) ** 2).sum(dim=2)
    D = squared_distances(Block(points, points)).double()
    assert float((torch.abs(D - exact) / torch.clip(exact, min=1e-3)).max()) <= 2e-3
    X = 10 * rows(100, 8).astype(float) + 1e6
    X[20] = X[10] + 1e-3
    points, scales = k.admit(torch.tensor(X)), tuple(np.linspace(0.3, 0.7, 8))
    exact = (((X[20] - X[10]) / np.array(scales)) ** 2).sum()
    D = squared_distances(Block(points, points), scales)
    assert float(D[20, 10]) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("width", [3, 10, 40])
@pytest.mark.parametrize("first", [False, True])
def test_of_two_sides_one_may_be_in_single_precision(width, first):
    X = rows(60, width).astype(float) + 1e6
    k = Gaussian(width**0.5)
    one = prepare_points(k, k.admit(X[:25]), single=first)
    other = prepare_points(k, k.admit(X[25:]), one.origin, single=not first)
    D = squared_distances(Block(one, other))
    exact = ((X[:25, None] - X[None, 25:]) ** 2).sum(axis=2)
    assert D.dtype == np.float64
    assert np.abs(D / exact - 1).max() <= 1e-5
