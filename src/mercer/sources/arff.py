"""ARFF: the tables of Weka and OpenML, which say what their columns are.

Lines beginning with % are remarks. ``@attribute size numeric`` names a column and its type, or in
braces its categories, and ``@data`` is followed by the rows, separated by commas, with ? for what
is missing. Sparse rows, such as ``{0 1.5, 3 x}``, name the columns that are not zero.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mercer.errors import DomainError
from mercer.sources.records import Records
from mercer.sources.source import unique_names

__all__ = ["Arff", "begins_as_arff"]

ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s+(.+)", re.I)
NUMBERS = ("numeric", "real", "integer")


def begins_as_arff(beginning: bytes) -> bool:
    """Tell whether a text begins as ARFF does, after remarks.

    Examples
    --------
    >>> begins_as_arff(b"% iris\\n@RELATION iris\\n"), begins_as_arff(b"a,b\\n1,2\\n")
    (True, False)
    """
    lines = (line.strip().lower() for line in beginning.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"%")), b"")
    return first.startswith((b"@relation", b"@attribute"))


class Arff(Records):
    """A table in ARFF."""

    form = "arff"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        names, self.types = [], []
        for line, text in self._header():
            found = ATTRIBUTE.fullmatch(text)
            if found is None:
                raise DomainError(
                    f"{path}, line {line}: cannot read {text[:60]!r} as an attribute"
                )
            names.append(_unquoted(found[1]))
            self.types.append(found[2].strip())
        if not names:
            raise DomainError(f"{path} has no @attribute, so its columns are unknown")
        self.columns, notes = unique_names(names)
        self.notes += notes
        self.levels = [_levels(kind) for kind in self.types]
        for name, kind, levels in zip(self.columns, self.types, self.levels, strict=True):
            if levels is not None:
                self.kinds[name] = "categorical"
            elif kind.lower() in NUMBERS:
                self.kinds[name] = "numeric"

    def _header(self) -> Iterator[tuple[int, str]]:
        with self.text.lines() as file:
            for line, text in enumerate(file, 1):
                word = text.strip()
                if word.lower().startswith("@data"):
                    return
                if word.lower().startswith("@attribute"):
                    yield line, word
        raise DomainError(f"{self.path} has no @data, after which the rows would come")

    def records(self) -> Iterator[tuple[int, Sequence[Any] | str]]:
        with self.text.lines() as file:
            begun = False
            for line, text in enumerate(file, 1):
                word = text.strip()
                if not begun:
                    begun = word.lower().startswith("@data")
                elif word and not word.startswith("%"):
                    yield line, self._row(word)

    def _row(self, text: str) -> Sequence[Any] | str:
        if text.startswith("{"):
            return self._sparse(text)
        entries = _split(text)
        if len(entries) != len(self.columns):
            return f"it has {len(entries)} entries, not {len(self.columns)}"
        return [self._entry(place, entry) for place, entry in enumerate(entries)]

    def _sparse(self, text: str) -> Sequence[Any] | str:
        """Return a sparse row: what it does not name is 0, or the first category."""
        row: list[Any] = [levels[0] if levels else "0" for levels in self.levels]
        inside = text.strip().removeprefix("{").removesuffix("}")
        for pair in _split(inside) if inside.strip() else []:
            place, _, entry = pair.strip().partition(" ")
            if not place.isdecimal() or int(place) >= len(row):
                return f"it names column {place!r}, of {len(row)} that are counted from 0"
            row[int(place)] = self._entry(int(place), _unquoted(entry.strip()))
        return row

    def _entry(self, place: int, entry: str) -> str | None:
        return None if entry == "?" else entry


def _split(text: str) -> list[str]:
    """Return the entries of a row; single quotes hold what has commas in it."""
    quote = "'" if "'" in text or '"' not in text else '"'
    reader = csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True)
    return [entry.strip() for entry in next(reader)]


def _unquoted(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    return word


def _levels(kind: str) -> list[str] | None:
    """Return the categories of an attribute; None if it has another type."""
    if not kind.startswith("{"):
        return None
    return _split(kind.strip().removeprefix("{").removesuffix("}"))
