"""What each column is taken for, and why: the rules are in `infer_column`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from mercer.errors import DomainError, suggestion
from mercer.sources import dates, numbers
from mercer.sources.entries import Entries, count, is_mostly, shorten
from mercer.sources.sheet import KINDS, Column
from mercer.sources.source import suggest_name
from mercer.sources.text_kinds import infer_text_kind

__all__ = [
    "COUNTS",
    "admit_types",
    "column_of_kind",
    "infer_column",
    "infer_decimal",
    "infer_quantity",
]

FLOAT_DIGITS = 15  # that a float can tell apart
DECIMAL_ROWS = 1000  # that tell which decimal sign a file has
ALIASES = {
    "number": "numeric", "numbers": "numeric", "category": "categorical",
    "categories": "categorical", "texts": "text", "sequences": "sequence", "dates": "date",
    "graphs": "graph", "ignore": "identifier", "drop": "identifier", "id": "identifier",
}  # fmt: skip
CHOICES = (*(kind for kind in KINDS if kind not in ("constant", "missing")), "ignore")
DATED = re.compile(r"date|datum|day|time|when", re.IGNORECASE)
ID_WORDS = frozenset({
    "id", "ids", "idx", "index", "row", "rowid", "rownum", "rowname", "rownames", "uid", "uuid",
    "guid", "key", "pk", "nr", "no", "num", "serial", "unnamed",
})  # fmt: skip
NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
ZEROS = re.compile(r"0\d+")
COUNTS = "counts the rows"


def admit_types(types: Mapping[str, str] | None, columns: Collection[str]) -> dict[str, str]:
    """Return what the user says about columns, in the words of `KINDS`."""
    said = {}
    for column, kind in (types or {}).items():
        if column not in columns:
            raise DomainError(
                f"types: there is no column {column!r}{suggest_name(column, columns)}"
            )
        word = ALIASES.get(str(kind).lower(), str(kind).lower())
        if word not in CHOICES:
            raise DomainError(
                f"types: column {column!r} cannot be {kind!r}{suggestion(str(kind), CHOICES)}"
            )
        said[column] = word
    return said


def infer_decimal(raws: Collection[Any], delimiter: str | None) -> str | None:
    """Return the decimal sign that the columns of a file tell, for those that could be read both
    ways; where none tells, it is a comma between semicolons."""
    found = set()
    for raw in raws:
        if isinstance(raw, np.ndarray) and raw.dtype.kind == "O":
            entries = count("", raw[:DECIMAL_ROWS])
            reading = numbers.read_style(entries.counts)
            if entries.counts and is_mostly(reading.share, entries.present):
                found.add(reading.decimal)
    found.discard(None)
    if len(found) == 1:
        return found.pop()
    return "," if not found and delimiter == ";" else None


def infer_column(
    name: str, raw: np.ndarray, rows: np.ndarray, decimal: str | None = None, first: bool = False
) -> tuple[Column, list[str]]:
    """Return what a column is taken for, and what to say about it beside that.

    A column without entries is missing, one with a single entry and no gap constant. It is of
    dates or numbers if more than 95 % of its entries are. Numbers are identifiers if they are
    whole, all different and the column is called so, or if they count the rows in the `first`
    column, or have more than 15 digits; numbers with zeros before them are words. Words are
    judged by `infer_text_kind`.

    Parameters
    ----------
    name : str
    raw : ndarray
        Entries as in `Piece`.
    rows : ndarray of int
        The number of each row in the file.
    decimal : str, optional
        The decimal sign of the file, where the column could be read in two ways.
    first : bool
        Whether it is the first column.
    """
    if raw.dtype.kind in "fiuM":
        return _typed(name, raw, rows, first), []
    if nested := _nested(raw):
        return Column(name, *nested, missing=sum(entry is None for entry in raw)), []
    entries = count(name, raw)
    about = _about(entries)
    if not entries.counts:
        return Column(name, "missing", "there is no entry", **about), []
    if len(entries.counts) == 1 and entries.total > 1:
        return Column(name, *_single(entries), **about), []
    if dated := _dates(entries):
        style, why, notes = dated
        return Column(name, "date", why, **about | {"style": about["style"] | style}), notes
    if numeric := _numbers(entries, rows, decimal, first):
        kind, style, why, notes = numeric
        return Column(name, kind, why, **about | {"style": about["style"] | style}), notes
    kind, why = infer_text_kind(entries)
    if any(map(ZEROS.fullmatch, entries.counts)) and all(map(str.isdecimal, entries.counts)):
        why += ", codes because of the zeros before them"
    return Column(name, kind, why, **about), _mixed(entries)


def column_of_kind(name: str, kind: str, raw: np.ndarray, decimal: str | None, why: str) -> Column:
    """Return a column of a kind that was said, with the style of its entries."""
    if raw.dtype.kind != "O" or _nested(raw):
        rows = np.arange(len(raw))
        return replace(infer_column(name, raw, rows)[0], kind=kind, why=why, style={})
    entries = count(name, raw)
    about = _about(entries)
    if kind == "numeric":
        about["style"] |= _choose_style(numbers.read_style(entries.counts), decimal)
    elif kind == "date":
        about["style"] |= dates.read_order(entries.counts, compact=True)[0]
    return Column(name, kind, why, **about)


def infer_quantity(
    name: str, raw: np.ndarray, decimal: str | None
) -> tuple[str | None, list[str]]:
    """Return "numeric" or "date" if the entries of a column are such, with what to say."""
    if raw.dtype.kind in "fiu":
        return "numeric", []
    if raw.dtype.kind == "M":
        return "date", []
    entries = count(name, raw)
    if dated := _dates(entries):
        return "date", dated[2]
    if numeric := _numbers(entries, np.arange(len(raw)), decimal, False):
        return "numeric", numeric[3]
    return None, []


def _about(entries: Entries) -> dict[str, Any]:
    style = {"signs": True} if entries.signs and "-" in entries.counts else {}
    return {
        "missing": entries.missing,
        "distinct": len(entries.counts),
        "examples": entries.examples,
        "style": style,
    }


def _single(entries: Entries) -> tuple[str, str]:
    only = shorten(next(iter(entries.counts)))
    if entries.missing:
        return "categorical", f"{only!r} or nothing"
    return "constant", f"every entry is {only!r}"


def _dates(entries: Entries) -> tuple[dict[str, Any], str, list[str]] | None:
    """Return style, reason and notes of a column of dates, or None if it is none."""
    if not entries.counts:
        return None
    compact = DATED.search(entries.name) is not None
    few = dict(islice(entries.counts.items(), 50))
    if dates.read_order(few, compact)[1] <= 0.5:  # most columns end here
        return None
    style, share, doubt = dates.read_order(entries.counts, compact)
    if not is_mostly(share, entries.present):
        return None
    if not any(entry.isdecimal() for entry in entries.counts):
        style.pop("compact", None)
    notes = []
    if doubt:
        notes.append(
            f"the dates of column {entries.name!r} could have the day or the month first; "
            f"they were read {style['order']}"
        )
    return style, f"dates, {style['order']}, {_in_rows(entries, share)}", notes


def _numbers(
    entries: Entries, rows: np.ndarray, decimal: str | None, first: bool
) -> tuple[str, dict[str, Any], str, list[str]] | None:
    """Return kind, style, reason and notes of a column of numbers, or None if it is none."""
    reading = numbers.read_style(entries.counts)
    if not is_mostly(reading.share, entries.present) or any(map(ZEROS.fullmatch, entries.counts)):
        return None
    style = _choose_style(reading, decimal)
    values = numbers.numbers(list(entries.counts), style)
    present = entries.present
    if len(entries.counts) == present and (why := _counts_rows(entries.name, values, rows, first)):
        return "identifier", style, why, []
    notes = []
    if reading.other and reading.style.get("thousands") == "," and decimal is None:
        notes.append(
            f"the commas in column {entries.name!r} were read as separators of thousands; "
            "they could be decimal commas"
        )
    why = _in_rows(entries, reading.share)
    special = numbers.shown(style)
    why = "numbers " + why + (f" ({special})" if special else "") + _few(values, present)
    return "numeric", style, why, notes


def _mixed(entries: Entries) -> list[str]:
    """Say that many entries of a column of words are numbers."""
    values = numbers.numbers(list(entries.counts), {})
    times = np.array(list(entries.counts.values()))
    share = times @ ~np.isnan(values) / entries.present
    if not 0.5 <= share < 1:
        return []
    word = next(e for e, v in zip(entries.counts, values, strict=True) if np.isnan(v))
    return [
        f"column {entries.name!r} has {share:.0%} numbers, but also entries such as "
        f"{shorten(word)!r}; --types / types can say that it is numeric"
    ]


def _choose_style(reading: numbers.Reading, decimal: str | None) -> dict[str, str]:
    """Return the style, the other one if the file speaks for it."""
    other = reading.other
    if other is not None and decimal == other.get("decimal", "."):
        return other
    return reading.style


def _counts_rows(name: str, values: np.ndarray, rows: np.ndarray, first: bool) -> str:
    """Return why different numbers, one for each row, only name the rows, or nothing."""
    values = values[~np.isnan(values)]
    if len(values) < 2 or not (values == np.rint(values)).all():
        return ""
    if names_rows(name):
        return "whole numbers, all different, in a column that is called so: it names the row"
    if np.abs(values).min() >= 10.0**FLOAT_DIGITS:
        return f"all different, more than {FLOAT_DIGITS} digits: it names the row"
    if first and len(values) == len(rows) >= 20 and not DATED.search(name):
        pace = (values[-1] - values[0]) / (rows[-1] - rows[0])
        if (np.diff(values) > 0).all() and values[0] - rows[0] * pace < 2 and 1 <= pace <= 1.1:
            return COUNTS
    return ""


def _few(values: np.ndarray, present: int) -> str:
    """Say that there are few whole numbers, which could be names."""
    values = values[~np.isnan(values)]
    if len(values) <= min(10, present / 2) and (values == np.rint(values)).all():
        return f", only {len(values)} different whole ones (they could be categories)"
    return ""


def _in_rows(entries: Entries, share: float) -> str:
    good = round(share * entries.present)
    if good == entries.total:
        return f"in all {entries.total:,} rows"
    return f"in {good:,} of {entries.total:,} rows"


def _typed(name: str, raw: np.ndarray, rows: np.ndarray, first: bool) -> Column:
    """Return what a column is taken for whose entries are numbers or times by their type."""
    times = raw.dtype.kind == "M"
    values = raw if times else raw.astype(np.float64)
    gaps = np.isnat(raw) if times else np.isnan(values)
    present = raw[~gaps]
    different = np.unique(present)
    about: dict[str, Any] = {
        "missing": int(gaps.sum()),
        "distinct": len(different),
        "examples": _first(present),
    }
    if not len(present):
        return Column(name, "missing", "there is no entry", **about)
    if len(different) == 1 and len(raw) > 1 and not gaps.any():
        return Column(name, "constant", f"every entry is {about['examples'][0]}", **about)
    if times:
        return Column(name, "date", f"times in {len(present):,} of {len(raw):,} rows", **about)
    if len(different) == len(present) and (why := _counts_rows(name, values, rows, first)):
        return Column(name, "identifier", why, **about)
    where = f"all {len(raw):,}" if not gaps.any() else f"{len(present):,} of {len(raw):,}"
    why = f"numbers in {where} rows{_few(different.astype(np.float64), len(present))}"
    return Column(name, "numeric", why, **about)


def _first(values: np.ndarray) -> tuple[str, ...]:
    """Return the first few different entries."""
    return tuple(dict.fromkeys(shorten(str(value)) for value in values[:100].tolist()))[:3]


def _nested(raw: np.ndarray) -> tuple[str, str] | None:
    """Return kind and reason for entries that are no single values."""
    one = next((entry for entry in raw[:DECIMAL_ROWS] if entry is not None), None)
    if one is None or isinstance(one, str | int | float | bool):
        return None
    from mercer.domains.graph_conversion import is_graph

    if is_graph(one):
        return "graph", "graphs"
    if isinstance(one, list | tuple | dict | set | bytes | np.ndarray):
        return "identifier", f"entries of type {type(one).__name__} are not learned from"
    return None


def names_rows(name: str) -> bool:
    """Tell whether a name is one that people give to a number or a name of the row.

    Examples
    --------
    >>> [names_rows(name) for name in ("PassengerId", "row", "Unnamed: 0", "idle", "#")]
    [True, True, True, False, True]
    """
    parts = [part.lower() for part in NAME_PARTS.findall(name)]
    while len(parts) > 1 and parts[-1].isdecimal():
        parts.pop()
    return name.strip() == "#" or (bool(parts) and parts[-1] in ID_WORDS)
