"""Workbooks and databases: files that hold several tables, of which one is named after ``::``."""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DomainError, suggestion
from mercer.sources.source import Piece, objects, unique_names

__all__ = ["Database", "open_workbook", "what_archive"]

# What other zip archives are, by a file in them.
ARCHIVES = {
    "word/document.xml": "a document of Word; save its table as CSV",
    "content.xml": "an OpenDocument file; save the table as CSV or as an Excel workbook",
}


def what_archive(path: Path) -> str | None:
    """Say what a zip archive is that is no workbook; None for a workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return "a broken zip archive"
    if "xl/workbook.xml" in names:
        return None
    if names and all(name.endswith(".npy") for name in names):
        return "arrays of NumPy (.npz); in Python, study(X, y) takes them"
    for name, what in ARCHIVES.items():
        if name in names:
            return what
    return "a zip archive; unpack it, and name the table in it"


def open_workbook(path: Path, part: str | None = None) -> Any:
    """Return a sheet of an Excel workbook: the named one, or the first that has rows."""
    import pandas as pd

    try:
        import openpyxl
    except ImportError as error:
        raise DomainError(
            f"{path} is read by openpyxl, which is not installed: pip install 'mercer[tables]'"
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise DomainError(f"{path} cannot be read as an Excel workbook: {error}") from error
    with closing(book):
        if part is not None and part not in book.sheetnames:
            raise DomainError(f"{path} has no sheet {part!r}{suggestion(part, book.sheetnames)}")
        for name in [part] if part is not None else book.sheetnames:
            rows = [row for row in book[name].iter_rows(values_only=True) if any(map(_there, row))]
            if len(rows) > 1:
                return _frame(rows, pd)
    which = f"the sheet {part!r} of {path}" if part is not None else f"{path}"
    raise DomainError(f"{which} has no table: a row of names, and rows of entries below it")


def _there(cell: object) -> bool:
    return cell is not None and str(cell).strip() != ""


def _frame(rows: list[tuple[Any, ...]], pd: Any) -> Any:
    """Return rows as a DataFrame, without empty columns at the sides."""
    width = max(k + 1 for row in rows for k, cell in enumerate(row) if _there(cell))
    first = min(k for row in rows for k, cell in enumerate(row) if _there(cell))
    names = [str(cell) if _there(cell) else "" for cell in rows[0][first:width]]
    names += [""] * (width - first - len(names))
    columns = unique_names(names)[0]
    cells = [[*row[first:width], *[None] * (width - len(row))] for row in rows[1:]]
    frame = pd.DataFrame(cells, columns=columns, dtype=object)
    return frame.infer_objects()


class Database:
    """A table of an SQLite database, which is opened for reading only."""

    unit = "row"
    target: str | None = None

    def __init__(self, path: Path, part: str | None = None) -> None:
        self.file = path
        self.notes: list[str] = []
        self.kinds: dict[str, str] = {}
        with closing(self._connect()) as known:
            names = _asked(known, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                           "AND name NOT LIKE 'sqlite_%' ORDER BY name", path)  # fmt: skip
            tables = [row[0] for row in names]
            self.table = _chosen(path, part, tables)
            described = _asked(known, f"PRAGMA table_info({_quoted(self.table)})", path)
        self.columns, notes = unique_names([row[1] for row in described])
        self.given = [row[1] for row in described]
        self.notes += notes
        self.name = f"{path.name}::{self.table}"
        self.path = Path(f"{path}::{self.table}")
        self.layout: dict[str, Any] = {"format": "sqlite"}

    def _connect(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(f"{self.file.resolve().as_uri()}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise DomainError(f"{self.file} cannot be read as SQLite: {error}") from error

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        """Yield the rows, about `size` at a time, in the order of the table."""
        pairs = list(zip(self.columns, self.given, strict=True))
        names = [(name, own) for name, own in pairs if wanted is None or name in wanted]
        what = ", ".join(_quoted(own) for _, own in names) or "1"
        start = 0
        with closing(self._connect()) as known:
            try:
                cursor = known.execute(f"SELECT {what} FROM {_quoted(self.table)}")
                while rows := cursor.fetchmany(size):
                    columns = {
                        name: objects(_entry(row[k]) for row in rows)
                        for k, (name, _) in enumerate(names)
                    }
                    numbers = np.arange(start, start + len(rows))
                    start += len(rows)
                    yield Piece(columns, numbers + 1, numbers, len(rows))
            except sqlite3.Error as error:
                raise DomainError(f"{self.name} cannot be read: {error}") from error


def _chosen(path: Path, part: str | None, tables: list[str]) -> str:
    if part is not None:
        if part not in tables:
            raise DomainError(f"{path} has no table {part!r}{suggestion(part, tables)}")
        return part
    if not tables:
        raise DomainError(f"{path} is a database without tables")
    if len(tables) > 1:
        raise DomainError(
            f"{path} has {len(tables)} tables; name one of them, such as {path}::{tables[0]}: "
            f"there are {', '.join(map(repr, tables[:10]))}{', …' if len(tables) > 10 else ''}"
        )
    return tables[0]


def _asked(known: sqlite3.Connection, query: str, path: Path) -> list[Any]:
    try:
        return known.execute(query).fetchall()
    except sqlite3.Error as error:
        raise DomainError(f"{path} cannot be read as SQLite: {error}") from error


def _quoted(name: str) -> str:
    """Return a name as SQL quotes it, so that whatever stands in it is a name."""
    return '"' + name.replace('"', '""') + '"'


def _entry(value: object) -> object:
    return f"{len(value)} bytes" if isinstance(value, bytes) else value
