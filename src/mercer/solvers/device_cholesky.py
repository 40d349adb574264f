"""Cholesky on a device: the direct solution in its memory, in double precision.

The Gram matrix is filled there, block by block. Its factor takes as much memory again, if there is
that much, and otherwise its place; residuals are then computed with products. Where not even one
matrix fits, everything is done on the CPU, with a warning.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import to_numpy
from mercer.errors import PlanWarning
from mercer.gram.device.devices import empty_cache, free_bytes, is_full, torch_device
from mercer.gram.device.on_device import OnDevice
from mercer.gram.device.streaming import tensor
from mercer.memory import format_bytes
from mercer.solvers.ridge.cholesky import Cholesky
from mercer.solvers.ridge.solver import Problem, SolvedColumns, Solver, State, singular_message

__all__ = ["DeviceCholesky"]


class OnDeviceState(State):
    """SKS on a device: the matrix itself while it is kept, and the operator that makes it."""

    def __init__(self, problem: Problem, device: str) -> None:
        super().__init__(problem)
        gram: Any = problem.gram
        self.device = gram.device if isinstance(gram, OnDevice) else torch_device(device)
        self.array: Any = None
        self.largest = float(problem.gram.diagonal().max(initial=0.0))

    @property
    def room_for_two(self) -> bool:
        """Whether the matrix and its factor fit beside each other."""
        n = self.problem.gram.order
        held = 0 if self.array is None else 1
        return 8 * n * n * (2 - held) * 1.05 <= free_bytes(self.device)

    def filled(self) -> Any:
        """Return SKS, computed if it is not here, with equations for items of weight zero."""
        if self.array is not None:
            return self.array
        gram: Any = self.problem.gram
        whole = isinstance(gram, OnDevice)
        # A copy, because on the CPU a tensor shares the memory of its array.
        M = gram.tensor() if whole else tensor(np.array(gram.matrix()), self.device)
        if self.roots is not None:
            s = tensor(self.roots, self.device)
            M *= s[:, None]
            M *= s
            dropped = tensor(np.flatnonzero(self.roots == 0), self.device).long()
            M[dropped, dropped] = float(M.diagonal().max()) or 1.0
        self.array = M
        return M

    def multiply(self, X: np.ndarray) -> np.ndarray:
        if self.array is None:
            return super().multiply(X)
        found = to_numpy(self.array @ tensor(X, self.device))
        if self.roots is not None:
            found[self.roots == 0] = 0.0
        return found


@dataclass(frozen=True)
class DeviceCholesky(Solver):
    """Solve by a triangular factor in the memory of a device.

    Parameters
    ----------
    device : str
        "cuda", or "cpu" for Torch on the CPU.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> solver = DeviceCholesky("cpu")
    >>> gram = OnDevice(k, k.admit([[1.0], [2.0]]), "cpu", "double")
    >>> solution = solver.solve(solver.prepare(Problem(gram)), np.array([1.0, 2.0]), penalty=1.0)
    >>> solution.coefficients.round(9), solution.certificate < 1e-12
    (array([0.16666667, 0.33333333]), True)
    """

    device: str = "cuda"
    name = "cholesky on a device"

    def prepare(self, problem: Problem) -> OnDeviceState:
        return OnDeviceState(problem, self.device)

    def columns(self, state: OnDeviceState, R: np.ndarray, penalty: float) -> SolvedColumns:
        try:
            return _solved(state, R, penalty)
        except Exception as error:
            if not is_full(error):
                raise
        # Outside of the except clause, because the error holds the tensors of its frames.
        state.array = None
        empty_cache()
        return _on_cpu(state, R, penalty)


def _solved(state: OnDeviceState, R: np.ndarray, penalty: float) -> SolvedColumns:
    """Factor SKS + λI and solve."""
    import torch

    M, keep = state.filled(), state.room_for_two
    if not keep:
        state.array = None
    diagonal = M.diagonal().clone()
    M.diagonal().add_(penalty)
    norm = float(M.abs().sum(dim=0).max()) if penalty == 0 else 0.0
    if keep:
        factor, info = torch.linalg.cholesky_ex(M)
    else:  # its transpose is where it lies, and the factor of a symmetric matrix
        info = torch.empty((), dtype=torch.int32, device=M.device)
        factor = M.T
        torch.linalg.cholesky_ex(factor, out=(factor, info))
    singular = int(info) != 0
    if not singular and penalty == 0:
        smallest = float(factor.diagonal().min()) ** 2
        singular = not smallest > np.finfo(float).eps * norm
    if keep:
        M.diagonal().copy_(diagonal)
    if singular:
        message = singular_message(penalty, len(R), state.largest * len(R))
        return SolvedColumns(np.full_like(R, np.nan), "singular", message)
    values = torch.cholesky_solve(tensor(R, M.device), factor)
    return SolvedColumns(to_numpy(values))


def _on_cpu(state: OnDeviceState, R: np.ndarray, penalty: float) -> SolvedColumns:
    n = state.problem.gram.order
    needed, free = format_bytes(8 * n * n), format_bytes(free_bytes(state.device))
    warnings.warn(
        f"the Gram matrix of {n} items ({needed}) does not fit into the memory of "
        f"{state.device} ({free} are free); it is factored on the CPU "
        "instead, which is slower and gives the same answer",
        PlanWarning,
        stacklevel=4,
    )
    gram: Any = state.problem.gram
    if isinstance(gram, OnDevice):
        gram = gram.on_cpu
    solver = Cholesky()
    problem = Problem(gram, state.problem.weights, state.problem.intercept)
    return solver.columns(solver.prepare(problem), R, penalty)
