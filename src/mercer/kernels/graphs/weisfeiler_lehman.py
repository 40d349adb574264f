"""The Weisfeiler-Lehman kernel: common neighborhoods, from near to far."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Graph, GraphDomain, Graphs, Points, as_graph
from mercer.engine.block import Block
from mercer.errors import ValidityError
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.graphs.refinement import Refined, refine, relabel
from mercer.kernels.graphs.refinement_loops import tally
from mercer.kernels.graphs.vertices import (
    OverVertices,
    add_agreeing,
    counts,
    values_of,
    vertex_tiles,
)
from mercer.kernels.patterns import Occurrences, PatternKernel, Patterns, Vocabulary
from mercer.kernels.proof import Proof, derive, proved
from mercer.values import whole

__all__ = ["Stacked", "WeisfeilerLehman", "stack_patterns"]


@kernel
class WeisfeilerLehman(OverVertices):
    """How many pairs of nodes have the same surroundings, added up over depths 0 to `depth`.

    At depth 0 two nodes agree if their labels do; at each next depth if they agreed before and
    their neighbors do too, one by one, with the labels of the edges to them if there are any. So
    the kernel counts common subtrees. Nodes of graphs without labels all have the same one. A
    graph without nodes is 0 to all.

    With a `base`, a pair of nodes counts by its similarity instead of 1: a kernel on rows of
    numbers compares attributes, any other compares labels. A base that compares graphs is added
    up over the graphs relabeled at each depth; since new labels can only be equal or not, it must
    not compare them by a base of its own.

    Valid as an inner product of counts of labels; with a base as a sum of products, or of kernels
    on relabeled graphs (Shervashidze et al., 2011).

    Parameters
    ----------
    depth : int
        How far to look around a node, 0 for its label alone.
    base : Kernel, optional
        On nodes, or on graphs such as `ShortestPath()`.

    Examples
    --------
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]
    >>> WeisfeilerLehman(0)([path, triangle])
    array([[9., 9.],
           [9., 9.]])
    >>> WeisfeilerLehman(1)([path, triangle])
    array([[14., 12.],
           [12., 18.]])
    """

    depth: int = 5
    base: Kernel | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalize("depth", whole(self, "depth", self.depth, least=0))

    def pair(self, x: object, z: object) -> float:
        left, right = as_graph(x), as_graph(z)
        levels = _refined_together(left, right, self.depth)
        if self.base is None:
            counted = [(Counter(a), Counter(b)) for a, b in levels]
            return float(sum(a[label] * b[label] for a, b in counted for label in a))
        if self.of_graphs:
            graphs = [(_with_labels(left, a), _with_labels(right, b)) for a, b in levels]
            return float(sum(self.base.pair(g, h) for g, h in graphs))
        one, two = values_of(left, self.base), values_of(right, self.base)
        agree = [(v, w) for a, b in levels for v in range(len(a)) for w in range(len(b))
                 if a[v] == b[w]]  # fmt: skip
        return float(sum(self.base.pair(one[v], two[w]) for v, w in agree))

    def patterns(self, points: Graphs) -> Patterns:
        if isinstance(self.base, PatternKernel) and self.of_counts:
            return stack_patterns([self.base.encoded(level) for level in self.levels(points)])
        if self.base is not None:
            raise ValidityError(f"{self!r} has no patterns, because its base does not count any")
        found = refine(points, self.depth)
        width = len(found.vocabulary)
        indptr, indices, times = tally(found.columns(), found.first, found.last, width)
        matrix = sparse.csr_array((times, indices, indptr), (len(points), width))
        return Patterns(matrix, found.vocabulary)

    def occurrences(self, points: Graphs) -> Occurrences | None:
        """Return the labels of each node at all depths, each at the node itself."""
        if self.base is not None:
            return None
        found, times = refine(points, self.depth), self.depth + 1
        sizes = found.last - found.first
        item = np.repeat(np.arange(len(sizes)), sizes)
        node = np.arange(len(item)) - found.first[item]
        places = found.vocabulary.places(self.encoded(points).vocabulary)
        column = places[found.columns().T.ravel()]
        starts, ones = np.arange(len(column) + 1), np.ones(len(column))
        return Occurrences(item.repeat(times), column, ones, starts, node.repeat(times))

    @property
    def of_graphs(self) -> bool:
        """Whether the base compares graphs, not nodes."""
        return self.base is not None and isinstance(self.base.domain, GraphDomain)

    @property
    def of_counts(self) -> bool:
        return self.base is None or (self.of_graphs and counts(self.base))

    def levels(self, points: Any) -> list[Graphs]:
        """Return the graphs relabeled at each depth."""

        def at(depth: int) -> Any:
            return lambda graphs: relabel(graphs, self.refined(graphs), depth)

        return [
            points.view(("relabeled", self.depth, depth), at(depth))
            for depth in range(self.depth + 1)
        ]

    def refined(self, points: Any) -> Refined:
        """Return the labels of all nodes at all depths, found only once."""
        return points.view(("refined", self.depth), lambda graphs: refine(graphs, self.depth))

    def encode(self, points: Any) -> None:
        if self.of_counts or not self.of_graphs:
            return super().encode(points)
        for level in self.levels(points):
            self.base.encode(level)  # type: ignore[union-attr]

    def encode_structure(self, points: Graphs) -> None:
        self.refined(points)

    def evaluate(self, block: Block) -> np.ndarray:
        if self.of_counts or not self.of_graphs:
            return super().evaluate(block)
        K = np.zeros(block.shape)
        for left, right in zip(self.levels(block.left), self.levels(block.right), strict=True):
            K += self.base.evaluate(Block(left, right, block.symmetric))  # type: ignore[union-attr]
        return K

    def evaluate_diagonal(self, points: Any) -> np.ndarray:
        if self.of_counts or not self.of_graphs:
            return super().evaluate_diagonal(points)
        levels = self.levels(points)
        return np.sum([self.base.evaluate_diagonal(level) for level in levels], axis=0)  # type: ignore[union-attr]

    def sum_over_vertices(self, block: Block) -> np.ndarray:
        base = self.base
        assert base is not None
        left, right = self.refined(block.left), self.refined(block.right)
        known = right.vocabulary.by_level(left.vocabulary)
        K = np.zeros(block.shape)
        sides = self.vertices(block.left), self.vertices(block.right)
        for t in vertex_tiles(base, *sides, block.symmetric):
            here = np.ascontiguousarray(left.codes[:, left.take(t.rows).nodes()].T)
            codes = right.codes[:, right.take(t.columns).nodes()]
            there = [places[code] for places, code in zip(known, codes, strict=True)]
            out = K[t.rows, t.columns]
            add_agreeing(t.values, here, np.stack(there, axis=1), t.tops, t.sides, out)
        return K

    def resolved_base(self, points: Points, weights: np.ndarray | None) -> Kernel:
        if self.of_graphs:
            return self.base.resolve(points, weights)  # type: ignore[union-attr]
        return super().resolved_base(points, weights)

    def prove(self) -> Proof:
        if self.base is None:
            source = "(Shervashidze et al., 2011)"
            return proved(self, f"it is an inner product of counts of labels {source}")
        if self.of_graphs:
            return derive(self, "it is a sum over graphs relabeled at each depth of", self.base)
        rule = "it is a sum over pairs of nodes (6.17) of equality of labels times (6.18)"
        return derive(self, rule, self.base)


def _refined_together(left: Graph, right: Graph, depth: int) -> list[tuple[list[Any], list[Any]]]:
    """Return the labels of two graphs at all depths, as numbers that mean the same in both."""
    labels = [list(g.labels) if g.labels is not None else [0] * g.nodes for g in (left, right)]
    found = [(labels[0], labels[1])]
    around = left.neighbors(), right.neighbors()
    for _ in range(depth):
        numbers: dict[Any, int] = {}
        labels = [
            [
                numbers.setdefault(
                    (now[v], frozenset(Counter((e, now[w]) for w, e in near[v]).items())),
                    len(numbers),
                )
                for v in range(len(now))
            ]
            for now, near in zip(labels, around, strict=True)
        ]
        found.append((labels[0], labels[1]))
    return found


def _with_labels(graph: Graph, labels: list[Any]) -> Graph:
    return Graph.made(graph.nodes, graph.edges, tuple(labels), graph.edge_labels, graph.attributes)


class Stacked(Vocabulary):
    """Several vocabularies, one for each depth, one after the other.

    Examples
    --------
    >>> Stacked([Vocabulary(["cat"]), Vocabulary(["hat", "mat"])])[2]
    'depth 1: mat'
    """

    def __init__(self, parts: list[Vocabulary]) -> None:
        super().__init__(())
        self.parts = parts
        self.offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])])

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def __getitem__(self, column: int) -> str:
        part = int(np.searchsorted(self.offsets, column, side="right")) - 1
        return f"depth {part}: {self.parts[part][int(column - self.offsets[part])]}"

    def _find(self, other: Any) -> np.ndarray:
        found = []
        for mine, theirs, offset in zip(self.parts, other.parts, other.offsets, strict=False):
            places = mine.places(theirs)
            found.append(np.where(places >= 0, places + offset, -1))
        return np.concatenate(found)


def stack_patterns(parts: list[Patterns]) -> Patterns:
    """Return the same things with the patterns of all parts."""
    matrix = sparse.hstack([part.matrix for part in parts], format="csr")
    return Patterns(sparse.csr_array(matrix), Stacked([part.vocabulary for part in parts]))
