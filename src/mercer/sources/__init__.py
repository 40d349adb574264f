"""Sources: files and tables as people have them, turned into rows to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mercer.sources.formats import Format, Hints, register_format
from mercer.sources.reading import chunks, read, read_frame, recipe
from mercer.sources.roles import RowRoles
from mercer.sources.sheet import KINDS, BadRow, Column, Sheet
from mercer.sources.streams import stream

if TYPE_CHECKING:
    from mercer.sources.table_reader import TableReader

__all__ = [
    "KINDS",
    "BadRow",
    "Column",
    "Format",
    "Hints",
    "RowRoles",
    "Sheet",
    "TableReader",
    "chunks",
    "read",
    "read_frame",
    "recipe",
    "register_format",
    "stream",
]


def __getattr__(name: str) -> Any:
    if name == "TableReader":  # a scikit-learn estimator, whose base classes take a second to load
        from mercer.sources.table_reader import TableReader

        return TableReader
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
