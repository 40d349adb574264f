"""Kernels on trees: similar if they have fragments in common.

Nodes contribute only in pairs with the same production. The loops find them by walking through the
productions of both trees in sorted order (Moschitti, 2006), so that the many pairs of nodes that
have nothing in common are never looked at. Only the values of equal pairs are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from mercer.compiled import compiled
from mercer.domains import TREES, Domain, Points, Trees
from mercer.domains.points import RowIndex
from mercer.engine.block import Block
from mercer.errors import ValidityError
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.patterns import Vocabulary
from mercer.kernels.proof import Proof, proved
from mercer.memory import afford
from mercer.values import positive

__all__ = ["SubsetTree"]

UNASKED_VALUES = 10**7  # that a pair of trees may keep without asking whether there is memory


@kernel
class SubsetTree(Kernel):
    """The number of fragments that two trees have in common (Collins & Duffy, 2002).

    A fragment, or subset tree, is some nodes of a tree that hang together, each with all of its
    children or with none. A fragment in which c nodes have their children counts decay^c, every
    time that it occurs in the one tree and in the other. Nodes without children are no fragments,
    so a tree that is only a leaf has the similarity 0 to everything.

    Valid as the inner product of the counts of all fragments, times decay^(c/2) (6.1). There are
    finitely many, but exponentially many, so they are never listed. The count grows with the
    sizes of the trees: ``normalize(SubsetTree())`` is the usual form. A pair takes time
    proportional to the pairs of nodes with the same label and the same labels of children.

    Parameters
    ----------
    decay : float
        Above 0 and at most 1. With 1 all fragments count the same, and large ones prevail.

    Examples
    --------
    >>> she, he = "(S (NP she) (VP sleeps))", "(S (NP he) (VP sleeps))"
    >>> SubsetTree(decay=1.0)([she, he])
    array([[6., 3.],
           [3., 6.]])
    """

    decay: float = 0.5
    domain: ClassVar[Domain] = TREES
    threads: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    arrays: ClassVar[int] = 1

    def __post_init__(self) -> None:
        decay = positive(self, "decay", self.decay)
        if decay > 1:
            raise ValidityError(f"decay of SubsetTree must be at most 1, found {self.decay!r}")
        self._normalize("decay", decay)

    def pair(self, x: object, z: object) -> float:
        # The recursion of the textbook, with children before parents instead of recursive calls.
        left, right = (_inner_nodes(next(TREES.admit([tree]).items())) for tree in (x, z))
        delta: dict[tuple[int, int], float] = {}
        total = 0.0
        for a in reversed(left):
            for b in reversed(right):
                if _production(a) == _production(b):
                    value = self.decay
                    for c, d in zip(a[1:], b[1:], strict=True):
                        value *= 1 + delta.get((id(c), id(d)), 0.0)
                    delta[id(a), id(b)] = value
                    total += value
        return total

    def evaluate(self, block: Block) -> np.ndarray:
        K = block.empty()
        left, right = self._productions(block.left), self._productions(block.right)
        sides = left.arrays, right.over(left.vocabulary).arrays
        _within_memory(lambda limit: common(*sides, self.decay, block.symmetric, limit, K))
        return K

    def evaluate_diagonal(self, points: Trees) -> np.ndarray:
        values = np.empty(len(points))
        arrays = self._productions(points).arrays
        _within_memory(lambda limit: own(arrays, self.decay, limit, values))
        return values

    def rooted(self, block: Block, W: np.ndarray) -> tuple[Productions, np.ndarray]:
        """Return the nodes with children of the left trees, and what each adds to Σⱼ Wᵢⱼ k.

        It is the weight of the fragments that begin at the node.
        """
        left, right = self._productions(block.left), self._productions(block.right)
        sides = left.arrays, right.over(left.vocabulary).arrays
        out = np.empty(len(left.production))
        weights = np.ascontiguousarray(W, np.float64)
        _within_memory(lambda limit: rooted(*sides, self.decay, weights, limit, out))
        return left, out

    def encode(self, points: Trees) -> None:
        self._productions(points)

    def prove(self) -> Proof:
        return proved(self, "it is the inner product of the decayed counts of all fragments (6.1)")

    def _productions(self, points: Points) -> Productions:
        return points.view("productions", Productions.of)  # type: ignore[return-value]


class Productions(Points):
    """The nodes of trees that have children, each with its production.

    A production is the label of a node and those of its children, a number in a `Vocabulary`.

    Attributes
    ----------
    starts : ndarray of int
        Where the nodes of each tree begin, and where the last ones end.
    production : ndarray of int
        That of each node, −1 if the vocabulary does not have it.
    order : ndarray of int
        The nodes of each tree, counted from its first one, sorted by production.
    child_starts, children : ndarray of int
        Of each node, the places of its children among the nodes of its tree, −1 for a leaf.
    """

    def __init__(
        self,
        starts: np.ndarray,
        production: np.ndarray,
        child_starts: np.ndarray,
        children: np.ndarray,
        vocabulary: Vocabulary,
        order: np.ndarray | None = None,
    ) -> None:
        super().__init__()
        self.starts = starts
        self.production = production
        self.child_starts = child_starts
        self.children = children
        self.vocabulary = vocabulary
        self.order = _sorted(production, starts) if order is None else order

    @classmethod
    def of(cls, trees: Trees) -> Productions:
        """Return the productions of trees."""
        n, sizes = len(trees.labels), np.diff(trees.starts)
        offsets = np.repeat(trees.starts[:-1], sizes)
        below = np.flatnonzero(trees.parents >= 0)  # all nodes but the roots
        parents = (trees.parents + offsets)[below]
        arity = np.bincount(parents, minlength=n)
        inner = arity > 0
        # Children by parent; the sort is stable, so they keep their order.
        children = below[np.argsort(parents, kind="stable")]
        counted = np.concatenate([[0], np.cumsum(inner)])
        starts = counted[trees.starts]
        places = np.where(inner, counted[:-1] - np.repeat(starts[:-1], sizes), -1)
        child_starts = np.concatenate([[0], np.cumsum(arity[inner])])
        seen: dict[tuple[str, ...], int] = {}
        production = np.empty(len(child_starts) - 1, dtype=np.int64)
        for p, node in enumerate(np.flatnonzero(inner)):
            some = trees.labels[children[child_starts[p] : child_starts[p + 1]]]
            production[p] = seen.setdefault((trees.labels[node], *some), len(seen))
        return cls(starts, production, child_starts, places[children], Vocabulary(list(seen)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the loops need."""
        return self.starts, self.production, self.order, self.child_starts, self.children

    def take(self, rows: RowIndex) -> Productions:
        chosen = np.arange(len(self))[rows]
        starts, nodes = _gathered(self.starts, chosen)
        child_starts, places = _gathered(self.child_starts, nodes)
        return Productions(
            starts,
            self.production[nodes],
            child_starts,
            self.children[places],
            self.vocabulary,
            self.order[nodes],
        )

    def over(self, vocabulary: Vocabulary) -> Productions:
        """Return the same nodes with the numbers of another vocabulary."""
        if vocabulary is self.vocabulary:
            return self
        production = self.vocabulary.places(vocabulary)[self.production]
        return Productions(self.starts, production, self.child_starts, self.children, vocabulary)


def _gathered(starts: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where chosen parts begin if they are put one after the other, and their places."""
    lengths = np.diff(starts)[chosen]
    begins = np.concatenate([[0], np.cumsum(lengths)])
    return begins, np.repeat(starts[chosen] - begins[:-1], lengths) + np.arange(begins[-1])


def _sorted(production: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the nodes of each tree, counted from its first one, by production."""
    tree = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.lexsort((production, tree)) - starts[tree]


def _within_memory(loop: Callable[[int], int]) -> None:
    """Run a loop that says how many values it must keep, if they are many; ask for the memory."""
    limit = UNASKED_VALUES
    while needed := loop(limit):
        afford(8 * needed, "comparing two large trees", "compare smaller trees")
        limit = needed


def _inner_nodes(tree: object) -> list[tuple[Any, ...]]:
    """Return the nodes of nested tuples that have children, a parent before its children."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple) and len(node) > 1:
            found.append(node)
            waiting += node[1:]
    return found


def _production(node: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the label of a node and those of its children."""
    return tuple(part[0] if isinstance(part, tuple) else part for part in node)


@compiled
def common(left, right, decay, symmetric, limit, out):
    """Write the decayed numbers of common fragments of all pairs of trees into `out`.

    Parameters
    ----------
    left, right : tuple of arrays of int
        starts, productions, order, child_starts, children: see `Productions`.
    decay : float
    symmetric : bool
        Whether both are the same trees.
    limit : int
        How many values may be kept for one pair.

    Returns
    -------
    int
        0, or how many values the first pair needs that needs more than `limit`.
    """
    room = _room(left[0], right[0])
    table, nodes = np.empty(1024), np.empty(room[0].shape[1])
    for i in range(len(left[0]) - 1):
        for j in range(i if symmetric else 0, len(right[0]) - 1):
            size = _match(left, i, right, j, room)
            if size > limit:
                return size
            if size > len(table):
                table = np.empty(size)
            out[i, j] = _total(left, i, right, j, decay, room, table, nodes)
            if symmetric:
                out[j, i] = out[i, j]
    return 0


@compiled
def own(trees, decay, limit, out):
    """Write the decayed number of fragments that each tree shares with itself into `out`."""
    room = _room(trees[0], trees[0])
    table, nodes = np.empty(1024), np.empty(room[0].shape[1])
    for i in range(len(trees[0]) - 1):
        size = _match(trees, i, trees, i, room)
        if size > limit:
            return size
        if size > len(table):
            table = np.empty(size)
        out[i] = _total(trees, i, trees, i, decay, room, table, nodes)
    return 0


@compiled
def rooted(left, right, decay, weights, limit, out):
    """Write Σⱼ weightsᵢⱼ times the fragments that begin at each node of tree i into `out`."""
    room = _room(left[0], right[0])
    table, nodes = np.empty(1024), np.empty(room[0].shape[1])
    out[:] = 0.0
    for i in range(len(left[0]) - 1):
        for j in range(len(right[0]) - 1):
            size = _match(left, i, right, j, room)
            if size > limit:
                return size
            if size > len(table):
                table = np.empty(size)
            _total(left, i, right, j, decay, room, table, nodes)
            first, last = left[0][i], left[0][i + 1]
            out[first:last] += weights[i, j] * nodes[: last - first]
    return 0


@compiled
def _room(left_starts, right_starts):
    """Return memory for what is known about the nodes of one pair of trees."""
    n = m = 0
    for i in range(len(left_starts) - 1):
        n = max(n, left_starts[i + 1] - left_starts[i])
    for j in range(len(right_starts) - 1):
        m = max(m, right_starts[j + 1] - right_starts[j])
    return np.empty((3, n), np.int64), np.empty(m, np.int64)


@compiled
def _match(left, i, right, j, room):
    """Find the nodes with equal productions; return the number of such pairs.

    Of each node of the left tree it notes how many partners it has, where they begin in the
    order of the right tree, and where their values will be; of each node of the right tree, which
    partner it is.
    """
    (counts, firsts, rows), ranks = (room[0][0], room[0][1], room[0][2]), room[1]
    a, a_end, b, b_end = left[0][i], left[0][i + 1], right[0][j], right[0][j + 1]
    productions, others = left[1][a:a_end], right[1][b:b_end]
    order, other_order = left[2][a:a_end], right[2][b:b_end]
    counts[: a_end - a] = 0
    size, p, q = 0, 0, 0
    while p < len(order) and q < len(other_order):
        production, other = productions[order[p]], others[other_order[q]]
        if production < other:
            p += 1
        elif production > other:
            q += 1
        else:
            first = q
            while q < len(other_order) and others[other_order[q]] == production:
                ranks[other_order[q]] = q - first
                q += 1
            while p < len(order) and productions[order[p]] == production:
                node = order[p]
                counts[node], firsts[node], rows[node] = q - first, first, size
                size += q - first
                p += 1
    return size


@compiled
def _total(left, i, right, j, decay, room, table, nodes):
    """Add up Collins and Duffy's recursion over all matched nodes, children before parents.

    What the nodes of the left tree contribute is written into `nodes`.
    """
    counts, firsts, rows, ranks = room[0][0], room[0][1], room[0][2], room[1]
    a, b = left[0][i], right[0][j]
    productions, others, other_order = left[1][a:], right[1][b:], right[2][b:]
    total = 0.0
    for node in range(left[0][i + 1] - a - 1, -1, -1):
        begin, end = left[3][a + node], left[3][a + node + 1]
        here = 0.0  # added up apart, which loses fewer digits
        for r in range(counts[node]):
            partner = other_order[firsts[node] + r]
            shift = right[3][b + partner] - begin
            value = decay
            for c in range(begin, end):
                child, other = left[4][c], right[4][c + shift]
                if child >= 0 and other >= 0 and productions[child] == others[other]:
                    value *= 1.0 + table[rows[child] + ranks[other]]
            table[rows[node] + r] = value
            here += value
        nodes[node] = here
        total += here
    return total
