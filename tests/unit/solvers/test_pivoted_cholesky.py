"""Randomly pivoted Cholesky."""

import numpy as np
import pytest

from mercer.gram import Dense
from mercer.kernels import Gaussian, Linear
from mercer.solvers.pivoted_cholesky import pivoted_cholesky


def gram(count=300, width=1.5, seed=0):
    X = np.random.default_rng(seed).normal(size=(count, 3))
    return Gaussian(width)(X)


@pytest.mark.parametrize("block", [1, 7, 128])
def test_what_is_left_is_positive_semidefinite_and_has_the_diagonal_that_is_said(block):
    K = gram()
    found = pivoted_cholesky(Dense(K), 40, block=block)
    rest = K - found.columns @ found.columns.T
    assert found.rank == 40 == len(set(found.pivots.tolist()))
    assert np.linalg.eigvalsh(rest).min() > -1e-10
    assert np.allclose(np.diag(rest), found.left, atol=1e-10)
    assert np.abs(rest[found.pivots]).max() < 1e-8  # exact on the pivots


def test_it_is_nearly_as_good_as_the_best_of_its_rank():
    K = gram()
    best = np.sort(np.linalg.eigvalsh(K))[::-1][40:].sum()
    left = np.mean([pivoted_cholesky(Dense(K), 40, seed=seed).left.sum() for seed in range(10)])
    assert best < left < 4 * best


@pytest.mark.slow
def test_blocks_give_the_same_distribution_as_single_columns():
    K = gram(60, 0.7)
    means = [
        np.mean(
            [
                pivoted_cholesky(Dense(K), 12, seed=seed, block=block).left.sum()
                for seed in range(300)
            ]
        )
        for block in (1, 12)
    ]
    spread = np.std(
        [pivoted_cholesky(Dense(K), 12, seed=seed, block=1).left.sum() for seed in range(300)]
    )
    assert abs(means[0] - means[1]) < 4 * spread * np.sqrt(2 / 300)


def test_it_stops_when_enough_is_explained():
    K = gram(width=3.0)
    found = pivoted_cholesky(Dense(K), 300, enough=0.5, block=4)
    assert found.left.sum() <= 0.5 and found.rank < 300


def test_a_matrix_of_low_rank_is_found_completely():
    X = np.random.default_rng(0).normal(size=(80, 3))
    found = pivoted_cholesky(Dense(Linear()(X)), 80)
    assert found.rank == 3
    assert np.allclose(found.columns @ found.columns.T, X @ X.T)


def test_the_same_seed_gives_the_same_pivots():
    K = gram()
    one, other, third = (pivoted_cholesky(Dense(K), 20, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.pivots, other.pivots)
    assert not np.array_equal(one.pivots, third.pivots)


def test_nothing_to_explain():
    assert pivoted_cholesky(Dense(np.zeros((5, 5))), 3).rank == 0
