"""k-means in a kernel's space: clusters around mean embeddings.

Minimizes Σ wᵢ|φ(xᵢ) − μ_c|² over clusters c and their means μ_c = Σ_{i∈c} wᵢφ(xᵢ)/Σ wᵢ. The means
need not exist as things: distances to them are |φ(x) − μ|² = k(x, x) − 2μ(x) + |μ|², with the mean
embedding μ(x) = Σ wᵢk(x, xᵢ)/Σ wᵢ (Schölkopf, Smola & Müller, 1998; Bishop, 9.1).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from mercer.domains import Items, Points, admit_weights
from mercer.engine.tiles import fill
from mercer.errors import ConvergenceWarning, DomainError
from mercer.gram import Blocked, Dense, LowRank, Operator
from mercer.kernels import Kernel
from mercer.machines.scores import ExpansionMachine, averages, cheapest, weights_of
from mercer.memory import affordable
from mercer.plans import Decision, Plan, size_of
from mercer.plans.chooser import Candidate, choose
from mercer.rkhs import Function
from mercer.solvers.cost import Cost, Requirements, Size, item_bytes
from mercer.solvers.status import caller_of_mercer
from mercer.values import Seed, whole

__all__ = ["KernelMeans"]

# Two of several starts that end with sums this near, relatively, have ended in the same place.
SAME = 1e-9
# Squared distances below this share of k(x, x) + k(z, z) are rounding errors: the items are equal.
ROUNDING = 1e-13


class KernelMeans(ClusterMixin, ExpansionMachine):
    """Clusters of things that are near each other in a kernel's space.

    Lloyd's algorithm from several starts by k-means++ (Arthur & Vassilvitskii, 2007), both in
    kernel distance. With the linear kernel it is ordinary k-means.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "laplacian", "linear", "polynomial", "precomputed"}
    n_clusters : int
    n_init : int
        Number of starts, of which the best end is kept.
    max_iter : int
        Largest number of iterations after each start.
    random_state : int, RandomState or None
        Seed of the starts. None: different ones each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each item.
    function_ : Function
        The mean embeddings of the clusters, a column for each.
    intercept_ : ndarray of shape (clusters,)
        −½|μ|² of each, so that the nearest mean has the highest function_ + intercept_.
    inertia_ : float
        Σ wᵢ|φ(xᵢ) − μ|², from each item to its nearest mean.
    n_iter_ : int
        Iterations after the best start.
    coef_ : ndarray or None
        The means as vectors of the kernel's features, where those are fewer than the items.
    kernel_ : Kernel
        With its heuristics resolved.

    Notes
    -----
    A cluster that loses all its items gets the one that is farthest from its mean. Fewer different
    items than clusters give fewer clusters, with a warning. The same items in another order, or
    with weights in the place of copies, give the same clusters for the same seed, unless two items
    have equal mean similarities to all. Cost: O(n²) for each iteration on a stored Gram matrix; if
    that does not fit into memory its tiles are computed each time, and if there are fewer features
    than items they are used instead.

    Examples
    --------
    >>> machine = KernelMeans("linear", n_clusters=2).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> machine.labels_.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0]), round(machine.inertia_, 9)
    (True, 1.0)
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Seed = 0,
    ) -> None:
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Items, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters of items `X`; `y` is ignored."""
        points = self._own(X, self._admit(X))
        given = admit_weights(sample_weight, len(points))
        clusters, starts = (
            whole(self, "n_clusters", self.n_clusters),
            whole(self, "n_init", self.n_init),
        )
        most = whole(self, "max_iter", self.max_iter)
        _require_enough(clusters, len(points), given)
        rng = check_random_state(self.random_state)
        kernel = self._resolve(points, given)
        self._require_valid(kernel, "error")
        search = Lloyd(kernel, points, given, clusters)
        # Distances are of differences, in directions whose sum is zero.
        self._require_curvature(kernel, search.gram, groups=[slice(0, len(points))])
        best = search.descend(search.start(rng), most)
        for _ in range(starts - 1):
            end = search.descend(search.start(rng), most)
            best = end if end.inertia < best.inertia * (1 - SAME) else best
        message = best.complaint(clusters)
        if message:
            warnings.warn(message, ConvergenceWarning, stacklevel=caller_of_mercer())
        function = Function(kernel, points, best.means)

        self._remember(X, points)
        self.kernel_, self.function_ = kernel, function
        self.intercept_ = -best.squares / 2
        self.coef_ = weights_of(search.gram, best.means)
        self.labels_, self.inertia_, self.n_iter_ = best.labels, best.inertia, best.steps
        return self

    def plan(self, X: Items) -> Decision:
        """Return what `fit` would need of memory for these items, without doing it.

        Examples
        --------
        >>> KernelMeans().plan(np.zeros((300, 2))).stored
        True
        """
        points = self._admit(X)
        size = size_of(self._resolve(points), points, targets=self.n_clusters)
        primal = size.features is not None and size.features < len(points)
        size = replace(size, route="primal" if primal else "dual")
        ways = [DescentOfMeans(stored=False)] if primal else [
            DescentOfMeans(stored=True), DescentOfMeans(stored=False)
        ]  # fmt: skip
        words = {True: "the whole Gram matrix, because it fits", False: "similarities as needed"}
        return choose(
            Plan(),
            [
                Candidate("lloyd", way, size, (words[way.stored],), fields={"stored": way.stored})
                for way in ways
            ],
        )

    def predict(self, X: Items) -> np.ndarray:
        """Return the cluster with the nearest mean."""
        return self._decision_values(X).argmax(axis=1)


@dataclass(frozen=True)
class DescentOfMeans:
    """What the descents take: similarities, and a few columns for each cluster."""

    stored: bool
    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size) -> Cost:
        """Return bytes."""
        matrix = 8 * size.items**2 if self.stored else 0
        clusters = 8 * size.items * size.targets * 8
        return Cost(matrix + clusters + size.tiles + item_bytes(size, feature_copies=2))


@dataclass(frozen=True)
class Clustering:
    """Where one descent has ended: means as coefficients, |μ|², and the nearest of each item."""

    means: np.ndarray
    squares: np.ndarray
    labels: np.ndarray
    inertia: float
    steps: int
    converged: bool

    def complaint(self, clusters: int) -> str:
        """Say what is not as it was asked for, and what to do; nothing if all is well."""
        found = len(self.squares)
        if found < clusters:
            return (
                f"KernelMeans found only {found} clusters of the {clusters} it was asked for, "
                "because there are no more different items in the kernel's space; use "
                f"n_clusters={found}, or a kernel that tells more items apart"
            )
        if not self.converged:
            return (
                f"KernelMeans stopped after {self.steps} iterations, while items still changed "
                "their clusters; use a larger max_iter"
            )
        return ""


class Lloyd:
    """Items prepared for many starts."""

    def __init__(
        self, kernel: Kernel, points: Points, weights: np.ndarray | None, clusters: int
    ) -> None:
        n = len(points)
        self.kernel, self.points, self.clusters = kernel, points, clusters
        self.weights = np.ones(n) if weights is None else weights
        self.gram: Operator = cheapest(kernel, points)
        if isinstance(self.gram, Blocked) and affordable(8 * n**2):
            self.gram = Dense(self.gram.matrix(), owned=True)
        self.heights = np.asarray(kernel.evaluate_diagonal(points), dtype=np.float64)
        # In this order, draws do not depend on the order of the items, and copies are adjacent.
        self.order = np.argsort(self.gram @ (self.weights / self.weights.sum()), kind="stable")

    def start(self, rng: np.random.RandomState) -> np.ndarray:
        """Return the clusters around some items, drawn by k-means++: each with a probability
        that is proportional to its squared distance from those drawn before."""
        n, w = len(self.weights), self.weights
        near, labels = np.full(n, np.inf), np.zeros(n, dtype=np.intp)
        trials = 2 + int(math.log(self.clusters))  # of several draws, the best one is taken
        for c in range(self.clusters):
            mass = np.cumsum((w * near if c else w)[self.order])
            if mass[-1] == 0:
                break  # all items are equal to those that have been drawn
            drawn = np.searchsorted(mass, rng.random_sample(trials) * mass[-1], side="right")
            D = self.distances(self.order[np.minimum(drawn, n - 1)])
            d = D[:, np.argmin(w @ np.minimum(near[:, None], D))]
            labels[d < near] = c
            near = np.minimum(near, d)
        return labels

    def distances(self, picks: np.ndarray) -> np.ndarray:
        """Return the squared distances of all items from some of them."""
        if isinstance(self.gram, Dense):
            K = self.gram.array[picks].T
        elif isinstance(self.gram, LowRank):
            K = self.gram.features @ self.gram.features[picks].T
        else:
            K = fill(self.kernel, self.points, self.points[picks], dtype=np.float64)
        K = K.toarray() if sparse.issparse(K) else np.asarray(K)
        sizes = self.heights[:, None] + self.heights[picks]
        D = sizes - 2 * K
        return np.where(D > ROUNDING * sizes, D, 0.0)

    def descend(self, labels: np.ndarray, most: int) -> Clustering:
        """Move means and items in turns until no item changes its cluster (Lloyd)."""
        rows = np.arange(len(labels))
        count = int(labels.max()) + 1
        for step in range(1, most + 1):  # noqa: B007
            means = averages(labels, count, self.weights)
            values = self.gram @ means
            squares = np.sum(means * values, axis=0)
            D = self.heights[:, None] - 2 * values + squares
            near = D.argmin(axis=1)
            before, labels = labels, self.refill(near, D[rows, near], count)
            converged = np.array_equal(before, labels)
            if converged:
                break
        inertia = float(self.weights @ np.maximum(D[rows, near], 0.0))
        return Clustering(means, squares, near, inertia, step, converged)

    def refill(self, labels: np.ndarray, far: np.ndarray, count: int) -> np.ndarray:
        """Return the labels with no cluster empty: each that is takes the item farthest from its
        mean, but never the last one of another cluster."""
        w, labels, far = self.weights, labels.copy(), far.copy()
        for c in np.flatnonzero(np.bincount(labels, w, count) == 0):
            totals = np.bincount(labels, w, count)
            spare = (w > 0) & (totals[labels] > w)
            item = np.argmax(np.where(spare, far, -np.inf))
            labels[item], far[item] = c, 0.0
        return labels


def _require_enough(clusters: int, items: int, weights: np.ndarray | None) -> None:
    if items < clusters:
        raise DomainError(
            f"n_samples={items} should be >= n_clusters={clusters}: every cluster needs an item; "
            "use fewer clusters, or more items"
        )
    counted = items if weights is None else int(np.sum(weights > 0))
    if counted < clusters:
        raise DomainError(
            f"only {counted} items have a positive weight, but n_clusters={clusters}; use fewer "
            "clusters"
        )
