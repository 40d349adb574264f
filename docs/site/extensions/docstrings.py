"""Docstrings are plain text with formulas, |x − z|², support_, where RST would read markup."""

from __future__ import annotations

import re
from typing import Any

from equations import linked, texts_of
from sphinx.application import Sphinx

SECTION = re.compile(r"^-{3,}\s*$")
# What reads as markup outside code: bars, asterisks, and names that end with an underscore.
MARKUP = re.compile(r"(`+[^`]*`+)|([|*])|(?<=\w)(_)(?!\w)")
TRAILING = re.compile(r"(?<=\w)_(?=$|\s|,)")
REQUEST = re.compile(r"set_\w+_request|get_metadata_routing|n_features_in_")
FIELDS = {"Parameters", "Returns", "Yields", "Raises", "Attributes", "Other Parameters", "Warns"}


def escaped(line: str) -> str:
    """Return a line of text in which nothing but code between backticks is markup."""

    def literal(found: re.Match) -> str:
        return found[1] or "\\" + (found[2] or found[3])

    return MARKUP.sub(literal, line)


def plain(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText that reads as they were written."""
    made: list[str] = []
    section, literal, texts = "", False, texts_of("\n".join(lines))
    for i, line in enumerate(lines):
        following = lines[i + 1] if i + 1 < len(lines) else ""
        if SECTION.match(following):
            section, literal = line.strip(), False
            made.append(line)
            continue
        code = line.lstrip().startswith((">>> ", "... ")) or line.strip() == ">>>"
        literal = code or (literal and bool(line.strip()))
        entry = section in FIELDS and line[:1].strip() != ""
        if entry and section == "Attributes":
            made.append(TRAILING.sub(r"\\_", line))
        elif literal or entry or SECTION.match(line):
            made.append(line)
        else:
            made.append(linked(escaped(line), texts))
    return made


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Change the docstring that autodoc has read, before the sections are found."""
    lines[:] = plain(lines)


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what a class has from scikit-learn, whose own pages tell it."""
    home = getattr(obj, "__module__", None) or ""
    return True if home.startswith("sklearn.") or REQUEST.fullmatch(name) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Come before napoleon, which reads the sections (its priority is 500)."""
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
