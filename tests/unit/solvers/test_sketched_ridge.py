"""Ridge on a sketch, against its normal equations and the exact answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import KernelRidge
from mercer.domains import VECTORS, InMemory
from mercer.errors import SolveError, ValidityError
from mercer.gram.sketch import CenterSketch
from mercer.kernels import Gaussian, Linear
from mercer.solvers import Problem, SketchedRidge

N, M = 120, 15
RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((N, 2)), RNG.standard_normal((M, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2, np.ones(N)])
K = Gaussian(1.0)


def sketch(kernel=K, centers=Z):
    return CenterSketch(kernel, InMemory(VECTORS.admit(X), 50), VECTORS.admit(centers))


def solve(y, penalty, weights=None, intercept=False, **options):
    solver = SketchedRidge(**options)
    return solver.solve(solver.prepare(Problem(sketch(), weights, intercept)), y, penalty)


def textbook(y, penalty, weights, intercept):
    """Return values at X of the minimizer, by least squares on the stacked system."""
    C, B = np.asarray(K(X, Z)), np.asarray(K(Z))
    w = np.ones(N) if weights is None else weights
    A = np.hstack([C, np.full((N, 1), float(intercept))]) * np.sqrt(w)[:, None]
    values, vectors = np.linalg.eigh(B)
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    R = np.hstack([np.sqrt(penalty) * root, np.zeros((M, 1))])
    right = np.concatenate([np.sqrt(w)[:, None] * y, np.zeros((M, y.shape[1]))])
    found = np.linalg.lstsq(np.vstack([A, R]), right, rcond=1e-14)[0]
    return C @ found[:-1] + intercept * found[-1]


@settings(deadline=None, max_examples=40)
@given(
    penalty=st.floats(-6, 4).map(lambda e: 10.0**e),
    intercept=st.booleans(),
    weighted=st.booleans(),
    direct=st.booleans(),
)
def test_the_answer_minimizes_the_textbooks_sum(penalty, intercept, weighted, direct):
    weights = np.random.default_rng(1).integers(0, 3, N).astype(float) if weighted else None
    solution = solve(Y, penalty, weights, intercept, direct=direct)
    values = np.asarray(K(X, Z)) @ solution.coefficients + solution.intercept
    expected = textbook(Y, penalty, weights, intercept)
    assert solution.status == "solved"
    np.testing.assert_allclose(values, expected, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("direct", [True, False])
def test_with_all_items_for_centers_it_is_the_exact_answer(direct):
    y = Y[:, 0]
    solver = SketchedRidge(direct, tol=1e-12)
    solution = solver.solve(solver.prepare(Problem(sketch(centers=X), None, True)), y, 0.1)
    exact = KernelRidge(K, 0.1, intercept=True).fit(X, y)
    found = np.asarray(K(X)) @ solution.coefficients + solution.intercept
    np.testing.assert_allclose(found, exact.predict(X), atol=1e-8)


def test_one_pass_and_one_decomposition_serve_all_penalties():
    solver = SketchedRidge()
    state = solver.prepare(Problem(sketch(), None, True))
    found = [solver.solve(state, Y, 10.0**e) for e in range(-3, 3)]
    # One pass adds up, and one for each penalty has its residual.
    assert state.sketch.passes == 1 + sum(len(one.history) - 1 for one in found)
    assert state.sketch.passes <= 1 + 2 * len(found)
    for e, one in zip(range(-3, 3), found, strict=True):
        again = solve(Y, 10.0**e, intercept=True)
        np.testing.assert_allclose(one.coefficients, again.coefficients, atol=1e-10)


def test_the_certificate_is_the_true_residual():
    solution = solve(Y[:, 0], 0.5, steps=3, direct=False, tol=1e-14)
    C, B = np.asarray(K(X, Z)), np.asarray(K(Z))
    values, vectors = np.linalg.eigh(B)
    T = vectors / np.sqrt(values)
    g = T.T @ C.T @ Y[:, 0]
    rest = g - T.T @ (C.T @ (C @ solution.coefficients) + 0.5 * B @ solution.coefficients)
    true = np.linalg.norm(rest) / np.linalg.norm(g)
    assert true == pytest.approx(solution.certificate, rel=0.2, abs=1e-14)


def test_another_target_costs_another_pass_only():
    solver = SketchedRidge()
    state = solver.prepare(Problem(sketch()))
    one = solver.solve(state, Y[:, 0], 1.0)
    two = solver.solve(state, Y[:, 1], 1.0)
    both = solve(Y[:, :2], 1.0)
    np.testing.assert_allclose(np.column_stack([one.coefficients, two.coefficients]),
                               both.coefficients, atol=1e-9)  # fmt: skip


def test_a_target_of_zeros_has_the_answer_zero():
    solution = solve(np.zeros(N), 1.0)
    assert not solution.coefficients.any()
    assert solution.certificate == 0.0


@pytest.mark.parametrize("penalty", [0.0, -1.0, np.inf, np.nan])
def test_only_positive_penalties(penalty):
    with pytest.raises(ValidityError, match="positive"):
        solve(Y, penalty)


def test_a_preconditioner_that_cannot_be_factored_is_a_named_error():
    huge = CenterSketch(Linear(), InMemory(VECTORS.admit(X * 1e160), 50), VECTORS.admit(Z))
    solver = SketchedRidge(direct=False)
    with (
        np.errstate(all="ignore"),
        pytest.raises((SolveError, ValidityError), match=r"too large|not a finite number"),
    ):
        solver.solve(solver.prepare(Problem(huge)), Y[:, 0], 1e-3)


def test_an_interrupt_keeps_the_best_so_far():
    found = sketch()
    calls = []
    inner = found.normal

    def normal(A, weights=None):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return inner(A, weights)

    found.normal = normal
    solver = SketchedRidge(direct=False, tol=1e-15)
    solution = solver.solve(solver.prepare(Problem(found)), Y[:, 0], 1e-3)
    assert solution.status == "interrupted"
    assert "interrupted" in solution.message
    assert solution.coefficients.any()
