"""How the gallery runs examples: each is asked for its picture, in the order of the index."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def drawn_by(example: str) -> Path:
    """Return where an example puts its picture."""
    path = Path(example)
    return path.parents[1] / "drawn" / f"{path.stem}.png"


def arguments_of(gallery: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Return what an example is started with: the option that makes it draw, if it has one."""
    example = script["src_file"]
    drawn_by(example).parent.mkdir(exist_ok=True)
    draws = '"--out"' in Path(example).read_text(encoding="utf-8")
    return ["--out", str(drawn_by(example))] if draws else []


def pictures_of(block: tuple, script: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Return the markup that shows what an example has drawn."""
    drawn = drawn_by(script["src_file"])
    if not drawn.exists():
        return ""
    place = next(script["image_path_iterator"])
    shutil.move(drawn, place)
    return figure_rst([place], gallery["src_dir"])


class Order:
    """Examples in the order of the table in ``docs/index.md``, tutorials last."""

    def __init__(self, folder: str):
        text = (Path(folder).parent / "docs" / "index.md").read_text(encoding="utf-8")
        self.names = re.findall(r"`examples/(\w+\.py)`", text)

    def __call__(self, name: str) -> tuple[int, str]:
        known = name in self.names
        return (self.names.index(name) if known else len(self.names), name)

    def __repr__(self) -> str:  # part of the configuration, which Sphinx compares between builds
        return "Order"
