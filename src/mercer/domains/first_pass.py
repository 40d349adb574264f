"""Surveys: what one pass over a stream learns about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer.domains.chunks import Chunk, ChunkForm
from mercer.domains.points import Points
from mercer.domains.strings import Strings
from mercer.domains.tables import to_numpy
from mercer.domains.vectors import Vectors
from mercer.errors import DomainError
from mercer.reservoir import Reservoir

__all__ = ["Survey", "joined_arrays", "joined_points", "summarize"]

EMPTY = "the stream is empty: 0 sample(s) were found while a minimum of 1 is required."
WEIGHTLESS = "all sample weights are zero, so there is nothing to learn from"
SAME = "every pass must give the same rows in the same order, so nothing may be shuffled or drawn"


@dataclass(frozen=True, eq=False)
class Survey:
    """What the first pass over a stream found.

    Attributes
    ----------
    count : int
        Rows of the stream.
    chunks : int
        Chunks that have rows.
    largest : int
        The most rows of a chunk.
    width : int or None
        Columns, or None where things have none.
    bytes : float
        Memory that a working copy of a row would take, on average.
    target, weights : ndarray or None
        Of all rows.
    sample : Points
        A random sample of the rows, each with the same chance, in their order.
    places : ndarray of int
        The numbers of these rows in the stream.
    form : ChunkForm
        What all chunks have in common.

    Examples
    --------
    >>> from mercer.domains import VECTORS, Stream
    >>> survey = Stream.rows(np.eye(5), size=2).survey(VECTORS)
    >>> survey.count, survey.chunks, survey.largest, survey.width
    (5, 3, 2, 5)
    """

    count: int
    chunks: int
    largest: int
    width: int | None
    bytes: float
    target: np.ndarray | None
    weights: np.ndarray | None
    sample: Points
    places: np.ndarray
    form: ChunkForm

    def recognize(self, chunk: Chunk) -> None:
        """Refuse a chunk of a later pass that is not what the first pass saw in its place.

        Seen are the number of rows, the target, and those rows of numbers or text that are in
        the sample.
        """
        if chunk.place.stop > self.count:
            raise DomainError(f"the first pass ended after {self.count} rows; {SAME}")
        if chunk.target is not None and self.target is not None:
            same = chunk.target == self.target[chunk.place]
            if not np.all(same):
                row = int(np.argwhere(~np.asarray(same, bool))[0][0])
                raise DomainError(f"y at row {row} is not what it was in the first pass; {SAME}")
        first, last = np.searchsorted(self.places, [chunk.place.start, chunk.place.stop])
        if first < last:
            rows = self.places[first:last] - chunk.start
            if not _equal(chunk.points.take(rows), self.sample.take(slice(first, last))):
                raise DomainError(
                    f"some of the rows {rows[0]} to {rows[-1]} are not what they were in the "
                    f"first pass; {SAME}"
                )

    def finish(self, count: int) -> None:
        """Refuse a later pass that is over too early."""
        if count < self.count:
            raise DomainError(
                f"the stream ended after {count} rows, but there were {self.count} in the first "
                f"pass; {SAME}"
                + ("" if count else ", and a function must make a new iterator at each call")
            )


def summarize(chunks: Iterable[Chunk], sample: int, seed: int) -> Survey:
    """Return what is to be known about a stream, of which there must be something.

    Memory grows with the sample and with y and the weights, not with the rows.
    """
    reservoir = Reservoir(sample, seed, joined_points)
    targets: list[np.ndarray] = []
    weights: list[np.ndarray] = []
    form, count, number, largest, size = None, 0, 0, 0, 0
    for chunk in chunks:
        form = form or ChunkForm.of(chunk)
        count, number = count + len(chunk), number + 1
        largest, size = max(largest, len(chunk)), size + chunk.points.bytes
        if chunk.target is not None:
            targets.append(chunk.target)
        if chunk.weights is not None:
            weights.append(chunk.weights)
        reservoir.offer(chunk.points)
        del chunk  # before the next one is read
    if form is None:
        raise DomainError(EMPTY)
    reservoir.settle()
    (points,), places = reservoir.kept, reservoir.places
    w = joined_arrays(weights)
    if w is not None and not w.any():
        raise DomainError(WEIGHTLESS)
    return Survey(
        count,
        number,
        largest,
        form.width,
        size / count,
        joined_arrays(targets),
        w,
        points,
        places,
        form,
    )


def joined_points(parts: list[Points]) -> Points:
    """Join points two by two, so that each is copied a few times only."""
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [pair[0].concat(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


def joined_arrays(parts: list[np.ndarray]) -> np.ndarray | None:
    """Return the arrays as one, letting go of each as it is copied."""
    if not parts:
        return None
    kinds = {part.dtype.kind for part in parts}
    dtype = np.dtype(object) if "O" in kinds else np.result_type(*{part.dtype for part in parts})
    if kinds == {"i", "u"} and dtype.kind == "f":  # which would round labels of 64 bits
        dtype = np.dtype(object)
    whole = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), dtype)
    end = len(whole)
    while parts:
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole


def _equal(now: Points, then: Points) -> bool:
    """Tell whether rows of numbers or text are equal; of others it is believed."""
    if isinstance(now, Strings) and isinstance(then, Strings):
        return np.array_equal(now.texts, then.texts)
    if not isinstance(now, Vectors) or not isinstance(then, Vectors):
        return True
    if sparse.issparse(now.array):
        return (now.array != then.array).nnz == 0
    return np.array_equal(to_numpy(now.array), to_numpy(then.array))
