"""Strings: sequences of letters, of any alphabet and any length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer.domains.categories import CategoryDomain
from mercer.domains.points import Domain, Items, Points, RowIndex, name_type
from mercer.domains.tables import things
from mercer.errors import DomainError

__all__ = ["STRINGS", "StringDomain", "Strings"]


class Strings(Points):
    """Python strings, one after the other.

    Parameters
    ----------
    texts : ndarray of object

    Examples
    --------
    >>> strings = STRINGS.admit(["cat", "", "at"])
    >>> strings.letters, strings.starts
    (array([ 99,  97, 116,  97, 116], dtype=int32), array([0, 3, 3, 5]))
    """

    def __init__(self, texts: np.ndarray) -> None:
        super().__init__()
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: RowIndex) -> Strings:
        return Strings(self.texts[rows])

    def concat(self, other: Strings) -> Strings:
        return Strings(np.concatenate([self.texts, other.texts]))

    def items(self) -> Iterator[str]:
        return iter(self.texts)

    def units(self) -> list[list[str]]:
        return [list(text) for text in self.texts]

    @property
    def bytes(self) -> int:
        return 4 * int(self.starts[-1])

    @cached_property
    def letters(self) -> np.ndarray:
        """The code points of all strings, one string after the other."""
        joined = "".join(self.texts).encode("utf-32-le", "surrogatepass")
        return np.frombuffer(joined, np.int32)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each string begins among the letters, and where the last one ends."""
        return np.concatenate([[0], np.cumsum([len(text) for text in self.texts], dtype=int)])

    def __getstate__(self) -> dict[str, Any]:
        return {"texts": self.texts, "_views": {}}


@dataclass(frozen=True)
class StringDomain(Domain):
    """Strings; an empty one is a string too.

    Examples
    --------
    >>> STRINGS.admit(["cat", None])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: item 1 of X is None, not a string; ...
    """

    def admit(self, X: Items | Points, name: str = "X") -> Strings:
        if isinstance(X, Strings):
            return X
        objects = things(X, name)
        texts = np.empty(len(objects), dtype=object)
        for i, item in enumerate(objects.items()):
            if not isinstance(item, str):
                raise DomainError(_not_a_string(item, i, name))
            texts[i] = str(item)
        return Strings(texts)

    def merge(self, other: Domain) -> Domain | None:
        # Strings may be compared for equality too.
        return self if isinstance(other, StringDomain | CategoryDomain) else None


STRINGS = StringDomain()


def _not_a_string(item: object, place: int, name: str) -> str:
    return (
        f"item {place} of {name} is {name_type(item)}, not a string; fill it in or drop it, or "
        "see missing= of k.on(...) for a column with gaps"
    )
