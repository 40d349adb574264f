"""Populations: people whose parameters differ, found by maximum marginal likelihood.

Person s has coordinates u_s ~ N(μ, diag σ²), which nobody sees; the likelihood of μ and σ is

    L(μ, σ) = Π_s ∫ p(answers of s | u) N(u; μ, diag σ²) du.

Expectation maximization (Dempster, Laird & Rubin, 1977): given μ and σ, what is u_s like? Its mode
and curvature, by Laplace's approximation; or a weighted sample around them (Monte Carlo EM, Wei &
Tanner, 1990). Then μ and σ are the moments of that. People with few answers are drawn to μ: a
person's estimate is shrunken as much as the others suggest.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from mercer.cognition.choices.fitting import bic
from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.people.coordinates import Coordinates
from mercer.cognition.people.identify import identification
from mercer.cognition.people.likelihoods import ChoicePeople, People, people_of
from mercer.cognition.people.modes import Modes, find_modes
from mercer.errors import ConvergenceWarning, ModelWarning, ValidityError, suggestion
from mercer.values import Seed, whole

__all__ = ["Population", "fit_people", "fit_population"]

METHODS = ("laplace", "mcem")
LEAST_SPREAD = 1e-3  # of σ: people who are alike
LONG, CREEP = 20, 10.0  # steps, and tolerances in all of them, by which a search only creeps
WIDER = 1.3  # the sample's standard deviations, compared with the posterior's


@dataclass(frozen=True)
class Population:
    """A group of people, and each of them.

    Attributes
    ----------
    space : Coordinates
    center, spread : ndarray of shape (D,)
        μ and σ, in coordinates.
    modes : Modes
        The coordinates of each person, with their covariance.
    log_likelihood : float
        The marginal one, log L(μ, σ).
    answers : int
        How many there were.
    history : tuple of float
        The marginal log-likelihood after each step.
    converged : bool
    model : object
    people : People
    notes : tuple of str
        What a reader should know: people who always answered the same, parameters that the design
        cannot tell apart.

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four, simulate_people
    >>> one = GCM(3.0, free=("sensitivity",))
    >>> made = simulate_people(one, five_four(), subjects=10, trials=20, seed=1)
    >>> found = fit_people(one, made.experiment)
    >>> found.center.shape, found.answers
    ((1,), 1800)
    """

    space: Coordinates
    center: np.ndarray
    spread: np.ndarray
    modes: Modes
    log_likelihood: float
    answers: int
    history: tuple[float, ...]
    converged: bool
    model: Any
    people: Any
    notes: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        """How many numbers describe the population: μ and σ."""
        return 2 * self.space.size

    @property
    def bic(self) -> float:
        """k log n − 2 log L, n being the number of people: they are what was drawn."""
        return bic(self.log_likelihood, self.parameters, len(self.modes.at))

    @property
    def persons(self) -> pd.DataFrame:
        """Return the parameters of each person (the mode), a row for each."""
        return pd.DataFrame([self.space.readable(u) for u in self.modes.at])

    @property
    def typical(self) -> dict[str, float]:
        """Return the parameters of the person at μ."""
        return self.space.readable(self.center)

    def intervals(self, level: float = 0.95) -> pd.DataFrame:
        """Return confidence intervals of μ and σ, in coordinates.

        The information about them is the sum over people of squared scores (Berndt, Hall, Hall &
        Hausman, 1974); with fewer than twenty people it is not to be trusted, and `posterior` is
        to be preferred. σ has its interval on the scale of logarithms.
        """
        gaps = self.modes.at - self.center
        second = gaps**2 + np.diagonal(self.modes.covariance, axis1=1, axis2=2)
        scores = np.hstack([gaps / self.spread**2, second / self.spread**2 - 1])
        error = np.sqrt(np.diag(np.linalg.pinv(scores.T @ scores)))
        z, D = norm.ppf((1 + level) / 2), self.space.size
        low = np.concatenate([self.center - z * error[:D], self.spread * np.exp(-z * error[D:])])
        high = np.concatenate([self.center + z * error[:D], self.spread * np.exp(z * error[D:])])
        names = [f"{kind} of {n}" for kind in ("center", "spread") for n in self.space.names]
        best = np.concatenate([self.center, self.spread])
        return pd.DataFrame({"estimate": best, "low": low, "high": high}, index=names)

    def __str__(self) -> str:
        who = f"{len(self.modes.at)} people, {self.answers} answers"
        lines = [f"{who}: log-likelihood {self.log_likelihood:.2f}, BIC {self.bic:.2f}"]
        for name, mu, sigma in zip(self.space.names, self.center, self.spread, strict=True):
            lines.append(f"  {name}: center {mu:.3f}, spread {sigma:.3f}")
        return "\n".join(lines)


def fit_people(
    model: Any,
    experiment: Experiment,
    free: Sequence[str] | None = None,
    method: str = "laplace",
    *,
    draws: int = 200,
    random_state: Seed = 0,
    max_iter: int = 300,
    tolerance: float = 1e-3,
) -> Population:
    """Fit a population of people by maximum marginal likelihood.

    Parameters
    ----------
    model : choice model or learner
        Its parameters that are not free are those of everyone.
    experiment : Experiment
        With responses of shape (subjects, stimuli, categories) for choice models, or with trials
        for learners.
    free : sequence of str, optional
        What differs between people. By default the free parameters of a choice model, and all
        that can be fitted of a learner.
    method : {"laplace", "mcem"}
        How the integral over a person's parameters is taken: from its mode and curvature, or from
        a weighted sample around them.
    draws : int
        Size of that sample.
    random_state : int, Generator or None
        Of the sample, which stays the same in all steps.
    max_iter : int
        Largest number of steps.
    tolerance : float
        Of the log-likelihood, and of center and spread, between two steps.

    Returns
    -------
    Population
        The center and spread of people, and an estimate for each of them.

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four, simulate_people
    >>> made = simulate_people(GCM(3.0), five_four(), subjects=30, trials=20, seed=1)
    >>> found = fit_people(GCM(), made.experiment)
    >>> found.persons.shape, found.converged
    ((30, 5), True)
    """
    people = people_of(model, experiment, free)
    return fit_population(
        people, model, method, draws=draws, random_state=random_state, max_iter=max_iter,
        tolerance=tolerance,
    )  # fmt: skip


def fit_population(
    people: People,
    model: Any,
    method: str = "laplace",
    *,
    draws: int = 200,
    random_state: Seed = 0,
    max_iter: int = 300,
    tolerance: float = 1e-3,
) -> Population:
    """Do what `fit_people` does, for people who are known already."""
    if method not in METHODS:
        raise ValidityError(f"method cannot be {method!r}{suggestion(str(method), METHODS)}")
    whole(fit_people, "draws", draws)
    center, spread = people.start(), np.full(people.space.size, 0.5)
    noise = np.random.default_rng(random_state).standard_normal((draws, *_shape(people)))
    modes, history, converged = None, [], False
    drifting: tuple[str, ...] = ()
    for _ in range(whole(fit_people, "max_iter", max_iter)):
        modes = find_modes(people, center, spread, None if modes is None else modes.at)
        if method == "laplace":
            values, first, second = laplace_moments(modes, center, spread)
        else:
            values, first, second = sampled_moments(people, modes, center, spread, noise)
        history.append(float(values.sum()))
        before = np.concatenate([center, spread])
        center = first.mean(axis=0)
        variance = np.mean(second - 2 * first * center + center**2, axis=0)
        spread = np.sqrt(np.maximum(variance, LEAST_SPREAD**2))
        moved = np.abs(np.concatenate([center, spread]) - before)
        flat = len(history) > 1 and abs(history[-1] - history[-2]) < tolerance
        if flat and moved.max() < tolerance:
            converged = True
            break
        if len(history) > LONG and abs(history[-1] - history[-1 - LONG]) < CREEP * tolerance:
            converged, drifting = True, _drifting(people.space, moved >= tolerance)
            break
    if not converged:
        change = abs(history[-1] - history[-2]) if len(history) > 1 else np.inf
        warnings.warn(
            f"after {max_iter} steps the log-likelihood of the population still changes by "
            f"{change:.2g}; raise max_iter",
            ConvergenceWarning,
            stacklevel=3,
        )
    assert modes is not None
    return Population(
        people.space, center, spread, modes, history[-1], people.observations(), tuple(history),
        converged, model, people,
        (*people.remarks(), *drifting, *_unidentified(people, center)),
    )  # fmt: skip


def _drifting(space: Coordinates, moves: np.ndarray) -> tuple[str, ...]:
    """Return what there is to know of parameters that move while the likelihood does not."""
    names = [f"{kind} of {name}" for kind in ("center", "spread") for name in space.names]
    which = ", ".join(name for name, moved in zip(names, moves, strict=True) if moved)
    return (f"{which} could go on without a change of the likelihood: the answers hardly tell it",)


def _unidentified(people: People, center: np.ndarray) -> tuple[str, ...]:
    """Return, and warn of, what the stimuli that were asked about cannot tell of μ."""
    if not isinstance(people, ChoicePeople):
        return ()
    totals = people.counts.sum(axis=(0, 2))
    given = people.space.of(people.space.layout.given)
    # A fit may end where answers are certain, and equal weights may lie between two that are as
    # good: a design is at fault only if it tells nothing elsewhere either.
    rng = np.random.default_rng(0)
    places = [center, *(given + rng.normal(size=(3, len(given))))]
    found = [identification(people.space, people.rule, u, totals) for u in places]
    if not any(one.identified for one in found):
        lost = "; ".join(found[0].warnings)
        warnings.warn(f"some estimates mean nothing: {lost}", ModelWarning, stacklevel=4)
    return found[0].warnings


def laplace_moments(
    modes: Modes, center: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the marginal log-likelihood, E u and E u² of each person."""
    D = len(center)
    prior = norm.logpdf(modes.at, center, spread).sum(axis=1)
    volume = 0.5 * (D * np.log(2 * np.pi) + np.linalg.slogdet(modes.covariance)[1])
    second = modes.at**2 + np.diagonal(modes.covariance, axis1=1, axis2=2)
    return modes.log_likelihoods + prior + volume, modes.at, second


def sampled_moments(
    people: People, modes: Modes, center: np.ndarray, spread: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same from samples that are weighted by p(answers|u) N(u; μ, σ²)/q(u)."""
    factors = WIDER * np.linalg.cholesky(modes.covariance)
    U = modes.at + np.einsum("sij,rsj->rsi", factors, noise)
    log_q = norm.logpdf(noise).sum(axis=2) - np.linalg.slogdet(factors)[1]
    R, S, D = U.shape
    log_p = people.log_likelihoods(U.reshape(-1, D), np.tile(np.arange(S), R)).reshape(R, S)
    logs = log_p + norm.logpdf(U, center, spread).sum(axis=2) - log_q
    top = logs.max(axis=0)
    weights = np.exp(logs - top)
    values = top + np.log(weights.mean(axis=0))
    weights /= weights.sum(axis=0)
    first = np.einsum("rs,rsd->sd", weights, U)
    return values, first, np.einsum("rs,rsd->sd", weights, U**2)


def _shape(people: People) -> tuple[int, int]:
    return people.count, people.space.size
