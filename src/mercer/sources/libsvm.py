"""Text files of LIBSVM as sources: a label, and the numbers that are not zero."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mercer.sources.sheet import BadRow, Column
from mercer.sources.source import Piece, objects
from mercer.sources.textfile import file_errors

__all__ = ["FEATURES", "Libsvm", "describe", "fitted"]

FEATURES = "features"
LABEL = "label"
LARGEST = 2**31 - 1  # index that can be read


class Libsvm:
    """A file of LIBSVM: the rows of a sparse array, in a column called "features".

    Whether indices count from 0 or from 1 is told by the smallest one.
    """

    unit = "line"
    target: str | None = LABEL
    columns = (FEATURES, LABEL)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.kinds: dict[str, str] = {}
        self.notes: list[str] = []
        self.layout: dict[str, Any] = {"format": "libsvm"}

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        from mercer.datasets.libsvm import lines

        with file_errors(self.path):
            rows = ((number, line) for number, line in lines(self.path) if line.strip())
            start = 0
            while some := list(islice(rows, size)):
                yield _piece(some, start)
                start += len(some)


def describe(name: str, raw: Any) -> Column:
    """Return the column of a sparse array."""
    first = 1 if not raw[:, [0]].nnz else 0
    width = raw.shape[1] - first
    if not width:
        return Column(name, "missing", "no line has an entry")
    mean = raw.nnz / max(raw.shape[0], 1)
    why = f"{width:,} numbers in a row, {mean:.3g} of them not zero on average"
    style = {"first": first, "width": width}
    return Column(name, "numeric", why, distinct=len(np.unique(raw.data)), style=style)


def fitted(raw: Any, column: Column) -> Any:
    """Return rows with as many numbers as were learned from; what is beyond them is ignored."""
    first, width = column.style["first"], column.style["width"]
    raw = raw.copy()
    raw.resize(raw.shape[0], first + width)
    return raw[:, first:]


def _piece(some: list[tuple[int, str]], start: int) -> Piece:
    """Return the rows of some lines."""
    parts = [line.split() for _, line in some]
    good = np.arange(len(some))
    bad: list[BadRow] = []
    try:
        matrix = _matrix(parts)
    except ValueError:
        good, bad = _apart(some)
        parts = [parts[place] for place in good]
        matrix = _matrix(parts)
    labels = objects(row[0] for row in parts)
    numbers = np.array([number for number, _ in some], dtype=np.int64)
    columns = {FEATURES: matrix, LABEL: labels}
    return Piece(columns, numbers[good], start + good, len(some), tuple(bad))


def _matrix(parts: list[list[str]]) -> Any:
    """Return the entries of lines as a sparse array, or raise ValueError if something is off.

    The column 0 is there also if indices count from 1.
    """
    from scipy import sparse

    entries = [[e for e in row[1:] if not e.startswith("qid:")] for row in parts]
    flat = [e for row in entries for e in row]
    split = ":".join(flat).split(":") if flat else []
    if len(split) != 2 * len(flat) or not all(map(_is_number, (row[0] for row in parts))):
        raise ValueError
    found = np.fromiter(map(float, split), dtype=np.float64, count=len(split))
    indices, values = found[::2], found[1::2]
    starts = np.cumsum([0, *map(len, entries)])
    steps = np.diff(indices)
    steps[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < len(indices))] - 1] = 1
    whole = (indices == np.rint(indices)).all() and (indices >= 0).all()
    whole &= (indices <= LARGEST).all()
    if not whole or (steps <= 0).any() or not np.isfinite(values).all():
        raise ValueError
    width = int(indices.max(initial=0)) + 1
    places = indices.astype(np.int64)
    return sparse.csr_array((values, places, starts), shape=(len(parts), width))


def _is_number(text: str) -> bool:
    return bool(np.isfinite(float(text))) and "_" not in text


def _apart(some: list[tuple[int, str]]) -> tuple[np.ndarray, list[BadRow]]:
    """Return the places of the lines that are good, and the bad ones."""
    from mercer.datasets.libsvm import wrong

    good, bad = [], []
    for place, (number, line) in enumerate(some):
        problem = wrong(line, None, True) or _wrong_value(line)
        if problem:
            bad.append(BadRow(number, problem))
        else:
            good.append(place)
    return np.array(good, dtype=np.int64), bad


def _wrong_value(line: str) -> str | None:
    """Say which number of a line that is otherwise right cannot be learned from."""
    for part in line.split()[1:]:
        if not part.startswith("qid:") and not np.isfinite(float(part.partition(":")[2])):
            return f"has {part!r}, but a value is a finite number"
    return None
