"""Modes: the most probable parameters of each person, and how sharply they are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.cognition.people.learning import LearningPeople
from mercer.cognition.people.likelihoods import People

__all__ = ["Modes", "find_modes"]

STEP = 1e-3  # of differences
STEP_OF_SLOPES = 1e-2  # of differences of slopes: past the corners of a likelihood
ROUGH_STEP = 0.15  # of differences of simulated likelihoods: more than their grain
LONGEST = 2.0  # step of Newton's method, in any dimension


@dataclass(frozen=True)
class Modes:
    """The most probable coordinates of each person.

    Attributes
    ----------
    at : ndarray of shape (people, D)
    covariance : ndarray of shape (people, D, D)
        The inverse of the curvature there, of likelihood and population together.
    log_likelihoods : ndarray of shape (people,)
        Of the answers alone.
    """

    at: np.ndarray
    covariance: np.ndarray
    log_likelihoods: np.ndarray


def find_modes(
    people: People,
    center: np.ndarray,
    spread: np.ndarray,
    start: np.ndarray | None = None,
    steps: int = 50,
) -> Modes:
    """Return the maxima of log p(answers | u) + log N(u; μ, σ²) over u, for all people at once.

    Newton's method with slopes and curvatures from differences; a curvature that is none is lifted
    to that of the population, and steps are halved until they gain. A mode is where a step would
    gain less than 1e-6. Learners that have slopes go by Fisher's scoring instead, and have the
    curvature of their likelihood once, at the end.
    """
    sloped = people if isinstance(people, LearningPeople) and people.sloped else None
    S = people.count
    everyone = np.arange(S)
    at = np.tile(center, (S, 1)) if start is None else start.copy()
    value = people.log_likelihoods(at, everyone)
    active = np.ones(S, dtype=bool)
    H = np.tile(np.diag(1 / spread**2), (S, 1, 1))
    for _ in range(steps):
        who = np.flatnonzero(active)
        if sloped is not None:
            _, g, information = sloped.with_slopes(at[who], who)
            H[who] = information + np.diag(1 / spread**2)
        else:
            g, curvature = differences(people, at[who], who, value[who])
            H[who] = positive_curvature(-curvature + np.diag(1 / spread**2), 1 / spread**2)
        g -= (at[who] - center) / spread**2
        step = np.linalg.solve(H[who], g[:, :, None])[:, :, 0]
        gain = np.einsum("sd,sd->s", g, step)
        longest = np.abs(step).max(axis=1)
        step *= np.minimum(1.0, LONGEST / np.maximum(longest, 1e-300))[:, None]
        moved = _halve(people, at, value, who[gain > 1e-6], step[gain > 1e-6], center, spread)
        active[:] = False
        active[moved] = True
        if not active.any():
            break
    if sloped is not None:
        curvature = differences_of_slopes(sloped, at, everyone)
        H = positive_curvature(-curvature + np.diag(1 / spread**2), 1 / spread**2)
    return Modes(at, np.linalg.inv(H), value)


def _halve(
    people: People, at: np.ndarray, value: np.ndarray, who: np.ndarray, step: np.ndarray,
    center: np.ndarray, spread: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Move people along their steps, halved until they gain; return who has moved."""

    def prior(u: np.ndarray) -> np.ndarray:
        return -0.5 * np.sum(((u - center) / spread) ** 2, axis=1)

    moved: list[np.ndarray] = []
    for _ in range(12):
        if len(who) == 0:
            break
        tried = at[who] + step
        found = people.log_likelihoods(tried, who)
        better = found + prior(tried) > value[who] + prior(at[who]) + 1e-9
        at[who[better]], value[who[better]] = tried[better], found[better]
        moved.append(who[better])
        who, step = who[~better], step[~better] / 2
    return np.concatenate(moved) if moved else np.empty(0, dtype=np.int64)


def differences(
    people: People, at: np.ndarray, who: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes and curvatures of the log-likelihoods, from central differences."""
    S, D = at.shape
    size = ROUGH_STEP if isinstance(people, LearningPeople) and people.rough else STEP
    shifts = [np.zeros(D)]
    pairs = [(i, j) for i in range(D) for j in range(i)]
    shifts += [sign * size * np.eye(D)[i] for i in range(D) for sign in (1, -1)]
    shifts += [
        size * (a * np.eye(D)[i] + b * np.eye(D)[j])
        for i, j in pairs
        for a, b in ((1, 1), (-1, -1), (1, -1), (-1, 1))
    ]
    U = at[None] + np.array(shifts)[1:, None]
    found = people.log_likelihoods(U.reshape(-1, D), np.tile(who, len(shifts) - 1))
    found = found.reshape(-1, S)
    up, down = found[0 : 2 * D : 2], found[1 : 2 * D : 2]
    g = (up - down).T / (2 * size)
    H = np.zeros((S, D, D))
    H[:, np.arange(D), np.arange(D)] = (up - 2 * value + down).T / size**2
    for k, (i, j) in enumerate(pairs):
        a, b, c, d = found[2 * D + 4 * k : 2 * D + 4 * k + 4]
        H[:, i, j] = H[:, j, i] = (a + b - c - d) / (4 * size**2)
    return g, H


def differences_of_slopes(people: LearningPeople, at: np.ndarray, who: np.ndarray) -> np.ndarray:
    """Return curvatures of the log-likelihoods, from central differences of their slopes."""
    S, D = at.shape
    shifts = STEP_OF_SLOPES * np.vstack([np.eye(D), -np.eye(D)])
    U = (at[None] + shifts[:, None]).reshape(-1, D)
    slopes = people.with_slopes(U, np.tile(who, 2 * D))[1].reshape(2, D, S, D)
    H = (slopes[0] - slopes[1]).transpose(1, 0, 2) / (2 * STEP_OF_SLOPES)
    return np.asarray((H + H.transpose(0, 2, 1)) / 2)


def positive_curvature(H: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return matrices whose eigenvalues, measured in the population's units, are at least ½."""
    root = np.sqrt(least)
    scaled = H / root[:, None] / root
    values, vectors = np.linalg.eigh(scaled)
    if (values >= 0.5).all():
        return H
    lifted = np.maximum(values, 0.5)
    again = np.einsum("sij,sj,skj->sik", vectors, lifted, vectors)
    return np.asarray(again * root[:, None] * root)
