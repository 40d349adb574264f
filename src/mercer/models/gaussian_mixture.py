"""Mixtures of normal distributions."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.errors import DomainError, ValidityError
from mercer.memory import afford
from mercer.models.base import choice, model
from mercer.models.covariances import COVARIANCES
from mercer.models.em import FiniteMixture, k_means, responsibilities_of
from mercer.models.gaussian import block_diagonal
from mercer.models.parameter_arrays import (
    draw_outcomes,
    free_outcomes,
    numbers,
    probabilities,
    probability_information,
    probability_names,
    rows,
)
from mercer.threads import in_threads
from mercer.values import positive, whole

__all__ = ["GaussianMixtureModel"]

ROWS_PER_JOB = 512


@model
class GaussianMixtureModel(FiniteMixture):
    """A mixture of normal distributions: p(x) = Σₖ πₖ N(x|μₖ, Σₖ).

    The free parameters are the logarithms of odds of the weights against the last one, the means,
    and the covariances: by the logarithms of standard deviations, or by Cholesky factors as in
    `GaussianDensity`. The scores of a "diag" mixture are the Fisher vectors of images (Perronnin
    and Dance, 2007). The exact information is known for one component only;
    `approximate_information` is the usual approximation for several.

    Parameters
    ----------
    components : int
    covariance : {"full", "tied", "diag", "spherical"}
        A matrix for each component, one for all, variances for each, or one variance for each: as
        `covariance_type` of scikit-learn's GaussianMixture, with arrays of the same shapes.
    weights : array of shape (components,), optional
        All three arrays are given, or all of them are learned.
    means : array of shape (components, d), optional
    covariances : array, optional
    floor : float
        Variances do not fall below this share of a column's variance in all items.
    iterations, tolerance, starts : int, float, int
        Fitting takes at most so many steps, ends with one that gains less than so much per item,
        and takes the best of so many random beginnings.

    Examples
    --------
    >>> model = GaussianMixtureModel(2, "diag").fit([[0.0], [1.0], [8.0], [9.0]])
    >>> np.sort(model.means.ravel()).round(6)
    array([0.5, 8.5])
    >>> model.parameter_names
    ['weight[0]', 'mean[0, 0]', 'mean[1, 0]', 'log_deviation[0, 0]', 'log_deviation[1, 0]']
    """

    components: int = 1
    covariance: str = "full"
    weights: Any = None
    means: Any = None
    covariances: Any = None
    floor: float = 1e-6
    iterations: int = 200
    tolerance: float = 1e-3
    starts: int = 1

    domain: ClassVar[Domain] = VectorDomain(dense_for="GaussianMixtureModel")
    whole_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._normalize("components", whole(self, "components", self.components))
        choice(self, "covariance", self.covariance, tuple(COVARIANCES))
        self._normalize("floor", positive(self, "floor", self.floor))
        self._check_settings()
        given = [part is not None for part in (self.weights, self.means, self.covariances)]
        if not any(given):
            return
        if not all(given):
            raise ValidityError(
                "GaussianMixtureModel needs weights, means and covariances, or none of them"
            )
        self._normalize(
            "weights", probabilities(self, "weights", self.weights, (self.components,))
        )
        self._normalize("means", numbers(self, "means", self.means, (self.components, None)))
        shape = self.means.shape
        self._normalize(
            "covariances", COVARIANCES[self.covariance].check(self, self.covariances, *shape)
        )

    @property
    def _form(self) -> Any:
        return COVARIANCES[self.covariance]

    @cached_property
    def _roots(self) -> np.ndarray:
        return self._form.roots(self.covariances, *self.means.shape)

    def component_log_densities(self, points: Vectors) -> np.ndarray:
        return self._logs(rows(points, self.means.shape[1], self))

    def _logs(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # so far away that it is impossible
            return self._form.logs(X, self.means, self._roots)

    def scores(self, points: Vectors) -> np.ndarray:
        X = rows(points, self.means.shape[1], self)
        count = len(self.parameter_names)
        afford(8 * len(X) * count, f"{count} scores of {len(X)} items", "use fewer components")
        R, found = np.empty((len(X), self.components)), np.zeros((len(X), count))
        free = free_outcomes(self.weights)
        places = [slice(first, first + ROWS_PER_JOB) for first in range(0, len(X), ROWS_PER_JOB)]

        def share(part: slice) -> None:
            R[part] = responsibilities_of(self._logs(X[part]), self.weights)[0]

        def work(part: slice) -> None:
            excess = np.ascontiguousarray((R[part] - self.weights)[:, free])
            self._form.scores(X[part], R[part], self.means, self._roots, excess, found[part])

        # One after the other, because the many scores drive everything else out of the caches.
        in_threads(share, places)
        in_threads(work, places)
        return found

    @property
    def parameter_names(self) -> list[str]:
        self.require_fitted()
        components, width = self.means.shape
        means = [f"mean[{k}, {c}]" for k in range(components) for c in range(width)]
        weights = probability_names("weight", self.weights, range(components))
        return weights + means + self._form.names(components, width)

    def information(self) -> np.ndarray | None:
        return self.approximate_information() if self.components == 1 else None

    def approximate_information(self) -> np.ndarray:
        """Return the information as if it were known which component each item comes from.

        It is what it would be if components did not overlap (Perronnin and Dance, 2007), exact for
        one component: blocks along the diagonal, for each component with its weight.
        """
        self.require_fitted()
        blocks = self._form.blocks(self.weights, self._roots)
        return block_diagonal([probability_information(self.weights), *blocks])

    def begin(self, points: Vectors, weights: np.ndarray, rng: np.random.Generator) -> Self:
        some = weights > 0
        X = rows(points, None, self)[some]
        if len(np.unique(X, axis=0)) < self.components:
            raise DomainError(
                f"X has fewer different items than GaussianMixtureModel has components "
                f"({self.components}); use fewer components"
            )
        labels = k_means(X, self.components, weights[some], rng).labels_
        return self._m_step(X, np.eye(self.components)[labels], weights[some])

    def improve(self, points: Vectors, weights: np.ndarray) -> tuple[Self, float]:
        some = weights > 0
        X, w = rows(points, self.means.shape[1], self)[some], weights[some]
        R, logs = responsibilities_of(self._logs(X), self.weights)
        return self._m_step(X, R, w), float(w @ logs)

    def _m_step(self, X: np.ndarray, R: np.ndarray, w: np.ndarray) -> Self:
        """Return the model with the best parameters for given responsibilities."""
        R = R * w[:, None]
        totals = np.maximum(R.sum(axis=0), np.finfo(float).tiny)
        R /= totals
        means = R.T @ X
        part = totals / totals.sum()
        average = w @ X / w.sum()
        spread = w @ (X - average) ** 2 / w.sum()
        floors = self.floor * np.where(spread > 0, spread, 1.0)
        covariances = self._form.with_floor(self._form.estimate(X, R, means, part), floors)
        return self.set_params(weights=part, means=means, covariances=covariances)

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        k = draw_outcomes(np.tile(self.weights, (count, 1)), rng)
        return self.means[k] + self._form.noise(k, self._roots, rng)
