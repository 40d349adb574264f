"""Iterative: the exact solution of (K + λI)a = y without the n³ and without the matrix.

Conjugate gradients need one product with K for each step, which is computed tile by tile. How many
steps there are depends on the spectrum of K + λI; so the system is preconditioned by a matrix of
low rank near K,

    P = FFᵀ + λI,    P⁻¹v = (v − F(FᵀF + λI)⁻¹Fᵀv)/λ,

with the columns of a randomly pivoted Cholesky factor (Díaz, Epperly, Frangella, Tropp & Webber,
2023). If K − FFᵀ is small beside λ, a handful of steps is enough. Where the spectrum decays too
slowly for that, the steps are many, and the direct way is better as long as it fits. The
preconditioner shows which it is (`Iterative.foresee`), and whoever decided on steps may then
decide again: the solver itself never gives way to another one.

The products of the steps may be in single precision. What is left of the right-hand side is then
computed in double precision and worked on again, as in iterative refinement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from mercer.gram.low_rank import LinearMap, NearFactor, Preconditioning
from mercer.gram.single_precision import single_products
from mercer.solvers.conjugate_gradients import conjugate_gradients
from mercer.solvers.cost import (
    FLOP_SECONDS,
    OVERHEAD,
    Cost,
    Requirements,
    Size,
    product_seconds,
)
from mercer.solvers.pivoted_cholesky import (
    BLOCK_COLUMNS,
    MIN_RANK,
    pivoted_cholesky,
)
from mercer.solvers.ridge.cholesky import MAX_REFINED_CONDITION
from mercer.solvers.ridge.solver import (
    TRUSTED,
    Approximation,
    Problem,
    SolvedColumns,
    Solver,
    State,
)

__all__ = ["Iterative", "Preconditioned", "expected_steps"]

TINY = float(np.finfo(float).tiny)
MIN_ITEMS = 10_000  # from which on products with a matrix never stored usually beat a factor
EXPECTED_STEPS = 15  # for nine digits, where steps are worth it
# A step takes about n²·1 ns, half of the similarities being mirror images, and a factor n³/3
# operations of 0.02 ns: so many items are there for each step that is worth its while.
ITEMS_A_STEP = 150


class Refined(Protocol):
    """A prepared problem, and perhaps the same with products in single precision."""

    single: State | None

    def multiply(self, V: np.ndarray) -> np.ndarray: ...


class Preconditioned(State):
    """A problem with the factor of low rank that preconditions it, made when λ is known."""

    def __init__(self, problem: Problem, mixed: bool) -> None:
        super().__init__(problem)
        single = single_products(problem.gram) if mixed else None
        self.single: State | None = None
        if single is not None:
            self.single = State(replace(problem, gram=single))
        self.factor: NearFactor | None = None
        self.enough = math.inf

    def near(self, rank: int, enough: float, seed: int) -> NearFactor:
        """Return F, for a trace of what is left of at most `enough`, if the rank allows."""
        if self.factor is None or (enough < self.enough and self.factor.rank < rank):
            gram: Any = self.problem.gram
            if isinstance(gram, Preconditioning):  # the engine makes it where it computes
                self.factor = gram.low_rank(rank, enough, seed)
            else:
                self.factor = pivoted_cholesky(gram, rank, enough, seed)
            self.enough = enough
        return self.factor


@dataclass(frozen=True)
class Iterative(Solver):
    """Solve by preconditioned conjugate gradients.

    Parameters
    ----------
    rank : int
        Columns of the preconditioner, at most.
    tol : float
        Relative residual at which a right-hand side is solved.
    steps : int
        The most steps; those in single precision are counted apart.
    seed : int
        Of the pivots.
    mixed : bool
        Whether the products of the steps may be in single precision.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> solver = Iterative()
    >>> state = solver.prepare(Problem(Dense(np.array([[2.0, 1.0], [1.0, 2.0]]))))
    >>> solution = solver.solve(state, np.array([4.0, 5.0]), penalty=1.0)
    >>> solution.coefficients.round(9), solution.certificate < 1e-9
    (array([0.875, 1.375]), True)
    """

    rank: int = 1000
    tol: float = 1e-9
    steps: int = 1000
    seed: int = 0
    mixed: bool = False
    name = "iterative"
    requires: ClassVar[Requirements] = Requirements(
        definite=True, penalty=True, solution_only=True, similarities=True
    )
    # than a factor, as far as is known: the last is known only once there is a preconditioner
    worthwhile: ClassVar[Requirements] = Requirements(
        cheap=True,
        min_order=MIN_ITEMS,
        max_condition=MAX_REFINED_CONDITION,
        items_a_step=ITEMS_A_STEP,
    )
    single_possible: ClassVar[Requirements] = Requirements(cheap=True, single=True)
    single_pays: ClassVar[Requirements] = single_possible

    def cost(self, size: Size) -> Cost:
        """Return what the preconditioner and the steps take."""
        n, t, rank = size.items, size.targets, min(self.rank, size.items)
        # The preconditioner, scaled by the weights once more, and a block of rows for it; then
        # solutions, residuals and directions of all right-hand sides.
        factor = 8 * n * rank * (2 if size.weighted else 1) + 16 * rank**2 + 16 * n * BLOCK_COLUMNS
        rounded = n * size.row if self.mixed else 0  # half of it in two encodings
        vectors = 14 * 8  # bytes of an item and target
        rest = n * (size.row + vectors * t) + size.encodings + OVERHEAD
        once = product_seconds(n * rank, size.row) + n * rank**2 * 2 * FLOP_SECONDS
        steps = size.steps or EXPECTED_STEPS * math.log(self.tol) / math.log(Iterative.tol)
        # A product in single precision takes 0.45 of one in double, and there are 15% more;
        # one in double ends each of two rounds.
        products = 2 + 0.45 * 1.15 * steps if self.mixed else steps
        seconds = once + product_seconds(n**2 / 2, size.row, 2 * t) * products
        return Cost(int(factor + size.tiles + rounded + rest), seconds)

    def rank_within(self, size: Size, memory: int) -> int:
        """Return how many columns of the preconditioner fit, no fewer than are worth it."""
        room = memory - replace(self, rank=0).cost(size).bytes
        fits = room // (8 * size.items * (2 if size.weighted else 1) + 16 * Iterative.rank)
        return min(max(int(fits), MIN_RANK), Iterative.rank, size.items)

    @property
    def trusted(self) -> float:
        return max(TRUSTED, 2 * self.tol)

    def approximation(
        self, Y: np.ndarray, b: np.ndarray, certificate: float, history: tuple[float, ...]
    ) -> Approximation | None:
        """Bound the difference from the exact answer, if the steps were stopped early.

        With the residual r it is K(K + λI)⁻¹r at the items, which is not longer than r.
        """
        if self.tol <= TRUSTED or not history:
            return None
        spread = np.linalg.norm(Y - Y.mean(axis=0), axis=0)
        bound = certificate * float(np.max(np.linalg.norm(Y, axis=0) / np.maximum(spread, TINY)))
        method = f"conjugate gradients, stopped after {len(history) - 1} steps"
        return Approximation(method, bound, None, len(Y), bound=True)

    def prepare(self, problem: Problem) -> Preconditioned:
        return Preconditioned(problem, self.mixed)

    def foresee(self, state: Preconditioned, penalty: float) -> float:
        """Return about how many steps it will take, once the preconditioner is made."""
        factor = state.near(self.rank, penalty, self.seed)
        digits = math.log(self.tol) / math.log(Iterative.tol)  # of the usual nine
        return expected_steps(float(factor.left.sum()), penalty) * digits

    def columns(self, state: Preconditioned, R: np.ndarray, penalty: float) -> SolvedColumns:
        if penalty == 0:
            return _refused(
                R,
                "conjugate gradients need a positive penalty; for interpolation use the direct "
                'route, Plan(solver="cholesky")',
            )
        # With less left than λ every step gains a digit; more columns would not pay.
        factor = state.near(self.rank, penalty, self.seed)
        inverse = factor.inverse(penalty, state.roots)
        if inverse is None:
            return _refused(
                R,
                f"the preconditioner of rank {factor.rank} could not be factored: the kernel is "
                "not valid on these items, or its values are too large for the penalty "
                f"{penalty:.3g}",
            )
        return self.descend(state, R, penalty, inverse)

    def descend(
        self, state: Refined, R: np.ndarray, penalty: float, inverse: LinearMap
    ) -> SolvedColumns:
        """Step to the answer, in single precision as long as that helps."""
        single = state.single

        def apply(V: np.ndarray) -> np.ndarray:
            return state.multiply(V) + penalty * V

        def apply_single(V: np.ndarray) -> np.ndarray:
            assert single is not None
            return single.multiply(V) + penalty * V

        # Rounding may not allow the last digits. Then a relative residual of 1e-8 counts as
        # solved, and the certificate says so.
        return conjugate_gradients(
            apply, R, inverse, self.tol, self.steps, accepted=1e-8,
            single=None if single is None else apply_single,
        )  # fmt: skip


def expected_steps(left: float, penalty: float) -> float:
    """Return about how many steps it takes if a matrix of this trace is left beside λ.

    The condition is at most 1 + left/λ, if all that is left lies in one direction. It never does:
    half the root is what was seen for Gaussian kernels of several widths in ten dimensions.

    Examples
    --------
    >>> expected_steps(100.0, 1.0)
    10.0
    """
    return 5.0 + 0.5 * math.sqrt(left / penalty)


def _refused(R: np.ndarray, message: str) -> SolvedColumns:
    return SolvedColumns(np.full_like(R, np.nan), "singular", message)
