"""Lettering: words from data, made fit for a picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["distinct", "plain"]

JOINERS = "\u200c\u200d"  # invisible, but Indic scripts and emoji need them


def plain(text: Any, longest: int | None = None) -> str:
    """Return a text that matplotlib draws as it is: no formulas, no line breaks, not too long.

    Between two dollar signs matplotlib would look for a formula, and complain if there is none.

    Examples
    --------
    >>> print(plain("from $5^ to $10"))
    from \\$5^ to \\$10
    >>> plain("a very\\nlong name", longest=9)
    'a very l…'
    """
    found = "".join(c if c.isprintable() or c in JOINERS else _substitute(c) for c in str(text))
    if longest is not None and len(found) > longest:
        found = found[: longest - 1].rstrip(JOINERS) + "…"
    return found.replace("$", r"\$")


def distinct(texts: Iterable[Any], longest: int) -> list[str]:
    """Return texts that are not too long; if their beginnings are the same, their ends are kept.

    Examples
    --------
    >>> distinct(["Homo sapiens", "Pan"], 8), distinct(["specimen 1", "specimen 2"], 8)
    (['Homo sa…', 'Pan'], ['spe…en 1', 'spe…en 2'])
    """
    whole = [str(text) for text in texts]
    long = [text for text in whole if len(text) > longest]
    head = longest - 1
    if len({text[:head] for text in long}) < len(long):
        head //= 2
    end = head - longest + 1  # not positive
    return [
        text if len(text) <= longest else f"{text[:head]}…{text[end:] if end else ''}"
        for text in whole
    ]


def _substitute(character: str) -> str:
    return " " if character.isspace() else "\ufffd"
