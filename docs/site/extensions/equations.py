"""Numbers of equations in docstrings and on the pages that go through the texts.

A docstring cites Bishop as (6.17), and the tutorial as (21) if it names the tutorial's authors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

CODE = re.compile(r"^\s*(>>>|\.\.\.)")
BISHOP = re.compile(r"\((6\.\d+)((?:, 6\.\d+)*)\)")
TUTORIAL = re.compile(r"\((\d{1,2})((?:, \d{1,2})*)\)")
AUTHORS = re.compile(r"Jäkel,\s+Schölkopf")
BETWEEN = re.compile(r"(`+[^`]*`+)")
RANGE = re.compile(r"\(((?:6\.)?\d+)\)? to \(?((?:6\.)?\d+)\)")
# The last equation of each text: whatever has a larger number is of another one.
LAST = {"bishop": 37, "tutorial": 25}


def label(text: str, number: str) -> str:
    """Return the name of the place where a page goes through an equation."""
    return f"equation-{text}-{number.replace('.', '-')}"


def is_equation(text: str, number: str) -> bool:
    """Tell whether a text has an equation of this number."""
    chapter, _, last = number.rpartition(".")
    return bool(chapter) == (text == "bishop") and 1 <= int(last) <= LAST[text]


def numbers_in(line: str, text: str) -> list[str]:
    """Return the equations of a text that a line names, ranges with all that is between."""
    pattern = BISHOP if text == "bishop" else TUTORIAL
    found = [n for one in pattern.finditer(line) for n in one[0].strip("()").split(", ")]
    for first, last in RANGE.findall(line):
        head, _, start = first.rpartition(".")
        stop = int(last.rsplit(".", maxsplit=1)[-1])
        found += [f"{head}.{k}".lstrip(".") for k in range(int(start), stop + 1)]
    return [number for number in dict.fromkeys(found) if is_equation(text, number)]


def prose_of(docstring: str) -> list[str]:
    """Return the lines of a docstring that are neither code nor what it prints."""
    kept, printed = [], False
    for line in docstring.splitlines():
        code = bool(CODE.match(line))
        printed = code or (printed and bool(line.strip()))
        kept += [] if printed else [line]
    return kept


def texts_of(docstring: str) -> tuple[str, ...]:
    """Return the texts whose numbers a docstring may cite."""
    return ("bishop", "tutorial") if AUTHORS.search(docstring) else ("bishop",)


def cited_in(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield the text and the number of each equation that a docstring cites."""
    for line in prose_of(docstring):
        for text in texts_of(docstring):
            yield from ((text, number) for number in numbers_in(line, text))


def linked(line: str, texts: tuple[str, ...]) -> str:
    """Return a line of prose with its equations as links, in reStructuredText."""

    def link(text: str, found: re.Match) -> str:
        numbers = found[0].strip("()").split(", ")
        if not all(is_equation(text, number) for number in numbers):
            return found[0]
        return ", ".join(f":ref:`({number}) <{label(text, number)}>`" for number in numbers)

    parts = BETWEEN.split(line)  # every second one is code
    for text in texts:
        pattern = BISHOP if text == "bishop" else TUTORIAL
        parts[::2] = [pattern.sub(partial(link, text), part) for part in parts[::2]]
    return "".join(parts)


def order(number: str) -> int:
    """Return what equations of a text are sorted by."""
    return int(number.rsplit(".", maxsplit=1)[-1])
