"""Sets: things without order or repetition, of which two either share an element or do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains.points import Domain, Items, Points, RowIndex
from mercer.domains.tables import things
from mercer.errors import DomainError

__all__ = ["SETS", "SetDomain", "Sets"]


class Sets(Points):
    """Python sets, one after the other.

    Parameters
    ----------
    sets : ndarray of object

    Examples
    --------
    >>> [sorted(s) for s in SETS.admit([{1, 2}, set()]).items()]
    [[1, 2], []]
    """

    def __init__(self, sets: np.ndarray) -> None:
        super().__init__()
        self.sets = sets

    def __len__(self) -> int:
        return len(self.sets)

    def take(self, rows: RowIndex) -> Sets:
        return Sets(self.sets[rows])

    def concat(self, other: Sets) -> Sets:
        return Sets(np.concatenate([self.sets, other.sets]))

    def items(self) -> Iterator[frozenset[Any]]:
        return iter(self.sets)

    @property
    def bytes(self) -> int:
        return 12 * sum(len(item) for item in self.sets)


@dataclass(frozen=True)
class SetDomain(Domain):
    """Sets and frozensets; the empty one is a set too. Elements are equal if Python says so.

    A list is refused: it may hold an element twice, and nobody said whether that counts.

    Examples
    --------
    >>> SETS.admit([{1, 2}, [1, 2, 2]])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: item 1 of X is a list, not a set; ...
    """

    def admit(self, X: Items | Points, name: str = "X") -> Sets:
        if isinstance(X, Sets):
            return X
        objects = things(X, name)
        sets = np.empty(len(objects), dtype=object)
        for i, item in enumerate(objects.items()):
            if not isinstance(item, set | frozenset):
                raise DomainError(_not_a_set(item, i, name))
            if any(element is None or _is_nan(element) for element in item):
                raise DomainError(f"item {i} of {name} has a missing element; take it out")
            sets[i] = frozenset(item)
        return Sets(sets)


SETS = SetDomain()


def _is_nan(element: object) -> bool:
    return isinstance(element, float) and element != element


def _not_a_set(item: object, place: int, name: str) -> str:
    if item is None:
        return f"item {place} of {name} is None, not a set; fill it in or drop it"
    return (
        f"item {place} of {name} is a {type(item).__name__}, not a set; write set(item), or "
        "compare bags, in which an element may be twice, with SetKernel"
    )
