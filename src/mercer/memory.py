"""Memory: how many bytes there are, and how to say so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mercer.errors import PlanError

__all__ = ["afford", "affordable", "available", "format_bytes", "supposing"]


def available() -> int | None:
    """Return the bytes that this process may still take, or None where nobody knows."""
    if _supposed:
        return _supposed[-1]
    known = [free for free in (_system(), _group()) if free is not None]
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
def supposing(free: int | None) -> Iterator[None]:
    """Plan for a while as if this many bytes were free, or, with None, as if nobody knew.

    Examples
    --------
    >>> with supposing(1000):
    ...     affordable(1001)
    False
    """
    _supposed.append(free)
    try:
        yield
    finally:
        _supposed.pop()


def format_bytes(count: float) -> str:
    """Return a number of bytes in words.

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


def _group() -> int | None:
    """Ask the control group, which limits containers."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        fields = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        used -= int(fields.get("inactive_file", 0))  # the page cache gives way
        return None if limit == "max" else max(int(limit) - used, 0)
    except (OSError, ValueError):
        return None


_supposed: list[int | None] = []  # by `supposing`, the innermost last
