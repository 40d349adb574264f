"""Sequences from FASTA files: a line that begins with > and says what, then the letters."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mercer.datasets.dataset import Dataset
from mercer.datasets.libsvm import OPEN
from mercer.errors import DomainError

__all__ = ["read_fasta"]


class Record(NamedTuple):
    """One sequence of a file, with the line of its header."""

    line: int
    header: str
    letters: str


def read_fasta(
    path: str | os.PathLike[str], label: str | Callable[[str], Any] | None = None
) -> Dataset:
    """Return the sequences of a FASTA file as strings, capital and small letters as they are.

    Parameters
    ----------
    path : path
        May be compressed by gzip or bzip2. Lines of a sequence are put together without spaces;
        empty lines and lines that begin with ; are skipped.
    label : str or callable, optional
        Where the header, the line after >, has the label: a regular expression with a group,
        such as ``r"class=(\\w+)"``; any other text is a separator, after whose last occurrence
        the label stands; a function gets the header. Without one, y is NaN.

    Returns
    -------
    Dataset
        X is an array of strings; ``extra["ids"]`` has the first word of each header,
        ``extra["descriptions"]`` the rest.

    Examples
    --------
    >>> X, y = read_fasta("promoters.fasta", label="|")  # doctest: +SKIP
    """
    path = Path(path)
    found = list(records(path))
    if not found:
        raise DomainError(f"{path} has no sequence: no line begins with >")
    for record in found:
        if not record.letters:
            raise DomainError(f"{path}: line {record.line}: {record.header!r} has no letters")
    X = np.empty(len(found), dtype=object)
    X[:] = [record.letters for record in found]
    words = [record.header.split(maxsplit=1) for record in found]
    extra = {
        "ids": tuple(word[0] if word else "" for word in words),
        "descriptions": tuple(word[1] if len(word) > 1 else "" for word in words),
    }
    if label is None:
        return Dataset(X, np.full(len(X), np.nan), extra=extra)
    y = _labels(path, found, label)
    names = tuple(map(str, np.unique(y))) if y.dtype.kind in "US" else ()
    return Dataset(X, y, names, extra)


def records(path: Path) -> Iterator[Record]:
    """Yield the sequences of a file, also those without letters."""
    line, header = 0, ""
    letters: list[str] | None = None
    for number, text in _lines(path):
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
    if letters is not None:
        yield Record(line, header, "".join(letters))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that say something, numbered from 1."""
    try:
        with OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8-sig") as file:
            for number, text in enumerate(file, 1):
                if text.strip() and not text.startswith(";"):
                    yield number, text.rstrip("\r\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DomainError(f"{path} cannot be read as a FASTA file: {error}") from error


def _labels(path: Path, records: list[Record], label: Any) -> np.ndarray:
    """Return the label of each header, or say in which line there is none."""
    find = label if callable(label) else _finder(label)
    found = []
    for record in records:
        try:
            answer = find(record.header)
        except Exception as error:
            raise DomainError(
                f"{path}: line {record.line}: no label in {record.header!r}: {error}"
            ) from error
        if answer is None or answer == "":
            raise DomainError(
                f"{path}: line {record.line}: {record.header!r} has no label by {label!r}"
            )
        found.append(answer)
    return np.array(found)


def _finder(label: str) -> Callable[[str], str | None]:
    """Return the function that finds a label by a regular expression or a separator."""
    try:
        pattern = re.compile(label)
    except (re.error, TypeError):
        pattern = None
    if pattern is not None and pattern.groups:
        return lambda header: (match := pattern.search(header)) and match.group(1)
    if not isinstance(label, str) or not label:
        raise DomainError(f"label must be a text or a function, found {label!r}")
    return lambda header: header.rpartition(label)[2].strip() if label in header else None
