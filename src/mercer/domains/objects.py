"""Objects: any Python things at all, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_compat
import numpy as np

from mercer.domains.points import Points, nonempty
from mercer.domains.tables import Table, is_frame
from mercer.errors import DomainError

__all__ = ["Objects", "things"]


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


def things(X: Any, name: str = "X") -> Objects:
    """Return the things that a container holds, for a domain of whole objects.

    A list, a Series, an array, `Objects`, or one column of a table; a table of several columns
    is refused, because nobody said which of them holds the things. Rows of a two-dimensional
    array of numbers are things.

    Examples
    --------
    >>> import pandas as pd
    >>> list(things(pd.DataFrame({"word": ["cat", "dog"]})).items())
    ['cat', 'dog']
    """
    if isinstance(X, Objects):
        return X
    if is_frame(X):
        X = Table(X, name)
    if isinstance(X, Table):
        return Objects(_only_column(X, name), name)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS" and X.shape[1] == 1:
        X = X[:, 0]
    if isinstance(X, Points):
        X = list(X.items())
    return Objects(X, name)


def _only_column(table: Table, name: str) -> Any:
    if table.width != 1:
        raise DomainError(
            f"{name} has {table.width} columns, but a kernel on whole things looks at one; say "
            "which with k.on('name')"
        )
    return table.frame.iloc[:, 0] if is_frame(table.frame) else table.frame[:, 0]


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
