"""Patching: scikit-learn's names answer with mercer's machines, until they are given back."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mercer.errors import SelectionError, suggestion

__all__ = ["patch", "patched", "patching", "unpatch"]

# The modules that have a counterpart here, and the names that it stands in for.
NAMES: dict[str, tuple[str, ...]] = {
    "svm": ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR", "l1_min_c"),
    "kernel_ridge": ("KernelRidge",),
    "decomposition": ("KernelPCA",),
    "gaussian_process": ("GaussianProcessClassifier", "GaussianProcessRegressor"),
    "kernel_approximation": ("Nystroem", "RBFSampler"),
    "model_selection": ("GridSearchCV",),
    "metrics.pairwise": (
        "chi2_kernel",
        "laplacian_kernel",
        "linear_kernel",
        "pairwise_kernels",
        "polynomial_kernel",
        "rbf_kernel",
        "sigmoid_kernel",
    ),
}

patched: list[str] = []
"""The names of scikit-learn that are mercer's at present, such as "sklearn.svm.SVC"."""

_originals: dict[str, Any] = {}


def known() -> list[str]:
    """Return every name that can be patched.

    Examples
    --------
    >>> "sklearn.svm.SVC" in known()
    True
    """
    return [f"sklearn.{module}.{name}" for module, names in NAMES.items() for name in names]


def patch(names: str | Iterable[str] | None = None) -> list[str]:
    """Let scikit-learn's names stand for mercer's classes and functions; return which do.

    Imports that come later, such as ``from sklearn.svm import SVC``, get mercer's. Names that were
    imported before keep what they are.

    Parameters
    ----------
    names : str or iterable of str, optional
        Which, as "sklearn.svm.SVC" or "SVC"; by default all.

    Examples
    --------
    >>> patch("SVC")
    ['sklearn.svm.SVC']
    >>> from sklearn.svm import SVC
    >>> SVC.__module__
    'mercer.sklearn.svm'
    >>> unpatch()
    >>> patched
    []
    """
    for full in _chosen(names):
        module, name = full.rsplit(".", 1)
        home = importlib.import_module(module)
        ours = getattr(importlib.import_module(f"mercer.{module}"), name)
        if full not in _originals:
            _originals[full] = getattr(home, name)
            patched.append(full)
        setattr(home, name, ours)
    return list(patched)


def unpatch(names: str | Iterable[str] | None = None) -> None:
    """Give names back to scikit-learn; by default all of them."""
    for full in _chosen(names):
        if full in _originals:
            module, name = full.rsplit(".", 1)
            setattr(importlib.import_module(module), name, _originals.pop(full))
            patched.remove(full)


@contextmanager
def patching(names: str | Iterable[str] | None = None) -> Iterator[list[str]]:
    """Patch within a block; what was patched before it stays so.

    Examples
    --------
    >>> with patching("SVR") as names:
    ...     print(names)
    ['sklearn.svm.SVR']
    >>> patched
    []
    """
    before = set(patched)
    now = patch(names)
    try:
        yield now
    finally:
        unpatch([full for full in now if full not in before])


def _chosen(names: str | Iterable[str] | None) -> list[str]:
    every = known()
    if names is None:
        return every
    found = []
    for name in [names] if isinstance(names, str) else names:
        matches = [full for full in every if name in (full, full.rsplit(".", 1)[1])]
        if not matches:
            raise SelectionError(
                f"{name!r} cannot be patched{suggestion(name, [*every, *map(_short, every)])}"
            )
        found += matches
    return found


def _short(full: str) -> str:
    return full.rsplit(".", 1)[1]
