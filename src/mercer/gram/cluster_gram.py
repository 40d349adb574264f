"""Gram matrices on a cluster: products of conjugate gradients, a group of tiles for each task.

The items are sent to every worker once, the vectors with each product. One computer adds up the
tiles of a symmetric product in groups, which its threads share; here tasks share them, so that the
sums have the same bits. There are as many tasks as groups, which is what more workers than that
cannot help.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.cluster import Cluster, alone
from mercer.cluster.account import WorkerShare, at_work, here
from mercer.cluster.passes import Task
from mercer.domains import Points
from mercer.gram.operator import (
    SUM_GROUPS,
    Blocked,
    in_groups,
    product,
    symmetric_groups,
    symmetric_product,
)
from mercer.kernels import Kernel
from mercer.threads import one_blas_thread, using

__all__ = ["ClusterGram"]

MIN_ROWS = 1000  # of a task, where each has rows of its own


class ClusterGram(Blocked):
    """A Gram matrix whose products are computed by workers; its parts are computed here.

    Examples
    --------
    >>> from mercer.cluster import InProcess
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> with Cluster(InProcess()) as cluster:
    ...     ClusterGram(cluster, k, k.admit([[1.0], [2.0]])) @ np.array([1.0, 1.0])
    array([3., 6.])
    """

    def __init__(self, cluster: Cluster, kernel: Kernel, points: Points) -> None:
        super().__init__(kernel, points)
        self.cluster = cluster
        self._kept: list[tuple[Points, Any]] = []  # the items, and the same in single precision

    def multiply(self, points: Points, vectors: np.ndarray) -> np.ndarray:
        if len(points) < 2 * MIN_ROWS:  # which takes less time than the way there
            return symmetric_product(self.kernel, points, vectors)
        cluster = self.cluster
        items = next((held for known, held in self._kept if known is points), None)
        if items is None:
            items = cluster.keep((self.kernel, points, cluster.threads), "items")
            self._kept.append((points, items))
        ticket = cluster.keep(vectors, "vectors")
        cluster.account.passes += 1
        grouped = in_groups(points)
        parts = range(SUM_GROUPS) if grouped else spans_of(len(points))
        tasks = [
            Task(_group if grouped else _rows, (items, ticket, part), _title(part))
            for part in parts
        ]
        try:
            found = cluster.map(tasks, "product")
        finally:
            cluster.scheduler.release(ticket)
        cluster.account.received += sum(one.nbytes for one in found)
        return np.stack(found).sum(axis=0) if grouped else np.concatenate(found)


def spans_of(count: int) -> list[slice]:
    """Return the rows of each task: a task for every `MIN_ROWS`, and no more than groups."""
    size = max(-(-count // SUM_GROUPS), MIN_ROWS)
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def _title(part: int | slice) -> str:
    if isinstance(part, slice):
        return f"a product with rows {part.start} to {part.stop - 1} of the Gram matrix"
    return f"a product with group {part} of the tiles of the Gram matrix"


def _group(
    kept: tuple[Kernel, Points, int], vectors: np.ndarray, number: int
) -> tuple[np.ndarray, dict[str, WorkerShare]]:
    kernel, points, threads = kept
    with at_work(_title(number)) as share, using(threads), one_blas_thread, alone():
        total = np.zeros((len(points), *vectors.shape[1:]))
        symmetric_groups(kernel, points, vectors)(number, total)
    return total, {here(): share}


def _rows(
    kept: tuple[Kernel, Points, int], vectors: np.ndarray, rows: slice
) -> tuple[np.ndarray, dict[str, WorkerShare]]:
    kernel, points, threads = kept
    with at_work(_title(rows)) as share, using(threads), one_blas_thread, alone():
        found = product(kernel, points[rows], points, vectors)
    return found, {here(): share}
