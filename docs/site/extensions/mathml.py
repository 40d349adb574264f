"""Formulas as MathML, which browsers draw themselves: no script, no network, one math font.

LaTeX is converted while the site is made. The font (STIX Two Math, SIL Open Font License) comes
from the installed package ``ziamath``.
"""

from __future__ import annotations

import html
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

FONT = "STIXTwoMath-Regular.ttf"


def as_mathml(latex: str, display: str) -> str:
    """Return a formula as MathML, with its LaTeX as the name that screen readers may read."""
    mathml = convert(latex.strip(), display=display)
    return mathml.replace("<math ", f'<math aria-label="{html.escape(latex.strip())}" ', 1)


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(as_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own lines, with its number where it has one."""
    label = node.get("label")
    name = f' id="equation-{html.escape(label)}"' if label else ""
    number = f'<span class="eqno">({html.escape(label)})</span>' if label else ""
    writer.body.append(
        f'<div class="math"{name}>{number}{as_mathml(node.astext(), "block")}</div>'
    )
    raise nodes.SkipNode


def copy_font(app: Sphinx, failed: Exception | None) -> None:
    """Put the math font beside the site's style sheet."""
    if failed is None and app.builder.format == "html":
        font = files("ziamath") / "fonts" / FONT
        shutil.copy(str(font), Path(app.outdir) / "_static" / FONT)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer for all builders that write HTML."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("build-finished", copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
