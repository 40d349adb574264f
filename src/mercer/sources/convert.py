"""From the entries of a file to values: numbers, days, strings or graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.sources import dates, numbers
from mercer.sources.entries import shorten, texts
from mercer.sources.molecules import can_read, unreadable
from mercer.sources.pieces import objects
from mercer.sources.sheet import Column

__all__ = ["Problems", "convert", "days"]

Problems = dict[int, str]  # what is wrong, by the place of the row


def convert(raw: Any, column: Column) -> tuple[Any, Problems]:
    """Return the values of a column, and the problems of those that cannot be read.

    Parameters
    ----------
    raw : array
        Entries as in `Piece`.
    column : Column
        Its kind and its style say how they are read.

    Examples
    --------
    >>> convert(objects(["1,5", "", "x"]), Column("a", "numeric", "", style={"decimal": ","}))
    (array([1.5, nan, nan]), {2: "column 'a': 'x' is not a number"})
    """
    if not isinstance(raw, np.ndarray):
        from mercer.sources.libsvm import fitted

        return fitted(raw, column), {}
    if column.kind == "graph":
        return raw, {}
    if column.kind == "numeric":
        return _numbers(raw, column)
    if column.kind == "date":
        return _dates(raw, column)
    entries = texts(raw, bool(column.style.get("signs")))
    problems: Problems = {}
    if column.kind == "smiles" and can_read():
        bad = {entry for entry in set(entries) if entry is not None and unreadable(entry)}
        problems = {
            place: f"column {column.name!r}: RDKit cannot read the SMILES {shorten(entry)!r}"
            for place, entry in enumerate(entries)
            if entry in bad and entry is not None
        }
    return objects(entries), problems


def days(raw: np.ndarray) -> np.ndarray:
    """Return times as days since 1970, NaN for those that are missing."""
    values = raw.astype("datetime64[us]")
    found = values.astype(np.int64) / 86_400_000_000
    return np.where(np.isnat(values), np.nan, found)


def _numbers(raw: np.ndarray, column: Column) -> tuple[np.ndarray, Problems]:
    if raw.dtype.kind in "fiub":
        values = raw.astype(np.float64)
        return values, _infinite(values, column)
    style = {key: value for key, value in column.style.items() if key != "signs"}
    plain = None if style else _at_once(raw)
    if plain is not None:
        return plain, _infinite(plain, column)
    entries = texts(raw)
    values = numbers.numbers(entries, style)
    problems = _unread(values, entries, column, "a number") | _infinite(values, column)
    return values, problems


def _at_once(raw: np.ndarray) -> np.ndarray | None:
    """Return plain numbers without looking at each, or None if there are gaps or others."""
    if raw.dtype.kind != "O":
        return None
    try:
        return numbers.plain(raw.tolist())
    except TypeError:  # not all of them are texts
        return None


def _dates(raw: np.ndarray, column: Column) -> tuple[np.ndarray, Problems]:
    if raw.dtype.kind == "M":
        return days(raw), {}
    entries = texts(raw)
    values = dates.dates(entries, column.style)
    return values, _unread(values, entries, column, f"a date ({column.style.get('order')})")


def _unread(values: np.ndarray, entries: list[str | None], column: Column, what: str) -> Problems:
    """Return the entries that are there and were not read."""
    return {
        place: f"column {column.name!r}: {shorten(entry)!r} is not {what}"
        for place in np.flatnonzero(np.isnan(values)).tolist()
        if (entry := entries[place]) is not None
    }


def _infinite(values: np.ndarray, column: Column) -> Problems:
    places = np.flatnonzero(np.isinf(values)).tolist()
    return dict.fromkeys(places, f"column {column.name!r}: the number is infinite")
