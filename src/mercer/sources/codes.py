"""Codes for what is missing: numbers or words such as -999 that stand for nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.entries import texts
from mercer.sources.source import Piece, Source, objects, suggest_name

__all__ = ["Recoded", "admit_codes"]


def admit_codes(
    missing: Sequence[str] | str | None, columns: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return codes by column, "" standing for all: ``-999``, or ``age=-1`` for one column.

    Examples
    --------
    >>> admit_codes(["-999", "age=-1"], ["age", "size"])
    {'': ('-999',), 'age': ('-1',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in [missing] if isinstance(missing, str | int | float) else (missing or ()):
        name, sign, code = str(text).rpartition("=")
        code = code.strip()
        if not code:
            raise DomainError(
                f"--missing {str(text)!r} names no code; write for example --missing -999, or "
                "--missing age=-1"
            )
        if sign and name not in columns:
            hint = suggest_name(name, columns)
            raise DomainError(f"--missing / missing: there is no column {name!r}{hint}")
        found[name] = (*found.get(name, ()), code)
    return found


class Recoded:
    """A source in which some entries are missing that another has as codes."""

    def __init__(self, source: Source, codes: Mapping[str, Sequence[str]]) -> None:
        self.source = source
        self.codes = {name: tuple(some) for name, some in codes.items()}
        self.notes = list(source.notes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        """Yield the rows, with gaps in the place of codes."""
        for piece in self.source.pieces(size, wanted):
            columns = {name: self._without(name, raw) for name, raw in piece.columns.items()}
            yield Piece(columns, piece.lines, piece.rows, piece.total, piece.bad)

    def _without(self, name: str, raw: Any) -> Any:
        codes = (*self.codes.get("", ()), *self.codes.get(name, ()))
        if not codes or not isinstance(raw, np.ndarray) or raw.dtype.kind == "M":
            return raw
        values = [value for value in map(_number, codes) if value is not None]
        if raw.dtype.kind in "fiu":
            gone = np.isin(raw, values)
            return np.where(gone, np.nan, raw.astype(np.float64)) if gone.any() else raw
        entries = texts(raw)
        words = set(codes)
        # A number that is written in another way, such as -999.0, is the same code.
        coded = [e is not None and (e in words or _number(e) in values) for e in entries]
        if not any(coded):
            return raw
        return objects(None if c else e for c, e in zip(coded, raw.tolist(), strict=True))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
