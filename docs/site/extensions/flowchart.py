"""Flowcharts of pages as pictures in the page: layers of boxes, drawn without a script.

The repository's pages have them in Mermaid's notation, of which lines like ``gram --> kernels``
are read here. Every arrow leads to a lower layer: what is imported stands below what imports it.
"""

from __future__ import annotations

import html
import re

from docutils import nodes
from sphinx.application import Sphinx

DASHED = re.compile(r"^\s*class ([\w,]+) consumer\s*$", re.MULTILINE)
ARROW = re.compile(r"^\s*(\w+) --> (\w+)\s*$", re.MULTILINE)
BOX_WIDTH, BOX_HEIGHT, GAP, STEP = 104, 30, 22, 74  # pixels


def layers_of(arrows: list[tuple[str, str]]) -> dict[str, int]:
    """Return the layer of each box: one above the highest of those that it points to."""
    below: dict[str, list[str]] = {name: [] for arrow in arrows for name in arrow}
    for start, end in arrows:
        below[start].append(end)
    layers: dict[str, int] = {}

    def layer(name: str) -> int:
        if name not in layers:
            layers[name] = 1 + max(map(layer, below[name]), default=-1)
        return layers[name]

    for name in sorted(below):
        layer(name)
    return layers


def places_of(layers: dict[str, int]) -> tuple[dict[str, tuple[float, float]], float, float]:
    """Return the middle of each box, and the width and height of the picture."""
    rows = [sorted(n for n in layers if layers[n] == k) for k in range(max(layers.values()) + 1)]
    width = max(map(len, rows)) * (BOX_WIDTH + GAP) + GAP
    height = len(rows) * STEP + GAP
    places = {}
    for k, row in enumerate(rows):
        left = (width - len(row) * (BOX_WIDTH + GAP) + GAP) / 2
        for i, name in enumerate(row):
            x = left + i * (BOX_WIDTH + GAP) + BOX_WIDTH / 2
            places[name] = x, height - STEP * k - STEP / 2
    return places, width, height


def drawn(text: str) -> str:
    """Return a flowchart as SVG in the colors of the page."""
    arrows = ARROW.findall(text)
    places, width, height = places_of(layers_of(arrows))
    lines = []
    for start, end in arrows:
        (x, y), (u, v) = places[start], places[end]
        y, v = y + BOX_HEIGHT / 2, v - BOX_HEIGHT / 2
        bend = (v - y) / 2
        lines.append(f'<path d="M{x},{y} C{x},{y + bend} {u},{v - bend} {u},{v}"/>')
    dashed = {name for names in DASHED.findall(text) for name in names.split(",")}
    boxes = [
        f'<rect class="{"dashed" if name in dashed else "solid"}" x="{x - BOX_WIDTH / 2}" '
        f'y="{y - BOX_HEIGHT / 2}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>'
        f'<text x="{x}" y="{y + 5}">{html.escape(name)}</text>'
        for name, (x, y) in places.items()
    ]
    named = "; ".join(f"{start} to {end}" for start, end in arrows)
    return (
        f'<svg class="flowchart" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Arrows: {html.escape(named)}">{"".join(lines)}{"".join(boxes)}</svg>'
    )


def replace(app: Sphinx, doctree: nodes.document) -> None:
    """Draw the flowcharts of a page."""
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            block.replace_self(nodes.raw("", drawn(block.astext()), format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw when a page has been read."""
    app.connect("doctree-read", replace)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
