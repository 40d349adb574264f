"""Steps on a part of the variables end where steps on all of them end."""

import numpy as np
import pytest

from mercer.gram import GramRanges
from mercer.kernels import Gaussian
from mercer.solvers import shrinking
from mercer.solvers.quadratic import MAX_PART, SMOOptions, certify, violation_of
from mercer.solvers.shrinking import Part, Segments, Variables, climb, unsettled, worth_a_copy
from mercer.solvers.working_set import maximize
from tests.measure import peak
from tests.unit.solvers.test_working_set import (
    by_nu,
    classification,
    items,
    novelty,
    regression,
)

N = 240


def programs():
    X, z = items(N)
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    return X, {
        "classification": classification(z, 20.0),
        "two sums": by_nu(z),
        "every item twice": regression(y, 5.0),
        "one class": novelty(N),
    }


def state(problem, K):
    beta = problem.start.astype(float)
    copies = len(beta) // len(K)
    F = problem.target - np.tile(K @ beta.reshape(copies, -1).sum(axis=0), copies)
    heights = np.tile(K.diagonal(), copies)
    return Variables(F, beta, problem.lower, problem.upper, heights.astype(np.float64))


def segments(problem, n):
    copies = len(problem.target) // n
    if len(problem.groups) == 2:
        bounds = np.array([0, problem.sizes[0], n])
        return Segments(bounds[:-1].copy(), bounds, np.array([0, 1]))
    bounds = np.arange(copies + 1) * n
    return Segments(np.zeros(copies, dtype=np.int64), bounds, np.zeros(copies, dtype=np.int64))


@pytest.mark.parametrize("name", list(programs()[1]))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parts_end_where_all_variables_end(monkeypatch, name, dtype):
    X, known = programs()
    problem, K = known[name], Gaussian(1.0)(X).astype(dtype)
    goal, found, parts = 1e-6, {}, []
    cut = Part.climb

    def counted(self, some, *arguments):
        parts.append(len(some))
        return cut(self, some, *arguments)

    monkeypatch.setattr(Part, "climb", counted)
    monkeypatch.setattr(shrinking, "MIN_STEPS", 20)  # so that one pass is not enough
    monkeypatch.setattr(shrinking, "STEPS_TO_LOOK", 0)
    for least in (10**9, 8):
        monkeypatch.setattr(shrinking, "MIN_SHRUNK", least)
        v = state(problem, K)
        went = climb(K, segments(problem, N), v, goal, 10**6)
        assert went.trouble == 0
        assert violation_of(problem, v.beta, v.F) <= goal
        copies = len(v.beta) // N
        values = np.tile(K.astype(float) @ v.beta.reshape(copies, -1).sum(axis=0), copies)
        # The slopes of the settled ones have followed.
        np.testing.assert_allclose(
            v.F, problem.target - values, atol=1e-6 * (1 + np.abs(v.beta).sum())
        )
        for group in problem.groups:
            assert v.beta[group].sum() == pytest.approx(problem.start[group].sum(), abs=1e-8)
        assert (v.beta >= problem.lower).all() and (v.beta <= problem.upper).all()
        found[least] = v.beta @ (problem.target + v.F) / 2, certify(problem, v.beta, v.F)[1]
        assert bool(parts) == (least == 8)
    (plain, gap), (own, other_gap) = found.values()
    assert abs(plain - own) <= max(gap, other_gap) + 1e-9 * abs(plain)
    assert max(parts) <= shrinking.MAX_UNSETTLED * len(problem.target)


def test_a_program_as_users_have_it_takes_parts_and_is_certified(monkeypatch):
    X, z = items(600, seed=3)
    problem = classification(z, 1000.0)
    K, sizes, whole = Gaussian(0.7)(X), [], Part.climb

    def counted(self, some, *arguments):
        sizes.append(len(some))
        return whole(self, some, *arguments)

    monkeypatch.setattr(Part, "climb", counted)
    found = maximize(GramRanges(K), problem, SMOOptions(tol=1e-4))
    assert sizes and found.status == "solved"
    assert found.violation <= 1e-4
    monkeypatch.setattr(shrinking, "MIN_SHRUNK", 10**9)
    plain = maximize(GramRanges(K), problem, SMOOptions(tol=1e-4))
    assert abs(found.objective - plain.objective) <= max(found.gap, plain.gap)


def test_who_is_unsettled_is_who_makes_a_violating_pair_or_is_free():
    rng = np.random.default_rng(0)
    n = 40
    beta = rng.choice([0.0, 0.5, 1.0], n, p=[0.45, 0.1, 0.45])
    v = Variables(rng.normal(size=n), beta, np.zeros(n), np.ones(n), np.ones(n))
    groups = np.repeat([0, 1], n // 2)
    expected = [
        k
        for k in range(n)
        if 0 < beta[k] < 1
        or any(
            (beta[k] < 1 and beta[m] > 0 and v.F[k] > v.F[m])
            or (beta[k] > 0 and beta[m] < 1 and v.F[k] < v.F[m])
            for m in range(n)
            if groups[m] == groups[k]
        )
    ]
    assert unsettled(v, groups).tolist() == expected


def test_a_part_has_its_rows_and_columns_in_memory_that_is_used_again():
    K = np.arange(36.0).reshape(6, 6).astype(np.float32)
    part, rows = Part(), np.array([0, 2, 2, 5])
    np.testing.assert_array_equal(part._cut(K, rows), K[np.ix_(rows, rows)])
    again = part._cut(K, rows[:2])
    np.testing.assert_array_equal(again, K[np.ix_(rows[:2], rows[:2])])
    assert np.shares_memory(again, part._memory) and again.dtype == np.float32


def test_parts_are_no_larger_than_the_plan_counts():
    assert worth_a_copy(MAX_PART, 10 * MAX_PART)
    assert not worth_a_copy(MAX_PART + 1, 10 * MAX_PART)
    assert not worth_a_copy(1000, 1100)
    n = 1500
    X, z = items(n, seed=1)
    K, problem = Gaussian(0.3)(X), classification(z, 1000.0)
    counted = SMOOptions(stored=True).cost
    from mercer.solvers.cost import Size

    used = peak(lambda: maximize(GramRanges(K), problem, SMOOptions(tol=1e-2)))
    assert used + K.nbytes < 1.3 * counted(Size(items=n)).bytes


def test_trouble_on_a_part_names_the_variables_of_all(monkeypatch):
    rng = np.random.default_rng(0)
    K = np.eye(30)
    K[20, 25] = K[25, 20] = 4.0  # two items of a negative squared distance
    beta = np.zeros(30)
    F = np.where(np.arange(30) % 2, -1.0, 1.0) * 1e-9 * rng.random(30)
    F[20], F[25] = 1.0, -1.0
    beta[25] = 1.0
    v = Variables(F, beta, np.zeros(30), np.full(30, 2.0), np.ones(30))
    part = Part()
    some = np.array([3, 20, 25])
    went = part.climb(some, K, np.arange(30), np.zeros(30, dtype=int), v, 1e-3, 100)
    assert went.trouble == 1 and sorted(went.pair) == [20, 25]
