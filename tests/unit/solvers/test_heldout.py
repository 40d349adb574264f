"""Folds that are larger than the number of features take no matrix of their own size."""

import numpy as np
import pytest

from mercer.solvers.heldout import held_out
from mercer.solvers.influence import Features
from tests.measure import peak


@pytest.mark.parametrize("intercept", [False, True])
def test_large_folds_of_few_features_need_little_memory(intercept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 3)), rng.normal(size=(6000, 1))
    folds = [slice(0, 2000), slice(2000, 4000), np.arange(4000, 6000)]
    influence = Features(X, y, None, intercept).at(0.1)
    found = []
    taken = peak(lambda: found.extend(held_out(influence, folds)))
    assert taken < 3e6  # 2000 × 2000 numbers would be 32 MB

    design = np.column_stack([X, np.ones(6000)]) if intercept else X
    ridge = 0.1 * np.diag([1.0, 1.0, 1.0, 0.0][: design.shape[1]])
    for rows, held in zip(folds, found, strict=True):
        kept = np.delete(np.arange(6000), np.arange(6000)[rows])
        A, b = design[kept], y[kept]
        weights = np.linalg.solve(A.T @ A + ridge, A.T @ b)
        np.testing.assert_allclose(held.residuals, y[rows] - design[rows] @ weights, rtol=1e-9)
        assert held.trusted
