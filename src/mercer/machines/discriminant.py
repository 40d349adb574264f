"""Kernel discriminant analysis: the directions in which classes are far apart for their width.

Fisher's criterion in the kernel's space maximizes ⟨w, S_B w⟩/⟨w, (S_W + λI)w⟩, with the scatter
S_B of the class means and S_W of the items about their class mean, both summed over items (Mika
et al., 1999; Baudat & Anouar, 2000). It is least squares in disguise: ridge regression of class
indicators Y on the items, with the same λ, has residuals λA, and with D = YᵀY the small matrix

    λ D^(−½) YᵀA D^(−½) = V diag(ρ) Vᵀ

holds all that is left to know (optimal scoring; Hastie, Buja & Tibshirani, 1995; Roth &
Steinhage, 2000). The squared canonical correlations are 1 − ρ, the values of the criterion (1 −
ρ)/ρ. So the work is one ridge solution, and what holds for ridge regression, such as its formula
for leaving items out, holds here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer.domains import Items, admit_labels, admit_weights
from mercer.errors import SolveError, ValidityError
from mercer.machines.chunks import require_fitted
from mercer.machines.ridge import KernelRidge, Regression
from mercer.machines.scores import ScoreClassifier, require_weight
from mercer.plans import Decision, Plan, requested
from mercer.values import positive, whole

__all__ = ["KernelDiscriminant"]

# Canonical correlations whose square is below this share of the largest are rounding errors.
MIN_CORRELATION = 1e-10


class KernelDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ScoreClassifier):
    """Kernel Fisher discriminant and kernel linear discriminant analysis.

    An item is given to the class with the nearest mean in the metric of (S_W + λI)/n, plus the
    logarithm of the class's frequency. With the linear kernel this is linear discriminant
    analysis with the covariance Σ + (λ/n)I.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    penalty : float
        λ > 0, added to the scatter within classes.
    n_components : int, optional
        Number of discriminants that `transform` returns; by default all, at most one less than
        there are classes. Prediction uses all.
    follow : Plan, optional
        Choices of yours about route, solver, precision and memory.

    Attributes
    ----------
    classes_ : ndarray
    function_ : Function
        Scores that `decision_function` returns, without the intercept.
    intercept_ : float or ndarray
    discriminants_ : Function
        The discriminant directions, a column for each, as `transform` returns them without their
        offset.
    offset_ : ndarray
        Constants that make the discriminants zero in the mean.
    means_ : ndarray of shape (classes, discriminants)
        Where the classes' means lie among the discriminants. The width of the classes, with the
        penalty, is 1 in each direction.
    priors_ : ndarray
        Share of each class in the weight of the training items.
    criterion_ : ndarray
        ⟨w, S_B w⟩/⟨w, (S_W + λI)w⟩ of each discriminant, descending.
    explained_variance_ratio_ : ndarray
        The same, divided by their sum.
    coef_ : ndarray or None
        Weights of the kernel's features, if the primal system was solved.
    solution_ : Solution
        Of the ridge regression on class indicators: status and certificate.
    kernel_, plan_
        As in `KernelRidge`.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = [[0.0], [1.0], [4.0], [5.0], [9.0], [10.0]]
    >>> machine = KernelDiscriminant(Gaussian(2.0), penalty=0.1).fit(X, list("aabbaa"))
    >>> machine.predict([[0.5], [4.5], [9.5]]).tolist(), machine.transform(X).shape
    (['a', 'b', 'a'], (6, 1))
    """

    abilities = ("shared Gram matrix", "closed-form folds")
    mixes_targets: ClassVar[bool] = True
    has_intercept = True

    def __init__(
        self,
        kernel: Any = "gaussian",
        penalty: float = 1.0,
        n_components: int | None = None,
        *,
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.n_components = n_components
        self.follow = follow

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> KernelDiscriminant("linear").plan(np.zeros((500, 3))).route
        'primal'
        """
        return self._ridge().plan(X, targets=classes)

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with labels `y`."""
        points = self._admit(X)
        regression = self.regression(y, len(points), sample_weight)
        assert regression.classes is not None and regression.codes is not None
        labels, weights, classes = regression.target, regression.weights, regression.classes
        self._require_valid(self._resolve(points, weights), "error")
        ridge = self._ridge().fit(X, labels, weights)
        solution = ridge.solution_
        sizes = np.bincount(regression.codes, weights, len(classes)).astype(float)
        found = discriminants(labels.T @ solution.coefficients, sizes, solution.penalty)
        count = self._count(len(found.criterion), len(classes))
        scores, constants = found.decision(sizes / sizes.sum())

        function = ridge.function_.mix(scores)
        chosen = ridge.function_.mix(found.mixing[:, :count])
        primal = solution.weights

        self._remember(X, points)
        self.kernel_, self.plan_, self.solution_ = ridge.kernel_, ridge.plan_, solution
        self.classes_ = classes
        self.function_, self.intercept_ = function, solution.intercept @ scores + constants
        self.coef_ = None if primal is None else primal @ scores
        self.discriminants_ = chosen
        self.offset_ = solution.intercept @ found.mixing[:, :count]
        self.means_, self.priors_ = found.means[:, :count], sizes / sizes.sum()
        self.criterion_ = found.criterion
        self.explained_variance_ratio_ = found.criterion / found.criterion.sum()
        return self

    @property
    def closed_form_applies(self) -> bool:
        """Whether all folds have as many discriminants as are asked for."""
        return self.n_components in (None, 1)

    def regression_scores(
        self, values: np.ndarray, sums: np.ndarray | None, sizes: np.ndarray, penalty: float
    ) -> np.ndarray | None:
        """Return the scores of the classes, or None where a fit would fail."""
        if sums is None or not sizes.all():
            return None  # a class without weight
        try:
            found = discriminants(sums, sizes, penalty)
        except SolveError:
            return None
        mixing, constants = found.decision(sizes / sizes.sum())
        return values @ mixing + constants

    def regression(
        self, y: ArrayLike, count: int, sample_weight: ArrayLike | None = None
    ) -> Regression:
        """Return class indicators, weights and classes as `fit` reads them."""
        codes, classes = admit_labels(y, count)
        weights = admit_weights(sample_weight, count)
        require_weight(codes, classes, weights)
        labels = (codes[:, None] == np.arange(len(classes))).astype(float)
        return Regression(labels, weights, classes, codes)

    def transform(self, X: Items) -> np.ndarray:
        """Return the discriminants of each item, an array of shape (items, n_components)."""
        require_fitted(self)
        points = self._admit_new(X, self.kernel_)
        return self.discriminants_(points) + self.offset_

    def predict_proba(self, X: Items) -> np.ndarray:
        """Return the probability of each class if all have Gaussian shape and the same width."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        return softmax(scores, axis=1)

    @property
    def _n_features_out(self) -> int:
        return int(self.means_.shape[1])

    def _ridge(self) -> KernelRidge:
        penalty = positive(self, "penalty", self.penalty)
        follow = replace(requested(self.follow), approximate="never")
        return KernelRidge(self.kernel, penalty, intercept=True, follow=follow)

    def _count(self, rank: int, classes: int) -> int:
        count = rank
        if self.n_components is not None:
            count = whole(self, "n_components", self.n_components)
        if count > rank:
            raise ValidityError(
                f"n_components is {count}, but {classes} classes of these items have only {rank} "
                f"discriminants; use n_components={rank} or less"
            )
        return count


@dataclass(frozen=True)
class Discriminants:
    """Combinations of the indicators' regressions, best first.

    Attributes
    ----------
    mixing : ndarray of shape (classes, rank)
        Discriminants as combinations of the functions that were fitted to the classes.
    means : ndarray of shape (classes, rank)
    criterion : ndarray of shape (rank,)
    """

    mixing: np.ndarray
    means: np.ndarray
    criterion: np.ndarray

    def decision(self, priors: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return the mixing and the constants of the scores ⟨z, m⟩ − |m|²/2 + log π."""
        scores = self.mixing @ self.means.T
        constants = np.log(priors) - np.sum(self.means**2, axis=1) / 2
        if len(priors) == 2:
            return scores[:, 1] - scores[:, 0], float(constants[1] - constants[0])
        return scores, constants


def discriminants(sums: np.ndarray, sizes: np.ndarray, penalty: float) -> Discriminants:
    """Return the discriminants from YᵀA, the classes' sizes D and the penalty.

    Examples
    --------
    >>> found = discriminants(np.array([[0.5, -0.5], [-0.5, 0.5]]), np.array([2.0, 2.0]), 1.0)
    >>> found.criterion, found.means.ravel()
    (array([1.]), array([ 1., -1.]))
    """
    total, roots = sizes.sum(), np.sqrt(sizes)
    R = penalty * (sums + sums.T) / 2 / np.outer(roots, roots)
    # Giving all classes the same number is fitted without error. It is no discriminant: with
    # this its ρ becomes 1, which is a correlation of zero.
    R += np.outer(roots, roots) / total
    rho, V = np.linalg.eigh(R)
    kept = 1 - rho > MIN_CORRELATION
    rho, V = rho[kept], V[:, kept]
    if not len(rho):
        raise SolveError(
            f"with penalty {penalty:.3g} all classes have the same mean to rounding; use a "
            "smaller penalty, or a kernel that tells the classes apart"
        )
    if rho[0] <= len(sizes) * np.finfo(float).eps:
        raise SolveError(
            f"with penalty {penalty:.3g} the classes have no width in some direction, to "
            "rounding; use a larger penalty"
        )
    theta = V * np.sqrt(total) / roots[:, None]
    theta *= np.where(theta[np.abs(theta).argmax(axis=0), np.arange(len(rho))] < 0, -1.0, 1.0)
    means = theta * np.sqrt((1 - rho) / rho)
    return Discriminants(theta / np.sqrt(rho * (1 - rho)), means, (1 - rho) / rho)
