"""What the numbers were measured on: cores, versions and the BLAS."""

from __future__ import annotations

import platform
from importlib.metadata import version

from mercer.threads import cores

__all__ = ["describe"]

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
