"""Between prototypes and exemplars: categories that are remembered by a few points each.

A prototype model remembers the mean of a category, an exemplar model each of its members. In
between are all the ways to merge some members: by a partition, whose parts are remembered by their
means (Vanpaemel & Storms, 2008), or by the components of a mixture (Rosseel, 2002).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.cognition.choices.gcm import LuceModel
from mercer.cognition.experiments.stimuli import Memory, memorize
from mercer.domains import Items
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.forks import with_openmp
from mercer.values import Seed, whole

__all__ = ["MixtureModel", "VaryingAbstraction"]

SEARCHES = ("nearest", "all")
MOST_PARTITIONS = 5000  # that are fitted one after the other


class VaryingAbstraction(LuceModel):
    """Choice by similarity to the means of parts of categories (Vanpaemel & Storms, 2008).

    Each category is a partition of its exemplars. What is remembered are the means zⱼ of its
    parts, and P(A | x) = b_A (Σ_{j∈A} s(x, zⱼ))^γ / Σ_K b_K (Σ_{j∈K} s(x, zⱼ))^γ. One part is a
    prototype model, a part for each exemplar is the `GCM`; the partition that describes the
    answers best says how much people abstract, and of what.

    As a kernel: a function of Shepard's kernel with centers that are means of parts, in the place
    of exemplars.

    Parameters
    ----------
    partition : {"nearest", "all"} or sequence of shape (exemplars,)
        The part of each exemplar, as any labels; parts do not reach over categories. "all" fits
        every partition, of which there are very many beyond ten exemplars. "nearest" fits one for
        each number of parts in each category, made by merging the two nearest means again and
        again (by the given metric with equal attention); which partitions to try is our choice.
    sensitivity, attention, bias, gamma, order, exponent, free, loss
        As in `GCM`.
    starts, random_state, max_iter
        As in `GCM`.

    Attributes
    ----------
    partition_ : ndarray of shape (exemplars,)
        Numbers of the parts.
    prototypes_ : ndarray of shape (parts, dimensions)
    abstraction_ : float
        (exemplars − parts)/(exemplars − categories), 0 for exemplars and 1 for prototypes.
    tried_ : list of (partition, loss)
        What was searched, the best first, by negative log-likelihood or squared error.
    params_, classes_, function_, kernel_, free_
        As in `GCM`.
    log_likelihood_, sse_, aic_, bic_, fit_, subjects_
        As in `GCM`. The criteria do not count the partition as a parameter.

    Examples
    --------
    >>> X, y = [[0.0], [0.4], [5.0], [2.0], [2.4]], list("aaabb")
    >>> model = VaryingAbstraction([0, 0, 1, 2, 2], sensitivity=2.0).fit(X, y)
    >>> model.prototypes_.ravel(), model.abstraction_
    (array([0.2, 5. , 2.2]), 0.6666666666666666)
    """

    def __init__(
        self,
        partition: str | Sequence[Any] = "nearest",
        sensitivity: float = 1.0,
        attention: Sequence[float] | None = None,
        bias: Sequence[float] | None = None,
        gamma: float = 1.0,
        order: float = 1,
        exponent: float = 1,
        free: Sequence[str] = ("sensitivity", "attention"),
        loss: str = "likelihood",
        *,
        starts: int = 3,
        random_state: Seed = 0,
        max_iter: int = 500,
    ) -> None:
        super().__init__(
            sensitivity, attention, bias, gamma, order, exponent, free, loss,
            starts=starts, random_state=random_state, max_iter=max_iter,
        )  # fmt: skip
        self.partition = partition

    def fit(
        self,
        exemplars: Items,
        categories: ArrayLike,
        stimuli: Items | None = None,
        responses: ArrayLike | None = None,
        strengths: ArrayLike | None = None,
    ) -> Self:
        """Store the exemplars, find a partition unless it is given, and fit what is free.

        Parameters are those of `GCM.fit`; a search needs responses.
        """
        memory = memorize(exemplars, categories, strengths)
        tried = []
        for candidate in self._candidates(memory, responses):
            self.partition_ = candidate
            super().fit(exemplars, categories, stimuli, responses, strengths)
            if responses is not None:
                loss = self.sse_ if self.loss == "sse" else -self.log_likelihood_
                tried.append((candidate, loss))
        if len(tried) > 1:
            tried.sort(key=lambda pair: pair[1])
            self.partition_ = tried[0][0]
            super().fit(exemplars, categories, stimuli, responses, strengths)
        self.tried_ = tried
        n, parts = len(self.partition_), int(self.partition_.max()) + 1
        spare = n - len(self.classes_)
        self.abstraction_ = (n - parts) / spare if spare else 0.0
        return self

    def _candidates(self, memory: Memory, responses: Any) -> list[np.ndarray]:
        if not isinstance(self.partition, str):
            return [_admit_partition(self.partition, memory)]
        if self.partition not in SEARCHES:
            raise ValidityError(
                f"partition cannot be {self.partition!r}{suggestion(self.partition, SEARCHES)}"
            )
        if responses is None:
            raise DomainError(
                f"partition={self.partition!r} is a search, which needs responses; give them, or "
                "the part of each exemplar"
            )
        if self.partition == "nearest":
            return list(_merged(memory, float(self.order)))
        count = int(np.prod([float(_bell(int(np.sum(memory.codes == k))))
                             for k in range(len(memory.classes))]))  # fmt: skip
        if count > MOST_PARTITIONS:
            raise DomainError(
                f"there are {count} partitions, and at most {MOST_PARTITIONS} are fitted; use "
                'partition="nearest", or give one'
            )
        return list(_every(memory))

    def _store(self, memory: Memory) -> Memory:
        parts = getattr(self, "partition_", None)
        if parts is None:  # as when people are fitted, each by the same partition
            if isinstance(self.partition, str):
                raise DomainError(
                    f"partition={self.partition!r} is a search; fit the model to all answers "
                    "first, and give its partition_ to the model of single people"
                )
            parts = _admit_partition(self.partition, memory)
        return _means(memory, parts, weighted=False)

    @property
    def prototypes_(self) -> np.ndarray:
        """What is remembered."""
        return self._memory.rows


class MixtureModel(LuceModel):
    """Choice by the density of each category, a mixture of a few Gaussians (Rosseel, 2002).

    P(A | x) = b_A f_A(x)^γ / Σ_K b_K f_K(x)^γ with f_A = Σⱼ πⱼ N(x; zⱼ, Σ). With one component
    that is a prototype model with a Gaussian decay, with one for each exemplar a kernel density
    estimate: a GCM with order = exponent = 2.

    Rosseel has several versions; here the components share a diagonal covariance, 1/(2c·wₘ) in
    dimension m, which is fitted to the answers as sensitivity and attention are in the `GCM`.
    Their means and shares are those of k-means among the exemplars of a category (hard expectation
    maximization), from several starts.

    Parameters
    ----------
    components : int or dict of category to int
        For each category; at most as many as it has exemplars.
    sensitivity, attention, bias, gamma, free, loss
        As in `GCM`.
    starts, random_state, max_iter
        As in `GCM`.

    Attributes
    ----------
    components_ : ndarray of shape (components, dimensions)
        The means, of all categories.
    shares_ : ndarray of shape (components,)
        π of each in its category.
    params_, classes_, function_, kernel_, free_
        As in `GCM`.
    log_likelihood_, sse_, aic_, bic_, fit_, subjects_
        As in `GCM`.

    Examples
    --------
    >>> X, y = [[0.0], [0.4], [5.0], [2.0], [2.4]], list("aaabb")
    >>> model = MixtureModel({"a": 2, "b": 1}).fit(X, y)
    >>> model.components_.ravel(), model.shares_.round(2)
    (array([0.2, 5. , 2.2]), array([0.67, 0.33, 1.  ]))
    """

    def __init__(
        self,
        components: int | Mapping[Any, int] = 1,
        sensitivity: float = 1.0,
        attention: Sequence[float] | None = None,
        bias: Sequence[float] | None = None,
        gamma: float = 1.0,
        free: Sequence[str] = ("sensitivity", "attention"),
        loss: str = "likelihood",
        *,
        starts: int = 10,
        random_state: Seed = 0,
        max_iter: int = 500,
    ) -> None:
        super().__init__(
            sensitivity, attention, bias, gamma, 2, 2, free, loss,
            starts=starts, random_state=random_state, max_iter=max_iter,
        )  # fmt: skip
        self.components = components

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return [name for name in super()._get_param_names() if name not in ("order", "exponent")]

    def _store(self, memory: Memory) -> Memory:
        parts = np.empty(len(memory.rows), dtype=np.int64)
        taken = 0
        for k, name in enumerate(memory.classes.tolist()):
            here = memory.codes == k
            wanted = self._wanted(name, int(here.sum()))
            labels = _k_means(memory.rows[here], memory.strengths[here], wanted)
            parts[here] = taken + labels
            taken += wanted
        return _means(memory, parts, weighted=True)

    def _wanted(self, name: Any, members: int) -> int:
        """Return how many components a category has."""
        count = self.components
        if isinstance(count, Mapping):
            if name not in count:
                raise ValidityError(f"components has no number for the category {name!r}")
            count = count[name]
        count = whole(self, "components", count)
        if count > members:
            raise DomainError(
                f"the category {name!r} has {members} exemplars, which cannot make {count} "
                "components"
            )
        return count

    @property
    def components_(self) -> np.ndarray:
        """The means."""
        return self._memory.rows

    @property
    def shares_(self) -> np.ndarray:
        """How much of its category each component is."""
        return self._memory.strengths


def _means(memory: Memory, parts: np.ndarray, weighted: bool) -> Memory:
    """Return the memory of the mean of each part, with strength 1 or its share of the category."""
    count = int(parts.max()) + 1
    H = memory.strengths[:, None] * (parts[:, None] == np.arange(count))
    sizes = H.sum(axis=0)
    rows = (H.T @ memory.rows) / np.where(sizes > 0, sizes, 1.0)[:, None]
    codes = memory.codes[[int(np.argmax(parts == j)) for j in range(count)]]
    totals = np.bincount(codes, sizes)
    strengths = sizes / totals[codes] if weighted else 1.0 * (sizes > 0)
    return Memory(rows, codes, memory.classes, strengths)


def _admit_partition(partition: Any, memory: Memory) -> np.ndarray:
    labels = list(partition)
    if len(labels) != len(memory.rows):
        raise DomainError(
            f"partition has {len(labels)} parts, one for each of {len(memory.rows)} exemplars is "
            "needed"
        )
    seen: dict[Any, int] = {}
    parts = np.array([seen.setdefault(label, len(seen)) for label in labels])
    for label, j in seen.items():
        mixed = np.unique(memory.codes[parts == j])
        if len(mixed) > 1:
            raise DomainError(
                f"the part {label!r} has exemplars of {memory.classes[mixed].tolist()}; a part "
                "belongs to one category"
            )
    return parts


def _every(memory: Memory) -> Iterator[np.ndarray]:
    """Yield all partitions that do not reach over categories."""
    sizes = [int(np.sum(memory.codes == k)) for k in range(len(memory.classes))]
    for combination in itertools.product(*(list(_partitions(n)) for n in sizes)):
        yield _joined(memory, combination)


def _partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of n things, as restricted growth strings.

    Examples
    --------
    >>> list(_partitions(2))
    [(0, 0), (0, 1)]
    """
    if n == 1:
        yield (0,)
        return
    for shorter in _partitions(n - 1):
        for j in range(max(shorter) + 2):
            yield (*shorter, j)


def _bell(n: int) -> int:
    """Return how many partitions n things have.

    Examples
    --------
    >>> [_bell(n) for n in range(6)]
    [1, 1, 2, 5, 15, 52]
    """
    row = [1]
    for _ in range(n):
        row = list(itertools.accumulate([row[-1], *row]))
    return row[0]


def _merged(memory: Memory, order: float) -> Iterator[np.ndarray]:
    """Yield a partition for each number of parts in each category, from nearest means."""
    chains = []
    for k in range(len(memory.classes)):
        rows = memory.rows[memory.codes == k]
        labels, chain = np.arange(len(rows)), [np.arange(len(rows))]
        while labels.max() > 0:
            means = np.array([rows[labels == j].mean(axis=0) for j in range(labels.max() + 1)])
            gaps = (np.abs(means[:, None] - means) ** order).sum(axis=2)
            gaps[np.tril_indices(len(gaps))] = np.inf
            i, j = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
            labels = np.where(labels == j, i, labels)
            labels = np.where(labels > j, labels - 1, labels)
            chain.append(labels)
        chains.append(chain)
    for combination in itertools.product(*chains):
        yield _joined(memory, combination)


def _joined(memory: Memory, combination: Any) -> np.ndarray:
    """Return one partition of all exemplars from those of the categories."""
    parts, taken = np.empty(len(memory.rows), dtype=np.int64), 0
    for k, labels in enumerate(combination):
        parts[memory.codes == k] = taken + np.asarray(labels)
        taken += int(max(labels)) + 1
    return parts


def _k_means(rows: np.ndarray, strengths: np.ndarray, count: int) -> np.ndarray:
    """Return the component of each exemplar; components are numbered by their first one."""
    if count == len(rows):
        return np.arange(len(rows))
    from sklearn.cluster import KMeans

    means = KMeans(count, n_init=20, random_state=0)
    found = with_openmp(lambda: means.fit(rows, sample_weight=strengths)).labels_
    first = [int(np.argmax(found == j)) for j in range(count)]
    return np.argsort(np.argsort(first))[found]
