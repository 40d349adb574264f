"""Cholesky where the matrix lies: the direct solution by an engine that can store and factor it.

The engine answers with a `StoredMatrix`; weights, intercept and the certificate are those of every
solver. Where the matrix does not fit into the engine's memory after all, the ways that whoever
decided has named are tried in their order, with a warning: each only if it may run and its memory
is there. If none is left, a `PlanError` says what is missing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mercer.errors import PlanError, PlanWarning
from mercer.gram.engines import Storing
from mercer.gram.low_rank import Preconditioning
from mercer.memory import affordable, format_bytes
from mercer.solvers.cost import Cost, Requirements, Size
from mercer.solvers.iterative import Iterative
from mercer.solvers.ridge.cholesky import Cholesky
from mercer.solvers.ridge.solver import Problem, SolvedColumns, Solver, State, singular_message

__all__ = ["EngineCholesky"]

# On an H200: n³/3 operations at 3.3·10¹³ a second, and the seconds of an entry.
FACTOR_RATE, FILL_SECONDS, BEGIN_SECONDS = 1e14, 2e-11, 0.1
BYTES_AN_ENTRY = 8.5  # of a matrix in double precision, with what its factor in its place takes


class StoredState(State):
    """SKS where an engine stores it."""

    def __init__(self, problem: Problem, engine: Storing) -> None:
        super().__init__(problem)
        self.stored = engine.stored(problem.gram, self.roots)
        self.largest = float(problem.gram.diagonal().max(initial=0.0))

    def multiply(self, X: np.ndarray) -> np.ndarray:
        found = self.stored.multiply(X)
        return super().multiply(X) if found is None else found


@dataclass(frozen=True)
class EngineCholesky(Solver):
    """Solve by a triangular factor in the memory of an engine.

    Parameters
    ----------
    engine : Storing
        What stores Gram matrices and factors them, such as a `TorchEngine`.
    instead : tuple of Solver
        What may be done if there is no room.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.gram import Dense
    >>> from mercer.gram.engines import TorchEngine
    >>> solver = EngineCholesky(TorchEngine("cpu"))
    >>> state = solver.prepare(Problem(Dense(np.array([[2.0, 1.0], [1.0, 2.0]]))))
    >>> solution = solver.solve(state, np.array([4.0, 5.0]), penalty=1.0)
    >>> solution.coefficients.round(12), solution.certificate < 1e-12
    (array([0.875, 1.375]), True)
    """

    engine: Storing
    instead: tuple[Solver, ...] = (Cholesky(),)
    name = "cholesky on a device"
    requires: ClassVar[Requirements] = Cholesky.requires

    def cost(self, size: Size) -> Cost:
        """Return what the matrix takes in the engine's memory."""
        n = size.items
        seconds = BEGIN_SECONDS + n**3 / FACTOR_RATE + FILL_SECONDS * n**2
        return Cost(int(BYTES_AN_ENTRY * n**2), seconds)

    def prepare(self, problem: Problem) -> StoredState:
        return StoredState(problem, self.engine)

    def columns(self, state: StoredState, R: np.ndarray, penalty: float) -> SolvedColumns:
        try:
            values = state.stored.solve(R, penalty)
        except MemoryError as full:
            reason = str(full)
        else:
            return self._named(state, R, penalty, values)
        return self._instead(state, R, penalty, reason)

    def _named(
        self, state: StoredState, R: np.ndarray, penalty: float, values: np.ndarray | None
    ) -> SolvedColumns:
        if values is None:
            message = singular_message(penalty, len(R), state.largest * len(R))
            return SolvedColumns(np.full_like(R, np.nan), "singular", message)
        return SolvedColumns(values)

    def _instead(
        self, state: StoredState, R: np.ndarray, penalty: float, why: str
    ) -> SolvedColumns:
        """Solve in another way, after there was no room for this one."""
        gram, n = state.problem.gram, state.problem.gram.order
        size = Size(n, condition=np.inf if penalty == 0 else 1.0, targets=R.shape[1])
        what = f"the Gram matrix of {n} items ({format_bytes(8 * n * n)}) {why}"
        for solver in self.instead:
            here = not isinstance(solver, Iterative)
            if not solver.requires.met(size) or not (here or isinstance(gram, Preconditioning)):
                continue
            if here and not affordable(solver.cost(size).bytes):
                continue
            way = "it is factored on the CPU" if here else "it is solved by steps"
            warnings.warn(
                f"{what}; {way} instead, which is slower and gives the same answer",
                PlanWarning,
                stacklevel=5,
            )
            problem = replace(state.problem, gram=state.stored.on_cpu if here else gram)
            return solver.columns(solver.prepare(problem), R, penalty)
        raise PlanError(
            f"{what}, and nowhere else there is room for it; use fewer items, or a positive "
            "penalty and a valid kernel, with which nothing need be stored"
        )
