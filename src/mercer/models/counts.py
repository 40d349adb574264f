"""Counts of words: what documents are to a model of texts, and mixtures of such models."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from mercer.domains import Domain, VectorDomain, Vectors, to_numpy
from mercer.errors import DomainError, ValidityError
from mercer.memory import afford
from mercer.models import simplex
from mercer.models.arrays import probabilities
from mercer.models.base import model
from mercer.models.em import Hidden
from mercer.models.letters import choose
from mercer.models.mixture import shares
from mercer.models.sequences import lengths_of
from mercer.values import positive, whole

__all__ = ["COUNTS", "MultinomialMixture"]

COUNTS = VectorDomain(nonnegative=True)
ROWS = 256  # of a part of the scores that is computed at once


@model
class MultinomialMixture(Hidden):
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

    @property
    def fitted(self) -> bool:
        return self.weights is not None

    def component_log_densities(self, points: Vectors) -> np.ndarray:
        """Return ln p(x|k) of each point and component."""
        X = counted(points, self.probabilities.shape[1], self)
        return self._logs(X) + coefficients(X)[:, None]

    def _logs(self, X: sparse.csr_array) -> np.ndarray:
        """Return Σⱼ xⱼ ln pₖⱼ of each row and component."""
        impossible = self.probabilities == 0
        logs = X @ np.log(np.where(impossible, 1.0, self.probabilities)).T
        if impossible.any():
            logs[X @ impossible.T.astype(np.float64) > 0] = -np.inf
        return logs

    def log_densities(self, points: Vectors) -> np.ndarray:
        return shares(self.component_log_densities(points), self.weights)[1]

    def responsibilities(self, X: Any) -> np.ndarray:
        """Return p(k|x) of each item and component."""
        points: Any = self._admit(X)
        return shares(self.component_log_densities(points), self.weights)[0]

    def scores(self, points: Vectors) -> np.ndarray:
        X = counted(points, self.probabilities.shape[1], self)
        R = shares(self._logs(X), self.weights)[0]
        n, words = X.sum(axis=1), self.probabilities
        kept = simplex.free(words)
        free = simplex.free(self.weights)
        count = int(kept.sum() + free.sum())
        afford(8 * len(R) * count, f"{count} scores of {len(R)} documents", "use fewer words")
        found = np.empty((len(R), count))
        found[:, : free.sum()] = (R - self.weights)[:, free]
        for first in range(0, len(R), ROWS):
            part = slice(first, first + ROWS)
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
        return simplex.names("weight", self.weights, components) + simplex.names(
            "word", self.probabilities, components, words
        )

    def begin(self, points: Vectors, weights: np.ndarray, rng: np.random.Generator) -> Self:
        X = counted(points, None, self)
        return self._maximized(X, clustered(X, weights, self, self.components, rng), weights)

    def improve(self, points: Vectors, weights: np.ndarray) -> tuple[Self, float]:
        X = counted(points, self.probabilities.shape[1], self)
        R, logs = shares(self._logs(X), self.weights)
        logs += coefficients(X)
        some = weights > 0
        if (logs[some] == -np.inf).any():
            item = int(np.flatnonzero(some & (logs == -np.inf))[0])
            raise DomainError(f"item {item} of X is impossible under MultinomialMixture")
        value = float(weights[some] @ logs[some]) + bonus(self.probabilities, self.smoothing)
        return self._maximized(X, np.where(some[:, None], R, 0.0), weights), value

    def _maximized(self, X: sparse.csr_array, R: np.ndarray, w: np.ndarray) -> Self:
        """Return the model with the best parameters for given responsibilities."""
        R = R * w[:, None]
        counts = (X.T @ R).T
        return self.set_params(
            weights=R.sum(axis=0) / R.sum(), probabilities=normalized(counts, self.smoothing)
        )

    def sample(self, count: int, seed: int = 0, length: Any = 100) -> np.ndarray:
        """Draw the counts of `count` documents of a length, or of one length for each."""
        self.require_fitted()
        rng, lengths = np.random.default_rng(seed), lengths_of(count, length)
        k = choose(np.tile(self.weights, (count, 1)), rng)
        return rng.multinomial(lengths, _exact(self.probabilities[k])).astype(np.float64)


def counted(points: Vectors, width: int | None, owner: Any) -> sparse.csr_array:
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


def coefficients(X: sparse.csr_array) -> np.ndarray:
    """Return ln n!/Πxⱼ! of each row."""
    from scipy.special import gammaln

    logs = sparse.csr_array((gammaln(X.data + 1), X.indices, X.indptr), shape=X.shape)
    return gammaln(X.sum(axis=1) + 1) - logs.sum(axis=1)


def normalized(counts: np.ndarray, smoothing: float) -> np.ndarray:
    """Return smoothed counts as probabilities; where there are none, all words are alike."""
    counts = counts + smoothing
    counts[counts.sum(axis=1) == 0] = 1.0
    return counts / counts.sum(axis=1, keepdims=True)


def bonus(p: np.ndarray, smoothing: float) -> float:
    """Return what smoothing adds to a log likelihood."""
    if not smoothing:
        return 0.0
    with np.errstate(divide="ignore"):
        return smoothing * float(np.log(p).sum())


def clustered(
    X: sparse.csr_array, w: np.ndarray, owner: Any, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Return responsibilities to begin with: clusters of documents, by roots of frequencies."""
    from sklearn.cluster import KMeans

    lengths = X.sum(axis=1)
    some = (w > 0) & (lengths > 0)
    if some.sum() < count:
        raise DomainError(
            f"X has fewer documents with words than {type(owner).__name__} has components "
            f"({count}); use fewer components"
        )
    rows = X[np.flatnonzero(some)]
    rows = sparse.csr_matrix(rows.multiply(1.0 / lengths[some][:, None]).sqrt())
    seed = int(rng.integers(2**31))
    labels = KMeans(count, n_init=1, random_state=seed).fit(rows, sample_weight=w[some]).labels_
    R = np.full((len(w), count), 1.0 / count)
    # A tenth is spread over all, so that no word is impossible anywhere.
    R[some] = 0.9 * np.eye(count)[labels] + 0.1 / count
    return R


def _exact(p: np.ndarray) -> np.ndarray:
    """Return probabilities whose sum does not exceed one by rounding, which NumPy refuses."""
    return p / p.sum(axis=-1, keepdims=True)
