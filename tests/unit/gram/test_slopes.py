"""Slopes are derivatives: finite differences say the same of every kernel and composition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.engine import tiles
from mercer.errors import ValidityError
from mercer.gram.slopes import Tiling, slopes_of
from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Shepard,
    assume_psd,
    exp,
    from_features,
    from_function,
    gaussian_over,
    normalize,
    polynomial,
    pullback,
    rescale,
)
from tests.laws.functions import damping, folded
from tests.laws.trees import trees

SEVERAL = (0.7, 1.3, 2.1)
STEP = 1e-5


def rows(n=12, d=3, seed=0, far=0.0):
    return np.random.default_rng(seed).normal(size=(n, d)) + far


def symmetric(n, seed=1):
    G = np.random.default_rng(seed).normal(size=(n, n))
    return G + G.T


def by_differences(k, X, G, name):
    """Return the derivative by the logarithm of a parameter, or of each of its numbers."""
    value = np.atleast_1d(np.asarray(k.get_params()[name], float))
    found = np.empty(len(value))
    for i in range(len(value)):
        ends = []
        for sign in (1.0, -1.0):
            moved = value.copy()
            moved[i] *= np.exp(sign * STEP)
            several = isinstance(k.get_params()[name], tuple)
            changed = k.set_params(**{name: tuple(moved) if several else moved[0]})
            ends.append(np.sum(G * changed(X)))
        found[i] = (ends[0] - ends[1]) / (2 * STEP)
    return found


def agree(k, X, names=None, rtol=1e-6):
    """Compare all slopes with finite differences; return their names."""
    points = k.admit(X)
    G = symmetric(len(points))
    found = slopes_of(k, points, G)
    scale = np.abs(G * k(X)).sum()
    assert set(found) <= set(k.get_params())
    for name, slope in found.items():
        expected = by_differences(k, X, G, name)
        assert np.shape(slope) == np.shape(k.get_params()[name])
        np.testing.assert_allclose(
            np.atleast_1d(slope), expected, rtol=rtol, atol=1e-8 * scale, err_msg=f"{name} of {k}"
        )
    if names is not None:
        assert set(found) == set(names.split())
    return found


@pytest.mark.parametrize(
    ("k", "names"),
    [
        *(
            (cls(b), "bandwidth")
            for cls in (Gaussian, Laplacian, Exponential)
            for b in (1.3, SEVERAL)
        ),
        *(
            (Matern(nu, b), "bandwidth")
            for nu in (0.3, 0.5, 1.0, 1.2, 1.5, 2.0, 2.5, 3.7, 60.0, np.inf)
            for b in (1.3, SEVERAL)
        ),
        (RationalQuadratic(0.6, 1.3), "alpha bandwidth"),
        (RationalQuadratic(2.0, SEVERAL), "alpha bandwidth"),
        (Periodic(2.5, 0.8), "bandwidth period"),
        (Periodic(2.5, SEVERAL), "bandwidth period"),
        (Polynomial(3, offset=0.5, scale=0.7), "offset scale"),
        (Polynomial(2), "scale"),
        (Polynomial(1, offset=1.0), "offset scale"),
        (Shepard(1.2, 1.0, 1.0), "sensitivity"),
        (Shepard(0.8, 2.0, 1.5, (1.0, 0.0, 2.0)), "sensitivity"),
        (Constant(2.0), "value"),
        (Constant(0.0), ""),
        (Linear(), ""),
        (Gaussian(1.0) + Linear(), "left__bandwidth"),
        (Gaussian(1.0) * Matern(1.5, SEVERAL), "left__bandwidth right__bandwidth"),
        (2.0 * Gaussian(0.9), "factor kernel__bandwidth"),
        (0.0 * Gaussian(0.9), "kernel__bandwidth"),
        (Gaussian(0.9) ** 3, "kernel__bandwidth"),
        (exp(0.3 * Gaussian(0.9)), "kernel__factor kernel__kernel__bandwidth"),
        (polynomial(Laplacian(0.9), [1.0, 2.0, 0.5]), "kernel__bandwidth"),
        (polynomial(Laplacian(0.9), [1.0]), "kernel__bandwidth"),
        (
            Gaussian(0.9).on(0, 2) + Gaussian(2.0).on(1),
            "left__kernel__bandwidth right__kernel__bandwidth",
        ),
        (pullback(Gaussian((0.5, 2.0)), folded), "kernel__bandwidth"),
        (rescale(Gaussian(0.9), damping), "kernel__bandwidth"),
        (assume_psd(Gaussian(0.9)), "kernel__bandwidth"),
        (normalize(Polynomial(2, offset=0.5)), "kernel__offset kernel__scale"),
        (normalize(2.0 * Gaussian(0.7) + Polynomial(2)), None),
        (gaussian_over(Polynomial(2, offset=0.5), 3.0), "bandwidth kernel__offset kernel__scale"),
        (gaussian_over(Linear(), 1.5), "bandwidth"),
        (from_features(folded), ""),
    ],
    ids=repr,
)  # fmt: skip
def test_slopes_are_derivatives(k, names):
    agree(k, rows(), names)


def test_histograms_have_slopes():
    agree(Chi2(1.3), np.abs(rows()), "bandwidth")


def test_tables_have_slopes():
    X = pd.DataFrame({"a": rows()[:, 0], "b": rows()[:, 1], "c": list("xyz" * 4)})
    k = Gaussian(0.8).on("a", "b") * Categorical().on("c") + 3.0 * Gaussian((1.0, 2.0)).on(
        "a", "b"
    )
    agree(k, X, "left__left__kernel__bandwidth right__factor right__kernel__kernel__bandwidth")


@settings(max_examples=60)
@given(trees, st.integers(0, 5))
def test_slopes_of_every_composition_are_derivatives(k, seed):
    agree(k, rows(7, seed=seed), rtol=1e-4)


@pytest.mark.parametrize("k", [Gaussian(SEVERAL), Exponential(SEVERAL), Laplacian(SEVERAL)])
def test_bandwidths_of_sparse_rows_have_the_slopes_of_dense_ones(k):
    X, G = rows(9), symmetric(9)
    X[np.abs(X) < 0.7] = 0.0
    dense = slopes_of(k, k.admit(X), G)
    thin = slopes_of(k, k.admit(sparse.csr_array(X)), G)
    np.testing.assert_allclose(thin["bandwidth"], dense["bandwidth"], rtol=1e-10)


def test_far_from_zero_nothing_is_lost():
    X, G, k = rows(20), symmetric(20), Gaussian(SEVERAL)
    near = slopes_of(k, k.admit(X), G)["bandwidth"]
    far = slopes_of(k, k.admit(X + 1e6), G)["bandwidth"]
    np.testing.assert_allclose(far, near, rtol=1e-6)


def test_equal_items_and_a_short_reach_give_numbers():
    X = np.repeat(rows(3), 2, axis=0)
    for k in (Exponential(1e-3), Matern(0.3, SEVERAL), Matern(1.0, 1e-200), Gaussian(1e-200)):
        found = slopes_of(k, k.admit(X), symmetric(6))
        assert np.isfinite(found["bandwidth"]).all()


def test_many_tiles_add_up_to_one_and_to_the_same_every_time(monkeypatch):
    X, G = rows(40), symmetric(40)
    k = normalize(2.0 * Gaussian(SEVERAL) + Polynomial(2, offset=1.0)) * Periodic(3.0, 1.0)
    whole = slopes_of(k, k.admit(X), G)
    monkeypatch.setattr(tiles, "TILE", 7)
    parts = slopes_of(k, k.admit(X), G)
    again = slopes_of(k, k.admit(X), G)
    for name, slope in whole.items():
        np.testing.assert_allclose(parts[name], slope, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(parts[name], again[name])


def test_a_tiling_computes_distances_once_for_all_bandwidths(monkeypatch):
    from mercer.engine import distances

    calls = []
    original = distances._squared
    monkeypatch.setattr(distances, "_squared", lambda *a: calls.append(1) or original(*a))
    X, G = rows(30, 6), symmetric(30)
    k = Gaussian(1.0) + Exponential(1.0).on(0, 1)
    tiling = Tiling(k.admit(X))
    for s in (0.5, 1.0, 2.0):
        now = k.set_params(left__bandwidth=s, right__kernel__bandwidth=2 * s)
        np.testing.assert_allclose(tiling.gram(now), now(X), rtol=1e-14)
        for name, slope in tiling.slopes(now, G).items():
            np.testing.assert_allclose(slope, by_differences(now, X, G, name)[0], rtol=1e-5)
    before = len(calls)
    tiling.gram(k)
    tiling.slopes(k, G)
    assert len(calls) == before


def test_a_kernel_without_derivatives_says_nothing():
    k = from_function(lambda a, b: float(len(set(a) & set(b))))
    assert slopes_of(k, k.admit(["ab", "bc"]), np.ones((2, 2))) == {}


def test_overflow_names_the_items():
    with pytest.raises(ValidityError, match="items 0 and 0"):
        Tiling(Linear().admit(1e200 * np.ones((2, 1)))).gram(Linear())
