"""The sigmoid kernel: famous, and not valid."""

from __future__ import annotations

import math
from typing import Any

from mercer.domains import Vectors
from mercer.kernels.base import VectorKernel, kernel
from mercer.kernels.block import Block, dots
from mercer.kernels.dot import Linear, squared_norms
from mercer.kernels.proof import Proof, proved, refute
from mercer.values import finite

__all__ = ["Sigmoid"]


@kernel
class Sigmoid(VectorKernel):
    """A neural network's unit as a similarity: tanh(slope·xᵀz + offset) (6.37).

    Its Gram matrix is in general not positive semi-definite. For a positive slope, a short
    vector z and a long one x with slope·xᵀz = s have the determinant
    tanh(offset) − tanh²(s + offset), roughly, which is negative for large s.

    Parameters
    ----------
    slope, offset : float

    Examples
    --------
    >>> print(Sigmoid(1.0, -1.0).proof())
    Sigmoid(slope=1.0, offset=-1.0) is not positive semi-definite because tanh of ...
       witness: the Gram matrix of [[0.]] has the eigenvalue -0.762
    """

    slope: float
    offset: float

    def __post_init__(self) -> None:
        for name in ("slope", "offset"):
            self._normalize(name, finite(self, name, getattr(self, name)))

    def pair(self, x: Any, z: Any) -> float:
        return math.tanh(self.slope * Linear().pair(x, z) + self.offset)

    def evaluate(self, block: Block) -> Any:
        return block.xp.tanh(self.slope * dots(block) + self.offset)

    def evaluate_diagonal(self, points: Vectors) -> Any:
        xp = points.xp
        return xp.tanh(self.slope * squared_norms(points) + self.offset)

    def prove(self) -> Proof:
        if self.slope == 0 and self.offset >= 0:
            return proved(self, "with slope 0 it is a constant that is not negative")
        reason = "tanh of xᵀz has Taylor coefficients of both signs (6.37)"
        unit = 1 / math.sqrt(abs(self.slope)) if self.slope else 1.0
        pairs = ([[t * unit], [s / t * unit]] for t in (3.0, 10.0, 100.0) for s in (1.0, 2.0, 5.0))
        return refute(self, reason, ([[0.0]], [[unit]], *pairs))
