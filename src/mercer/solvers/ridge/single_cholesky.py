"""A factor in single precision alone: half the time and half the memory of one in double.

The matrix is stored in single precision and its factor takes its place, so that a system of n
items needs 4n² bytes. What single precision has lost is found again by conjugate gradients, of
which the factor is the preconditioner: their products are computed tile by tile from the items,
and a handful of them is enough. Rounding may take away that a matrix is positive definite; so a
small multiple of the identity is added to it before it is factored, which the steps make up for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import lapack

from mercer.engine.tiles import spans
from mercer.gram.single_precision import SinglePrecision, single_products
from mercer.memory import afford
from mercer.solvers.conjugate_gradients import LinearMap
from mercer.solvers.cost import OVERHEAD, Cost, Requirements, Size, factor_seconds, product_seconds
from mercer.solvers.iterative import Iterative
from mercer.solvers.ridge.cholesky import MAX_PACKED_ORDER
from mercer.solvers.ridge.solver import Approximation, Problem, SolvedColumns, State

__all__ = ["SingleCholesky"]

ROUNDING = 1e-6  # of a similarity in single precision, as a share of the largest k(x, x)
EXPECTED_PRODUCTS = 6  # with the similarities, of the steps and of the residual in the end


class Rounded(State):
    """A problem whose matrix can be stored in single precision."""

    def __init__(self, problem: Problem, mixed: bool) -> None:
        super().__init__(problem)
        single = single_products(problem.gram)
        self.rounded = single if isinstance(single, SinglePrecision) else None
        self.single: State | None = None
        if mixed and self.rounded is not None:
            self.single = State(replace(problem, gram=self.rounded))
        self.largest = float(problem.gram.diagonal().max(initial=0.0)) or 1.0

    def factor(self, shift: float) -> np.ndarray | None:
        """Return the factor of SKS + shift·I, its lower triangle seen from LAPACK; or None."""
        n = self.problem.gram.order
        afford(4.0 * n * n, f"a factor of {n} × {n} items", 'use Plan(solver="iterative")')
        M = np.empty((n, n), dtype=np.float32)
        if self.rounded is None:
            self.problem.gram.fill(M)  # type: ignore[attr-defined]
        else:
            self.rounded.fill_upper(M)
        if self.roots is not None:
            roots = self.roots.astype(np.float32)
            for rows in spans(n, 256):
                M[rows] *= roots[rows, None]
                M[rows] *= roots
        M.ravel()[:: n + 1] += np.float32(shift)
        found, info = lapack.spotrf(M.T, lower=1, overwrite_a=1, clean=0)
        return None if info else found


@dataclass(frozen=True)
class SingleCholesky(Iterative):
    """Solve by steps that a triangular factor in single precision preconditions.

    Parameters
    ----------
    rank, seed
        Not used: the preconditioner is the factor of the whole matrix.
    tol : float
        Relative residual at which a right-hand side is solved.
    steps : int
        The most steps; those in single precision are counted apart.
    mixed : bool
        Whether the products of the steps may be in single precision.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> solver = SingleCholesky()
    >>> state = solver.prepare(Problem(Dense(np.array([[2.0, 1.0], [1.0, 2.0]]))))
    >>> solution = solver.solve(state, np.array([4.0, 5.0]), penalty=1.0)
    >>> solution.coefficients.round(9), solution.certificate < 1e-9
    (array([0.875, 1.375]), True)
    """

    mixed: bool = True
    name = "cholesky"
    requires: ClassVar[Requirements] = Requirements(
        definite=True, penalty=True, solution_only=True, similarities=True, cheap=True,
        max_order=MAX_PACKED_ORDER,
    )  # fmt: skip

    def cost(self, size: Size) -> Cost:
        """Return what the matrix, its factor and the steps take."""
        n, t = size.items, size.targets
        vectors = 14 * 8  # bytes of an item and target
        rest = n * (2 * size.row + vectors * t) + size.encodings + OVERHEAD
        products = product_seconds(n**2 / 2, size.row, 2 * t) * EXPECTED_PRODUCTS
        seconds = factor_seconds(n, mixed=True) + product_seconds(n**2, size.row) + products
        return Cost(int(4 * n**2 + size.tiles + rest), seconds)

    def prepare(self, problem: Problem) -> Rounded:  # type: ignore[override]
        return Rounded(problem, self.mixed)

    def approximation(
        self, Y: np.ndarray, b: np.ndarray, certificate: float, history: tuple[float, ...]
    ) -> Approximation | None:
        found = super().approximation(Y, b, certificate, history)
        if found is None:
            return None
        return replace(found, method=f"a factor in single precision and {found.method}")

    def columns(  # type: ignore[override]
        self, state: Rounded, R: np.ndarray, penalty: float
    ) -> SolvedColumns:
        if penalty == 0:
            message = "steps that refine a factor need a positive penalty; use precision='double'"
            return SolvedColumns(np.full_like(R, np.nan), "singular", message)
        n, heaviest = len(R), 1.0 if state.roots is None else float(state.roots.max()) ** 2
        for digits in (math.sqrt(n), float(n)):  # what rounding usually does, and at worst
            factor = state.factor(penalty + ROUNDING * digits * state.largest * heaviest)
            if factor is not None:
                return self.descend(state, R, penalty, inverse_of(factor))
        message = "single precision was not enough for a factor; use precision='double'"
        return SolvedColumns(np.full_like(R, np.nan), "singular", message)


def inverse_of(factor: np.ndarray) -> LinearMap:
    """Return V ↦ (LLᵀ)⁻¹V in single precision, for columns of any magnitude."""

    def inverse(V: np.ndarray) -> np.ndarray:
        size = np.abs(V).max(axis=0, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        found, _ = lapack.spotrs(factor, np.asfortranarray(V / size, dtype=np.float32), lower=1)
        return found * size

    return inverse
