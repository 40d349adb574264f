"""The subsequence kernel: common letters in the same order, with gaps between them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mercer.domains import STRINGS, Domain, Strings
from mercer.engine.block import Block
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.proof import Proof, proved
from mercer.kernels.strings.loops import gaps, gaps_within
from mercer.values import positive, whole

__all__ = ["Subsequence"]


@kernel
class Subsequence(Kernel):
    """Σ_u Σ λ^(span of u in x + span of u in z), over all common subsequences u.

    A subsequence is some letters of a string in their order, at any distance; its span is the
    number of letters from its first to its last. All lengths from 1 to `length` are added up. A
    string without letters is 0 to all, itself included. Values grow with the length of strings, so
    ``normalize(Subsequence(...))`` is what one mostly wants. Valid as the inner product of the
    features φ_u(x) = Σ λ^(span of u in x) (Lodhi et al., 2002).

    Parameters
    ----------
    length : int
        The largest number of letters of a subsequence.
    decay : float
        λ, what each letter of a span multiplies a match with: gaps cost more the smaller it is,
        and nothing if it is 1.

    Examples
    --------
    >>> Subsequence(2, decay=0.5)(["cat", "car", "ct"])
    array([[0.890625, 0.5625  , 0.53125 ],
           [0.5625  , 0.890625, 0.25    ],
           [0.53125 , 0.25    , 0.5625  ]])
    """

    length: int = 3
    decay: float = 0.5
    domain: ClassVar[Domain] = STRINGS
    threads: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    arrays: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._normalize("length", whole(self, "length", self.length))
        self._normalize("decay", positive(self, "decay", self.decay))

    def pair(self, x: str, z: str) -> float:
        # K'_q(i, j) of Lodhi et al.: x[:i] and z[:j], spans reaching to their ends.
        decay, total = self.decay, 0.0
        before = np.ones((len(x) + 1, len(z) + 1))
        for _ in range(self.length):
            reaching = np.zeros_like(before)
            for i, letter in enumerate(x):
                for j in range(len(z)):
                    same = [m for m in range(j + 1) if z[m] == letter]
                    ending = sum(before[i, m] * decay ** (j - m + 2) for m in same)
                    reaching[i + 1, j + 1] = decay * reaching[i, j + 1] + ending
                    total += before[i, j] * decay**2 * (z[j] == letter)
            before = reaching
        return float(total)

    def evaluate(self, block: Block) -> np.ndarray:
        return gaps(block, self.length, self.decay, block.empty())

    def evaluate_diagonal(self, points: Strings) -> np.ndarray:
        return gaps_within(points, self.length, self.decay)

    def prove(self) -> Proof:
        return proved(self, "it is an inner product of weighted counts of subsequences (6.1)")
