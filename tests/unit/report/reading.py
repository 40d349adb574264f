"""Reading a report back: its elements, its texts, and the pictures inside."""

from __future__ import annotations

import base64
from functools import cache
from html.parser import HTMLParser

from mercer.report import html
from tests.unit.report.examples import example

VOID = {"meta", "img", "br", "link", "hr", "input"}


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text; complains about bad nesting."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.styles: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> inside {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        (self.styles if self.open[-1:] == ["style"] else self.words).append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all elements of one kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    def drawings(self) -> list[str]:
        """Return the SVG of all pictures that are drawn."""
        kind = "data:image/svg+xml;base64,"
        sources = [str(image["src"]) for image in self.all("img")]
        return [
            base64.b64decode(source.removeprefix(kind)).decode()
            for source in sources
            if source.startswith(kind)
        ]


@cache
def page_of(name: str) -> str:
    """Return the report of an example; each is made once in a session."""
    return html(example(name))
