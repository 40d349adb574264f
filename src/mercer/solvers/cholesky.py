"""Cholesky: the direct solution of (K + λI)a = y, for one penalty at a time.

M = K + λI is symmetric and positive definite, so M = LLᵀ with a triangular L, at n³/3
operations. Two ways are offered:

*double*: L overwrites one triangle of K, the other triangle keeps K for the residual, so that
the whole fit takes the memory of one Gram matrix.

*mixed*: L is computed in single precision, in LAPACK's rectangular full packed format, which
takes a quarter of the Gram matrix, in half the time. Its answer has about seven digits less the
condition of M. Iterative refinement then gets the others: solve for the residual, which is
computed in double, and add the correction, until the residual stops falling (Wilkinson, 1963;
Higham, Accuracy and Stability, chapter 12). If that does not converge, or the single-precision
factor does not exist, the double way is taken and the solution says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import blas, lapack

from mercer.kernels.tiles import in_threads, spans
from mercer.plans.plan import MIXED_UP_TO
from mercer.solvers.problem import (
    Columns,
    Problem,
    Solver,
    State,
    decouple,
    relative,
    singular_message,
)

__all__ = ["Cholesky"]

REFINED = 1e-13  # relative residual at which refinement has done its work
ACCEPTED = 1e-10  # relative residual above which its answer is not used
STEPS = 12


class Stored(State):
    """SKS in one array: below the diagonal always K, above it K or a factor."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        M = problem.gram.fresh()
        if self.roots is not None:
            M *= self.roots[:, None]
            M *= self.roots[None, :]
            decouple(M, self.roots)
        self.array = M
        self.diagonal = np.diag(M).copy()
        self.intact = True

    def multiply(self, X: np.ndarray) -> np.ndarray:
        if self.intact:
            return self.array @ X
        # BLAS sees the transpose, in which the untouched lower triangle is the upper one.
        product = blas.dsymm(1.0, self.array.T, X, lower=0)
        return product + (self.diagonal - np.diag(self.array))[:, None] * X

    def restore(self) -> None:
        """Put K back where a factor was."""
        if not self.intact:
            mirror_up(self.array)
            np.fill_diagonal(self.array, self.diagonal)
            self.intact = True


@dataclass(frozen=True)
class Cholesky(Solver):
    """Solve by a triangular factor.

    Parameters
    ----------
    precision : {"double", "mixed"}

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Dense
    >>> solver = Cholesky()
    >>> state = solver.prepare(Problem(Dense(np.array([[2.0, 1.0], [1.0, 2.0]]))))
    >>> solution = solver.solve(state, np.array([4.0, 5.0]), penalty=1.0)
    >>> solution.coefficients.round(12), solution.certificate < 1e-15
    (array([0.875, 1.375]), True)
    """

    precision: Literal["double", "mixed"] = "double"
    name = "cholesky"

    def prepare(self, problem: Problem) -> Stored:
        return Stored(problem)

    def columns(self, state: Stored, R: np.ndarray, penalty: float) -> Columns:
        if self.precision == "double":
            return _double(state, R, penalty)
        found = _mixed(state, R, penalty)
        if found.status == "solved":
            return found
        again = _double(state, R, penalty)
        message = "; ".join(filter(None, [found.message, again.message]))
        return Columns(again.values, again.status, message, found.history)


def _double(state: Stored, R: np.ndarray, penalty: float) -> Columns:
    """Factor in place, in double precision."""
    state.restore()
    M = state.array
    np.fill_diagonal(M, state.diagonal + penalty)
    norm = _one_norm(M) if penalty == 0 else None
    state.intact = False
    factor, info = lapack.dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
    largest = float(state.diagonal.max(initial=0.0)) * len(M)
    if info == 0 and norm is not None:
        rcond, _ = lapack.dpocon(factor, norm, uplo="L")
        info = int(rcond < np.finfo(float).eps)
    if info != 0:
        message = singular_message(penalty, len(M), largest)
        return Columns(np.full_like(R, np.nan), "singular", message)
    values, _ = lapack.dpotrs(factor, R, lower=1)
    return Columns(values)


def _mixed(state: Stored, R: np.ndarray, penalty: float) -> Columns:
    """Factor in single precision and refine the answer to double."""
    state.restore()
    n = len(state.array)
    if n > MIXED_UP_TO:
        return Columns(R, "stalled", f"LAPACK packs matrices up to order {MIXED_UP_TO} only")
    packed = _pack(state.array)
    _add_to_diagonal(packed, state.diagonal, penalty)
    factor, info = lapack.spftrf(n, packed.ravel(), transr="N", uplo="L", overwrite_a=1)
    if info != 0:
        return Columns(R, "stalled", "single precision was not enough for a factor")

    def rough(right: np.ndarray) -> np.ndarray:
        scale = np.abs(right).max(axis=0)  # the residual may be too small for single precision
        scale = np.where(scale > 0, scale, 1.0)
        single = np.asfortranarray(right / scale, dtype=np.float32)
        answer, _ = lapack.spftrs(n, factor, single, transr="N", uplo="L")
        return answer.astype(np.float64) * scale

    X, best, history = rough(R), np.inf, []
    previous = X
    for _ in range(STEPS):
        rest = R - state.multiply(X) - penalty * X
        history.append(relative(rest, R))
        if not history[-1] < best / 2:  # no longer falling: the step before was as good as it gets
            X = previous if not history[-1] < best else X
            break
        best, previous = history[-1], X
        if best <= REFINED:
            break
        X = X + rough(rest)
    if min(history) > ACCEPTED:
        message = "refinement from single precision did not converge"
        return Columns(R, "stalled", message, tuple(history))
    return Columns(X, "solved", "", tuple(history))


def _pack(M: np.ndarray) -> np.ndarray:
    """Return a symmetric matrix in single precision and rectangular full packed format.

    The array is the transpose of LAPACK's (normal, lower) format. For n = 2k its row i holds row
    i of the lower triangle of the trailing k × k block and then column i of the leading block
    column; for odd n the trailing block is one smaller and starts one row later.
    """
    n = len(M)
    k = (n + 1) // 2
    odd = n % 2
    packed = np.empty((k, n + 1 - odd), dtype=np.float32)

    def some(rows: slice) -> None:
        for i in range(rows.start, rows.stop):
            trailing = i + 1 - odd
            packed[i, :trailing] = M[k + i - odd, k : k + trailing]
            packed[i, trailing:] = M[i, i:]

    in_threads(some, spans(k, 256))
    return packed


def _add_to_diagonal(packed: np.ndarray, diagonal: np.ndarray, penalty: float) -> None:
    """Write diagonal + penalty into a packed matrix."""
    n, k = len(diagonal), len(packed)
    odd = n % 2
    shifted = diagonal + penalty
    i = np.arange(k)
    packed[i, i + 1 - odd] = shifted[:k]
    j = np.arange(n - k)
    packed[j + odd, j] = shifted[k:]


def _one_norm(M: np.ndarray) -> float:
    return max(float(np.abs(M[rows]).sum(axis=1).max()) for rows in spans(len(M), 256))


def mirror_up(M: np.ndarray, size: int = 256) -> None:
    """Copy the lower triangle of a matrix to its upper one, tile by tile."""
    for i in spans(len(M), size):
        tile = M[i, i]
        tile[...] = np.tril(tile) + np.tril(tile, -1).T
        for j in spans(len(M), size):
            if j.start > i.start:
                M[i, j] = M[j, i].T
