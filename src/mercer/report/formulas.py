"""Formulas: texts that a spreadsheet would run, and how they are written so that it does not.

Whoever can put a label into a table can put ``=cmd|...`` there, and a spreadsheet that opens our
predictions would obey. So a text that begins as formulas do gets an apostrophe before it, which
spreadsheets take for "this is a text". Numbers, also those that are written as texts, stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["formulas", "harmless"]

# The last four are the wide forms that some keyboards write.
FIRST = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def is_formula(cell: Any) -> bool:
    """Tell whether a spreadsheet would take a cell for a formula.

    Examples
    --------
    >>> [is_formula(cell) for cell in ("=1+1", "-5.0", "- see below", -5.0, "a=b")]
    [True, False, True, False, False]
    """
    if not isinstance(cell, str) or not cell.lstrip(" ").startswith(FIRST):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def harmless(cell: Any) -> Any:
    """Return a cell that no spreadsheet runs.

    Examples
    --------
    >>> harmless("=cmd|'/c calc'!A1"), harmless(3.0)
    ("'=cmd|'/c calc'!A1", 3.0)
    """
    return f"'{cell}" if is_formula(cell) else cell


def formulas(labels: Iterable[Any]) -> list[str]:
    """Return those labels that are written with an apostrophe before them.

    Examples
    --------
    >>> formulas(["cat", "@dog"])
    ['@dog']
    """
    return [label for label in labels if is_formula(label)]
