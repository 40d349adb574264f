"""Categories: rows that are only equal or different."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from mercer.domains.objects import Objects
from mercer.domains.points import Domain, Points
from mercer.domains.tables import Table, is_frame
from mercer.domains.vectors import VectorDomain, Vectors, to_numpy
from mercer.errors import DomainError

__all__ = ["CATEGORIES", "Categories", "CategoryDomain"]


class Categories(Points):
    """One hashable label per item; a row of several columns is the tuple of its values."""

    def __init__(self, labels: np.ndarray) -> None:
        super().__init__()
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Any) -> Categories:
        return Categories(self.labels[rows])

    def concat(self, other: Categories) -> Categories:
        return Categories(np.concatenate([self.labels, other.labels]))

    def items(self) -> Iterator[Any]:
        return iter(self.labels)


@dataclass(frozen=True)
class CategoryDomain(Domain):
    """Things that can be tested for equality, one or several columns of them."""

    def admit(self, X: Any, name: str = "X") -> Categories:
        if isinstance(X, Categories):
            return X
        labels = np.empty(len(points := _admit_rows(X, name)), dtype=object)
        for i, item in enumerate(points.items()):
            labels[i] = _label(item, i, name)
        return Categories(labels)

    def merge(self, other: Domain) -> Domain | None:
        # Numbers may be compared for equality too, so a sum with a vector kernel is possible.
        return other if isinstance(other, CategoryDomain | VectorDomain) else None


CATEGORIES = CategoryDomain()


def _admit_rows(X: Any, name: str) -> Points:
    if sparse.issparse(X) or (isinstance(X, Vectors) and X.is_sparse):
        raise DomainError(f"{name} is sparse, but Categorical compares whole rows; use .toarray()")
    if isinstance(X, Points):
        return X
    return Table(X, name) if is_frame(X) else Objects(X, name)


def _label(item: Any, row: int, name: str) -> Any:
    if isinstance(item, dict):
        item = tuple(item.values())
    elif array_api_compat.is_array_api_obj(item):
        item = tuple(to_numpy(item).ravel().tolist())
    elif isinstance(item, list):
        item = tuple(item)
    if isinstance(item, tuple):
        values = tuple(_plain(value, row, name) for value in item)
        return values[0] if len(values) == 1 else values
    return _plain(item, row, name)


def _plain(value: Any, row: int, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        raise DomainError(
            f"row {row} of {name} has a missing category; fill it in or drop the row"
        )
    try:
        hash(value)
    except TypeError as error:
        raise DomainError(
            f"row {row} of {name} is a {type(value).__name__}, which cannot be a category"
        ) from error
    return value
