"""Objects: any Python things at all, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_compat
import numpy as np

from mercer.domains.points import Points, nonempty
from mercer.errors import DomainError

__all__ = ["Objects"]


class Objects(Points):
    """A sequence of arbitrary things; a two-dimensional array is the sequence of its rows.

    Examples
    --------
    >>> len(Objects(["cat", "hat", "dog"]))
    3
    """

    def __init__(self, X: Any, name: str = "X") -> None:
        super().__init__()
        if isinstance(X, (str, bytes, dict)) or not (hasattr(X, "__len__") or _iterable(X)):
            raise DomainError(
                f"{name} must be a sequence of things to compare, found {type(X).__name__}; "
                "put the things into a list"
            )
        self.array = _as_object_array(X)
        nonempty(len(self), name)

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: Any) -> Objects:
        return Objects(self.array[rows])

    def concat(self, other: Objects) -> Objects:
        return Objects([*self.items(), *other.items()])

    def items(self) -> Iterator[Any]:
        return iter(self.array)


def _iterable(X: Any) -> bool:
    return hasattr(X, "__iter__")


def _as_object_array(X: Any) -> np.ndarray:
    """Return a sliceable array of things without letting NumPy look inside them."""
    if array_api_compat.is_array_api_obj(X) and X.ndim >= 1:
        return np.asarray(X)
    if hasattr(X, "iloc"):  # a pandas Series keeps its values, not its index
        X = X.to_list()
    things = list(X)
    array = np.empty(len(things), dtype=object)
    for i, thing in enumerate(things):
        array[i] = thing
    return array
