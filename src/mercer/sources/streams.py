"""Files that are larger than the memory, as streams: Parquet, Arrow, and tables of text."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.arrow import (
    PANDAS_INDEX,
    ArrowBatches,
    ParquetBatches,
    entries,
    exactly,
    load_pyarrow,
    open_batches,
)
from mercer.sources.entries import days
from mercer.sources.formats import detect
from mercer.sources.reading import chunks, read, recipe
from mercer.sources.source import suggest_name
from mercer.sources.textfile import first_bytes

if TYPE_CHECKING:
    from mercer.domains import Stream

__all__ = ["stream"]

CHUNK_BYTES = 32_000_000  # of the numbers of a chunk
PARQUET = (".parquet", ".pq")

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def stream(
    path: Paths,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    rows: int | None = None,
) -> Stream:
    """Return the rows of files as a stream of DataFrames, of which one at a time is in memory.

    The columns keep their names. Those of Parquet and Arrow are what the files say: numbers, and
    truth values as 0 and 1, are numbers; dates and times are days since 1970; everything else is
    a column of objects. Numbers that are missing are NaN. Of tables of text and of LIBSVM a sample
    is read first, as `read` does it, and decides what each column is.

    Parameters
    ----------
    path : path, or several
        Several files are read one after the other; a folder stands for its Parquet files in the
        order of their names, and so does a pattern such as ``"days/*.parquet"``.
    target : str, optional
        The column that is to be learned; it becomes `y` of each chunk.
    columns : sequence of str, optional
        Those to learn from; all others than the target without it.
    rows : int, optional
        The most rows of a chunk. Without it, a chunk has about 32 MB.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mercer.domains import VECTORS
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "fruit.csv"
    ...     _ = file.write_text("weight,height,kind\\n1.5,2,pear\\n1.2,3,pear\\n2,2,plum\\n")
    ...     survey = stream(file, "kind").survey(VECTORS)
    >>> survey.count, survey.width, survey.target.tolist()
    (3, 2, ['pear', 'pear', 'plum'])
    """
    from mercer.domains.chunks import require_whole
    from mercer.domains.streams import Stream

    if rows is not None:
        rows = require_whole("rows", rows)
    if isinstance(columns, str):
        raise DomainError(f"columns must be a list of names, found {columns!r}")
    paths = _paths(path)
    if all(detect(file).name in ("parquet", "arrow") for file in paths):
        return Stream(ArrowChunks(paths, target, columns, rows))
    if len(paths) > 1:
        raise DomainError("several files are read only if they are Parquet or Arrow")
    return Stream(TextChunks(paths[0], target, columns, rows))


class ArrowChunks:
    """Files of Parquet or Arrow, batch after batch, from the first one on at each pass."""

    fresh = True  # no chunk shares memory with another

    def __init__(
        self,
        paths: Sequence[Path],
        target: str | None,
        columns: Sequence[str] | None,
        rows: int | None,
    ) -> None:
        self.paths, self.target = paths, target
        with self._open(paths[0]) as file:
            names = file.schema.names
        if columns is None:
            columns = [n for n in names if n != target and not n.startswith(PANDAS_INDEX)]
        self.columns = list(columns)
        if target in self.columns:
            raise DomainError(f"the target {target!r} is among the columns to learn from")
        if not self.columns:
            raise DomainError(f"{paths[0]} has no column to learn from")
        self.wanted = [*self.columns, *([] if target is None else [target])]
        _require(self.wanted, names, paths[0])
        self.rows = rows or max(1, CHUNK_BYTES // (8 * len(self.columns)))

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for path in self.paths:
            with self._open(path) as file:
                _require(self.wanted, file.schema.names, path)
                for batch in exactly(file.batches(self.rows, self.wanted), self.rows, self.arrow):
                    yield self._chunk(batch)

    def parts(self) -> Iterator[ArrowPart]:
        """Yield the same chunks as parts, for which every file is looked at now."""
        for path in self.paths:
            with self._open(path) as file:
                _require(self.wanted, file.schema.names, path)
                counts = tuple(file.counts)
            total = sum(counts)
            lean = copy(self)  # which travels without the names of all other files
            lean.paths = [path.absolute()]
            for start in range(0, total, self.rows):
                yield ArrowPart(lean, path.absolute(), start, min(start + self.rows, total))

    def read(self, path: Path, start: int, stop: int) -> tuple[Any, Any]:
        """Return some rows of a file, of which only what holds them is read."""
        with self._open(path) as file:
            _require(self.wanted, file.schema.names, path)
            ends = np.cumsum([0, *file.counts])
            if stop > ends[-1]:
                raise DomainError(f"{path} has {ends[-1]} rows, but {stop} when it was first read")
            only = [
                number
                for number, (first, last) in enumerate(itertools.pairwise(ends.tolist()))
                if first < stop and last > start
            ]
            before = int(ends[only[0]])
            batches = file.batches(self.rows, self.wanted, only)
            cut = _between(batches, start - before, stop - before)
            (batch,) = exactly(cut, stop - start, self.arrow)
            return self._chunk(batch)

    @property
    def arrow(self) -> Any:
        return load_pyarrow(self.paths[0])

    def _chunk(self, batch: Any) -> tuple[Any, Any]:
        import pandas as pd

        parts = [_values(self.arrow, batch.column(name)) for name in self.columns]
        if all(part.dtype.kind == "f" for part in parts):  # one array, which nobody copies
            X = pd.DataFrame(np.column_stack(parts), columns=self.columns, copy=False)
        else:
            named = {
                name: pd.Series(part, dtype=part.dtype, copy=False)
                for name, part in zip(self.columns, parts, strict=True)
            }
            X = pd.DataFrame(named, columns=self.columns)
        y = None if self.target is None else _labels(self.arrow, batch.column(self.target))
        return X, y

    @contextmanager
    def _open(self, path: Path) -> Iterator[ParquetBatches | ArrowBatches]:
        if first_bytes(path, 4) == b"FEA1":
            raise DomainError(
                f"{path} is a file of the first Feather, which is read only as a whole; write it "
                "as Parquet"
            )
        with open_batches(path, detect(path).name) as file:
            yield file


@dataclass(frozen=True)
class ArrowPart:
    """Some rows of a file of Parquet or Arrow."""

    chunks: ArrowChunks
    path: Path
    start: int
    stop: int

    @property
    def count(self) -> int:
        return self.stop - self.start

    @property
    def title(self) -> str:
        from mercer.domains.chunks import describe_rows

        return f"{self.path}, {describe_rows(self.start, self.count)}"

    @property
    def identity(self) -> str:
        from mercer.domains.parts import file_identity

        columns = f"{self.chunks.columns} {self.chunks.target!r}"
        return f"{file_identity(self.path)} {self.start} {self.stop} {columns}"

    def read(self) -> tuple[Any, Any]:
        return self.chunks.read(self.path, self.start, self.stop)


def _between(batches: Iterator[Any], start: int, stop: int) -> Iterator[Any]:
    """Yield the rows from one place to another, and read no further."""
    first = 0
    for batch in batches:
        low, high = max(start - first, 0), min(stop - first, batch.num_rows)
        if low < high:
            yield batch.slice(low, high - low)
        first += batch.num_rows
        if first >= stop:
            return


class TextChunks:
    """A table that is read as the sample of it was, piece after piece."""

    fresh = True

    def __init__(
        self, path: Path, target: str | None, columns: Sequence[str] | None, rows: int | None
    ) -> None:
        self.path = path
        sheet = read(path, target, limit=10_000)  # rows that tell the kinds of the columns
        self.recipe = recipe(sheet)
        if columns is not None:
            known = {column.name: column for column in sheet.columns}
            _require(columns, list(known), path)
            for name in columns:
                if not known[name].used:
                    raise DomainError(
                        f"nothing can be learned from the column {name!r} of {path}, which is "
                        f"{known[name].kind}: {known[name].why}"
                    )
            steps = {step["name"]: step for step in self.recipe["columns"]}
            self.recipe["columns"] = [steps[name] for name in columns]
        width = sheet.X.shape[1] if hasattr(sheet.X, "iloc") else 100
        self.rows = rows or max(1, CHUNK_BYTES // (8 * max(width, 1)))

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for sheet in chunks(self.path, self.recipe, self.rows):
            yield sheet.X, sheet.y

    def parts(self) -> Iterator[TextPart]:
        """Yield the same chunks as parts; the file is read once for how many there are.

        Rows of text have no places of their own, so that a part is found by going through the
        rows before it.
        """
        for number, sheet in enumerate(self):
            yield TextPart(self, self.path.absolute(), number, len(sheet[0]))


@dataclass(frozen=True)
class TextPart:
    """A chunk of a table of text."""

    chunks: TextChunks
    path: Path
    number: int
    count: int

    @property
    def title(self) -> str:
        return f"{self.path}, chunk {self.number}"

    @property
    def identity(self) -> str:
        from mercer.domains.parts import file_identity

        how = f"{self.chunks.rows} {self.chunks.recipe}"
        return f"{file_identity(self.path)} {self.number} {how}"

    def read(self) -> tuple[Any, Any]:
        source = chunks(self.path, self.chunks.recipe, self.chunks.rows)
        sheet = next(itertools.islice(source, self.number, None), None)
        if sheet is None:
            raise DomainError(f"{self.path} is shorter than it was when it was first read")
        return sheet.X, sheet.y


def _paths(path: Paths) -> list[Path]:
    """Return the files that a path, a folder or several paths stand for."""
    if not isinstance(path, str | os.PathLike):
        found = [file for one in path for file in _paths(one)]
        if not found:
            raise DomainError("there are no files to read")
        return found
    one = Path(path)
    if glob.has_magic(str(path)) and not one.exists():
        found = [Path(file) for file in sorted(glob.glob(str(path), recursive=True))]
        if not found:
            raise DomainError(f"no file has a name like {path}")
        return found
    if not one.is_dir():
        return [one]
    found = sorted(
        file
        for file in one.iterdir()
        if file.suffix.lower() in PARQUET and file.is_file() and not file.name.startswith(".")
    )
    if not found:
        raise DomainError(f"there is no Parquet file in the folder {one}")
    return found


def _require(wanted: Sequence[str], names: Sequence[str], path: Path) -> None:
    for name in wanted:
        if name not in names:
            raise DomainError(f"{path} has no column {name!r}{suggest_name(name, names)}")
        if list(names).count(name) > 1 or list(wanted).count(name) > 1:
            raise DomainError(f"{path} has two columns called {name!r}; rename one of them")


def _values(arrow: Any, array: Any) -> np.ndarray:
    """Return a column to learn from: floats for numbers and times, objects for the rest."""
    types = arrow.types
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if types.is_float32(array.type) or types.is_float64(array.type):
        return array.to_numpy(zero_copy_only=False)
    if types.is_boolean(array.type):
        array = array.cast(arrow.int8())
    if types.is_integer(array.type):
        array = array.cast(arrow.float64(), safe=False)
    found = entries(arrow, array)
    return days(found) if found.dtype.kind == "M" else found


def _labels(arrow: Any, array: Any) -> np.ndarray:
    """Return the target as it is: numbers, truth values, or objects."""
    if arrow.types.is_boolean(array.type) and not array.null_count:
        return array.to_numpy(zero_copy_only=False)
    return entries(arrow, array)
