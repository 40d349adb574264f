"""What the numbers were measured on: cores, versions and the BLAS."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

PACKAGES = ("mercer", "numpy", "scipy", "scikit-learn")


def describe() -> str:
    """Return a few lines that say what a reader must know to compare two runs."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return "\n".join(
        [
            f"cores:     {cores()} ({platform.machine()}, {platform.system()})",
            f"versions:  Python {platform.python_version()}, {versions}",
            f"BLAS:      {blas()}",
        ]
    )


def cores() -> int:
    """Return how many cores this process may use, which can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def blas() -> str:
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
