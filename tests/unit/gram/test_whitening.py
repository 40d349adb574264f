"""Whitening: coordinates in which norms are those of coefficients."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.errors import SolveError
from mercer.gram.whitening import Whitening
from mercer.kernels import Gaussian


def core(n=30, bandwidth=0.5, seed=0):
    return np.asarray(Gaussian(bandwidth)(np.random.default_rng(seed).standard_normal((n, 2))))


@pytest.mark.parametrize("eigen", [True, False])
def test_the_core_becomes_the_identity(eigen):
    B = core()
    white = Whitening(B, eigen)
    np.testing.assert_allclose(white.around(B), np.eye(white.rank), atol=1e-6)
    beta = np.random.default_rng(1).standard_normal((white.rank, 2))
    a = white.into(beta)
    np.testing.assert_allclose(np.einsum("ij,ij->j", a, B @ a), (beta**2).sum(0), rtol=1e-6)
    np.testing.assert_allclose(white.matrix.T @ a, white.back(a), atol=1e-8 * np.abs(a).max())
    assert white.decomposed is eigen


def test_directions_of_rounding_size_are_left_out():
    B = core(5)
    doubled = np.block([[B, B], [B, B]])  # each center twice
    assert Whitening(doubled, eigen=True).rank == 5
    assert Whitening(doubled, eigen=False).jitter > 0


@pytest.mark.parametrize("eigen", [True, False])
def test_what_is_not_a_gram_matrix_is_refused(eigen):
    with pytest.raises(SolveError, match=r"not valid on them"):
        Whitening(-np.eye(3), eigen)
    with pytest.raises(SolveError, match="not finite"):
        Whitening(np.full((2, 2), np.nan), eigen)


@pytest.mark.slow
def test_many_centers_are_factored_and_few_decomposed():
    assert Whitening(np.eye(2)).decomposed
    assert not Whitening(np.eye(3001)).decomposed
