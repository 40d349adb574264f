"""A factor in single precision, refined by steps, against one in double precision."""

import numpy as np
import pytest

from mercer import GaussianProcess, KernelRidge, Plan
from mercer.gram import Blocked, Dense
from mercer.kernels import Exponential, Gaussian
from mercer.solvers import Cholesky, Problem
from mercer.solvers.cost import Size
from mercer.solvers.ridge.single_cholesky import SingleCholesky


def rows(count=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 4))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=count), rng


def solved(solver, gram, y, penalty, **problem):
    return solver.solve(solver.prepare(Problem(gram, **problem)), y, penalty)


@pytest.mark.parametrize("penalty", [1e-5, 1e-2, 10.0])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_solution_is_that_of_a_factor_in_double(penalty, stored, weighted):
    X, y, rng = rows()
    k = Exponential(3.0) + Gaussian(2.0)
    gram = Dense(k(X)) if stored else Blocked(k, k.admit(X))
    weights = rng.integers(0, 3, len(X)).astype(float) if weighted else None
    Y = np.column_stack([y, 1e6 * y**2])
    how = {"weights": weights, "intercept": True}
    exact = solved(Cholesky(), Dense(k(X)), Y, penalty, **how)
    found = solved(SingleCholesky(tol=1e-12), gram, Y, penalty, **how)
    assert found.status == "solved" and len(found.history) < 40
    difference = np.abs(found.coefficients - exact.coefficients).max(axis=0)
    assert (difference <= 1e-6 * np.abs(exact.coefficients).max(axis=0)).all()
    assert found.intercept == pytest.approx(exact.intercept, rel=1e-6)


def test_rounding_that_makes_a_matrix_indefinite_is_made_up_for():
    X, y, _ = rows()
    k = Gaussian(30.0)  # whose smallest eigenvalues are far below what single precision tells
    found = solved(SingleCholesky(tol=1e-5), Blocked(k, k.admit(X)), y, 1e-6)
    exact = solved(Cholesky(), Dense(k(X)), y, 1e-6)
    assert found.status == "solved"
    apart = np.linalg.norm(k(X) @ found.coefficients - k(X) @ exact.coefficients)
    assert apart <= 1e-5 * np.linalg.norm(y)


def test_a_plan_asks_for_it_and_says_how_exact_it_is():
    X, y, _ = rows()
    asked = Plan(solver="cholesky", precision="single", tol=1e-3)
    machine = KernelRidge(Exponential(3.0), penalty=0.1, follow=asked).fit(X, y)
    assert (machine.plan_.solver, machine.plan_.precision) == ("cholesky", "single")
    assert machine.plan_.is_approximate and machine.solution_.certificate <= 1e-3
    assert "single precision" in machine.solution_.approximation.method
    exact = KernelRidge(Exponential(3.0), penalty=0.1).fit(X, y)
    apart = np.linalg.norm(machine.predict(X) - exact.predict(X))
    assert apart <= machine.solution_.approximation.error * np.linalg.norm(y - y.mean())


def test_it_needs_half_the_memory_of_a_factor_in_double():
    size = Size(items=20_000, row=240.0)
    assert SingleCholesky().cost(size).bytes < 0.55 * Cholesky().cost(size).bytes


def test_who_needs_a_factor_later_gets_another_one():
    X, y, _ = rows(100)
    asked = Plan(solver="cholesky", precision="single")
    machine = GaussianProcess(Gaussian(1.0), penalty=0.1, follow=asked).fit(X, y)
    assert machine.plan_.precision != "single"
    assert np.isfinite(machine.predict(X, return_std=True)[1]).all()
