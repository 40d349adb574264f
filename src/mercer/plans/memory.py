"""Memory: how many bytes there are, and how to say so."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["available", "human"]


def available() -> int | None:
    """Return the bytes that this process may still take, or None where nobody knows."""
    known = [free for free in (_system(), _group()) if free is not None]
    return min(known) if known else None


def human(count: float) -> str:
    """Say a number of bytes.

    Examples
    --------
    >>> human(3_200_000_000)
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
        return None if limit == "max" else max(int(limit) - used, 0)
    except (OSError, ValueError):
        return None
