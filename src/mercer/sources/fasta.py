"""FASTA files: a line that begins with > and says what, then the letters of a sequence."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mercer.errors import DomainError
from mercer.sources.sheet import BadRow
from mercer.sources.source import Piece, objects
from mercer.sources.textfile import file_errors, open_lines

__all__ = ["Fasta", "Record", "label_finder", "records"]

SEQUENCE = "sequence"
LABEL = "label"


class Record(NamedTuple):
    """One sequence of a file, with the line of its header."""

    line: int
    header: str
    letters: str


def records(path: Path) -> Iterator[Record]:
    """Yield the sequences of a file, also those without letters.

    Lines of a sequence are put together without spaces; empty lines and lines that begin with ;
    are skipped.
    """
    line, header = 0, ""
    letters: list[str] | None = None
    with file_errors(path, "a FASTA file"), open_lines(path) as file:
        for number, text in enumerate(file, 1):
            if not text.strip() or text.startswith(";"):
                continue
            if text.startswith(">"):
                if letters is not None:
                    yield Record(line, header, "".join(letters))
                line, header, letters = number, text[1:].strip(), []
            elif letters is None:
                raise DomainError(
                    f"{path}: line {number}: a sequence begins without a line that begins with >"
                )
            else:
                letters.append("".join(text.split()))
    if letters is None:
        raise DomainError(f"{path} has no sequence: no line begins with >")
    yield Record(line, header, "".join(letters))


def label_finder(label: str) -> Callable[[str], str | None]:
    """Return the function that finds a label in a header.

    Parameters
    ----------
    label : str
        A regular expression with a group, or else a separator, after whose last occurrence the
        label stands.

    Examples
    --------
    >>> label_finder("|")("one|first"), label_finder(r"class=(\\w+)")("one class=a")
    ('first', 'a')
    """
    try:
        pattern = re.compile(label)
    except (re.error, TypeError):
        pattern = None
    if pattern is not None and pattern.groups:
        return lambda header: (match := pattern.search(header)) and match.group(1)
    if not isinstance(label, str) or not label:
        raise DomainError(f"label must be a text or a function, found {label!r}")
    return lambda header: header.rpartition(label)[2].strip() if label in header else None


class Fasta:
    """A FASTA file as a source.

    The label is what follows the last | of the header, or its last word if there is no | in the
    first header; ``key=`` if the target is called so and the first header has ``key=…``.
    """

    unit = "line"

    def __init__(
        self, path: Path, target: str | None = None, layout: Mapping[str, Any] | None = None
    ) -> None:
        first = next(records(path))
        self.path = path
        self.name = path.name
        self.rule = (layout or {}).get("label") or _rule(first.header, target)
        self.target = target if self.rule == f"{target}=" else LABEL if self.rule else None
        self.columns = (SEQUENCE, self.target) if self.target else (SEQUENCE,)
        self.kinds = {SEQUENCE: "sequence"}
        self.layout: dict[str, Any] = {"format": "fasta", "label": self.rule}
        self.notes = [_note(self.rule)]

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        find = None if self.rule is None else label_finder(_pattern(self.rule))
        found = records(self.path)
        start = 0
        while some := list(islice(found, size)):
            good = [place for place, record in enumerate(some) if record.letters]
            bad = [BadRow(r.line, f"{r.header!r} has no letters") for r in some if not r.letters]
            columns = {SEQUENCE: objects(some[place].letters for place in good)}
            if self.target is not None and find is not None:
                columns[self.target] = objects(find(some[place].header) for place in good)
            lines = np.array([some[place].line for place in good], dtype=np.int64)
            rows = start + np.array(good, dtype=np.int64)
            yield Piece(columns, lines, rows, len(some), tuple(bad))
            start += len(some)


def _rule(header: str, target: str | None) -> str | None:
    """Return where the first header has a label: after |, after a space, or after key=."""
    if target not in (None, LABEL) and f"{target}=" in header:
        return f"{target}="
    if "|" in header:
        return "|"
    return " " if len(header.split()) > 1 else None


def _pattern(rule: str) -> str:
    """Return a rule as `label_finder` wants it."""
    if rule.endswith("="):
        return rf"(?:^|[\s|;,]){re.escape(rule)}([^\s|;,]*)"
    return r"\s(\S+)$" if rule == " " else rule


def _note(rule: str | None) -> str:
    if rule is None:
        return "the first header is a single word, so the sequences have no labels"
    if rule == " ":
        return "the label of a sequence is the last word of its header"
    return f"the label of a sequence is what follows {rule!r} in its header"
