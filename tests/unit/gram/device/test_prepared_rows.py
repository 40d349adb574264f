"""Halves split in two have the digits of single precision."""

import numpy as np
import pytest

from mercer.gram.device.prepared_rows import clearance, origins, prepare, table_width
from mercer.gram.device.rules import fuse
from mercer.kernels import Gaussian, Laplacian, Linear, QuadraticForm, normalize

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)


def dots(first, second):
    """Multiply two tables out in double precision."""
    a, b = first.parts[0], second.parts[0]
    found = a.table.double() @ b.table.double().T * (a.unit * b.unit).double()
    return found[: first.count, : second.count].numpy()


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e3, 1e15])
@pytest.mark.parametrize("products", ["split", "ieee"])
def test_dot_products(scale, products):
    X, Z = scale * rng.normal(size=(9, 20)), rng.normal(size=(5, 20))
    program = fuse(Linear(), 20)
    first = prepare(program, torch.tensor(X), [None], "first", products)
    second = prepare(program, torch.tensor(Z), [None], "second", products)
    lengths = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Z, axis=1))
    assert np.all(np.abs(dots(first, second) - X @ Z.T) <= 4e-7 * lengths)
    assert np.all(np.abs(dots(second, first) - Z @ X.T) <= 4e-7 * lengths.T)


def test_one_half_has_three_digits():
    X = rng.normal(size=(9, 20))
    program = fuse(Linear(), 20)
    sides = [prepare(program, torch.tensor(X), [None], r, "half") for r in ("first", "second")]
    error = np.abs(dots(*sides) - X @ X.T).max()
    assert 1e-5 < error < 1e-2


def test_rows_far_away_keep_their_digits():
    X = 1e6 + rng.normal(size=(9, 5))
    program, rows = fuse(Gaussian(1.0), 5), torch.tensor(X)
    side = prepare(program, rows, origins(program, rows), "first", "split")
    centered = X - X.mean(axis=0)
    assert np.allclose(side.parts[0].squares[:9], (centered**2).sum(axis=1), rtol=1e-6)
    assert np.allclose(side.parts[0].columns[:, :9].T, centered, rtol=0, atol=1e-6)


def test_one_side_of_a_quadratic_form_has_the_matrix():
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    program, X = fuse(QuadraticForm(A), 2), rng.normal(size=(4, 2))
    sides = [prepare(program, torch.tensor(X), [None], r, "split") for r in ("first", "second")]
    assert np.allclose(dots(*sides), X @ A @ X.T, rtol=1e-6, atol=1e-6)


def test_some_rows():
    k = normalize(Gaussian(1.0) + Linear()) + Laplacian(2.0)
    program, X = fuse(k, 3), torch.tensor(rng.normal(size=(300, 3)))
    centers = origins(program, X)
    side, items = prepare(program, X, centers, "first", "split"), torch.tensor([7, 299, 0])
    some = side.take(items)
    assert some.count == 3 and some.padded == 256
    alone = prepare(program, X[items], centers, "first", "split")
    for part, other in zip(some.parts, alone.parts, strict=True):
        for name in ("squares", "columns"):
            a, b = getattr(part, name), getattr(other, name)
            assert (a is None) == (b is None)
            assert a is None or torch.equal(a, b)
    assert all(torch.equal(a, b) for a, b in zip(some.lengths, alone.lengths, strict=True))
    assert some.bytes < side.bytes


def test_padding_is_zero():
    program, X = fuse(Linear(), 3), torch.ones(5, 3)
    side = prepare(program, X, [None], "first", "split")
    assert side.padded == 256 and not side.parts[0].table[5:].any()


def test_widths_suit_the_matrix_units():
    assert all(table_width(d, "split") % 16 == 0 for d in range(1, 2000))
    assert all(table_width(d, "ieee") >= d for d in range(1, 2000))


def test_clearance():
    assert clearance(0.0, 1e30) == 0.0
    assert clearance(float("inf"), 10.0) > 0  # the root of a small distance needs its digits
    assert clearance(50.0, 100.0) == 16 / 50  # a narrow Gaussian of spread rows
