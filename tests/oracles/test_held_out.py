"""Held-out predictions without refits against refits, by every route and for any folds.

The oracle eliminates the training rows of the same Gram matrix in extended precision. Where a
shortcut gives a number it must be right to 1e-8 of the largest target or prediction; where it
cannot, it must say so. Folds, weights, penalties and singular matrices are drawn by hypothesis.
"""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from mercer import GaussianProcess, KernelDiscriminant, KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian
from mercer.machines.ridge import Regression
from mercer.plans.heldout import HeldOutPlan
from mercer.selection import ridge
from mercer.selection.ridge import TRUSTED, foretell
from mercer.selection.splits import Split
from mercer.solvers.heldout import LOST, Features, Inverse, Spectrum, held_out, nested

ROUTES = ["inverse", "spectrum", "refit spectrum", "steps"]
SYSTEMS = [Inverse, Spectrum, Features]
each_route = pytest.mark.parametrize("route", ROUTES)
each_system = pytest.mark.parametrize("kind", SYSTEMS)
penalties = st.floats(-10, 6).map(lambda power: 10.0**power)


@contextmanager
def forced(route):
    """Take one route, whatever it costs."""
    steps = 1000.0 if route == "steps" else 0.0
    name = "inverse" if route == "steps" else route
    plan = HeldOutPlan(name, {name: 1.0}, steps=steps, next=name)
    with patch.object(ridge, "plan_held_out", lambda *_, **__: plan):
        yield


def solved(M, R):
    """Solve a positive definite system in extended precision."""
    n = len(M)
    A = np.column_stack([M, R]).astype(np.longdouble)
    for i in range(n):
        A[i] /= A[i, i]
        others = np.arange(n) != i
        A[others] -= A[others, i][:, None] * A[i]
    return A[:, n:]


def refit(K, Y, split, penalty, weights=None, intercept=False):
    """Return the predictions of a split's test items by a ridge regression on its training items."""
    train = split.train if weights is None else split.train[weights[split.train] > 0]
    noise = np.ones(len(train)) if weights is None else 1 / weights[train].astype(np.longdouble)
    M = K[np.ix_(train, train)] + penalty * np.diag(noise)
    found = solved(M, np.column_stack([Y[train], np.ones(len(train))]))
    a, c = found[:, :-1], found[:, -1:]
    b = a.sum(axis=0) / c.sum() if intercept else 0.0
    return (K[np.ix_(split.test, train)] @ (a - c * b) + b).astype(float)


def assert_right(found, expected, Y):
    scale = max(np.abs(Y).max(), np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * scale)


# ---- what is drawn --------------------------------------------------------------------------


def partition(rng, items, count):
    parts = np.array_split(rng.permutation(items), count)
    return [np.sort(part) for part in parts]


def without(part, items):
    return Split(np.setdiff1d(items, part), part)


def draw_folds(rng, n, kind):
    """Return splits of n items: each kind is one that some splitter makes."""
    items = np.arange(n)
    if kind == "one by one":
        return [without(items[i : i + 1], items) for i in range(n)]
    if kind == "groups":
        groups = rng.integers(0, 3, n)
        groups[:2] = 0, 1
        return [without(np.flatnonzero(groups == g), items) for g in np.unique(groups)]
    if kind == "repeated":
        return [without(part, items) for _ in range(2) for part in partition(rng, items, 3)]
    if kind == "some never":  # tested, and others neither learned from nor tested
        chosen = rng.permutation(n)
        return [Split(np.sort(chosen[2:-1]), chosen[:2]), Split(chosen[:-3], chosen[-1:])]
    return [without(part, items) for part in partition(rng, items, rng.integers(2, 5))]


FOLDS = ["one by one", "groups", "repeated", "some never", "k-fold"]


def draw_gram(rng, n, kind):
    X = rng.normal(size=(n, 2))
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "low rank":
        return X @ X.T
    return 10.0 ** rng.uniform(-3, 3) * Gaussian(10.0 ** rng.uniform(-1, 1))(X)


GRAMS = ["smooth", "duplicates", "low rank"]


@st.composite
def problems(draw):
    """Return targets, weights and folds of a few items, and the generator for the rest."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(5, 20))
    Y = rng.normal(size=(n, draw(st.integers(1, 3)))) + draw(st.sampled_from([0.0, 100.0]))
    kind = draw(st.sampled_from(["none", "some", "zeros"]))
    weights = None if kind == "none" else rng.uniform(0.05, 3.0, n)
    if kind == "zeros":
        weights[rng.random(n) < 0.25] = 0.0
    splits = draw_folds(rng, n, draw(st.sampled_from(FOLDS)))
    assume(weights is None or all(weights[s.train].any() for s in splits))
    return rng, Y, weights, splits, draw(st.booleans())


def check(found, K, Y, splits, levels, weights, intercept):
    """Compare all numbers that were foretold; return how many there were."""
    count = 0
    for row, penalty in zip(found.scores, levels, strict=True):
        for split, scores in zip(splits, row, strict=True):
            if scores is not None:
                expected = refit(K, Y, split, penalty, weights, intercept)
                assert_right(scores.reshape(expected.shape), expected, Y)
                count += 1
    return count


# ---- the laws ---------------------------------------------------------------------------------


@each_route
@settings(max_examples=40)
@given(problems(), st.sampled_from(GRAMS), st.lists(penalties, min_size=1, max_size=3))
def test_what_is_foretold_is_what_a_refit_says(route, problem, gram, levels):
    rng, Y, weights, splits, intercept = problem
    K = draw_gram(rng, len(Y), gram)
    target = Y[:, 0] if Y.shape[1] == 1 else Y
    with forced(route):
        machine = KernelRidge(intercept=intercept)
        found = foretell(machine, Regression(target, weights), K, splits, levels)
    check(found, K, Y, splits, levels, weights, intercept)


@settings(max_examples=150)
@given(problems(), st.integers(1, 4), st.integers(0, 6), st.lists(penalties, max_size=3))
def test_what_features_foretell_is_what_a_refit_says(problem, count, orders, levels):
    rng, Y, weights, splits, intercept = problem
    F = rng.normal(size=(len(Y), count)) * 10.0 ** rng.uniform(-orders / 2, orders / 2, count)
    F[:, -1] = rng.choice([F[:, 0], F[:, -1], np.ones(len(Y)), F[:, -1] * (F[:, 0] > 0)])
    machine = KernelRidge(intercept=intercept)
    found = foretell(machine, Regression(Y, weights), F, splits, levels, is_gram=False)
    check(found, F @ F.T, Y, splits, levels, weights, intercept)


@settings(max_examples=60)
@given(problems(), penalties, st.booleans())
def test_nested_folds(problem, penalty, every):
    """Inner folds may be any sets of the items that their outer fold learns from."""
    rng, Y, weights, outer, intercept = problem
    K = draw_gram(rng, len(Y), "smooth")
    inner = []
    for o, split in enumerate(outer):
        assume(len(split.train) > 2)
        parts = partition(rng, split.train, 2 if every else 3)
        inner += [
            Split(np.setdiff1d(split.train, part), part, o) for part in parts[: 2 + every]
        ]
    assume(weights is None or all(weights[s.train].any() for s in inner))
    splits = [*outer, *inner]
    with forced("inverse"):
        machine = KernelRidge(intercept=intercept)
        found = foretell(machine, Regression(Y, weights), K, splits, [penalty])
    check(found, K, Y, splits, [penalty], weights, intercept)


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
        found = foretell(machine, Regression(Y, weights), K, splits, levels)
    assert check(found, K, Y, splits, levels, weights, intercept) == 3 * len(splits)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("intercept", [False, True])
def test_ordinary_nested_folds_are_never_refitted(intercept, targets):
    rng = np.random.default_rng(6)
    n, levels = 24, [0.01, 1.0]
    K, Y = draw_gram(rng, n, "low rank"), rng.normal(size=(n, targets))
    outer = [without(part, np.arange(n)) for part in partition(rng, np.arange(n), 4)]
    inner = [
        Split(np.setdiff1d(s.train, part), part, o)
        for o, s in enumerate(outer)
        for part in partition(rng, s.train, 3)
    ]
    with forced("inverse"):
        machine = KernelRidge(intercept=intercept)
        found = foretell(machine, Regression(Y, None), K, [*outer, *inner], levels)
    assert check(found, K, Y, [*outer, *inner], levels, None, intercept) == 2 * 16


# ---- the parts --------------------------------------------------------------------------------


def small(rng, kind, n=12, targets=2, rank=4):
    F = rng.normal(size=(n, rank))
    K = F @ F.T
    return (F if kind is Features else K), K, rng.normal(size=(n, targets))


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
    if kind is not Features:
        source = s[:, None] * source * s
    influence = kind(source, Y, given_roots, intercept).at(0.3)
    removals = [slice(0, 1), slice(3, 7), np.array([1, 4, 11]), np.array([2])]
    before = influence.alpha.copy()
    for chosen in (removals, removals[:1] + removals[3:]):  # the second are single items
        for rows, held in zip(chosen, held_out(influence, chosen), strict=True):
            split = without(np.arange(len(Y))[rows], np.arange(len(Y)))
            expected = refit(K, Y, split, 0.3, w, intercept)
            assert held.trusted
            np.testing.assert_allclose(
                held.residuals, s[split.test, None] * (Y[split.test] - expected), atol=1e-12
            )
    np.testing.assert_array_equal(influence.alpha, before)


@each_system
@pytest.mark.parametrize("intercept", [False, True])
def test_alpha_and_offset_are_the_solution_of_all_items(kind, intercept):
    rng = np.random.default_rng(1)
    source, K, Y = small(rng, kind)
    influence = kind(source, Y, None, intercept).at(0.3)
    unit = 0.3 if kind is Features else 1.0
    n = len(Y)
    A = np.block([[K + 0.3 * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    A = A if intercept else A[:n, :n]
    expected = np.linalg.solve(A, np.vstack([Y, np.zeros((1, 2))]) if intercept else Y)
    np.testing.assert_allclose(influence.alpha, unit * expected[:n], atol=1e-11)
    if intercept:
        np.testing.assert_allclose(influence.offset, expected[n], atol=1e-11)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("intercept", [False, True])
def test_nested_can_be_asked_again(intercept, targets):
    rng = np.random.default_rng(2)
    source, K, Y = small(rng, Inverse, targets=targets)
    influence = Inverse(source, Y, None, intercept).at(0.3)
    items = np.arange(len(Y))
    for _ in range(2):
        for outer in (slice(4, 8), slice(0, 3), slice(11, 12)):
            rest = np.setdiff1d(items, items[outer])
            inner = [rest[:3], rest[1::2], rest[-1:]]
            whole, helds = nested(influence, outer, inner)
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
        task = machine._regression(y, n, weights)
        source = F if route == "features" else K
        found = foretell(machine, task, source, splits, levels, route != "features")
    known = 0
    for penalty, row in zip(levels, found.scores, strict=True):
        for split, scores in zip(splits, row, strict=True):
            fitted = type(machine)(**machine.get_params(deep=False))
            fitted.set_params(kernel="precomputed", penalty=penalty)
            w = None if weights is None else weights[split.train]
            fitted.fit(K[np.ix_(split.train, split.train)], y[split.train], w)
            expected = fitted._scores(K[np.ix_(split.test, split.train)])
            if scores is not None:
                known += 1
                assert_right(scores, expected, expected)
    assert known == 15 or weighted  # an item without weight has no held-out residual
    assert known > 0


# ---- lost digits ------------------------------------------------------------------------------


def hard(rng, n=16):
    """Return a Gram matrix that is singular to rounding, and targets that are not smooth."""
    X = rng.normal(size=(n, 1))
    return 1e4 * Gaussian(3.0)(X), rng.normal(size=(n, 1))


@pytest.mark.parametrize("kind", [Inverse, Spectrum])
def test_thresholds_are_not_too_wide_and_not_idle(kind):
    """Without them some numbers would be wrong by more than 1e-8."""
    rng = np.random.default_rng(0)
    worst = {True: 0.0, False: 0.0}
    items, refused = np.arange(16), 0
    for penalty in 10.0 ** np.arange(-12, 2.0):
        K, Y = hard(rng)
        influence = kind(K, Y).at(penalty)
        if influence is None:
            continue
        for part in partition(rng, items, 4):
            held = held_out(influence, [part])[0]
            expected = refit(K, Y, without(part, items), penalty)
            trusted = held.trusted and influence.condition <= TRUSTED[kind]
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
    found = foretell(KernelRidge(), Regression(Y, None), F, splits, levels, is_gram=False)
    for penalty, row in zip(levels, found.scores, strict=True):
        for split, scores in zip(splits, row, strict=True):
            A = F[split.train].T @ F[split.train] + penalty * np.eye(2)
            w = solved(A, F[split.train].T @ Y[split.train]).astype(float)
            if scores is not None:
                assert_right(scores, F[split.test] @ w, Y)
            else:
                assert large > 1e2


def test_an_item_with_all_the_leverage_is_not_trusted():
    F = np.array([[1e5, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    influence = Features(F, np.ones((4, 1))).at(1e-3)
    alone, others = held_out(influence, [np.array([0]), np.array([1])])
    assert 1 - 1e10 / (1e10 + 1e-3) < LOST and not alone.trusted and others.trusted
    assert not held_out(influence, [np.array([0, 1])])[0].trusted


def test_nothing_is_lost_on_features_that_are_all_zero():
    splits = [Split(np.arange(3), np.array([3, 4])), Split(np.arange(2, 5), np.array([0]))]
    Y = np.arange(5.0)
    for intercept in (False, True):
        found = foretell(
            KernelRidge(intercept=intercept), Regression(Y, None), np.zeros((5, 2)), splits, [1.0],
            is_gram=False,
        )  # fmt: skip
        expected = [Y[s.train].mean() if intercept else 0.0 for s in splits]
        for scores, value in zip(found.scores[0], expected, strict=True):
            np.testing.assert_allclose(scores, value, atol=1e-14)


@pytest.mark.parametrize("kind", SYSTEMS)
def test_no_number_from_a_penalty_that_leaves_the_matrix_singular(kind):
    F = np.ones((6, 1))
    influence = kind(F if kind is Features else F @ F.T, np.arange(6.0)[:, None], None, True)
    found = influence.at(1e-30)
    assert found is None or not found.condition <= TRUSTED[kind]


def test_splits_that_are_not_a_plain_removal_are_left_to_refits():
    K, Y = np.eye(6) + 1.0, np.arange(6.0)
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    splits = [
        Split(np.array([0, 0, 1]), np.array([2])),  # an item that counts twice
        Split(np.array([0, 1, 2]), np.array([2])),  # an item that is learned and held out
        Split(np.array([0, 1, 2]), np.array([4, 5])),  # an item without weight
        Split(np.array([0, 1, 2]), np.array([4, 3, 3])),  # one that is asked twice
    ]
    found = foretell(KernelRidge(), Regression(Y, weights), K, splits, [1.0, 0.0])
    assert [scores is None for scores in found.scores[0]] == [True, True, True, False]
    assert found.scores[1] == [None] * 4
    expected = refit(K, Y[:, None], splits[3], 1.0, weights)
    np.testing.assert_allclose(found.scores[0][3], expected[:, 0], atol=1e-12)
