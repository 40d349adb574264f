"""Refinement: labels that say more and more about what is around a node.

At depth 0 a node has its own label. At each next depth it gets a new one, which stands for its
label and the labels of its neighbors (with those of the edges to them) before: Weisfeiler & Leman
(1968). So equal labels at depth h mean equal trees of walks of length h.

A signature is a list of whole numbers: the code of a node, then one number for each neighbor, in
order. Equal signatures get equal codes. They are found by a hash table that compares the whole
lists, so that different ones are never taken for equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mercer.domains import Graphs, Labels, Net, Points, same_kind
from mercer.domains.points import RowIndex
from mercer.kernels.graphs.refinement_loops import (
    look_up,
    number_signatures,
    pack_signatures,
    signatures,
    translate,
)
from mercer.kernels.patterns import Vocabulary

__all__ = ["Refined", "RefinedLabels", "Refinement", "refine", "relabel"]


class DepthLabels(NamedTuple):
    """The labels of one depth: signatures in the codes of the depth before, which has `bound`."""

    begins: np.ndarray
    words: np.ndarray
    bound: int


class Refinement(Vocabulary):
    """The labels of all depths, depth after depth.

    Labels of two sets are matched depth by depth, since their codes are their own: a label is
    known if all the labels that it is made of are, and make a label there too.
    """

    def __init__(self, graphs: Graphs, levels: list[DepthLabels]) -> None:
        super().__init__(())
        self.kind = graphs.kind
        _, self.labels = graphs.node_labels
        _, self.edge_labels = graphs.entry_labels
        self.levels = levels
        counts = [len(self.labels), *(len(level.begins) - 1 for level in levels)]
        self.offsets = np.concatenate([[0], np.cumsum(counts)])

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def __getitem__(self, column: int) -> str:
        """Return a label in words: ``depth 1: C(C,N)`` is C with the neighbors C and N."""
        column = int(column)
        depth = int(np.searchsorted(self.offsets, column, side="right")) - 1
        return f"depth {depth}: {self.words(depth, column - int(self.offsets[depth]))}"

    def words(self, depth: int, code: int, room: float = 60) -> str:
        """Return a label of some depth as a tree, cut short where it has too many nodes."""
        if depth == 0:
            return str(self.labels[code])
        begins, words, bound = self.levels[depth - 1]
        own, *around = words[begins[code] : begins[code + 1]].tolist()
        center = self.words(0, self.root(depth - 1, own))
        if self.sizes[depth][code] > room:
            room = (room - 1) / max(len(around), 1)
            if room < 1:
                return f"{center}(…)"
        neighbors = []
        for word in around:
            edge, node = divmod(word, bound)
            label = self.edge_labels[edge]
            written = "" if label is None else f"[{label}]"
            neighbors.append(written + self.words(depth - 1, node, room))
        return f"{center}({','.join(sorted(neighbors))})"

    def root(self, depth: int, code: int) -> int:
        """Return the first label of the nodes that have a label of some depth."""
        for level in reversed(self.levels[:depth]):
            code = int(level.words[level.begins[code]])
        return code

    @cached_property
    def sizes(self) -> list[np.ndarray]:
        """How many nodes the tree of each label has, depth by depth."""
        found = [np.ones(len(self.labels))]
        for begins, words, bound in self.levels:
            parts = np.where(np.isin(np.arange(len(words)), begins), 1.0, found[-1][words % bound])
            found.append(np.add.reduceat(parts, begins[:-1]) if len(parts) else np.empty(0))
        return found

    def by_level(self, other: Refinement) -> list[np.ndarray]:
        """Return the code of each label in another refinement, depth by depth."""
        places = self.places(other)
        found = []
        for depth in range(len(self.offsets) - 1):
            mine = places[self.offsets[depth] : self.offsets[depth + 1]]
            found.append(np.where(mine >= 0, mine - other.offsets[depth], -1))
        return found

    def _find(self, other: Any) -> np.ndarray:
        if other is self:
            return np.arange(len(self))
        same_kind(self.kind, other.kind)
        edge_places = self.edge_labels.places(other.edge_labels)
        places = self.labels.places(other.labels)
        found = [places]
        for mine, theirs in zip(self.levels, other.levels, strict=True):
            words = translate(*mine, places, edge_places, theirs.bound)
            places = look_up(mine.begins, words, theirs.begins, theirs.words)
            found.append(places)
        shifted = (
            np.where(level >= 0, level + offset, -1)
            for level, offset in zip(found, other.offsets[:-1], strict=True)
        )
        return np.concatenate(list(shifted))


class Refined(Points):
    """The codes of all nodes of some graphs at all depths."""

    def __init__(
        self, codes: np.ndarray, vocabulary: Refinement, first: np.ndarray, last: np.ndarray
    ) -> None:
        super().__init__()
        self.codes = codes
        self.vocabulary = vocabulary
        self.first = first
        self.last = last

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: RowIndex) -> Refined:
        return Refined(self.codes, self.vocabulary, self.first[rows], self.last[rows])

    def nodes(self) -> np.ndarray:
        """Return which codes belong to these graphs, graph after graph.

        Other encodings of the same graphs may number their nodes differently, because those were
        made of a larger or a smaller set.
        """
        sizes = self.last - self.first
        begins = np.cumsum(sizes) - sizes
        return np.repeat(self.first - begins, sizes) + np.arange(int(sizes.sum()))

    def columns(self) -> np.ndarray:
        """Return the column of each label in the vocabulary."""
        return self.codes + self.vocabulary.offsets[:-1, None]

    def items(self) -> Iterator[np.ndarray]:
        return (self.codes[:, a:b] for a, b in zip(self.first, self.last, strict=True))


def refine(points: Graphs, depth: int) -> Refined:
    """Return the labels of all depths up to `depth` of a set of graphs.

    Examples
    --------
    >>> from mercer.domains import GRAPHS
    >>> found = refine(GRAPHS.admit([([(0, 1), (1, 2)], "CCO")]), 1)
    >>> found.codes
    array([[0, 0, 1],
           [0, 1, 2]])
    >>> found.vocabulary[3]
    'depth 1: C(C,O)'
    """
    graphs = points.packed
    codes, labels = graphs.node_labels
    edge_codes, _ = graphs.entry_labels
    found, levels, bound = np.empty((depth + 1, len(codes)), np.int64), [], len(labels)
    found[0] = codes
    for level in range(depth):
        begins, words = signatures(
            found[level], bound, graphs.net.starts, graphs.net.neighbors, edge_codes
        )
        found[level + 1], first = number_signatures(begins, words)
        packed, words_of = pack_signatures(begins, words, first)
        levels.append(DepthLabels(packed, words_of, bound))
        bound = len(first)
    return Refined(found, Refinement(graphs, levels), graphs.first, graphs.last)


class RefinedLabels(Labels):
    """The labels of one depth, as labels of graphs of their own.

    Written out they are made to be read: large trees are cut short, and then look equal.
    """

    only_equal = True

    def __init__(self, vocabulary: Refinement, depth: int) -> None:
        super().__init__(())
        self.vocabulary = vocabulary
        self.depth = depth

    def __len__(self) -> int:
        return int(np.diff(self.vocabulary.offsets)[self.depth])

    def __getitem__(self, code: int) -> str:
        return self.vocabulary.words(self.depth, int(code))

    def places(self, other: Any) -> np.ndarray:
        return self.vocabulary.by_level(other.vocabulary)[self.depth]


def relabel(points: Graphs, refined: Refined, depth: int) -> Graphs:
    """Return the same graphs with the labels of one depth."""
    graphs = points.packed
    net = graphs.net
    labels = RefinedLabels(refined.vocabulary, depth)
    again = Net(
        net.starts,
        net.neighbors,
        refined.codes[depth][refined.nodes()],
        labels,
        net.edge_codes,
        net.edge_labels,
        net.attributes,
    )
    return Graphs(again, graphs.first, graphs.last)
