"""Rows as they come from a file, before anything is known about their columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mercer.reservoir import Reservoir
from mercer.sources.sheet import BadRow

__all__ = ["Piece", "Source", "gather", "objects"]

SIZE = 10_000


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of a file.

    Attributes
    ----------
    columns : dict of str to array
        Entries by column: objects (texts as they stand in the file, None for what is missing),
        numbers or times where the file says so, or the rows of a sparse array.
    lines, rows : ndarray of int
        As in `Sheet`.
    total : int
        How many rows were read for this piece, those that are bad by their form included.
    bad : tuple of BadRow
        Those.
    """

    columns: dict[str, Any]
    lines: np.ndarray
    rows: np.ndarray
    total: int
    bad: tuple[BadRow, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: np.ndarray) -> Piece:
        """Return the chosen rows; what is bad or counted stays with the piece."""
        columns = {name: entries[chosen] for name, entries in self.columns.items()}
        return Piece(columns, self.lines[chosen], self.rows[chosen], self.total, self.bad)


class Source(Protocol):
    """A file that can be read more than once.

    Attributes
    ----------
    name : str
        Of the file, without its folder.
    path : path or None
        None for what is no file.
    columns : sequence of str
        Names, in the order of the file.
    target : str or None
        The column that the format itself calls the target.
    kinds : dict
        What the format itself says about columns.
    layout : dict
        Plain values, for `Sheet.layout`.
    notes : list of str
    unit : str
        What lines count: "line", "row" or "graph".
    """

    name: str
    kinds: dict[str, str]
    notes: list[str]
    unit: str

    @property
    def path(self) -> Path | None: ...

    @property
    def columns(self) -> Sequence[str]: ...

    @property
    def target(self) -> str | None: ...

    @property
    def layout(self) -> dict[str, Any]: ...

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        """Yield the rows, about `size` at a time, with the wanted columns (all without it)."""
        ...


def gather(
    source: Source, limit: int | None, seed: int, wanted: Collection[str] | None = None
) -> Piece:
    """Return all rows of a source, or a random sample of them, in the order of the file.

    Memory grows with `limit`, not with the file.
    """
    pieces: list[Piece] = []
    reservoir = None if limit is None else Reservoir(limit, seed, _joined)
    bad: list[BadRow] = []
    total = 0
    for piece in source.pieces(SIZE, wanted):
        total += piece.total
        bad += piece.bad
        if reservoir is None:
            pieces.append(piece)
        else:
            reservoir.offer(piece)
    if reservoir is not None:
        reservoir.settle()
        pieces = reservoir.kept
    whole = _joined(pieces) if pieces else _nothing(source)
    return Piece(whole.columns, whole.lines, whole.rows, total, tuple(bad))


def objects(entries: Any) -> np.ndarray:
    """Return a one-dimensional array of objects."""
    entries = list(entries)
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _joined(pieces: list[Piece]) -> Piece:
    """Return the rows of several pieces as one."""
    if len(pieces) == 1:
        return pieces[0]
    columns = {
        name: _stacked([piece.columns[name] for piece in pieces]) for name in pieces[0].columns
    }
    lines = np.concatenate([piece.lines for piece in pieces])
    rows = np.concatenate([piece.rows for piece in pieces])
    return Piece(columns, lines, rows, sum(piece.total for piece in pieces))


def _stacked(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        kinds = {part.dtype.kind for part in parts}
        if len(kinds) > 1:  # a number keeps its written form beside what is not one
            parts = [part.astype(object) for part in parts]
        return np.concatenate(parts)
    from scipy import sparse

    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize(part.shape[0], width)
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def _nothing(source: Source) -> Piece:
    none = np.empty(0, dtype=np.int64)
    return Piece({name: objects([]) for name in source.columns}, none, none, 0)
