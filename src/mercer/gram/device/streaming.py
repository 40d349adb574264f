"""Streaming: rows that stay on the device, or come from the host chunk by chunk.

Chunks are copied through two buffers of page-locked memory, on a stream of their own: while the
device computes with one chunk, the next one is under way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.domains import Points, to_numpy
from mercer.gram.device.devices import Tensor, allocate, free_bytes
from mercer.gram.device.numeric_rows import dense, numbers

__all__ = ["DeviceRows"]

CHUNK_BYTES = 1 << 27  # of a chunk
MIN_CHUNK_ROWS = 4096  # rows below which a chunk is not made smaller
# Beside the rows themselves, their copies for fused products take about so many times their bytes.
COPIES = 5


class DeviceRows:
    """Rows of numbers on a device.

    Parameters
    ----------
    source : array, Points, or an object with `count` and `pieces()`
        `pieces` yields a slice and the points there, in order, at each call anew.
    device : torch.device
    stay : bool, optional
        Whether they stay on the device; by default if there is room.
    dtype : torch.dtype, optional
        By default that of the numbers.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> rows = DeviceRows(np.ones((3, 2)), torch.device("cpu"))
    >>> [(place, tuple(chunk.shape)) for place, chunk in rows.chunks()]
    [(slice(0, 3, None), (3, 2))]
    """

    def __init__(
        self, source: Any, device: Tensor, stay: bool | None = None, dtype: Any = None
    ) -> None:
        self.device = device
        self.source = getattr(source, "points", source)  # of rows in memory
        self.whole: Any = None
        if not hasattr(self.source, "pieces"):
            self.source = numbers(self.source)
            self.count, self.width = map(int, self.source.shape)
            kind = str(self.source.dtype)
        else:
            self.count = int(self.source.count)
            first = numbers(next(iter(self.source.pieces()))[1])
            self.width, kind = int(first.shape[1]), str(first.dtype)
        import torch

        self.dtype = dtype or (torch.float32 if "float32" in kind else torch.float64)
        each = self.width * self.dtype.itemsize
        self.size = max(CHUNK_BYTES // each // 256 * 256, MIN_CHUNK_ROWS)
        needed = self.count * each * COPIES
        # Rows that stay may take half of the free memory.
        self.stay = needed <= 0.5 * free_bytes(device) if stay is None else stay

    def halve(self) -> bool:
        """Let rows no longer stay, or make chunks smaller; return whether that was possible."""
        if self.stay:
            self.stay, self.whole = False, None
            return True
        self.size //= 2
        return self.size >= MIN_CHUNK_ROWS

    def all(self) -> Any:
        """Return all rows in one tensor."""
        if self.whole is None:
            whole = allocate((self.count, self.width), self.dtype, self.device)
            for place, part in self._parts():
                whole[place] = _tensor(part, self.dtype, self.device)
            self.whole = whole
        return self.whole

    def chunks(self) -> Iterator[tuple[slice, Any]]:
        """Yield the rows in order: their places, and a tensor that is valid until the next."""
        if self.stay:
            yield slice(0, self.count), self.all()
        elif self.device.type == "cuda":
            yield from self._streamed()
        else:
            for place, part in self._parts():
                yield place, _tensor(part, self.dtype, self.device)

    def _parts(self) -> Iterator[tuple[slice, Any]]:
        """Yield parts of the rows on the host, of at most the size of a chunk."""
        if not hasattr(self.source, "pieces"):
            for start in range(0, self.count, self.size):
                place = slice(start, min(start + self.size, self.count))
                yield place, self.source[place]
            return
        for place, points in self.source.pieces():
            rows = numbers(points) if isinstance(points, Points) else points
            for start in range(0, len(points), self.size):
                stop = min(start + self.size, len(points))
                yield slice(place.start + start, place.start + stop), rows[start:stop]

    def _streamed(self) -> Iterator[tuple[slice, Any]]:
        import torch

        shape = (min(self.size, self.count), self.width)
        lanes = [_Lane(shape, self.dtype, self.device) for _ in range(2)]
        copying, computing = torch.cuda.Stream(self.device), torch.cuda.current_stream(self.device)
        waiting: tuple[slice, _Lane] | None = None
        for number, (place, part) in enumerate(self._parts()):
            lane = lanes[number % 2]
            lane.send(part, copying)
            if waiting is not None:
                yield waiting[0], waiting[1].receive(computing)
                waiting[1].used = computing.record_event()
            waiting = place, lane
        if waiting is not None:
            yield waiting[0], waiting[1].receive(computing)
        copying.synchronize()


class _Lane:
    """One of two ways for chunks to the device."""

    def __init__(self, shape: tuple[int, int], dtype: Any, device: Tensor) -> None:
        import torch

        self.host = torch.empty(shape, dtype=dtype, pin_memory=True)
        self.there = allocate(shape, dtype, device)
        self.sent: Any = None
        self.used: Any = None
        self.length = 0

    def send(self, part: Any, stream: Any) -> None:
        """Copy a chunk into the page-locked buffer, and let it travel."""
        import torch

        if self.sent is not None:
            self.sent.synchronize()  # what was in the buffer has left it
        self.length = int(part.shape[0])
        np.copyto(self.host[: self.length].numpy(), dense(part), casting="same_kind")
        with torch.cuda.stream(stream):
            if self.used is not None:
                stream.wait_event(self.used)  # what was on the device has been used
            self.there[: self.length].copy_(self.host[: self.length], non_blocking=True)
            self.sent = stream.record_event()

    def receive(self, stream: Any) -> Any:
        stream.wait_event(self.sent)
        return self.there[: self.length]


def _tensor(part: Any, dtype: Any, device: Tensor) -> Any:
    import torch

    if isinstance(part, torch.Tensor):
        return part.to(device=device, dtype=dtype)
    rows = np.ascontiguousarray(dense(part))
    if not rows.flags.writeable:  # Torch would complain, though nobody writes
        rows = rows.copy()
    return torch.from_numpy(rows).to(device=device, dtype=dtype)


def tensor(values: Tensor, device: Tensor, dtype: Any = None) -> Any:
    """Return an array of numbers as a tensor in double precision."""
    import torch

    array = np.ascontiguousarray(to_numpy(values), dtype=np.float64)
    array = array if array.flags.writeable else array.copy()
    return torch.from_numpy(array).to(device=device, dtype=dtype or torch.float64)
