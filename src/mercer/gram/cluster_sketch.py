"""Sketches on a cluster: each chunk's part of a product is computed where its rows are read.

What travels is small: the centers once to every worker, the numbers of an iterate with each pass,
and sums of M numbers or M × M of them back, up a tree. The numbers of the items themselves, such
as targets and scores, go with the tasks of their chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cluster.account import WorkerShare, at_work, here
from mercer.cluster.journal import fingerprint
from mercer.cluster.passes import Task
from mercer.cluster.reading import ReadingTask
from mercer.domains import InMemory, Points, Rows
from mercer.engine.tiles import diagonal
from mercer.gram.cluster_rows import ClusterRows
from mercer.gram.fold import FAN, add_up
from mercer.gram.sketch import CenterSketch, FeatureSketch, Sketch, whiten
from mercer.gram.whitening import Whitening
from mercer.kernels import Kernel
from mercer.threads import one_blas_thread, using

__all__ = ["CenterFormula", "ClusterSketch", "FeatureFormula"]

Shares = dict[str, WorkerShare]
Parts = list[tuple[ReadingTask, tuple[Any, ...]]]  # chunks, each with its rows of arrays


@dataclass(frozen=True, eq=False)
class CenterFormula:
    """What a worker needs to know of a sketch with centers."""

    kernel: Kernel
    centers: Points
    uniform: bool

    def on(self, rows: Rows) -> Sketch:
        """Return the sketch of some rows."""
        return CenterSketch(self.kernel, rows, self.centers, self.uniform)

    @property
    def fingerprint(self) -> str:
        """What tells it from others."""
        array = getattr(self.centers, "array", None)
        known = np.asarray(array) if isinstance(array, np.ndarray) else list(self.centers.items())
        return fingerprint(self.kernel, known)


@dataclass(frozen=True, eq=False)
class FeatureFormula:
    """What a worker needs to know of explicit features."""

    features: Callable[[Points], Any]
    count: int

    def on(self, rows: Rows) -> Sketch:
        """Return the sketch of some rows."""
        return FeatureSketch(self.features, rows, self.count)

    @property
    def fingerprint(self) -> str:
        """What tells it from others."""
        return fingerprint(self.features, self.count)


class ClusterSketch(Sketch):
    """The matrix of a sketch, whose rows are on a cluster.

    Parameters
    ----------
    formula : CenterFormula or FeatureFormula
    rows : ClusterRows
    """

    def __init__(self, formula: CenterFormula | FeatureFormula, rows: ClusterRows) -> None:
        super().__init__(rows)
        self.formula, self.cluster = formula, rows.cluster
        self.on_cluster = rows
        self.local = formula.on(InMemory(rows.survey.sample[:0], 1))
        self.count = self.local.count
        self.uniform = self.local.uniform
        self._formula = self.cluster.keep((formula, self.cluster.threads), "formula")

    def fill(self, points: Points, out: np.ndarray) -> None:
        self.local.fill(points, out)

    def core(self) -> np.ndarray:
        return self.local.core()

    def product(self, A: np.ndarray) -> np.ndarray:
        parts = self._each("product", A)
        return np.concatenate([part[0] for part in parts])

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        return self._sum("adjoint", None, V)[0]

    def normal(self, A: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        return self._sum("normal", A, weights)[0]

    def lower_moments(self, V: np.ndarray, weights: np.ndarray | None = None) -> list[np.ndarray]:
        return self._sum("moments", None, V, weights)

    def whitened_moments(self, white: Whitening, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, sums = self._sum("whitened", white, V)
        low = np.tril(low)
        return low + np.tril(low, -1).T, sums

    def diagonal_sum(self, kernel: Kernel) -> float:
        return float(self._sum("diagonal", kernel)[0][0])

    def sampled(self, places: np.ndarray) -> np.ndarray:
        rows = self.on_cluster
        wanted = []
        for reading in rows.readings:
            place = rows.place(reading)
            a, b = np.searchsorted(places, [place.start, place.stop])
            wanted.append(places[a:b] - place.start)
        pairs = [(r, some) for r, some in zip(rows.readings, wanted, strict=True) if len(some)]
        parts = self._run("sampled", None, [(r, (some,)) for r, some in pairs], whole=False)
        return np.concatenate([part[0] for part in parts])

    # ---- passes ---------------------------------------------------------------------------------

    def _sum(self, method: str, shared: Any, *own: np.ndarray | None) -> list[np.ndarray]:
        """Return the sums over all chunks; of `own` each chunk gets its rows."""
        found: list[np.ndarray] = self._run(method, shared, self._cut(own), whole=True)
        return found

    def _each(self, method: str, shared: Any) -> list[list[np.ndarray]]:
        """Return what each chunk has brought."""
        found: list[list[np.ndarray]] = self._run(method, shared, self._cut(()), whole=False)
        return found

    def _cut(
        self, own: tuple[np.ndarray | None, ...]
    ) -> list[tuple[ReadingTask, tuple[Any, ...]]]:
        rows = self.on_cluster
        return [
            (r, tuple(None if x is None else x[rows.place(r)] for x in own)) for r in rows.readings
        ]

    def _run(
        self,
        method: str,
        shared: Any,
        parts: list[tuple[ReadingTask, tuple[Any, ...]]],
        whole: bool,
    ) -> Any:
        self.passes += method != "sampled"
        cluster, account = self.cluster, self.cluster.account
        account.passes += 1
        key = "" if cluster.journal is None else self._key(method, shared, parts)
        known = cluster.journal.recall(key) if cluster.journal is not None else None
        if known is not None:
            account.recalled += 1
            arrays = [known[f"arr{n}"] for n in range(len(known))]
            return arrays if whole else [[one] for one in arrays]
        ticket = cluster.keep(shared, "shared")
        tasks = [
            Task(_work, (self._formula, method, ticket, reading, *own), reading.title)
            for reading, own in parts
        ]
        try:
            if whole:
                found = cluster.sum(tasks, method, _combined, FAN)
                arrays = found
            else:
                found = cluster.map(tasks, method)
                arrays = [one[0] for one in found]
        finally:
            cluster.scheduler.release(ticket)
        account.received += sum(one.nbytes for one in arrays)
        if cluster.journal is not None:
            cluster.journal.record(key, {f"arr{n}": one for n, one in enumerate(arrays)})
        return found

    def _key(self, method: str, shared: Any, parts: list[Any]) -> str:
        """Return the fingerprint of all that a pass depends on."""
        given = shared.matrix if isinstance(shared, Whitening) else shared
        rows = self.on_cluster.fingerprint
        own = fingerprint(*(x for reading, some in parts for x in (reading.number, *some)))
        return fingerprint(method, self.formula.fingerprint, rows, given, own)


def _work(
    known: tuple[CenterFormula | FeatureFormula, int],
    method: str,
    shared: Any,
    reading: ReadingTask,
    *own: Any,
) -> tuple[list[np.ndarray], Shares]:
    """Read a chunk and return its part of a pass."""
    formula, threads = known
    with at_work(reading.title) as share, using(threads), one_blas_thread:
        chunk = reading.read(share)
        assert chunk is not None  # its checksum says that there are rows
        sketch = formula.on(InMemory(chunk.points, len(chunk)))
        found = WORK[method](sketch, chunk.points, shared, *own)
    return found, {here(): share}


def _combined(*parts: tuple[list[np.ndarray], Shares]) -> tuple[list[np.ndarray], Shares]:
    """Add up the sums of some chunks, and what their workers have done."""
    shares: Shares = {}
    for _, some in parts:
        for address, share in some.items():
            shares.setdefault(address, WorkerShare()).add(share)
    return add_up([sums for sums, _ in parts]), shares


def _moments(sketch: Sketch, V: np.ndarray, weights: np.ndarray | None) -> list[np.ndarray]:
    return [np.array(one) for one in sketch.lower_moments(V, weights)]  # without their workspace


WORK: dict[str, Callable[..., list[np.ndarray]]] = {
    "product": lambda sketch, points, A: [sketch.product(A)],
    "adjoint": lambda sketch, points, _, V: [np.array(sketch.adjoint(V))],
    "normal": lambda sketch, points, A, W: [np.array(sketch.normal(A, W))],
    "moments": lambda sketch, points, _, V, w: _moments(sketch, V, w),
    "whitened": lambda sketch, points, white, V: _moments(whiten(sketch, white), V, None),
    "diagonal": lambda sketch, points, kernel: [
        np.array([float(np.sum(diagonal(kernel, points)))])
    ],
    "sampled": lambda sketch, points, _, places: [sketch.sampled(places)],
}
