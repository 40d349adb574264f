"""Matrices of low rank near a Gram matrix: what preconditions steps with it.

`mercer.solvers.pivoted_cholesky` makes one from the pieces of any Gram matrix. An engine that
keeps rows where it computes makes its own there, in the same way, and does the products with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

__all__ = ["LinearMap", "NearFactor", "Preconditioning", "accept_columns"]

LinearMap = Callable[[np.ndarray], np.ndarray]


class NearFactor(Protocol):
    """F with FFᵀ near K, and below it: K − FFᵀ is positive semi-definite."""

    @property
    def rank(self) -> int:
        """Columns of F."""
        ...

    @property
    def left(self) -> np.ndarray:
        """The diagonal of K − FFᵀ."""
        ...

    def inverse(self, penalty: float, roots: np.ndarray | None = None) -> LinearMap | None:
        """Return V ↦ (SFFᵀS + λI)⁻¹V, or None if there is none; `roots` are the diagonal of S."""
        ...


@runtime_checkable
class Preconditioning(Protocol):
    """A Gram matrix of an engine that makes factors of low rank where it computes."""

    def low_rank(self, rank: int, enough: float, seed: int) -> NearFactor:
        """Return a factor of at most this rank, for a trace of at most `enough` of what is left.

        Raises `MemoryError`, whose words say how much is free, where not even a few columns fit.
        """
        ...


def accept_columns(
    H: np.ndarray, before: np.ndarray, floor: float, rng: np.random.Generator, room: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return which columns of a block are accepted, and the Cholesky factor of their part of H."""
    chances = rng.random(len(H))
    L = np.zeros_like(H)
    kept: list[int] = []
    for i in range(len(H)):
        count = len(kept)
        row = L[i, :count]  # what earlier columns explain of this one
        rest = H[i, i] - row @ row
        if count >= room or rest <= floor or chances[i] * before[i] > rest:
            continue
        column = H[:, i] - L[:, :count] @ L[i, :count]
        L[:, count] = column / np.sqrt(rest)
        kept.append(i)
    chosen = np.array(kept, dtype=np.int64)
    return chosen, np.tril(L[chosen, : len(kept)])
