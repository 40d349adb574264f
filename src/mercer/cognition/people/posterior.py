"""Posteriors: all populations that the answers allow, and how well each model predicts answers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.people.chains import effective_size, split_rhat
from mercer.cognition.people.coordinates import Coordinates
from mercer.cognition.people.likelihoods import people_of
from mercer.cognition.people.nuts import sample_with_slopes
from mercer.cognition.people.population import fit_people
from mercer.cognition.people.sampler import Draws, Prior, SamplingTask, sample
from mercer.errors import ConvergenceWarning, ValidityError, suggestion
from mercer.values import Seed, positive, whole

__all__ = ["WAIC", "Posterior", "posterior"]

SAMPLERS = {"gibbs": sample, "nuts": sample_with_slopes}
POOR = 1.05  # R̂ from which on a chain has not arrived


@dataclass(frozen=True)
class WAIC:
    """The widely applicable information criterion (Watanabe, 2010).

    Attributes
    ----------
    elpd : float
        Expected log density of new answers of these people: Σ log mean p − `parameters`.
    parameters : float
        The effective number: the sum of variances of log p.
    standard_error : float
        Of `elpd`, from its parts, one for each person.
    waic : float
        −2 `elpd`, to be compared with other models of the same answers; smaller is better.
    """

    elpd: float
    parameters: float
    standard_error: float

    @property
    def waic(self) -> float:
        return -2 * self.elpd


@dataclass(frozen=True)
class Posterior:
    """Draws of a population and its people.

    Attributes
    ----------
    space : Coordinates
    draws : Draws
    model, people : object

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four, simulate_people
    >>> one = GCM(3.0, free=("sensitivity",))
    >>> made = simulate_people(one, five_four(), subjects=8, trials=20, seed=1)
    >>> found = posterior(one, made.experiment, draws=100, warmup=50, chains=2)
    >>> list(found.summary().columns)[:2]
    ['mean', 'sd']
    """

    space: Coordinates
    draws: Draws
    model: Any
    people: Any

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """Return mean, standard deviation, credible interval, R̂ and effective size.

        Rows are center and spread of each coordinate.
        """
        tails = [(1 - level) / 2, (1 + level) / 2]
        rows = {}
        for kind in ("center", "spread"):
            for d, name in enumerate(self.space.names):
                x = getattr(self.draws, kind)[:, :, d]
                low, high = np.quantile(x, tails)
                rows[f"{kind} of {name}"] = {
                    "mean": x.mean(), "sd": x.std(), "low": low, "high": high,
                    "rhat": split_rhat(x), "effective": effective_size(x),
                }  # fmt: skip
        return pd.DataFrame.from_dict(rows, orient="index")

    def persons(self, level: float = 0.95) -> pd.DataFrame:
        """Return mean and credible interval of the parameters of each person."""
        C, N, S, _ = self.draws.persons.shape
        keep = np.linspace(0, C * N - 1, min(C * N, 400)).astype(int)
        flat = self.draws.persons.reshape(C * N, S, -1)[keep]
        tails = [(1 - level) / 2, (1 + level) / 2]
        rows = []
        for s in range(S):
            table = pd.DataFrame([self.space.readable(u) for u in flat[:, s]])
            ends = table.quantile(tails).to_numpy()
            for name, mean, (low, high) in zip(table, table.mean(), ends.T, strict=True):
                rows.append((s, name, mean, low, high))
        return pd.DataFrame(rows, columns=["person", "parameter", "mean", "low", "high"])

    @property
    def rhat(self) -> float:
        """The largest R̂ of the population's parameters."""
        return float(self.summary()["rhat"].max())

    def waic(self, draws: int = 300) -> WAIC:
        """Return how well answers of these people are predicted, from some of the draws."""
        C, N, S, D = self.draws.persons.shape
        keep = np.linspace(0, C * N - 1, min(C * N, draws)).astype(int)
        flat = self.draws.persons.reshape(C * N, S, D)[keep]
        parts, wiggle = np.empty(S), np.empty(S)
        for s in range(S):
            logs = np.array([self.people.pointwise(u, s) for u in flat[:, s]])
            wiggle[s] = logs.var(axis=0, ddof=1).sum()
            parts[s] = np.sum(logsumexp(logs, axis=0) - np.log(len(logs))) - wiggle[s]
        error = float(np.sqrt(S * parts.var(ddof=1))) if S > 1 else float("nan")
        return WAIC(float(parts.sum()), float(wiggle.sum()), error)


def posterior(
    model: Any,
    experiment: Experiment,
    free: Sequence[str] | None = None,
    *,
    draws: int = 1000,
    warmup: int = 500,
    chains: int = 4,
    wide: float = 2.5,
    scale: float = 1.0,
    sampler: str = "gibbs",
    random_state: Seed = 0,
) -> Posterior:
    """Draw from the posterior of a population of people: full Bayes.

    The priors are μ ~ N(m, wide²) with m the coordinates of the model's own parameters, and σ ~
    half-Cauchy(scale), for each coordinate alike.

    Parameters
    ----------
    model, experiment, free
        As in `fit_people`, which gives the proposals.
    draws, warmup, chains : int
    wide, scale : float
        Of the priors, on the scale of coordinates (logarithms, log odds).
    sampler : {"gibbs", "nuts"}
        Our own, which needs likelihoods only; or the No-U-Turn sampler of nutpie, an optional
        extra (``pip install "mercer[bayes]"``), which needs smooth likelihoods and more time for
        each draw, but follows correlations. Where both can be used they should agree.
    random_state : int, Generator or None

    Returns
    -------
    Posterior
        Draws of the population and of each person; its `summary` is a table.

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four, simulate_people
    >>> made = simulate_people(GCM(3.0), five_four(), subjects=20, trials=20, seed=1)
    >>> one = GCM(free=("sensitivity",))
    >>> found = posterior(one, made.experiment, draws=200, warmup=100)
    >>> list(found.summary().columns)
    ['mean', 'sd', 'low', 'high', 'rhat', 'effective']
    """
    for name, value in (("draws", draws), ("warmup", warmup), ("chains", chains)):
        whole(posterior, name, value, least=1 if name != "draws" else 4)
    if sampler not in SAMPLERS:
        raise ValidityError(f"sampler cannot be {sampler!r}{suggestion(str(sampler), SAMPLERS)}")
    positive(posterior, "wide", wide)
    positive(posterior, "scale", scale)
    people = people_of(model, experiment, free)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # proposals need not be perfect
        first = fit_people(model, experiment, free, max_iter=100)
    prior = Prior(people.space.of(people.space.layout.given), wide, scale)
    rng = np.random.default_rng(random_state)
    spread = np.maximum(first.spread, 0.05)
    wanted = SamplingTask(people, prior, first.modes, first.center, spread, chains, draws, warmup)
    found = SAMPLERS[sampler](wanted, rng)
    result = Posterior(people.space, found, model, people)
    if chains > 1 and (worst := result.rhat) > POOR:
        warnings.warn(
            f"the chains have not arrived at the same place (largest R̂ {worst:.3f}); take more "
            "draws and a longer warmup, or fix what the answers do not tell (see identify)",
            ConvergenceWarning,
            stacklevel=2,
        )
    return result
