"""Counts of words: what documents are to a model of texts, and mixtures of such models."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.domains import Domain, VectorDomain, Vectors, to_numpy
from mercer.errors import DomainError, ValidityError
from mercer.memory import afford
from mercer.models.base import model
from mercer.models.em import FiniteMixture, k_means, responsibilities_of
from mercer.models.parameter_arrays import (
    draw_outcomes,
    free_outcomes,
    log_prior,
    probabilities,
    probability_names,
    smoothed_frequencies,
)
from mercer.models.sequences import lengths_of
from mercer.values import positive, whole

__all__ = ["COUNTS", "MultinomialMixture"]

COUNTS = VectorDomain(nonnegative=True)


@model
class MultinomialMixture(FiniteMixture):
    """A mixture of multinomial distributions of counts: p(x) = Σₖ πₖ n!/Πxⱼ! Πⱼ pₖⱼ^xⱼ.

    Each document is about one of several subjects, which says how often each word occurs in it.
    The number of words n is given, and a document without words has probability 1. The free
    parameters are the logarithms of odds of weights and words against the last possible one.

    Parameters
    ----------
    components : int
    weights : array of shape (components,), optional
        Both arrays are given, or both are learned.
    probabilities : array of shape (components, words), optional
    smoothing : float
        Added to each expected count of a word in fitting, so that a word that was never seen with
        a subject is not impossible there.
    iterations, tolerance, starts : int, float, int
        Fitting takes at most so many steps, ends with one that gains less than so much per item,
        and takes the best of so many random beginnings.

    Examples
    --------
    >>> model = MultinomialMixture(2, [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> model.log_density([[2, 0], [1, 1], [0, 0]]).round(3)
    array([-0.892, -1.715,  0.   ])
    """

    components: int = 1
    weights: Any = None
    probabilities: Any = None
    smoothing: float = 0.01
    iterations: int = 200
    tolerance: float = 1e-3
    starts: int = 1

    domain: ClassVar[Domain] = COUNTS

    def __post_init__(self) -> None:
        self._normalize("components", whole(self, "components", self.components))
        self._normalize("smoothing", positive(self, "smoothing", self.smoothing, zero=True))
        self._check_settings()
        if (self.weights is None) != (self.probabilities is None):
            raise ValidityError("MultinomialMixture needs weights and probabilities, or neither")
        if self.weights is not None:
            weights = probabilities(self, "weights", self.weights, (self.components,))
            self._normalize("weights", weights)
            words = probabilities(
                self, "probabilities", self.probabilities, (self.components, None)
            )
            self._normalize("probabilities", words)

    def component_log_densities(self, points: Vectors) -> np.ndarray:
        X = count_matrix(points, self.probabilities.shape[1], self)
        return self._logs(X) + log_coefficients(X)[:, None]

    def _logs(self, X: sparse.csr_array) -> np.ndarray:
        """Return Σⱼ xⱼ ln pₖⱼ of each row and component."""
        impossible = self.probabilities == 0
        logs = X @ np.log(np.where(impossible, 1.0, self.probabilities)).T
        if impossible.any():
            logs[X @ impossible.T.astype(np.float64) > 0] = -np.inf
        return logs

    def scores(self, points: Vectors) -> np.ndarray:
        X = count_matrix(points, self.probabilities.shape[1], self)
        R = responsibilities_of(self._logs(X), self.weights)[0]
        n, words = X.sum(axis=1), self.probabilities
        kept = free_outcomes(words)
        free = free_outcomes(self.weights)
        count = int(kept.sum() + free.sum())
        afford(8 * len(R) * count, f"{count} scores of {len(R)} documents", "use fewer words")
        found = np.empty((len(R), count))
        found[:, : free.sum()] = (R - self.weights)[:, free]
        for first in range(0, len(R), 256):  # rows that are dense at a time
            part = slice(first, first + 256)
            dense, begin = X[part].toarray(), int(free.sum())
            for k, p in enumerate(words):
                end = begin + int(kept[k].sum())
                excess = dense[:, kept[k]] - n[part, None] * p[kept[k]]
                found[part, begin:end] = R[part, k, None] * excess
                begin = end
        return found

    @property
    def parameter_names(self) -> list[str]:
        self.require_fitted()
        components, words = (range(length) for length in self.probabilities.shape)
        return probability_names("weight", self.weights, components) + probability_names(
            "word", self.probabilities, components, words
        )

    def begin(self, points: Vectors, weights: np.ndarray, rng: np.random.Generator) -> Self:
        X = count_matrix(points, None, self)
        return self._m_step(
            X, initial_responsibilities(X, weights, self, self.components, rng), weights
        )

    def improve(self, points: Vectors, weights: np.ndarray) -> tuple[Self, float]:
        X = count_matrix(points, self.probabilities.shape[1], self)
        R, logs = responsibilities_of(self._logs(X), self.weights)
        logs += log_coefficients(X)
        some = weights > 0
        self._refuse_impossible(logs, weights)
        value = float(weights[some] @ logs[some]) + log_prior(self.probabilities, self.smoothing)
        return self._m_step(X, np.where(some[:, None], R, 0.0), weights), value

    def _m_step(self, X: sparse.csr_array, R: np.ndarray, w: np.ndarray) -> Self:
        """Return the model with the best parameters for given responsibilities."""
        R = R * w[:, None]
        counts = (X.T @ R).T
        return self.set_params(
            weights=R.sum(axis=0) / R.sum(),
            probabilities=smoothed_frequencies(counts, self.smoothing),
        )

    def sample(self, count: int, seed: int = 0, length: ArrayLike = 100) -> np.ndarray:
        """Draw the counts of `count` documents of a length, or of one length for each."""
        self.require_fitted()
        rng, lengths = np.random.default_rng(seed), lengths_of(count, length)
        k = draw_outcomes(np.tile(self.weights, (count, 1)), rng)
        return rng.multinomial(lengths, _exact(self.probabilities[k])).astype(np.float64)


def count_matrix(points: Vectors, width: int | None, owner: object) -> sparse.csr_array:
    """Return counts as sparse rows without stored zeros."""
    if width is not None and points.width != width:
        raise DomainError(
            f"X has {points.width} columns, but {type(owner).__name__} knows {width} words"
        )
    array = points.array if points.is_sparse else to_numpy(points.array)
    found = sparse.csr_array(array, dtype=np.float64)
    if len(found.data) and not found.data.all():
        found = found.copy()
        found.eliminate_zeros()
    return found


def log_coefficients(X: sparse.csr_array) -> np.ndarray:
    """Return ln n!/Πxⱼ! of each row."""
    from scipy.special import gammaln

    logs = sparse.csr_array((gammaln(X.data + 1), X.indices, X.indptr), shape=X.shape)
    return gammaln(X.sum(axis=1) + 1) - logs.sum(axis=1)


def initial_responsibilities(
    X: sparse.csr_array, w: np.ndarray, owner: object, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Return responsibilities to begin with: clusters of documents, by roots of frequencies."""
    lengths = X.sum(axis=1)
    some = (w > 0) & (lengths > 0)
    if some.sum() < count:
        raise DomainError(
            f"X has fewer documents with words than {type(owner).__name__} has components "
            f"({count}); use fewer components"
        )
    rows = X[np.flatnonzero(some)]
    rows = sparse.csr_matrix(rows.multiply(1.0 / lengths[some][:, None]).sqrt())
    labels = k_means(rows, count, w[some], rng).labels_
    R = np.full((len(w), count), 1.0 / count)
    # A tenth is spread over all, so that no word is impossible anywhere.
    R[some] = 0.9 * np.eye(count)[labels] + 0.1 / count
    return R


def _exact(p: np.ndarray) -> np.ndarray:
    """Return probabilities whose sum does not exceed one by rounding, which NumPy refuses."""
    return p / p.sum(axis=-1, keepdims=True)
