"""A Gram matrix that is stored on a device, and systems with it solved there, in double precision.

The matrix is filled there, block by block. Its factor takes as much memory again, if there is
that much, and otherwise its place; the matrix is then no longer there to multiply with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import to_numpy
from mercer.gram.device.devices import empty_cache, free_bytes, is_full, torch_device
from mercer.gram.device.on_device import OnDevice
from mercer.gram.device.streaming import tensor
from mercer.gram.operator import Operator
from mercer.memory import format_bytes

__all__ = ["DeviceMatrix"]

ROOM_FACTOR = 1.05  # bytes that an allocation may take, beside those of its numbers


class DeviceMatrix:
    """SKS on a device, with S = √W: an implementation of `mercer.gram.engines.StoredMatrix`.

    Parameters
    ----------
    gram : Operator
        On a device, or anywhere else.
    roots : ndarray or None
        The diagonal of S.
    device : str
        Torch's name, where the Gram matrix does not name one.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.gram import Dense
    >>> matrix = DeviceMatrix(Dense(np.array([[1.0, 0.0], [0.0, 3.0]])), None, "cpu")
    >>> matrix.solve(np.array([[2.0], [4.0]]), penalty=1.0).ravel()
    array([1., 1.])
    """

    def __init__(self, gram: Operator, roots: np.ndarray | None, device: str) -> None:
        self.gram, self.roots = gram, roots
        self.device = gram.device if isinstance(gram, OnDevice) else torch_device(device)
        self.array: Any = None

    @property
    def on_cpu(self) -> Operator:
        """K as this computer's processor computes it."""
        return self.gram.on_cpu if isinstance(self.gram, OnDevice) else self.gram

    @property
    def room_for_two(self) -> bool:
        """Whether the matrix and its factor fit beside each other."""
        held = 0 if self.array is None else 1
        needed = 8 * self.gram.order**2 * (2 - held)
        return needed * ROOM_FACTOR <= free_bytes(self.device)

    def filled(self) -> Any:
        """Return SKS, computed if it is not here, with equations for items of weight zero."""
        if self.array is not None:
            return self.array
        gram: Any = self.gram
        # A copy, because on the CPU a tensor shares the memory of its array.
        whole = isinstance(gram, OnDevice)
        M = gram.tensor() if whole else tensor(np.array(gram.matrix()), self.device)
        if self.roots is not None:
            s = tensor(self.roots, self.device)
            M *= s[:, None]
            M *= s
            dropped = tensor(np.flatnonzero(self.roots == 0), self.device).long()
            M[dropped, dropped] = float(M.diagonal().max()) or 1.0
        self.array = M
        return M

    def multiply(self, X: np.ndarray) -> np.ndarray | None:
        """Return SKS @ X, or None if the matrix is not here."""
        if self.array is None:
            return None
        found = to_numpy(self.array @ tensor(X, self.device))
        if self.roots is not None:
            found[self.roots == 0] = 0.0
        return found

    def solve(self, R: np.ndarray, penalty: float) -> np.ndarray | None:
        """Return X with (SKS + λI)X = R, or None if that matrix is not positive definite.

        Raises `MemoryError`, which says how much is free, where the matrix does not fit.
        """
        try:
            return self._solved(R, penalty)
        except Exception as error:
            if not is_full(error):
                raise
        # Outside of the except clause, because the error holds the tensors of its frames.
        self.array = None
        empty_cache()
        free = format_bytes(free_bytes(self.device))
        raise MemoryError(f"does not fit into the memory of {self.device} ({free} are free)")

    def _solved(self, R: np.ndarray, penalty: float) -> np.ndarray | None:
        import torch

        M, keep = self.filled(), self.room_for_two
        if not keep:
            self.array = None
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
        return None if singular else to_numpy(torch.cholesky_solve(tensor(R, M.device), factor))
