"""Cholesky where the matrix lies: the direct solution by an engine that can store and factor it.

The engine answers with a `StoredMatrix`; weights, intercept and the certificate are those of every
solver. Where the matrix does not fit into the engine's memory after all, it is factored here, with
a warning.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mercer.errors import PlanWarning
from mercer.gram.engines import Storing
from mercer.memory import format_bytes
from mercer.solvers.cost import Cost, Requirements, Size
from mercer.solvers.ridge.cholesky import Cholesky
from mercer.solvers.ridge.solver import Problem, SolvedColumns, Solver, State, singular_message

__all__ = ["EngineCholesky"]

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
    name = "cholesky on a device"
    requires: ClassVar[Requirements] = Cholesky.requires

    def cost(self, size: Size) -> Cost:
        """Return what the matrix takes in the engine's memory."""
        return Cost(int(BYTES_AN_ENTRY * size.items**2))

    def prepare(self, problem: Problem) -> StoredState:
        return StoredState(problem, self.engine)

    def columns(self, state: StoredState, R: np.ndarray, penalty: float) -> SolvedColumns:
        try:
            values = state.stored.solve(R, penalty)
        except MemoryError as full:
            return _here(state, R, penalty, str(full))
        if values is None:
            message = singular_message(penalty, len(R), state.largest * len(R))
            return SolvedColumns(np.full_like(R, np.nan), "singular", message)
        return SolvedColumns(values)


def _here(state: StoredState, R: np.ndarray, penalty: float, why: str) -> SolvedColumns:
    """Factor the matrix in this computer's own memory."""
    n = state.problem.gram.order
    warnings.warn(
        f"the Gram matrix of {n} items ({format_bytes(8 * n * n)}) {why}; it is factored on the "
        "CPU instead, which is slower and gives the same answer",
        PlanWarning,
        stacklevel=4,
    )
    solver = Cholesky()
    problem = replace(state.problem, gram=state.stored.on_cpu)
    return solver.columns(solver.prepare(problem), R, penalty)
