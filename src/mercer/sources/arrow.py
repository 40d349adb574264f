"""Parquet files and files of Arrow (Feather), read by pyarrow."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.source import Piece, objects, unique_names
from mercer.sources.textfile import file_errors, first_bytes

__all__ = ["INDEX", "Arrow", "entries", "library"]

INDEX = "__index_level_"  # how pandas calls the index in a file
MICROSECONDS = 86_400e6  # of a day


class Arrow:
    """A file with typed columns; its rows are counted from 1."""

    unit = "row"
    target: str | None = None

    def __init__(self, path: Path, form: str) -> None:
        self.arrow = library(path)
        self.path = path
        self.name = path.name
        self.form = form
        self.schema = self._schema()
        self.columns, self.notes = unique_names(self.schema.names)
        self.layout: dict[str, Any] = {"format": form}
        self.kinds = {}
        for name, field in zip(self.columns, self.schema, strict=True):
            if self.arrow.types.is_dictionary(field.type):
                self.kinds[name] = "categorical"
            elif name.startswith(INDEX):
                self.kinds[name] = "identifier"

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        places = {
            name: place
            for place, name in enumerate(self.columns)
            if wanted is None or name in wanted
        }
        start = 0
        with file_errors(self.path):
            for batch in self._batches(size):
                for first in range(0, batch.num_rows, size):
                    part = batch.slice(first, size)
                    columns = {
                        name: entries(self.arrow, part.column(place))
                        for name, place in places.items()
                    }
                    rows = np.arange(start, start + part.num_rows)
                    start += part.num_rows
                    yield Piece(columns, rows + 1, rows, part.num_rows)

    def _schema(self) -> Any:
        try:
            with file_errors(self.path):
                if self.form == "parquet":
                    import pyarrow.parquet as parquet

                    with parquet.ParquetFile(self.path) as file:
                        return file.schema_arrow
                with self._opened() as reader:
                    return reader.schema
        except self.arrow.ArrowException as error:
            raise self._broken(error) from error

    def _batches(self, size: int) -> Iterator[Any]:
        """Yield the rows as pyarrow has them."""
        try:
            if self.form == "parquet":
                import pyarrow.parquet as parquet

                with parquet.ParquetFile(self.path) as file:
                    yield from file.iter_batches(batch_size=size)
            else:
                with self._opened() as reader:
                    if hasattr(reader, "num_record_batches"):
                        for number in range(reader.num_record_batches):
                            yield reader.get_batch(number)
                    else:
                        yield from reader
        except self.arrow.ArrowException as error:
            raise self._broken(error) from error

    def _opened(self) -> Any:
        """Return pyarrow's reader of a file, a stream, or a file of the first Feather."""
        first = first_bytes(self.path, 8)
        if first.startswith(b"FEA1"):
            import pyarrow.feather as feather

            return feather.read_table(self.path).to_reader()
        ipc = self.arrow.ipc
        # Read and not mapped: a mapped file that becomes shorter ends the process.
        if first.startswith(b"ARROW1"):
            return ipc.open_file(self.arrow.OSFile(str(self.path)))
        return ipc.open_stream(self.arrow.OSFile(str(self.path)))

    def _broken(self, error: Exception) -> DomainError:
        return DomainError(f"{self.path} cannot be read: {error}")


def library(path: Path) -> Any:
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
        return spans.cast(arrow.float64()).to_numpy(zero_copy_only=False) / MICROSECONDS
    if types.is_integer(kind) and not array.null_count:
        return array.to_numpy(zero_copy_only=False)
    if types.is_timestamp(kind) or types.is_date(kind):
        times = array.cast(arrow.timestamp("us", getattr(kind, "tz", None)), safe=False)
        return times.to_numpy(zero_copy_only=False).astype("datetime64[us]")
    return objects(array.to_pylist())
