"""Sources: sets that are in memory, or that are read in passes, as rows in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.domains import InMemory, Items, Points, Rows, Stream, Streamed, is_stream
from mercer.errors import DomainError
from mercer.kernels import Kernel
from mercer.kernels.base import same_width

__all__ = ["equal_pieces", "require_in_memory", "resolve_on", "rows_of"]

PIECE_ITEMS = 8192  # items at a time
HEURISTIC_SAMPLE = 5000  # items on which heuristics are resolved


def rows_of(
    kernel: Kernel, X: Any, name: str = "X", seed: int = 0, least: int = 0
) -> tuple[Rows, Points, np.ndarray]:
    """Return a set as rows in pieces, a sample of it, and the places of that in the set.

    A `Stream` and a large `numpy.memmap` are not read into memory. The sample has at least so
    many rows, if there are.
    """
    size = max(HEURISTIC_SAMPLE, least)
    if is_stream(X):
        stream = X if isinstance(X, Stream) else Stream.rows(X)
        survey = stream.survey(kernel.domain, size, seed)
        return Streamed(stream, kernel.domain, survey), survey.sample, survey.places
    points = kernel.domain.admit(X, name)
    rows = InMemory(points, PIECE_ITEMS)
    if len(points) <= size:
        return rows, points, np.arange(len(points))
    places = np.sort(np.random.default_rng(seed).choice(len(points), size, replace=False))
    return rows, points[places], places


def require_in_memory(X: Items | Points, name: str, advice: str) -> None:
    """Refuse a stream where all items are needed at once."""
    if isinstance(X, Stream):
        raise DomainError(f"{name} is a stream, but all items are needed at once; {advice}")


def resolve_on(kernel: Kernel, *samples: Points) -> Kernel:
    """Return the kernel with its heuristics resolved on samples together."""
    together = samples[0]
    for other in samples[1:]:
        same_width(together, other)
        together = together.concat(other)
    return kernel.resolve(together)


def equal_pieces(rows: Rows, rng: np.random.Generator) -> Iterator[Points]:
    """Yield all rows in random order, pieces of `PIECE_ITEMS` and a shorter one at the end.

    Rows in memory are drawn from all of them. Rows of a stream are exchanged only with others of
    their chunk, so that it is read in its order.
    """
    if isinstance(rows, InMemory):
        order = rng.permutation(rows.count)
        for start in range(0, rows.count, PIECE_ITEMS):
            yield rows.points[order[start : start + PIECE_ITEMS]]
        return
    rest: Points | None = None
    for _, part in rows.pieces():
        part = part[rng.permutation(len(part))]
        rest = part if rest is None else rest.concat(part)
        while len(rest) >= PIECE_ITEMS:
            yield rest[:PIECE_ITEMS]
            rest = rest[PIECE_ITEMS:]
    if rest is not None and len(rest):
        yield rest
