"""Buffers: memory for a large matrix that the next one can use again.

Pages that a process touches for the first time are slow, on virtual machines very slow: filling a
fresh matrix can take longer than computing it. So one block outlives the fit that it was for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from mercer.forks import Lock

__all__ = ["BUFFERS", "BufferPool"]

# Larger blocks go back to the system.
MAX_KEPT_BYTES = 300_000_000


class BufferPool:
    """At most one block of memory, lent to one borrower at a time.

    Examples
    --------
    >>> pool = BufferPool()
    >>> first = pool.take((2, 3), np.float32)
    >>> pool.give(first)
    >>> np.shares_memory(pool.take((3, 1), np.float64), first)
    True
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._block: np.ndarray | None = None

    def take(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """Return an uninitialized array, in the block that is here if it is large enough."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        with self._lock:
            block, self._block = self._block, None
        if block is None or block.nbytes < size:
            block = np.empty(size, np.uint8)
        return block[:size].view(dtype).reshape(shape)

    def give(self, array: np.ndarray) -> None:
        """Take back an array that nobody will use any more."""
        block = array
        while isinstance(block.base, np.ndarray):
            block = block.base
        if block.nbytes > MAX_KEPT_BYTES or block.dtype != np.uint8 or block.ndim != 1:
            return  # too large, or not from here
        with self._lock:
            if self._block is None or self._block.nbytes < block.nbytes:
                self._block = block


BUFFERS = BufferPool()
