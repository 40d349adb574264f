"""What the page of the textbooks asks: one demonstration, in one state, at a time."""

from __future__ import annotations

from typing import Any

from mercer.errors import DomainError
from mercer.explorer.textbook import demonstrate, titles

__all__ = ["textbook_answer", "textbook_data"]


def textbook_data() -> dict[str, Any]:
    """Return what the page begins with."""
    return {"demonstrations": titles()}


def textbook_answer(name: str, parts: Any) -> dict[str, Any]:
    """Return what one sees of a demonstration.

    Examples
    --------
    >>> scene = textbook_answer("textbook", {"name": "shepard"})
    >>> scene["charts"][0]["title"]
    'How generalization falls'
    """
    known = {"name", "values", "points", "step"}
    if name != "textbook" or not isinstance(parts, dict) or set(parts) - known:
        raise DomainError("the textbooks answer one question: textbook, with name, values, "
                          "points and step")  # fmt: skip
    return demonstrate(str(parts.get("name")), parts.get("values"), parts.get("points"),
                       parts.get("step", 0))  # fmt: skip
