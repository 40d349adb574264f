"""Hidden Markov models: sequences whose steps are emitted by states that nobody sees."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Domain, Items
from mercer.errors import DomainError, ValidityError
from mercer.models.base import choice, model
from mercer.models.em import LatentVariableModel
from mercer.models.emissions import CategoricalEmissions, GaussianEmissions
from mercer.models.hmm_loops import forward_backward, forward_logs, viterbi_paths
from mercer.models.parameter_arrays import (
    draw_outcomes,
    frequencies,
    probabilities,
    probability_names,
    probability_scores,
)
from mercer.models.sequences import lengths_of, spans
from mercer.threads import in_threads
from mercer.values import positive, whole

__all__ = ["HiddenMarkovModel"]

KINDS: dict[str, Any] = {"discrete": CategoricalEmissions, "gaussian": GaussianEmissions}
SMALLEST_TRANSITION = 1e-50  # a smaller probability needs logarithms
THREADED_FROM = 20_000_000  # products of weights and transitions


@model
class HiddenMarkovModel(LatentVariableModel):
    """A hidden Markov model: p(X) = Σ_Z p(z₁)·Π p(zₜ|zₜ₋₁)·Π p(xₜ|zₜ).

    A sequence has the length that it has: ln p(X) is given that length, and the empty sequence
    has probability 1. A missing observation is emitted by every state with probability 1, which
    is the same as summing over all that it could be. Sequences of any length are computed without
    underflow.

    The free parameters are the logarithms of odds of start, transition and emission probabilities
    against the last possible outcome (those that are zero stay so), or, of normal emissions,
    means and logarithms of standard deviations (with full covariances, Cholesky factors as in
    `GaussianDensity`).

    `fit` is the algorithm of Baum and Welch, from random parameters; `refine` begins with the
    present ones; `ascend` also tells the likelihood of each step. See Rabiner (1989).

    Parameters
    ----------
    states : int
        How many hidden states there are.
    emissions : {"discrete", "gaussian"}
        Symbols (strings, or sequences of anything hashable) or measurements (series of numbers, or
        of rows of numbers).
    start : array of shape (states,), optional
        Probabilities of the first state. All parameters are given, or all of them are learned.
    transition : array of shape (states, states), optional
        From row to column.
    emission : array of shape (states, symbols), optional
        Of discrete emissions, in the order of `alphabet`.
    alphabet : sequence, optional
        The symbols, by default 0, 1, ... for given probabilities; otherwise those of the items
        that it is first fitted to. Any other symbol is refused.
    means : array of shape (states, channels), optional
        Of normal emissions.
    covariances : array, optional
        Variances of shape (states, channels), or matrices for ``covariance="full"``.
    covariance : {"diag", "full"}
    smoothing : float
        Added to each expected count of an emitted symbol in fitting. With zero, a symbol of the
        alphabet that a state never emitted in training is impossible in that state.
    floor : float
        Variances do not fall below this share of a channel's variance in all items.
    missing : object
        The symbol of a missing observation, such as "N" in DNA; None and NaN always are.
    iterations, tolerance, starts : int, float, int
        Fitting takes at most so many steps, ends with one that gains less than so much per
        sequence, and takes the best of so many random beginnings.

    Examples
    --------
    >>> model = HiddenMarkovModel(
    ...     2,
    ...     start=[0.5, 0.5],
    ...     transition=[[0.9, 0.1], [0.1, 0.9]],
    ...     emission=[[0.8, 0.2], [0.2, 0.8]],
    ...     alphabet="ab",
    ... )
    >>> model.log_density(["aa", "ab", "a?", ""]).round(3)
    array([-1.133, -1.726, -0.693,  0.   ])
    >>> model.viterbi(["aaabbb"])[0]
    array([0, 0, 0, 1, 1, 1])
    """

    states: int
    emissions: str = "discrete"
    start: Any = None
    transition: Any = None
    emission: Any = None
    alphabet: Any = None
    means: Any = None
    covariances: Any = None
    covariance: str = "diag"
    smoothing: float = 0.0
    floor: float = 1e-3
    missing: Any = "?"
    iterations: int = 200
    tolerance: float = 1e-4
    starts: int = 1

    whole_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._normalize("states", whole(self, "states", self.states))
        choice(self, "emissions", self.emissions, tuple(KINDS))
        choice(self, "covariance", self.covariance, ("diag", "full"))
        self._normalize("smoothing", positive(self, "smoothing", self.smoothing, zero=True))
        self._normalize("floor", positive(self, "floor", self.floor))
        self._check_settings()
        needed = ("start", "transition", *KINDS[self.emissions].fields)
        every = ("start", "transition", *(f for kind in KINDS.values() for f in kind.fields))
        for name in every:
            if name not in needed and getattr(self, name) is not None:
                raise ValidityError(f"{self.emissions} emissions have no {name}")
        given = [name for name in needed if getattr(self, name) is not None]
        if given and len(given) < len(needed):
            lacking = next(name for name in needed if name not in given)
            raise ValidityError(
                f"HiddenMarkovModel has {given[0]}, but no {lacking}; give all parameters, or "
                "none and fit it"
            )
        if given:
            n = self.states
            self._normalize("start", probabilities(self, "start", self.start, (n,)))
            step = probabilities(self, "transition", self.transition, (n, n))
            self._normalize("transition", step)
        for name, value in KINDS[self.emissions].check(self).items():
            self._normalize(name, value)

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return KINDS[self.emissions].domain(self)

    @property
    def fitted(self) -> bool:
        return self.start is not None

    @cached_property
    def _emissions(self) -> Any:
        return KINDS[self.emissions](self)

    @cached_property
    def _chain(self) -> tuple[Any, ...]:
        """The hidden chain in the form that `hmm_loops` take."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.start), np.log(self.transition)
        positive = [p[p > 0].min() for p in (self.start, self.transition)]
        return self.start, self.transition, *logs, min(positive) >= SMALLEST_TRANSITION

    def emission_logs(self, points: Any) -> np.ndarray:
        """Return ln p(xₜ|z) of all steps of all sequences, one column for each state."""
        found = self._emissions.table(self._emissions.observations(points))
        return found.logs[found.rows]

    # ---- along the chain, many sequences at a time ------------------------------------------

    def _each(self, points: Any, work: Callable[..., None]) -> None:
        """Do work on runs of sequences: their place, observations and starts."""
        observed = self._emissions.observations(points)

        def one(span: tuple[int, int]) -> None:
            first, last = span
            starts = np.asarray(points.starts[first : last + 1], dtype=np.int64)
            part = observed[starts[0] : starts[-1]]
            work(slice(first, last), part, starts - starts[0])

        work_ahead = len(observed) * self.states**2
        in_threads(one, spans(points.starts), work_ahead > THREADED_FROM)

    def _posteriors(self, part: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return ln p, the probabilities of states and expected transitions of sequences."""
        n, states = len(starts) - 1, self.states
        logs, gamma = np.empty(n), np.empty((len(part), states))
        xi = np.empty((n, states, states))
        forward_backward(self._chain, tuple(self._emissions.table(part)), starts, logs, gamma, xi)
        return logs, gamma, xi

    def log_densities(self, points: Any) -> np.ndarray:
        found = np.empty(len(points))

        def work(place: slice, part: np.ndarray, starts: np.ndarray) -> None:
            seen = tuple(self._emissions.table(part))
            forward_logs(self._chain, seen, starts, found[place])

        self._each(points, work)
        return found

    def scores(self, points: Any) -> np.ndarray:
        found = np.empty((len(points), len(self.parameter_names)))

        def work(place: slice, part: np.ndarray, starts: np.ndarray) -> None:
            _, gamma, xi = self._posteriors(part, starts)
            scores = [
                probability_scores(_first(gamma, starts), self.start),
                probability_scores(xi, self.transition),
                self._emissions.scores(*self._emissions.statistics(part, gamma, starts)),
            ]
            np.concatenate(scores, axis=1, out=found[place])

        self._each(points, work)
        return found

    @property
    def parameter_names(self) -> list[str]:
        self.require_fitted()
        states = range(self.states)
        return (
            probability_names("start", self.start, states)
            + probability_names("transition", self.transition, states, states)
            + self._emissions.names
        )

    # ---- hidden states ----------------------------------------------------------------------

    def viterbi(self, X: Items) -> list[np.ndarray]:
        """Return the most probable hidden path of each sequence."""
        points: Any = self._admit(X)
        path = np.empty(points.starts[-1], dtype=np.int64)

        def work(place: slice, part: np.ndarray, starts: np.ndarray) -> None:
            logs = np.empty(len(starts) - 1)
            here = slice(points.starts[place.start], points.starts[place.stop])
            viterbi_paths(
                self._chain, tuple(self._emissions.table(part)), starts, logs, path[here]
            )
            _refuse_impossible(logs, place.start)

        self._each(points, work)
        return np.split(path, points.starts[1:-1])

    def posterior(self, X: Items) -> list[np.ndarray]:
        """Return the probability of each state at each step, given the whole sequence."""
        points: Any = self._admit(X)
        found = np.empty((points.starts[-1], self.states))

        def work(place: slice, part: np.ndarray, starts: np.ndarray) -> None:
            logs, gamma, _ = self._posteriors(part, starts)
            _refuse_impossible(logs, place.start)
            found[points.starts[place.start] : points.starts[place.stop]] = gamma

        self._each(points, work)
        return np.split(found, points.starts[1:-1])

    # ---- learning and drawing ---------------------------------------------------------------

    def begin(self, points: Any, weights: np.ndarray, rng: np.random.Generator) -> Self:
        emitted = KINDS[self.emissions].begin(self, points, weights, rng)
        n = self.states
        # Not quite uniform: equal states would stay equal.
        step = (rng.dirichlet(np.ones(n), size=n) + 1 / n) / 2
        return self.set_params(start=np.full(n, 1 / n), transition=step, **emitted)

    def improve(self, points: Any, weights: np.ndarray) -> tuple[Self, float]:
        logs, sums = np.empty(len(points)), {}

        def work(place: slice, part: np.ndarray, starts: np.ndarray) -> None:
            logs[place], gamma, xi = self._posteriors(part, starts)
            w = weights[place]
            some = w > 0  # a sequence without weight may be impossible
            _refuse_impossible(np.where(some, logs[place], 0.0), place.start)
            parts = (_first(gamma, starts), xi, *self._emissions.statistics(part, gamma, starts))
            sums[place.start] = [np.tensordot(w[some], p[some], axes=1) for p in parts]

        self._each(points, work)
        # In the order of the sequences, so that threads do not change the rounding.
        ordered = [sums[key] for key in sorted(sums)]
        first, xi, *rest = (sum(parts) for parts in zip(*ordered, strict=True))
        better = self.set_params(
            start=frequencies(first, self.start),
            transition=frequencies(xi, self.transition),
            **self._emissions.estimate(points, weights, *rest),
        )
        counted = weights > 0
        return better, float(weights[counted] @ logs[counted]) + self._emissions.log_prior()

    def sample(self, count: int, seed: int = 0, length: ArrayLike = 100) -> list[Any]:
        """Draw `count` sequences of a length, or of one length for each."""
        return self.simulate(lengths_of(count, length), seed)[0]

    def simulate(self, lengths: Any, seed: int = 0) -> tuple[list[Any], list[np.ndarray]]:
        """Draw sequences of these lengths, together with their hidden paths."""
        self.require_fitted()
        sizes, rng = lengths_of(len(lengths), lengths), np.random.default_rng(seed)
        states = np.zeros((len(sizes), max([0, *sizes])), dtype=np.int64)
        for t in range(states.shape[1]):
            p = self.transition[states[:, t - 1]] if t else np.tile(self.start, (len(sizes), 1))
            states[:, t] = draw_outcomes(p, rng)
        paths = [row[:size] for row, size in zip(states, sizes, strict=True)]
        drawn = self._emissions.draw(np.concatenate(paths or [sizes]), rng)
        parts = np.split(drawn, np.cumsum(sizes)[:-1]) if len(sizes) else []
        return [self._emissions.as_item(part) for part in parts], paths


def _first(gamma: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the probabilities of the first state; none for a sequence without steps."""
    found = np.zeros((len(starts) - 1, gamma.shape[1]))
    some = starts[:-1] < starts[1:]
    found[some] = gamma[starts[:-1][some]]
    return found


def _refuse_impossible(logs: np.ndarray, first: int) -> None:
    bad = np.flatnonzero(logs == -np.inf)
    if len(bad):
        raise DomainError(
            f"item {first + bad[0]} of X is impossible under HiddenMarkovModel, so that nothing "
            "can be said of its hidden states"
        )
