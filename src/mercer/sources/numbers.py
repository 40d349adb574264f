"""Numbers as people write them: 1.5, 1,5, 1,234.5, 1.234,5, 1 234, 12 % and $3.

A style says how the numbers of a column are written: ``decimal`` and ``thousands`` are single
characters, ``symbol`` is a sign before or after them. Only what differs from plain numbers is in
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from mercer.sources.dates import MAX_LOOKED_AT

__all__ = ["Reading", "looks_numeric", "numbers", "plain", "read_style", "shown"]

DIGIT = re.compile(r"\d|inf", re.IGNORECASE)
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
SYMBOLS = "%$€£¥"
SPACES = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "−": "-", "’": "'"})
# In the order of preference where several read the same.
STYLES = (
    (".", ""),
    (".", ","),
    (".", " "),
    (".", "'"),
    (",", ""),
    (",", "."),
    (",", " "),
    (",", "'"),
)


class Reading:
    """How many entries of a column are numbers in the best style, and whether that is certain.

    Attributes
    ----------
    style : dict
    share : float
        Of the entries that are there.
    decimal : str or None
        The decimal sign, if no other one reads as many entries and one occurs.
    other : dict or None
        The style with the other decimal sign that reads as many.
    """

    def __init__(
        self,
        style: dict[str, str],
        share: float,
        decimal: str | None,
        other: dict[str, str] | None,
    ) -> None:
        self.style = style
        self.share = share
        self.decimal = decimal
        self.other = other


def looks_numeric(entry: str) -> bool:
    """Tell whether a text is a number in some style.

    Examples
    --------
    >>> [looks_numeric(text) for text in ("1.5", "1,5", "1 234", "5 %", "$3", "1,23,4", "five")]
    [True, True, True, True, True, False, False]
    """
    entry = entry.strip()
    symbol = _symbol([entry])
    return any(
        _read(entry, decimal, thousands, symbol) is not None for decimal, thousands in STYLES
    )


def read_style(counts: Mapping[str, int]) -> Reading:
    """Find the style in which most entries are numbers.

    One that needs no number of more than three digits to be without separators, if there are
    separators, wins over one that does; after that, the order is that of `STYLES`.
    """
    entries = list(counts)
    if plain(entries) is not None:
        return Reading({}, 1.0, *_doubt(entries[:MAX_LOOKED_AT]))
    few = entries[:MAX_LOOKED_AT]
    if not any(map(DIGIT.search, few)):
        return Reading({}, 0.0, None, None)
    symbol = _symbol(few)
    weights = np.array([counts[entry] for entry in few], dtype=np.float64)
    scores = [_score(few, weights, *style, symbol) for style in STYLES]
    best = max(range(len(STYLES)), key=lambda i: scores[i])  # the first of equals
    decimal, thousands = STYLES[best]
    same = [i for i in range(len(STYLES)) if scores[i] == scores[best] and STYLES[i][0] != decimal]
    used = any(sign in entry for entry in few for sign in (".", ","))
    style = _style(decimal, thousands, symbol)
    other = _style(*STYLES[same[0]], symbol) if same and used else None
    return Reading(
        style,
        _share(counts, style),
        decimal if used and not same else None,
        other,
    )


def numbers(entries: Sequence[str | None], style: Mapping[str, Any]) -> np.ndarray:
    """Return numbers, NaN for what is missing or no number, inf for what is infinite.

    Examples
    --------
    >>> numbers(["1.234,5", None, "many"], {"decimal": ",", "thousands": "."})
    array([1234.5,    nan,    nan])
    """
    decimal, thousands = style.get("decimal", "."), style.get("thousands", "")
    symbol = style.get("symbol", "")
    if decimal == "." and not thousands and not symbol:
        found = plain(entries)
        if found is not None:
            return found
    values = np.full(len(entries), np.nan)
    known: dict[str, float] = {}
    for place, entry in enumerate(entries):
        if entry is None:
            continue
        value = known.get(entry)
        if value is None:
            read = _read(entry, decimal, thousands, symbol)
            value = known[entry] = np.nan if read is None else read
        values[place] = value
    return values


def shown(style: Mapping[str, Any]) -> str:
    """Return what is special about a style, in words.

    Examples
    --------
    >>> shown({"decimal": ",", "thousands": "."})
    'decimal comma, thousands separated by .'
    """
    said = []
    if style.get("decimal") == ",":
        said.append("decimal comma")
    if style.get("thousands"):
        sign = style["thousands"]
        said.append("thousands separated by " + ("spaces" if sign == " " else sign))
    if style.get("symbol"):
        said.append(f"with {style['symbol']}")
    return ", ".join(said)


def plain(entries: Sequence[Any]) -> np.ndarray | None:
    """Return plain numbers at once, or None if something else is among them."""
    try:
        values = np.fromiter(map(float, entries), dtype=np.float64, count=len(entries))
    except (ValueError, TypeError):
        return None
    # Python also reads 1_000, which nobody means.
    return None if "_" in "".join(entries) else values


@cache
def _pattern(decimal: str, thousands: str, strict: bool) -> re.Pattern[str]:
    """Return the pattern of a style; a strict one wants separators in all large numbers."""
    point = re.escape(decimal)
    whole = r"\d+"
    if thousands:
        rest = r"\d{1,3}" if strict else whole
        whole = rf"(?:[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|{rest})"
    return re.compile(rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


def _read(entry: str, decimal: str, thousands: str, symbol: str = "") -> float | None:
    """Return the number that a text is in a style, or None."""
    entry = _bare(entry, symbol)
    if _pattern(decimal, thousands, False).fullmatch(entry):
        if thousands:
            entry = entry.replace(thousands, "")
        return float(entry.replace(decimal, "."))
    return float(entry) if INFINITE.fullmatch(entry) else None


def _bare(entry: str, symbol: str) -> str:
    """Return a number without the symbol before or after it, with plain spaces and signs."""
    entry = entry.translate(SPACES)
    if symbol and symbol in entry:
        if entry.endswith(symbol):
            return entry[:-1].rstrip()
        sign = entry[0] if entry[0] in "+-" else ""
        rest = entry[len(sign) :].lstrip()
        if rest.startswith(symbol):
            return sign + rest[1:].lstrip()
    return entry


def _symbol(entries: Iterable[str]) -> str:
    """Return the one symbol that stands before or after numbers, if there is one."""
    found = {sign for entry in entries for sign in SYMBOLS if sign in entry}
    return found.pop() if len(found) == 1 else ""


def _style(decimal: str, thousands: str, symbol: str) -> dict[str, str]:
    style = {"decimal": decimal} if decimal != "." else {}
    if thousands:
        style["thousands"] = thousands
    if symbol:
        style["symbol"] = symbol
    return style


def _score(
    entries: list[str], weights: np.ndarray, decimal: str, thousands: str, symbol: str
) -> tuple[float, float]:
    """Return how many entries a style reads, and how many of them in its strict form."""
    bare = [_bare(entry, symbol) for entry in entries]
    lenient, strict = (_pattern(decimal, thousands, s).fullmatch for s in (False, True))
    read = np.array([lenient(entry) is not None for entry in bare])
    well = np.array([strict(entry) is not None for entry in bare])
    return float(weights @ read), float(weights @ well)


def _share(counts: Mapping[str, int], style: dict[str, str]) -> float:
    values = numbers(list(counts), style)
    weights = np.fromiter(counts.values(), dtype=np.float64, count=len(counts))
    return float(weights @ ~np.isnan(values)) / max(float(weights.sum()), 1.0)


def _doubt(entries: list[str]) -> tuple[str | None, dict[str, str] | None]:
    """Return the decimal sign of plain numbers, or how else they could be read.

    1.234 could be one thousand and something, if all numbers with a point are such.
    """
    pointed = [entry for entry in entries if "." in entry]
    if not pointed:
        return None, None
    match = _pattern(",", ".", True).fullmatch
    for entry in pointed:
        if match(entry) is None:
            return ".", None
    return None, {"decimal": ",", "thousands": "."}
