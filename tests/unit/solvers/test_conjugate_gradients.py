"""Conjugate gradients in rounds, with rough products."""

import numpy as np
import pytest

from mercer.gram import Blocked
from mercer.kernels import Gaussian
from mercer.solvers import Iterative, Problem
from mercer.solvers.conjugate_gradients import conjugate_gradients


def matrix(count=60, condition=1e3, seed=0):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(count, count)))
    return (Q * np.geomspace(1.0, condition, count)) @ Q.T, rng.normal(size=(count, 2))


class Counted:
    def __init__(self, A):
        self.A, self.calls = A, 0

    def __call__(self, V):
        self.calls += 1
        return self.A @ V


def disturbed(A, share, seed=1):
    E = np.random.default_rng(seed).normal(size=A.shape)
    return A + share * (E + E.T) / np.sqrt(len(A))


def test_rough_products_lead_to_the_exact_answer():
    A, R = matrix()
    fine, rough = Counted(A), Counted(disturbed(A, 1e-4))
    found = conjugate_gradients(fine, R, lambda V: V, 1e-12, 1000, single=rough)
    assert found.status == "solved"
    assert np.allclose(A @ found.values, R, rtol=0, atol=1e-10)
    assert fine.calls <= 5 < rough.calls  # one for each round
    assert np.array_equal(found.residual, R - A @ found.values)
    assert found.history[-1] == pytest.approx(
        (np.linalg.norm(found.residual, axis=0) / np.linalg.norm(R, axis=0)).max(), rel=1e-9
    )


@pytest.mark.parametrize("share", [0.7, 30.0])
def test_products_that_are_too_rough_are_given_up(share):
    """The second matrix is not even positive definite."""
    A, R = matrix()
    fine, rough = Counted(A), Counted(disturbed(A, share))
    found = conjugate_gradients(fine, R, lambda V: V, 1e-10, 2000, single=rough)
    assert found.status == "solved"
    assert np.allclose(A @ found.values, R, rtol=0, atol=1e-8)
    assert fine.calls > 20


def test_a_step_that_makes_it_worse_is_not_taken():
    A, R = matrix()
    found = conjugate_gradients(Counted(A), R, lambda V: V, 1e-10, 1, single=Counted(-1e-3 * A))
    assert not found.values.any() and found.status == "stalled"
    assert found.history[-1] == 1.0


def test_rough_steps_leave_the_others_as_many_as_they_have_alone():
    A, R = matrix()
    alone = conjugate_gradients(Counted(A), R, lambda V: V, 1e-10, 1000)
    steps = len(alone.history) - 1
    rough = Counted(disturbed(A, 0.02))
    found = conjugate_gradients(Counted(A), R, lambda V: V, 1e-10, steps, single=rough)
    assert found.status == "solved"
    assert rough.calls <= steps < len(found.history) - 1


@pytest.mark.parametrize("penalty", [1e-8, 1e-6, 1e-5])
@pytest.mark.parametrize("rank", [100, 200])
def test_where_single_precision_leads_nowhere_that_is_seen_soon(penalty, rank):
    """The rounding of single precision is larger than the penalty."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    problem = Problem(Blocked(Gaussian(5.0), Gaussian(5.0).admit(X)))
    mixed, double = (
        solver.solve(solver.prepare(problem), np.sin(X[:, 0]), penalty)
        for solver in (Iterative(rank, mixed=True), Iterative(rank))
    )
    assert mixed.status == double.status == "solved"
    assert len(mixed.history) <= 2 * len(double.history) + 20


def test_targets_may_be_tiny_or_huge():
    A, R = matrix()
    R = np.column_stack([R, np.zeros(60)])
    sizes = np.array([2.0**-700, 2.0**700, 1.0])
    plain, scaled = (
        conjugate_gradients(
            Counted(A), some, lambda V: V, 1e-10, 1000, single=Counted(disturbed(A, 1e-4))
        )
        for some in (R, sizes * R)
    )
    assert plain.status == scaled.status == "solved"
    assert np.array_equal(scaled.values, sizes * plain.values)
    assert np.array_equal(scaled.residual, sizes * plain.residual)
    assert scaled.history == plain.history


@pytest.mark.parametrize("last", range(3, 6))
def test_an_interruption_between_two_rounds_counts_no_change_twice(last, monkeypatch):
    A, R = matrix()
    real, calls = np.zeros_like, []

    def interrupted(array):
        calls.append(array)
        if len(calls) == last:
            raise KeyboardInterrupt
        return real(array)

    monkeypatch.setattr(np, "zeros_like", interrupted)
    found = conjugate_gradients(
        Counted(A), R, lambda V: V, 1e-12, 1000, single=Counted(disturbed(A, 1e-3))
    )
    assert found.status == "interrupted" and "interrupted" in found.message
    left = np.linalg.norm(R - A @ found.values, axis=0) / np.linalg.norm(R, axis=0)
    assert left.max() < 0.1 ** (last - 2)


@pytest.mark.parametrize("penalty", [pytest.param(1e-4, marks=pytest.mark.slow), 1e-2, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_mixed_precision_gives_the_answer_and_certificate_of_double(penalty, weighted, intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    Y = np.column_stack([np.sin(X[:, 0]) + 4.0, X[:, 1]])
    k = Gaussian(1.0)
    weights = rng.uniform(0.5, 2.0, 500) if weighted else None
    problem = Problem(Blocked(k, k.admit(X)), weights, intercept)
    one, other = (
        solver.solve(solver.prepare(problem), Y, penalty)
        for solver in (Iterative(100, mixed=True), Iterative(100, tol=1e-11))
    )
    K = np.asarray(k(X))
    assert one.status == "solved" and one.certificate <= 2e-9
    assert np.allclose(K @ one.coefficients, K @ other.coefficients, rtol=0, atol=1e-7)
    assert np.allclose(one.intercept, other.intercept, atol=1e-7)
    w = np.ones(500) if weights is None else weights
    rest = Y - one.intercept - K @ one.coefficients - penalty * one.coefficients / w[:, None]
    root = np.sqrt(w)[:, None]
    true = np.linalg.norm(root * rest, axis=0) / np.linalg.norm(root * Y, axis=0)
    assert one.certificate == pytest.approx(true.max(), rel=1e-2)
