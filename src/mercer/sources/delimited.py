"""Tables in text files: entries separated by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.layout import Layout, parse
from mercer.sources.names import unique_names
from mercer.sources.pieces import Piece, objects
from mercer.sources.sheet import BadRow
from mercer.sources.sniffing import sniff
from mercer.sources.texts import survey

__all__ = ["Delimited"]

ROWS = "row names"  # as R calls them
SAMPLE = 2**20  # characters from which the layout is found


class Delimited:
    """A table in a text file, read in one pass and in pieces.

    Parameters
    ----------
    path : path
    target : str, optional
        What the user calls the target: it helps to tell a row of names.
    known : collection of str
        Columns that should be there, which tells even more.
    header : bool, optional
        Whether the first row has names, if the known ones are not in it.
    """

    unit = "line"
    target: str | None = None

    def __init__(
        self,
        path: Path,
        target: str | None = None,
        known: Collection[str] = (),
        header: bool | None = None,
    ) -> None:
        self.name = path.name
        self.path = path
        self.text = survey(path)
        with self.text.lines() as file:
            sample = file.read(SAMPLE)
            whole = not file.read(1)
        if not sample.strip():
            raise DomainError(f"{path} is empty; a table has a row of names and rows of entries")
        self.kinds: dict[str, str] = {}
        self.notes = [*self.text.notes]
        self.split = self._layout(sample, whole, known, target, header)
        self.columns = self._names(self._first())

    @property
    def layout(self) -> dict[str, Any]:
        return {
            "format": "delimited",
            "delimiter": self.split.delimiter,
            "quoted": self.split.quoted,
            "header": self.split.header,
            "encoding": self.text.encoding,
        }

    def _layout(
        self,
        sample: str,
        whole: bool,
        known: Collection[str],
        target: str | None,
        header: bool | None,
    ) -> Layout:
        return sniff(sample, whole, known, target, header)

    def _first(self) -> list[str]:
        """Return the first row."""
        with self.text.lines() as file:
            try:
                for row in self._reader(file):
                    if any(entry.strip() for entry in row):
                        return row
            except csv.Error as error:
                raise DomainError(f"{self.path}: line 1: {_why(error, 0)}") from error
        raise DomainError(f"{self.path} is empty; a table has a row of names and rows of entries")

    def _names(self, first: list[str]) -> list[str]:
        if self.split.header:
            extra = self.split.extra
            if extra == "first":
                first = [ROWS, *first]
                self.kinds[ROWS] = "identifier"
                self.notes.append("the first entry of each row has no name: it names the row")
            names, notes = unique_names([*first, ""] if extra == "last" else first)
            self.notes += notes
            return names
        self.notes.append(
            "the first row has entries, not names, so the columns are called 'column 1', "
            "'column 2' and so on"
        )
        return [f"column {number}" for number in range(1, len(first) + 1)]

    def _reader(self, file: Any) -> Any:
        return parse(islice(file, self.split.skip, None), self.split)

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        places = {
            name: place
            for place, name in enumerate(self.columns)
            if wanted is None or name in wanted
        }
        with self.text.lines() as file:
            rows = _Rows(self._reader(file), len(self.columns), self.split)
            while True:
                piece = rows.next(size, places)
                if not piece.total:
                    return
                yield piece


class _Rows:
    """The rows that a reader gives, counted."""

    def __init__(self, reader: Any, width: int, split: Layout) -> None:
        self.reader = reader
        self.width = width
        self.split = split
        self.headed = not split.header
        self.first: list[str] | None = None
        self.count = 0

    def next(self, size: int, places: dict[str, int]) -> Piece:
        """Return the next rows, with what stands in some places."""
        rows: list[list[str]] = []
        lines: list[int] = []
        numbers: list[int] = []
        bad: list[BadRow] = []
        reader, width, before = self.reader, self.width, self.count
        while self.count - before < size:
            line = reader.line_num + 1 + self.split.skip
            try:
                row = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                bad.append(BadRow(line, _why(error, reader.line_num + self.split.skip - line)))
                self.count += 1
                continue
            if len(row) == width and self.headed and row != self.first:
                rows.append(row)
                lines.append(line)
                numbers.append(self.count)
                self.count += 1
            elif not any(entry.strip() for entry in row):
                continue  # an empty line
            elif not self.headed:
                self.headed = True
                self.first = row
            else:
                again = "repeats the names of the columns"
                wrong = again if row == self.first else f"{_many(len(row))} instead of {width}"
                bad.append(BadRow(line, wrong))
                self.count += 1
        found = list(zip(*rows, strict=True)) if rows else [()] * width
        columns = {name: objects(found[place]) for name, place in places.items()}
        return Piece(
            columns,
            np.array(lines, dtype=np.int64),
            np.array(numbers, dtype=np.int64),
            self.count - before,
            tuple(bad),
        )


def _many(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _why(error: csv.Error, more: int) -> str:
    """Say what is wrong with the quotation marks of a row."""
    until = f", up to {more} lines further" if more > 0 else ""
    if "field larger" in str(error) or "unexpected end" in str(error):
        return f"a quotation mark is opened and not closed{until}"
    return f"a quotation mark stands inside of a quoted entry without being doubled{until}"
