"""The page: one HTML document with its own style and script, and a policy that allows no others.

What comes from the data stands in a block of JSON whose angle brackets and ampersands are escaped,
and the script puts it on the page as text only. The policy names the style and the script by their
hashes, so that the browser runs nothing else, whatever a label says.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mercer.report.words import clean

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["policy_of", "render"]

COMMON = ("base.js", "chart.js", "map.js", "why.js", "whatif.js")
LIVE = (*COMMON, "knobs.js", "textbook.js", "remote.js", "main.js")
EXPORTED = (*COMMON, "formula.js", "local.js", "main.js")


def render(title: str, data: dict[str, Any], exported: bool = False) -> str:
    """Return the whole page.

    Parameters
    ----------
    title : str
    data : dict
        Plain values that the script begins with.
    exported : bool
        Whether the page calculates by itself and must not use the network at all.

    Examples
    --------
    >>> page = render("</title>", {"trouble": "</script><script>alert(1)</script>"})
    >>> page.count("<script"), "</title></title>" in page, "alert(1)<" in page
    (2, False, False)
    """
    style, script = _text("style.css"), _script(exported)
    return _template().render(
        title=clean(title), style=style, script=script, data=escaped_json(data),
        policy=policy_of(exported),
    )  # fmt: skip


def policy_of(exported: bool) -> str:
    """Return the content security policy: nothing but the page's own script and style."""
    parts = [
        "default-src 'none'",
        f"script-src {_hash(_script(exported))}",
        f"style-src {_hash(_text('style.css'))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if not exported:
        parts.append("connect-src 'self'")
    return "; ".join(parts)


def escaped_json(data: dict[str, Any]) -> str:
    """Return JSON that no HTML parser takes for anything else.

    Examples
    --------
    >>> escaped_json({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def _script(exported: bool) -> str:
    names = EXPORTED if exported else LIVE
    parts = [_text(name).replace('"use strict";\n', "", 1) for name in names]
    return '"use strict";\n' + "\n".join(parts)


@cache
def _text(name: str) -> str:
    return files("mercer.explorer").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    # The title alone is text from outside; everything else was escaped, or is ours.
    made = Environment(autoescape=True, undefined=StrictUndefined)
    made.filters["ours"] = Markup
    return made.from_string(_text("page.html.j2"))
