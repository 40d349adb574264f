"""How a table is laid out: what separates the entries, and whether the first row has names."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["ALONE", "SPACE", "Layout", "parse"]

SPACE = " "  # any number of them
ALONE = "\x1f"  # separates nothing: a table of one column
LONGEST = 2**24  # characters of an entry; a longer one is a quotation mark that was not closed


@dataclass(frozen=True)
class Layout:
    """How to split lines into entries.

    Attributes
    ----------
    delimiter : str
    quoted : bool
        Whether a quotation mark at the beginning of an entry says that it ends with another.
    header : bool
        Whether the first row has the names of the columns.
    skip : int
        How many lines stand before the table.
    extra : {"", "first", "last"}
        Where the rows have one entry more than there are names, if they have.
    """

    delimiter: str
    quoted: bool = True
    header: bool = True
    skip: int = 0
    extra: str = ""


def parse(lines: Iterable[str], layout: Layout) -> Any:
    """Return the csv module's reader of the lines, which refuses quotation marks that are off."""
    if layout.delimiter == SPACE:
        return Words(lines)
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    return csv.reader(
        lines,
        delimiter=layout.delimiter,
        quoting=csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE,
        skipinitialspace=layout.delimiter != "\t",
        strict=layout.quoted,
    )


class Words:
    """Splits lines at spaces, or at tabs, and counts them as the csv module's reader does.

    With `most`, a line is split into at most so many entries, and the last one has the rest.

    Examples
    --------
    >>> list(Words(["1  2 \\n", " 3 4\\n"]))
    [['1', '2'], ['3', '4']]
    """

    def __init__(
        self, lines: Iterable[str], delimiter: str | None = None, most: int | None = None
    ) -> None:
        self.lines = iter(lines)
        self.delimiter = delimiter
        self.cuts = -1 if most is None else most - 1
        self.line_num = 0

    def __iter__(self) -> Words:
        return self

    def __next__(self) -> list[str]:
        line = next(self.lines)
        self.line_num += 1
        return line.strip().split(self.delimiter, self.cuts)
