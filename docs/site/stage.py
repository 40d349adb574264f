"""Lay out the source of the site: the repository's pages as they are, and what is generated.

``make docs`` runs this, and then Sphinx. Pages keep their places relative to each other, so that
their links work here as they do in the repository.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from api import write_api  # noqa: E402
from citations import with_targets  # noqa: E402
from kernel_table import write_kernel_table  # noqa: E402

from mercer.plots.figures import find  # noqa: E402

PROJECT_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff")
EXAMPLE = re.compile(r"`examples/(\w+)\.py`")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"<!-- figure: ([\w-]+) -->")


def stage(folder: Path) -> None:
    """Write everything that Sphinx reads into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(HERE / "conf.py", folder)
    shutil.copy(HERE / "index.md", folder)
    for part in ("extensions", "static", "templates"):
        shutil.copytree(HERE / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("site"))
    shutil.copytree(HERE / "pages", folder / "docs", dirs_exist_ok=True)
    list_other_pages(folder)
    for name in PROJECT_PAGES:
        shutil.copy(ROOT / name, folder)
    for page in (*folder.glob("*.md"), *folder.glob("docs/**/*.md")):
        page.write_text(completed(page, folder), encoding="utf-8")
    for text in ("bishop", "tutorial"):
        page = folder / "docs" / "theory" / f"{text}.md"
        page.write_text(with_targets(page.read_text("utf-8"), text), encoding="utf-8")
    stage_examples(folder / "examples")
    write_api(folder / "api")
    write_kernel_table(folder / "api" / "kernel_table.md")


def list_other_pages(folder: Path) -> None:
    """Put pages that no list names at the end of the user guide, so that none is lost."""
    lists = [folder / "index.md", *(folder / "docs").rglob("*.md")]
    named = {
        line.strip().rsplit("/", maxsplit=1)[-1]
        for page in lists
        for tree in TOCTREE.findall(page.read_text(encoding="utf-8"))
        for line in tree.splitlines()
    }
    pages = sorted((folder / "docs").rglob("*.md"))
    others = [
        p.relative_to(folder / "docs").with_suffix("").as_posix()
        for p in pages
        if p.stem not in named | {"index"}
    ]
    if others:
        guide = folder / "docs" / "guide.md"
        tree = "\n".join(others)
        text = guide.read_text(encoding="utf-8")
        more = f"\n```{{toctree}}\n:maxdepth: 1\n:caption: More\n\n{tree}\n```\n"
        guide.write_text(text + more, encoding="utf-8")


def completed(page: Path, folder: Path) -> str:
    """Return the text of a page with its figures, and links from examples to the gallery."""
    up = "../" * (len(page.relative_to(folder).parts) - 1)
    text = page.read_text("utf-8").replace("](docs/index.md)", "](index.md)")
    text = FIGURE.sub(lambda found: drawn(found[1], folder, up), text)
    return EXAMPLE.sub(rf"[`examples/\1.py`]({up}gallery/\1.rst)", text)


def drawn(name: str, folder: Path, up: str) -> str:
    """Draw a figure of the textbooks, and return the Markdown that shows it."""
    pictures = folder / "figures"
    pictures.mkdir(exist_ok=True)
    figure = find(name)
    figure.save(pictures, "svg")
    words = f"{figure.source}: {figure.caption}".replace("[", "(").replace("]", ")")
    return f"![{words}]({up}figures/{name}.svg)\n"


def stage_examples(folder: Path) -> None:
    """Copy the examples with docstrings that begin with a title, as the gallery wants them."""
    folder.mkdir()
    (folder / "README.rst").write_text(
        "Gallery\n=======\n\nEach runs in seconds on data that it makes or that comes with"
        " scikit-learn; some take real data if ``MERCER_DATA`` is the folder that has them.\n",
        encoding="utf-8",
    )
    for example in sorted((ROOT / "examples").glob("*.py")):
        text = example.read_text(encoding="utf-8")
        _, docstring, code = text.split('"""', 2)
        (folder / example.name).write_text(f'"""\n{titled(docstring)}"""{code}', encoding="utf-8")


def titled(docstring: str) -> str:
    """Return a docstring whose first sentence is its title."""
    first, _, rest = docstring.strip().partition("\n\n")
    sentence, dot, more = " ".join(first.split()).partition(". ")
    title = sentence.rstrip(".")
    text = "\n\n".join(part for part in (more if dot else "", rest) if part)
    return f"{title}\n{'=' * len(title)}\n\n{text.strip() or title + '.'}\n"


if __name__ == "__main__":
    stage(Path(sys.argv[1]).resolve())
