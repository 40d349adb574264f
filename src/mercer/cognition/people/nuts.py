"""Slopes: the posterior of people by the No-U-Turn sampler of nutpie, an optional extra.

nutpie is the sampler that the authors of PyMC maintain (Seyboldt & the PyMC developers), and takes
any function with its slopes. Here that is the log posterior of μ, log σ and all people; slopes of
their likelihoods are those of the learner where it has any, else differences, of all people at
once, so that every model with a likelihood will do. A dimension of people that their answers say
little about is measured from μ in units of σ, the others are coordinates as they are: each way is
good where the other is slow (Papaspiliopoulos, Roberts & Sköld, 2007).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cognition.people.learning import LearningPeople
from mercer.cognition.people.likelihoods import People
from mercer.cognition.people.sampler import Draws, Prior, SamplingTask
from mercer.errors import ConvergenceWarning, PlanError

__all__ = ["LogPosterior", "sample_with_slopes"]

STEP = 1e-5  # of differences
CAREFUL = 0.95  # share of steps that are to be accepted; smaller steps pass through funnels
MANY = 0.01  # share of steps that diverge, from which on it is told
SAY_LITTLE = 0.1  # share of σ² that people's answers leave, from which on they say little


@dataclass(frozen=True)
class LogPosterior:
    """The log posterior of x = (μ, log σ, people), and its slopes.

    Attributes
    ----------
    people : People
    prior : Prior
    inward : ndarray of bool, shape (D,)
        Which dimensions of people are measured from μ in units of σ.
    """

    people: People
    prior: Prior
    inward: np.ndarray

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return (2 + self.people.count) * len(self.inward)

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return μ, σ, what is in x of people, and their coordinates."""
        D = len(self.inward)
        mu, sigma, v = x[:D], np.exp(x[D : 2 * D]), x[2 * D :].reshape(-1, D)
        return mu, sigma, v, np.where(self.inward, mu + sigma * v, v)

    def place(self, mu: np.ndarray, sigma: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return x."""
        v = np.where(self.inward, (u - mu) / sigma, u)
        return np.concatenate([mu, np.log(sigma), v.ravel()])

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        mu, sigma, v, u = self.parts(x)
        S = len(v)
        value, slopes = self._likelihood(u)
        z = np.where(self.inward, v, (u - mu) / sigma)
        far = (mu - self.prior.center) / self.prior.wide**2
        square = (sigma / self.prior.scale) ** 2
        value += -0.5 * np.sum(z**2) - S * np.sum(np.log(sigma[~self.inward]))
        value += -0.5 * np.sum(far * (mu - self.prior.center))
        value += np.sum(np.log(sigma) - np.log1p(square))  # half-Cauchy, of log σ
        pull = np.where(self.inward, slopes.sum(axis=0), (z / sigma).sum(axis=0))
        turn = np.where(self.inward, (slopes * sigma * v).sum(axis=0), (z**2 - 1).sum(axis=0))
        people = np.where(self.inward, slopes * sigma - v, slopes - z / sigma)
        for_log_sigma = turn + 1 - 2 * square / (1 + square)
        return float(value), np.concatenate([pull - far, for_log_sigma, people.ravel()])

    def _likelihood(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log-likelihood of all people, and its slopes for each."""
        S, D = u.shape
        if isinstance(self.people, LearningPeople) and self.people.sloped:
            values, slopes, _ = self.people.with_slopes(u, np.arange(S))
            return float(values.sum()), slopes
        shifts = STEP * np.vstack([np.zeros(D), np.eye(D), -np.eye(D)])
        U = (u[None] + shifts[:, None]).reshape(-1, D)
        found = self.people.log_likelihoods(U, np.tile(np.arange(S), 2 * D + 1)).reshape(-1, S)
        return float(found[0].sum()), (found[1 : D + 1] - found[D + 1 :]).T / (2 * STEP)


def sample_with_slopes(wanted: SamplingTask, rng: np.random.Generator) -> Draws:
    """Draw from the posterior of a population, as `sampler.sample` does."""
    nutpie, from_pyfunc = _nutpie()
    modes, center, spread = wanted.modes, wanted.center, wanted.spread
    D = len(center)
    left = np.diagonal(modes.covariance, axis1=1, axis2=2).mean(axis=0) / spread**2
    posterior = LogPosterior(wanted.people, wanted.prior, left > SAY_LITTLE)
    begin = posterior.place(center, spread, modes.at)
    unit = np.sqrt(np.diagonal(modes.covariance, axis1=1, axis2=2))
    units = np.where(posterior.inward, 0.5, unit).ravel()
    jitter = np.concatenate([0.5 * spread, np.full(D, 0.3), units])

    def make_start(seed: Any) -> np.ndarray:
        noise = np.random.default_rng(_number(seed)).standard_normal(len(begin))
        return begin + 0.5 * jitter * noise

    def make_value() -> Any:
        return posterior

    def make_expand(*_: Any) -> Any:
        return lambda x: {"x": x}

    model = from_pyfunc(
        posterior.size, make_value, make_expand, [np.dtype(np.float64)], [(posterior.size,)],
        ["x"], make_initial_point_fn=make_start,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries that nutpie keeps its draws with
        trace = nutpie.sample(
            model, draws=wanted.draws, tune=wanted.warmup, chains=wanted.chains,
            seed=int(rng.integers(2**31)), cores=1, target_accept=CAREFUL, progress_bar=False,
            save_warmup=False,
        )  # fmt: skip
        X = np.asarray(trace.posterior["x"])
        diverged = np.asarray(trace.sample_stats["diverging"])
    if diverged.mean() > MANY:
        warnings.warn(
            f"{int(diverged.sum())} of {diverged.size} steps of the sampler diverged: where the "
            "likelihood jumps or is very narrow, slopes mislead; compare with sampler='gibbs'",
            ConvergenceWarning,
            stacklevel=3,
        )
    parts = [[posterior.parts(x) for x in chain] for chain in X]
    mu, sigma, u = (np.array([[one[k] for one in chain] for chain in parts]) for k in (0, 1, 3))
    return Draws(mu, sigma, u, float(1 - diverged.mean()))


def _nutpie() -> tuple[Any, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import nutpie
            from nutpie.compiled_pyfunc import from_pyfunc
    except ImportError as error:
        raise PlanError(
            'sampler="nuts" needs the package nutpie: pip install "mercer[bayes]"; the default, '
            'sampler="gibbs", needs nothing'
        ) from error
    return nutpie, from_pyfunc


def _number(seed: Any) -> int:
    """Return what nutpie gives a chain as a number."""
    return int.from_bytes(bytes(seed), "little") if isinstance(seed, bytes) else int(seed)
