"""How much longer ``import mercer`` takes than ``import numpy``, which it cannot do without."""

from __future__ import annotations

import subprocess
import sys
from statistics import median

from mercer.bench.measure import Row, at_most

REPEATS = 9


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    modules = ("mercer", "numpy")
    for module in modules:
        import_seconds(module)  # fills the disk cache and writes the compiled files
    turns = [[import_seconds(module) for module in modules] for _ in range(REPEATS)]
    ours, peer = (median(times) for times in zip(*turns, strict=True))
    return [
        Row(
            "import mercer, beyond import numpy",
            f"{ours:.3f} s",
            f"{peer:.3f} s",
            ours - peer,
            at_most(0.3, "{:.3f} s"),
        )
    ]


def import_seconds(module: str) -> float:
    """Return how long a fresh interpreter takes to import `module`."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(run.stdout)
