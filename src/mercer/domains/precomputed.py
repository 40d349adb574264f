"""Gram rows: similarities that the user has already computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains.points import Domain, Items, Points, RowIndex
from mercer.domains.vectors import VECTORS
from mercer.errors import DomainError

__all__ = ["GRAM_ROWS", "GramRows", "made_symmetric", "require_symmetric"]

# Share of the largest similarity by which entries may differ from their mirror images: sums of
# some thousand terms in single precision are rounded by about so much.
MAX_ASYMMETRY = 1e-6


class GramRows(Points):
    """Rows of similarities to a fixed set of reference items.

    `places` says which reference item each row belongs to: the rows of a square training
    matrix are its own references, rows of new items have no place. `symmetric` says that the
    matrix of the references is known to be symmetric, so that nobody needs to look.

    Parameters
    ----------
    matrix : ndarray of shape (items, references)
    places : ndarray of int, or None
    symmetric : bool

    Examples
    --------
    >>> from mercer.domains import GRAM_ROWS
    >>> rows = GRAM_ROWS.admit([[2.0, 1.0], [1.0, 3.0]])
    >>> rows[1:].matrix, rows[1:].places
    (array([[1., 3.]]), array([1]))
    """

    def __init__(
        self, matrix: np.ndarray, places: np.ndarray | None, symmetric: bool = False
    ) -> None:
        super().__init__()
        self.matrix = matrix
        self.places = places
        self.symmetric = symmetric

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.matrix.shape[0]), self.width

    def take(self, rows: RowIndex) -> GramRows:
        places = None if self.places is None else self.places[rows]
        return GramRows(self.matrix[rows], places, self.symmetric)

    def concat(self, other: GramRows) -> GramRows:
        places = None
        if self.places is not None and other.places is not None:
            places = np.concatenate([self.places, other.places])
        return GramRows(np.concatenate([self.matrix, other.matrix]), places)

    def as_new(self) -> GramRows:
        return GramRows(self.matrix, None)  # a square matrix of new rows is not its own reference

    def items(self) -> Iterator[Any]:
        return iter(self.matrix)


@dataclass(frozen=True)
class GramDomain(Domain):
    """Similarities to reference items; a square matrix is its own set of references."""

    def admit(self, X: Items | Points, name: str = "X") -> GramRows:
        if isinstance(X, GramRows):
            return X
        points = VECTORS.admit(X, name)
        if points.is_sparse:
            raise DomainError(f"{name} is sparse; a precomputed Gram matrix must be dense")
        matrix = np.asarray(points.array)
        square = matrix.shape[0] == matrix.shape[1]
        return GramRows(matrix, np.arange(len(matrix)) if square else None)


def require_symmetric(matrix: np.ndarray) -> None:
    """Refuse a square matrix that is not symmetric up to rounding.

    Parameters
    ----------
    matrix : ndarray
        One that is not square is not looked at.

    Examples
    --------
    >>> require_symmetric(np.array([[1.0, 0.5], [0.25, 1.0]]))
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: a Gram matrix must be symmetric, but entries (0, 1) and (1, 0), ...
    """
    if matrix.shape[0] == matrix.shape[1]:
        made_symmetric(matrix)


def made_symmetric(matrix: np.ndarray) -> np.ndarray:
    """Return a square matrix that is symmetric to the last bit, refusing what rounding is not.

    Similarities that were computed in tiles, or in single precision, differ from their mirror
    images a little; the mean of both is taken.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        May be overwritten.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> made_symmetric(np.array([[1.0, 0.5], [0.5 + 1e-8, 1.0]]))[0, 1] > 0.5
    np.True_
    """
    apart = matrix - matrix.T
    np.abs(apart, out=apart)
    worst = apart.max(initial=0)
    if worst == 0:
        return matrix
    if not worst <= MAX_ASYMMETRY * float(np.abs(matrix).max()):
        i, j = np.unravel_index(np.argmax(apart), matrix.shape)
        first, second = apart_in_print(float(matrix[i, j]), float(matrix[j, i]))
        raise DomainError(
            f"a Gram matrix must be symmetric, but entries ({i}, {j}) and ({j}, {i}), the pair "
            f"that differs most, are {first} and {second}; if that is rounding, take (K + K.T)/2"
        )
    return np.asarray((matrix + matrix.T) / 2)


def apart_in_print(a: float, b: float) -> tuple[str, str]:
    """Return two different numbers with as many digits as it takes to see that they differ.

    Examples
    --------
    >>> apart_in_print(1.0, 1.0000001)
    ('1', '1.0000001')
    """
    for digits in range(6, 18):
        first, second = f"{a:.{digits}g}", f"{b:.{digits}g}"
        if first != second:
            break
    return first, second


GRAM_ROWS = GramDomain()
