"""The rational model: categories as guesses about clusters in the world.

Anderson (1991), Psychological Review 98, 409–429. Stimuli come from clusters that nobody has
counted; each is put where it most probably belongs, and a category is one more feature to be
predicted. As Neal (1998) noticed, the prior of its partitions is that of a Dirichlet process
mixture (Griffiths, Canini, Sanborn & Navarro, 2007; Sanborn, Griffiths & Navarro, 2010).
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer.cognition.learners.learner import Learner, Trials
from mercer.cognition.learners.rational_loops import (
    LOCAL_MAP,
    PARTICLE,
    learn_rational,
    predict_rational,
    simulate_rational,
)
from mercer.errors import ValidityError, suggestion
from mercer.values import positive, whole

__all__ = ["RationalModel"]

WAYS = {"local map": LOCAL_MAP, "particle": PARTICLE}


class RationalModel(Learner):
    """Guess the cluster, and predict the category from it (Anderson, 1991).

    With coupling c, after n stimuli a cluster of m members has the prior probability cm/((1−c) +
    cn), a new one (1−c)/((1−c) + cn). With α the strength of a uniform Dirichlet prior and V
    values,

        P(value | cluster) = (m_value + α)/(m + αV),

    independently for each dimension, the category being one more of them. Then

        P(category k | x) = Σ_cluster P(cluster | x) P(k | cluster),

    sharpened by an exponent φ. When the category is told, the stimulus goes into the cluster of
    the largest posterior probability ("local map", Anderson's algorithm), or into one that is
    drawn from it ("particle", one particle of Sanborn, Griffiths & Navarro, 2010). Read as a
    Dirichlet process mixture, its concentration is (1 − c)/c: `concentration_`.

    As a kernel: the averages over all partitions of a Dirichlet process prior make two stimuli as
    similar as it is probable that they share a cluster, which is positive semi-definite; one
    partition at a time, as here, is a random feature of it.

    Parameters
    ----------
    coupling : float
        c, between 0 and 1.
    value_prior, category_prior : float
        α > 0 of the dimensions, and of the category.
    choice : float
        φ ≥ 0: answers with probabilities P^φ/ΣP^φ; 1 matches them.
    algorithm : {"local map", "particle"}
    random_state : int
        Of the particle.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, categories)
        Probabilities of the categories in each trial, before its update.
    partition_ : ndarray of shape (trials,)
        The cluster of each trial; −1 where nothing was learned.
    concentration_ : float
    classes_ : ndarray

    Notes
    -----
    Dimensions are nominal. How many values one has is taken from all rows of `X`, those of trials
    without learning, too; a value that never occurred is expected like any other without members.
    Of clusters that are equally probable the oldest one gets the stimulus.

    Examples
    --------
    >>> X = [[1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 0, 0]]
    >>> RationalModel(coupling=0.5).fit(X, list("AAABBB")).partition_
    array([0, 0, 0, 1, 1, 1])
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "coupling": (0.01, 0.99),
        "value_prior": (0.01, 10.0),
        "category_prior": (0.001, 10.0),
        "choice": (0.1, 20.0),
    }
    saved: ClassVar[tuple[str, ...]] = ("_columns", "_values", "_state")

    def __init__(
        self,
        coupling: float,
        value_prior: float = 1.0,
        category_prior: float = 1.0,
        choice: float = 1.0,
        algorithm: str = "local map",
        random_state: int = 0,
    ) -> None:
        self.coupling = coupling
        self.value_prior = value_prior
        self.category_prior = category_prior
        self.choice = choice
        self.algorithm = algorithm
        self.random_state = random_state

    def _learn(self, trials: Trials) -> Self:
        values = [np.unique(column) for column in trials.stimuli.T]
        sizes = np.array([len(v) for v in values])
        T, d, K = len(trials.order), trials.stimuli.shape[1], len(trials.classes)
        counts = np.zeros((T, d, sizes.max()), dtype=np.int64)
        labels, members = np.zeros((T, K), dtype=np.int64), np.zeros(T, dtype=np.int64)
        trace, parts = np.empty((T, K)), np.empty(T, dtype=np.int64)
        count = learn_rational(
            _numbered(trials.stimuli, values), trials.codes, trials.order, trials.control, sizes,
            self._rule(), WAYS[self.algorithm], int(self.random_state),
            counts, labels, members, trace, parts,
        )  # fmt: skip
        self._finish(trials, self._choose(trace), -1)
        self.partition_, self._values = parts, values
        self._state = (counts[:count].copy(), labels[:count].copy(), members[:count].copy())
        self.concentration_ = (1 - self.coupling) / self.coupling
        return self

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        P = np.empty((len(stimuli), len(self.classes_)))
        sizes = np.array([len(v) for v in self._values])
        predict_rational(_numbered(stimuli, self._values), sizes, self._rule(), *self._state, P)
        return P

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        sharp = outputs**self.choice
        return np.asarray(sharp / sharp.sum(axis=1, keepdims=True))

    def _prepare(self, stimuli: np.ndarray) -> Any:
        values = [np.unique(column) for column in stimuli.T]
        return _numbered(stimuli, values), np.array([len(v) for v in values])

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        stimuli, sizes = task
        simulate_rational(
            stimuli, codes, orders, classes, sizes, self._rule(), WAYS[self.algorithm],
            int(self.random_state), float(self.choice), errors,
        )  # fmt: skip

    def _rule(self) -> tuple[float, ...]:
        # Up to a factor, the prior of a cluster is its size, and that of a new one this.
        new = (1 - self.coupling) / self.coupling
        return float(new), float(self.value_prior), float(self.category_prior)

    def _check(self) -> None:
        for name in ("coupling", "value_prior", "category_prior"):
            positive(self, name, getattr(self, name))
        if self.coupling >= 1:
            raise ValidityError(f"coupling must be between 0 and 1, found {self.coupling!r}")
        positive(self, "choice", self.choice, zero=True)
        whole(self, "random_state", self.random_state, least=0)
        if self.algorithm not in WAYS:
            raise ValidityError(
                f"algorithm cannot be {self.algorithm!r}{suggestion(str(self.algorithm), WAYS)}"
            )


def _numbered(rows: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
    """Return values as numbers; one that never occurred gets a number that no value has."""
    found = np.empty(rows.shape, dtype=np.int64)
    for i, known in enumerate(values):
        at = np.searchsorted(known, rows[:, i])
        hit = known[np.minimum(at, len(known) - 1)] == rows[:, i]
        found[:, i] = np.where(hit, at, len(known))
    return found
