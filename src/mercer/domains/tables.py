"""Tables: rows with named or numbered columns, of which a kernel may look at a few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from mercer.domains.points import Points, nonempty
from mercer.errors import DomainError, suggestion

__all__ = ["Table", "is_frame"]


def is_frame(X: Any) -> bool:
    """Tell a pandas DataFrame from an array without importing pandas."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


class Table(Points):
    """Rows of a DataFrame, or of a two-dimensional array whose columns have numbers."""

    def __init__(self, frame: Any, name: str = "X") -> None:
        super().__init__()
        self.frame = frame
        if is_frame(frame):
            _check_unique(frame, name)
        nonempty(len(self), name, tuple(frame.shape))

    def __len__(self) -> int:
        return int(self.frame.shape[0])

    @property
    def width(self) -> int:
        return int(self.frame.shape[1])

    def take(self, rows: Any) -> Table:
        return Table(self.frame.iloc[rows] if is_frame(self.frame) else self.frame[rows])

    def concat(self, other: Table) -> Table:
        if is_frame(self.frame):
            import pandas as pd

            return Table(pd.concat([self.frame, other.frame], ignore_index=True))
        if sparse.issparse(self.frame):
            return Table(sparse.vstack([self.frame, other.frame], format="csr"))
        xp = array_api_compat.array_namespace(self.frame)
        return Table(xp.concat([self.frame, other.frame]))

    def items(self) -> Iterator[Any]:
        """Yield each row: a dict by column name, or a one-dimensional array."""
        if is_frame(self.frame):
            return iter(self.frame.to_dict(orient="records"))
        return iter(self.frame)

    def select(self, columns: tuple[Any, ...]) -> Any:
        """Return the columns named by indices, slices or names, as the container they came in."""
        if is_frame(self.frame):
            return self.frame.iloc[:, self._positions(columns)]
        if isinstance(self.frame, np.ndarray) or sparse.issparse(self.frame):
            return self.frame[:, self._positions(columns)]
        xp, device = (
            array_api_compat.array_namespace(self.frame),
            array_api_compat.device(self.frame),
        )
        return xp.take(self.frame, xp.asarray(self._positions(columns), device=device), axis=1)

    def _positions(self, columns: tuple[Any, ...]) -> list[int]:
        names = list(self.frame.columns) if is_frame(self.frame) else []
        return [j for column in columns for j in self._position(column, names)]

    def _position(self, column: Any, names: list[Any]) -> list[int]:
        if isinstance(column, slice):
            return list(range(*column.indices(self.width)))
        if isinstance(column, str) or column in names:
            if column in names:
                return [names.index(column)]
            if not names:
                raise DomainError(f"column {column!r} was asked for by name, but X has no names")
            raise DomainError(f"X has no column {column!r}{suggestion(column, map(str, names))}")
        if not -self.width <= column < self.width:
            raise DomainError(f"X has {self.width} columns, so there is no column {column}")
        return [column % self.width]


def _check_unique(frame: Any, name: str) -> None:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DomainError(f"{name} has two columns called {twice!r}; rename one of them")
