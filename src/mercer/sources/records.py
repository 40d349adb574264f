"""Records: sources that hold one row in each line of a text, but are no delimited tables.

JSON lines and ARFF share how rows are gathered into pieces and how bad lines are told.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.sheet import BadRow
from mercer.sources.source import Piece, objects, unique_names
from mercer.sources.textfile import find_encoding

__all__ = ["JsonLines", "Records"]

Entry = Any  # a text, a number, or None for what is missing


class Records:
    """Rows of a text file, each of which begins on a line of its own.

    A subclass sets `columns` and yields from `records` the line of each row with its entries, or
    with what is wrong with it.
    """

    unit = "line"
    target: str | None = None
    form = ""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        self.text = find_encoding(path)
        self.notes = [*self.text.notes]
        self.kinds: dict[str, str] = {}
        self.layout: dict[str, Any] = {"format": self.form}
        self.columns: list[str] = []

    def records(self) -> Iterator[tuple[int, Sequence[Entry] | str]]:
        """Yield the line and the entries of each row, or a sentence about what is wrong."""
        raise NotImplementedError

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        """Yield the rows, about `size` at a time."""
        names = [name for name in self.columns if wanted is None or name in wanted]
        places = [self.columns.index(name) for name in names]
        lines: list[int] = []
        rows: list[int] = []
        entries: list[list[Entry]] = []
        bad: list[BadRow] = []
        total = 0
        for number, (line, record) in enumerate(self.records()):
            total += 1
            if isinstance(record, str):
                bad.append(BadRow(line, record, self.unit))
            else:
                lines.append(line)
                rows.append(number)
                entries.append([record[place] for place in places])
            if total >= size:
                yield _piece(names, lines, rows, entries, total, bad)
                lines, rows, entries, bad, total = [], [], [], [], 0
        if total:
            yield _piece(names, lines, rows, entries, total, bad)


def _piece(
    names: list[str], lines: list[int], rows: list[int], entries: list[list[Entry]], total: int,
    bad: list[BadRow],
) -> Piece:  # fmt: skip
    columns = {name: objects(row[k] for row in entries) for k, name in enumerate(names)}
    places = np.array(lines, dtype=np.int64), np.array(rows, dtype=np.int64)
    return Piece(columns, *places, total, tuple(bad))


class JsonLines(Records):
    """One JSON object in each line, or one array of objects; keys are the names of columns.

    A key that a row does not have is a gap there. Objects and lists as values are no entries of a
    table, and make a row bad.
    """

    form = "jsonl"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.text.lines() as file:
            first = next((line for line in file if line.strip()), "")
        if not first:
            raise DomainError(f"{path} is empty; JSON lines have an object in each line")
        self.whole = first.lstrip().startswith("[")
        if self.whole:
            self.unit = "row"
        keys: dict[str, None] = {}
        for _, found in self._objects():
            if isinstance(found, dict):
                keys.update(dict.fromkeys(found))
        if not keys:
            raise DomainError(f'{path} has no JSON objects such as {{"size": 1.5}} in its lines')
        self.keys = list(keys)
        self.columns, notes = unique_names(self.keys)
        self.notes += notes

    def records(self) -> Iterator[tuple[int, Sequence[Entry] | str]]:
        for line, found in self._objects():
            if not isinstance(found, dict):
                yield line, found
                continue
            nested = [key for key, value in found.items() if isinstance(value, dict | list)]
            if nested:
                yield line, f"{nested[0]!r} holds a list or an object, not one entry"
            else:
                yield line, [found.get(key) for key in self.keys]

    def _objects(self) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the line and the object of each row, or what is wrong with it."""
        with self.text.lines() as file:
            if self.whole:
                yield from self._array(file.read())
                return
            for line, text in enumerate(file, 1):
                if text.strip():
                    yield line, _object(text)

    def _array(self, text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DomainError(f"{self.path} is not valid JSON: {error}") from error
        for number, row in enumerate(rows, 1):
            yield number, row if isinstance(row, dict) else "it is no JSON object"


def _object(text: str) -> dict[str, Any] | str:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"it is not valid JSON: {str(error)[:80]}"
    return found if isinstance(found, dict) else "it is no JSON object"
