"""The terminal: text for it, whatever the data have in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import typer

__all__ = ["LINE", "harmless", "heading", "paragraph", "plain", "require_writable", "table"]

LINE: ContextVar[tuple[str, ...]] = ContextVar("line", default=())  # what was typed, in words
WIDTH = 79
MAX_WIDTH = 110  # of a table, if the terminal has the room


def plain(value: object, longest: int = 40) -> str:
    """Return a value as one short line without anything that a terminal would obey."""
    text = harmless(" ".join(str(value).split()))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def harmless(text: str) -> str:
    """Return a text with a dot for each character that is not to be seen but to be obeyed."""
    return "".join(letter if letter.isprintable() else "·" for letter in text)


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    words: Sequence[int] = (0,),
    wrap: bool = False,
) -> str:
    """Return rows under a header, with a margin; `words` are the columns that are not numbers.

    With `wrap` the last column is broken into lines where the screen ends, rather than cut.
    """
    from mercer.bench.measure import columns

    if wrap:
        cells = [(*(plain(cell) for cell in row[:-1]), plain(row[-1], 400)) for row in rows]
        lines = [header, *_wrap_last(header, cells)]
    else:
        lines = [header, *([plain(cell, 60) for cell in row] for row in rows)]
    return "\n".join(f"  {line}" for line in columns(lines, words).splitlines())


def _wrap_last(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return rows with the last cell broken into lines, each of them a row below."""
    import shutil
    import textwrap

    room = min(max(shutil.get_terminal_size().columns - 1, WIDTH), MAX_WIDTH) - 2
    used = sum(max(map(len, column)) + 2 for column in list(zip(header, *rows, strict=True))[:-1])
    found: list[tuple[str, ...]] = []
    for *first, last in rows:
        pieces = textwrap.wrap(last, max(room - used, 24)) or [""]
        found.append((*first, pieces[0]))
        found += [(*("" for _ in first), piece) for piece in pieces[1:]]
    return found


def heading(text: str) -> None:
    """Print a title after an empty line."""
    typer.echo(f"\n{text}")


def paragraph(text: str, margin: int = 0, mark: str = "") -> None:
    """Print a sentence, broken into lines, below each other beside the mark that it may have."""
    import textwrap

    space = " " * (margin + 2)
    lines = textwrap.wrap(
        plain(text, 2000), WIDTH, break_long_words=False, break_on_hyphens=False,
        initial_indent=space + mark, subsequent_indent=space + " " * len(mark),
    )  # fmt: skip
    typer.echo("\n".join(lines))


def require_writable(path: Path, folder: bool = False) -> Path:
    """Refuse a place that cannot be written to, before the work rather than after it."""
    if path.exists():
        if folder and not path.is_dir():
            raise NotADirectoryError(20, "Not a directory", str(path))
        if not folder and path.is_dir():
            raise IsADirectoryError(21, "Is a directory", str(path))
    place = path if folder else path.parent
    while folder and not place.exists():
        place = place.parent
    if not place.exists():
        from mercer.errors import DomainError

        raise DomainError(f"there is no folder {str(place)!r}")
    if not place.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", str(place))
    return path
