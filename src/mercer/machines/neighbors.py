"""Neighbors: ask the few examples that are nearest in the kernel's space.

The distance is that of the feature vectors, |φ(x) − φ(z)|² = k(x, x) + k(z, z) − 2k(x, z), which
is (6.24) of Bishop with the kernel in the place of the dot product.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from mercer.domains import GramRows, Items, Points, admit_labels
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.gram.nearest import nearest
from mercer.machines.chunks import require_fitted
from mercer.machines.machine import Machine
from mercer.plans import Decision
from mercer.plans.sums import SumOverItems, choose_sum
from mercer.rkhs import Function
from mercer.solvers.status import caller_of_mercer
from mercer.values import whole

__all__ = ["KernelNeighbors"]

WEIGHTS = ("uniform", "similarity")


class KernelNeighbors(ClassifierMixin, Machine):
    """Classification by a vote of the nearest examples, in kernel distance.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "laplacian", "linear", "polynomial", "precomputed"}
        With "linear", distances are Euclidean; "gaussian" has the same neighbors.
    n_neighbors : int
        How many examples vote.
    weights : {"uniform", "similarity"}
        Whether each neighbor has one vote, or k(x, xᵢ) votes.

    Attributes
    ----------
    classes_ : ndarray
    function_ : Function
        The summed similarity to all examples of each class, a column for each: what the votes
        by similarity become when everybody is a neighbor.
    kernel_ : Kernel
        With its heuristics resolved.

    Notes
    -----
    Among equally near examples the earlier one is the neighbor; among equally many votes the first
    class wins. If all similarities of an item to its neighbors are zero in double precision, its
    neighbors have one vote each; a warning says so where they are a choice among equals. There are
    no sample weights. Cost: O(n) similarities for each new item, in memory for a few tiles.

    Examples
    --------
    >>> machine = KernelNeighbors("linear", n_neighbors=1).fit([[0.0], [3.0]], ["a", "b"])
    >>> machine.predict([[1.0], [2.0]]).tolist()
    ['a', 'b']
    >>> machine.kneighbors([[1.0]])
    (array([[1.]]), array([[0]]))
    """

    saved = ("_codes", "_heights")
    has_terms = False  # votes

    def __init__(
        self, kernel: Any = "gaussian", n_neighbors: int = 5, *, weights: str = "uniform"
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.weights = weights

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would need of memory for these items, without doing it.

        Examples
        --------
        >>> KernelNeighbors().plan(np.ones((500, 3))).solver
        'neighbors'
        """
        points = self._admit(X)
        why = "every item is remembered, and nothing is solved for"
        kernel = self._resolve(points)
        self._require_valid(kernel, "error")
        return choose_sum("neighbors", kernel, points, SumOverItems(4), why, targets=classes)

    def fit(self, X: Items, y: ArrayLike) -> Self:
        """Remember items `X` with labels `y`."""
        points = self._own(X, self._admit(X))
        codes, classes = admit_labels(y, len(points))
        _require_enough(whole(self, "n_neighbors", self.n_neighbors), len(points))
        if self.weights not in WEIGHTS:
            hint = suggestion(self.weights, WEIGHTS)
            raise ValidityError(f"weights cannot be {self.weights!r}{hint}")
        kernel = self._resolve(points)
        self._require_valid(kernel, "error")
        heights = np.asarray(kernel.evaluate_diagonal(points), dtype=np.float64)
        function = Function(kernel, points, np.eye(len(classes))[codes])

        self._remember(X, points)
        self.classes_, self.kernel_, self.function_ = classes, kernel, function
        self._codes, self._heights = codes, heights
        return self

    def kneighbors(
        self, X: Items | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the distances and places of the nearest examples, nearest first.

        Parameters
        ----------
        X : items, optional
            Without them, the neighbors of each example among the others.
        n_neighbors : int, optional
        return_distance : bool
            Whether to return (distances, places) or only the places.
        """
        require_fitted(self)
        asked = self.n_neighbors if n_neighbors is None else n_neighbors
        count = whole(self, "n_neighbors", asked)
        known = self.function_.points
        _require_enough(count, len(known) - (X is None))
        points = known if X is None else self._admit_new(X, self.kernel_)
        places, similarities = self._nearest(points, count, others=X is None)
        if not return_distance:
            return places
        squares = self._squares(points, places, similarities)
        return np.sqrt(np.maximum(squares, 0.0)), places

    def predict_proba(self, X: Items) -> np.ndarray:
        """Return each class's share of the votes."""
        require_fitted(self)
        points = self._admit_new(X, self.kernel_)
        places, similarities = self._nearest(points, whole(self, "n_neighbors", self.n_neighbors))
        ballots = self._ballots(similarities)
        votes = np.zeros((len(points), len(self.classes_)))
        rows = np.arange(len(points))
        for t in range(places.shape[1]):
            votes[rows, self._codes[places[:, t]]] += ballots[:, t]
        return votes / votes.sum(axis=1, keepdims=True)

    def predict(self, X: Items) -> np.ndarray:
        """Return the label with the most votes."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def _squares(self, points: Points, places: np.ndarray, similarities: np.ndarray) -> np.ndarray:
        """Return squared distances, refusing a kernel that is seen to have none."""
        own = np.asarray(self.kernel_.evaluate_diagonal(points), dtype=np.float64)[:, None]
        squares = own + self._heights[places] - 2 * similarities
        rounding = 1e-9 * (np.abs(own) + np.abs(self._heights[places]))
        if (squares < -rounding).any():
            item = int(np.flatnonzero((squares < -rounding).any(axis=1))[0])
            raise ValidityError(
                f"item {item} has the squared distance {squares[item].min():.3g} from an example: "
                f"{self.kernel_!r} is not positive semi-definite, so it has no distances"
            )
        return squares

    def _nearest(
        self, points: Points, count: int, others: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        known, heights = self.function_.points, self._heights
        places, similarities = nearest(self.kernel_, points, known, heights, count, others)
        known_to_itself = not isinstance(points, GramRows) or points.places is not None
        if known_to_itself and self.kernel_.proof().verdict != "proved":
            self._squares(points, places, similarities)
        unlike = similarities[:, -1] == 0
        if unlike.any() and count < len(known) - others and heights.min() == heights.max():
            warnings.warn(
                f"{int(unlike.sum())} of {len(unlike)} items, the first being item "
                f"{int(np.argmax(unlike))}, have neighbors of similarity zero in double "
                "precision. Those cannot be told apart, so the first examples were taken; use a "
                "larger bandwidth, or fewer neighbors",
                UserWarning,
                stacklevel=caller_of_mercer(),
            )
        return places, similarities

    def _ballots(self, similarities: np.ndarray) -> np.ndarray:
        """Return how many votes each neighbor has."""
        if self.weights == "uniform":
            return np.ones(similarities.shape)
        if (similarities < 0).any():
            item = int(np.flatnonzero((similarities < 0).any(axis=1))[0])
            raise ValidityError(
                f"item {item} has a neighbor of similarity {similarities[item].min():.3g}, and a "
                'vote cannot be negative; use weights="uniform", or a kernel that is never '
                "negative, such as Gaussian()"
            )
        unlike = ~similarities.any(axis=1, keepdims=True)
        return np.where(unlike, 1.0, similarities)


def _require_enough(neighbors: int, available: int) -> None:
    if neighbors > available:
        raise DomainError(
            f"n_neighbors={neighbors}, but there are only {available} examples to be neighbors; "
            "use a smaller n_neighbors"
        )
