"""The explorer: how soon its first picture is there, and how long each answer takes.

The task is that of the promise: a table of 1,797 handwritten digits with 64 pixels, on two cores.
The first picture is there when a browser that asks for the page would have all of it: from the
start of the command's process, which imports, reads, learns and draws the map. Answers are those
of a session, the second time that each is asked, as a page asks them while one looks at it; what
follows every movement of a slider (prediction and curve) is measured with 5,000 rows too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mercer.bench.measure import Row, at_most
from mercer.explorer import Session, export_page
from mercer.explorer.quick_fit import learn_quickly
from mercer.explorer.textbook import DEMONSTRATIONS, demonstrate
from mercer.sources import read_frame

__all__ = ["rows"]

PICTURE, ANSWER, SLIDER = 3.0, 0.150, 0.100  # seconds, the bars
PAGE_MB = 5.0  # of an exported page of 2,000 rows
MANY, COLUMNS = 5000, 12
TIMES = 5  # that a question is asked; the median counts


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.csv"
        digits().to_csv(path, index=False)
        _first_picture(path)  # compiles what this computer has not compiled yet
        seconds = min(_first_picture(path) for _ in range(2))
    table = [
        Row("1,797 digits: the page is there", f"{seconds:.2f} s", "", seconds,
            at_most(PICTURE, "{:.2f} s")),
    ]  # fmt: skip
    session = Session(learn_quickly(read_frame(digits(), "digit", task="classify")))
    table += [_timed(f"  {name}", session, name, parts, ANSWER) for name, parts in QUESTIONS]
    large = Session(learn_quickly(read_frame(many(), "y")))
    moved = {"row": 7, "cells": {"x0": 0.3}}
    table += [
        _timed(f"{MANY:,} rows: {name}", large, name, moved | more, SLIDER)
        for name, more in (("predict", {}), ("effect", {"column": "x0"}))
    ]
    table += [_timed(f"{MANY:,} rows: {name}", large, name, {"row": 7}, ANSWER)
              for name in ("why", "changes")]  # fmt: skip
    slowest = max(_seconds(lambda name=name: demonstrate(name, step=5)) for name in DEMONSTRATIONS)
    table.append(Row("the slowest demonstration", f"{1e3 * slowest:.0f} ms", "", slowest,
                     at_most(ANSWER, "{:.3f} s")))  # fmt: skip
    size = len(export_page(large.subject).encode()) / 1e6
    table.append(Row("exported page of 2,000 rows", f"{size:.2f} MB", "", size,
                     at_most(PAGE_MB, "{:.2f} MB")))  # fmt: skip
    return table


KNOBS: dict[str, Any] = {"expression": "Gaussian('median')", "penalty": 0.1}
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("row", {"row": 5}),
    ("find", {"text": "row 77"}),
    ("group", {"rows": list(range(200))}),
    ("predict", {"row": 5}),
    ("why", {"row": 5}),
    ("changes", {"row": 5}),
    ("effect", {"row": 5, "column": "pixel_3_3"}),
    ("knobs", KNOBS),
)


def digits() -> pd.DataFrame:
    """Return the digits of scikit-learn as a table."""
    from sklearn.datasets import load_digits

    return load_digits(as_frame=True).frame.rename(columns={"target": "digit"})


def many() -> pd.DataFrame:
    """Return a table of 5,000 rows of numbers with a number to predict."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MANY, COLUMNS))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)])
    return frame.assign(y=np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=MANY))


def _timed(label: str, session: Session, name: str, parts: dict[str, Any], bar: float) -> Row:
    calls = iter(range(10**6))

    def ask() -> None:
        # A kernel that was just asked about is kept; a slider moves on each time.
        changed = {"width": 1.0 + 0.01 * next(calls)} if name == "knobs" else {}
        session.answer(name, parts | changed)

    seconds = _seconds(ask)
    return Row(label, f"{1e3 * seconds:.0f} ms", "", seconds, at_most(bar, "{:.3f} s"))


def _seconds(work: Any) -> float:
    work()
    found = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return float(np.median(found))


def _first_picture(path: Path) -> float:
    """Return seconds from the start of the command to the whole page."""
    begin = time.perf_counter()
    with _exploring(path) as address:
        with urllib.request.urlopen(address) as page:
            assert b'"opening"' in page.read()
        return time.perf_counter() - begin


@contextmanager
def _exploring(path: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "mercer.cli", "explore", str(path), "--target", "digit",
               "--no-browser", "--port", "0"]  # fmt: skip
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    assert run.stderr is not None
    try:
        for line in run.stderr:
            if " is at http://" in line:
                yield line.split(" is at ")[1].split()[0]
                return
        raise RuntimeError("the explorer did not start")
    finally:
        run.terminate()
        run.wait()
        run.stderr.close()
