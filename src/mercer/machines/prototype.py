"""Prototypes: each class is its mean, and the nearest mean names a new thing.

x belongs to A and not to B if it is closer to the mean of A, which is if ⟨ā − b̄, x⟩ > θ with
θ = ½(⟨ā, ā⟩ − ⟨b̄, b̄⟩) (5). In a kernel's space the means are mean embeddings, and the same
inequality reads (1/|A|)Σk(a, x) − (1/|B|)Σk(b, x) > θ (11). Equations are those of Jäkel,
Schölkopf & Wichmann (2007).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Items, Points, Vectors, admit_labels, admit_weights
from mercer.errors import SolveError, ValidityError, suggestion
from mercer.kernels import Kernel, Linear, QuadraticForm, named
from mercer.machines.scores import (
    ScoreClassifier,
    averages,
    cheapest,
    fewer_features,
    require_weight,
    weights_of,
)
from mercer.plans import Decision
from mercer.plans.sums import SumOverItems, choose_sum
from mercer.rkhs import Function
from mercer.values import finite

__all__ = ["PrototypeClassifier"]


class PrototypeClassifier(ScoreClassifier):
    """Classification by the nearest mean, in any kernel's space.

    Parameters
    ----------
    kernel : Kernel or {"linear", "gaussian", "laplacian", "polynomial", "precomputed"}
    metric : {None, "covariance"}
        "covariance" takes xᵀS⁻¹z as the inner product of vectors, S being the covariance within
        the classes, pooled over them (divided by the sum of the weights). It is the right idea of
        orthogonality where dimensions are correlated (fig. 2), and needs the linear kernel.
    threshold : float, optional
        θ of (5) and (11) of Jäkel, Schölkopf & Wichmann (2007), for two classes: the second is
        answered where the difference of the mean similarities exceeds it. By default it is
        ½(|μ₂|² − |μ₁|²), halfway between the means.

    Attributes
    ----------
    classes_ : ndarray
    function_ : Function
        Two classes: the difference μ₂ − μ₁ of their mean embeddings. More: one column for each μ.
    intercept_ : float or ndarray
        −θ; with more classes −½|μ|² of each, so that the highest score has the nearest mean.
    threshold_ : float or None
        θ, for two classes.
    coef_ : ndarray or None
        The same function as weights of the kernel's features, where they are fewer than the items.
    kernel_ : Kernel
        With its heuristics resolved; the quadratic form, if there is a metric.

    Notes
    -----
    Cost: O(n²) similarities, or O(n) features where there are fewer of them than items.

    Examples
    --------
    >>> machine = PrototypeClassifier().fit([[0.0], [1.0], [5.0], [7.0]], ["a", "a", "b", "b"])
    >>> machine.predict([[3.0], [3.5]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self, kernel: Any = "linear", *, metric: str | None = None, threshold: float | None = None
    ) -> None:
        self.kernel = kernel
        self.metric = metric
        self.threshold = threshold

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would need of memory for these items, without doing it.

        Examples
        --------
        >>> PrototypeClassifier("gaussian").plan(np.ones((500, 3))).solver
        'means'
        """
        points = self._admit(X)
        kernel = self._resolve(points) if self.metric is None else Linear()
        self._require_valid(kernel, "error")
        why = "every item is compared with the mean of each class"
        way, primal = SumOverItems(columns=8, compared=True), fewer_features(kernel, points)
        decision = choose_sum("means", kernel, points, way, why, targets=classes, primal=primal)
        if self.metric is None:
            return decision
        table = 8 * (points.width or 1)  # bytes of a row; a covariance has as many as columns
        more = table * (3 * len(points) + 4 * (points.width or 1))
        return decision.beside(more, "rows beside their means, for the covariance")

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with labels `y`."""
        points = self._own(X, self._admit(X))
        codes, classes = admit_labels(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        require_weight(codes, classes, weights)
        means = averages(codes, len(classes), weights)
        kernel = self._inner_product(points, codes, means, weights)
        self._require_valid(kernel, "error")
        gram = cheapest(kernel, points)
        # What counts is which mean is nearer: differences, whose coefficients have the sum zero.
        self._require_curvature(kernel, gram, groups=[slice(0, len(points))])
        squares = np.sum(means * (gram @ means), axis=0)
        threshold = self._threshold(squares)
        coefficients = means if threshold is None else means[:, 1] - means[:, 0]
        function = Function(kernel, points, coefficients)

        self._remember(X, points)
        self.classes_, self.kernel_, self.function_ = classes, kernel, function
        self.threshold_ = threshold
        self.intercept_ = -squares / 2 if threshold is None else -threshold
        self.coef_ = weights_of(gram, coefficients)
        return self

    def _threshold(self, squares: np.ndarray) -> float | None:
        """Return θ, or None with more than two classes."""
        if len(squares) > 2:
            if self.threshold is not None:
                raise ValidityError(
                    f"threshold is between two classes, but y has {len(squares)}; leave it at None"
                )
            return None
        if self.threshold is None:
            return float(squares[1] - squares[0]) / 2
        return finite(self, "threshold", self.threshold)

    def _inner_product(
        self, points: Points, codes: np.ndarray, means: np.ndarray, weights: np.ndarray | None
    ) -> Kernel:
        """Return the resolved kernel, or the quadratic form of the metric."""
        if self.metric is None:
            return self._resolve(points, weights)
        if self.metric != "covariance":
            hint = suggestion(self.metric, ("covariance",))
            raise ValidityError(f"metric cannot be {self.metric!r}{hint}")
        if not isinstance(named(self.kernel), Linear) or not isinstance(points, Vectors):
            raise ValidityError(
                'metric="covariance" is an inner product of vectors in the place of the linear '
                f'one, but kernel is {self.kernel!r}; use kernel="linear", or metric=None'
            )
        rows = points.array.toarray() if points.is_sparse else np.asarray(points.array)
        rest = rows - (means.T @ rows)[codes]
        w = np.ones(len(rest)) if weights is None else weights
        return QuadraticForm(_inverse((rest.T * w) @ rest / np.sum(w)))


def _inverse(covariance: np.ndarray) -> np.ndarray:
    """Return the inverse of a covariance matrix, refusing one that is singular."""
    values, vectors = np.linalg.eigh(covariance)
    least = len(values) * np.finfo(float).eps * values[-1]
    rank = int(np.sum(values > least))
    if rank < len(values):
        raise SolveError(
            f"the covariance within the classes has rank {rank}, but there are {len(values)} "
            "columns, so it has no inverse: some columns are constant within each class or sums "
            "of others, or there are too few items; leave columns out, use more items, reduce the "
            "dimensions first (PCA), or use metric=None"
        )
    inverse = (vectors / values) @ vectors.T
    return (inverse + inverse.T) / 2
