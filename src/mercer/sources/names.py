"""Names of columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from mercer.errors import suggestion

__all__ = ["copies", "near", "numbers_rows", "unique_names"]

ID_WORDS = frozenset({
    "id", "ids", "idx", "index", "row", "rowid", "rownum", "rowname", "rownames", "uid", "uuid",
    "guid", "key", "pk", "nr", "no", "num", "serial", "unnamed",
})  # fmt: skip
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
SHOWN = 10


def near(word: str, known: Collection[str]) -> str:
    """Return a hint at a name like this one, or at the first known ones.

    Examples
    --------
    >>> near("wieght", ["weight", "height"])
    "; did you mean 'weight'?"
    """
    hint = suggestion(word, known)
    if hint.startswith("; did you mean") or len(known) <= SHOWN:
        return hint
    return f"; known are {', '.join(map(repr, list(known)[:SHOWN]))} and {len(known) - SHOWN} more"


def numbers_rows(name: str) -> bool:
    """Tell whether a name is one that people give to a number or a name of the row.

    Examples
    --------
    >>> [numbers_rows(name) for name in ("PassengerId", "row", "Unnamed: 0", "idle", "#")]
    [True, True, True, False, True]
    """
    parts = [part.lower() for part in PARTS.findall(name)]
    while len(parts) > 1 and parts[-1].isdecimal():
        parts.pop()
    return name.strip() == "#" or (bool(parts) and parts[-1] in ID_WORDS)


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


def copies(name: str, other: str) -> bool:
    """Tell whether a name was made from another that is there twice.

    Examples
    --------
    >>> copies("label (2)", "label")
    True
    """
    return name.startswith(f"{other} (") and name[len(other) + 2 : -1].isdecimal()
