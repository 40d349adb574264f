"""Sources: files and tables as people have them, turned into rows to learn from."""

from mercer.sources.formats import Format, Hints, register_format
from mercer.sources.reading import chunks, read, read_frame, recipe
from mercer.sources.roles import RowRoles
from mercer.sources.sheet import KINDS, BadRow, Column, Sheet
from mercer.sources.streams import stream
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
