"""Solvers: certificates, statuses, penalties, and what a solution says."""

import dataclasses

import numpy as np
import pytest

from mercer import SVC
from mercer.errors import ConvergenceWarning, SolveError, ValidityError
from mercer.gram import Blocked, Dense, LowRank
from mercer.kernels import Gaussian
from mercer.solvers import Cholesky, Eigen, Primal, Problem, Solution
from mercer.solvers.ridge.cholesky import Packed, mirror_down
from mercer.solvers.ridge.eigen import repaired

SOLVERS = [Cholesky("double"), Cholesky("mixed"), Eigen()]


def gram(n=20, d=3, seed=0):
    return Gaussian(1.0)(np.random.default_rng(seed).normal(size=(n, d)))


def target(n=20):
    return np.random.default_rng(1).normal(size=n)


def solve(solver, K, y, penalty=0.5, **problem):
    return solver.solve(solver.prepare(Problem(Dense(K), **problem)), y, penalty)


@pytest.mark.parametrize("penalty", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_penalty_must_be_finite_and_not_negative(solver, penalty):
    with pytest.raises(ValidityError, match=r"penalty must be finite and not negative"):
        solve(solver, gram(), target(), penalty)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_zero_target_has_a_zero_answer(solver):
    found = solve(solver, gram(), np.zeros(20))
    np.testing.assert_array_equal(found.coefficients, np.zeros(20))
    assert found.status == "solved" and found.certificate == 0.0


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_scale_of_the_target_does_not_matter(solver, scale):
    one, other = (solve(solver, gram(), s * target()) for s in (1.0, scale))
    np.testing.assert_allclose(other.coefficients / scale, one.coefficients, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_scale_of_the_matrix_does_not_matter_either(solver, scale):
    """Single precision reaches only to 1e±38, so refinement may give up there, but says so."""
    one = solve(solver, gram(), target(), 0.5)
    other = solve(solver, scale * gram(), target(), 0.5 * scale)
    np.testing.assert_allclose(other.coefficients * scale, one.coefficients, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_targets_of_very_different_size_are_each_solved(solver):
    Y = np.column_stack([target(), 1e12 * target(), 1e-12 * target()])
    found = solve(solver, gram(), Y).coefficients
    np.testing.assert_allclose(found[:, 1] / 1e12, found[:, 0], rtol=1e-9)
    np.testing.assert_allclose(found[:, 2] / 1e-12, found[:, 0], rtol=1e-9)


def test_a_solution_is_a_frozen_value():
    found = solve(Cholesky(), gram(), target())
    assert isinstance(found, Solution)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.status = "singular"
    assert found.require_solved() is found
    assert found.solver == "cholesky"
    assert solve(Eigen(), gram(), target()).solver == "eigen"


def test_refinement_keeps_its_history():
    found = solve(Cholesky("mixed"), gram(200), target(200), 0.01)
    assert len(found.history) >= 2
    assert (np.diff(found.history) < 0).all()
    assert found.history[-1] < 1e-12
    assert solve(Cholesky("double"), gram(), target()).history == ()


def test_a_singular_system_is_an_error_with_advice():
    K = np.ones((4, 4))
    for solver in SOLVERS:
        found = solve(solver, K, np.arange(4.0), 0.0)
        assert found.status == "singular"
        with pytest.raises(
            SolveError, match=r"singular.*penalty of (at least )?about \d"
        ) as error:
            found.require_solved()
        assert isinstance(error.value, np.linalg.LinAlgError)


def test_a_matrix_that_is_not_positive_is_not_called_solved_by_cholesky():
    found = solve(Cholesky(), np.diag([1.0, -1.0]), np.ones(2), 0.1)
    assert found.status == "singular"
    assert "not positive definite" in found.message
    assert "mercer.kernels.check" in found.message


def test_mirror_down_copies_the_upper_triangle():
    for n in (1, 5, 256, 257, 600):
        M = np.random.default_rng(0).normal(size=(n, n))
        expected = np.triu(M) + np.triu(M, 1).T
        mirror_down(M)
        np.testing.assert_array_equal(M, expected)


@pytest.mark.parametrize("rubbish", [np.nan, 1e300, -np.inf])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 255, 256, 257, 511, 512, 513, 600, 601])
def test_a_packed_factor_reads_only_what_is_above_the_diagonal(n, rubbish):
    A = np.random.default_rng(0).normal(size=(n, n))
    K = A @ A.T / n
    garbage = np.where(np.tri(n, k=-1) > 0, rubbish, K)
    R = np.random.default_rng(1).normal(size=(n, 2))
    found = Packed.factor(garbage, np.diag(K) + 1.0).solve(R)
    # Seven digits, times a condition number of about five.
    np.testing.assert_allclose(found, np.linalg.solve(K + np.eye(n), R), atol=1e-5)


class Upper(Dense):
    """An operator that promises nothing about what is below its diagonal."""

    def upper(self):
        return np.where(np.tri(self.order, k=-1) > 0, 1e300, self.array)


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 1e10, 700)])
@pytest.mark.parametrize("solver", SOLVERS[:2], ids=repr)
def test_what_is_below_the_diagonal_is_never_used(solver, weights):
    K = gram(700)
    found, expected = (
        solver.solve(solver.prepare(Problem(made(K), weights)), target(700), 0.5)
        for made in (Upper, Dense)
    )
    np.testing.assert_allclose(found.coefficients, expected.coefficients, rtol=1e-9)


def test_a_packed_factor_of_an_indefinite_matrix_does_not_exist():
    assert Packed.factor(np.eye(3), np.array([1.0, -1.0, 1.0])) is None


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_half_filled_gram_is_solved_like_a_full_one(solver):
    k, X = Gaussian(1.0), np.random.default_rng(0).normal(size=(900, 3))
    half = solver.solve(solver.prepare(Problem(Blocked(k, k.admit(X)))), X[:, 0], 0.5)
    full = solver.solve(solver.prepare(Problem(Dense(k(X)))), X[:, 0], 0.5)
    np.testing.assert_allclose(half.coefficients, full.coefficients, rtol=0, atol=1e-11)


def test_repairs_of_a_spectrum():
    values = np.array([-2.0, -1e-3, 0.0, 1.0])
    np.testing.assert_array_equal(repaired(values, "clip"), [0.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(repaired(values, "flip"), [2.0, 1e-3, 0.0, 1.0])
    np.testing.assert_allclose(repaired(values, "shift"), [0.0, 1.999, 2.0, 3.0])
    np.testing.assert_array_equal(repaired(values, "error"), values)
    good = np.array([0.0, 1.0])
    for policy in ("clip", "flip", "shift", "error"):
        np.testing.assert_array_equal(repaired(good, policy), good)


# ---- primal ------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("small", SOLVERS, ids=repr)
@pytest.mark.parametrize(("n", "m"), [(30, 4), (5, 9), (1, 1)])
def test_features_and_their_matrix_give_the_same_coefficients(n, m, small, weighted, intercept):
    F = np.random.default_rng(0).normal(size=(n, m))
    Y = np.random.default_rng(1).normal(size=(n, 2)) + 1.0
    w = np.random.default_rng(2).uniform(0.5, 2.0, size=n) if weighted else None
    solver = Primal(small)
    state = solver.prepare(Problem(LowRank(F), w, intercept))
    found = solver.solve(state, Y, 0.3)
    expected = solve(Cholesky(), F @ F.T, Y, 0.3, weights=w, intercept=intercept)
    np.testing.assert_allclose(found.coefficients, expected.coefficients, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.intercept, expected.intercept, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(F.T @ found.coefficients, found.weights, rtol=1e-8, atol=1e-10)
    assert found.certificate < 1e-12


def test_features_without_a_penalty_do_not_determine_the_coefficients():
    solver = Primal()
    state = solver.prepare(Problem(LowRank(np.ones((3, 1)))))
    assert solver.solve(state, np.ones(3), 0.0).status == "singular"


def test_the_primal_solver_needs_features():
    with pytest.raises(ValidityError, match=r"made of features"):
        Primal().prepare(Problem(Dense(np.eye(2))))


def test_a_warning_belongs_to_whoever_called_mercer():
    x = np.linspace(0, 1, 30)[:, None]
    with pytest.warns(ConvergenceWarning) as caught:
        SVC("gaussian", C=1e6, max_iter=3).fit(x, np.arange(30) % 2)
    assert caught[0].filename == __file__
