"""Write the pages of the API reference: every public name of every public module."""

from __future__ import annotations

import importlib
import inspect
import typing
from pathlib import Path

# The modules in the order in which a reader meets them.
MODULES = (
    "mercer", "mercer.kernels", "mercer.selection", "mercer.rkhs", "mercer.plots",
    "mercer.studies", "mercer.report", "mercer.explanations", "mercer.cognition",
    "mercer.models", "mercer.datasets", "mercer.sources", "mercer.files", "mercer.domains",
    "mercer.plans", "mercer.gram", "mercer.solvers", "mercer.machines", "mercer.errors",
    "mercer.testing",
)  # fmt: skip


def public_names() -> dict[str, list[str]]:
    """Return the names that each module says are public, each under the first that has it.

    Modules, constants and names of types, such as `Items`, are not called, and have no page.
    """
    seen: set[int] = set()
    names: dict[str, list[str]] = {}
    for module in MODULES:
        home = importlib.import_module(module)
        names[module] = []
        for name in home.__all__:
            thing = getattr(home, name)
            called = callable(thing) and typing.get_origin(thing) is None
            if inspect.ismodule(thing) or id(thing) in seen or not called:
                continue
            seen.add(id(thing))
            names[module].append(name)
    return names


def write_api(folder: Path) -> None:
    """Write one page for each module, which lists its names, and a page that lists the modules."""
    folder.mkdir()
    shown = {module: names for module, names in public_names().items() if names}
    entries = "\n".join(shown)
    (folder / "index.md").write_text(
        "# API reference\n\nEvery public name. Kernels side by side are in"
        " [one table](kernel_table.md).\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\nkernel_table\n{entries}\n```\n",
        encoding="utf-8",
    )
    for module, names in shown.items():
        (folder / f"{module}.md").write_text(page_of(module, names), encoding="utf-8")


def page_of(module: str, names: list[str]) -> str:
    """Return the page of a module: what it is for, and its names."""
    listed = "\n".join(f"   {name}" for name in sorted(names, key=str.lower))
    about = (inspect.getdoc(importlib.import_module(module)) or "").partition("\n\n")[0]
    return (
        f"# {module}\n\n{about}\n\n```{{eval-rst}}\n.. currentmodule:: {module}\n\n"
        f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{listed}\n```\n"
    )
