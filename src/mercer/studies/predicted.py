"""Predicted bytes of a study: its searches come one after the other, beside the table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mercer.domains import Items, is_frame
from mercer.kernels import Exponential
from mercer.machines import KernelRidge, LearnedMetric
from mercer.selection import plan_search

__all__ = ["metric_bytes", "study_bytes", "table_bytes"]

TEXT_BYTES = 60  # of a short text, with what Python keeps about it
# A linear model and boosted trees to compare with, and what Python keeps of fits, as measured
# beside searches over 750 and 1500 rows (`python -m benchmarks memory`).
REFERENCE_BYTES = 30_000_000
COPIES = 3  # of the table: as it was read, encoded, and the part of a fold


def study_bytes(searches: Iterable[tuple[Any, Any]], X: Items, table: int = 0) -> int:
    """Return what a study of some machines needs at most.

    Parameters
    ----------
    searches : iterable of (machine, grid)
        What is tried, in any order.
    X : items
        As the machines see them.
    table : int
        Bytes of the table that the items come from.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> study_bytes([(SVC(), {"C": [1.0, 10.0]})], np.zeros((500, 2))) > 4_000_000
    True
    """
    largest = max((plan_search(machine, X, grid).bytes for machine, grid in searches), default=0)
    return COPIES * table + largest + REFERENCE_BYTES


def metric_bytes(X: Items, sample: int) -> int:
    """Return what learning a metric from some rows, and a ridge regression with it, need.

    Examples
    --------
    >>> import numpy as np
    >>> metric_bytes(np.zeros((4000, 3)), 1000) > 4 * 4000**2
    True
    """
    kernel = Exponential(order=1) + Exponential() + Exponential()
    return LearnedMetric(KernelRidge(kernel, intercept=True), sample=sample).plan(X).bytes


def table_bytes(X: Any) -> int:
    """Return what a table holds; an entry that is an object counts as a short text."""
    if is_frame(X):
        return int(X.memory_usage(index=True, deep=False).sum()) + TEXT_BYTES * int(
            sum(X[name].dtype.kind not in "iufb" for name in X.columns) * len(X)
        )
    if hasattr(X, "nbytes"):
        return int(X.nbytes)
    data = getattr(X, "data", None)
    return 2 * int(getattr(data, "nbytes", 0))
