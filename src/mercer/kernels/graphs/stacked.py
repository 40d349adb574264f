"""Patterns of several kinds side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer.kernels.patterns import Patterns, Vocabulary

__all__ = ["Stacked", "stacked"]


class Stacked(Vocabulary):
    """Several vocabularies, one for each depth, one after the other.

    Examples
    --------
    >>> Stacked([Vocabulary(["cat"]), Vocabulary(["hat", "mat"])])[2]
    'depth 1: mat'
    """

    def __init__(self, parts: list[Vocabulary]) -> None:
        super().__init__(())
        self.parts = parts
        self.offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])])

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def __getitem__(self, column: int) -> str:
        part = int(np.searchsorted(self.offsets, column, side="right")) - 1
        return f"depth {part}: {self.parts[part][int(column - self.offsets[part])]}"

    def _find(self, other: Any) -> np.ndarray:
        found = []
        for mine, theirs, offset in zip(self.parts, other.parts, other.offsets, strict=False):
            places = mine.places(theirs)
            found.append(np.where(places >= 0, places + offset, -1))
        return np.concatenate(found)


def stacked(parts: list[Patterns]) -> Patterns:
    """Return the same things with the patterns of all parts."""
    matrix = sparse.hstack([part.matrix for part in parts], format="csr")
    return Patterns(sparse.csr_array(matrix), Stacked([part.vocabulary for part in parts]))
