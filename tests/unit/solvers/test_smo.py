"""Programs that are solved together have the answers that each has alone."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import SVC
from mercer.gram import GramRanges
from mercer.gram.stored import cut
from mercer.kernels import Gaussian
from mercer.machines import svm_programs
from mercer.solvers.quadratic import DONE, Quadratic, SMOOptions, certify
from mercer.solvers.smo import optimize_pairs, solve_batch
from mercer.solvers.working_set import maximize


def programs_of_pairs(rng, C, warm):
    """Return a Gram matrix of three classes, and the program of each pair of them."""
    ends = [0, 30, 70, 95]
    X = rng.normal(size=(95, 4)) + np.repeat([0.0, 0.7, 1.5], np.diff(ends))[:, None]
    ranges, problems = [], []
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        spans = [(ends[i], ends[i + 1]), (ends[j], ends[j + 1])]
        sizes = [b - a for a, b in spans]
        z = np.repeat([1.0, -1.0], sizes)
        u = C * rng.uniform(0.5, 1.5, len(z))
        start = np.zeros(len(z))
        if warm:
            start[: sizes[0]] = 0.3 * u.min() / sizes[0]
            start[sizes[0] :] = -start[: sizes[0]].sum() / sizes[1]
        problem = Quadratic(z, np.where(z < 0, -u, 0.0), np.where(z > 0, u, 0.0), start)
        ranges.append(spans)
        problems.append(problem)
    return Gaussian(1.0)(X), ranges, problems


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
# Single precision has no slopes for a smaller tolerance.
@pytest.mark.parametrize(
    ("tol", "dtype"), [(1e-3, np.float64), (1e-7, np.float64), (1e-3, np.float32)]
)
def test_the_same_answers_as_alone(C, warm, tol, dtype):
    K, ranges, problems = programs_of_pairs(np.random.default_rng(5), C, warm)
    K = K.astype(dtype)
    options = SMOOptions(tol, dtype=dtype)
    found = solve_batch(GramRanges(K), ranges, problems, options)
    assert any(one is not None for one in found)
    for spans, problem, one in zip(ranges, problems, found, strict=True):
        if one is None:
            continue
        alone = maximize(GramRanges(K, spans), problem, options)
        assert one.status == alone.status == "solved"
        if warm:  # the first slopes are rounded differently, and so may be the way
            assert np.isclose(one.objective, alone.objective, atol=one.gap + alone.gap)
        else:
            assert one.steps == alone.steps
            assert np.allclose(one.coefficients, alone.coefficients, rtol=1e-9, atol=1e-12 * C)
            assert np.allclose(one.history, alone.history, rtol=1e-6, atol=1e-9)
        offsets, gap, violation = certify(problem, one.coefficients, one.slopes)
        assert np.allclose([*one.offsets, one.gap, one.violation], [*offsets, gap, violation])
        assert np.isclose(one.square, one.coefficients @ (problem.target - one.slopes))
        assert np.isclose(one.objective, problem.target @ one.coefficients - one.square / 2)
        assert one.violation <= tol
        # β, whatever it is, is feasible, and the slopes belong to it.
        assert np.isclose(one.coefficients.sum(), problem.start.sum(), atol=1e-9)
        rows = np.concatenate([np.arange(a, b) for a, b in spans])
        F = problem.target - K[np.ix_(rows, rows)].astype(float) @ one.coefficients
        assert np.allclose(F, one.slopes, atol=1e-5 if dtype == np.float32 else 1e-10)


def test_a_start_that_is_the_answer_takes_no_steps():
    K, ranges, problems = programs_of_pairs(np.random.default_rng(0), 1.0, False)
    first = solve_batch(GramRanges(K), ranges, problems, SMOOptions(1e-6))
    again = [
        Quadratic(p.target, p.lower, p.upper, f.coefficients)
        for p, f in zip(problems, first, strict=True)
    ]
    for found in solve_batch(GramRanges(K), ranges, again, SMOOptions(1e-6)):
        assert found.steps == 0 and len(found.history) == 1


def test_what_takes_longer_is_left_to_others(monkeypatch):
    rng = np.random.default_rng(1)
    K, ranges, problems = programs_of_pairs(rng, 1e6, False)
    found = solve_batch(GramRanges(K), ranges, problems, SMOOptions(1e-12))
    assert None in found
    # A tolerance of 1e-12 is below the rounding of slopes, which nobody claims.
    X, y = rng.normal(size=(95, 4)), rng.integers(0, 3, 95)
    together = SVC(Gaussian(1.0), C=1e6, tol=1e-11).fit(X, y)
    monkeypatch.setattr(svm_programs, "MIN_BATCH", 100)
    alone = SVC(Gaussian(1.0), C=1e6, tol=1e-11).fit(X, y)
    assert np.allclose(together.dual_coef_, alone.dual_coef_, rtol=1e-9)


def test_invalid_kernels_are_still_refused():
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    z = np.array([1.0, -1.0])
    problem = Quadratic(z, np.minimum(z, 0.0), np.maximum(z, 0.0), np.zeros(2))
    assert solve_batch(GramRanges(K), [[(0, 2)]], [problem], SMOOptions()) == [None]


def test_cut_is_numpys_indexing():
    rng = np.random.default_rng(2)
    K, rows, columns = rng.normal(size=(9, 7)), rng.integers(0, 9, 5), rng.integers(0, 7, 4)
    assert np.array_equal(cut(K, rows, columns), K[np.ix_(rows, columns)])
    assert cut(K, rows[:0], columns).shape == (0, 4)


@pytest.mark.parametrize("height", [1e-25, 1.0, 1e36, 1e60])
def test_pairs_are_found_whatever_the_size_of_similarities(height):
    """Increases of 1e-18/1e36 are zero in single precision: one that is fixed was moved."""
    ends, here = np.array([0, 3]), np.zeros(1, dtype=np.int64)
    F, beta = np.array([0.5, 5e-10, -5e-10]), np.zeros(3)
    box = np.array([0.0, 1e30, 1e30])
    K = height * np.eye(3)
    steps, violation, status, _, _ = optimize_pairs(
        K, here, ends, here, np.diag(K).copy(), F, beta, -box, box, 1e-12, 100
    )
    assert (steps, status) == (1, DONE) and violation <= 1e-12
    np.testing.assert_allclose(beta * height, [0.0, 5e-10, -5e-10], rtol=1e-6, atol=0)
