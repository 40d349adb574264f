"""The dialect of a table: what separates the entries, and whether the first row has names."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from mercer.sources.numbers import looks_numeric

__all__ = ["ALONE", "SPACE", "Dialect", "RowReader", "has_header", "parse", "sniff"]

SPACE = " "  # any number of them
ALONE = "\x1f"  # separates nothing: a table of one column


# In the order of preference: commas also stand inside of entries.
DELIMITERS = ("\t", ";", ",", "|", SPACE, ALONE)


@dataclass(frozen=True)
class Dialect:
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


class RowReader(Protocol):
    """What splits lines into rows, as readers of the csv module do."""

    @property
    def line_num(self) -> int:
        """How many lines have been read."""

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


def parse(lines: Iterable[str], dialect: Dialect) -> RowReader:
    """Return the csv module's reader of the lines, which refuses quotation marks that are off."""
    if dialect.delimiter == SPACE:
        return WhitespaceReader(lines)
    # An entry of more characters is a quotation mark that was not closed.
    csv.field_size_limit(max(csv.field_size_limit(), 2**24))
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE,
        skipinitialspace=dialect.delimiter != "\t",
        strict=dialect.quoted,
    )


class WhitespaceReader:
    """Splits lines at spaces, or at tabs, and counts them as the csv module's reader does.

    With `most`, a line is split into at most so many entries, and the last one has the rest.

    Examples
    --------
    >>> list(WhitespaceReader(["1  2 \\n", " 3 4\\n"]))
    [['1', '2'], ['3', '4']]
    """

    def __init__(
        self, lines: Iterable[str], delimiter: str | None = None, most: int | None = None
    ) -> None:
        self.lines = iter(lines)
        self.delimiter = delimiter
        self.cuts = -1 if most is None else most - 1
        self.line_num = 0

    def __iter__(self) -> WhitespaceReader:
        return self

    def __next__(self) -> list[str]:
        line = next(self.lines)
        self.line_num += 1
        return line.strip().split(self.delimiter, self.cuts)


def sniff(
    sample: str,
    whole: bool,
    known: Collection[str] = (),
    target: str | None = None,
    header: bool | None = None,
) -> Dialect:
    """Find the dialect from the beginning of a file.

    Of the delimiters tab, semicolon, comma and bar, that one is taken for which the first row has
    as many entries as most rows, and most rows have the same number; it must be more than one,
    else the table has a single column. Spaces count if most entries between them are numbers.
    Quotation marks count unless some are never closed and most of the others are not needed: then
    they are part of texts.

    Parameters
    ----------
    sample : str
    whole : bool
        Whether the sample is the whole file; else its last row is not looked at.
    known : collection of str
        Names of columns that should be there; a first row that has them all settles everything.
    target : str, optional
        A name that tells whether the first row has names.
    header : bool, optional
        Whether the first row has names, if the known ones are not in it; found without it.
    """
    lines = list(io.StringIO(sample, newline=""))  # as those of a file, also after a \r
    first = lines[0].rstrip("\r\n") if lines else ""
    if first.lower().startswith("sep=") and len(first) == 5:  # Excel writes it
        best = _Trial(lines[1:], whole, Dialect(first[4], skip=1))
    else:
        found = [trial for d in DELIMITERS if (trial := _trial(sample, lines, whole, d)).possible]
        if not found:
            return Dialect(",")
        best = max(found, key=lambda trial: (trial.knows(known), *trial.score))
    header = has_header(best.rows, known, target, header)
    return replace(best.dialect, header=header, extra=best.extra if header else "")


def has_header(
    rows: list[list[str]],
    known: Collection[str] = (),
    target: str | None = None,
    header: bool | None = None,
) -> bool:
    """Say whether the first row has the names of the columns.

    It has unless all its entries are numbers, or one that is no number stands in the same column
    of several other rows too: what repeats is an entry, not a name.
    """
    if not rows:
        return True
    first = [entry.strip() for entry in rows[0]]
    if target in first or (known and set(known) <= set(first)):
        return True
    if header is not None:
        return header
    if all(looks_numeric(entry) for entry in first):
        return False
    if target is not None and target.removeprefix("column ").isdecimal():
        return False
    others = [row for row in rows[1:] if len(row) == len(first) and row != rows[0]]
    for place, entry in enumerate(first):
        again = sum(row[place].strip() == entry for row in others)
        if entry and not looks_numeric(entry) and again >= max(2, len(others) / 100):
            return False
    return True


def _trial(sample: str, lines: list[str], whole: bool, delimiter: str) -> _Trial:
    """Return the trial of a delimiter, with quotation marks if they count."""
    if '"' not in sample or delimiter == SPACE:
        return _Trial(lines, whole, Dialect(delimiter))
    plain = _Trial(lines, whole, Dialect(delimiter, quoted=False))
    return _Trial(lines, whole, Dialect(delimiter)) if _quotes(sample, plain) else plain


def _quotes(sample: str, plain: _Trial) -> bool:
    """Tell whether quotation marks enclose entries, or are part of texts.

    Programs quote all entries of a column, or those that need it because of what is in them.
    """
    delimiter = plain.dialect.delimiter
    sign = re.escape(delimiter)
    begin = rf'(?m:^|{sign}) *"'
    closed = re.compile(rf'{begin}([^"]*(?:""[^"]*)*)"(?= *(?:{sign}|\r|\n|\Z))')
    needed = sum(
        any(c in entry for c in (delimiter, '"', "\n")) for entry in closed.findall(sample)
    )
    strays = len(re.findall(begin, closed.sub("", sample)))
    if strays <= needed:
        return True
    columns = zip(*(row for row in plain.rows if len(row) == plain.width), strict=True)
    return any(_all_quoted(column) for column in columns)


def _all_quoted(column: tuple[str, ...]) -> bool:
    entries = [entry for entry in column[1:] if entry.strip()]
    begun = sum(entry.lstrip().startswith('"') for entry in entries)
    return bool(entries) and begun >= 0.9 * len(entries)


class _Trial:
    """The beginning of a file under one dialect."""

    def __init__(self, lines: list[str], whole: bool, dialect: Dialect) -> None:
        self.dialect = dialect
        self.rows = list(_rows(lines, dialect, whole))
        widths = Counter(len(row) for row in self.rows)
        self.width = max(widths, key=lambda width: widths[width], default=0)
        self.titled = bool(self.rows) and len(self.rows[0]) == self.width

    @property
    def possible(self) -> bool:
        """Whether the first row and most others have more than one entry."""
        if self.dialect.delimiter == ALONE:
            return bool(self.rows)
        if self.width < 2 or len(self.rows[0]) < 2:
            return False
        if self.dialect.delimiter == SPACE and not self.mostly_numbers:
            return False
        return self.titled or self.steady

    @property
    def steady(self) -> bool:
        """Whether the rows after the first have the same number of entries, almost all."""
        body = [len(row) == self.width for row in self.rows[1:]]
        return sum(body) >= 0.95 * len(body)

    @property
    def mostly_numbers(self) -> bool:
        entries = [entry for row in self.rows[1:] or self.rows for entry in row]
        return 2 * sum(map(looks_numeric, entries)) >= len(entries)

    @property
    def extra(self) -> str:
        """Where the rows have one entry more than the first one, if they have.

        R writes the names of the rows so; other programs end each row with a delimiter.
        """
        if not self.rows or len(self.rows[0]) != self.width - 1 or not self.steady:
            return ""
        last = [row[-1].strip() for row in self.rows[1:] if len(row) == self.width]
        return "first" if any(last) else "last"

    @property
    def score(self) -> tuple[Any, ...]:
        """What makes one dialect better than another, most important first."""
        delimiter = self.dialect.delimiter
        alone = delimiter == ALONE
        return (not alone, self.titled, self.steady, -DELIMITERS.index(delimiter))

    def knows(self, known: Collection[str]) -> bool:
        names = {entry.strip() for entry in self.rows[0]}
        return bool(known) and set(known) <= names


def _rows(lines: list[str], dialect: Dialect, whole: bool) -> Iterator[list[str]]:
    """Yield the rows that are not empty; one that cannot be split is a row without entries."""
    reader = parse(lines, dialect)
    before: list[str] | None = None
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error:
            row = []
        else:
            if not any(row):
                continue
        if before is not None:
            yield before
        before = row
    if before is not None and whole:
        yield before
