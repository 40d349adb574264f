"""Cholesky: the direct solution of (K + λI)a = y, for one penalty at a time.

M = K + λI is symmetric and positive definite, so M = LLᵀ with a triangular L, at n³/3
operations. Two ways are offered:

*double*: L is written below the diagonal of K, and what is above it keeps K for the residual, so
that the whole fit takes the memory of one Gram matrix.

*mixed*: L is computed in single precision, in LAPACK's rectangular full packed format, which
takes a quarter of the Gram matrix, in half the time. Its answer has about seven digits less the
condition of M. Iterative refinement then gets the others: solve for the residual, which is
computed in double, and add the correction, until the residual stops falling (Wilkinson, 1963;
Higham, Accuracy and Stability, chapter 12). If that does not converge, or the single-precision
factor does not exist, the double way is taken and the solution says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from scipy.linalg import blas, lapack

from mercer.engine.tiles import quiet, spans
from mercer.errors import SolveError
from mercer.gram import Operator
from mercer.solvers.cost import Cost, Requirements, Size, factor_seconds, stored_cost
from mercer.solvers.ridge.solver import (
    Problem,
    SolvedColumns,
    Solver,
    State,
    decouple,
    relative,
    singular_message,
)
from mercer.threads import in_threads

__all__ = ["Cholesky", "Factor", "Packed", "mirror_down"]

REFINED = 1e-13  # relative residual at which refinement has done its work
ACCEPTED = 1e-10  # relative residual above which its answer is not used
STEPS = 12
# LAPACK addresses its packed format with n(n + 1), computed in 32 bits.
MAX_PACKED_ORDER = 46_000
MIN_MIXED_ORDER = 1000  # from which a single-precision factor with refinement is the faster one
# Refinement converges, by a factor or by steps, while condition · 6e-8 is well below 1.
MAX_REFINED_CONDITION = 1e8


class Stored(State):
    """SKS in one array: above the diagonal K, which stays; below it room for a factor."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        M = problem.gram.upper()
        if self.roots is not None:
            with quiet():  # below its diagonal M may hold anything
                for i in spans(len(M), 256):
                    M[i, i.start :] *= self.roots[i, None]
                    M[i, i.start :] *= self.roots[i.start :]
            decouple(M, self.roots)
        self.array = M
        self.diagonal = np.diag(M).copy()

    @property
    def order(self) -> int:
        """Number of items."""
        return len(self.array)

    def block(self, items: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the rows and columns of some items, in ascending order; also after a fit."""
        out[...] = self.array[np.ix_(items, items)]
        mirror_down(out)
        return out

    def multiply(self, X: np.ndarray) -> np.ndarray:
        # BLAS sees the transpose, in which the upper triangle is the lower one. For a few columns
        # it is faster one by one.
        if X.shape[1] <= 16:
            product = np.stack([blas.dsymv(1.0, self.array.T, x, lower=1) for x in X.T], axis=1)
        else:
            product = blas.dsymm(1.0, self.array.T, X, lower=1)
        return product


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
    requires: ClassVar[Requirements] = Requirements(definite=True)
    single_possible: ClassVar[Requirements] = Requirements()
    single_pays: ClassVar[Requirements] = Requirements(
        min_order=MIN_MIXED_ORDER, max_order=MAX_PACKED_ORDER
    )

    def cost(self, size: Size) -> Cost:
        """Return what the matrix and its factor take."""
        mixed = self.precision == "mixed"
        return stored_cost(size, self.workspace(size.items), factor_seconds(size.items, mixed))

    @staticmethod
    def operations(size: Size) -> float:
        """Return how many multiplications the Gram matrix takes, and its factor."""
        return size.items**2 * size.row / 8 + size.items**3 / 3

    def workspace(self, order: int) -> int:
        """Return the bytes beside a matrix of this order: those of a packed factor."""
        return 2 * order * (order + 1) if self.precision == "mixed" else 0

    def prepare(self, problem: Problem) -> Stored:
        return Stored(problem)

    def columns(self, state: Stored, R: np.ndarray, penalty: float) -> SolvedColumns:
        if self.precision == "double":
            return _double(state, R, penalty)
        found = _mixed(state, R, penalty)
        if found.status == "solved":
            return found
        again = _double(state, R, penalty)
        message = "; ".join(filter(None, [found.message, again.message]))
        return SolvedColumns(again.values, again.status, message, found.history)


@dataclass(frozen=True)
class Factor:
    """The triangular L of LLᵀ = M; what is above its diagonal is not looked at.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> L = Factor.of(Dense(np.array([[3.0, 0.0], [0.0, 8.0]])), None, 1.0)
    >>> L.half(np.array([[2.0], [3.0]])).ravel(), round(L.log_determinant, 3)
    (array([1., 1.]), 3.584)
    """

    lower: np.ndarray

    @classmethod
    def of(cls, gram: Operator, weights: np.ndarray | None, penalty: float) -> Factor:
        """Factor SKS + λI in the memory of one Gram matrix."""
        state = Stored(Problem(gram, weights))
        M = state.array
        np.fill_diagonal(M, state.diagonal + penalty)
        lower, info = lapack.dpotrf(M.T, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            largest = float(state.diagonal.max(initial=0.0)) * len(M)
            raise SolveError(singular_message(penalty, len(M), largest))
        return cls(lower)

    def half(self, R: np.ndarray) -> np.ndarray:
        """Return L⁻¹R."""
        return lapack.dtrtrs(self.lower, R, lower=1)[0]

    def back(self, R: np.ndarray) -> np.ndarray:
        """Return L⁻ᵀR."""
        return lapack.dtrtrs(self.lower, R, lower=1, trans=1)[0]

    def inverse(self) -> np.ndarray:
        """Return M⁻¹."""
        found, _ = lapack.dpotri(self.lower.copy(order="F"), lower=1, overwrite_c=1)
        mirror_down(found.T)
        return found.T

    @property
    def log_determinant(self) -> float:
        """log |M|."""
        return 2 * float(np.sum(np.log(np.diag(self.lower))))


def _double(state: Stored, R: np.ndarray, penalty: float) -> SolvedColumns:
    """Factor in double precision, below the diagonal of K."""
    M = state.array
    mirror_down(M)
    np.fill_diagonal(M, state.diagonal + penalty)
    norm = _one_norm(M) if penalty == 0 else None
    factor, info = lapack.dpotrf(M.T, lower=0, overwrite_a=1, clean=0)
    largest = float(state.diagonal.max(initial=0.0)) * len(M)
    if info == 0 and norm is not None:
        rcond, _ = lapack.dpocon(factor, norm, uplo="U")
        info = int(rcond < np.finfo(float).eps)
    if info != 0:
        np.fill_diagonal(M, state.diagonal)
        message = singular_message(penalty, len(M), largest)
        return SolvedColumns(np.full_like(R, np.nan), "singular", message)
    values, _ = lapack.dpotrs(factor, R, lower=0)
    np.fill_diagonal(M, state.diagonal)
    return SolvedColumns(values)


def _mixed(state: Stored, R: np.ndarray, penalty: float) -> SolvedColumns:
    """Factor in single precision and refine the answer to double."""
    if len(state.array) > MAX_PACKED_ORDER:
        message = f"LAPACK packs matrices up to order {MAX_PACKED_ORDER} only"
        return SolvedColumns(np.full_like(R, np.nan), "stalled", message)
    factor = Packed.factor(state.array, state.diagonal + penalty)
    if factor is None:
        message = "single precision was not enough for a factor"
        return SolvedColumns(np.full_like(R, np.nan), "stalled", message)

    X, best, history = factor.solve(R), np.inf, []
    previous = X
    for _ in range(STEPS):
        residual = R - state.multiply(X) - penalty * X
        history.append(relative(residual, R))
        if not history[-1] < best / 2:  # no longer falling: the step before was as good as it gets
            X = previous if not history[-1] < best else X
            break
        best, previous = history[-1], X
        if best <= REFINED:
            break
        X = X + factor.solve(residual)
    if not min(history) <= ACCEPTED:  # also where it is not a number
        message = "refinement from single precision did not converge"
        return SolvedColumns(np.full_like(R, np.nan), "stalled", message, tuple(history))
    return SolvedColumns(X, "solved", "", tuple(history))


@dataclass(frozen=True)
class Packed:
    """A Cholesky factor in single precision, in a quarter of the memory of its matrix.

    LAPACK's rectangular full packed format (Gustavson et al., 2010) folds a triangle into a
    rectangle without gaps, so that the factor is still computed by fast matrix products. For a
    lower triangle of order n = 2k, row i of the transposed rectangle holds row i of the trailing
    k × k triangle and then, from its diagonal on, column i of the k leading columns. For odd n
    the trailing triangle is one smaller and starts one row later.

    Attributes
    ----------
    order : int
    scale : float
        What the matrix was divided by, so that single precision can hold it.
    entries : ndarray of shape (n(n + 1)/2,)

    Examples
    --------
    >>> M = np.array([[4.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 1.0]])
    >>> Packed.factor(M, np.diag(M)).solve(np.array([[6.0], [7.0], [3.0]])).ravel().round(5)
    array([1., 1., 3.])
    """

    order: int
    scale: float
    entries: np.ndarray

    @classmethod
    def factor(cls, M: np.ndarray, diagonal: np.ndarray) -> Self | None:
        """Return the factor of M with another diagonal, or None if it is not positive definite.

        Only what is above the diagonal of M is read.
        """
        n = len(M)
        scale = float(np.abs(diagonal).max()) or 1.0
        if 1e-12 < scale < 1e12:
            scale = 1.0  # single precision holds it as it is
        packed = _pack(M, scale)
        k, odd = len(packed), n % 2
        np.fill_diagonal(packed[:, 1 - odd :], diagonal[:k] / scale)
        np.fill_diagonal(packed[odd:], diagonal[k:] / scale)
        entries, info = lapack.spftrf(n, packed.ravel(), transr="N", uplo="L", overwrite_a=1)
        return None if info else cls(n, scale, entries)

    def solve(self, R: np.ndarray) -> np.ndarray:
        """Return X with LLᵀX = R, to single precision, for right-hand sides of any magnitude."""
        scale = np.abs(R).max(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        single = np.asfortranarray(R / scale, dtype=np.float32)
        X, _ = lapack.spftrs(self.order, self.entries, single, transr="N", uplo="L")
        return X * (scale / self.scale)


def _pack(M: np.ndarray, scale: float, size: int = 256) -> np.ndarray:
    """Return the upper triangle of a symmetric matrix, scaled and packed in single precision."""
    n = len(M)
    k, odd = (n + 1) // 2, n % 2
    packed = np.empty((k, n + 1 - odd), dtype=np.float32)
    trailing = M[k:, k:]

    def some(rows: slice) -> None:
        # First the square around the trailing triangle, transposed; what is too much of it is
        # then overwritten by the leading columns.
        tail = slice(max(rows.start - odd, 0), rows.stop - odd)
        with quiet():  # below its diagonal M may hold anything
            for j in spans(tail.stop, size):
                packed[tail.start + odd : rows.stop, j] = _scaled(trailing[j, tail].T, scale)
        for i in range(rows.start, rows.stop):
            packed[i, i + 1 - odd :] = _scaled(M[i, i:], scale)

    in_threads(some, spans(k, size))
    return packed


def _scaled(values: np.ndarray, scale: float) -> np.ndarray:
    return values if scale == 1.0 else values / scale


def _one_norm(M: np.ndarray) -> float:
    return max(float(np.abs(M[rows]).sum(axis=1).max()) for rows in spans(len(M), 256))


def mirror_down(M: np.ndarray, size: int = 256) -> None:
    """Copy what is above the diagonal of a matrix to below it, tile by tile."""

    def row(i: slice) -> None:
        tile = M[i, i]
        tile[...] = np.triu(tile) + np.triu(tile, 1).T
        for j in spans(i.start, size):
            M[i, j] = M[j, i].T

    in_threads(row, spans(len(M), size))
