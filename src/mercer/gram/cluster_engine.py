"""The engine of a cluster: streams there, and everything else on this computer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.cluster import current
from mercer.domains import Domain, Points, Rows, Stream, Streamed
from mercer.errors import PlanError
from mercer.gram.cluster_gram import ClusterGram
from mercer.gram.cluster_rows import ClusterRows, survey_on
from mercer.gram.cluster_sketch import CenterFormula, ClusterSketch, FeatureFormula
from mercer.gram.engines import NumPyEngine
from mercer.gram.operator import Blocked, Gram
from mercer.gram.sketch import Sketch
from mercer.kernels import Kernel

__all__ = ["ClusterEngine"]

HERE = (
    "the items are in this computer's memory; a cluster reads its own rows: use a Stream "
    "(mercer.sources.stream(path), Stream.rows(array)) or a Dask collection"
)


class ClusterEngine(NumPyEngine):
    """Chunks of a stream on the workers of a cluster, and sums of them here.

    Items in memory are sent to workers for one purpose only: products with their Gram matrix,
    where an exact answer takes a few dozen of them. Anything else with them stays here.
    """

    def wants_streams(self) -> bool:
        """Tell whether streams come here where the user leaves it open: inside of a ``with``."""
        return current() is not None

    def survey(self, stream: Stream, domain: Domain, sample: int, seed: int = 0) -> Streamed:
        """Read a stream for the first time, on the workers."""
        cluster = current(required=True)
        assert cluster is not None
        return survey_on(cluster, stream, domain, sample, seed)

    def gram(self, kernel: Kernel, points: Points, precision: str) -> Gram:
        cluster = current()
        return Blocked(kernel, points) if cluster is None else ClusterGram(cluster, kernel, points)

    def explain(self, kernel: Kernel, width: int, precision: str) -> str:
        return "on a cluster"

    def sketch(
        self, kernel: Kernel, rows: Rows, centers: Points, precision: str, uniform: bool
    ) -> Any:
        if not isinstance(rows, ClusterRows):
            raise PlanError(HERE)
        return ClusterSketch(CenterFormula(kernel, centers, uniform), rows)

    def features(self, features: Callable[[Points], Any], rows: Rows, count: int) -> Sketch:
        """Return the sketch of explicit features."""
        if not isinstance(rows, ClusterRows):
            raise PlanError(HERE)
        return ClusterSketch(FeatureFormula(features, count), rows)
