"""Categories: rows that are only equal or different."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from mercer.domains.points import Domain, Items, Points, RowIndex
from mercer.domains.tables import Objects, Table, is_frame
from mercer.domains.vectors import VectorDomain, Vectors, to_numpy
from mercer.errors import DomainError

__all__ = ["CATEGORIES", "Categories", "CategoryDomain"]


class Categories(Points):
    """One hashable label per item; a row of several columns is the tuple of its values.

    Parameters
    ----------
    labels : ndarray of object
        A hashable value for each item, or a tuple of them.
    width : int, optional
        Columns, where items are rows.

    Examples
    --------
    >>> from mercer.domains import CATEGORIES
    >>> points = CATEGORIES.admit(["oak", "ash", "oak"])
    >>> len(points), list(points[1:].items())
    (3, ['ash', 'oak'])
    """

    def __init__(self, labels: np.ndarray, width: int | None = None) -> None:
        super().__init__()
        self.labels = labels
        self._width = width
        self._coded: tuple[np.ndarray, dict[Any, int]] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def width(self) -> int | None:
        return self._width

    @property
    def coded(self) -> tuple[np.ndarray, dict[Any, int]]:
        """The number of each item's label, and the numbers of all labels."""
        if self._coded is None:
            numbers: dict[Any, int] = {}
            codes = [numbers.setdefault(label, len(numbers)) for label in self.labels]
            self._coded = np.array(codes, dtype=np.int64), numbers
        return self._coded

    def take(self, rows: RowIndex) -> Categories:
        part = Categories(self.labels[rows], self._width)
        codes, numbers = self.coded  # made once for the whole set, and sliced with it
        part._coded = codes[rows], numbers
        return part

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_coded": None}

    def concat(self, other: Categories) -> Categories:
        return Categories(np.concatenate([self.labels, other.labels]), self._width)

    def items(self) -> Iterator[Any]:
        return iter(self.labels)


@dataclass(frozen=True)
class CategoryDomain(Domain):
    """Things that can be tested for equality, one or several columns of them.

    Examples
    --------
    >>> CategoryDomain().admit([["oak", 1], ["ash", 2]]).width
    2
    """

    def admit(self, X: Items | Points, name: str = "X") -> Categories:
        if isinstance(X, Categories):
            return X
        points = _admit_rows(X, name)
        labels = np.empty(len(points), dtype=object)
        widths = set()
        for i, item in enumerate(points.items()):
            labels[i], width = _label(item, i, name)
            widths.add(width)
        return Categories(labels, widths.pop() if len(widths) == 1 else None)

    def merge(self, other: Domain) -> Domain | None:
        # Numbers may be compared for equality too, so a sum with a vector kernel is possible.
        return other if isinstance(other, CategoryDomain | VectorDomain) else None


CATEGORIES = CategoryDomain()


def _admit_rows(X: Items | Points, name: str) -> Points:
    if sparse.issparse(X) or (isinstance(X, Vectors) and X.is_sparse):
        raise DomainError(f"{name} is sparse, but Categorical compares whole rows; use .toarray()")
    if isinstance(X, Points):
        return X
    return Table(X, name) if is_frame(X) else Objects(X, name)


def _label(item: object, row: int, name: str) -> tuple[Any, int | None]:
    """Return the label of one thing, and its number of columns if it is a row."""
    if isinstance(item, dict):
        item = tuple(item.values())
    elif array_api_compat.is_array_api_obj(item):
        item = tuple(to_numpy(item).ravel().tolist())
    elif isinstance(item, list):
        item = tuple(item)
    if not isinstance(item, tuple):
        return _plain(item, row, name), None
    values = tuple(_plain(value, row, name) for value in item)
    return (values[0] if len(values) == 1 else values), len(values)


def _plain(value: object, row: int, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    try:
        hash(value)  # an array is not hashable, nor a list
    except TypeError as error:
        raise DomainError(
            f"row {row} of {name} is a {type(value).__name__}, which cannot be a category"
        ) from error
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        raise DomainError(
            f"row {row} of {name} has a missing category; fill it in or drop the row"
        )
    return value
