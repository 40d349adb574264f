"""Formats: how a file is told from others, and what reads it.

Each format is a `Format`. A program adds its own with `register_format`; `mercer.study` and
`mercer.sources.read` then read such files like any other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mercer.errors import DomainError
from mercer.sources.arff import Arff, begins_as_arff
from mercer.sources.arrow import Arrow
from mercer.sources.delimited import Delimited, SmilesFile
from mercer.sources.fasta import Fasta
from mercer.sources.libsvm import Libsvm
from mercer.sources.places import place_of
from mercer.sources.records import JsonLines
from mercer.sources.source import Frame, Source
from mercer.sources.textfile import first_bytes
from mercer.sources.workbooks import Database, open_workbook, what_archive

__all__ = ["Format", "Hints", "detect", "open_source", "register_format"]

BEGINNING = 2**16  # bytes of a file that tell its format
PACKED = (".gz", ".bz2")
# Files of others, by their first bytes, and what to do with them.
FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the table as CSV",
    b"\x93NUMPY": "an array of NumPy; write it as CSV, or use the library in Python",
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file; export the table as CSV or Parquet",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
}
JSON = re.compile(rb"\s*(\[\s*)?\{\s*\"")  # what no header of a table begins with
ZIP = b"PK\x03\x04"
CONTROL = bytes(set(range(1, 32)) - set(b"\t\n\r\f\v\x1b"))  # of zeros the line will be told
EXAMPLE = re.compile(rb"[+-]?[\d.eE+-]+(?:[ \t]+(?:qid|\d+):[+-]?[\d.eE+-]+)*[ \t]*(?:#.*)?")


@dataclass(frozen=True)
class Hints:
    """What is known about a file before it is opened.

    Attributes
    ----------
    target : str or None
        What the user calls the target.
    columns : collection of str
        Names of columns that should be there, where another file was read before.
    layout : mapping
        The layout of that file, as its source gave it.
    part : str or None
        The table that is meant, of a file with several: a sheet of a workbook, for example.

    Examples
    --------
    >>> Hints(target="kind").target
    'kind'
    """

    target: str | None = None
    columns: Collection[str] = ()
    layout: Mapping[str, Any] = field(default_factory=dict)
    part: str | None = None


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Parameters
    ----------
    name : str
    open : callable
        ``open(path, hints)`` returns a `Source`, or a DataFrame, whose columns are then looked at
        like those of any other.
    endings : tuple of str
        How names of such files end, in small letters: ``(".jsonl",)``. What says that a file is
        compressed, .gz or .bz2, is not looked at.
    marks : tuple of bytes
        What such files begin with.
    sniff : callable, optional
        ``sniff(beginning)`` tells by the first bytes of a file, unpacked, whether it is one.

    Examples
    --------
    >>> words = Format("words", lambda path, hints: None, (".words",), marks=(b"WORDS",))
    >>> words.name, words.endings
    ('words', ('.words',))
    """

    name: str
    open: Callable[[Path, Hints], Any]
    endings: tuple[str, ...] = ()
    marks: tuple[bytes, ...] = ()
    sniff: Callable[[bytes], bool] | None = None

    def fits(self, path: Path, beginning: bytes) -> bool:
        """Tell whether a file is one by its first bytes or by its name."""
        if beginning.startswith(self.marks) or _ending(path) in self.endings:
            return True
        return self.sniff is not None and self.sniff(beginning)


def _has_examples(beginning: bytes) -> bool:
    """Tell whether text begins with examples of LIBSVM."""
    whole = beginning if len(beginning) < BEGINNING else beginning.rpartition(b" ")[0]
    lines = [line.strip() for line in whole.splitlines()[:20]]
    lines = [line for line in lines if line and not line.startswith(b"#")]
    return any(b":" in line for line in lines) and all(map(EXAMPLE.fullmatch, lines))


def _open_graphs(folder: Path, _: Hints) -> Source:
    from mercer.sources.tu import GraphFolder  # with SciPy, which takes a while to load

    return GraphFolder(folder)


def _table(kind: type[Delimited]) -> Callable[[Path, Hints], Source]:
    return lambda path, hints: kind(path, hints.target, hints.columns, hints.layout.get("header"))


DELIMITED = Format("delimited", _table(Delimited), (".csv", ".tsv", ".tab", ".psv"))
GRAPHS = Format("graphs", _open_graphs)  # which are folders
BINARY = (
    Format("parquet", lambda path, _: Arrow(path, "parquet"), (".parquet", ".pq"), (b"PAR1",)),
    Format("sqlite", lambda path, hints: Database(path, hints.part), (".db", ".sqlite"),
           (b"SQLite format 3",)),
    Format("excel", lambda path, hints: open_workbook(path, hints.part), (".xlsx", ".xlsm"),
           (ZIP,)),
    Format("arrow", lambda path, _: Arrow(path, "arrow"), (".arrow", ".feather", ".ipc"),
           (b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")),
)  # fmt: skip
TEXTS = (
    Format("smi", _table(SmilesFile), (".smi", ".smiles")),
    Format("arff", lambda path, _: Arff(path), (".arff",), sniff=begins_as_arff),
    Format("jsonl", lambda path, _: JsonLines(path), (".jsonl", ".ndjson", ".json"),
           sniff=lambda beginning: JSON.match(beginning) is not None),
    Format("fasta", lambda path, hints: Fasta(path, hints.target, hints.layout),
           (".fasta", ".fa", ".fna", ".faa", ".ffn"),
           sniff=lambda beginning: beginning.lstrip().startswith(b">")),
    Format("libsvm", lambda path, _: Libsvm(path), (".libsvm", ".svm", ".svmlight"),
           sniff=_has_examples),
    DELIMITED,
)  # fmt: skip
_registered: list[Format] = []


def register_format(format: Format) -> Format:
    """Add a format of your own, which is asked before mercer's; the last one added comes first.

    Another format of the same name that was added before is replaced.

    Parameters
    ----------
    format : Format

    Returns
    -------
    Format
        The same one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from mercer.sources import Format, read, register_format
    >>> lines = Format("jsonl", lambda path, _: pd.read_json(path, lines=True), (".jsonl",))
    >>> _ = register_format(lines)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "fruit.jsonl"
    ...     _ = file.write_text(
    ...         '{"weight": 1.5, "kind": "pear"}\\n{"weight": 2, "kind": "plum"}\\n'
    ...     )
    ...     sheet = read(file, "kind")
    >>> sheet.X["weight"].tolist(), sheet.y.tolist()
    ([1.5, 2.0], ['pear', 'plum'])
    """
    if not isinstance(format, Format):
        raise DomainError(f"register_format takes a Format, found {type(format).__name__}")
    _registered[:] = [format, *(other for other in _registered if other.name != format.name)]
    return format


def detect(path: Path) -> Format:
    """Return the format of a file or folder.

    Formats that were registered are asked first. For mercer's own, what a file begins with says
    more than its name: marks of Parquet and Arrow first, then the end of its name, then > for
    FASTA and ``label index:value`` for LIBSVM; any other text is a table.
    """
    beginning = b"" if path.is_dir() else first_bytes(path, BEGINNING)
    for format in _registered:
        if format.fits(path, beginning):
            return format
    if path.is_dir():
        return GRAPHS
    if beginning.startswith(ZIP) and (what := what_archive(path)) is not None:
        raise DomainError(f"{path} is {what}")
    for format in BINARY:
        if beginning.startswith(format.marks):
            return format
    _refuse_foreign(path, beginning)
    ending = _ending(path)
    for format in TEXTS:
        if ending in format.endings:
            return format
    if any(ending in format.endings for format in BINARY):
        raise DomainError(f"{path} is called {ending}, but it does not begin as such a file")
    return next((f for f in TEXTS if f.sniff and f.sniff(beginning)), DELIMITED)


def open_source(
    data: Any, target: str | None = None, recipe: Mapping[str, Any] | None = None
) -> Source:
    """Return the source of a file, a folder or a DataFrame; a recipe helps to tell its layout."""
    if not isinstance(data, str | os.PathLike):
        return Frame(data)
    path, part, called = place_of(data)
    hints = Hints(target, part=part)
    if recipe:
        names = [column["name"] for column in recipe["columns"]]
        hints = Hints(target, names, recipe["layout"], part)
    format = detect(path)
    if part is not None and format.name not in ("excel", "sqlite"):
        raise DomainError(f"{path} holds one table only, so that ::{part} names nothing in it")
    found: Any = format.open(path, hints)
    if not hasattr(found, "pieces"):
        found = Frame(found, path if part is None else Path(f"{path}::{part}"), format.name)
    if called is not None:
        found.name = called
    return found


def _ending(path: Path) -> str:
    """Return how the name of a file ends, apart from how it is packed."""
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in PACKED]
    return endings[-1] if endings else ""


def _refuse_foreign(path: Path, beginning: bytes) -> None:
    """Refuse what is known to be something else, and what is no text in any encoding."""
    for mark, what in FOREIGN.items():
        if beginning.startswith(mark):
            raise DomainError(f"{path} is {what}")
    wide = beginning.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16, half of which is zeros
    control = len(beginning) - len(beginning.translate(None, CONTROL))
    if not wide and control > 0.01 * len(beginning):  # a text has hardly any
        raise DomainError(f"{path} is not a text file, nor one of those that can be read")
