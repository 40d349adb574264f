"""The random-walk kernel: walks that two graphs have in common."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer.compiled import compiled
from mercer.domains import GRAPHS, Domain, Graph, Graphs, Points, as_graph, same_kind
from mercer.domains.points import RowIndex
from mercer.engine.block import Array, Block
from mercer.errors import ValidityError
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.proof import Proof, proved
from mercer.values import positive, whole

__all__ = ["RandomWalk"]

MAX_SPECTRUM_NODES = 500  # nodes; the spectra of larger graphs are not computed whole


@kernel
class RandomWalk(Kernel):
    """Σ_t decayᵗ·(how many pairs of walks with t steps have the same labels), from t = 0 on.

    A walk may return. Two walks have the same labels if their nodes have, one by one, and the
    edges between them too if those are labeled; without labels all walks of t steps do. A graph
    without nodes is 0 to all.

    Without a limit of `steps` the sum converges if decay·ρ² < 1 for the largest eigenvalue ρ of
    the adjacency matrix of every graph. This is checked for every graph, so that no similarity
    can diverge.

    Valid as an inner product of counts of label sequences, weighted by decayᵗ (Gärtner et al.,
    2003; Vishwanathan et al., 2010). A pair of graphs takes some dozens of products with the
    adjacency matrix of their product; graphs without labels only need their eigenvalues.

    Parameters
    ----------
    decay : float
        How much less each further step counts.
    steps : int, optional
        The largest number of steps; by default there is none.

    Examples
    --------
    >>> edge, path = [(0, 1)], [(0, 1), (1, 2)]
    >>> RandomWalk(0.1, steps=1)([edge, path]).round(9)
    array([[ 4.4,  6.8],
           [ 6.8, 10.6]])
    >>> RandomWalk(0.9)([edge, path])
    Traceback (most recent call last):
        ...
    mercer.errors.ValidityError: RandomWalk(decay=0.9, steps=None) diverges for item 1, whose ...
    """

    decay: float = 0.01
    steps: int | None = None
    domain: ClassVar[Domain] = GRAPHS
    threads: ClassVar[bool] = True
    costly: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._normalize("decay", positive(self, "decay", self.decay))
        if self.steps is not None:
            self._normalize("steps", whole(self, "steps", self.steps))

    def pair(self, x: object, z: object) -> float:
        left, right = as_graph(x), as_graph(z)
        W = _product(left, right)
        ones = np.ones(len(W))
        if self.steps is None:
            for graph in (left, right):
                self._check(_radius(graph.adjacency()), "a graph")
            return float(np.sum(np.linalg.solve(np.eye(len(W)) - self.decay * W, ones)))
        total, walks = 0.0, ones
        for t in range(self.steps + 1):
            total += self.decay**t * float(np.sum(walks))
            walks = W @ walks
        return total

    def encode(self, points: Any) -> None:
        points.view("spectra", Spectra.of)
        if self.steps is not None:
            return
        degrees = np.diff(points.net.starts)
        ends = zip(points.first, points.last, strict=True)
        largest = np.array([degrees[a:b].max(initial=0) for a, b in ends])
        if self.decay * float(largest.max()) ** 2 < 1:
            return  # no eigenvalue is larger than the largest degree
        radii = points.view("radii", Radii.of).values
        self._check(radii.max(), f"item {radii.argmax()}")

    def evaluate(self, block: Block) -> np.ndarray:
        left, right = block.left, block.right
        same_kind(left.kind, right.kind)
        K = np.empty(block.shape)
        steps = -1 if self.steps is None else self.steps
        one, two = (points.view("spectra", Spectra.of) for points in (left, right))
        if one.flat is not None and two.flat is not None:
            from_spectra(one.arrays, two.arrays, self.decay, steps, block.symmetric, K)
            return K
        here, there = _arrays(left, left), _arrays(right, left)
        walks(here, there, self.decay, steps, block.symmetric, K)
        return K

    def evaluate_diagonal(self, points: Graphs) -> np.ndarray:
        parts = (points[i : i + 1] for i in range(len(points)))
        return np.array([self.evaluate(Block(part, part, True))[0, 0] for part in parts])

    def prove(self) -> Proof:
        source = "(Gärtner et al., 2003)"
        return proved(self, f"it is a weighted inner product of counts of walks {source}")

    def _check(self, radius: float, what: str) -> None:
        if self.decay * radius**2 < 1:
            return
        unit = 10.0 ** (math.floor(math.log10(1 / radius**2)) - 2)
        limit = math.floor(0.999 / radius**2 / unit) * unit  # three digits, rounded down
        raise ValidityError(
            f"{self!r} diverges for {what}, whose adjacency matrix has the eigenvalue "
            f"{radius:.4g}: decay must be below 1/{radius:.4g}², such as {limit:.3g}; or give "
            "a number of steps"
        )


class Radii(Points):
    """The largest eigenvalue of the adjacency matrix of each graph."""

    def __init__(self, values: np.ndarray) -> None:
        super().__init__()
        self.values = values

    @classmethod
    def of(cls, points: Graphs) -> Radii:
        return cls(np.array([_radius(_adjacency(points, i)) for i in range(len(points))]))

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: RowIndex) -> Radii:
        return Radii(self.values[rows])


class Spectra(Points):
    """The eigenvalues μ of each graph's adjacency matrix, with (uᵀ1)² of their eigenvectors u.

    There are 1ᵀAᵗ1 = Σ (uᵀ1)²μᵗ walks of t steps. Graphs with labels, or with many nodes, do
    without: `flat` is None.
    """

    def __init__(self, flat: tuple[np.ndarray, ...] | None, first: Array, last: Array) -> None:
        super().__init__()
        self.flat = flat
        self.first = first
        self.last = last

    @classmethod
    def of(cls, points: Graphs) -> Spectra:
        if points.kind.nodes or points.kind.edges or points.sizes.max() > MAX_SPECTRUM_NODES:
            return cls(None, points.first, points.last)
        values, weights = [np.empty(0)], [np.empty(0)]
        for i in range(len(points)):
            A = _adjacency(points, i).toarray()
            mu, U = np.linalg.eigh(A)
            values.append(mu)
            weights.append(U.sum(axis=0) ** 2)
        last = np.cumsum(points.sizes)
        return cls((np.concatenate(values), np.concatenate(weights)), last - points.sizes, last)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the loops need."""
        return (*(self.flat or ()), self.first, self.last)

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: RowIndex) -> Spectra:
        return Spectra(self.flat, self.first[rows], self.last[rows])


def _arrays(points: Graphs, reference: Graphs) -> tuple[np.ndarray, ...]:
    """Return what the loops need about graphs, with labels in the codes of other graphs."""
    codes, labels = points.node_labels
    edge_codes, edge_labels = points.entry_labels
    if points.net is not reference.net:
        codes = labels.places(reference.node_labels[1])[codes]
        edge_codes = edge_labels.places(reference.entry_labels[1])[edge_codes]
    net = points.net
    return net.starts, net.neighbors, codes, edge_codes, points.first, points.last


def _adjacency(points: Graphs, item: int) -> sparse.csr_array:
    first, last = points.first[item], points.last[item]
    starts = points.net.starts[first : last + 1]
    columns = points.net.neighbors[starts[0] : starts[-1]] - first
    shape = (last - first, last - first)
    return sparse.csr_array((np.ones(len(columns)), columns, starts - starts[0]), shape)


def _radius(A: Array) -> float:
    """Return the largest eigenvalue of a symmetric matrix that is not negative."""
    if A.shape[0] == 0:
        return 0.0
    if A.shape[0] <= MAX_SPECTRUM_NODES:
        return float(np.linalg.eigvalsh(A.toarray() if sparse.issparse(A) else A)[-1])
    start = np.ones(A.shape[0])  # never orthogonal to the eigenvector, which is not negative
    found = sparse.linalg.eigsh(sparse.csr_array(A), 1, which="LA", v0=start)
    return float(found[0][0])


def _product(left: Graph, right: Graph) -> np.ndarray:
    """Return the adjacency matrix of the pairs of nodes with equal labels."""
    pairs = list(_matching(left, right))
    place = {pair: i for i, pair in enumerate(pairs)}
    one, two = left.neighbors(), right.neighbors()
    W = np.zeros((len(pairs), len(pairs)))
    for (v, w), i in place.items():
        for u, label in one[v]:
            for y, other in two[w]:
                if label == other and (u, y) in place:
                    W[i, place[u, y]] = 1.0
    return W


def _matching(left: Graph, right: Graph) -> Iterator[tuple[int, int]]:
    for v in range(left.nodes):
        for w in range(right.nodes):
            if left.labels is None or right.labels is None or left.labels[v] == right.labels[w]:
                yield v, w


MAX_CG_STEPS = 1000  # a system that needs more is as large as it takes steps


@compiled
def from_spectra(left, right, decay, steps, symmetric, K):
    """Write Σ sᵢtⱼ/(1 − decay·aᵢbⱼ), or the sum up to `steps` if those are not negative."""
    a, s, first, last = left
    b, t, begin, end = right
    for g in range(K.shape[0]):
        for h in range(g if symmetric else 0, K.shape[1]):
            total = 0.0
            for i in range(first[g], last[g]):
                for j in range(begin[h], end[h]):
                    q = decay * a[i] * b[j]
                    if steps < 0:
                        total += s[i] * t[j] / (1.0 - q)
                        continue
                    value = 1.0
                    for _ in range(steps):
                        value = 1.0 + q * value
                    total += s[i] * t[j] * value
            K[g, h] = total
            if symmetric:
                K[h, g] = total


@compiled
def walks(left, right, decay, steps, symmetric, K):
    """Write the number of common walks, each step counted `decay` times as much, of all pairs."""
    first, last, begin, end = left[4], left[5], right[4], right[5]
    most = 1
    for g in range(K.shape[0]):
        for h in range(K.shape[1]):
            most = max(most, (last[g] - first[g]) * (end[h] - begin[h]))
    place, pairs = np.empty(most, np.int64), np.empty((most, 2), np.int64)
    starts, near = np.empty(most + 1, np.int64), np.empty(1024, np.int32)
    r, p, q = np.empty(most), np.empty(most), np.empty(most)
    for g in range(K.shape[0]):
        for h in range(g if symmetric else 0, K.shape[1]):
            n = _match(left, right, g, h, place, pairs)
            near = _join(left, right, g, h, place, pairs, n, starts, near)
            if steps < 0:
                K[g, h] = _solve(starts, near, n, decay, r, p, q)
            else:
                K[g, h] = _sum(starts, near, n, decay, steps, p, q)
            if symmetric:
                K[h, g] = K[g, h]


@compiled
def _match(left, right, g, h, place, pairs):
    """Number the pairs of nodes with equal labels; return how many there are."""
    codes, others = left[2], right[2]
    first, begin = left[4][g], right[4][h]
    width, n = right[5][h] - begin, 0
    for v in range(left[5][g] - first):
        for w in range(width):
            if codes[first + v] == others[begin + w]:
                place[v * width + w] = n
                pairs[n, 0], pairs[n, 1] = v, w
                n += 1
            else:
                place[v * width + w] = -1
    return n


@compiled
def _join(left, right, g, h, place, pairs, n, starts, near):
    """List which pairs a step leads to from each pair; return the lists, perhaps made longer."""
    edges, labels = left[3], right[3]
    first, begin = left[4][g], right[4][h]
    width, count = right[5][h] - begin, 0
    for i in range(n):
        starts[i] = count
        v, w = first + pairs[i, 0], begin + pairs[i, 1]
        here, there = left[0][v], right[0][w]
        degree, other = left[0][v + 1] - here, right[0][w + 1] - there
        if count + degree * other > len(near):
            longer = np.empty(2 * (count + degree * other), np.int32)
            for k in range(count):  # an assignment of arrays would take a second to compile
                longer[k] = near[k]
            near = longer
        for a in range(here, here + degree):
            row = (left[1][a] - first) * width - begin
            for b in range(there, there + other):
                j = place[row + right[1][b]]
                if j >= 0 and edges[a] == labels[b]:
                    near[count] = j
                    count += 1
    starts[n] = count
    return near


@compiled
def _step(starts, near, n, x, out):
    """Multiply by the adjacency matrix of the pairs."""
    for i in range(n):
        total = 0.0
        for a in range(starts[i], starts[i + 1]):
            total += x[near[a]]
        out[i] = total


@compiled
def _sum(starts, near, n, decay, steps, x, q):
    """Return 1ᵀx after so many times x ← 1 + decay·Wx."""
    x[:n] = 1.0
    for _ in range(steps):
        _step(starts, near, n, x, q)
        for i in range(n):
            x[i] = 1.0 + decay * q[i]
    return np.sum(x[:n])


@compiled
def _solve(starts, near, n, decay, r, p, q):
    """Return 1ᵀx for (I − decay·W)x = 1, by conjugate gradients from x = 0.

    Each step of length s adds s·|r|² to 1ᵀx, and what is missing is the squared error of x, so
    that the sum has twice as many digits (Golub & Meurant, 2010). All that is added is positive.
    """
    r[:n] = 1.0
    p[:n] = 1.0
    total, square = 0.0, float(n)
    for _ in range(max(MAX_CG_STEPS, 2 * n)):
        # Squared residual for each pair of nodes, at which the sum has all its digits.
        if square <= 1e-20 * n:
            break
        _step(starts, near, n, p, q)
        slope = 0.0
        for i in range(n):
            q[i] = p[i] - decay * q[i]
            slope += p[i] * q[i]
        step, after = square / slope, 0.0
        total += step * square
        for i in range(n):
            r[i] -= step * q[i]
            after += r[i] * r[i]
        for i in range(n):
            p[i] = r[i] + after / square * p[i]
        square = after
    return total
