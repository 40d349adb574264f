"""Primal: solve for the weights of features when those are fewer than the items.

With K = ΦΦᵀ and B = SΦ, where S = √W, the system (BBᵀ + λI)α = r has the solution

    α = (r − Bw)/λ  with  (BᵀB + λI)w = Bᵀr,

which is (6.3) and (6.4) of Bishop: w are the weights of the features, α those of the items. The
small system is handed to another solver.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import sparse

from mercer.errors import ValidityError
from mercer.gram import Dense, LowRank
from mercer.kernels.features import scaled_rows
from mercer.solvers.cost import FLOP_SECONDS, OVERHEAD, Cost, Requirements, Size, factor_seconds
from mercer.solvers.ridge.cholesky import Cholesky
from mercer.solvers.ridge.solver import Problem, SolvedColumns, Solver, State, relative

__all__ = ["Primal"]


class PrimalState(State):
    """The features times S, and the small system as its solver has prepared it."""

    def __init__(self, problem: Problem, small: Solver) -> None:
        super().__init__(problem)
        gram = problem.gram
        if not isinstance(gram, LowRank):
            raise ValidityError("the primal solver needs a Gram operator made of features")
        self.features = gram.features
        if self.roots is not None:
            self.features = scaled_rows(self.features, self.roots)
        G = self.features.T @ self.features
        G = G.toarray() if sparse.issparse(G) else G
        self.small = small.prepare(Problem(Dense(G, owned=True)))


@dataclass(frozen=True)
class Primal(Solver):
    """Solve for the weights of features, at n·m² operations for m features.

    Parameters
    ----------
    small : Solver
        Solves the m × m system.

    Examples
    --------
    >>> solver = Primal()
    >>> state = solver.prepare(Problem(LowRank(np.array([[1.0], [2.0], [3.0]]))))
    >>> solver.solve(state, np.array([1.0, 2.0, 3.0]), penalty=1.0).weights.round(4)
    array([0.9333])
    """

    small: Solver = field(default_factory=Cholesky)
    name = "primal"
    requires: ClassVar[Requirements] = Requirements(features=True, definite=True, penalty=True)

    def cost(self, size: Size) -> Cost:
        """Return what the features and their system take."""
        n, m = size.items, size.features or 0
        features = 8 * n * m * (2 if size.weighted else 1)
        others = n * (size.row + 48 * size.targets) + size.encodings + OVERHEAD
        needed = int(8 * m**2 + self.small.workspace(m) + features + others)
        return Cost(needed, n * m**2 * FLOP_SECONDS + factor_seconds(m))

    @staticmethod
    def operations(size: Size) -> float:
        """Return how many multiplications the system of features takes, and its factor."""
        n, m = size.items, size.features or 0
        return n * m**2 + m**3 / 3

    def prepare(self, problem: Problem) -> PrimalState:
        return PrimalState(problem, self.small)

    def columns(self, state: PrimalState, R: np.ndarray, penalty: float) -> SolvedColumns:
        if penalty == 0:
            message = "without a penalty the items' coefficients are not determined by features"
            return SolvedColumns(np.full_like(R, np.nan), "singular", message)
        B = state.features
        found = self.small.columns(state.small, np.asarray(B.T @ R), penalty)
        values = (R - np.asarray(B @ found.values)) / penalty
        # Division by a small λ magnifies rounding errors. Those in the span of the features
        # matter, because there Bᵀα must be w; one step of refinement takes them out.
        residual = found.values - np.asarray(B.T @ values)
        values += np.asarray(B @ self.small.columns(state.small, residual, penalty).values)
        return SolvedColumns(values, found.status, found.message, found.history, found.values)

    def certify(
        self,
        state: PrimalState,
        R: np.ndarray,
        offset: np.ndarray,
        alpha: np.ndarray,
        W: np.ndarray | None,
        penalty: float,
    ) -> float:
        """Return the residual of (BᵀB + λI)w = Bᵀ(r − offset) relative to Bᵀr."""
        assert W is not None
        B = state.features
        residual = np.asarray(B.T @ (R - offset - B @ W)) - penalty * W
        return relative(residual, np.asarray(B.T @ R))
