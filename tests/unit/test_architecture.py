"""The page on architecture is true: its diagram is drawn from the imports, and its lists of files
are those that real fits walk through.

``python tests/unit/test_architecture.py --write`` brings both up to date.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if __name__ == "__main__":
    import test_rooms as rooms_in_order
else:
    import tests.unit.test_rooms as rooms_in_order

ROOT, ORDER = rooms_in_order.ROOT, rooms_in_order.ORDER
CONSUMERS, FRONT_DOOR = rooms_in_order.CONSUMERS, rooms_in_order.FRONT_DOOR
PAGE = ROOT.parents[1] / "docs" / "architecture.md"
GENERATED = re.compile(r"(<!-- generated: (.+?) -->\n).*?(<!-- end -->)", re.S)
SHARED = "shared"  # what every room may use: single modules, and the values that all are made of


# ---- the diagram ------------------------------------------------------------------------------


def roads(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the rooms that each room imports, with all single modules taken as one."""
    found: dict[str, set[str]] = {}
    for path in sorted(root.rglob("*.py")):
        room = drawn(rooms_in_order.room_of(rooms_in_order.module_of(path, root)))
        targets = {drawn(target) for _, target in rooms_in_order.imported_rooms(path, root)}
        found.setdefault(room, set()).update(targets - {room, FRONT_DOOR})
    del found[FRONT_DOOR]
    return found


def drawn(room: str) -> str:
    """Return the name under which a room is in the diagram."""
    single = room != FRONT_DOOR and not (ROOT / room).is_dir()
    return SHARED if single or room == "values" else room


def needed(roads: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the roads that do not follow from others.

    >>> needed({"c": {"a", "b"}, "b": {"a"}, "a": set()})
    [('b', 'a'), ('c', 'b')]
    """

    def reached(room: str) -> set[str]:
        return set().union(*({target} | reached(target) for target in roads[room]))

    return sorted(
        (room, target)
        for room, targets in roads.items()
        for target in targets
        if not any(target in reached(other) for other in targets - {target})
    )


def diagram() -> str:
    """Draw the rooms; an arrow leads from a room to one that it imports."""
    found = roads()
    lines = ["```mermaid", "flowchart BT"]
    lines += [f"  {room} --> {target}" for room, target in needed(found)]
    lines += ["  classDef consumer stroke-dasharray: 4"]
    lines += [f"  class {','.join(sorted(CONSUMERS & set(found)))} consumer"]
    rows = [f"| `{room}/` | {sentence_of(ROOT / room / '__init__.py')} |" for room in rooms()]
    return "\n".join([*lines, "```", "", "| room | what it does |", "|---|---|", *rows]) + "\n"


def rooms() -> list[str]:
    """Return the folders of the package, each after those that it builds on."""
    found = [room for room in (*ORDER, *sorted(CONSUMERS)) if (ROOT / room).is_dir()]
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(found)
    return found


def sentence_of(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.:])(?=\s[A-Z]|$)", paragraph)[0].rstrip(".:").replace("``", "`")


# ---- the ways ---------------------------------------------------------------------------------


def ways() -> dict[str, Callable[[], object]]:
    """Return the fits that the page follows, with data for each."""
    import numpy as np

    from mercer import SVC, KernelRidge
    from mercer.kernels import Gaussian
    from mercer.selection import GridSearchCV

    X = np.random.default_rng(0).normal(size=(60, 3))
    y, labels = np.sin(X[:, 0]), X[:, 0] * X[:, 1] > 0
    ridge, svc = KernelRidge(Gaussian(1.0)), SVC(Gaussian(1.0))
    search = GridSearchCV(ridge, {"kernel__bandwidth": [0.5, 1.0], "penalty": [0.1, 1.0]})
    return {
        "KernelRidge.fit": lambda: ridge.fit(X, y),
        "SVC.fit": lambda: svc.fit(X, labels),
        "GridSearchCV.fit": lambda: search.fit(X, y),
    }


def files_on_the_way(work: Callable[[], object]) -> list[str]:
    """Return the files of the package whose functions some work calls, in this order."""
    from mercer import threads

    found: dict[str, None] = {}

    def notice(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT):
                found[path.relative_to(ROOT).as_posix()] = None

    with threads.using(1):  # so that everything happens where it is noticed
        work()  # imports and compiles
        sys.setprofile(notice)
        try:
            work()
        finally:
            sys.setprofile(None)
    return list(found)


def stations() -> dict[str, str]:
    """Return a list in Markdown for each way, found in a process of its own."""
    run = subprocess.run(
        [sys.executable, __file__, "--ways"], capture_output=True, text=True, check=True
    )
    return {
        way: "".join(
            f"{number}. `{file}`: {sentence_of(ROOT / file)}\n"
            for number, file in enumerate(files, 1)
        )
        for way, files in json.loads(run.stdout).items()
    }


# ---- the page ---------------------------------------------------------------------------------


def renewed(text: str, parts: dict[str, str]) -> str:
    """Return a page with some of its generated parts as they should be."""
    return GENERATED.sub(
        lambda found: f"{found[1]}{parts[found[2]]}{found[3]}" if found[2] in parts else found[0],
        text,
    )


def test_the_diagram_is_that_of_the_imports():
    text = PAGE.read_text(encoding="utf-8")
    assert text == renewed(text, {"rooms": diagram()}), "run: python " + f"{__file__} --write"


@pytest.mark.slow
def test_the_ways_are_those_of_real_fits():
    text = PAGE.read_text(encoding="utf-8")
    assert text == renewed(text, stations()), "run: python " + f"{__file__} --write"


def test_the_page_has_all_parts():
    parts = [part for _, part, _ in GENERATED.findall(PAGE.read_text(encoding="utf-8"))]
    assert parts == ["rooms", "KernelRidge.fit", "SVC.fit", "GridSearchCV.fit"]


def test_every_file_that_the_page_names_is_there():
    named = re.findall(r"`([\w/]+\.py)`", PAGE.read_text(encoding="utf-8"))
    assert named and [file for file in named if not (ROOT / file).exists()] == []


def test_every_function_that_the_page_names_is_in_its_file():
    named = re.findall(r"`([A-Za-z_.]+)`\s\(`([\w/]+\.py)`\)", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 20
    for name, file in named:
        node: ast.AST = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        for part in name.split("."):
            found = [n for n in ast.iter_child_nodes(node) if getattr(n, "name", None) == part]
            assert found, f"{file} has no {name}"
            node = found[0]


def test_a_road_that_follows_from_others_is_not_drawn():
    some = {"d": {"a", "c"}, "c": {"b"}, "b": {"a"}, "a": set()}
    assert needed(some) == [("b", "a"), ("c", "b"), ("d", "c")]


if __name__ == "__main__":
    if sys.argv[1:] == ["--ways"]:
        print(json.dumps({way: files_on_the_way(work) for way, work in ways().items()}))
    elif sys.argv[1:] == ["--write"]:
        parts = {"rooms": diagram(), **stations()}
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), parts), encoding="utf-8")
    else:
        sys.exit("python tests/unit/test_architecture.py --write")
