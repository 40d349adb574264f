"""One Krylov space for several penalties: right answers, and little time tried in vain."""

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.solvers.ridge.shifted_lanczos import MIN_STEPS, solve_shifted

N = 200


def problem(bandwidth, columns=3):
    rng = np.random.default_rng(0)
    M = Gaussian(bandwidth)(rng.normal(size=(N, 4)))
    masks = (rng.random((columns, N)) < 0.8).astype(float)
    return M, rng.normal(size=(columns, N)), masks


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 5.0])
def test_answers_are_those_of_systems_of_their_own(bandwidth):
    M, sides, masks = problem(bandwidth)
    sides[1] = 0.0
    levels = [100.0, 1.0, 1.0, 0.1]
    found = solve_shifted(M, sides, masks, levels)
    assert found.solved.all()
    for j, penalty in enumerate(levels):
        for c in range(3):
            train = masks[c] > 0
            A = M[np.ix_(train, train)] + penalty * np.eye(train.sum())
            expected = np.zeros(N)
            expected[train] = np.linalg.solve(A, sides[c, train])
            np.testing.assert_allclose(found.solutions[j, c], expected, rtol=0, atol=1e-9)
            np.testing.assert_allclose(found.products[j, c], M @ expected, rtol=0, atol=1e-8)


def test_columns_that_are_solved_wait_for_the_others():
    """An eigenvector is solved in one step; its answer stays what it was."""
    M, sides, masks = problem(1.0)
    values, vectors = np.linalg.eigh(M)
    masks[0], sides[0] = 1.0, vectors[:, -1]
    found = solve_shifted(M, sides, masks, [0.1, 1.0])
    assert found.solved.all() and found.steps > 20
    for x, penalty in zip(found.solutions[:, 0], [0.1, 1.0], strict=True):
        np.testing.assert_allclose(x, sides[0] / (values[-1] + penalty), rtol=0, atol=1e-11)


def test_all_dimensions_are_seen_without_a_warning():
    M = np.diag([1.0, 2.0, 3.0])
    found = solve_shifted(M, np.ones((2, 3)), np.ones((2, 3)), [1e-3, 1.0])
    assert found.solved.all() and found.steps <= 5


@pytest.mark.parametrize("worth", [4.0, 50.0, 400.0])
def test_one_penalty_out_of_reach_takes_little_time(worth):
    M, sides, masks = problem(5.0)
    found = solve_shifted(M, sides, masks, [1e-7], worth)
    assert not found.solved.any()
    assert found.steps <= max(worth / 2, 1) + 1 and found.steps <= MIN_STEPS + worth / 10 + 1


def test_more_penalties_may_take_more():
    M, sides, masks = problem(5.0)
    levels = [1e-7] * 20
    assert solve_shifted(M, sides, masks, levels, 50.0).steps >= MIN_STEPS + 50


def test_what_is_near_is_not_given_up():
    """One penalty that steps do reach, with a pace that says so."""
    M, sides, masks = problem(1.0)
    few = solve_shifted(M, sides, masks, [1.0])
    again = solve_shifted(M, sides, masks, [1.0], few.steps)
    assert few.solved.all() and again.solved.all() and again.steps == few.steps


def test_matrices_that_are_not_definite_have_no_answer():
    sides = np.random.default_rng(0).normal(size=(2, 5))
    found = solve_shifted(-np.eye(5), sides, np.ones((2, 5)), [0.5, 1.0, 3.0])
    assert found.solved.tolist() in ([False, False, True], [False] * 3)
    assert solve_shifted(-np.eye(5), sides, np.ones((2, 5)), [3.0]).solved.all()
