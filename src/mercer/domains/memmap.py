"""Mapped arrays: rows of a `numpy.memmap`, read from its file and not through the mapping.

Whoever touches a page of a mapping whose file has become shorter is ended by the system, without
any error to catch. Plain reads of the file find out, and cost no more.
"""

from __future__ import annotations

import mmap
import os
from typing import Any, BinaryIO

import numpy as np

from mercer.errors import DomainError

__all__ = ["copied", "mapping", "place_in_file", "read_rows"]

BLOCK_BYTES = 2**25  # read at once where rows do not lie one after the other


def mapping(array: object) -> np.memmap | None:
    """Return the `numpy.memmap` whose file holds an array, or None for one that is in memory."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and _pages(array) is not None:
            return array
        array = array.base
    return None


def copied(array: Any) -> Any:
    """Return an array that is in memory: the same one, or what the file holds."""
    return array if mapping(array) is None else read_rows(array, 0, len(array))


def read_rows(array: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return some rows of an array that lies in a file, in memory.

    Rows that lie one after the other are read as they are, others (some columns of a table,
    every other row, Fortran's order) by parts. What no plain read gives, such as rows in reverse
    order, or a mapping whose changes stay private or whose file has lost its name (to a file of
    another size, too), is copied from the mapping after a look at the size of the file.

    Raises
    ------
    DomainError
        If the file has become shorter.
    """
    mapped = mapping(array)
    if mapped is None:
        return array[start:stop]
    part = array[start:stop]
    try:
        if mapped.filename is None or mapped.mode == "c":
            return _through(mapped, part)
        with open(mapped.filename, "rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size != _pages(mapped).size():  # another file
                return _through(mapped, part)
            return _read(file, mapped, part)
    except FileNotFoundError:  # deleted, but still there for the mapping
        return _through(mapped, part)
    except TruncatedFile as short:
        raise DomainError(
            f"{mapped.filename or 'the mapped file'} has become shorter: rows {start} to "
            f"{stop - 1} take {short.expected} bytes from byte {short.place} on, and "
            f"{short.found} were found"
        ) from None


class TruncatedFile(Exception):
    """A file ends before it should."""

    def __init__(self, place: int, expected: int, found: int) -> None:
        super().__init__(place, expected, found)
        self.place, self.expected, self.found = place, expected, found


def _read(file: BinaryIO, mapped: np.memmap, part: np.ndarray) -> np.ndarray:
    """Read an array from where its numbers are in a file."""
    place = place_in_file(mapped, part)
    out = np.empty(part.shape, part.dtype)
    if part.flags.c_contiguous:
        _fill(file, place, out)
    elif part.ndim == 1 and part.strides[0] > 0:
        _spaced(file, place, part.strides[0], out[:, None])
    elif part.ndim == 2 and part.strides[1] == part.itemsize and part.strides[0] > 0:
        _spaced(file, place, part.strides[0], out)
    elif part.ndim == 2 and part.strides[0] == part.itemsize and part.strides[1] > 0:
        column = np.empty(len(part), part.dtype)
        for j in range(part.shape[1]):
            _fill(file, place + j * part.strides[1], column)
            out[:, j] = column
    else:
        return _through(mapped, part)
    return out


def _spaced(file: BinaryIO, place: int, stride: int, out: np.ndarray) -> None:
    """Read rows of adjacent numbers, each `stride` bytes after the one before it."""
    size = out.shape[1] * out.itemsize
    step = max(1, BLOCK_BYTES // stride)
    for first in range(0, len(out), step):
        rows = out[first : first + step]
        buffer = np.empty((len(rows) - 1) * stride + size, np.uint8)
        _fill(file, place + first * stride, buffer)
        rows[...] = np.ndarray(rows.shape, out.dtype, buffer, strides=(stride, out.itemsize))


def _fill(file: BinaryIO, place: int, out: np.ndarray) -> None:
    """Fill an array with the bytes of a file from a place on."""
    memory = out.reshape(-1).view(np.uint8).data
    file.seek(place)
    found = 0
    while found < len(memory):
        count = file.readinto(memory[found:])  # type: ignore[attr-defined]
        if not count:
            raise TruncatedFile(place, len(memory), found)
        found += count


def _through(mapped: np.memmap, part: np.ndarray) -> np.ndarray:
    """Copy an array out of its mapping, if the file is long enough now."""
    low, high = np.lib.array_utils.byte_bounds(part)
    start = place_in_file(mapped, part) + low - _address(part)
    size = _pages(mapped).size()
    if start + high - low > size:
        raise TruncatedFile(start, high - low, max(0, size - start))
    return np.array(part, subok=False)


def place_in_file(mapped: np.memmap, part: np.ndarray) -> int:
    """Return the byte of the file at which the first number of a view is.

    The view's own `offset` is that of the whole mapping, so addresses are compared.
    """
    begin = mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY
    return begin + _address(part) - _address(np.frombuffer(_pages(mapped), np.uint8))


def _pages(mapped: np.memmap) -> Any:
    """Return the mapping itself, or None for a copy, which has none."""
    return getattr(mapped, "_mmap", None)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])
