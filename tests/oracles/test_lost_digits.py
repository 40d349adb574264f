"""Lost digits: a shortcut that would be wrong says so, and then the search fits again."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer import KernelRidge
from mercer.kernels import Gaussian, Linear
from mercer.machines.ridge import Regression
from mercer.selection.closed_form import ClosedFormTask, held_out_predictions
from mercer.selection.fold_predictions import MAX_CONDITION
from mercer.selection.splits import Split
from mercer.solvers.ridge.held_out import held_out
from mercer.solvers.ridge.inverse import MIN_SHARE_LEFT, CholeskySystem
from mercer.solvers.ridge.spectral import FeatureSystem, TridiagonalSystem
from tests.oracles.refits import (
    GRAMS,
    ROUTES,
    check,
    draw_folds,
    draw_gram,
    forced,
    partition,
    penalties,
    problems,
    refit,
    refit_features,
    without,
)
from tests.oracles.searches import agree


@pytest.mark.slow
@settings(max_examples=150)
@given(problems(), st.integers(1, 4), st.integers(0, 6), st.lists(penalties, max_size=3))
def test_what_features_foretell_is_what_a_refit_says(problem, count, orders, levels):
    rng, Y, weights, splits, intercept = problem
    F = rng.normal(size=(len(Y), count)) * 10.0 ** rng.uniform(-orders / 2, orders / 2, count)
    F[:, -1] = rng.choice([F[:, 0], F[:, -1], np.ones(len(Y)), F[:, -1] * (F[:, 0] > 0)])
    machine = KernelRidge(intercept=intercept)
    for source in (F, sparse.csr_array(F)):
        found = held_out_predictions(
            [
                ClosedFormTask(
                    machine, Regression(Y, weights), source, splits, levels, is_gram=False
                )
            ]
        )[0]
        check(found, F, Y, splits, levels, weights, intercept, refit_features)


def hard(rng, n=16):
    """Return a Gram matrix that is singular to rounding, and targets that are not smooth."""
    X = rng.normal(size=(n, 1))
    return 1e4 * Gaussian(3.0)(X), rng.normal(size=(n, 1))


@pytest.mark.parametrize("kind", [CholeskySystem, TridiagonalSystem])
def test_thresholds_are_not_too_wide_and_not_idle(kind):
    """Without them some numbers would be wrong by more than 1e-8."""
    rng = np.random.default_rng(0)
    worst = {True: 0.0, False: 0.0}
    items, refused = np.arange(16), 0
    for penalty in 10.0 ** np.arange(-12, 2.0):
        K, Y = hard(rng)
        inverse = kind(K, Y).at(penalty)
        if inverse is None:
            continue
        for part in partition(rng, items, 4):
            (held,) = held_out(inverse, [part])
            expected = refit(K, Y, without(part, items), penalty)
            trusted = held.trusted and inverse.condition <= MAX_CONDITION[kind]
            refused += not held.trusted
            scale = max(np.abs(Y).max(), np.abs(expected).max())
            error = np.abs(Y[part] - held.residuals - expected).max() / scale
            worst[trusted] = max(worst[trusted], np.nan_to_num(error, nan=0.0))
    assert worst[True] <= 1e-8 < worst[False]


@example(1e6)
@example(1e3)
@given(st.floats(1.0, 1e7))
def test_small_features_that_look_like_rounding_are_not_forgotten(large):
    """With a penalty that is smaller still they matter, so they must not be dropped in silence."""
    rng = np.random.default_rng(3)
    F = rng.normal(size=(20, 2)) * [large, 1e-3]
    Y = F[:, 1:] * 1e3
    splits = [without(part, np.arange(20)) for part in partition(rng, np.arange(20), 4)]
    levels = [1e-9, 1e-3, 10.0]
    for source in (F, sparse.csr_array(F)):
        task = Regression(Y, None)
        found = held_out_predictions(
            [ClosedFormTask(KernelRidge(), task, source, splits, levels, is_gram=False)]
        )[0]
        count = check(found, F, Y, splits, levels, None, False, refit_features)
        assert count == 12 or large > 10 or source is not F


def test_an_item_with_all_the_leverage_is_not_trusted():
    F = np.array([[1e5, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    inverse = FeatureSystem(F, np.ones((4, 1))).at(1e-3)
    alone, others = held_out(inverse, [np.array([0]), np.array([1])])
    assert 1 - 1e10 / (1e10 + 1e-3) < MIN_SHARE_LEFT and not alone.trusted and others.trusted
    assert not next(held_out(inverse, [np.array([0, 1])])).trusted


def test_nothing_is_lost_on_features_that_are_all_zero():
    splits = [Split(np.arange(3), np.array([3, 4])), Split(np.arange(2, 5), np.array([0]))]
    Y = np.arange(5.0)
    for intercept in (False, True):
        machine, none = KernelRidge(intercept=intercept), np.zeros((5, 2))
        job = ClosedFormTask(machine, Regression(Y, None), none, splits, [1.0], is_gram=False)
        [found] = held_out_predictions([job])
        expected = [Y[s.train].mean() if intercept else 0.0 for s in splits]
        for scores, value in zip(found.predictions[0], expected, strict=True):
            np.testing.assert_allclose(scores, value, atol=1e-14)


@pytest.mark.parametrize("kind", [CholeskySystem, TridiagonalSystem, FeatureSystem])
def test_no_number_from_a_penalty_that_leaves_the_matrix_singular(kind):
    F = np.ones((6, 1))
    inverse = kind(F if kind is FeatureSystem else F @ F.T, np.arange(6.0)[:, None], None, True)
    found = inverse.at(1e-30)
    assert found is None or not found.condition <= MAX_CONDITION[kind]


def test_splits_that_are_not_a_plain_removal_are_left_to_refits():
    K, Y = np.eye(6) + 1.0, np.arange(6.0)
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    splits = [
        Split(np.array([0, 0, 1]), np.array([2])),  # an item that counts twice
        Split(np.array([0, 1, 2]), np.array([2])),  # an item that is learned and held out
        Split(np.array([0, 1, 2]), np.array([4, 5])),  # an item without weight
        Split(np.array([0, 1, 2]), np.array([4, 3, 3])),  # one that is asked twice
    ]
    found = held_out_predictions(
        [ClosedFormTask(KernelRidge(), Regression(Y, weights), K, splits, [1.0, 0.0])]
    )[0]
    assert [scores is None for scores in found.predictions[0]] == [True, True, True, False]
    assert found.predictions[1] == [None] * 4
    expected = refit(K, Y[:, None], splits[3], 1.0, weights)
    np.testing.assert_allclose(found.predictions[0][3], expected[:, 0], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(GRAMS), penalties, st.booleans())
def test_weights_that_are_many_orders_apart(route, seed, gram, penalty, intercept):
    rng = np.random.default_rng(seed)
    n = 14
    K, Y, weights = draw_gram(rng, n, gram), rng.normal(size=(n, 2)), 10 ** rng.uniform(-6, 6, n)
    splits = draw_folds(rng, n, "k-fold")
    with forced(route):
        machine = KernelRidge(intercept=intercept)
        found = held_out_predictions(
            [ClosedFormTask(machine, Regression(Y, weights), K, splits, [penalty])]
        )[0]
    check(found, K, Y, splits, [penalty], weights, intercept)


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
def test_many_smooth_items_keep_their_digits(intercept):
    """Of folds that lie side by side, at half of the worst condition that is trusted."""
    rng, n = np.random.default_rng(1), 300
    X = np.linspace(-1.0, 1.0, n)[:, None]
    K, items = Gaussian(0.1)(X), np.arange(n)
    Y = np.column_stack([np.sin(3 * X[:, 0]), rng.normal(size=n)])
    penalty = 2 * K.sum(axis=1).max() / MAX_CONDITION[CholeskySystem]
    halves = [without(items[: n // 2], items), without(items[n // 2 :], items)]
    few = [rng.choice(split.train, 10, replace=False) for split in halves]  # are left to learn
    inner = [
        Split(np.sort(rest), np.setdiff1d(split.train, rest), o)
        for o, (split, rest) in enumerate(zip(halves, few, strict=True))
    ]
    for splits in (halves, halves + inner):
        with forced("inverse"):
            machine = KernelRidge(intercept=intercept)
            [found] = held_out_predictions(
                [ClosedFormTask(machine, Regression(Y, None), K, splits, [penalty])]
            )
        assert check(found, K, Y, splits, [penalty], None, intercept) == len(splits)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("kernel", "width"), [(Gaussian(3.0), 2.0), (Linear(), [1e6, 1e-2])], ids=["dual", "few"]
)
def test_a_search_fits_again_where_digits_are_lost(kernel, width, intercept):
    rng = np.random.default_rng(1)
    X = np.repeat(width * rng.normal(size=(16, 2)), 2, axis=0)  # each item twice
    y = np.sin(X[:, 1]) + 0.3 * rng.normal(size=32)
    grid = {"penalty": [1e-7, 1.0, 1e6]}
    found = agree(KernelRidge(kernel, intercept=intercept), grid, X, y)
    assert found.account_.counts["without a refit"] > 0
    assert found.account_.counts["refitted because the shortcut does not hold"] > 0
