"""Conjugate gradients with a randomly pivoted preconditioner."""

import os
import signal
import sys
import time

import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier, Plan
from mercer.errors import ConvergenceWarning, SolveError, ValidityError
from mercer.gram import Blocked, Dense
from mercer.kernels import Gaussian
from mercer.solvers import Cholesky, Iterative, Problem, conjugate_gradients, pivoted_cholesky
from mercer.solvers.cost import Size
from mercer.solvers.iterative import ITEMS_A_STEP, expected_steps
from mercer.solvers.pivoted_cholesky import LowRankFactor
from mercer.solvers.ridge.solver import State


def system(count=400, width=2.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 4))
    return Gaussian(width)(X), np.sin(X[:, 0]) + 0.1 * rng.normal(size=count)


def solved(solver, K, y, penalty, **problem):
    return solver.solve(solver.prepare(Problem(Dense(K), **problem)), y, penalty)


@pytest.mark.parametrize("penalty", [1e-3, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("rank", [1, 50, 400])
def test_the_solution_is_that_of_a_factor(penalty, rank):
    K, y = system()
    found = solved(Iterative(rank, tol=1e-12), K, y, penalty)
    exact = solved(Cholesky(), K, y, penalty)
    assert found.status == "solved"
    assert (
        np.abs(found.coefficients - exact.coefficients).max()
        <= 1e-6 * np.abs(exact.coefficients).max()
    )


def test_a_good_preconditioner_takes_few_steps():
    K, y = system()
    poor, good = (solved(Iterative(rank, tol=1e-8), K, y, 0.01) for rank in (5, 200))
    assert len(good.history) < len(poor.history) / 3


def test_the_certificate_is_the_true_residual():
    K, y = system()
    found = solved(Iterative(50, tol=1e-6), K, y, 0.01)
    rest = y - K @ found.coefficients - 0.01 * found.coefficients
    assert found.certificate == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(y), rel=1e-6)
    assert found.certificate <= 1e-6


def test_several_targets_are_solved_by_the_same_products():
    K, y = system()
    Y = np.column_stack([y, y**2, np.zeros_like(y)])
    together = solved(Iterative(50), K, Y, 0.1)
    alone = solved(Iterative(50), K, y**2, 0.1)
    assert np.allclose(together.coefficients[:, 1], alone.coefficients, rtol=1e-7, atol=1e-12)
    assert not together.coefficients[:, 2].any()


def test_too_few_steps_are_told():
    K, y = system(width=0.5)
    found = solved(Iterative(5, steps=3), K, y, 1e-3)
    assert found.status == "stalled" and "3 steps" in found.message
    assert len(found.history) == 4


def test_the_preconditioner_is_the_inverse_of_its_matrix_whatever_the_stripes(monkeypatch):
    monkeypatch.setattr(pivoted_cholesky, "STRIPE_ROWS", 64)
    rng = np.random.default_rng(0)
    F, V = np.asfortranarray(rng.normal(size=(301, 20))), rng.normal(size=(301, 3))
    factor = LowRankFactor(F, np.arange(20), np.zeros(301))
    for roots in (None, rng.uniform(0.5, 2.0, 301)):
        SF = F if roots is None else roots[:, None] * F
        exact = np.linalg.solve(SF @ SF.T + 0.5 * np.eye(301), V)
        assert np.allclose(factor.inverse(0.5, roots)(V), exact, rtol=0, atol=1e-11)


def test_no_penalty_is_refused():
    K, y = system(50)
    with pytest.raises(SolveError, match="positive penalty"):
        solved(Iterative(), K, y, 0.0).require_solved()


def test_a_preconditioner_that_cannot_be_factored_is_told():
    class Broken(Iterative):
        def prepare(self, problem):
            state = super().prepare(problem)
            state.near(self.rank, 0.0, self.seed)
            state.factor.columns[3, 2] = np.nan
            return state

    K, y = system(50)
    found = solved(Broken(10), K, y, 1.0)
    assert found.status == "singular" and "rank 10" in found.message


def test_slow_decay_is_foreseen_and_the_solver_does_not_give_way():
    K, y = system(width=0.3)
    solver = Iterative(5)
    state = solver.prepare(Problem(Dense(K)))
    steps = solver.foresee(state, 1e-3)
    assert steps > len(y) / ITEMS_A_STEP
    assert steps == pytest.approx(expected_steps(float(state.factor.left.sum()), 1e-3))
    assert Iterative(5, tol=1e-3).foresee(state, 1e-3) == pytest.approx(steps / 3)
    columns = state.factor.columns
    found = solver.solve(state, y, 1e-3)
    assert found.solver == "iterative" and state.factor.columns is columns
    assert Iterative.worthwhile.met(Size(items=10_000, steps=60.0))
    assert not Iterative.worthwhile.met(Size(items=10_000, steps=70.0))


@pytest.mark.parametrize(("patience", "tol"), [(6, 1e-12), (3, 0.3)])
def test_an_interruption_keeps_what_was_found(patience, tol):
    """The second comes while the true residual is computed, after two steps."""

    class Impatient(Dense):
        products = 0

        def __matmul__(self, vectors):
            self.products += 1
            if self.products == patience:
                raise KeyboardInterrupt
            return super().__matmul__(vectors)

    K, y = system(width=0.5)
    gram = Impatient(K)
    solver = Iterative(20, tol=tol)
    found = solver.solve(solver.prepare(Problem(gram)), y, 0.01)
    assert found.status == "interrupted" and "interrupted" in found.message
    rest = y - K @ found.coefficients - 0.01 * found.coefficients
    assert np.linalg.norm(rest) < 0.5 * np.linalg.norm(y)
    assert found.certificate == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(y), rel=1e-6)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        found.require_solved()


def test_weights_and_intercept_go_with_it():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y, w = X[:, 0] + 5, rng.uniform(0.5, 2, 120)
    one, other = (
        KernelRidge(Gaussian(1.5), 0.1, intercept=True, follow=Plan(solver=solver)).fit(
            X, y, sample_weight=w
        )
        for solver in ("iterative", "cholesky")
    )
    assert one.intercept_ == pytest.approx(other.intercept_, rel=1e-8)
    assert np.allclose(one.predict(X), other.predict(X), rtol=1e-8)


def test_the_same_on_one_thread_or_many(use_cores):
    rng = np.random.default_rng(2)
    k = Gaussian(2.0)
    points = k.admit(rng.normal(size=(700, 3)))
    y = rng.normal(size=700)
    answers = []
    for cores in (1, 2):
        use_cores(cores)
        solver = Iterative(60)
        state = solver.prepare(Problem(Blocked(k, points)))
        answers.append(solver.solve(state, y, 0.5).coefficients)
    assert np.array_equal(*answers)


def test_stopping_early_is_called_approximate_and_bounded():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    y = np.sin(3 * X[:, 0]) + rng.standard_normal(400)
    exact = KernelRidge(Gaussian(0.3), 0.1).fit(X, y)
    follow = Plan(solver="iterative", tol=0.05, rank=20)
    early = KernelRidge(Gaussian(0.3), 0.1, follow=follow).fit(X, y)
    told = early.solution_.approximation
    apart = np.linalg.norm(early.predict(X) - exact.predict(X)) / np.linalg.norm(y - y.mean())
    assert 1e-4 < apart <= told.error < 0.15
    assert "at most" in str(told) and "approximate" in repr(early)
    assert early.plan_.is_approximate and not early.plan_.sketched
    assert early.solution_.status == "solved"
    assert early.solution_.certificate <= 0.1
    assert len(early.dual_coef_) == 400
    with pytest.raises(ValidityError, match="between 0 and 1"):
        Plan(tol=2.0)


def test_an_interrupted_ridge_is_fitted_and_says_so(monkeypatch):
    """Ctrl-C while a machine is fitted, not only its solver."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = np.sin(X).sum(axis=1)
    calls, own = [], conjugate_gradients.iterate

    def interrupted(product, *others, **more):
        def some(V, live):
            calls.append(1)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return product(V, live)

        return own(some, *others, **more)

    monkeypatch.setattr(conjugate_gradients, "iterate", interrupted)
    follow = Plan(solver="iterative", rank=10, tol=1e-12)
    machine = KernelRidge(Gaussian(0.5), 1e-3, follow=follow)
    with pytest.warns(ConvergenceWarning, match="interrupted at a relative residual"):
        machine.fit(X, y)
    found, K = machine.solution_, Gaussian(0.5)(X)
    assert found.status == "interrupted" and len(calls) == 4
    rest = y - K @ machine.dual_coef_ - 1e-3 * machine.dual_coef_
    assert found.certificate == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(y), rel=1e-6)
    np.testing.assert_allclose(machine.predict(X), K @ machine.dual_coef_, atol=1e-9)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
@pytest.mark.parametrize("precision", ["double", "mixed"])
@pytest.mark.parametrize("kind", [KernelRidge, KernelRidgeClassifier])
def test_a_fit_that_ctrl_c_ends_keeps_its_best_iterate_and_says_how_good_it_is(
    kind, precision, monkeypatch
):
    """With a real signal, in the middle of a product."""
    products, real = [], State.multiply

    def multiply(self, V):
        products.append(V)
        if len(products) == 9:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)  # here it arrives
        return real(self, V)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    labels = X[:, 0] > 0
    target = np.where(labels, 1.0, -1.0)
    follow = Plan(solver="iterative", rank=20, precision=precision, tol=1e-14)
    machine = kind(Gaussian(0.7), 1e-7, follow=follow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr(State, "multiply", multiply)
        with pytest.warns(ConvergenceWarning, match="interrupted at a relative residual of"):
            machine.fit(X, labels if kind is KernelRidgeClassifier else target)
    finally:
        signal.signal(signal.SIGINT, before)
    found = machine.solution_
    assert found.status == "interrupted" and 9 <= len(products) < 20
    a = machine.dual_coef_
    rest = target - Gaussian(0.7)(X) @ a - 1e-7 * a
    left = np.linalg.norm(rest) / np.linalg.norm(target)
    assert found.certificate == pytest.approx(left, rel=1e-6) and 0 < left < 0.9
    np.testing.assert_allclose(machine.function_(X), target - rest - 1e-7 * a, atol=1e-9)
