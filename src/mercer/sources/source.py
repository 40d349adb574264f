"""Sources: rows as they come from a file or a DataFrame, before their columns are looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mercer.errors import suggestion
from mercer.reservoir import Reservoir
from mercer.sources.frames import as_pandas
from mercer.sources.sheet import BadRow

__all__ = [
    "Frame",
    "Piece",
    "Source",
    "gather",
    "is_copy",
    "objects",
    "suggest_name",
    "unique_names",
]

CHUNK_ROWS = 10_000  # that are read at once
MAX_NAMES = 10  # columns that an error lists


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
    reservoir = None if limit is None else Reservoir(limit, seed, _join_pieces)
    bad: list[BadRow] = []
    total = 0
    for piece in source.pieces(CHUNK_ROWS, wanted):
        total += piece.total
        bad += piece.bad
        if reservoir is None:
            pieces.append(piece)
        else:
            reservoir.offer(piece)
    if reservoir is not None:
        reservoir.settle()
        pieces = reservoir.kept
    whole = _join_pieces(pieces) if pieces else _empty_piece(source)
    return Piece(whole.columns, whole.lines, whole.rows, total, tuple(bad))


def objects(entries: Iterable[object]) -> np.ndarray:
    """Return a one-dimensional array of objects."""
    entries = list(entries)
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _join_pieces(pieces: list[Piece]) -> Piece:
    """Return the rows of several pieces as one."""
    if len(pieces) == 1:
        return pieces[0]
    columns = {
        name: _stack([piece.columns[name] for piece in pieces]) for name in pieces[0].columns
    }
    lines = np.concatenate([piece.lines for piece in pieces])
    rows = np.concatenate([piece.rows for piece in pieces])
    return Piece(columns, lines, rows, sum(piece.total for piece in pieces))


def _stack(parts: list[Any]) -> Any:
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


def _empty_piece(source: Source) -> Piece:
    none = np.empty(0, dtype=np.int64)
    return Piece({name: objects([]) for name in source.columns}, none, none, 0)


def suggest_name(word: str, known: Collection[str]) -> str:
    """Return a hint at a name like this one, or at the first known ones.

    Examples
    --------
    >>> suggest_name("wieght", ["weight", "height"])
    "; did you mean 'weight'?"
    """
    hint = suggestion(word, known)
    if hint.startswith("; did you mean") or len(known) <= MAX_NAMES:
        return hint
    first = ", ".join(map(repr, list(known)[:MAX_NAMES]))
    return f"; known are {first} and {len(known) - MAX_NAMES} more"


def unique_names(first: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names that differ, made from a row of them, and what to say about it.

    Examples
    --------
    >>> unique_names(["a ", "", "a"])[0]
    ['a', 'column 2', 'a (2)']
    """
    names: list[str] = []
    notes = []
    given = [entry.strip() for entry in first]
    taken, used = set(given), set()
    for place, name in enumerate(given, 1):
        plain = name or f"column {place}"
        unique, times = plain, 1
        while unique in used or (unique != name and unique in taken):
            times += 1
            unique = f"{plain} ({times})"
        if unique != plain:
            notes.append(
                f"two columns are called {plain!r}; that in place {place} is {unique!r} here"
            )
        used.add(unique)
        names.append(unique)
    return names, notes


def is_copy(name: str, other: str) -> bool:
    """Tell whether a name was made from another that is there twice."""
    return name.startswith(f"{other} (") and name[len(other) + 2 : -1].isdecimal()


class Frame:
    """A DataFrame of pandas, or of a library that can turn its own into that.

    Rows are counted from 1; the index is not read.
    """

    unit = "row"
    target: str | None = None

    def __init__(self, frame: Any, path: Path | None = None, form: str = "frame") -> None:
        frame = as_pandas(frame)
        self.frame = frame
        self.path = path  # of the file that it was read from
        self.name = "the DataFrame" if path is None else path.name
        self.columns, self.notes = unique_names([str(name) for name in frame.columns])
        self.layout: dict[str, Any] = {"format": form}
        self.kinds = {
            name: "categorical"
            for place, name in enumerate(self.columns)
            if str(frame.dtypes.iloc[place]) == "category"
        }

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        for start in range(0, len(self.frame), size):
            part = self.frame.iloc[start : start + size]
            columns = {
                name: _entries(part.iloc[:, place])
                for place, name in enumerate(self.columns)
                if wanted is None or name in wanted
            }
            rows = np.arange(start, start + len(part))
            yield Piece(columns, rows + 1, rows, len(part))


def _entries(series: Any) -> np.ndarray:
    """Return a column as numbers or times if pandas says so, else as objects."""
    kind = getattr(series.dtype, "kind", "O")
    gaps = series.isna().to_numpy(dtype=bool)
    if kind == "f":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind in "iu" and not gaps.any():
        return series.to_numpy()
    if kind == "m":
        return series.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan) / 86_400
    if kind == "M":
        if getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return series.to_numpy(dtype="datetime64[us]")
    pairs = zip(series.tolist(), gaps.tolist(), strict=True)
    return objects(None if gap else value for value, gap in pairs)
