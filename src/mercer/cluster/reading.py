"""Reading on workers: a chunk, as often as is needed, and whether it is what it was."""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.cluster.account import WorkerShare
from mercer.domains import Chunk, Domain, Points, Strings, Table, Vectors, is_frame, to_numpy
from mercer.domains.chunks import ChunkForm, admit_chunk, locate_errors
from mercer.domains.parts import Part
from mercer.errors import DomainError

__all__ = ["Checksum", "ReadingTask"]

PAUSE_SECONDS = 0.2  # before reading is tried again; twice as long each time


@dataclass(frozen=True)
class Checksum:
    """What a chunk is known by: its number of rows, and sums over their bytes.

    Of things that are neither numbers nor text, only the number is known.
    """

    count: int
    rows: int
    target: int

    @classmethod
    def of(cls, chunk: Chunk) -> Checksum:
        """Return that of a chunk."""
        target = 0
        for array in (chunk.target, chunk.weights):
            if array is not None:
                target = _sum(array, target)
        return cls(len(chunk), _sum_of_points(chunk.points), target)

    def require(self, first: Checksum) -> None:
        """Refuse a chunk that is not what it was."""
        same = "every pass must give the same rows in the same order"
        if self.count != first.count:
            raise DomainError(
                f"there are {self.count} rows, and {first.count} in the first pass; {same}"
            )
        for what, now, then in (
            ("rows", self.rows, first.rows),
            ("targets or weights", self.target, first.target),
        ):
            if now != then:
                raise DomainError(f"the {what} are not what they were in the first pass; {same}")


@dataclass(frozen=True)
class ReadingTask:
    """How to read a chunk of a stream, and what it must be like.

    Attributes
    ----------
    part : Part
    domain : Domain
    number, start : int
        Of the chunk, and of its first row, as far as that is known.
    name : str
        What errors call the rows.
    attempts : int
        How often it is read, if reading fails.
    form : ChunkForm or None
        Of the first chunk.
    checksum : Checksum or None
        Of the first pass.
    """

    part: Part
    domain: Domain
    number: int
    start: int
    name: str
    attempts: int
    form: ChunkForm | None = None
    checksum: Checksum | None = None

    @property
    def title(self) -> str:
        """What errors call it."""
        return self.part.title

    def read(self, share: WorkerShare) -> Chunk | None:
        """Return the chunk, or None if it has no rows."""
        start = time.perf_counter()
        with locate_errors(f"chunk {self.number}"):
            raw = self.again(self.part, self.attempts)
        chunk = admit_chunk(raw, self.domain, self.number, self.start, self.name, copy=False)
        if chunk is None:
            if self.checksum is not None and self.checksum.count:
                Checksum(0, 0, 0).require(self.checksum)
            return None
        with locate_errors(f"chunk {self.number}"):
            if self.form is not None:
                ChunkForm.of(chunk).require(self.form, self.name)
            if self.checksum is not None:
                Checksum.of(chunk).require(self.checksum)
        share.rows += len(chunk)
        share.reading += time.perf_counter() - start
        return chunk

    @staticmethod
    def again(part: Part, attempts: int) -> Any:
        """Return the rows of a part, which is read several times if that may help."""
        for attempt in range(attempts):
            try:
                return part.read()
            except Exception as error:
                if not _may_pass(error) or attempt == attempts - 1:
                    raise
                time.sleep(PAUSE_SECONDS * 2**attempt)
        raise AssertionError("attempts are at least one")


def _may_pass(error: BaseException | None) -> bool:
    """Tell whether a failure is one of the system, which may be over soon."""
    while error is not None:
        if isinstance(error, OSError | TimeoutError):
            return True
        error = error.__cause__
    return False


def _sum(array: np.ndarray, start: int = 0) -> int:
    if array.dtype.kind in "OUS":
        return zlib.crc32("\0".join(map(str, array.ravel().tolist())).encode(), start)
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, start)


def _sum_of_points(points: Points) -> int:
    if isinstance(points, Strings):
        return zlib.crc32("\0".join(points.texts).encode())
    if isinstance(points, Table) and is_frame(points.frame):
        return _sum_of_frame(points.frame)
    rows: Any = points.array if isinstance(points, Vectors) else getattr(points, "frame", None)
    if sparse.issparse(rows):
        found = rows.tocsr()
        return _sum(found.indptr, _sum(found.indices, _sum(found.data)))
    return 0 if rows is None else _sum(to_numpy(rows))


def _sum_of_frame(frame: Any) -> int:
    """Return that of a DataFrame, of whatever its columns hold."""
    found = 0
    for name in frame.columns:
        found = _sum(np.asarray(frame[name]), found)
    return found
