"""Graph kernels that count patterns, or weigh pairs of nodes by a base kernel."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import GRAPHS, Domain, Graphs
from mercer.engine.block import Block
from mercer.errors import ValidityError
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.graphs.vertices import Vertices, resolve_on_vertices, vertices
from mercer.kernels.patterns import PatternKernel

__all__ = ["OverVertices", "counts"]


class OverVertices(PatternKernel):
    """A kernel on graphs with an optional `base` kernel on their nodes.

    Without a base it is an inner product of counts, with explicit features. With one, its author
    writes `sum_over_vertices`, and there are no patterns.
    """

    base: Kernel | None
    domain: ClassVar[Domain] = GRAPHS

    def __post_init__(self) -> None:
        if self.base is not None and not isinstance(self.base, Kernel):
            raise ValidityError(
                f"base of {type(self).__name__} must be a kernel or None, found {self.base!r}"
            )

    def sum_over_vertices(self, block: Block) -> np.ndarray:
        """Return the Gram matrix with the base; what is below a symmetric diagonal is not used."""
        raise NotImplementedError

    def encode_structure(self, points: Any) -> None:
        """Encode what `sum_over_vertices` needs beside the nodes."""
        raise NotImplementedError

    @property
    def of_counts(self) -> bool:
        """Whether this is an inner product of counts of patterns."""
        return self.base is None

    @property
    def slow(self) -> bool:
        return not self.of_counts

    @property
    def threads(self) -> bool:  # type: ignore[override]
        return self.base is None or self.base.threads

    def vertices(self, points: Any) -> Vertices:
        """Return the nodes as the base sees them, encoded only once."""
        base = self.base
        assert base is not None
        return points.view(("vertices", base), lambda graphs: vertices(graphs, base))

    def encode(self, points: Any) -> None:
        if self.of_counts:
            self.encoded(points)
        else:
            self.vertices(points)
            self.encode_structure(points)

    def evaluate(self, block: Block) -> np.ndarray:
        if self.of_counts:
            return super().evaluate(block)
        K = self.sum_over_vertices(block)
        return np.triu(K) + np.triu(K, 1).T if block.symmetric else K

    def evaluate_diagonal(self, points: Any) -> np.ndarray:
        if self.of_counts:
            return super().evaluate_diagonal(points)
        parts = (points[i : i + 1] for i in range(len(points)))
        return np.array([self.sum_over_vertices(Block(p, p, True))[0, 0] for p in parts])

    def map_features(self, points: Any) -> FeatureMap | None:
        return super().map_features(points) if self.of_counts else None

    def resolve(self, A: Any, weights: np.ndarray | None = None) -> Self:
        if self.base is None or not self.unresolved():
            return self
        return dataclasses.replace(self, base=self.resolved_base(self.domain.admit(A), weights))  # type: ignore[type-var]

    def resolved_base(self, points: Any, weights: np.ndarray | None) -> Kernel:
        """Return the base with its heuristics resolved."""
        assert self.base is not None and isinstance(points, Graphs)
        return resolve_on_vertices(self.base, points, weights)


def counts(k: Kernel | None) -> bool:
    """Tell whether a kernel on graphs is an inner product of counts."""
    return k.of_counts if isinstance(k, OverVertices) else isinstance(k, PatternKernel)
