"""Measuring: seconds and bytes of two programs, tables of them, and what they ran on."""

from __future__ import annotations

import multiprocessing
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from mercer.threads import cores

__all__ = [
    "Goal", "Row", "at_least", "at_most", "best_of", "columns", "describe", "faster",
    "in_fresh_process", "peak_growth", "render", "same", "seconds", "taking_turns",
]  # fmt: skip

HEADER = ("task", "ours", "peer", "ratio", "bar", "verdict")


@dataclass(frozen=True)
class Goal:
    """What a measured value is held against.

    Parameters
    ----------
    limit
        The value that must be reached, or must not be passed.
    sense
        ``">="`` if more is better, ``"<="`` if less is.
    form
        How such values are written.
    """

    limit: float
    sense: str
    form: str = "{:.2f}x"

    def text(self) -> str:
        """Return the bar as the table shows it."""
        return f"{self.sense} {self.form.format(self.limit)}"

    def verdict(self, value: float) -> str:
        """Say whether `value` is good enough; NaN never is."""
        reached = value >= self.limit if self.sense == ">=" else value <= self.limit
        return "reached" if reached else "falls short"


def at_least(limit: float, form: str = "{:.2f}x") -> Goal:
    """Return the bar for a value that should be large."""
    return Goal(limit, ">=", form)


def at_most(limit: float, form: str = "{:.2f}x") -> Goal:
    """Return the bar for a value that should be small."""
    return Goal(limit, "<=", form)


@dataclass(frozen=True)
class Row:
    """One comparison; `value` is the number that `bar` judges, if there is one."""

    task: str
    ours: str
    peer: str
    value: float
    bar: Goal | None

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts, in the order of the header."""
        if self.bar is None:
            return self.task, self.ours, self.peer, f"{self.value:.2f}", "", ""
        ratio = self.bar.form.format(self.value)
        verdict = self.bar.verdict(self.value)
        return self.task, self.ours, self.peer, ratio, self.bar.text(), verdict


def faster(task: str, times: Sequence[float], bar: float) -> Row:
    """Return the row that says how many times faster ours is; `times` are ours and the peer's."""
    ours, peer = times
    return Row(task, f"{ours:.3f} s", f"{peer:.3f} s", peer / ours, at_least(bar))


def same(task: str, ours: np.ndarray, peer: np.ndarray) -> Row:
    """Return the row that says how far apart two vectors are, relative to the peer's length."""
    if ours.shape != peer.shape:
        raise ValueError(f"{task}: expected shape {peer.shape}, found {ours.shape}")
    difference = float(np.linalg.norm(ours - peer) / np.linalg.norm(peer))
    return Row(task, "", "", difference, at_most(1e-7, "{:.0e}"))


def render(rows: Sequence[Row], bars: bool = True) -> str:
    """Return the rows as a table with aligned columns, with the bars or without."""
    shown = len(HEADER) if bars else HEADER.index("bar")
    lines = [HEADER, *(row.cells() for row in rows)]
    return columns([line[:shown] for line in lines], words=(0, len(HEADER) - 1))


def columns(lines: Sequence[Sequence[str]], words: Sequence[int] = (0,)) -> str:
    """Return lines of cells as a table: the first is the header, columns `words` hold words."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rule = ["-" * width for width in widths]
    return "\n".join(_align(line, widths, words) for line in [lines[0], rule, *lines[1:]])


def _align(line: Sequence[str], widths: Sequence[int], words: Sequence[int]) -> str:
    # Words to the left, numbers to the right.
    cells = [
        text.ljust(width) if i in words else text.rjust(width)
        for i, (text, width) in enumerate(zip(line, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def best_of(*tasks: Callable[[], Any], repeats: int = 5, pause: float = 0.1) -> list[float]:
    """Return the best time in seconds of each task, the tasks taking turns.

    Whatever else the computer does slows both sides of a comparison alike when they take turns,
    and the best of several times is the one least disturbed.

    Parameters
    ----------
    *tasks
        Functions without arguments. Each is called once untimed, to load and compile.
    repeats
        How many times each task is timed.
    pause
        Seconds of rest before each call. BLAS threads spin for a while after their last job and
        would take cores from the task that comes next.
    """
    best = [float("inf")] * len(tasks)
    for task in tasks:
        task()
    for _ in range(repeats):
        for i, task in enumerate(tasks):
            time.sleep(pause)
            best[i] = min(best[i], seconds(task))
    return best


def taking_turns(works: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the best time of each, all of them having been called before."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            if 20 < best[name] < float("inf"):
                continue  # one run of something that takes so long says enough
            time.sleep(0.1)
            best[name] = min(best[name], seconds(work))
    return best


def seconds(task: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def peak_growth(
    work: Callable[..., Any], sample: Callable[[int], tuple], n: int, warm: int = 400
) -> int:
    """Return by how many bytes a call raises the peak memory of a fresh process.

    The process first works on `warm` points, so that imports, compiled code and thread pools are
    not counted. The points themselves are not counted either.

    Parameters
    ----------
    work
        A module-level function, called as ``work(*sample(n))``.
    sample
        A module-level function that makes `n` points.
    """
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=fresh) as pool:
        return pool.submit(_growth, work, sample, n, warm).result()


def in_fresh_process(work: Callable[..., Any], *arguments: Any) -> tuple[Any, int]:
    """Return what a call returns in a process of its own, and the peak memory of that process.

    Parameters
    ----------
    work
        A module-level function; what it returns can be pickled.
    """
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=fresh) as pool:
        return pool.submit(_with_peak, work, *arguments).result()


def _with_peak(work: Callable[..., Any], *arguments: Any) -> tuple[Any, int]:
    found = work(*arguments)
    return found, _high_water_mark()


def _growth(work: Callable[..., Any], sample: Callable[[int], tuple], n: int, warm: int) -> int:
    work(*sample(warm))
    data = sample(n)
    with suppress(OSError):  # Linux: bring the high-water mark down to what is in use now
        Path("/proc/self/clear_refs").write_text("5")
    before = _high_water_mark()
    work(*data)
    return _high_water_mark() - before


def _high_water_mark() -> int:
    """Return the peak resident memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss, which a process on Linux inherits from the one that started it.
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def describe() -> str:
    """Return a few lines that say what a reader must know to compare two runs."""
    packages = ("mercer", "numpy", "scipy", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return "\n".join(
        [
            f"cores:     {cores()} ({platform.machine()}, {platform.system()})",
            f"versions:  Python {platform.python_version()}, {versions}",
            f"BLAS:      {_blas()}",
        ]
    )


def _blas() -> str:
    """Name the BLAS libraries that NumPy and SciPy have loaded, with their threads."""
    import numpy  # noqa: F401  (loads its BLAS)
    import scipy.linalg  # noqa: F401  (loads its own, where the wheels differ)
    from threadpoolctl import threadpool_info

    found = [info for info in threadpool_info() if info["user_api"] == "blas"]
    names = {
        f"{info['internal_api']} {info['version']} "
        f"({info.get('architecture', 'unknown')}, {info['num_threads']} threads)"
        for info in found
    }
    return "; ".join(sorted(names)) or "unknown"
