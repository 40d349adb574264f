"""The aspect model of documents: each word of a document is about one of its topics.

The topics of a document are found by expectation maximization, whose steps are extrapolated
(Varadhan and Roland, 2008): two steps say where many would lead. An extrapolation that loses
likelihood is taken back. Loops take documents as a tuple (starts, places, numbers): which words
each has, and how often.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.compiled import compiled
from mercer.domains import Domain, Items, Vectors
from mercer.errors import ValidityError
from mercer.memory import afford
from mercer.models.base import model
from mercer.models.em import LatentVariableModel
from mercer.models.multinomial import (
    COUNTS,
    count_matrix,
    initial_responsibilities,
    log_coefficients,
)
from mercer.models.parameter_arrays import (
    free_outcomes,
    log_prior,
    probabilities,
    probability_names,
    probability_scores,
    smoothed_frequencies,
)
from mercer.models.sequences import lengths_of
from mercer.threads import in_threads
from mercer.values import positive, whole

__all__ = ["AspectModel"]

DOCUMENTS_PER_JOB = 256


@model
class AspectModel(LatentVariableModel):
    """The aspect model of documents, also known as probabilistic latent semantic analysis.

    A document has a mixture π of topics, and each of its words is drawn from one of them, so that
    word j has the probability Σ_z π_z·p(j|z) (Hofmann, 1999). The mixture belongs to the document,
    not to the model: it is folded in, which means the most probable one is taken,

        ln p(x) = max_π [ln n!/Πxⱼ! + Σⱼ xⱼ ln Σ_z π_z p(j|z) + ln Dir(π|1 + s·q)],

    where the Dirichlet distribution says how mixtures are spread: around the proportions q, more
    closely for a larger strength s. With s = 0 it says nothing, as in Hofmann's model. Because of
    the maximum this is not a density that sums to one over all documents. Its gradient is that of
    the bracket at the best π, and so the scores are those of Hofmann (2000): how often each word
    was due to each topic, xⱼ·p(z|x, j), beyond what the topic would lead one to expect, and, for
    s > 0, which topics the document has. A document without words has the mixture q.

    Parameters
    ----------
    topics : int
    words : array of shape (topics, words), optional
        p(j|z); None until it is learned.
    proportions : array of shape (topics,), optional
        The q above, by default equal ones. They are not learned.
    strength : float
        The s above: as much as so many words that are spread over topics like q.
    smoothing : float
        Added to each expected count of a word in fitting, so that a word that was never seen with
        a topic is not impossible there.
    iterations, tolerance, starts : int, float, int
        Fitting takes at most so many steps, ends with one that gains less than so much per item,
        and takes the best of so many random beginnings.

    Examples
    --------
    >>> model = AspectModel(2, [[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]], strength=0.0)
    >>> model.mixtures([[9, 2, 9], [5, 0, 0]]).round(3)
    array([[0.5, 0.5],
           [1. , 0. ]])
    >>> model.parameter_names
    ['word[0, 0]', 'word[1, 1]']
    """

    topics: int
    words: Any = None
    proportions: Any = None
    strength: float = 1.0
    smoothing: float = 0.01
    iterations: int = 500
    tolerance: float = 1e-2
    starts: int = 1

    domain: ClassVar[Domain] = COUNTS

    def __post_init__(self) -> None:
        self._normalize("topics", whole(self, "topics", self.topics))
        for name in ("strength", "smoothing"):
            self._normalize(name, positive(self, name, getattr(self, name), zero=True))
        self._check_settings()
        if self.proportions is not None:
            given = probabilities(self, "proportions", self.proportions, (self.topics,))
            if (given == 0).any():
                raise ValidityError("proportions of AspectModel must be positive")
            self._normalize("proportions", given)
        if self.words is not None:
            words = probabilities(self, "words", self.words, (self.topics, None))
            self._normalize("words", words)

    @property
    def fitted(self) -> bool:
        return self.words is not None

    @cached_property
    def _prior(self) -> np.ndarray:
        """The proportions of topics that a document is expected to have."""
        if self.proportions is None:  # it stays so, for the number of topics may change
            return np.full(self.topics, 1.0 / self.topics)
        return self.proportions

    @cached_property
    def _words_by_topic(self) -> np.ndarray:
        return np.array(self.words.T, order="C")

    def mixtures(self, X: Items) -> np.ndarray:
        """Return the most probable mixture of topics of each document."""
        points: Any = self._admit(X)
        return self._fold_in(self._counts(points))[0]

    def log_densities(self, points: Vectors) -> np.ndarray:
        X = self._counts(points)
        return self._fold_in(X)[1] + log_coefficients(X) + self._dirichlet()

    def scores(self, points: Vectors) -> np.ndarray:
        X = self._counts(points)
        topics, logs = self._fold_in(X)
        size = len(logs) * self.words.size
        afford(16 * size, f"the scores of {len(logs)} documents", "use fewer words or topics")
        parts = []

        def work(first: int) -> None:
            part = slice(first, first + DOCUMENTS_PER_JOB)
            pi = topics[part]
            counts = np.zeros((len(pi), *self.words.shape))
            word_counts(_arrays(X[part]), self._words_by_topic, pi, counts)
            parts.append((first, probability_scores(counts, self.words)))

        in_threads(work, range(0, len(logs), DOCUMENTS_PER_JOB))
        words = np.concatenate([part for _, part in sorted(parts, key=lambda part: part[0])])
        words[logs == -np.inf] = np.nan
        return np.hstack([self._proportion_scores(topics), words]) if self.strength else words

    def _proportion_scores(self, topics: np.ndarray) -> np.ndarray:
        """Return the derivatives of ln Dir(π|1 + s·q) by the odds of q."""
        from scipy.special import digamma

        s, q = self.strength, self._prior
        slopes = s * (np.log(topics) - digamma(1 + s * q))
        return (q * (slopes - (slopes @ q)[:, None]))[:, free_outcomes(q)]

    def _dirichlet(self) -> float:
        """Return the constant of ln Dir(π|1 + s·q)."""
        from scipy.special import gammaln

        s, q = self.strength, self._prior
        return float(gammaln(self.topics + s) - gammaln(1 + s * q).sum()) if s else 0.0

    @property
    def parameter_names(self) -> list[str]:
        self.require_fitted()
        topics, words = (range(length) for length in self.words.shape)
        proportions = probability_names("proportion", self._prior, topics)
        return (proportions if self.strength else []) + probability_names(
            "word", self.words, topics, words
        )

    # ---- folding in -------------------------------------------------------------------------

    def _counts(self, points: Vectors) -> sparse.csr_array:
        return count_matrix(points, self.words.shape[1], self)

    def _fold_in(
        self, X: sparse.csr_array, start: np.ndarray | None = None, rounds: int = 10_000
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mixture of each document and its value, without constants."""
        n = X.shape[0]
        topics = np.tile(self._prior, (n, 1)) if start is None else start.copy()
        values, prior = np.empty(n), self.strength * self._prior

        def work(first: int) -> None:
            part = slice(first, min(first + DOCUMENTS_PER_JOB, n))
            documents = _arrays(X[part])
            fold_in(
                documents, self._words_by_topic, prior, 1e-10, rounds, topics[part], values[part]
            )

        in_threads(work, range(0, n, DOCUMENTS_PER_JOB))
        return topics, values

    # ---- learning and drawing ---------------------------------------------------------------

    def begin(self, points: Vectors, weights: np.ndarray, rng: np.random.Generator) -> Self:
        X = count_matrix(points, None, self)
        R = initial_responsibilities(X, weights, self, self.topics, rng) * weights[:, None]
        return self.set_params(words=smoothed_frequencies((X.T @ R).T, self.smoothing))

    def improve(self, points: Vectors, weights: np.ndarray) -> tuple[Self, float]:
        X, some = self._counts(points), weights > 0
        # Mixtures go on from where the last step left them, so that a few rounds are enough and
        # the value still never decreases.
        known = self.__dict__.get("_known")
        start = known[1] if known is not None and known[0] is points else None
        topics, values = self._fold_in(X, start, rounds=3)
        self._refuse_impossible(values, weights)
        total, used = np.zeros(self.words.shape[::-1]), X[np.flatnonzero(some)]
        total_word_counts(_arrays(used), self._words_by_topic, topics[some], weights[some], total)
        better = self.set_params(words=smoothed_frequencies(total.T, self.smoothing))
        better.__dict__["_known"] = points, topics
        constants = log_coefficients(X)[some] + self._dirichlet()
        value = float(weights[some] @ (values[some] + constants))
        return better, value + log_prior(self.words, self.smoothing)

    def sample(self, count: int, seed: int = 0, length: ArrayLike = 100) -> np.ndarray:
        """Draw the counts of `count` documents of a length, or of one length for each."""
        self.require_fitted()
        rng, lengths = np.random.default_rng(seed), lengths_of(count, length)
        pi = rng.dirichlet(1 + self.strength * self._prior, size=count)
        p = pi @ self.words
        return rng.multinomial(lengths, p / p.sum(axis=1, keepdims=True)).astype(np.float64)


def _arrays(X: sparse.csr_array) -> tuple[np.ndarray, ...]:
    """Return sparse rows as the loops take them."""
    return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data


@compiled(error_model="numpy")
def fold_in(documents, words, prior, tolerance, limit, topics, out):
    """Find the topics of each document, beginning with those in `topics`, and write
    Σⱼ xⱼ ln Σ_z πz·words[j, z] + Σ_z prior[z]·ln πz into `out`.

    It ends when no share changes by more than `tolerance` any more, after `limit` rounds at most.
    """
    starts, count = documents[0], len(prior)
    one, two, far = np.empty(count), np.empty(count), np.empty(count)
    for i in range(len(starts) - 1):
        places = documents[1][starts[i] : starts[i + 1]]
        numbers = documents[2][starts[i] : starts[i + 1]]
        pi = topics[i]
        for _ in range(limit):
            _step(places, numbers, words, prior, pi, one)
            value = _step(places, numbers, words, prior, one, two)
            if np.max(np.abs(two - one)) <= tolerance:
                pi[:] = two
                break
            better = _extrapolate(pi, one, two, far)
            if better and _step(places, numbers, words, prior, far, one) >= value:
                pi[:] = one
            else:
                pi[:] = two
        out[i] = _step(places, numbers, words, prior, pi, one)


@compiled(error_model="numpy")
def total_word_counts(documents, words, topics, weights, total):
    """Add up how often each word was due to each topic in all documents, by their weights."""
    starts, places, numbers = documents
    share = np.empty(words.shape[1])
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            scale = weights[i] * numbers[p] / _topic_shares(topics[i], words[places[p]], share)
            for z in range(len(share)):
                total[places[p], z] += scale * share[z]


@compiled(error_model="numpy")
def word_counts(documents, words, topics, out):
    """Write how often each word was due to each topic: documents × topics × words."""
    starts, places, numbers = documents
    share = np.empty(words.shape[1])
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            scale = numbers[p] / _topic_shares(topics[i], words[places[p]], share)
            for z in range(len(share)):
                out[i, z, places[p]] = scale * share[z]


@compiled(error_model="numpy")
def _topic_shares(pi, word, share):
    """Write how much each topic has to do with a word, and return the sum."""
    total = 0.0
    for z in range(len(pi)):
        share[z] = pi[z] * word[z]
        total += share[z]
    return total


@compiled(error_model="numpy")
def _step(places, numbers, words, prior, pi, after):
    """Write the topics after one step, and return the value of those before it."""
    value, whole = 0.0, 0.0
    for z in range(len(pi)):
        after[z] = prior[z]
        whole += prior[z]
        if prior[z] > 0.0:
            value += prior[z] * math.log(pi[z])
    for p in range(len(places)):
        total = 0.0
        for z in range(len(pi)):
            total += pi[z] * words[places[p], z]
        value += numbers[p] * math.log(total)
        whole += numbers[p]
        scale = numbers[p] / total if total > 0.0 else 0.0
        for z in range(len(pi)):
            after[z] += scale * pi[z] * words[places[p], z]
    for z in range(len(pi)):
        after[z] = after[z] / whole if whole > 0.0 else pi[z]
    return value


@compiled(error_model="numpy")
def _extrapolate(start, one, two, far):
    """Write where steps from `start` over `one` to `two` lead; tell whether that is inside."""
    first, bend = 0.0, 0.0
    for z in range(len(start)):
        r = one[z] - start[z]
        v = two[z] - one[z] - r
        first += r * r
        bend += v * v
    if bend == 0.0:
        return False
    length = math.sqrt(first / bend)
    if length <= 1.0:
        return False
    total = 0.0
    for z in range(len(start)):
        r = one[z] - start[z]
        v = two[z] - one[z] - r
        far[z] = start[z] + 2.0 * length * r + length * length * v
        if far[z] <= 0.0:
            return False
        total += far[z]
    for z in range(len(start)):
        far[z] /= total
    return True
