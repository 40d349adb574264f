"""Laws of solvers: (K + λW⁻¹)a + b = y, with the truth about how well it was solved."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import SolveError, ValidityError
from mercer.gram import Blocked
from mercer.kernels import Gaussian
from mercer.solvers import Solution, Solver
from mercer.testing.cases import SolverCase, expected, residual, singular_grams
from mercer.testing.law import Inapplicable, agree, apply_all, by_name, identical, refused

__all__ = ["SOLVER_LAWS", "check_solver"]

PENALTIES = (1.0, 1e-3, 30.0, 0.05)
# The systems below have condition numbers up to 1e5, so that 1e-10 leaves five digits for the
# difference of two ways to solve them.
TOLERANCE = 1e-10


def truth(case: SolverCase) -> None:
    """The coefficients are those of an independent solution, for odd, even and tiny sizes."""
    for n in (1, 2, 14, 15):
        K, Y = case.gram(n), case.targets(n)
        for penalty in PENALTIES:
            _same(case.solve(K, Y, penalty), *expected(K, Y, penalty))


def weights(case: SolverCase) -> None:
    """Sample weights weigh the squared errors."""
    K, Y = case.gram(), case.targets()
    w = np.linspace(0.1, 5.0, len(K))
    for intercept in (False, True):
        found = case.solve(K, Y, 0.3, w, intercept)
        _same(found, *expected(K, Y, 0.3, w, intercept))


def repetition(case: SolverCase) -> None:
    """A weight of three is the same as three copies, which share its coefficient."""
    K, Y = case.gram(), case.targets()
    times = np.arange(len(K)) % 3 + 1
    rows = np.repeat(np.arange(len(K)), times)
    for intercept in (False, True):
        one = case.solve(K, Y, 0.3, times.astype(float), intercept)
        many = case.solve(K[rows][:, rows], Y[rows], 0.3, None, intercept)
        shares = np.zeros_like(one.coefficients)
        np.add.at(shares, rows, many.coefficients)
        _same(one, shares, many.intercept)


def removal(case: SolverCase) -> None:
    """A weight of zero is the same as the item's removal."""
    _without_some(case, 0.3)


def removal_without_penalty(case: SolverCase) -> None:
    """A weight of zero is the same as the item's removal for interpolation, too."""
    if case.solve(case.gram(), case.targets(), 0.0).status != "solved":
        raise Inapplicable("it does not interpolate")
    _without_some(case, 0.0)


def intercepts(case: SolverCase) -> None:
    """At the optimum Σ a = 0 and λa = W(y − Ka − b)."""
    K, Y = case.gram(), case.targets() + 100.0
    w = np.linspace(0.1, 5.0, len(K))
    found = case.solve(K, Y, 0.3, w, intercept=True)
    a, b = found.coefficients, np.asarray(found.intercept)
    size = np.abs(a).sum(axis=0).max()
    agree(a.sum(axis=0), np.zeros(3), "Σ a", TOLERANCE, size)
    size = np.abs(Y).max(axis=0) * w.max()
    agree(0.3 * a, w[:, None] * (Y - K @ a - b), "λa and W(y − Ka − b)", TOLERANCE, size)


def targets(case: SolverCase) -> None:
    """Several targets at once are several targets one by one, each of its own shape."""
    K, Y = case.gram(), case.targets()
    together = case.solve(K, Y, 0.3, intercept=True)
    assert together.coefficients.shape == Y.shape, f"shape {together.coefficients.shape}"
    assert np.shape(together.intercept) == (3,), f"intercept {together.intercept!r}"
    for j in range(Y.shape[1]):
        one = case.solve(K, Y[:, j], 0.3, intercept=True)
        assert one.coefficients.shape == (len(K),), f"shape {one.coefficients.shape}"
        assert np.ndim(one.intercept) == 0, f"intercept {one.intercept!r}"
        _same(one, together.coefficients[:, j], together.intercept[j])


def certificate(case: SolverCase) -> None:
    """The certificate is the relative residual of the worst target, as anyone can recompute it.

    It can be known only up to the rounding of the residual itself, n·ε·(|K||a| + |y|).
    """
    K, Y = case.gram(), case.targets()
    vectors = np.linalg.eigh(K)[1]
    hard = (vectors * np.geomspace(1e-9, 1.0, len(K))) @ vectors.T
    hard = (hard + hard.T) / 2
    for matrix, penalty in ((K, 0.3), (hard, 1e-9), (hard, 1e-3)):
        for intercept in (False, True):
            found = case.solve(matrix, Y, penalty, intercept=intercept)
            true, rounding = residual(matrix, Y, penalty, found)
            agree(found.certificate, true, "certificate and residual", 1.0, rounding)
            good = found.status == "solved" or matrix is hard
            assert good, f"status {found.status}: {found.message}"


def singular(case: SolverCase) -> None:
    """Without a penalty a singular system is refused in words that say what to try."""
    for K in singular_grams(case.seed):
        y = np.ones(len(K))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = case.solve(K, y, 0.0)
        size = np.abs(found.coefficients).max()
        assert found.status == "singular", (
            f"status {found.status!r} for a matrix of order {len(K)} and rank "
            f"{np.linalg.matrix_rank(K)}, with coefficients up to {size:.1e}"
        )
        assert "penalty" in found.message, f"the message has no advice: {found.message!r}"
        assert not found.certificate < np.inf, f"it certifies {found.certificate}"
        refused(SolveError, "a singular solution", found.require_solved)


def penalties(case: SolverCase) -> None:
    """One state serves all penalties in any order, a failed one among them."""
    K, Y = case.gram(), case.targets()
    deficient = singular_grams(case.seed)[0]
    for matrix, sequence in (
        (K, [1.0, 1e-3, 0.0, 30.0, 1e-3]),
        (deficient, [0.0, 0.1, 0.0, 2.0, 0.1]),
    ):
        n = len(matrix)
        state = case.prepare(matrix, np.linspace(0.5, 2.0, n), True)
        for penalty in sequence:
            again = case.solver.solve(state, Y[:n], penalty)
            fresh = case.solve(matrix, Y[:n], penalty, np.linspace(0.5, 2.0, n), True)
            assert again.status == fresh.status, f"status {again.status} and {fresh.status}"
            assert again.penalty == penalty, f"it says penalty {again.penalty}"
            if fresh.status == "solved":
                _same(again, fresh.coefficients, fresh.intercept)


def operators(case: SolverCase) -> None:
    """A stored matrix and one that is computed when needed give the same answer."""
    if case.features:
        raise Inapplicable("it works on features")
    X = np.random.default_rng(case.seed).normal(size=(15, 3))
    k, y = Gaussian(1.0), case.targets()
    stored = case.solve(k(X), y, 0.3)
    _same(case.solve(Blocked(k, k.admit(X)), y, 0.3), stored.coefficients, stored.intercept)


def inputs(case: SolverCase) -> None:
    """Matrix, target and weights stay as they are; the same call gives the same bits."""
    K, Y, w = case.gram(), case.targets(), np.linspace(0.1, 5.0, 15)
    copies = [array.copy() for array in (K, Y, w)]
    Y.setflags(write=False)
    w.setflags(write=False)
    first = case.solve(K, Y, 0.3, w, intercept=True)
    for array, copy in zip((K, Y, w), copies, strict=True):
        identical(array, copy, "an input before and after")
    K.setflags(write=False)
    again = case.solve(K, Y, 0.3, w, intercept=True)
    identical(again.coefficients, first.coefficients, "coefficients of two calls")


def repair(case: SolverCase) -> None:
    """An indefinite matrix is solved with the repaired spectrum, also for new points.

    With K = VΛVᵀ and its repair K̃ = VΛ̃Vᵀ, the training points have the values K̃ã, where
    (K̃ + λI)ã = y. Coefficients a with Ka = K̃ã give these values from plain similarities, which
    is what new points have. A shift is a penalty on the training points, so there K̃ is clipped.
    """
    policy = getattr(case.solver, "indefinite", "error")
    if policy == "error":
        raise Inapplicable("it does not repair a spectrum")
    values, V = np.linalg.eigh(case.gram())
    values[:4] = [-2.0, -1.0, -0.3, 0.0]
    K = (V * values) @ V.T
    K = (K + K.T) / 2
    better = {
        "clip": np.maximum(values, 0.0),
        "flip": np.abs(values),
        "shift": values - values.min(),
    }[policy]
    y = case.targets()
    exact = V @ ((V.T @ y) / (better + 0.3)[:, None])
    found = case.solve(K, y, 0.3)
    assert found.status == "solved", f"status {found.status}: {found.message}"
    fitted = K @ found.coefficients
    repaired = (V * (np.abs(values) if policy == "flip" else np.maximum(values, 0))) @ V.T @ exact
    agree(fitted, repaired, "Ka and K̃ã", TOLERANCE, np.abs(y).max(axis=0))


def bad_penalties(case: SolverCase) -> None:
    """A penalty that is negative or not a finite number is refused."""
    for penalty in (-1.0, np.nan, np.inf):
        arguments = case.gram(), case.targets(), penalty
        refused(ValidityError, f"penalty {penalty}", case.solve, *arguments)


def check_solver(solver: Solver, *, features: bool = False) -> list[str]:
    """Hold all laws of solvers against one; return the names of those that apply.

    Parameters
    ----------
    solver : Solver
    features : bool
        Whether it wants the Gram matrix as features.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mercer.solvers import Eigen
    >>> "certificate" in check_solver(Eigen())
    True
    """
    return apply_all(SOLVER_LAWS, SolverCase(solver, features))


def _without_some(case: SolverCase, penalty: float) -> None:
    K, Y = case.gram(), case.targets()
    w = np.ones(len(K))
    w[[0, 4, 5]] = 0.0
    kept = w > 0
    for intercept in (False, True):
        found = case.solve(K, Y, penalty, w, intercept)
        fewer = case.solve(K[kept][:, kept], Y[kept], penalty, None, intercept)
        coefficients = np.zeros_like(Y)
        coefficients[kept] = fewer.coefficients
        _same(found, coefficients, fewer.intercept)


def _same(found: Solution, coefficients: ArrayLike, intercept: ArrayLike) -> None:
    assert found.status == "solved", f"status {found.status}: {found.message}"
    size = np.abs(coefficients).max(axis=0)
    agree(found.coefficients, coefficients, "coefficients", TOLERANCE, size)
    size = np.abs(intercept) + np.abs(coefficients).max(axis=0)
    agree(found.intercept, intercept, "intercept", TOLERANCE, size)


SOLVER_LAWS = by_name(
    truth, weights, repetition, removal, removal_without_penalty, intercepts, targets,
    certificate, singular, penalties, operators, inputs, repair, bad_penalties,
)  # fmt: skip
