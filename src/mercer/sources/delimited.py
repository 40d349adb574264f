"""Tables in text files: entries separated by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from mercer.errors import DomainError
from mercer.sources.dialect import SPACE, Dialect, RowReader, WhitespaceReader, parse, sniff
from mercer.sources.sheet import BadRow
from mercer.sources.source import Piece, objects, unique_names
from mercer.sources.textfile import find_encoding

__all__ = ["Delimited", "SmilesFile"]

ROWS = "row names"  # as R calls them
SMILES = "smiles"


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
        self.text = find_encoding(path)
        with self.text.lines() as file:
            sample = file.read(2**20)  # characters, from which the dialect is found
            whole = not file.read(1)
        if not sample.strip():
            raise DomainError(f"{path} is empty; a table has a row of names and rows of entries")
        self.kinds: dict[str, str] = {}
        self.notes = [*self.text.notes]
        self.split = self._dialect(sample, whole, known, target, header)
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

    def _dialect(
        self,
        sample: str,
        whole: bool,
        known: Collection[str],
        target: str | None,
        header: bool | None,
    ) -> Dialect:
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

    def _reader(self, file: TextIO) -> RowReader:
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

    def __init__(self, reader: RowReader, width: int, split: Dialect) -> None:
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
    """Say what is wrong with a row: with its quotation marks, or its length."""
    if "field larger" in str(error) and more <= 0:  # an open quotation mark goes on for lines
        return (
            f"an entry has more than {csv.field_size_limit():,} characters; is this a table with "
            "one row in each line?"
        )
    until = f", up to {more} lines further" if more > 0 else ""
    if "field larger" in str(error) or "unexpected end" in str(error):
        return f"a quotation mark is opened and not closed{until}"
    return f"a quotation mark stands inside of a quoted entry without being doubled{until}"


class SmilesFile(Delimited):
    """A file of SMILES. Its first row has names only if the first of them speaks of SMILES.

    Lines are split at spaces if that gives the same number of parts everywhere; else what follows
    the first space is one entry.
    """

    def _dialect(
        self,
        sample: str,
        whole: bool,
        known: Collection[str],
        target: str | None,
        header: bool | None,
    ) -> Dialect:
        lines = [line for line in sample.splitlines() if line.strip()]
        tabs = "\t" in lines[0]
        parts = [line.split("\t" if tabs else None) for line in lines]
        header = SMILES in parts[0][0].lower() or (bool(known) and set(known) <= set(parts[0]))
        # The last line of a sample may be cut.
        same = len({len(row) for row in (parts if whole else parts[:-1])}) == 1
        self.width = len(parts[0]) if same or tabs else min(2, max(map(len, parts)))
        return Dialect("\t" if tabs else SPACE, False, header)

    def _names(self, first: list[str]) -> list[str]:
        names = super()._names(first)
        if not self.split.header:
            self.notes[-1] = (
                "the file has no row of names, so its columns are called 'smiles', 'column 2' "
                "and so on"
            )
            names[0] = SMILES
        self.kinds = {names[0]: "smiles"}
        return names

    def _reader(self, file: TextIO) -> RowReader:
        delimiter = None if self.split.delimiter == SPACE else self.split.delimiter
        return WhitespaceReader(file, delimiter, 2 if self.width == 2 else None)
