"""Gram rows: similarities that the user has already computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains.points import Domain, Points
from mercer.domains.vectors import VECTORS
from mercer.errors import DomainError

__all__ = ["GRAM_ROWS", "GramRows"]


class GramRows(Points):
    """Rows of similarities to a fixed set of reference items.

    `places` says which reference item each row belongs to: the rows of a square training
    matrix are its own references, rows of new items have no place.
    """

    def __init__(self, matrix: np.ndarray, places: np.ndarray | None) -> None:
        super().__init__()
        self.matrix = matrix
        self.places = places

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def take(self, rows: Any) -> GramRows:
        return GramRows(self.matrix[rows], None if self.places is None else self.places[rows])

    def concat(self, other: GramRows) -> GramRows:
        places = None
        if self.places is not None and other.places is not None:
            places = np.concatenate([self.places, other.places])
        return GramRows(np.concatenate([self.matrix, other.matrix]), places)

    def items(self) -> Iterator[Any]:
        return iter(self.matrix)


@dataclass(frozen=True)
class GramDomain(Domain):
    """Similarities to reference items; a square matrix is its own set of references."""

    def admit(self, X: Any, name: str = "X") -> GramRows:
        if isinstance(X, GramRows):
            return X
        points = VECTORS.admit(X, name)
        if points.is_sparse:
            raise DomainError(f"{name} is sparse; a precomputed Gram matrix must be dense")
        matrix = np.asarray(points.array)
        square = matrix.shape[0] == matrix.shape[1]
        return GramRows(matrix, np.arange(len(matrix)) if square else None)


GRAM_ROWS = GramDomain()
