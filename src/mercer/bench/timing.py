"""Seconds and bytes, measured so that two programs can be compared."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["best_of", "peak_growth", "seconds", "taking_turns"]

Task = Callable[..., Any]


def best_of(*tasks: Task, repeats: int = 5, pause: float = 0.1) -> list[float]:
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


def taking_turns(works: dict[str, Task], repeats: int) -> dict[str, float]:
    """Return the best time of each, all of them having been called before."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            if 20 < best[name] < float("inf"):
                continue  # one run of something that takes so long says enough
            time.sleep(0.1)
            best[name] = min(best[name], seconds(work))
    return best


def seconds(task: Task) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def peak_growth(work: Task, sample: Callable[[int], tuple], n: int, warm: int = 400) -> int:
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


def _growth(work: Task, sample: Callable[[int], tuple], n: int, warm: int) -> int:
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
