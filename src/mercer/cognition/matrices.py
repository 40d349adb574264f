"""Square tables of items by items: similarities, dissimilarities, confusions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.domains.targets import real_numbers
from mercer.errors import DomainError

__all__ = ["first", "pair_of", "square"]


def square(matrix: Any, labels: Any = None, name: str = "matrix") -> tuple[np.ndarray, tuple]:
    """Return a square matrix as float64 and the names of its items.

    Names are those given, or the columns of a data frame, or places from 0 on.

    Examples
    --------
    >>> square([[1.0, 0.5], [0.5, 1.0]], ["red", "blue"])[1]
    ('red', 'blue')
    >>> square([[1.0, 0.5]])
    Traceback (most recent call last):
    mercer.errors.DomainError: matrix must have a row and a column per item, found shape (1, 2)
    """
    M = real_numbers(matrix, name)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or M.shape[0] < 2:
        shape = "one item" if M.shape == (1, 1) else f"shape {M.shape}"
        raise DomainError(f"{name} must have a row and a column per item, found {shape}")
    if labels is None:
        labels = _columns(matrix, name)
    known = tuple(range(len(M))) if labels is None else tuple(labels)
    if len(known) != len(M):
        raise DomainError(f"{name} has {len(M)} items, but there are {len(known)} labels")
    if len(set(known)) < len(known):
        twice = next(label for label in known if known.count(label) > 1)
        raise DomainError(f"two items have the label {twice!r}")
    if not np.isfinite(M).all():
        pair = pair_of(first(~np.isfinite(M)), known)
        raise DomainError(f"{name} is not a finite number for {pair}")
    return M, known


def _columns(matrix: Any, name: str) -> Any:
    """Return the column names of a data frame whose rows have the same names or none."""
    columns, index = getattr(matrix, "columns", None), getattr(matrix, "index", None)
    if columns is None or index is None:
        return None
    rows, known = [str(label) for label in index], [str(label) for label in columns]
    if rows != [str(i) for i in range(len(rows))]:
        for row, column in zip(rows, known, strict=True):
            if row != column:
                raise DomainError(
                    f"rows and columns of {name} must be the same items in the same order, found "
                    f"the row {row!r} where the column is {column!r}"
                )
    return list(columns)


def first(where: np.ndarray) -> tuple[int, int]:
    """Return the place of the first entry that is true."""
    row, column = np.argwhere(where)[0]
    return int(row), int(column)


def pair_of(places: Sequence[int], labels: tuple) -> str:
    """Name some items, for a message."""
    words = [str(labels[place]) for place in places]
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"
