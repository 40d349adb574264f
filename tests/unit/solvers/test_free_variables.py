"""Moving all free variables at once."""

import numpy as np
import pytest

from mercer.solvers import free_variables
from mercer.solvers.free_variables import VariableRows, optimize_free
from tests.measure import peak


def program(n, seed=0, rank=None, groups=1):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank or n))
    K = A @ A.T
    beta = rng.uniform(0.1, 0.9, n)
    t = rng.normal(size=n)
    group = np.arange(n) * groups // n
    return K, t, beta, group


def objective(K, t, beta):
    return t @ beta - beta @ K @ beta / 2


@pytest.mark.parametrize("groups", [1, 2])
def test_without_bounds_in_reach_the_conditions_hold_exactly(groups):
    K, t, beta, group = program(20, groups=groups)
    sums = [beta[group == g].sum() for g in range(groups)]
    F = t - K @ beta
    assert optimize_free(
        VariableRows(K, np.arange(20), group), F, beta, np.full(20, -1e9), np.full(20, 1e9)
    )
    np.testing.assert_allclose(F, t - K @ beta, atol=1e-6)
    for g in range(groups):
        assert beta[group == g].sum() == pytest.approx(sums[g], abs=1e-9)
        assert np.ptp(F[group == g]) < 1e-6


@pytest.mark.parametrize("few", [0, 1000], ids=["together", "one by one"])
@pytest.mark.parametrize("rank", [None, 3])
def test_bounds_are_kept_and_the_objective_rises(monkeypatch, few, rank):
    monkeypatch.setattr(free_variables, "MAX_STOPPED_SINGLY", few)
    K, t, beta, group = program(40, rank=rank)
    before, total = objective(K, t, beta), beta.sum()
    F = t - K @ beta
    optimize_free(VariableRows(K, np.arange(40), group), F, beta, np.zeros(40), np.ones(40))
    assert (beta >= 0).all() and (beta <= 1).all()
    assert beta.sum() == pytest.approx(total, abs=1e-9)
    assert objective(K, t, beta) > before
    np.testing.assert_allclose(F, t - K @ beta, atol=1e-8)


def test_variables_may_share_a_row():
    K, t, _, _ = program(5)
    places = np.array([0, 1, 2, 3, 4, 0, 1, 2, 3, 4])
    beta, target = np.full(10, 0.5), np.concatenate([t - 0.1, t + 0.1])
    F = target - (K @ (beta[:5] + beta[5:]))[places]
    plane = VariableRows(K, places, np.zeros(10, dtype=int))
    assert optimize_free(plane, F, beta, np.zeros(10), np.ones(10))
    np.testing.assert_allclose(F, target - (K @ (beta[:5] + beta[5:]))[places], atol=1e-9)


def test_a_flat_way_without_bounds_is_noticed():
    K = np.ones((2, 2))
    beta, F = np.array([1.0, -1.0]), np.array([1.0, -1.0])
    plane = VariableRows(K, np.arange(2), np.zeros(2, dtype=int))
    assert not optimize_free(plane, F, beta, np.array([0.0, -np.inf]), np.array([np.inf, 0.0]))


def test_the_free_variables_take_the_memory_that_plans_count():
    """Half of a thousand are free: their system and its factor, and no columns of the others."""
    n = 1000
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(n, n))
    gram = VariableRows(Q @ Q.T / n + np.eye(n), np.arange(n), np.zeros(n, dtype=int))
    F, beta = rng.normal(size=n), np.zeros(n)
    box = np.where(np.arange(n) % 2, 1e9, 0.0)
    beta[:] = 0.0
    assert peak(lambda: optimize_free(gram, F.copy(), beta.copy(), -box, box)) < 1.3 * 4 * n**2
