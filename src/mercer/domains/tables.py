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

    def __init__(self, frame: Any, name: str = "X", places: list[int] | None = None) -> None:
        super().__init__()
        self.frame = frame
        self.places = places  # where the columns of a selection stood in the user's table
        if is_frame(frame) and places is None:
            _check_unique(frame, name)
        nonempty(len(self), name, tuple(frame.shape))

    def __len__(self) -> int:
        return int(self.frame.shape[0])

    @property
    def width(self) -> int:
        return int(self.frame.shape[1])

    def take(self, rows: Any) -> Table:
        part = self.frame.iloc[rows] if is_frame(self.frame) else self.frame[rows]
        return Table(part, places=self.places)

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
            names: Any = self.frame.columns if self.frame.columns.is_unique else self.places
            return (
                dict(zip(names, row, strict=True)) for row in self.frame.itertuples(index=False)
            )
        return iter(self.frame)

    def select(self, columns: tuple[Any, ...]) -> Table:
        """Return the columns named by indices, slices or names."""
        places = self._positions(columns)
        if is_frame(self.frame):
            return Table(self.frame.iloc[:, places], places=places)
        if isinstance(self.frame, np.ndarray) or sparse.issparse(self.frame):
            return Table(self.frame[:, places], places=places)
        xp, device = (
            array_api_compat.array_namespace(self.frame),
            array_api_compat.device(self.frame),
        )
        return Table(xp.take(self.frame, xp.asarray(places, device=device), axis=1), places=places)

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
