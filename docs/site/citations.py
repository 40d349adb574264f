"""Links between docstrings and the pages of the theory, by the numbers of equations."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from api import public_names
from equations import cited_in, label, numbers_in, order


def citations() -> dict[tuple[str, str], list[str]]:
    """Return the public names whose docstrings cite each equation."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module, names in public_names().items():
        for name in names:
            text = inspect.cleandoc(getattr(importlib.import_module(module), name).__doc__ or "")
            for equation in dict.fromkeys(cited_in(text)):
                found[equation].append(f"{module}.{name}")
    return found


def blocks_of(page: str) -> list[str]:
    """Return what blank lines separate in a page; a block of code is one, whatever is in it."""
    blocks: list[str] = []
    fenced = False
    for part in page.split("\n\n"):
        if fenced:
            blocks[-1] += "\n\n" + part
        else:
            blocks.append(part)
        fenced ^= len(re.findall(r"^```", part, re.MULTILINE)) % 2 == 1
    return blocks


def with_targets(page: str, text: str) -> str:
    """Return a page in which each equation can be linked to, and says where it is cited.

    The place is the first block below a section's title that names it.
    """
    cited, placed, section = citations(), set(), False
    made: list[str] = []
    for block in blocks_of(page):
        section = section or block.startswith("## ")
        new = [n for n in numbers_in(block, text) if section and n not in placed]
        placed.update(new)
        targets = "".join(f"({label(text, number)})=\n" for number in new)
        made.append(targets + block)
    rows = [
        f"| ({number}) | {', '.join(f'{{py:obj}}`~{name}`' for name in names)} |"
        for (where, number), names in sorted(cited.items(), key=lambda one: order(one[0][1]))
        if where == text
    ]
    table = "\n".join(["| equation | cited by |", "|---|---|", *rows])
    return "\n\n".join(made).rstrip() + f"\n\n## Where the numbers are cited\n\n{table}\n"
