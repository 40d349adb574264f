"""Whitening on a device: two triangular factors, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.domains import to_numpy
from mercer.errors import SolveError
from mercer.gram.device.devices import Tensor
from mercer.gram.device.streaming import tensor
from mercer.gram.whitening import MAX_JITTER_TRIES
from mercer.lapack import EPS

__all__ = ["DeviceWhitening", "inverse"]

Map = Callable[[np.ndarray], np.ndarray]


class DeviceWhitening:
    """T = L⁻ᵀ with B + jitter = LLᵀ, so that functions have the norm of their coordinates.

    Parameters
    ----------
    core : tensor of shape (M, M), float64
        B; it is overwritten.
    least : float
        What is added to its diagonal at least, as a share of the mean of the diagonal.

    Attributes
    ----------
    rank : int
    jitter : float

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> white = DeviceWhitening(torch.diag(torch.tensor([4.0, 1.0], dtype=torch.float64)))
    >>> white.into(np.array([[1.0], [1.0]])).ravel().round(9)
    array([0.5, 1. ])
    """

    decomposed = False

    def __init__(self, core: Tensor, least: float = 0.0) -> None:
        import torch

        M, diagonal = len(core), core.diagonal()
        size = float(diagonal.mean())
        if not np.isfinite(float(core.sum())):
            raise SolveError("the similarities of the centers are not finite; scale the data down")
        self.rank, self.device, jitter = M, core.device, max(least, M * EPS) * size
        before = diagonal.clone()
        for _ in range(MAX_JITTER_TRIES):
            diagonal.copy_(before + jitter)
            self._lower, info = torch.linalg.cholesky_ex(core)
            if int(info) == 0:
                self.jitter = jitter
                return
            jitter *= 10
        raise SolveError(
            f"the similarities of the {M} centers could not be factored, even with "
            f"{jitter / 10:.1e} added to their diagonal: the kernel is not valid on them; look at "
            "it with mercer.kernels.check"
        )

    def into(self, beta: np.ndarray) -> np.ndarray:
        """Return a = Tβ."""
        return to_numpy(self._solve(self._lower.T, tensor(beta, self.device), upper=True))

    def back(self, g: np.ndarray) -> np.ndarray:
        """Return Tᵀg."""
        return to_numpy(self.solve(tensor(g, self.device)))

    def solve(self, V: Tensor) -> Any:
        """Return L⁻¹V = TᵀV of a tensor."""
        return self._solve(self._lower, V, upper=False)

    def around(self, H: np.ndarray) -> np.ndarray:
        """Return TᵀHT."""
        found = self.solve(self.solve(tensor(H, self.device)).T)
        return to_numpy((found + found.T) / 2)

    def squared(self, share: float, penalty: float) -> Map:
        """Return the inverse of share·LᵀL + λI, which is about TᵀCᵀCT + λI."""
        return inverse(self._lower.T, share, penalty)

    @staticmethod
    def _solve(L: Tensor, V: Tensor, upper: bool) -> Any:
        import torch

        return torch.linalg.solve_triangular(L, V, upper=upper)


def inverse(F: Tensor, share: float, penalty: float) -> Map:
    """Return V ↦ (share·FFᵀ + λI)⁻¹V for a tensor F.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> inverse(torch.eye(2, dtype=torch.float64), 3.0, 1.0)(np.ones((2, 1))).ravel()
    array([0.25, 0.25])
    """
    import torch

    G = F @ F.T
    G *= share
    G.diagonal().add_(penalty)
    factor, info = torch.linalg.cholesky_ex(G)
    if int(info) != 0:
        raise SolveError(
            f"the preconditioner of {len(F)} functions could not be factored: the values of the "
            f"kernel are too large for the penalty {penalty:.3g}; use a larger penalty, or scale "
            "the data"
        )
    return lambda V: to_numpy(torch.cholesky_solve(tensor(V, F.device), factor))
