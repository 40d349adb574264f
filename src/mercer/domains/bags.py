"""Bags: collections of things that another domain admits, such as sets of rows or of strings."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains.points import Domain, Items, Points, RowIndex, name_type, select_ragged
from mercer.domains.tables import is_frame, things
from mercer.domains.vectors import VectorDomain
from mercer.errors import DomainError

__all__ = ["ELEMENTS", "BagDomain", "Bags"]

ELEMENTS = "elements"  # the key of the view that is all that the bags hold


class Bags(Points):
    """Bags, one after the other, and all their elements in one set of points.

    Attributes
    ----------
    bags : ndarray of object
        The collections as the user gave them.
    elements : Points or None
        What is in them, one bag after the other; None if all are empty.
    starts : ndarray of int
        Where each bag begins among the elements, and where the last one ends.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> bags = BagDomain(VECTORS).admit([[[1.0], [2.0]], [], [[3.0]]])
    >>> bags.starts, bags.elements.array.ravel()
    (array([0, 2, 2, 3]), array([1., 2., 3.]))
    """

    def __init__(self, bags: np.ndarray, elements: Points | None, starts: np.ndarray) -> None:
        super().__init__()
        self.bags = bags
        self.elements = elements
        self.starts = starts

    def __len__(self) -> int:
        return len(self.bags)

    @property
    def sizes(self) -> np.ndarray:
        """How many elements each bag has."""
        return np.diff(self.starts)

    def take(self, rows: RowIndex) -> Bags:
        starts, places = select_ragged(self.starts, rows)
        elements = self.elements[places] if self.elements is not None and starts[-1] else None
        return Bags(self.bags[rows], elements, starts)

    def concat(self, other: Bags) -> Bags:
        bags = np.concatenate([self.bags, other.bags])
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        parts = [side.elements for side in (self, other) if side.elements is not None]
        joined = parts[0].concat(parts[1]) if len(parts) == 2 else parts[0] if parts else None
        return Bags(bags, joined, starts)

    def items(self) -> Iterator[Any]:
        return iter(self.bags)

    def view(self, key: Hashable, encode: Callable[[Any], Points]) -> Points:
        # The elements are not one to a bag, so they are sliced here and not with other encodings.
        if key == ELEMENTS and self.elements is not None:
            return self.elements
        return super().view(key, encode)

    @property
    def bytes(self) -> int:
        return 0 if self.elements is None else self.elements.bytes


@dataclass(frozen=True)
class BagDomain(Domain):
    """Collections of elements: lists, tuples, sets, arrays or tables of rows.

    A bag of plain numbers, for a kernel on rows, is a bag of rows with one column.

    Parameters
    ----------
    domain : Domain
        What the elements are.

    Examples
    --------
    >>> from mercer.domains import STRINGS
    >>> BagDomain(STRINGS).admit([["cat", "dog"], ["hat", None]])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: in item 1 of X: item 1 of the bag is None, not a string; ...
    """

    domain: Domain

    def admit(self, X: Items | Points, name: str = "X") -> Bags:
        if isinstance(X, Bags):
            return X
        objects = things(X, name)
        bags = np.empty(len(objects), dtype=object)
        parts = []
        for i, item in enumerate(objects.items()):
            bags[i] = item
            parts.append(_elements(item, i, name))
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=int)])
        return Bags(bags, self._admit_all(parts, name) if starts[-1] else None, starts)

    def _admit_all(self, parts: list[Any], name: str) -> Points:
        """Admit all elements at once; only if that fails look for the bag that is to blame."""
        filled = [part for part in parts if len(part)]
        try:
            return self.domain.admit(self._flat(filled), name)
        except DomainError:
            for i, part in enumerate(parts):
                if len(part):
                    self._admit_one(part, i, name)
            raise

    def _admit_one(self, part: object, place: int, name: str) -> None:
        try:
            self.domain.admit(self._flat([part]), "the bag")
        except DomainError as error:
            raise type(error)(f"in item {place} of {name}: {error}") from error

    def _flat(self, parts: list[Any]) -> Any:
        """Return the elements of several bags in one container."""
        if all(is_frame(part) for part in parts):
            import pandas as pd

            return pd.concat(parts, ignore_index=True)
        widths = {_width(part) for part in parts}
        if len(widths) == 1 and None not in widths:
            return np.concatenate(parts)
        flat = [element for part in parts for element in part]
        if isinstance(self.domain, VectorDomain) and all(map(_is_number, flat)):
            return np.array(flat, dtype=float)[:, None]
        return flat


def _width(part: object) -> int | None:
    return part.shape[1] if isinstance(part, np.ndarray) and part.ndim == 2 else None


def _is_number(element: object) -> bool:
    return isinstance(element, numbers.Real) or (
        isinstance(element, np.generic) and element.dtype.kind in "fiub"
    )


def _elements(item: object, place: int, name: str) -> Any:
    """Return what is in one bag, in an order that does not change from run to run."""
    if is_frame(item) or (isinstance(item, np.ndarray) and item.ndim > 0):
        return item
    if isinstance(item, str | bytes | dict) or not hasattr(item, "__iter__"):
        raise DomainError(
            f"item {place} of {name} is {name_type(item)}, not a collection; write [item] for a "
            "bag of one"
        )
    if isinstance(item, set | frozenset):
        try:
            return sorted(item)
        except TypeError:
            return list(item)
    return list(item)
