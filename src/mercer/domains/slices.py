"""Slices: the rows of an array, or of several that belong together, some at a time."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.domains.chunks import require_whole
from mercer.domains.memmap import mapping, read_rows
from mercer.domains.parts import HeldRows, portable
from mercer.errors import DomainError

__all__ = ["Slices"]

CHUNK_BYTES = 32_000_000  # of the numbers of a chunk
CHUNK_OBJECTS = 10_000  # in a chunk, where nobody knows their size


class Slices:
    """An array, row after row: chunks that can be made again and again."""

    fresh = True

    def __init__(
        self, array: Any, y: ArrayLike | None, weights: ArrayLike | None, size: int | None
    ) -> None:
        # Of other forms of sparse arrays rows are slow to take, or not to be had.
        self.array = array.tocsr() if sparse.issparse(array) else array
        self.y, self.weights = y, weights
        self.count = _length(array)
        for name, other in (("y", y), ("sample_weight", weights)):
            if not _is_scalar(other) and _length(other) != self.count:
                raise DomainError(
                    f"Found input variables with inconsistent numbers of samples: X has "
                    f"{self.count}, {name} has {_length(other)}"
                )
        given = size if size is None else require_whole("size", size)
        self.size = given or _rows_of_a_chunk(array, self.count)

    def __repr__(self) -> str:
        return f"{type(self.array).__name__} of {self.count} rows, size={self.size}"

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for start in range(0, self.count, self.size):
            stop = min(start + self.size, self.count)
            # No name holds on to a part, which would stay while the next one is read.
            yield tuple(_part(whole, start, stop) for whole in (self.array, self.y, self.weights))

    def parts(self) -> Iterator[HeldRows]:
        """Yield the same rows in parts; mapped arrays stay in their files."""
        for start in range(0, self.count, self.size):
            stop = min(start + self.size, self.count)
            X, y, weights = (
                _held(whole, start, stop) for whole in (self.array, self.y, self.weights)
            )
            yield HeldRows(X, y, weights, start, stop)


def _length(array: object) -> int:
    shape = getattr(array, "shape", None)
    if shape:
        return int(shape[0])
    if shape is not None or not hasattr(array, "__len__"):
        raise DomainError(f"Stream.rows takes rows, found {type(array).__name__}")
    return len(array)


def _is_scalar(value: object) -> bool:
    """Tell one value for all rows, or none, from values of the rows."""
    return value is None or isinstance(value, numbers.Real) or getattr(value, "ndim", 1) == 0


def _held(whole: Any, start: int, stop: int) -> Any:
    """Return some rows of a container as they travel."""
    if not _is_scalar(whole) and mapping(whole) is not None:
        return portable(whole[start:stop])
    return _part(whole, start, stop)


def _part(whole: Any, start: int, stop: int) -> Any:
    """Return some rows of a container."""
    if _is_scalar(whole):
        return whole
    if mapping(whole) is not None:
        return read_rows(whole, start, stop)
    if hasattr(whole, "iloc"):
        return whole.iloc[start:stop]
    return whole[start:stop]


def _rows_of_a_chunk(array: Any, count: int) -> int:
    """Return how many rows have about the bytes that a chunk should have."""
    if sparse.issparse(array):
        row = 12 * array.nnz / max(count, 1)
    elif getattr(array, "ndim", 0) > 1:
        size = 4 if getattr(array, "dtype", None) == np.float32 else 8  # what is worked with
        row = size * float(np.prod(array.shape[1:]))
    else:
        return CHUNK_OBJECTS
    return max(1, min(int(CHUNK_BYTES / max(row, 1)), max(count, 1)))
