"""Entries of a column as texts, and which of them say that something is missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

__all__ = ["MISSING", "Entries", "count", "mostly", "shorten", "texts"]

# What stands for nothing, written exactly so, with or without spaces around it. A dash is an
# entry where there is a plus too, as for the strands of DNA.
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "-"}
)
SHARE = 0.95
EIGHT = 8
SHOWN = 3  # examples
LONGEST = 40  # characters of an example


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
        return tuple(shorten(entry) for entry in islice(self.counts, SHOWN))


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


def mostly(share: float, present: int) -> bool:
    """Tell whether a column is of a kind although some of its entries are not.

    These are fewer than 5 %, or one of at least eight: it is better to complain about a few than
    to set a column aside without a word.
    """
    return share > SHARE or (present >= EIGHT and round((1 - share) * present) <= 1)


def shorten(entry: str) -> str:
    return entry if len(entry) <= LONGEST else entry[: LONGEST - 1] + "…"


def _text(entry: Any, missing: frozenset[str]) -> str | None:
    """Return the text of any entry; what is not equal to itself is not a number."""
    if entry is None or (isinstance(entry, float) and entry != entry):
        return None
    if isinstance(entry, float) and entry.is_integer() and abs(entry) < 2**53:
        return str(int(entry))
    text = str(entry).strip()
    return None if text in missing else text
