"""The documents tell the truth: their code runs, their output is what comes out.

A ``python`` block of a document is run after those above it, in one namespace. A ``text`` block
right below it is what the code prints; if its last part is ``SomeError: message``, the code must
end with that error. A block below ``<!-- source: FILE NAME -->`` is a copy of the source, brought
up to date by ``python tests/unit/test_documents.py --write``.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import os
import re
import subprocess
import sys
import textwrap
import types
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"  # its pages stand elsewhere when the site is made
DOCUMENTS = sorted(
    p for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if SITE not in p.parents
)
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
QUICK = {"algebra", "README", "tour", "CONTRIBUTING", "kernels", "ridge"}  # others take seconds
# On a busy computer, two BLAS threads on small problems wait for each other.
ENVIRONMENT = {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1"}

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
SOURCE = re.compile(
    r"^<!-- source: (\S+) (\S+) -->\n```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL
)
ERROR = re.compile(r"^[A-Z]\w+(?:Error|Warning): ", re.MULTILINE)
MACHINE_PATH = re.compile(r"(?<![\w.])(?:/(?:home|root|tmp|work|usr|opt|var|mnt|Users)/|[A-Z]:\\)")


def name_of(path: Path) -> str:
    """Return the path within the project."""
    return path.relative_to(ROOT).as_posix()


def copied(text: str) -> set[str]:
    """Return the blocks that are copies of the source."""
    return {code for _, _, code in SOURCE.findall(text)}


def output_of(code: str, namespace: dict, place: str) -> str:
    """Run one block and return what it prints, an error as its last line."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, place, "exec"), namespace)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()


def source_of(path: str, name: str) -> str:
    """Return the source of a class, function or method, given as ``Class.method``."""
    text = (ROOT / path).read_text(encoding="utf-8")
    node: ast.AST = ast.parse(text)
    for part in name.split("."):
        named = [n for n in ast.iter_child_nodes(node) if getattr(n, "name", None) == part]
        assert named, f"{path} has no {name}"
        node = named[0]
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = text.splitlines()[first - 1 : node.end_lineno]
    return textwrap.dedent("\n".join(lines)) + "\n"


def with_current_source(text: str) -> str:
    """Return a document in which every copied block is as the source is now."""

    def renew(found: re.Match) -> str:
        path, name, _ = found.groups()
        return f"<!-- source: {path} {name} -->\n```python\n{source_of(path, name)}```\n"

    return SOURCE.sub(renew, text)


def quick_and_slow(paths: list[Path]) -> list:
    """Return files as parameters of a test, of which all but a few are slow."""
    slow = [pytest.mark.slow]
    return [pytest.param(p, marks=[] if p.stem in QUICK else slow, id=name_of(p)) for p in paths]


@pytest.mark.parametrize("document", quick_and_slow(DOCUMENTS))
def test_the_code_of_a_document_runs_and_prints_what_it_says(document, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some write files
    text = document.read_text(encoding="utf-8")
    module = types.ModuleType("document")
    monkeypatch.setitem(sys.modules, "document", module)  # pickle looks for classes there
    same = doctest.OutputChecker().check_output
    for block in BLOCK.finditer(text):
        code, expected = block.groups()
        if code in copied(text):
            continue
        place = f"{name_of(document)}, line {text.count(chr(10), 0, block.start()) + 1}"
        found = output_of(code, vars(module), place)
        if expected is None:
            assert not ERROR.search(found), f"{place}: {found}"
        else:
            assert same(expected, found, doctest.ELLIPSIS), f"{place} prints\n{found}"


def test_the_documents_have_code_to_run():
    blocks = {name_of(d): len(BLOCK.findall(d.read_text(encoding="utf-8"))) for d in DOCUMENTS}
    assert min(blocks[name] for name in ("docs/tour.md", "docs/kernels.md", "docs/ridge.md")) >= 5
    assert blocks["README.md"] >= 3  # and the tour goes on with what it begins


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_copied_source_is_the_current_source(document):
    text = document.read_text(encoding="utf-8")
    assert text == with_current_source(text), f"run: python {name_of(Path(__file__))} --write"


def test_contributing_shows_a_kernel_a_solver_and_a_machine():
    shown = SOURCE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    folders = {path.split("/")[2] for path, _, _ in shown}
    assert folders >= {"kernels", "solvers", "machines"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_to_files(document):
    text = document.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    assert [t for t in targets if not (document.parent / t).exists()] == []


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "CITATION.cff", *EXAMPLES], ids=name_of)
def test_no_document_knows_the_computer_it_was_written_on(document):
    assert MACHINE_PATH.findall(document.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("example", quick_and_slow(EXAMPLES))
def test_an_example_runs(example, tmp_path):
    draws = '"--out"' in example.read_text(encoding="utf-8")
    arguments = ["--out", "picture.png"] if draws else []
    run = subprocess.run(
        [sys.executable, str(example), *arguments],
        cwd=tmp_path,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    assert "Warning" not in run.stderr
    if arguments:
        assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_the_picture_of_the_readme_is_small():
    assert (ROOT / "docs" / "images" / "regularization.png").stat().st_size < 150_000


def public(*rooms: str) -> list[tuple[str, str]]:
    """Return the public classes and functions of some rooms."""
    modules = {room: import_module(f"mercer.{room}") for room in rooms}
    return [
        (room, name)
        for room, module in modules.items()
        for name in module.__all__
        if inspect.isclass(getattr(module, name)) or inspect.isfunction(getattr(module, name))
    ]


@pytest.mark.parametrize(("room", "name"), public("kernels", "rkhs", "machines", "solvers"))
def test_a_public_name_is_documented_with_an_example(room, name):
    thing = getattr(import_module(f"mercer.{room}"), name)
    own = [thing, *(vars(thing).values() if inspect.isclass(thing) else [])]
    assert thing.__doc__
    assert any(">>>" in (inspect.getdoc(part) or "") for part in own)


def rows_of_the_kernel_table() -> list[list[str]]:
    """Return the cells of the table of kernels: its first column is code."""
    text = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    table = text.split("## All kernels")[1].split("## The algebra")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@pytest.mark.parametrize("row", rows_of_the_kernel_table(), ids=lambda row: row[0].strip("`"))
def test_the_table_of_kernels_says_what_they_can_do(row):
    import numpy as np
    from scipy import sparse

    from mercer import errors, kernels

    X = np.abs(np.random.default_rng(0).normal(size=(6, 2)))
    k = eval(row[0].strip("`"), vars(kernels)).resolve(X)
    abilities = (
        lambda: k.features(X),
        lambda: k.random_features(4)(X),
        lambda: k(sparse.csr_array(X)),
    )
    for claim, ability in zip(row[3:], abilities, strict=True):
        if claim == "yes":
            ability()
        else:
            with pytest.raises(errors.MercerError):
                ability()


def test_the_page_on_kernels_names_every_public_kernel():
    from mercer import kernels

    text = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    machinery = {"Block", "Kernel", "VectorKernel", "Proof", "Witness", "kernel", "named"}
    machinery |= {"cityblock", "dots", "norms", "proved", "squared_distances"}  # to write one
    missing = [n for n in kernels.__all__ if n not in machinery and f"{n}(" not in text]
    assert missing == []


def test_the_citation_has_the_version_and_licence_of_the_package():
    import mercer

    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    fields = dict(line.split(": ", 1) for line in lines if re.match(r"[\w-]+: \S", line))
    assert fields["version"] == mercer.__version__
    assert fields["license"] == "BSD-3-Clause"
    assert fields["cff-version"] == "1.2.0"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(f"python {name_of(Path(__file__).resolve())} --write")
    for path in DOCUMENTS:
        path.write_text(with_current_source(path.read_text(encoding="utf-8")), encoding="utf-8")
