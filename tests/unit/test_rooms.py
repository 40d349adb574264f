"""Each room imports only from rooms before it.

The order is that of what builds on what: kernels on data, Gram operators on kernels, solvers on
operators. Plans come after the solvers, because these declare what they need and what they cost.
An import in the other direction, even one inside a function or for type checking only, means that
two rooms have begun to share one job.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "src" / "mercer"

ORDER = (
    "errors",
    "forks",
    "threads",
    "memory",
    "progress",
    "reservoir",
    "lapack",
    "compiled",
    "values",
    "domains",
    "models",
    "engine",
    "kernels",
    "cluster",
    "gram",
    "solvers",
    "plans",
    "rkhs",
    "machines",
    "selection",
    "explanations",
    "cognition",
    "files",
    "sources",
    "datasets",
    "studies",
    "testing",
)
CONSUMERS = {
    "plots",
    "report",
    "bench",
    "cli",
    "explorer",
    "serving",
    "exports",
    "sklearn",
}  # these may import anything
FRONT_DOOR = ""  # mercer/__init__.py, which offers names from many rooms


def violations(root: Path) -> list[str]:
    """List every import under the package folder `root` that breaks the order of the rooms."""
    found = []
    for path in sorted(root.rglob("*.py")):
        file, room = path.relative_to(root), room_of(module_of(path, root))
        if room not in {*ORDER, *CONSUMERS, FRONT_DOOR}:
            found.append(f"{file}: {room!r} has no place in the order")
            continue
        for line, target in imported_rooms(path, root):
            if not may_import(room, target):
                found.append(f"{file}:{line}: {room or 'mercer'} imports {target or 'mercer'}")
    return found


def may_import(room: str, target: str) -> bool:
    """Say whether a module of `room` may import from the room `target`."""
    if room == target or room in CONSUMERS:
        return True
    if room == FRONT_DOOR:
        return target in ORDER
    if target == FRONT_DOOR:
        return room in {"datasets", "testing"}
    return target in ORDER[: ORDER.index(room)]


def imported_rooms(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the room of every import of this package, at any depth of the code."""
    package = root.name
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = names_from(node, path, root)
        else:
            continue
        for name in names:
            if name == package or name.startswith(f"{package}."):
                yield node.lineno, room_of(name)


def names_from(node: ast.ImportFrom, path: Path, root: Path) -> list[str]:
    """Return the absolute dotted names that a ``from … import …`` statement asks for."""
    base = node.module or ""
    if node.level:
        # Relative names count from the package: a module's folder, or an __init__.py's own.
        inside = [root.name, *path.relative_to(root).parent.parts]
        kept = inside[: len(inside) - node.level + 1]
        base = ".".join([*kept, base] if base else kept)
    if base != root.name:
        return [base]
    # Behind the bare package's name, a room is a room and anything else is the front door's.
    rooms = {*ORDER, *CONSUMERS}
    return [f"{base}.{alias.name}" if alias.name in rooms else base for alias in node.names]


def module_of(path: Path, root: Path) -> str:
    """Return the dotted name of the module in the file `path`."""
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """Return the room that a dotted module name belongs to."""
    return module.split(".")[1] if "." in module else FRONT_DOOR


def test_every_room_imports_only_from_rooms_before_it():
    assert any(ROOT.rglob("*.py"))
    assert violations(ROOT) == []


def files_imported_by(path: Path, root: Path) -> set[str]:
    """Return the modules that a file imports, at any depth of its code, packages left out."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    places = (root.parent / (name.replace(".", "/") + ".py") for name in found)
    return {module_of(place, root) for place in places if place.is_file()}


def import_graph(root: Path) -> dict[str, set[str]]:
    files = [path for path in root.rglob("*.py") if path.name != "__init__.py"]
    return {module_of(path, root): files_imported_by(path, root) for path in files}


def test_no_import_hides_a_cycle():
    """Not even one inside a function, or for type checking only."""
    list(TopologicalSorter(import_graph(ROOT)).static_order())


def test_a_hidden_cycle_is_found(tmp_path):
    (tmp_path / "mercer").mkdir()
    for name, other in (("left", "right"), ("right", "left")):
        code = f"def later():\n    from mercer.{other} import thing\n"
        (tmp_path / "mercer" / f"{name}.py").write_text(code, encoding="utf-8")
    with pytest.raises(CycleError):
        list(TopologicalSorter(import_graph(tmp_path / "mercer")).static_order())


def test_there_is_no_module_called_utils():
    names = [p for p in ROOT.rglob("*") if p.stem.strip("_") in {"util", "utils"}]
    assert names == []


def test_the_unit_tests_have_the_same_rooms():
    here = Path(__file__).parent
    folders = {path.relative_to(here) for path in here.rglob("test_*.py")}
    assert [str(f) for f in folders if not (ROOT / f.parent).is_dir()] == []


@pytest.fixture
def plant(tmp_path):
    """Write one module into an otherwise empty package and list its violations."""

    def write(where: str, code: str) -> list[str]:
        path = tmp_path / "mercer" / where
        path.parent.mkdir(parents=True)
        path.write_text(code, encoding="utf-8")
        return violations(tmp_path / "mercer")

    return write


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("kernels/base.py", "import mercer.machines.ridge as ridge"),
        ("kernels/base.py", "from mercer.machines import KernelRidge"),
        ("kernels/base.py", "from mercer import machines"),
        ("kernels/base.py", "from ..machines.ridge import KernelRidge"),
        ("kernels/base.py", "from .. import machines"),
        ("kernels/__init__.py", "from ..gram import dense"),
        ("kernels/vector/deep.py", "from ...solvers import cholesky"),
        ("kernels/base.py", "def late():\n    from mercer.rkhs import Function"),
        ("kernels/base.py", "if TYPE_CHECKING:\n    from mercer.plans import Plan"),
        ("kernels/base.py", "from mercer import KernelRidge"),
        ("kernels/base.py", "import mercer"),
        ("errors.py", "from .domains import Points"),
        ("errors.py", "from . import domains"),
        ("gram/dense.py", "from mercer.testing import kernel_laws"),
        ("machines/ridge.py", "from mercer.datasets import digits"),
        ("machines/ridge.py", "from mercer.plots import curve"),
        ("testing/laws.py", "from mercer.cli import app"),
        ("datasets/digits.py", "from mercer.testing import laws"),
        ("__init__.py", "from .explorer import serve"),
        ("helpers.py", "import numpy"),
    ],
)
def test_a_planted_violation_is_caught(plant, where, code):
    found = plant(where, code)
    assert len(found) == 1
    assert where in found[0]


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("machines/ridge.py", "from mercer.kernels import Gaussian"),
        ("machines/ridge.py", "from ..solvers.cholesky import Cholesky"),
        ("machines/ridge.py", "from .base import Machine"),
        ("machines/ridge.py", "from . import base"),
        ("machines/__init__.py", "from .ridge import KernelRidge"),
        ("machines/ridge.py", "import scipy.linalg, mercerized.machines"),
        ("errors.py", "from numpy.linalg import LinAlgError"),
        ("testing/laws.py", "import mercer\nfrom mercer.machines import KernelRidge"),
        ("cli/main.py", "from mercer.report import page\nfrom mercer import save"),
        ("__init__.py", "from .machines import KernelRidge"),
    ],
)
def test_an_import_from_an_earlier_room_is_allowed(plant, where, code):
    assert plant(where, code) == []
