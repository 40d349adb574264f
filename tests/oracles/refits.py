"""Refits of ridge regressions in extended precision, and what they are compared on.

The oracle eliminates the training rows of the same Gram matrix, or of the same features. Folds,
weights, penalties and singular matrices are drawn by hypothesis.
"""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from mercer.kernels import Gaussian
from mercer.plans.closed_form_routes import ClosedFormRoute
from mercer.selection import closed_form
from mercer.selection.splits import Split

ROUTES = ["inverse", "tridiagonal", "refit tridiagonal", "steps"]
penalties = st.floats(-10, 6).map(lambda power: 10.0**power)


@contextmanager
def forced(route):
    """Take one route, whatever it costs."""
    steps = 1000.0 if route == "steps" else 0.0
    name = "inverse" if route == "steps" else route
    plan = ClosedFormRoute(name, {name: 1.0}, lanczos_budget=steps, next=name)
    with patch.object(closed_form, "cheapest_route", lambda *_, **__: plan):
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
    """Return what a ridge regression on the training items says of the test items."""
    train = split.train if weights is None else split.train[weights[split.train] > 0]
    noise = np.ones(len(train)) if weights is None else 1 / weights[train].astype(np.longdouble)
    M = K[np.ix_(train, train)] + penalty * np.diag(noise)
    found = solved(M, np.column_stack([Y[train], np.ones(len(train))]))
    a, c = found[:, :-1], found[:, -1:]
    b = a.sum(axis=0) / c.sum() if intercept else 0.0
    return (K[np.ix_(split.test, train)] @ (a - c * b) + b).astype(float)


def refit_features(F, Y, split, penalty, weights=None, intercept=False):
    """Return the same from features, which may differ in scale by many orders."""
    w = np.ones(len(Y)) if weights is None else weights
    F, w, train = F.astype(np.longdouble), w.astype(np.longdouble), split.train
    A = F[train].T @ (w[train, None] * F[train]) + penalty * np.eye(F.shape[1])
    sides = np.column_stack([Y[train], np.ones(len(train))])
    D = 1 / np.sqrt(np.diag(A))[:, None]
    found = D * solved(D * A * D.T, D * (F[train].T @ (w[train, None] * sides)))
    left = w[train] @ (sides - F[train] @ found)
    b = left[:-1] / left[-1] if intercept else np.zeros(Y.shape[1])
    return (F[split.test] @ (found[:, :-1] - np.outer(found[:, -1], b)) + b).astype(float)


def assert_right(found, expected, Y):
    scale = max(np.abs(Y).max(), np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * scale)


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


def check(found, source, Y, splits, levels, weights, intercept, again=refit):
    """Compare all numbers that were foretold; return how many there were."""
    count = 0
    for row, penalty in zip(found.predictions, levels, strict=True):
        for split, scores in zip(splits, row, strict=True):
            if scores is not None:
                expected = again(source, Y, split, penalty, weights, intercept)
                assert_right(scores.reshape(expected.shape), expected, Y)
                count += 1
    return count
