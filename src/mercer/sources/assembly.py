"""From converted columns to a sheet: which rows stay, and what to say about the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from mercer.sources.convert import Problems, convert
from mercer.sources.pieces import Piece
from mercer.sources.sheet import BadRow, Column

__all__ = ["bad", "complaint", "frame", "left_out", "sampled", "values", "without"]

NAMED = 5  # bad rows that are named
SKIP = "--skip-bad / skip_bad=True leaves them out"


def values(piece: Piece, columns: Sequence[Column]) -> tuple[dict[str, Any], Problems]:
    """Return the values of some columns, and what is wrong with some rows."""
    found: dict[str, Any] = {}
    problems: Problems = {}
    for column in columns:
        found[column.name], wrong = convert(piece.columns[column.name], column)
        problems = wrong | problems  # the first problem of a row is said
    return found, problems


def frame(found: Mapping[str, Any], keep: np.ndarray) -> Any:
    """Return the rows that are kept, as a DataFrame or as a sparse array."""
    import pandas as pd

    for entries in found.values():
        if not isinstance(entries, np.ndarray):
            return entries[keep]
    # The type is said, because pandas would turn objects that are texts into its own strings.
    parts = {
        name: pd.Series(entries[keep], dtype=entries.dtype, copy=False)
        for name, entries in found.items()
    }
    return pd.DataFrame(parts, index=pd.RangeIndex(len(keep)))


def without(count: int, places: Collection[int]) -> np.ndarray:
    """Return the numbers below `count` except some."""
    good = np.ones(count, dtype=bool)
    good[list(places)] = False
    return np.flatnonzero(good)


def bad(piece: Piece, problems: Problems, unit: str) -> tuple[BadRow, ...]:
    """Return all bad rows in the order of the file."""
    found = [BadRow(int(piece.lines[place]), why, unit) for place, why in problems.items()]
    return tuple(sorted([*piece.bad, *found], key=lambda row: row.line))


def complaint(rows: Sequence[BadRow], name: str, total: int | None = None) -> str:
    """Return the error about bad rows."""
    many = "1 bad row" if len(rows) == 1 else f"{len(rows):,} bad rows"
    of = f" of {total:,}" if total is not None else ""
    return f"{name} has {many}{of}: {_some(rows)}; {SKIP}"


def left_out(rows: Sequence[BadRow], total: int) -> list[str]:
    """Return what to say about bad rows that were left out."""
    if not rows:
        return []
    many = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
    return [f"{many} of {total:,} could not be read and were left out: {_some(rows)}"]


def sampled(piece: Piece, limit: int | None, seed: int) -> list[str]:
    """Return what to say about a sample."""
    if limit is None or piece.total - len(piece.bad) <= limit:
        return []
    return [f"of {piece.total:,} rows, a random sample of {len(piece):,} was read (seed {seed})"]


def _some(rows: Sequence[BadRow]) -> str:
    more = f"; and {len(rows) - NAMED:,} more" if len(rows) > NAMED else ""
    return "; ".join(map(str, rows[:NAMED])) + more
