"""Write the table of all kernels from the registry of the law tests: one example of each class."""

from __future__ import annotations

import inspect
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import mercer.kernels  # noqa: E402
from mercer.gram.device.numeric_rows import program_of  # noqa: E402
from mercer.kernels import Kernel  # noqa: E402
from tests.laws.entries import Entry  # noqa: E402
from tests.laws.items import ITEMS  # noqa: E402
from tests.laws.registry import KERNELS  # noqa: E402

HEAD = """# All kernels

One example of each, from the registry that the law tests read. *Gradient*: `Function.gradient` and
learned metrics know its derivative. *GPU*: its expression becomes one fused Triton kernel; others
run in blocks of Torch where they compare rows of numbers. *Nanoseconds*: time for one pair in a
Gram matrix of {items} encoded items, on the computer that made this page; these items are short:
long strings and large graphs take longer.

| kernel | what it is | compares | verdict, and why | features | gradient | GPU | nanoseconds |
|---|---|---|---|---|---|---|---|
"""
TIMED_ITEMS = 200
REPETITIONS = 4  # the first may compile


def write_kernel_table(page: Path) -> None:
    """Write one row for each public class of kernels."""
    rows = [row_of(entry) for entry in first_entries()]
    page.write_text(HEAD.format(items=TIMED_ITEMS) + "\n".join(rows) + "\n", encoding="utf-8")


def first_entries() -> list[Entry]:
    """Return the first entry of each public class in the registry, in its order."""
    public = {getattr(mercer.kernels, name) for name in mercer.kernels.__all__}
    found: dict[type, Entry] = {}
    for entry in KERNELS:
        kind = type(entry.kernel)
        if kind in public and kind not in found:
            found[kind] = entry
    return list(found.values())


def row_of(entry: Entry) -> str:
    """Return the row of one kernel."""
    kernel, items = entry.kernel, ITEMS[entry.items]
    concrete = kernel.resolve(items)
    proof = concrete.proof()
    cells = (
        f"`{entry.formula}`",
        first_sentence(type(kernel)),
        words_of(entry.items),
        f"{proof.verdict}: {proof.rule}",
        mark(concrete.map_features(concrete.admit(items)) is not None),
        mark(concrete.lacks_gradient() is None),
        mark(is_fused(concrete, items)),
        f"{nanoseconds(concrete, items):.0f}",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"


def words_of(items: str) -> str:
    """Return what a kernel compares, from the name of its items in the registry."""
    return items.rsplit(maxsplit=1)[-1]


def first_sentence(kind: type[Kernel]) -> str:
    """Return the first sentence of a docstring."""
    paragraph = (inspect.getdoc(kind) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def is_fused(kernel: Kernel, items: object) -> bool:
    """Return whether a kernel on rows of numbers becomes one kernel of a GPU."""
    if not isinstance(items, np.ndarray) or items.ndim != 2:
        return False
    return program_of(kernel, items.shape[1])[0] is not None


def nanoseconds(kernel: Kernel, items: object) -> float:
    """Return the time for one pair, when all that is needed has been compiled."""
    points = kernel.admit(items)
    many = points[np.arange(TIMED_ITEMS) % len(points)]
    times = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        kernel(many)
        times.append(time.perf_counter() - began)
    return min(times) / TIMED_ITEMS**2 * 1e9


def mark(yes: bool) -> str:
    """Return how a table says yes or no."""
    return "yes" if yes else "–"
