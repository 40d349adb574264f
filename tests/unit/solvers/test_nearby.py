"""Answers at penalties near one whose inverse is known are those of systems of their own."""

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.solvers import nearby
from mercer.solvers.heldout import held_out, nested
from mercer.solvers.influence import Inverse
from mercer.solvers.krylov import Space, lengths_of
from mercer.solvers.nearby import Fold, Pole

# Folds of 24 items, of different sizes, each with its inner ones. An outer fold with inner ones is
# a slice; the last item is always learned from.
PLAIN = [(slice(0, 5), []), (np.array([6, 9, 20]), []), (slice(3, 15), [])]
NESTED = [
    (slice(0, 6), [slice(6, 10), np.array([11, 13]), slice(15, 22), slice(10, 15)]),
    (slice(6, 9), [slice(0, 4), slice(9, 15)]),
    (slice(9, 11), []),
]
CASES = [
    (folds, weighted, intercept)
    for folds in ("plain", "nested")
    for weighted in (False, True)
    for intercept in (False, True)
]
each_case = pytest.mark.parametrize(("folds", "weighted", "intercept"), CASES)


def problem(folds, weighted, intercept, penalty=0.5, mean=3.0):
    """Return a pole, and which items each of its splits is learned from."""
    rng = np.random.default_rng(3)
    n = 24
    s = rng.uniform(0.05, 2.0, n) if weighted else np.ones(n)
    M = s[:, None] * Gaussian(1.0)(rng.normal(size=(n, 2))) * s
    Y = rng.normal(size=(n, 2)) + mean
    system = Inverse(M, Y, s if weighted else None, intercept)
    influence = system.at(penalty)
    left_out, trained = [], []

    def fold(rows, held, *others):
        train = np.ones(n, dtype=bool)
        for some in (rows, *others):
            train[some] = False
        trained.append(train)
        return Fold(rows, held, len(trained) - 1)

    for outer, inner in NESTED if folds == "nested" else PLAIN:
        if inner:
            whole, helds = nested(influence, outer, inner)
        else:
            (whole,), helds = held_out(influence, [outer]), []
        family = [fold(outer, whole)]
        left_out.append(family)
        family += [fold(rows, held, outer) for rows, held in zip(inner, helds, strict=True)]
    masks = np.array(trained, dtype=float)
    return Pole(system, influence, penalty, left_out, masks, range(len(masks))), np.array(trained)


def alone(system, train, penalty):
    """Return the inverse of a training set's own system, without the border, and its answers."""
    M = system.matrix[np.ix_(train, train)] + penalty * np.eye(train.sum())
    A, Y = np.linalg.inv(M), system.sides[train, :2]
    offset = np.zeros(2)
    if system.intercept:
        c = A @ system.s[train]
        offset = c @ Y / (system.s[train] @ c)
        A = A - np.outer(c, c) / (system.s[train] @ c)
    return A, A @ Y, offset


@each_case
def test_products_with_inverses_of_all_training_sets(folds, weighted, intercept):
    pole, trained = problem(folds, weighted, intercept)
    rows = np.random.default_rng(0).normal(size=(len(trained), 2, 24)) * trained[:, None]
    found = np.full((2 * len(trained), 24), np.nan)
    pole.multiply(rows.reshape(-1, 24), found)
    for train, some, theirs in zip(trained, rows, found.reshape(rows.shape), strict=True):
        A, _, _ = alone(pole.system, train, pole.penalty)
        expected = np.zeros((2, 24))
        expected[:, train] = some[:, train] @ A
        np.testing.assert_allclose(theirs, expected, rtol=0, atol=1e-12)


@each_case
@pytest.mark.parametrize("levels", [[0.1, 2.0, 0.5, 0.4, 0.4], [0.7], [0.05, 8.0]])
def test_answers_are_those_of_systems_of_their_own(folds, weighted, intercept, levels):
    pole, trained = problem(folds, weighted, intercept)
    found = pole.solve(np.array(levels), 60)
    assert found.solved.tolist() == list(range(len(levels)))
    for j, penalty in enumerate(levels):
        for i, train in enumerate(trained):
            _, alpha, offset = alone(pole.system, train, penalty)
            expected = np.zeros((24, 2))
            expected[train] = alpha
            close = {"rtol": 0, "atol": 1e-8 * np.abs(alpha).max()}
            np.testing.assert_allclose(found.solutions[j, i].T, expected, **close)
            product = pole.system.matrix @ expected
            np.testing.assert_allclose(found.products[j, i].T, product, **close)
            np.testing.assert_allclose(found.offsets[j, i], offset, **close)


def test_penalties_stay_as_they_were_given():
    levels = np.array([0.5, 0.25])
    problem("plain", False, False)[0].solve(levels, 60)
    assert levels.tolist() == [0.5, 0.25]


def test_what_takes_more_steps_is_left_to_others():
    pole, _ = problem("nested", False, True)
    found = pole.solve(np.array([0.499, 1e-3, 0.501]), 4)
    assert found.solved.tolist() == [0, 2]
    assert len(found.solutions) == len(found.products) == len(found.offsets) == 2


def test_what_is_not_accurate_is_left_to_others(monkeypatch):
    pole, _ = problem("plain", True, False)
    monkeypatch.setattr(nearby, "ACCEPTED", 1e-20)
    assert not len(pole.solve(np.array([0.4, 0.6]), 60).solved)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("off", "good"), [(0.9, True), (1.1, False)])
def test_errors_count_without_the_weights(weighted, off, good):
    """An item of small weight is farther off than the residual of its equation says."""
    pole, trained = problem("plain", weighted, False)
    assert (pole.system.spread > 3) == weighted
    X = np.zeros((1, len(trained), 2, 24))
    for i, train in enumerate(trained):
        X[0, i][:, train] = alone(pole.system, train, 0.4)[1].T / pole.sides[1][i]
    P = X @ pole.system.matrix
    assert pole._checked(X, P, np.array([0.4]))[0].tolist() == [True]
    P[0, 1, 0, 23] += off * nearby.ACCEPTED / pole.system.spread * lengths_of(pole.sides[0][1, 0])
    assert pole._checked(X, P, np.array([0.4]))[0].tolist() == [good]


@pytest.mark.parametrize("intercept", [False, True])
def test_targets_that_are_zero_or_constant(intercept):
    K = Gaussian(1.0)(np.arange(8.0)[:, None])
    Y = np.column_stack([np.zeros(8), np.full(8, 2.0)])
    system = Inverse(K, Y, None, intercept)
    influence = system.at(1.0)
    (held,) = held_out(influence, [slice(0, 3)])
    masks = np.repeat([[0.0, 1.0]], [3, 5], axis=1)
    pole = Pole(system, influence, 1.0, [[Fold(slice(0, 3), held, 0)]], masks, [0])
    found = pole.solve(np.array([0.5, 2.0]), 20)
    assert found.solved.tolist() == [0, 1]
    assert not found.solutions[:, :, 0].any()
    if intercept:
        np.testing.assert_allclose(found.offsets[:, 0], [[0.0, 2.0]] * 2, atol=1e-14)
        np.testing.assert_allclose(found.solutions, 0.0, atol=1e-14)
    else:
        expected = np.linalg.solve(K[3:, 3:] + 0.5 * np.eye(5), Y[3:, 1])
        np.testing.assert_allclose(found.solutions[0, 0, 1, 3:], expected, atol=1e-10)


def test_the_smallest_eigenvalue():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(50, 50)))[0]
    for values in (np.linspace(2.0, 9.0, 50), np.full(50, 3.0), np.r_[np.zeros(20), np.ones(30)]):
        system = Inverse(Q * values @ Q.T, np.ones((50, 1)))
        pole = Pole(system, system.at(0.7), 0.7, [], np.ones((0, 50)), [])
        found = pole.smallest_eigenvalue()
        assert values.min() - 1e-12 <= found <= 1.1 * values.min() + 1e-12


# ---- the space ---------------------------------------------------------------------------------


def space_of_an_inverse(apart, n=40):
    """Return (M, r, λ₀) and the space of M⁻¹ for several penalties beside λ₀."""
    rng = np.random.default_rng(2)
    B = Gaussian(0.7)(rng.normal(size=(n, 2))) + 0.5 * np.eye(n)
    A, R = np.linalg.inv(B), rng.normal(size=(3, n))
    first = R @ A
    lengths = lengths_of(first)
    multiply = lambda rows, found: np.matmul(rows, A, out=found)
    unit = lengths[:, None]
    return B, R, lengths, Space(multiply, first / unit, 1 / apart, 1e-11, R / unit)


@pytest.mark.parametrize("steps", [1, 2, 5, 9])
def test_residuals_are_known_before_the_answers(steps):
    apart = np.array([1.0, -0.45, 0.2])
    B, R, lengths, space = space_of_an_inverse(apart)
    for _ in range(steps):
        assert space.step()
    X = space.solutions(np.arange(3), lengths) / apart[:, None, None]
    for shift, x, error in zip(apart, X, space.errors[-1], strict=True):
        rest = R - x @ (B + shift * np.eye(len(B)))
        expected = (lengths_of(rest) / lengths_of(R)).max()
        np.testing.assert_allclose(error, expected, rtol=1e-6, atol=1e-13)


def test_a_step_too_many_does_no_harm():
    apart = np.array([1e-6, 1e3, -0.4999])
    B, R, lengths, space = space_of_an_inverse(apart, n=4)
    steps = 0
    while space.step() and steps < 500:
        steps += 1
    solved = np.flatnonzero(space.done)
    X = space.solutions(solved, lengths) / apart[solved, None, None]
    assert 0 in solved
    for shift, x in zip(apart[solved], X, strict=True):
        expected = np.linalg.solve(B + shift * np.eye(4), R.T).T
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
