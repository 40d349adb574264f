"""SUSTAIN: clusters that are recruited by surprise, with attention to dimensions.

Love, Medin & Gureckis (2004), Psychological Review 111, 309–332; numbers of equations are theirs.
It begins with one cluster, at the first stimulus, and recruits another at each stimulus that it
answers wrongly. So it ends with few clusters, as a prototype model, where few are enough, and
with one for each stimulus, as an exemplar model, where exceptions need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.cognition.experiments.stimuli import admit_stimuli, named_columns
from mercer.cognition.learners.learner import Learner, Trials, admit_new, admit_trials, softmax
from mercer.cognition.learners.sustain_loops import learn_sustain, simulate_sustain
from mercer.cognition.learners.sustain_slopes import slope_sustain
from mercer.domains import Items
from mercer.errors import ValidityError, suggestion
from mercer.values import positive, whole

__all__ = ["SUSTAIN"]

KINDS = ("nominal", "continuous")
TIES = ("first", "random")


@dataclass(frozen=True)
class Coding:
    """How dimensions become positions: a nominal one has a position for each of its values.

    Attributes
    ----------
    values : tuple of ndarray or None
        Those of each nominal dimension; None for a continuous one.
    """

    values: tuple[Any, ...]

    @property
    def starts(self) -> np.ndarray:
        """Where the positions of each dimension begin, and where the last ones end."""
        return np.cumsum([0, *(1 if v is None else len(v) for v in self.values)])

    @property
    def scale(self) -> np.ndarray:
        """What turns differences of positions into distances between 0 and 1."""
        return np.array([1.0 if v is None else 0.5 for v in self.values])

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return stimuli in positions; a value that never occurred is at none of them."""
        parts = [
            rows[:, [i]] if v is None else (rows[:, [i]] == v).astype(np.float64)
            for i, v in enumerate(self.values)
        ]
        return np.ascontiguousarray(np.hstack(parts))


class SUSTAIN(Learner):
    """Learn by clusters, and recruit one whenever the answer was wrong (Love et al., 2004).

    Each dimension has positions: as many as values if it is nominal, one if it is continuous. With
    μ_ij the distance of the stimulus to cluster j on dimension i, from 0 to 1, and λᵢ its tuning,

        act_j = Σᵢ λᵢ^r exp(−λᵢ μ_ij) / Σᵢ λᵢ^r  (eq. 5),

    and only the most active cluster has an output, which others inhibit (eq. 6):

        out = act^β / Σ_j act_j^β · act,  C_k = w_k out,  P(k) = e^{d·C_k} / Σ e^{d·C}.

    If another category has the largest C, or without supervision if act < τ, a new cluster is put
    on the stimulus, and wins. The winner H learns, with t_k = max(1, C_k) for the right category
    and min(0, C_k) for others:

        ΔH = η(x − H),  Δλᵢ = η exp(−λᵢμᵢ)(1 − λᵢμᵢ),  Δw_k = η(t_k − C_k)·out.

    As a kernel: act is a sum of Laplacian kernels, one for each dimension, which is positive
    semi-definite for any λ; the competition is not linear in it, so the model is no RKHS function.

    Parameters
    ----------
    focus : float
        r ≥ 0: how much the most tuned dimension dominates.
    competition : float
        β ≥ 0: how strongly clusters inhibit each other.
    choice : float
        d ≥ 0: how decided the answers are.
    rate : float
        η from 0 to 1.
    threshold : float
        τ from 0 to 1, for learning without supervision: a stimulus that activates nothing so much
        gets a cluster of its own.
    dimensions : {"nominal", "continuous"} or one of these for each dimension
        Continuous dimensions are best scaled to numbers from 0 to 1.
    max_clusters : int, optional
        Largest number of clusters.
    ties : {"first", "random"}
        Which of several equally active clusters wins: the one that was recruited first, or any.
        The paper does not say; with the first, as in its authors' program, the model comes closest
        to the published fit.
    random_state : int
        For the ties.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, categories)
        Probabilities of the categories in each trial, before its update.
    clusters_ : ndarray of shape (clusters, positions)
    association_ : ndarray of shape (clusters, categories)
        w at the end.
    tuning_ : ndarray of shape (dimensions,)
        λ at the end.
    winners_ : ndarray of shape (trials,)
        Which cluster learned in each trial (or, in trials without learning, won).
    supervised_ : bool
    classes_ : ndarray
        Of the categories; without supervision the numbers of the clusters.

    Notes
    -----
    The paper leaves open what happens when a stimulus is answered wrongly on top of a cluster, as
    with probabilistic categories: here no second cluster is put there. Before there is any cluster
    all answers are equally probable.

    Examples
    --------
    >>> from mercer.cognition import shj
    >>> model = SUSTAIN(9.01245, 1.252233, 16.924073, 0.092327)  # of the paper
    >>> [float(model.simulate(shj(kind), 100).mean().round(2)) for kind in ("I", "II", "VI")]
    [0.02, 0.06, 0.19]
    >>> problem = shj("I")
    >>> trials = problem.trials(np.random.default_rng(0))
    >>> model.fit(problem.stimuli[trials], problem.categories[trials]).clusters_.shape
    (2, 6)
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "focus": (0.05, 20.0),
        "competition": (0.05, 20.0),
        "choice": (0.1, 50.0),
        "rate": (0.005, 1.0),
    }
    sloped = ("focus", "competition", "choice", "rate", "threshold")
    jumps = True  # another cluster wins, or is recruited
    saved: ClassVar[tuple[str, ...]] = ("_columns", "_coding")

    def __init__(
        self,
        focus: float,
        competition: float,
        choice: float,
        rate: float,
        threshold: float = 0.0,
        dimensions: Any = "nominal",
        max_clusters: int | None = None,
        ties: str = "first",
        random_state: int = 0,
    ) -> None:
        self.focus = focus
        self.competition = competition
        self.choice = choice
        self.rate = rate
        self.threshold = threshold
        self.dimensions = dimensions
        self.max_clusters = max_clusters
        self.ties = ties
        self.random_state = random_state

    def fit(
        self, X: Items, categories: ArrayLike | None = None, *, control: ArrayLike | None = None
    ) -> Self:
        """Learn trial by trial, in the order of the rows.

        Parameters
        ----------
        X : array of shape (trials, dimensions)
            The stimulus of each trial.
        categories : sequence of shape (trials,), optional
            The right answer of each trial. Without it the model sorts the stimuli into clusters.
        control : sequence of int, optional
            What each trial does: 0 (learn, the default), 1 (forget everything, then learn) or 2
            (answer without learning).
        """
        self._check()
        if categories is None:
            return self._learn(unsupervised_trials(X), supervised=False)
        return self._learn(admit_trials(X, categories, control))

    def _learn(self, trials: Trials, supervised: bool = True) -> Self:
        task = self._task(trials, supervised)
        trace, winners, stop, H, w, tuning = self._run(trials, task, supervised)
        self._finish(trials, trace, stop, H, w, tuning)
        self.clusters_, self.association_ = H.copy(), w.copy()
        self.tuning_, self.winners_, self._coding = tuning, winners[:, 1].copy(), task[0]
        self.supervised_ = supervised
        if not supervised:
            self.classes_ = np.arange(len(H))
        return self

    def _task(self, trials: Trials, supervised: bool) -> tuple[Coding, np.ndarray, np.ndarray]:
        """Return the coding of the stimuli, their rows, and what the outputs should be."""
        coding = self._code(trials.stimuli)
        rows = coding(trials.stimuli)
        return coding, rows, _one_hot(trials.codes, len(trials.classes)) if supervised else rows

    def _run(self, trials: Trials, task: Any, supervised: bool) -> Any:
        coding, rows, targets = task
        T = len(trials.order)
        H, w = np.zeros((self._most(T), rows.shape[1])), np.zeros((self._most(T), len(targets.T)))
        tuning, trace = np.ones(len(coding.values)), np.empty((T, len(targets.T)))
        winners = np.empty((T, 2), dtype=np.int64)
        stop, count = learn_sustain(
            rows, targets, coding.starts, coding.scale, trials.order, trials.control,
            self._rule(), self._options(T, supervised), H, w, tuning, trace, winners,
        )  # fmt: skip
        return trace, winners, stop, H[:count], w[:count], tuning

    def _slopes(self, trials: Trials, seeds: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        task = self._task(trials, True)
        trace, winners, stop, *_ = self._run(trials, task, True)
        slopes = np.zeros((*trace.shape, seeds.shape[1]))
        if stop < 0:
            coding, rows, targets = task
            slope_sustain(
                rows, targets, coding.starts, coding.scale, trials.order, trials.control,
                self._rule(), seeds, winners, self._most(len(trials.order)), trace, slopes,
            )  # fmt: skip
        return stop, trace, slopes

    def activations(self, X: Items) -> np.ndarray:
        """Return how active each cluster (column) is for each stimulus (row).

        Examples
        --------
        >>> model = SUSTAIN(1.0, 1.0, 1.0, 0.1, threshold=0.5).fit([[0, 0], [0, 1], [1, 1]])
        >>> model.activations([[0, 0]]).shape
        (1, 2)
        """
        rows = admit_new(X, "X", self.n_features_in_, self._columns)
        coded, total = self._coding(rows), np.zeros((len(rows), len(self.clusters_)))
        weights, starts = self.tuning_**self.focus, self._coding.starts
        for i, (scale, weight) in enumerate(zip(self._coding.scale, weights, strict=True)):
            here = slice(starts[i], starts[i + 1])
            gaps = np.abs(coded[:, None, here] - self.clusters_[None, :, here]).sum(axis=2)
            # A value that never occurred would have a position of its own.
            unknown = (coded[:, here].sum(axis=1) == 0) & (self._coding.values[i] is not None)
            mu = scale * (gaps + unknown[:, None])
            total += weight * np.exp(-self.tuning_[i] * mu)
        return total / weights.sum()

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        active = self.activations(stimuli)
        if not self.supervised_:
            return np.log(active) * self.competition
        won = active.argmax(axis=1)
        top = active.max(axis=1)
        out = top / ((active / top[:, None]) ** self.competition).sum(axis=1)
        return out[:, None] * self.association_[won]

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        return softmax(self.choice * outputs if self.supervised_ else outputs)

    def _prepare(self, stimuli: np.ndarray) -> Any:
        return self._code(stimuli), stimuli

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        coding, stimuli = task
        simulate_sustain(
            coding(stimuli), _one_hot(codes, classes), coding.starts, coding.scale, codes, orders,
            self._rule(), self._options(orders.shape[1], True), errors,
        )  # fmt: skip

    def _rule(self) -> tuple[float, ...]:
        return tuple(float(getattr(self, name)) for name in self.sloped)

    def _options(self, trials: int, supervised: bool) -> tuple[bool, bool, int, int]:
        return supervised, self.ties == "random", int(self.random_state), self._most(trials)

    def _most(self, trials: int) -> int:
        return trials if self.max_clusters is None else min(trials, int(self.max_clusters))

    def _code(self, stimuli: np.ndarray) -> Coding:
        d = stimuli.shape[1]
        kinds = [self.dimensions] * d if isinstance(self.dimensions, str) else self.dimensions
        if len(kinds) != d:
            raise ValidityError(
                f"dimensions names {len(kinds)} kinds, but the stimuli have {d} dimensions"
            )
        for kind in kinds:
            if kind not in KINDS:
                raise ValidityError(f"dimensions cannot be {kind!r}{suggestion(str(kind), KINDS)}")
        columns = zip(kinds, stimuli.T, strict=True)
        return Coding(tuple(np.unique(c) if kind == "nominal" else None for kind, c in columns))

    def _check(self) -> None:
        for name in ("focus", "competition", "choice", "rate", "threshold"):
            positive(self, name, getattr(self, name), zero=True)
        for name in ("rate", "threshold"):
            if getattr(self, name) > 1:
                raise ValidityError(f"{name} must be from 0 to 1, found {getattr(self, name)!r}")
        if self.max_clusters is not None:
            whole(self, "max_clusters", self.max_clusters)
        whole(self, "random_state", self.random_state, least=0)
        if self.ties not in TIES:
            raise ValidityError(f"ties cannot be {self.ties!r}{suggestion(str(self.ties), TIES)}")


def unsupervised_trials(X: Items) -> Trials:
    """Return a sequence of trials without right answers."""
    stimuli = np.ascontiguousarray(admit_stimuli(X, "X"))
    n = len(stimuli)
    numbers, none = np.arange(n), np.zeros(n, dtype=np.int64)
    return Trials(stimuli, none, np.arange(1), numbers, none, named_columns(X))


def _one_hot(codes: np.ndarray, classes: int) -> np.ndarray:
    return (codes[:, None] == np.arange(classes)).astype(np.float64)
