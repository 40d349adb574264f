"""Parquet files and files of Arrow (Feather), read by pyarrow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.source import Piece, objects, unique_names
from mercer.sources.textfile import file_errors, first_bytes

__all__ = ["PANDAS_INDEX", "Arrow", "entries", "exactly", "load_pyarrow", "open_batches"]

PANDAS_INDEX = "__index_level_"  # how pandas calls the index in a file


class Arrow:
    """A file with typed columns as a source; its rows are counted from 1."""

    unit = "row"
    target: str | None = None

    def __init__(self, path: Path, form: str) -> None:
        self.arrow = load_pyarrow(path)
        self.path = path
        self.name = path.name
        self.form = form
        with open_batches(path, form) as file:
            self.schema = file.schema
        self.columns, self.notes = unique_names(self.schema.names)
        self.layout: dict[str, Any] = {"format": form}
        self.kinds = {}
        for name, field in zip(self.columns, self.schema, strict=True):
            if self.arrow.types.is_dictionary(field.type):
                self.kinds[name] = "categorical"
            elif name.startswith(PANDAS_INDEX):
                self.kinds[name] = "identifier"

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        # By place, because two columns may have the same name in the file.
        places = {
            name: place
            for place, name in enumerate(self.columns)
            if wanted is None or name in wanted
        }
        start = 0
        with open_batches(self.path, self.form) as file:
            for part in file.batches(size):
                columns = {
                    name: entries(self.arrow, part.column(place)) for name, place in places.items()
                }
                rows = np.arange(start, start + part.num_rows)
                start += part.num_rows
                yield Piece(columns, rows + 1, rows, part.num_rows)


@contextmanager
def open_batches(path: Path, form: str) -> Iterator[ParquetBatches | ArrowBatches]:
    """Open a file, and turn what pyarrow says about it into one sentence."""
    arrow = load_pyarrow(path)
    kind = ParquetBatches if form == "parquet" else ArrowBatches
    try:
        with file_errors(path), kind(path, arrow) as file:
            yield file
    except arrow.ArrowException as error:
        raise DomainError(f"{path} cannot be read: {error}") from error


class ParquetBatches:
    """A Parquet file, of which only the columns that are wanted are read."""

    def __init__(self, path: Path, arrow: Any) -> None:
        import pyarrow.parquet as parquet

        # With a buffer, memory grows with the batch and not with what the writer took at a time.
        self.file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20)
        self.schema = self.file.schema_arrow

    def __enter__(self) -> ParquetBatches:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    @property
    def counts(self) -> list[int]:
        """Rows of what can be read on its own: of each row group."""
        found = self.file.metadata
        return [found.row_group(number).num_rows for number in range(found.num_row_groups)]

    def batches(
        self, rows: int, wanted: list[str] | None = None, only: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """Yield batches of at most so many rows, with the wanted columns (all without it).

        With `only` those of some row groups.
        """
        groups = None if only is None else list(only)
        found = self.file.iter_batches(batch_size=rows, columns=wanted, row_groups=groups)
        for batch in found:
            yield from _slices(batch, rows)


class ArrowBatches:
    """An Arrow (Feather) file or stream, whose batches are as they were written.

    It is not mapped into memory: a mapped file that becomes shorter ends the process. A file of
    the first Feather is read as a whole.
    """

    def __init__(self, path: Path, arrow: Any) -> None:
        first = first_bytes(path, 8)
        self.file: Any = None
        if first.startswith(b"FEA1"):
            import pyarrow.feather as feather

            self.reader = feather.read_table(path).to_reader()
        else:
            self.file = arrow.OSFile(str(path))
            kind = arrow.ipc.open_file if first.startswith(b"ARROW1") else arrow.ipc.open_stream
            try:
                self.reader = kind(self.file)
            except BaseException:
                self.file.close()
                raise
        self.schema = self.reader.schema

    def __enter__(self) -> ArrowBatches:
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()

    @property
    def counts(self) -> list[int]:
        """Rows of what can be read on its own; a stream of Arrow must be read from its start."""
        if not hasattr(self.reader, "num_record_batches"):
            return [sum(batch.num_rows for batch in self.reader)]
        numbers = range(self.reader.num_record_batches)
        return [self.reader.get_batch(number).num_rows for number in numbers]

    def batches(
        self, rows: int, wanted: list[str] | None = None, only: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """Yield batches of at most so many rows, with the wanted columns (all without it).

        With `only` those of some batches of the file.
        """
        reader: Any = self.reader
        if hasattr(reader, "num_record_batches"):
            numbers = range(self.reader.num_record_batches) if only is None else only
            reader = map(self.reader.get_batch, numbers)
        for batch in reader:
            yield from _slices(batch if wanted is None else batch.select(wanted), rows)


def exactly(batches: Iterator[Any], rows: int, arrow: Any) -> Iterator[Any]:
    """Yield the same rows in batches of exactly so many, but for the last one.

    How long the batches of a file are depends on who wrote it, and on the types of the columns.
    """
    held: list[Any] = []
    count = 0
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, rows - count)
            batch = batch.slice(part.num_rows)
            held.append(part)
            count += part.num_rows
            if count == rows:
                yield _joined(held, arrow)
                held, count = [], 0
    if held:
        yield _joined(held, arrow)


def _joined(batches: list[Any], arrow: Any) -> Any:
    if len(batches) == 1:
        return batches[0]
    table = arrow.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    return table.to_batches()[0]


def _slices(batch: Any, rows: int) -> Iterator[Any]:
    """Yield the rows of a batch, which may have more than are wanted at once."""
    for first in range(0, batch.num_rows, rows):
        yield batch.slice(first, rows)


def load_pyarrow(path: Path) -> Any:
    """Return pyarrow, or say how to install it."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise DomainError(
            f"{path} is read by pyarrow, which is not installed: pip install 'mercer[tables]'"
        ) from error
    return pyarrow


def entries(arrow: Any, array: Any) -> np.ndarray:
    """Return a column as numbers or times if the file says so, else as objects."""
    types = arrow.types
    kind = array.type
    if types.is_dictionary(kind):
        return entries(arrow, array.dictionary_decode())
    if types.is_floating(kind) or types.is_decimal(kind):
        return array.cast(arrow.float64()).to_numpy(zero_copy_only=False)
    if types.is_duration(kind):  # in days, as those of a DataFrame
        spans = array.cast(arrow.duration("us"), safe=False).cast(arrow.int64())
        return spans.cast(arrow.float64()).to_numpy(zero_copy_only=False) / 86_400e6  # of a day
    if types.is_integer(kind) and not array.null_count:
        return array.to_numpy(zero_copy_only=False)
    if types.is_timestamp(kind) or types.is_date(kind):
        times = array.cast(arrow.timestamp("us", getattr(kind, "tz", None)), safe=False)
        return times.to_numpy(zero_copy_only=False).astype("datetime64[us]")
    return objects(array.to_pylist())
