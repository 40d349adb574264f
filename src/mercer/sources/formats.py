"""Which format a file has, by its beginning and by the end of its name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mercer.errors import DomainError
from mercer.sources.source import Source
from mercer.sources.textfile import first_bytes

__all__ = ["detect", "open_source"]

SUFFIXES = {
    ".csv": "delimited", ".tsv": "delimited", ".tab": "delimited", ".psv": "delimited",
    ".smi": "smi", ".smiles": "smi",
    ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm",
    ".fasta": "fasta", ".fa": "fasta", ".fna": "fasta", ".faa": "fasta", ".ffn": "fasta",
}  # fmt: skip
BEGINNING = 2**16  # bytes that tell the format
PACKED = (".gz", ".bz2")
MARKS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
}
OTHERS = {
    b"PK\x03\x04": "an Excel workbook or another zip archive; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the table as CSV",
    b"\x93NUMPY": "an array of NumPy; write it as CSV, or use the library in Python",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "a database of SQLite; export the table as CSV",
    b"\x89HDF": "an HDF5 file; export the table as CSV or Parquet",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
}
JSON = re.compile(rb"\s*(\[\s*)?\{\s*\"")  # what no header of a table begins with
CONTROL = bytes(set(range(1, 32)) - set(b"\t\n\r\f\v\x1b"))  # of zeros the line will be told
MOST_CONTROL = 0.01  # share of the bytes of a text
EXAMPLE = re.compile(rb"[+-]?[\d.eE+-]+(?:[ \t]+(?:qid|\d+):[+-]?[\d.eE+-]+)*[ \t]*(?:#.*)?")


def detect(path: Path) -> str:
    """Return the format of a file or folder.

    What a file begins with says more than its name: marks of Parquet and Arrow first, then the
    end of its name, then > for FASTA and ``label index:value`` for LIBSVM; any other text is a
    table.
    """
    if path.is_dir():
        return "graphs"
    first = first_bytes(path, BEGINNING)
    for mark, known in MARKS.items():
        if first.startswith(mark):
            return known
    for mark, what in OTHERS.items():
        if first.startswith(mark):
            raise DomainError(f"{path} is {what}")
    _require_text(path, first)
    if JSON.match(first):
        raise DomainError(f"{path} is JSON; save the table as CSV")
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in PACKED]
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    if suffixes and suffixes[-1] in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
        raise DomainError(f"{path} is called {suffixes[-1]}, but it does not begin as such a file")
    if first.lstrip().startswith(b">"):
        return "fasta"
    return "libsvm" if _has_examples(first) else "delimited"


def _require_text(path: Path, first: bytes) -> None:
    """Refuse what is no text in any encoding."""
    wide = first.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16, half of which is zeros
    others = len(first) - len(first.translate(None, CONTROL))
    if not wide and others > MOST_CONTROL * len(first):
        raise DomainError(f"{path} is not a text file, nor one of those that can be read")


def _has_examples(first: bytes) -> bool:
    """Tell whether text begins with examples of LIBSVM."""
    whole = first if len(first) < BEGINNING else first.rpartition(b" ")[0]
    lines = [line.strip() for line in whole.splitlines()[:20]]
    lines = [line for line in lines if line and not line.startswith(b"#")]
    return any(b":" in line for line in lines) and all(map(EXAMPLE.fullmatch, lines))


def open_source(
    data: Any, target: str | None = None, recipe: Mapping[str, Any] | None = None
) -> Source:
    """Return the source of a file, a folder or a DataFrame; a recipe helps to tell its layout."""
    if not isinstance(data, str | os.PathLike):
        from mercer.sources.source import Frame

        return Frame(data)
    path = Path(data)
    layout = recipe["layout"] if recipe else {}
    known = [column["name"] for column in recipe["columns"]] if recipe else ()
    header = layout.get("header")
    form = detect(path)
    if form == "delimited":
        from mercer.sources.delimited import Delimited

        return Delimited(path, target, known, header)
    if form == "smi":
        from mercer.sources.delimited import SmilesFile

        return SmilesFile(path, target, known, header)
    if form == "libsvm":
        from mercer.sources.libsvm import Libsvm

        return Libsvm(path)
    if form == "fasta":
        from mercer.sources.fasta import Fasta

        return Fasta(path, target, layout)
    if form == "graphs":
        from mercer.sources.graphs import Graphs

        return Graphs(path)
    from mercer.sources.arrow import Arrow

    return Arrow(path, form)
