"""Parts: chunks of a stream that can be read on their own, by whoever needs one.

A stream is read from its first chunk on. Where several computers share the work, each reads the
chunks that it works on, so a source of chunks says what its parts are: small objects that travel,
and read their own rows as often as they are asked to. Files and mapped arrays have parts, and so
has a function of the number of a chunk (`Stream.numbered`). One that only iterates has none.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mercer.domains.chunks import describe_rows
from mercer.domains.memmap import mapping, place_in_file, read_rows
from mercer.errors import DomainError

__all__ = [
    "Divisible", "HeldRows", "MappedRows", "Numbered", "NumberedPart", "Part", "file_identity",
    "portable",
]  # fmt: skip


class Part(Protocol):
    """A chunk that can be read again and again, wherever its source can be reached."""

    @property
    def title(self) -> str:
        """What errors call it: a file and its rows, or a number."""

    @property
    def count(self) -> int | None:
        """How many rows it has, if that is known without reading it."""

    @property
    def identity(self) -> str | None:
        """What tells its rows from others without reading them; None if nothing does."""

    def read(self) -> Any:
        """Return the chunk as a user's iterator would."""


@runtime_checkable
class Divisible(Protocol):
    """A source of chunks that can be read in parts; they are those of the iteration."""

    def parts(self) -> Sequence[Part]:
        """Return all of them, in the order of the iteration."""


@dataclass(frozen=True)
class Numbered:
    """A function of the number of a chunk, and how many there are."""

    function: Callable[[int], Any]
    count: int

    def __iter__(self) -> Iterator[Any]:
        return (self.function(number) for number in range(self.count))

    def parts(self) -> list[NumberedPart]:
        return [NumberedPart(self.function, number) for number in range(self.count)]


@dataclass(frozen=True)
class NumberedPart:
    """One of them."""

    function: Callable[[int], Any]
    number: int
    count: int | None = None
    identity: str | None = None  # a function may have changed, and keep its name

    @property
    def title(self) -> str:
        return f"number {self.number} of {getattr(self.function, '__name__', 'a function')}"

    def read(self) -> Any:
        return self.function(self.number)


@dataclass(frozen=True)
class MappedRows:
    """Rows of a `numpy.memmap`, to be read from its file wherever that is there."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, array: np.ndarray) -> MappedRows | None:
        """Return rows as they lie in a file, or None if no plain file holds them."""
        mapped = mapping(array)
        if mapped is None or mapped.filename is None or mapped.mode == "c":
            return None
        if min(array.strides, default=0) < 0:
            return None
        path = str(Path(mapped.filename).absolute())
        place = place_in_file(mapped, array)
        return cls(path, array.dtype.str, array.shape, array.strides, place)

    @property
    def identity(self) -> str:
        return f"{file_identity(self.path)} {self.dtype} {self.shape} {self.strides} {self.offset}"

    def read(self) -> np.ndarray:
        """Return the rows, in memory."""
        try:
            whole = np.memmap(self.path, np.uint8, mode="r")
        except FileNotFoundError:
            raise DomainError(f"there is no file {self.path}") from None
        except ValueError as error:  # it is empty
            raise DomainError(f"{self.path} cannot be read: {error}") from error
        there = len(whole) - self.offset
        ends = zip(self.shape, self.strides, strict=True)
        need = sum((size - 1) * stride for size, stride in ends) + np.dtype(self.dtype).itemsize
        if there < need:
            raise DomainError(
                f"{self.path} has become shorter: rows take {need} bytes from byte {self.offset} "
                f"on, and {max(there, 0)} were found"
            )
        view = np.ndarray(self.shape, self.dtype, whole, self.offset, self.strides)
        return read_rows(view, 0, len(view))


@dataclass(frozen=True)
class HeldRows:
    """Rows of arrays: of mapped ones where they are, of others the rows themselves."""

    X: Any
    y: Any
    weights: Any
    start: int
    stop: int

    @property
    def count(self) -> int:
        return self.stop - self.start

    @property
    def title(self) -> str:
        rows = describe_rows(self.start, self.count)
        return f"{self.X.path}, {rows}" if isinstance(self.X, MappedRows) else rows

    @property
    def identity(self) -> str | None:
        found = [_identity(one) for one in (self.X, self.y, self.weights)]
        return None if None in found else f"{self.start} {found}"

    def read(self) -> tuple[Any, Any, Any]:
        parts = (self.X, self.y, self.weights)
        return tuple(p.read() if isinstance(p, MappedRows) else p for p in parts)  # type: ignore[return-value]


def file_identity(path: str | os.PathLike[str]) -> str:
    """Return what tells a file from what it was: its place, size and time of change."""
    found = os.stat(path)
    return f"{os.fspath(path)} {found.st_size} {found.st_mtime_ns}"


def _identity(rows: Any) -> str | None:
    if isinstance(rows, MappedRows):
        return rows.identity
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "biufc":
        digest = hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()
        return f"{rows.dtype.str} {rows.shape} {digest}"
    return repr(rows) if rows is None or isinstance(rows, int | float) else None


def portable(rows: Any) -> Any:
    """Return rows as they travel: mapped ones by their place in the file."""
    if not isinstance(rows, np.ndarray) or mapping(rows) is None:
        return rows
    return MappedRows.of(rows) or np.array(rows, subok=False)
