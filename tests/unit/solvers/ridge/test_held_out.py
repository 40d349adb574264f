"""Folds are left out one after the other, in little memory."""

import numpy as np
import pytest

from mercer.solvers.ridge.held_out import held_out, nested
from mercer.solvers.ridge.inverse import CholeskySystem
from mercer.solvers.ridge.spectral import FeatureSystem
from tests.measure import peak


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
def test_large_folds_of_few_features_need_little_memory(intercept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 3)), rng.normal(size=(6000, 1))
    folds = [slice(0, 2000), slice(2000, 4000), np.arange(4000, 6000)]
    inverse = FeatureSystem(X, y, None, intercept).at(0.1)
    found = []
    taken = peak(lambda: found.extend(held_out(inverse, folds)))
    assert taken < 3e6  # 2000 × 2000 numbers would be 32 MB

    design = np.column_stack([X, np.ones(6000)]) if intercept else X
    ridge = 0.1 * np.diag([1.0, 1.0, 1.0, 0.0][: design.shape[1]])
    for rows, held in zip(folds, found, strict=True):
        kept = np.delete(np.arange(6000), np.arange(6000)[rows])
        A, b = design[kept], y[kept]
        weights = np.linalg.solve(A.T @ A + ridge, A.T @ b)
        np.testing.assert_allclose(held.residuals, y[rows] - design[rows] @ weights, rtol=1e-9)
        assert held.trusted


@pytest.mark.slow
@pytest.mark.parametrize("inside", [False, True])
def test_factors_of_many_folds_are_not_kept(inside):
    rng = np.random.default_rng(0)
    n, folds = 400, [np.sort(10 + rng.permutation(390)[:200]) for _ in range(30)]
    inverse = CholeskySystem(np.eye(n), rng.normal(size=(n, 1)), full=True).at(1.0)

    def all_of_them():
        found = nested(inverse, slice(0, 10), folds)[1] if inside else held_out(inverse, folds)
        assert sum(held.trusted for held in found) == 30

    assert peak(all_of_them) < 6 * 200**2 * 8  # of 30
