"""FASTA files as sources: sequences, and a label in each header."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.sheet import BadRow
from mercer.sources.source import Piece, objects

__all__ = ["Fasta"]

SEQUENCE = "sequence"
LABEL = "label"


class Fasta:
    """A FASTA file.

    The label is what follows the last | of the header, or its last word if there is no | in the
    first header; ``key=`` if the target is called so and the first header has ``key=…``.
    """

    unit = "line"

    def __init__(
        self, path: Path, target: str | None = None, layout: Mapping[str, Any] | None = None
    ) -> None:
        from mercer.datasets.fasta import records

        first = next(records(path), None)
        if first is None:
            raise DomainError(f"{path} has no sequence: no line begins with >")
        self.path = path
        self.name = path.name
        self.rule = (layout or {}).get("label") or _rule(first.header, target)
        self.target = target if self.rule == f"{target}=" else LABEL if self.rule else None
        self.columns = (SEQUENCE, self.target) if self.target else (SEQUENCE,)
        self.kinds = {SEQUENCE: "sequence"}
        self.layout: dict[str, Any] = {"format": "fasta", "label": self.rule}
        self.notes = [_said(self.rule)]

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        from mercer.datasets.fasta import records

        find = _finder(self.rule)
        found = records(self.path)
        start = 0
        while some := list(islice(found, size)):
            good = [place for place, record in enumerate(some) if record.letters]
            bad = [BadRow(r.line, f"{r.header!r} has no letters") for r in some if not r.letters]
            columns = {SEQUENCE: objects(some[place].letters for place in good)}
            if self.target is not None:
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


def _finder(rule: str | None) -> Callable[[str], str | None]:
    """Return the function that finds the label in a header."""
    if rule is None:
        return lambda header: None
    if rule.endswith("="):
        pattern = re.compile(rf"(?:^|[\s|;,]){re.escape(rule)}([^\s|;,]*)")
        return lambda header: (match := pattern.search(header)) and match.group(1)
    if rule == "|":
        return lambda header: header.rpartition("|")[2].strip() if "|" in header else None
    return lambda header: header.split()[-1] if len(header.split()) > 1 else None


def _said(rule: str | None) -> str:
    if rule is None:
        return "the first header is a single word, so the sequences have no labels"
    if rule == " ":
        return "the label of a sequence is the last word of its header"
    return f"the label of a sequence is what follows {rule!r} in its header"
