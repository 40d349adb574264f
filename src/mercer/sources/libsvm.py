"""Text files of LIBSVM: one example per line, a label and the entries that are not zero."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from mercer.sources.sheet import BadRow, Column
from mercer.sources.source import Piece, objects
from mercer.sources.textfile import file_errors, open_unpacked

__all__ = ["FEATURES", "LABEL", "Libsvm", "cut", "describe_sparse", "fit_width"]

FEATURES = "features"
LABEL = "label"
Lines = list[tuple[int, str]]


class Libsvm:
    """A file of LIBSVM or SVMlight: the rows of a sparse array, in a column called "features".

    A line is ``label index:value index:value …``, with indices that grow; what follows a ``#`` is
    a comment, and ``qid:…`` is left out. The array has a column 0 also if indices count from 1.

    Parameters
    ----------
    path : path
    width : int, optional
        The most columns that a row may have.
    zero_based : bool
        Whether 0 is an index.
    finite : bool
        Whether values that are NaN or infinite make a row bad.
    """

    unit = "line"
    target: str | None = LABEL
    columns = (FEATURES, LABEL)

    def __init__(
        self, path: Path, width: int | None = None, zero_based: bool = True, finite: bool = True
    ) -> None:
        self.path = path
        self.name = path.name
        self.width, self.zero_based, self.finite = width, zero_based, finite
        self.kinds: dict[str, str] = {}
        self.notes: list[str] = []
        self.layout: dict[str, Any] = {"format": "libsvm"}

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        with file_errors(self.path), open_unpacked(self.path) as file:
            texts = (line.decode("utf-8", "replace").partition("#")[0] for line in file)
            lines = ((number, line) for number, line in enumerate(texts, 1) if line.strip())
            start = 0
            while some := list(islice(lines, size)):
                yield self._piece(some, start)
                start += len(some)

    def _piece(self, some: Lines, start: int) -> Piece:
        """Return the rows of some lines."""
        parts = [line.split() for _, line in some]
        good = np.arange(len(some))
        bad: list[BadRow] = []
        try:
            matrix = self._matrix(parts)
        except ValueError:
            bad = [BadRow(number, why) for number, line in some if (why := self._problem(line))]
            wrong = {row.line for row in bad}
            good = np.array([i for i, (n, _) in enumerate(some) if n not in wrong], dtype=np.int64)
            parts = [parts[place] for place in good]
            matrix = self._matrix(parts)
        labels = objects(row[0] for row in parts)
        numbers = np.array([number for number, _ in some], dtype=np.int64)
        columns = {FEATURES: matrix, LABEL: labels}
        return Piece(columns, numbers[good], start + good, len(some), tuple(bad))

    def _matrix(self, parts: list[list[str]]) -> Any:
        """Return the entries of lines as a sparse array; raise ValueError if something is off."""
        from scipy import sparse

        entries = [row[1:] for row in parts]
        flat = ":".join(chain.from_iterable(entries))
        if "qid:" in flat:
            entries = [[e for e in row if not e.startswith("qid:")] for row in entries]
            flat = ":".join(chain.from_iterable(entries))
        split = flat.split(":") if flat else []
        starts = np.cumsum([0, *map(len, entries)])
        labels = np.array([float(row[0]) for row in parts])
        if len(split) != 2 * starts[-1] or "_" in flat or any("_" in row[0] for row in parts):
            raise ValueError
        found = np.fromiter(map(float, split), dtype=np.float64, count=len(split))
        indices, values = found[::2], found[1::2]
        steps = np.diff(indices)
        ends = starts[1:-1]
        steps[ends[(ends > 0) & (ends < len(indices))] - 1] = 1  # from one row to the next
        low, high = self._range
        whole = (indices == np.rint(indices)).all() and (indices >= low).all()
        whole &= (indices <= high).all() and (steps > 0).all()
        if not whole or not np.isfinite(labels).all():
            raise ValueError
        if self.finite and not np.isfinite(values).all():
            raise ValueError
        width = int(indices.max(initial=0)) + 1
        places = indices.astype(np.int64)
        return sparse.csr_array((values, places, starts), shape=(len(parts), width))

    @property
    def _range(self) -> tuple[int, int]:
        """The smallest and the largest index."""
        first = 0 if self.zero_based else 1
        # Indices of sparse arrays have 32 bits.
        return first, 2**31 - 1 if self.width is None else first + self.width - 1

    def _problem(self, line: str) -> str | None:
        """Say what is wrong with a line, or return None."""
        label, *entries = line.split()
        if not (_is_number(label) and math.isfinite(float(label))):
            return f"begins with {label!r}, but a line begins with a finite number, its label"
        low, high = self._range
        before = low - 1
        for entry in entries:
            index, colon, value = entry.partition(":")
            if index == "qid":
                continue
            if not colon or not index.removeprefix("+").isdecimal() or not _is_number(value):
                return f"has {entry!r}, but an entry is index:value, as in 3:0.5"
            place = int(index)
            if place < low:
                return f"has the index {place}, but indices count from 1; or pass zero_based=True"
            if place <= before:
                return f"has the index {place} after {before}, but indices must grow"
            if place > high:
                limit = f"{high} is the largest that can be read"
                said = limit if self.width is None else f"width={self.width}"
                return f"has the index {place}, but {said}"
            if self.finite and not math.isfinite(float(value)):
                return f"has {entry!r}, but a value is a finite number"
            before = place
        return None


def describe_sparse(name: str, raw: Any) -> Column:
    """Return the column of a sparse array; the smallest index tells whether it counts from 0."""
    first = 1 if not raw[:, [0]].nnz else 0
    width = raw.shape[1] - first
    if not width:
        return Column(name, "missing", "no line has an entry")
    mean = raw.nnz / max(raw.shape[0], 1)
    why = f"{width:,} numbers in a row, {mean:.3g} of them not zero on average"
    style = {"first": first, "width": width}
    return Column(name, "numeric", why, distinct=len(np.unique(raw.data)), style=style)


def fit_width(raw: Any, column: Column) -> Any:
    """Return rows with as many numbers as were learned from; what is beyond them is ignored."""
    return cut(raw, column.style["first"], column.style["width"])


def cut(raw: Any, first: int, width: int) -> Any:
    """Return some columns of a sparse array, which may have fewer."""
    raw = raw.copy()
    raw.resize(raw.shape[0], first + width)
    return raw[:, first:]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
