"""Held-out predictions without refits against refits, by every route and for any folds.

Where a shortcut gives a number it must be right to 1e-8 of the largest target or prediction;
where it cannot, it must say so (test_lost_digits.py).
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mercer import GaussianProcess, KernelDiscriminant, KernelRidge, KernelRidgeClassifier
from mercer.machines.ridge import Regression
from mercer.selection.closed_form import ClosedFormTask, held_out_predictions
from mercer.selection.splits import Split
from mercer.solvers.ridge.held_out import held_out, nested
from mercer.solvers.ridge.inverse import CholeskySystem
from mercer.solvers.ridge.spectral import FeatureSystem, TridiagonalSystem
from tests.oracles.refits import (
    FOLDS,
    GRAMS,
    ROUTES,
    assert_right,
    check,
    draw_folds,
    draw_gram,
    forced,
    partition,
    penalties,
    problems,
    refit,
    without,
)

each_route = pytest.mark.parametrize("route", ROUTES)
each_system = pytest.mark.parametrize("kind", [CholeskySystem, TridiagonalSystem, FeatureSystem])


@pytest.mark.slow
@each_route
@settings(max_examples=100)
@given(problems(), st.sampled_from(GRAMS), st.lists(penalties, min_size=1, max_size=3))
def test_what_is_foretold_is_what_a_refit_says(route, problem, gram, levels):
    rng, Y, weights, splits, intercept = problem
    K = draw_gram(rng, len(Y), gram)
    target = Y[:, 0] if Y.shape[1] == 1 else Y
    with forced(route):
        machine = KernelRidge(intercept=intercept)
        found = held_out_predictions(
            [ClosedFormTask(machine, Regression(target, weights), K, splits, levels)]
        )[0]
    check(found, K, Y, splits, levels, weights, intercept)


@pytest.mark.slow
@pytest.mark.parametrize("route", ["inverse", "steps"])
@settings(max_examples=120)
@given(problems(), st.lists(penalties, min_size=1, max_size=3), st.booleans())
def test_nested_folds(route, problem, levels, every):
    """Inner folds may be any sets of the items that their outer fold learns from."""
    rng, Y, weights, outer, intercept = problem
    K = draw_gram(rng, len(Y), "smooth")
    inner = []
    for o, split in enumerate(outer):
        assume(len(split.train) > 2)
        parts = partition(rng, split.train, 2 if every else 3)
        inner += [Split(np.setdiff1d(split.train, part), part, o) for part in parts[: 2 + every]]
    assume(weights is None or all(weights[s.train].any() for s in inner))
    splits = [*outer, *inner]
    with forced(route):
        machine = KernelRidge(intercept=intercept)
        found = held_out_predictions(
            [ClosedFormTask(machine, Regression(Y, weights), K, splits, levels)]
        )[0]
    check(found, K, Y, splits, levels, weights, intercept)


@each_route
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("folds", FOLDS)
def test_ordinary_problems_are_never_refitted(folds, intercept, weighted, route):
    rng = np.random.default_rng(5)
    n, levels = 24, [1e-3, 1.0, 1e3]
    K, Y = draw_gram(rng, n, "smooth"), rng.normal(size=(n, 2))
    K /= K.max()
    weights = rng.uniform(0.5, 2.0, n) if weighted else None
    splits = draw_folds(rng, n, folds)
    with forced(route):
        machine = KernelRidge(intercept=intercept)
        found = held_out_predictions(
            [ClosedFormTask(machine, Regression(Y, weights), K, splits, levels)]
        )[0]
    assert check(found, K, Y, splits, levels, weights, intercept) == 3 * len(splits)


@pytest.mark.parametrize("route", ["inverse", "steps"])
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("intercept", [False, True])
def test_ordinary_nested_folds_are_never_refitted(intercept, targets, route):
    rng = np.random.default_rng(6)
    n, levels = 24, [0.01, 1.0]
    K, Y = draw_gram(rng, n, "low rank"), rng.normal(size=(n, targets))
    outer = [without(part, np.arange(n)) for part in partition(rng, np.arange(n), 4)]
    inner = [
        Split(np.setdiff1d(s.train, part), part, o)
        for o, s in enumerate(outer)
        for part in partition(rng, s.train, 3)
    ]
    with forced(route):
        machine = KernelRidge(intercept=intercept)
        found = held_out_predictions(
            [ClosedFormTask(machine, Regression(Y, None), K, [*outer, *inner], levels)]
        )[0]
    assert check(found, K, Y, [*outer, *inner], levels, None, intercept) == 2 * 16


# ---- the parts --------------------------------------------------------------------------------


def small(rng, kind, n=12, targets=2, rank=4):
    F = rng.normal(size=(n, rank))
    K = F @ F.T
    return (F if kind is FeatureSystem else K), K, rng.normal(size=(n, targets))


@each_system
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_of_each_system(kind, targets, intercept, weighted):
    rng = np.random.default_rng(0)
    source, K, Y = small(rng, kind, targets=targets)
    w = rng.uniform(0.2, 3.0, len(Y)) if weighted else np.ones(len(Y))
    s = np.sqrt(w)
    given_roots = s if weighted else None
    if kind is not FeatureSystem:
        source = s[:, None] * source * s
    inverse = kind(source, Y, given_roots, intercept).at(0.3)
    removals = [slice(0, 1), slice(3, 7), np.array([1, 4, 11]), np.array([2])]
    before = inverse.alpha.copy()
    for chosen in (removals, removals[:1] + removals[3:]):  # the second are single items
        for rows, held in zip(chosen, held_out(inverse, chosen), strict=True):
            split = without(np.arange(len(Y))[rows], np.arange(len(Y)))
            expected = refit(K, Y, split, 0.3, w, intercept)
            assert held.trusted
            np.testing.assert_allclose(
                held.residuals, s[split.test, None] * (Y[split.test] - expected), atol=1e-12
            )
    np.testing.assert_array_equal(inverse.alpha, before)


@each_system
@pytest.mark.parametrize("intercept", [False, True])
def test_alpha_and_offset_are_the_solution_of_all_items(kind, intercept):
    rng = np.random.default_rng(1)
    source, K, Y = small(rng, kind)
    inverse = kind(source, Y, None, intercept).at(0.3)
    unit = 0.3 if kind is FeatureSystem else 1.0
    n = len(Y)
    A = np.block([[K + 0.3 * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    A = A if intercept else A[:n, :n]
    expected = np.linalg.solve(A, np.vstack([Y, np.zeros((1, 2))]) if intercept else Y)
    np.testing.assert_allclose(inverse.alpha, unit * expected[:n], atol=1e-11)
    if intercept:
        np.testing.assert_allclose(inverse.offset, expected[n], atol=1e-11)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("intercept", [False, True])
def test_nested_can_be_asked_again(intercept, targets):
    rng = np.random.default_rng(2)
    source, K, Y = small(rng, CholeskySystem, targets=targets)
    inverse = CholeskySystem(source, Y, None, intercept, full=True).at(0.3)
    items = np.arange(len(Y))
    for _ in range(2):
        for outer in (slice(4, 8), slice(0, 3), slice(11, 12)):
            rest = np.setdiff1d(items, items[outer])
            inner = [rest[:3], rest[1::2], rest[-1:]]
            whole, helds = nested(inverse, outer, inner)
            expected = refit(K, Y, without(items[outer], items), 0.3, None, intercept)
            np.testing.assert_allclose(whole.residuals, Y[outer] - expected, atol=1e-11)
            for rows, held in zip(inner, helds, strict=True):
                split = Split(np.setdiff1d(rest, rows), rows)
                expected = refit(K, Y, split, 0.3, None, intercept)
                np.testing.assert_allclose(held.residuals, Y[rows] - expected, atol=1e-11)


# ---- the machines -----------------------------------------------------------------------------

MACHINES = {
    "ridge": KernelRidge(intercept=True),
    "process": GaussianProcess(),
    "classifier": KernelRidgeClassifier(intercept=True, class_weight={0: 2.0, 1: 0.5}),
    "discriminant": KernelDiscriminant(),
}


@pytest.mark.parametrize("route", [*ROUTES, "features"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MACHINES)
def test_machines_are_foretold_as_they_would_be_fitted(name, weighted, classes, route):
    rng = np.random.default_rng(classes)
    n, levels = 30, [0.01, 1.0, 100.0]
    F = rng.normal(size=(n, 4))
    K, y = F @ F.T, np.digitize(F[:, 0] + 0.3 * rng.normal(size=n), [-0.4, 0.6][: classes - 1])
    weights = rng.uniform(0.3, 3.0, n) * (np.arange(n) % 7 > 0) if weighted else None
    machine = MACHINES[name]
    if name in ("ridge", "process"):
        y = F[:, :1] if classes == 2 else F[:, 1:3]
    splits = [without(part, np.arange(n)) for part in partition(rng, np.arange(n), 5)]
    with forced(route):
        task = machine.regression(y, n, weights)
        source = F if route == "features" else K
        found = held_out_predictions(
            [ClosedFormTask(machine, task, source, splits, levels, route != "features")]
        )[0]
    known = 0
    for penalty, row in zip(levels, found.predictions, strict=True):
        for split, scores in zip(splits, row, strict=True):
            fitted = type(machine)(**machine.get_params(deep=False))
            fitted.set_params(kernel="precomputed", penalty=penalty)
            w = None if weights is None else weights[split.train]
            fitted.fit(K[np.ix_(split.train, split.train)], y[split.train], w)
            expected = fitted._decision_values(K[np.ix_(split.test, split.train)])
            if scores is not None:
                known += 1
                assert_right(scores, expected, expected)
    assert known == 15 or weighted  # an item without weight has no held-out residual
    assert known > 0
