"""Gradients of functions, and their outer products."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.engine.block import Block
from mercer.errors import ValidityError
from mercer.kernels import (
    Brownian,
    Categorical,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Spectrum,
    exp,
    gaussian_over,
    normalize,
    pullback,
    rescale,
)
from mercer.rkhs import Featured, Function, gradient_outer_product
from mercer.rkhs import gradients as module

rng = np.random.default_rng(11)
X = rng.normal(size=(30, 4))
Z = rng.normal(size=(25, 4))
A = rng.normal(size=(4, 4))
KERNELS = [
    Gaussian(1.5, metric=A @ A.T),
    Exponential(2.0, exponent=0.7, metric=(1.0, 0.0, 2.0, 0.5)),
    Exponential(2.0, exponent=0.8, order=1.3),
    Laplacian(3.0, metric=A @ A.T),
    Matern(0.8, 2.0) * Linear() + 1.0,
    normalize(exp(0.3 * Linear()) + Brownian()),
    gaussian_over(Linear() ** 2, 3.0).on(0, 2) + 2.0 * Gaussian(1.0).on(3),
]
each = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def slow(f, rows, step=1e-5):
    """Return the gradient by small differences."""
    columns = []
    for d in range(rows.shape[1]):
        move = step * np.eye(rows.shape[1])[d]
        columns.append((f(rows + move) - f(rows - move)) / (2 * step))
    return np.stack(columns, axis=1)


@each
def test_a_gradient_is_that_of_small_differences(kernel, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 7)
    monkeypatch.setattr(module, "COLUMNS", 11)
    f = Function(kernel, X, rng.normal(size=30))
    found = f.gradient(Z)
    assert found.shape == (25, 4)
    assert np.allclose(found, slow(f, Z), rtol=1e-5, atol=1e-6)


def test_several_outputs_have_their_own_gradients():
    C = rng.normal(size=(30, 3))
    whole = Function(KERNELS[0], X, C).gradient(Z)
    assert whole.shape == (25, 4, 3)
    for k in range(3):
        assert np.allclose(whole[:, :, k], Function(KERNELS[0], X, C[:, k]).gradient(Z))


@each
def test_at_its_own_points_a_function_leaves_kinks_out(kernel):
    f = Function(kernel, X, np.eye(30)[3])
    assert np.isfinite(f.gradient(X)).all()
    if isinstance(kernel, Exponential | Laplacian):
        assert np.allclose(f.gradient(X)[3], 0.0)


def test_equal_rows_pull_nowhere_in_any_metric():
    rows = np.repeat(rng.normal(size=(40, 6)), 2, axis=0) + 1e3
    B = rng.normal(size=(6, 3))
    for kernel in (
        Exponential(1.0, metric=B @ B.T),
        Exponential(1.0, 0.5, 1.0, B @ B.T),
        Laplacian(1.0, metric=B @ B.T),
    ):
        f = Function(kernel, rows, np.ones(80))
        at = rows[:2]
        lone = Function(kernel, rows[2:], np.ones(78))
        assert np.allclose(f.gradient(at), lone.gradient(at), atol=1e-7), kernel


@each
def test_other_array_libraries_find_the_same(kernel):
    xp = pytest.importorskip("array_api_strict")
    G = rng.normal(size=(25, 30))
    expected = kernel.gradient(Block(kernel.admit(Z), kernel.admit(X)), G)
    left, right = (kernel.admit(xp.asarray(a)) for a in (Z, X))
    found = kernel.gradient(Block(left, right), xp.asarray(G))
    assert np.allclose(np.asarray(found), expected, atol=1e-10)
    torch = pytest.importorskip("torch")
    f = Function(kernel, torch.tensor(X), np.ones(30))
    plain = Function(kernel, X, np.ones(30))
    assert np.allclose(f.gradient(torch.tensor(Z)), plain.gradient(Z), atol=1e-10)


def test_sparse_rows_find_the_same():
    from scipy import sparse

    for kernel in (Gaussian(1.0), Exponential(1.0, metric=A @ A.T), Laplacian(1.0), Linear()):
        dense = Function(kernel, X, np.ones(30)).gradient(Z)
        thin = Function(kernel, sparse.csr_array(X), np.ones(30)).gradient(sparse.csr_array(Z))
        assert np.allclose(dense, thin, atol=1e-10)


def test_random_features_have_gradients():
    kernel = Gaussian(1.0, metric=(1.0, 2.0, 0.5, 1.0))
    for weights in (rng.normal(size=50), rng.normal(size=(50, 2))):
        f = Featured(kernel.random_features(50), weights)
        assert np.allclose(f.gradient(Z), slow(f, Z), atol=1e-6)
        assert gradient_outer_product(f, Z).shape == (4, 4)


def test_outer_products_are_means_over_items_and_sums_over_outputs(monkeypatch):
    monkeypatch.setattr(module, "ENTRIES", 64 * 4)
    rows = rng.normal(size=(150, 4))
    f = Function(Gaussian(1.0), X, rng.normal(size=(30, 2)))
    g, w = f.gradient(rows), rng.integers(0, 3, size=150)
    whole = np.einsum("iak,ibk->ab", g, g) / 150
    assert np.allclose(gradient_outer_product(f, rows), whole)
    assert np.allclose(gradient_outer_product(f, rows, diagonal=True), np.diag(whole))
    repeated = gradient_outer_product(f, np.repeat(rows, w, axis=0))
    assert np.allclose(gradient_outer_product(f, rows, weights=w), repeated)


def table():
    return pd.DataFrame(
        {
            "size": rng.normal(size=40),
            "color": rng.choice(["red", "green", "blue"], size=40),
            "legs": rng.integers(1, 4, size=40),
        }
    )


def test_categories_are_compared_level_by_level():
    frame = table()
    kernel = Gaussian(1.0).on("size") * Categorical().on("color") + Linear().on("legs")
    f = Function(kernel, frame, rng.normal(size=40))
    found = f.gradient(frame)
    assert found.shape == (40, 3)
    step = frame.assign(size=frame["size"] + 1e-6), frame.assign(size=frame["size"] - 1e-6)
    assert np.allclose(found[:, 0], (f(step[0]) - f(step[1])) / 2e-6, atol=1e-6)
    apart = np.array(
        [
            [
                f(frame.iloc[[i]])[0] - f(frame.iloc[[i]].assign(color=level))[0]
                for level in ("red", "green", "blue")
                if level != frame["color"].iloc[i]
            ]
            for i in range(40)
        ]
    )
    assert np.allclose(found[:, 1], apart.mean(axis=1))
    G = gradient_outer_product(f, frame)
    assert G[1, 1] == pytest.approx(np.mean(apart**2))
    assert G[0, 1] == pytest.approx(np.mean(found[:, 0] * found[:, 1]))
    assert np.linalg.eigvalsh(G)[0] > -1e-12
    assert np.allclose(gradient_outer_product(f, frame, diagonal=True), np.diag(G))


def test_what_has_no_gradient_is_named():
    words = ["cat", "hat", "dog", "hot"]
    with pytest.raises(ValidityError, match=r"Spectrum\(length=2\) has no gradient"):
        Function(Spectrum(2), words, np.ones(4)).gradient(words)
    frame = table().assign(word=(words * 10))
    kernel = Gaussian(1.0).on("size") + 2.0 * Spectrum(2).on("word")
    with pytest.raises(ValidityError, match=r"Spectrum\(length=2\) has no gradient"):
        Function(kernel, frame, np.ones(40)).gradient(frame)
    for kernel in (rescale(Linear(), np.sum), pullback(Linear(), np.abs)):
        with pytest.raises(ValidityError, match="has no gradient"):
            Function(Gaussian(1.0) + kernel, X, np.ones(30)).gradient(Z)


def test_a_fitted_machine_shows_which_columns_matter():
    rows = rng.normal(size=(300, 5))
    machine = mercer.KernelRidge(Exponential("median"), penalty=0.01)
    machine.fit(rows, np.sin(2 * rows[:, 1]))
    weights = gradient_outer_product(machine.function_, rows, diagonal=True)
    assert weights.argmax() == 1 and weights[1] > 5 * np.delete(weights, 1).max()
