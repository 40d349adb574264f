"""The sampler: draws of a population and its people, without slopes of the likelihood.

Gibbs sampling (Geman & Geman, 1984) in three blocks. Given people, μ and σ have closed forms, with
the half-Cauchy prior of σ as a mixture of inverse gammas (Wand, Ormerod, Padoan & Frühwirth,
2011). Given μ and σ people are independent, and each makes two moves: an independent proposal
from a Student distribution around its Laplace approximation, which is nearly always taken where
there are many answers; and elliptical slice sampling (Murray, Adams & MacKay, 2010), which needs
no tuning and moves well where there are few. Both leave the posterior as it is, whatever the
model, and need nothing but likelihoods; those of all people in all chains are computed together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from mercer.cognition.people.likelihoods import People
from mercer.cognition.people.modes import Modes

__all__ = ["Draws", "Prior", "SamplingTask", "sample"]

FREEDOM = 5.0  # of the Student proposals: tails that are heavier than the posterior's
WIDER = 1.1
SHRINKS = 60  # of a slice, after which a person stays


@dataclass(frozen=True)
class Prior:
    """What is supposed of a population: μ ~ N(center, wide²), σ ~ half-Cauchy(scale).

    Attributes
    ----------
    center : ndarray of shape (D,)
    wide : float
    scale : float
    """

    center: np.ndarray
    wide: float = 2.5
    scale: float = 1.0


@dataclass(frozen=True)
class Draws:
    """Draws of a posterior.

    Attributes
    ----------
    center, spread : ndarray of shape (chains, draws, D)
    persons : ndarray of shape (chains, draws, people, D)
    accepted : float
        Share of the independent proposals that were taken; of `nuts`, of steps that did not
        diverge.
    """

    center: np.ndarray
    spread: np.ndarray
    persons: np.ndarray
    accepted: float


@dataclass(frozen=True)
class SamplingTask:
    """What a sampler is to do: whose posterior, from where on, and how many draws.

    Attributes
    ----------
    people : People
    prior : Prior
    modes : Modes
        Where the independent proposals are made; any will do, good ones are accepted more often.
    center, spread : ndarray of shape (D,)
        Around which chains begin.
    chains, draws, warmup : int
    """

    people: People
    prior: Prior
    modes: Modes
    center: np.ndarray
    spread: np.ndarray
    chains: int
    draws: int
    warmup: int


def sample(wanted: SamplingTask, rng: np.random.Generator) -> Draws:
    """Draw from the posterior of a population and its people."""
    people, prior, modes = wanted.people, wanted.prior, wanted.modes
    center, spread = wanted.center, wanted.spread
    chains, draws, warmup = wanted.chains, wanted.draws, wanted.warmup
    S, D = people.count, len(center)
    who = np.tile(np.arange(S), chains)
    factors = WIDER * np.linalg.cholesky(modes.covariance)
    proposal = Student(modes.at, factors)
    u = np.concatenate([proposal.draw(rng, np.arange(S)) for _ in range(chains)])
    value = people.log_likelihoods(u, who)
    mu = center + 0.5 * spread * rng.standard_normal((chains, D))
    sigma = spread * np.exp(0.3 * rng.standard_normal((chains, D)))
    kept_mu, kept_sigma = np.empty((chains, draws, D)), np.empty((chains, draws, D))
    kept = np.empty((chains, draws, S, D))
    sizes, factor = 0.1 * np.ones((2, chains, D)), np.zeros((2 * D, 2 * D))
    together, taken = Together(people, prior, sizes, rng, [], factor), 0.0
    for step in range(warmup + draws):
        each_mu, each_sigma = np.repeat(mu, S, axis=0), np.repeat(sigma, S, axis=0)
        taken += _jump(people, proposal, u, value, who, each_mu, each_sigma, rng)
        _slice(people, u, value, who, each_mu, each_sigma, rng)
        mu, sigma = _population(u.reshape(chains, S, D), sigma, prior, rng)
        together.move(u, value, who, mu, sigma, step, step < warmup)
        together.jump(u, value, who, mu, sigma, step, warmup)
        if step >= warmup:
            kept_mu[:, step - warmup], kept_sigma[:, step - warmup] = mu, sigma
            kept[:, step - warmup] = u.reshape(chains, S, D)
    return Draws(kept_mu, kept_sigma, kept, taken / (warmup + draws))


@dataclass(frozen=True)
class Student:
    """Student distributions, one for each person."""

    at: np.ndarray
    factors: np.ndarray

    def draw(self, rng: np.random.Generator, who: np.ndarray) -> np.ndarray:
        z = rng.standard_normal((len(who), self.at.shape[1]))
        z /= np.sqrt(rng.chisquare(FREEDOM, len(who)) / FREEDOM)[:, None]
        return np.asarray(self.at[who] + np.einsum("sij,sj->si", self.factors[who], z))

    def log_density(self, u: np.ndarray, who: np.ndarray) -> np.ndarray:
        """Return the log density, up to what all places of a person share."""
        z = np.linalg.solve(self.factors[who], (u - self.at[who])[:, :, None])[:, :, 0]
        D = u.shape[1]
        constant = gammaln((FREEDOM + D) / 2) - gammaln(FREEDOM / 2)
        return constant - (FREEDOM + D) / 2 * np.log1p(np.sum(z**2, axis=1) / FREEDOM)


def _log_prior(u: np.ndarray, mu: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    return -0.5 * np.sum(((u - mu) / sigma) ** 2, axis=1)


def _jump(
    people: People, proposal: Student, u: np.ndarray, value: np.ndarray, who: np.ndarray,
    mu: np.ndarray, sigma: np.ndarray, rng: np.random.Generator,
) -> float:  # fmt: skip
    """Let each person jump to a place of the proposal, or stay (Metropolis & Hastings)."""
    tried = proposal.draw(rng, who)
    found = people.log_likelihoods(tried, who)
    ratio = found + _log_prior(tried, mu, sigma) - proposal.log_density(tried, who)
    ratio -= value + _log_prior(u, mu, sigma) - proposal.log_density(u, who)
    yes = np.log(rng.random(len(u))) < ratio
    u[yes], value[yes] = tried[yes], found[yes]
    return float(yes.mean())


def _slice(
    people: People, u: np.ndarray, value: np.ndarray, who: np.ndarray, mu: np.ndarray,
    sigma: np.ndarray, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Move each person along an ellipse through it and a draw of the population."""
    other = sigma * rng.standard_normal(u.shape)
    here = u - mu
    level = value + np.log(rng.random(len(u)))
    angle = rng.uniform(0, 2 * np.pi, len(u))
    low, high = angle - 2 * np.pi, angle.copy()
    left = np.arange(len(u))
    for _ in range(SHRINKS):
        a = angle[left][:, None]
        tried = mu[left] + here[left] * np.cos(a) + other[left] * np.sin(a)
        found = people.log_likelihoods(tried, who[left])
        good = found > level[left]
        u[left[good]], value[left[good]] = tried[good], found[good]
        left = left[~good]
        if len(left) == 0:
            return
        below = angle[left] < 0
        low[left[below]] = angle[left[below]]
        high[left[~below]] = angle[left[~below]]
        angle[left] = rng.uniform(low[left], high[left])


@dataclass(frozen=True)
class Together:
    """Moves of a whole group: of μ in even steps, of log σ in odd ones, and of both together.

    Attributes
    ----------
    people : People
    prior : Prior
    sizes : ndarray of shape (2, chains, D)
        Standard deviations of the proposals; changed during the warmup.
    rng : Generator
    seen : list of ndarray
        μ and log σ of the chains in the warmup.
    factor : ndarray of shape (2·D, 2·D)
        Of the covariance of joint proposals of μ and log σ, which is that of what was seen.
    """

    people: People
    prior: Prior
    sizes: np.ndarray
    rng: np.random.Generator
    seen: list[np.ndarray]
    factor: np.ndarray

    def jump(
        self, u: np.ndarray, value: np.ndarray, who: np.ndarray, mu: np.ndarray,
        sigma: np.ndarray, step: int, warmup: int,
    ) -> None:  # fmt: skip
        """Move all dimensions at once, along what was seen to vary together."""
        chains, D = mu.shape
        S = len(u) // chains
        if step < warmup:
            self.seen.append(np.hstack([mu, np.log(sigma)]))
            if step >= warmup // 4 and step % max(1, warmup // 8) == 0:
                seen = np.concatenate(self.seen[len(self.seen) // 2 :])
                covariance = np.atleast_2d(np.cov(seen.T)) + 1e-8 * np.eye(2 * D)
                self.factor[:] = 2.0 / np.sqrt(2 * D) * np.linalg.cholesky(covariance)
        if not self.factor.any():
            return
        change = self.rng.standard_normal((chains, 2 * D)) @ self.factor.T
        new_mu, new_sigma = mu + change[:, :D], sigma * np.exp(change[:, D:])
        places = (u.reshape(chains, S, D) - mu[:, None]) / sigma[:, None]
        tried = (new_mu[:, None] + new_sigma[:, None] * places).reshape(-1, D)
        found = self.people.log_likelihoods(tried, who)
        ratio = (found - value).reshape(chains, S).sum(axis=1)
        for d in range(D):
            ratio += self._log_prior(new_mu[:, d], new_sigma[:, d], d)
            ratio -= self._log_prior(mu[:, d], sigma[:, d], d)
        yes = np.log(self.rng.random(chains)) < ratio
        rows = np.repeat(yes, S)
        u[rows], value[rows] = tried[rows], found[rows]
        mu[yes], sigma[yes] = new_mu[yes], new_sigma[yes]

    def move(
        self, u: np.ndarray, value: np.ndarray, who: np.ndarray, mu: np.ndarray,
        sigma: np.ndarray, step: int, tune: bool,
    ) -> None:  # fmt: skip
        """Change people, μ and σ in place."""
        kind, (chains, D) = step % 2, mu.shape
        S = len(u) // chains
        for d in range(D):
            size = self.sizes[kind, :, d]
            change = size * self.rng.standard_normal(chains)
            new_mu = mu[:, d] + change if kind == 0 else mu[:, d]
            new_sigma = sigma[:, d] if kind == 0 else sigma[:, d] * np.exp(change)
            places = (u[:, d].reshape(chains, S) - mu[:, [d]]) / sigma[:, [d]]
            tried = u.copy()
            tried[:, d] = (new_mu[:, None] + new_sigma[:, None] * places).ravel()
            found = self.people.log_likelihoods(tried, who)
            ratio = (found - value).reshape(chains, S).sum(axis=1)
            ratio += self._log_prior(new_mu, new_sigma, d) - self._log_prior(
                mu[:, d], sigma[:, d], d
            )
            yes = np.log(self.rng.random(chains)) < ratio
            rows = np.repeat(yes, S)
            u[rows], value[rows] = tried[rows], found[rows]
            mu[yes, d], sigma[yes, d] = new_mu[yes], new_sigma[yes]
            if tune:
                self.sizes[kind, :, d] *= np.exp((yes - 0.4) / np.sqrt(1 + step / 10))

    def _log_prior(self, mu: np.ndarray, sigma: np.ndarray, d: int) -> np.ndarray:
        """Return the log prior of μ and log σ; places within the group keep theirs."""
        normal = -0.5 * ((mu - self.prior.center[d]) / self.prior.wide) ** 2
        return normal + np.log(sigma) - np.log1p((sigma / self.prior.scale) ** 2)


def _population(
    u: np.ndarray, sigma: np.ndarray, prior: Prior, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw μ and σ given people, in each chain."""
    S = u.shape[1]
    precision = S / sigma**2 + 1 / prior.wide**2
    mean = (u.sum(axis=1) / sigma**2 + prior.center / prior.wide**2) / precision
    mu = mean + rng.standard_normal(mean.shape) / np.sqrt(precision)
    # σ² | a ~ IG(½, 1/a) with a ~ IG(½, 1/scale²) is a half-Cauchy σ.
    a = (1 / sigma**2 + 1 / prior.scale**2) / rng.gamma(1.0, size=sigma.shape)
    squares = np.sum((u - mu[:, None]) ** 2, axis=1)
    variance = (1 / a + squares / 2) / rng.gamma((S + 1) / 2, size=sigma.shape)
    return mu, np.sqrt(variance)
