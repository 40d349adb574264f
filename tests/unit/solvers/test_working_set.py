"""Working sets: rounds on some of the variables end where one round on all of them ends."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.gram import Blocked, Dense, GramRanges, LowRank
from mercer.kernels import Gaussian, Linear
from mercer.solvers import working_set
from mercer.solvers.quadratic import Quadratic, SMOOptions, certify, violation_of
from mercer.solvers.working_set import (
    MIN_ITEMS_FOR_COARSE_START,
    _coarse_start,
    largest,
    maximize,
    select,
)

KERNEL = Gaussian(1.0)
TIGHT = SMOOptions(tol=1e-8)


def items(n=150, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    order = np.argsort(-z, kind="stable")
    return X[order], z[order]


def classification(z, C=3.0):
    return Quadratic(z, np.minimum(C * z, 0.0), np.maximum(C * z, 0.0), np.zeros(len(z)))


def by_nu(z, nu=0.3):
    """Return a program of two groups, the classes."""
    start = np.zeros(len(z))
    for side in (1.0, -1.0):
        places = np.flatnonzero(z == side)
        total = nu * len(z) / 2
        filled = np.clip(total - np.arange(len(places)), 0.0, 1.0)
        start[places] = side * filled
    sizes = (int((z > 0).sum()), int((z < 0).sum()))
    return Quadratic(np.zeros(len(z)), np.minimum(z, 0.0), np.maximum(z, 0.0), start, sizes)


def regression(y, C=2.0, epsilon=0.1):
    """Return a program with every item twice."""
    n = len(y)
    full, none = np.full(n, C), np.zeros(n)
    return Quadratic(
        np.concatenate([y - epsilon, y + epsilon]), np.concatenate([none, -full]),
        np.concatenate([full, none]), np.zeros(2 * n),
    )  # fmt: skip


def novelty(n, nu=0.3):
    start = np.clip(nu * n - np.arange(n), 0.0, 1.0)
    return Quadratic(np.zeros(n), np.zeros(n), np.ones(n), start)


def problems():
    X, z = items()
    return {
        "classification": classification(z),
        "weighted classification": classification(z, np.linspace(0.1, 5.0, len(z))),
        "nu": by_nu(z),
        "regression": regression(np.sin(2 * X[:, 0])),
        "novelty": novelty(len(z)),
    }


def stored(X, problem):
    """Return a stored matrix whose ranges are the groups, as they must be."""
    ranges = [(g.start, g.stop) for g in problem.groups] if problem.sizes else None
    return GramRanges(KERNEL(X), ranges)


def blocked(X, kernel=KERNEL):
    return Blocked(kernel, kernel.admit(X))


def feasible(problem, beta):
    """Tell whether sums and bounds are kept, up to rounding."""
    sums = [np.isclose(beta[g].sum(), problem.start[g].sum(), atol=1e-9) for g in problem.groups]
    outside = np.maximum(beta - problem.upper, problem.lower - beta).max()
    return all(sums) and outside <= 1e-14 * np.abs(beta).max()


# ---- the same answer ---------------------------------------------------------------------------


@pytest.mark.parametrize("working", [4, 16, 64, 1000])
@pytest.mark.parametrize("name", problems())
def test_small_working_sets_give_the_answer_of_the_stored_matrix(name, working):
    X, problem = items()[0], problems()[name]
    options = SMOOptions(tol=1e-5)
    whole = maximize(stored(X, problem), problem, options)
    for operator in (Dense(KERNEL(X)), blocked(X)):
        parts = maximize(operator, problem, replace(options, working=working))
        assert whole.status == parts.status == "solved"
        assert feasible(problem, whole.coefficients) and feasible(problem, parts.coefficients)
        assert parts.objective == pytest.approx(whole.objective, rel=1e-7)
        np.testing.assert_allclose(parts.coefficients, whole.coefficients, atol=1e-2)
        np.testing.assert_allclose(parts.offsets, whole.offsets, atol=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_coefficients_that_reach_a_bound_are_exactly_there(seed):
    X, z = items(seed=seed)
    C = np.linspace(0.1, 5.0, len(z))
    problem = classification(z, C)
    beta = maximize(blocked(X), problem, SMOOptions(working=64)).coefficients
    assert (beta >= problem.lower).all() and (beta <= problem.upper).all()
    close = (np.abs(np.abs(beta) - C) < 1e-12) | (np.abs(beta) < 1e-12)
    assert ((beta == 0) | (np.abs(beta) == C))[close].all()


def test_a_tight_tolerance_is_reached_by_small_sets_too():
    X, problem = items()[0], problems()["classification"]
    found = maximize(blocked(X), problem, replace(TIGHT, working=16))
    assert found.status == "solved"


@pytest.mark.parametrize("kept", [0, 5, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_kept_do_not_change_the_answer(dtype, kept):
    X, problem = items()[0], problems()["classification"]
    options = SMOOptions(tol=1e-4, working=16, kept=kept, dtype=dtype)
    found = maximize(blocked(X), problem, options)
    whole = maximize(GramRanges(KERNEL(X)), problem, TIGHT)
    assert found.status == "solved"
    np.testing.assert_allclose(found.coefficients, whole.coefficients, atol=1e-2)


def test_explicit_features_serve_as_well_as_the_matrix():
    X, z = items()
    problem = classification(z, 0.5)
    one = maximize(GramRanges(X @ X.T), problem, TIGHT)
    two = maximize(LowRank(X), problem, replace(TIGHT, working=30))
    np.testing.assert_allclose(one.slopes, two.slopes, atol=1e-7)


def test_ranges_of_a_stored_matrix_are_programs_of_their_own():
    X, z = items()
    K = KERNEL(X)
    chosen = np.r_[5:40, 100:145]
    problem = classification(z[chosen])
    part = maximize(GramRanges(K, [(5, 40), (100, 145)]), problem, TIGHT)
    copy = maximize(GramRanges(K[np.ix_(chosen, chosen)].copy()), problem, TIGHT)
    np.testing.assert_allclose(part.coefficients, copy.coefficients, atol=1e-7)


# ---- certificates ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", problems())
def test_slopes_offsets_and_gap_are_those_of_the_coefficients(name):
    X, problem = items()[0], problems()[name]
    K = KERNEL(X)
    found = maximize(blocked(X), problem, SMOOptions(tol=1e-2, working=20))
    n = len(X)
    per_item = found.coefficients.reshape(-1, n).sum(axis=0)
    F = problem.target - np.tile(K @ per_item, len(problem.target) // n)
    np.testing.assert_allclose(found.slopes, F, atol=1e-11)
    offsets, gap, violation = certify(problem, found.coefficients, F)
    np.testing.assert_allclose(found.offsets, offsets, atol=1e-11)
    assert found.gap == pytest.approx(gap, abs=1e-9)
    assert found.violation == pytest.approx(violation, abs=1e-11)
    assert violation <= 1e-2
    square = per_item @ K @ per_item
    assert found.square == pytest.approx(square, rel=1e-10)
    value = problem.target @ found.coefficients - square / 2
    assert found.objective == pytest.approx(value, rel=1e-10)


def test_steps_are_counted_and_bounded():
    X, problem = items()[0], problems()["classification"]
    found = maximize(blocked(X), problem, SMOOptions(tol=1e-8, working=16, steps=37))
    assert found.steps == 37 and found.status == "stalled"
    assert feasible(problem, found.coefficients)
    assert "37 steps" in found.message
    assert found.violation == pytest.approx(
        violation_of(problem, found.coefficients, found.slopes), abs=1e-12
    )


def test_the_history_has_an_entry_for_every_round():
    X, problem = items()[0], problems()["classification"]
    found = maximize(blocked(X), problem, SMOOptions(tol=1e-6, working=16))
    assert len(found.history) > 3
    assert found.history[0] == 2.0 and found.history[-1] <= 1e-6


def test_what_cannot_be_reached_by_rounding_is_a_stall_and_not_a_loop():
    X, z = items(60)
    found = maximize(GramRanges(1e8 * KERNEL(X)), classification(z), SMOOptions(tol=1e-13))
    assert found.status == "stalled"
    assert found.steps < 10_000_000


# ---- choosing ----------------------------------------------------------------------------------


def test_the_largest_are_found_and_of_equal_ones_the_first():
    values = np.array([3.0, 1.0, 3.0, 2.0, 3.0, -np.inf])
    assert sorted(largest(values, 2)) == [0, 2]
    assert sorted(largest(values, 4)) == [0, 2, 3, 4]
    assert sorted(largest(values, 9)) == list(range(6))


@pytest.mark.parametrize("name", problems())
def test_a_set_holds_the_worst_pair_and_no_more_than_its_size(name):
    X, problem = items()[0], problems()[name]
    state = working_set.Slopes(blocked(X), problem, SMOOptions())
    chosen = select(problem, state, 20)
    assert len(chosen) <= 20
    assert (np.diff(chosen) > 0).all()
    worst = []
    for group in problem.groups:
        f, b = state.F[group], state.beta[group]
        grow = np.where(b < problem.upper[group], f, -np.inf)
        shrink = np.where(b > problem.lower[group], f, np.inf)
        if grow.max() > shrink.min():
            worst += [grow.max(), shrink.min()]
    assert set(worst) <= set(state.F[chosen])


# ---- a coarse start ----------------------------------------------------------------------------


def large(name, n=900):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    z = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    if name == "lopsided":
        z = np.where(np.arange(n) % 90 == 0, 1.0, -1.0)
    programs = {
        "classification": classification(z),
        "lopsided": classification(z),
        "weighted": classification(z, rng.uniform(0.01, 10.0, n)),
        "expensive": classification(z, 1e8),
        "regression": regression(np.sin(2 * X[:, 0]) + X[:, 1]),
    }
    return X, programs[name]


LARGE = ["classification", "lopsided", "weighted", "expensive", "regression"]


@pytest.mark.parametrize("name", LARGE)
def test_a_coarse_start_is_feasible(name):
    X, problem = large(name)
    beta = _coarse_start(blocked(X), problem, SMOOptions(steps=100_000))
    assert (beta >= problem.lower).all() and (beta <= problem.upper).all()
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    assert beta.any()


@pytest.mark.parametrize("name", ["classification", "lopsided", "weighted", "regression"])
def test_a_coarse_start_does_not_change_the_answer(name, monkeypatch):
    X, problem = large(name)
    options = SMOOptions(tol=1e-7, working=200)  # slopes differ by the root of a gap
    plain = maximize(blocked(X), problem, options)
    started = []

    def spy(*arguments):
        started.append(_coarse_start(*arguments))
        return started[-1]

    monkeypatch.setattr(working_set, "_coarse_start", spy)
    monkeypatch.setattr(working_set, "MIN_ITEMS_FOR_COARSE_START", 500)
    found = maximize(blocked(X), problem, options)
    assert len(started) == 1
    assert found.history[0] != plain.history[0]
    assert feasible(problem, found.coefficients)
    assert found.objective == pytest.approx(plain.objective, rel=1e-8)
    np.testing.assert_allclose(found.slopes, plain.slopes, atol=1e-4)


def test_a_given_start_is_not_replaced_by_a_coarse_one(monkeypatch):
    X, problem = large("classification")
    monkeypatch.setattr(working_set, "MIN_ITEMS_FOR_COARSE_START", 500)
    monkeypatch.delattr(working_set, "_coarse_start")
    near = maximize(GramRanges(KERNEL(X)), problem, SMOOptions(tol=1e-4))
    again = maximize(blocked(X), replace(problem, start=near.coefficients), SMOOptions(tol=1e-3))
    assert again.steps == 0 and again.status == "solved"


def test_a_hard_margin_has_no_coarse_start():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MIN_ITEMS_FOR_COARSE_START + 500, 2))
    X = X[np.abs(X[:, 0]) > 0.1][:MIN_ITEMS_FOR_COARSE_START]
    z = np.sign(X[:, 0])
    found = maximize(blocked(X, Linear()), classification(z, np.inf), SMOOptions(tol=1e-6))
    assert found.status == "solved" and np.isfinite(found.gap)
