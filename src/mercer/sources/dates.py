"""Dates as people write them, as days since the first of January 1970.

Read are years first (2024-03-01, 2024/3/1, 2024.03.01, 2024-03), days or months first (1.3.2024,
01/03/24), months by their English names (1 March 2024, Mar 1, 2024, 1-Mar-24) and, where the
column's name speaks of dates, 20240301; all with or without a time. A time with a zone is turned
into Greenwich's. Years of two digits are from 1969 to 2068.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Any

import numpy as np

__all__ = ["dates", "read_order"]

MAX_LOOKED_AT = 10_000  # entries from which the order of dates, or the style of numbers, is found
EPOCH = date(1970, 1, 1).toordinal()
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
LONG = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "sept",
)  # fmt: skip
TIME = (
    r"(?:(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?:-(?P<m1>\d{1,2})|(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2}))"
    + TIME
)
NUMERIC = re.compile(
    r"(?P<one>\d{1,2})(?P<sep>[-/.])(?P<two>\d{1,2})(?P=sep)(?P<year>\d{4}|\d{2})" + TIME
)
NAMED = re.compile(
    r"(?:[A-Za-z]{3,9},?\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[\s-]*"
    r"(?P<name>[A-Za-z]{3,9})\.?,?[\s-]*"
    r"(?P<year>\d{4}|\d{2})" + TIME
)
NAME_FIRST = re.compile(
    r"(?:[A-Za-z]{3,9},\s+)?(?P<name>[A-Za-z]{3,9})\.?\s+"
    r"(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})" + TIME
)
COMPACT = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})" + TIME)


def read_order(
    counts: Mapping[str, int], compact: bool = False
) -> tuple[dict[str, Any], float, bool]:
    """Find how the dates of a column are written.

    Parameters
    ----------
    counts : mapping
        Entries, and how often each is there.
    compact : bool
        Whether eight digits may be a date.

    Returns
    -------
    style : dict
        With "order": "year first", "day first", "month first" or "month by name".
    share : float
        Of the entries that are dates in that order.
    doubt : bool
        Whether days and months could be the other way around: then the day is first between
        points, and the month between other signs.
    """
    few = list(islice(counts, MAX_LOOKED_AT))
    extra = {"compact": True} if compact else {}
    forms = {_form(entry, compact) for entry in few} - {""}
    if "numbers" not in forms:
        order = "month by name" if forms == {"name"} else "year first"
        return {"order": order, **extra}, _share(counts, {"order": order, **extra}), False
    shares = {
        order: _share(counts, {"order": order, **extra}) for order in ("day first", "month first")
    }
    doubt = shares["day first"] == shares["month first"]
    if doubt:
        points = any("." in entry for entry in few)
        order = "day first" if points else "month first"
    else:
        order = max(shares, key=lambda known: shares[known])
    return {"order": order, **extra}, shares[order], doubt


def dates(entries: Sequence[str | None], style: Mapping[str, Any]) -> np.ndarray:
    """Return days since 1970, NaN for what is missing or no date.

    Examples
    --------
    >>> dates(["2.1.1970", "1970-01-01 12:00", "soon"], {"order": "day first"})
    array([1. , 0.5, nan])
    """
    day_first = style.get("order") == "day first"
    compact = bool(style.get("compact"))
    known: dict[str | None, float] = {None: np.nan}
    for entry in entries:
        if entry is not None and entry not in known:
            known[entry] = _days(entry, day_first, compact)
    return np.array([known[entry] for entry in entries], dtype=np.float64)


def _form(entry: str, compact: bool) -> str:
    if NUMERIC.fullmatch(entry):
        return "numbers"
    if YEAR_FIRST.fullmatch(entry) or (compact and COMPACT.fullmatch(entry)):
        return "year"
    return "name" if NAMED.fullmatch(entry) or NAME_FIRST.fullmatch(entry) else ""


def _share(counts: Mapping[str, int], style: Mapping[str, Any]) -> float:
    few = list(islice(counts, MAX_LOOKED_AT))
    weights = np.array([counts[entry] for entry in few], dtype=np.float64)
    good = ~np.isnan(dates(few, style))
    return float(weights @ good) / max(float(weights.sum()), 1.0)


def _days(entry: str, day_first: bool, compact: bool) -> float:
    """Return the days since 1970 of one date, or NaN."""
    if match := YEAR_FIRST.fullmatch(entry):
        month = match["month"] or match["m1"]
        return _value(int(match["year"]), int(month), int(match["day"] or 1), match)
    if match := NUMERIC.fullmatch(entry):
        one, two = int(match["one"]), int(match["two"])
        day, month_ = (one, two) if day_first else (two, one)
        return _value(_year(match["year"]), month_, day, match)
    if match := NAMED.fullmatch(entry) or NAME_FIRST.fullmatch(entry):
        name = match["name"].lower()
        if name in MONTHS or name in LONG:
            month_ = MONTHS.index(name[:3]) + 1
            return _value(_year(match["year"]), month_, int(match["day"]), match)
    elif compact and (match := COMPACT.fullmatch(entry)):
        return _value(int(match["year"]), int(match["month"]), int(match["day"]), match)
    return np.nan


def _year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 2:
        return year + (1900 if year >= 69 else 2000)
    return year


def _value(year: int, month: int, day: int, match: re.Match[str]) -> float:
    """Return days from the parts of a date and the time behind it."""
    try:
        days = float(date(year, month, day).toordinal() - EPOCH)
    except ValueError:
        return np.nan
    if match["hour"] is None:
        return days
    hour, minute = int(match["hour"]), int(match["minute"])
    second = float((match["second"] or "0").replace(",", "."))
    if match["half"]:
        if not 1 <= hour <= 12:
            return np.nan
        hour = hour % 12 + (12 if match["half"].lower() == "pm" else 0)
    if hour > 24 or minute > 59 or second >= 61:
        return np.nan
    seconds = hour * 3600 + minute * 60 + second - _offset(match["zone"])
    return days + seconds / 86400


def _offset(zone: str | None) -> int:
    """Return by how many seconds a zone is before Greenwich."""
    if zone is None or zone[0] not in "+-":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -seconds if zone[0] == "-" else seconds
