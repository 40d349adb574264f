"""Memory: how many bytes there are, and how to say so."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mercer.errors import PlanError
from mercer.forks import in_child
from mercer.threads import cores

__all__ = ["afford", "affordable", "available", "format_bytes", "out_of_memory", "supposing"]

# Of address space, as measured with NumPy's and SciPy's OpenBLAS on Linux:
BUFFER_BYTES = 68_000_000  # of both of them, for each thread that multiplies
STACK_BYTES = 10_000_000  # of a thread; the heap that is set apart for it may be refused
COMPILER_BYTES = 190_000_000  # of Numba and LLVM
MAX_COUNTED_THREADS = 8  # so that a limit leaves something on computers with many cores
# Seconds for which an answer of the system and of groups holds. To ask takes as long as a small
# fit, and in that time no more than some ten megabytes can be touched for the first time.
MAX_AGE = 0.01


def available() -> int | None:
    """Return the bytes that this process may still take, or None where nobody knows.

    Returns
    -------
    int or None

    Examples
    --------
    >>> available() is None or available() > 0
    True
    """
    if _supposed:
        return _supposed[-1][1]
    now = time.monotonic()
    if not _last or not 0 <= now - _last[0][0] < MAX_AGE:
        shared = [free for free in (_system(), _group()) if free is not None]
        _last[:] = [(now, min(shared) if shared else None)]
    known = [free for free in (_last[0][1], _limit()) if free is not None]
    return min(known) if known else None


def affordable(needed: float) -> bool:
    """Tell whether this many bytes are free; where nobody knows, they are."""
    free = available()
    return free is None or needed <= free


def afford(needed: float, task: str, advice: str) -> None:
    """Refuse work that would not fit, saying the bytes needed, the bytes there, and what to do.

    Examples
    --------
    >>> afford(10**18, "the Gram matrix of 350000000 items", "use fewer items")
    Traceback (most recent call last):
        ...
    mercer.errors.PlanError: the Gram matrix of 350000000 items needs 1000000.0 TB, but ...
    """
    if not affordable(needed):
        there = format_bytes(available() or 0)
        raise PlanError(
            f"{task} needs {format_bytes(needed)}, but {there} are available; {advice}"
        )


@contextmanager
def out_of_memory(task: str, items: int) -> Iterator[None]:
    """Turn an allocation that fails into a `PlanError`, which says what would fit.

    Plans foresee what they can; limits may change meanwhile, and other programs take memory too.

    Parameters
    ----------
    task : str
    items : int
        How many it is about; memory is taken to grow with their square.

    Examples
    --------
    >>> with out_of_memory("a fit", 1000):
    ...     raise MemoryError("Unable to allocate 7.45 GiB")
    Traceback (most recent call last):
        ...
    mercer.errors.PlanError: a fit on 1000 items ran out of memory (Unable to allocate 7.45 GiB)...
    """
    try:
        yield
    except PlanError:
        raise
    except MemoryError as error:
        free = available()
        words = f" ({error})" if str(error) else ""
        asked = _bytes_in(str(error))
        fit = "use fewer items"
        if free is not None and asked:
            there = int(items * min((free / asked) ** 0.5, 1.0))
            fit = f"about {there} items would fit"
        known = "" if free is None else f"; {format_bytes(free)} are available"
        raise PlanError(
            f"{task} on {items} items ran out of memory{words}{known}: {fit}, or an approximation "
            "with Plan(approximate=Nystrom(...)), or more memory"
        ) from error


def _bytes_in(message: str) -> float:
    """Return the bytes that NumPy says it could not have, or 0.

    Examples
    --------
    >>> _bytes_in("Unable to allocate 2.00 KiB for an array")
    2048.0
    """
    found = re.search(r"allocate ([\d.]+) (bytes|[KMGTPE]iB)", message)
    if found is None:
        return 0.0
    place = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].index(found[2])
    return float(found[1]) * 1024.0**place


@contextmanager
def supposing(free: int | None) -> Iterator[None]:
    """Plan for a while as if this many bytes were free, or, with None, as if nobody knew.

    Examples
    --------
    >>> with supposing(1000):
    ...     affordable(1001)
    False
    """
    _supposed.append((threading.get_ident(), free))
    try:
        yield
    finally:
        _supposed.pop()


def format_bytes(count: float) -> str:
    """Return a number of bytes in words.

    Parameters
    ----------
    count : float

    Returns
    -------
    str

    Examples
    --------
    >>> format_bytes(3_200_000_000)
    '3.2 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _system() -> int | None:
    """Ask the kernel of Linux, otherwise the total of the machine."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _limit() -> int | None:
    """Ask for the limit of this process's address space (``ulimit -v``), less what it has."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        taken = pages * os.sysconf("SC_PAGE_SIZE") + _yet_to_come()
        return max(limit - taken, 0)
    except (ImportError, OSError, ValueError, AttributeError):
        return None


def _yet_to_come() -> int:
    """Return the address space that libraries will take for themselves when they begin to work.

    OpenBLAS ends the process if it cannot have its buffers, so that they must not be given away.
    """
    started = sum(thread.name.startswith("mercer_") for thread in threading.enumerate())
    missing = min(max(cores() - started, 0), MAX_COUNTED_THREADS)
    compiler = 0 if "llvmlite.binding" in sys.modules else COMPILER_BYTES
    return BUFFER_BYTES + missing * (BUFFER_BYTES + STACK_BYTES) + compiler


def _group() -> int | None:
    """Ask the control groups that this process is in, which limit containers: all up to the root.

    Containers see their own group as the root; elsewhere /proc/self/cgroup says where it is. The
    groups of version 1 have a folder for memory and other names.
    """
    known = [free for folder in _group_folders() if (free := _left_in(folder)) is not None]
    return min(known) if known else None


def _group_folders() -> Iterator[Path]:
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines or ["0::/"]:
        _, kinds, path = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        top = root / "memory" if kinds else root
        folder = top / path.lstrip("/")
        yield from (part for part in (folder, *folder.parents) if part.is_relative_to(top))


def _left_in(folder: Path) -> int | None:
    """Return the bytes that a control group has left, or None where it has no limit."""
    for limit_name, used_name, cache in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        try:
            limit = (folder / limit_name).read_text().strip()
            if limit == "max" or int(limit) >= 2**62:  # of version 1, a number that is no limit
                continue
            used = int((folder / used_name).read_text())
            lines = (folder / "memory.stat").read_text().splitlines()
            fields = dict(line.split() for line in lines)
            used -= int(fields.get(cache, 0))  # the page cache gives way
            return max(int(limit) - used, 0)
        except (OSError, ValueError):
            continue
    return None


_supposed: list[tuple[int, int | None]] = []  # by `supposing` and in which thread


_last: list[tuple[float, int | None]] = []  # when it was asked, and the answer


@in_child
def _keep_own() -> None:
    _last.clear()
    _supposed[:] = [entry for entry in _supposed if entry[0] == threading.get_ident()]
