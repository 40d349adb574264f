"""The glossary tells the truth: what it names is there, in the file that it says.

Files are brought up to date by ``python tests/unit/test_glossary.py --write``.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
ROW = re.compile(r"^\| (.+?) \|(.*?)\| (.+?) \| `([\w.]+)` \|(.*)\|$", re.MULTILINE)
OWN = "★"  # beside a word that other books do not have


def rows() -> list[tuple[str, ...]]:
    """Return word, symbol, meaning, name in the code and file of each row."""
    return [
        tuple(cell.strip() for cell in row) for row in ROW.findall(GLOSSARY.read_text("utf-8"))
    ]


def named(name: str) -> Any:
    """Return the module, class or function of a name below mercer."""
    parts = name.split(".")
    found: Any = importlib.import_module(f"mercer.{parts[0]}")
    for i, part in enumerate(parts[1:], start=2):
        if not hasattr(found, part):
            importlib.import_module(".".join(["mercer", *parts[:i]]))
        found = getattr(found, part)
    return found


def file_of(name: str) -> str:
    """Return the file that defines a name, below src/mercer."""
    found = inspect.unwrap(named(name))  # a loop that is compiled wraps its function
    source = found.__file__ if isinstance(found, ModuleType) else inspect.getsourcefile(found)
    return Path(str(source)).resolve().relative_to(ROOT / "src" / "mercer").as_posix()


def written() -> str:
    """Return the glossary with the files as they are."""

    def with_file(row: re.Match[str]) -> str:
        word, symbol, meaning, name, _ = (cell.strip() for cell in row.groups())
        return f"| {word} | {symbol} | {meaning} | `{name}` | `{file_of(name)}` |"

    return ROW.sub(with_file, GLOSSARY.read_text("utf-8"))


@pytest.mark.parametrize("word, name, file", [(row[0], row[3], row[4]) for row in rows()])
def test_every_word_is_where_the_glossary_says(word, name, file):
    assert file == f"`{file_of(name)}`", "run: python tests/unit/test_glossary.py --write"


def test_one_idea_has_one_row_and_few_words_are_our_own():
    words = [row[0].removesuffix(f" {OWN}") for row in rows()]
    assert len(words) == len(set(words))
    assert 50 < len(words) <= 90
    assert 0 < sum(row[0].endswith(OWN) for row in rows()) < 10


if __name__ == "__main__" and "--write" in sys.argv:
    GLOSSARY.write_text(written(), encoding="utf-8")
