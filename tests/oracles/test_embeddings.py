"""MMD and HSIC against double sums, and their permutation tests against what p-values mean."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError
from mercer.kernels import Categorical, Gaussian, Laplacian, Linear, Polynomial, from_function
from mercer.rkhs import hsic, mean_embedding, mmd

KERNELS = [Linear(), Polynomial(2, 1.0), Gaussian(1.0), Laplacian(2.0)]


def samples(n=12, m=9, d=2, shift=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + shift


def mean_pair(kernel, A, B):
    return sum(kernel.pair(a, b) for a in A for b in B) / (len(A) * len(B))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_squared_mmd_is_a_sum_over_all_pairs(kernel):
    X, Y = samples()
    by_hand = mean_pair(kernel, X, X) + mean_pair(kernel, Y, Y) - 2 * mean_pair(kernel, X, Y)
    assert mmd(kernel, X, Y, squared=True) == pytest.approx(by_hand, rel=1e-10)
    assert mmd(kernel, X, Y) == pytest.approx(np.sqrt(by_hand), rel=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_mmd_is_the_distance_of_the_mean_embeddings(kernel):
    X, Y = samples()
    distance = mean_embedding(kernel, X).distance(mean_embedding(kernel, Y))
    assert mmd(kernel, X, Y) == pytest.approx(distance, rel=1e-10)


def test_mmd_of_the_linear_kernel_is_the_distance_of_the_means():
    X, Y = samples()
    expected = np.linalg.norm(X.mean(axis=0) - Y.mean(axis=0))
    assert mmd(Linear(), X, Y) == pytest.approx(expected, rel=1e-12)


def test_mmd_of_equal_sets_is_zero_and_it_is_symmetric():
    X, Y = samples()
    assert mmd(Gaussian(1.0), X, X[::-1]) == pytest.approx(0.0, abs=1e-7)
    assert mmd(Gaussian(1.0), X, Y) == pytest.approx(mmd(Gaussian(1.0), Y, X), rel=1e-12)


def test_mmd_resolves_the_median_on_both_sets_together():
    X, Y = samples(shift=5.0)
    sigma = Gaussian("median").resolve(np.concatenate([X, Y]))
    assert mmd(Gaussian("median"), X, Y) == mmd(sigma, X, Y)
    assert sigma != Gaussian("median").resolve(X)


def test_mmd_of_words_and_of_tables():
    same_letters = from_function(lambda a, b: float(len(set(a) & set(b))))
    assert mmd(same_letters, ["cat", "act"], ["dog", "god"], squared=True) == pytest.approx(6.0)
    one, two = pd.DataFrame({"kind": ["a", "b"]}), pd.DataFrame({"kind": ["a", "a"]})
    # Shares of a: 1/2 and 1; of b: 1/2 and 0.
    assert mmd(Categorical().on("kind"), one, two, squared=True) == pytest.approx(0.5)


@pytest.mark.parametrize("kernels", [(Gaussian(1.0), Gaussian(0.5)), (Linear(), Laplacian(1.0))])
def test_hsic_is_three_sums(kernels):
    """ΣΣkl/n² + ΣΣk·ΣΣl/n⁴ − 2Σᵢ(Σⱼk)(Σⱼl)/n³ (Gretton et al., 2005)."""
    X, _ = samples(10, d=2)
    Y = X[:, :1] ** 2 + 0.1 * samples(10, d=1, seed=1)[0]
    k, m = kernels
    K = np.array([[k.pair(a, b) for b in X] for a in X])
    L = np.array([[m.pair(a, b) for b in Y] for a in Y])
    n = len(X)
    expected = (K * L).sum() / n**2 + K.sum() * L.sum() / n**4
    expected -= 2 * (K.sum(axis=1) * L.sum(axis=1)).sum() / n**3
    assert hsic(k, m, X, Y) == pytest.approx(expected, rel=1e-10)


def test_hsic_of_linear_kernels_is_the_squared_covariance():
    X, _ = samples(15, d=3)
    Y, _ = samples(15, d=2, seed=1)
    covariance = (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / 15
    assert hsic(Linear(), Linear(), X, Y) == pytest.approx((covariance**2).sum(), rel=1e-10)


def test_hsic_with_a_constant_is_zero():
    X, _ = samples()
    assert hsic(Gaussian(1.0), Gaussian(1.0), X, np.ones((12, 1))) == pytest.approx(0, abs=1e-15)


# ---- p-values ----------------------------------------------------------------------------------


def uniform_enough(pvalues):
    """Hold the bounds that a valid test of 39 permutations must keep, at four standard errors."""
    n = len(pvalues)
    for level in (0.1, 0.25, 0.5, 0.75):
        share = np.mean(np.asarray(pvalues) <= level + 1e-12)
        assert abs(share - level) < 4 * np.sqrt(level * (1 - level) / n), (level, share)


def test_mmd_pvalues_are_uniform_if_both_sets_come_from_the_same_distribution():
    found = []
    for seed in range(120):
        X, Y = samples(10, 10, shift=0.0, seed=seed)
        found.append(mmd(Gaussian(1.0), X, Y, permutations=39, seed=seed + 1000).pvalue)
    uniform_enough(found)


def test_hsic_pvalues_are_uniform_under_independence():
    found = []
    for seed in range(120):
        X, Y = samples(12, 12, d=1, seed=seed)
        statistic = hsic(Gaussian(1.0), Gaussian(1.0), X, Y, permutations=39, seed=seed + 1000)
        found.append(statistic.pvalue)
    uniform_enough(found)


def test_pvalues_are_small_where_there_is_something_to_find():
    X, Y = samples(30, 30, shift=1.5)
    assert mmd(Gaussian(1.0), X, Y, permutations=199).pvalue == 1 / 200
    x = np.linspace(-1, 1, 40)[:, None]
    # A parabola: no correlation, but dependence.
    assert abs(np.corrcoef(x[:, 0], x[:, 0] ** 2)[0, 1]) < 1e-12
    assert hsic(Gaussian(0.5), Gaussian(0.5), x, x**2, permutations=199).pvalue == 1 / 200


def test_a_pvalue_counts_permutations_at_least_as_extreme():
    X, Y = samples()
    found = mmd(Gaussian(1.0), X, Y, permutations=50, seed=3)
    assert found.null.shape == (50,)
    assert found.pvalue == (1 + np.sum(found.null >= float(found))) / 51
    again = mmd(Gaussian(1.0), X, Y, permutations=50, seed=3)
    np.testing.assert_array_equal(found.null, again.null)
    assert mmd(Gaussian(1.0), X, Y).pvalue is None


def test_the_null_values_are_those_of_relabeled_sets():
    X, Y = samples(3, 2)
    both = np.concatenate([X, Y])
    possible = {
        round(float(mmd(Gaussian(1.0), both[list(c)], np.delete(both, c, axis=0))), 10)
        for c in combinations(range(5), 3)
    }
    found = mmd(Gaussian(1.0), X, Y, permutations=200)
    assert {round(float(value), 10) for value in found.null} == possible


def test_items_that_are_all_alike_show_nothing():
    X = np.ones((6, 1))
    assert mmd(Gaussian(1.0), X, X, permutations=19).pvalue == 1.0
    assert hsic(Gaussian(1.0), Gaussian(1.0), X, X, permutations=19).pvalue == 1.0


# ---- what bad input gets -----------------------------------------------------------------------


def test_unpaired_items_are_refused():
    X, Y = samples()
    with pytest.raises(DomainError, match=r"X has 12 items and Y has 9.*paired"):
        hsic(Gaussian(1.0), Gaussian(1.0), X, Y)


def test_sets_of_different_width_are_refused():
    X, Y = samples()
    with pytest.raises(DomainError, match=r"2 and 1 columns"):
        mmd(Gaussian(1.0), X, Y[:, :1])


def test_bad_items_are_named_with_their_set():
    X, Y = samples()
    Y[4, 1] = np.nan
    with pytest.raises(DomainError, match=r"Y contains NaN at row 4, column 1"):
        mmd(Gaussian(1.0), X, Y)


@pytest.mark.parametrize("weights", [[1.0], [-1.0] * 12, [0.0] * 12, [np.nan] * 12])
def test_bad_weights_of_an_embedding_are_refused(weights):
    X, _ = samples()
    with pytest.raises(DomainError, match=r"12 finite numbers, not negative and not all zero"):
        mean_embedding(Gaussian(1.0), X, weights=weights)


def test_a_weight_in_an_embedding_counts_like_repetitions():
    X, new = samples()
    counts = np.arange(12)
    weighted = mean_embedding(Gaussian(1.0), X, weights=counts)
    repeated = mean_embedding(Gaussian(1.0), np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted(new), repeated(new), rtol=1e-12)
