"""Entries of a column: as texts, of which some say that something is missing, and as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np

from mercer.sources import dates, numbers
from mercer.sources.libsvm import fit_width
from mercer.sources.sheet import BadRow, Column
from mercer.sources.source import Piece, objects

__all__ = [
    "MISSING",
    "NO_RDKIT",
    "Entries",
    "Problems",
    "bad_rows",
    "complement",
    "convert",
    "count",
    "days",
    "describe_bad_rows",
    "is_mostly",
    "note_left_out",
    "note_sample",
    "rdkit_is_there",
    "read_values",
    "shorten",
    "texts",
    "to_frame",
    "unreadable_smiles",
]

# What stands for nothing, written exactly so, with or without spaces around it. A dash is an
# entry where there is a plus too, as for the strands of DNA.
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "-"}
)
NO_RDKIT = (
    "SMILES were not checked, because RDKit is not installed: pip install 'mercer[molecules]'"
)
Problems = dict[int, str]  # what is wrong, by the place of the row
MAX_NAMED = 5  # bad rows that are named
FARTHEST_DAY = 1e6  # days from 1970 that are dates; larger numbers count something else
SKIP = "--skip-bad / skip_bad=True leaves them out"


@dataclass(frozen=True)
class Entries:
    """The different entries of a column, in the order in which they come first.

    Attributes
    ----------
    name : str
    counts : dict of str to int
        How often each is there.
    missing : int
    signs : bool
        Whether a dash is an entry.
    """

    name: str
    counts: dict[str, int]
    missing: int
    signs: bool = False

    @property
    def present(self) -> int:
        return sum(self.counts.values())

    @property
    def total(self) -> int:
        return self.present + self.missing

    @property
    def examples(self) -> tuple[str, ...]:
        return tuple(shorten(entry) for entry in islice(self.counts, 3))


def texts(raw: np.ndarray, signs: bool = False) -> list[str | None]:
    """Return entries without spaces around them, None for those that are missing."""
    missing = MISSING - {"-"} if signs else MISSING
    if raw.dtype.kind == "O":
        try:
            return [None if e in missing else e for e in map(str.strip, raw.tolist())]
        except TypeError:
            return [_text(e, missing) for e in raw.tolist()]
    if raw.dtype.kind == "M":
        days = np.datetime_as_string(raw, unit="auto").tolist() if len(raw) else []
        return [None if e == "NaT" else e for e in days]
    return [_text(e, missing) for e in raw.tolist()]


def count(name: str, raw: np.ndarray) -> Entries:
    """Return the different entries of a column."""
    counts = Counter(texts(raw, signs=True))
    missing = counts.pop(None, 0)
    signs = "+" in counts
    if not signs:
        missing += counts.pop("-", 0)
    return Entries(name, dict(counts), missing, signs)  # type: ignore[arg-type]


def is_mostly(share: float, present: int) -> bool:
    """Tell whether a column is of a kind although some of its entries are not.

    These are fewer than 5 %, or one of at least eight: it is better to complain about a few than
    to set a column aside without a word.
    """
    return share > 0.95 or (present >= 8 and round((1 - share) * present) <= 1)


def shorten(entry: str, longest: int = 40) -> str:
    return entry if len(entry) <= longest else entry[: longest - 1] + "…"


def _text(entry: object, missing: frozenset[str]) -> str | None:
    """Return the text of any entry; what is not equal to itself is not a number."""
    if entry is None or (isinstance(entry, float) and entry != entry):
        return None
    if isinstance(entry, float) and entry.is_integer() and abs(entry) < 2**53:
        return str(int(entry))
    text = str(entry).strip()
    return None if text in missing else text


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
        return fit_width(raw, column), {}
    if column.kind == "graph":
        return raw, {}
    if column.kind == "numeric":
        return _numbers(raw, column)
    if column.kind == "date":
        return _dates(raw, column)
    entries = texts(raw, bool(column.style.get("signs")))
    problems: Problems = {}
    if column.kind == "smiles" and rdkit_is_there():
        bad = {entry for entry in set(entries) if entry is not None and unreadable_smiles(entry)}
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
    if raw.dtype.kind == "f":  # read before: days since 1970
        values = np.where(np.isnan(values) & (np.abs(raw) < FARTHEST_DAY), raw, values)
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


def read_values(piece: Piece, columns: Sequence[Column]) -> tuple[dict[str, Any], Problems]:
    """Return the values of some columns, and what is wrong with some rows."""
    found: dict[str, Any] = {}
    problems: Problems = {}
    for column in columns:
        found[column.name], wrong = convert(piece.columns[column.name], column)
        problems = wrong | problems  # the first problem of a row is said
    return found, problems


def to_frame(found: Mapping[str, Any], keep: np.ndarray) -> Any:
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


def complement(count: int, places: Collection[int]) -> np.ndarray:
    """Return the numbers below `count` except some."""
    good = np.ones(count, dtype=bool)
    good[list(places)] = False
    return np.flatnonzero(good)


def bad_rows(piece: Piece, problems: Problems, unit: str) -> tuple[BadRow, ...]:
    """Return all bad rows in the order of the file."""
    found = [BadRow(int(piece.lines[place]), why, unit) for place, why in problems.items()]
    return tuple(sorted([*piece.bad, *found], key=lambda row: row.line))


def describe_bad_rows(rows: Sequence[BadRow], name: str, total: int | None = None) -> str:
    """Return the error about bad rows."""
    many = "1 bad row" if len(rows) == 1 else f"{len(rows):,} bad rows"
    of = f" of {total:,}" if total is not None else ""
    return f"{name} has {many}{of}: {_some(rows)}; {SKIP}"


def note_left_out(rows: Sequence[BadRow], total: int) -> list[str]:
    """Return what to say about bad rows that were left out."""
    if not rows:
        return []
    many = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
    return [f"{many} of {total:,} could not be read and were left out: {_some(rows)}"]


def note_sample(piece: Piece, limit: int | None, seed: int) -> list[str]:
    """Return what to say about a sample."""
    if limit is None or piece.total - len(piece.bad) <= limit:
        return []
    return [f"of {piece.total:,} rows, a random sample of {len(piece):,} was read (seed {seed})"]


def _some(rows: Sequence[BadRow]) -> str:
    more = f"; and {len(rows) - MAX_NAMED:,} more" if len(rows) > MAX_NAMED else ""
    return "; ".join(map(str, rows[:MAX_NAMED])) + more


def rdkit_is_there() -> bool:
    """Tell whether RDKit is there."""
    return find_spec("rdkit") is not None


def unreadable_smiles(entry: str) -> bool:
    """Tell whether RDKit cannot read a SMILES."""
    from mercer.domains.molecules import read_molecule
    from mercer.errors import DomainError

    try:
        read_molecule(entry)
    except DomainError:
        return True
    return False
