"""The bounds that make fewest errors if categories are Gaussian: log ratios of densities."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.cognition.choices.noisy_bounds import Discriminant
from mercer.cognition.experiments.stimuli import Memory
from mercer.errors import ValidityError

__all__ = ["best_linear", "best_quadratic", "center", "gaussians", "real_weights", "spreads"]


def center(memory: Memory) -> np.ndarray:
    """Return the mean of all exemplars."""
    return memory.rows.mean(axis=0)


def spreads(memory: Memory) -> np.ndarray:
    """Return the standard deviation of each dimension, 1 for one that does not vary."""
    found = memory.rows.std(axis=0)
    return np.where(found > 0, found, 1.0)


def gaussians(memory: Memory) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the mean and covariance of each category, weighted by strengths."""
    found = []
    for k in range(len(memory.classes)):
        here = memory.codes == k
        V, X = memory.strengths[here], memory.rows[here]
        mean = V @ X / V.sum()
        found.append((mean, (V[:, None] * (X - mean)).T @ (X - mean) / V.sum()))
    return found


def best_linear(memory: Memory) -> Discriminant:
    """Return the log ratio of two Gaussians with one covariance."""
    (one, A), (two, B) = gaussians(memory)
    shares = memory.labels.sum(axis=0) / memory.strengths.sum()
    inverse = _inverse(shares[0] * A + shares[1] * B)
    m = center(memory)
    w = inverse @ (one - two)
    zero = np.zeros_like(inverse)
    return Discriminant(zero, w, float(w @ (m - (one + two) / 2)), m)


def best_quadratic(memory: Memory) -> Discriminant:
    """Return the log ratio of two Gaussians with covariances of their own."""
    (one, A), (two, B) = gaussians(memory)
    m, PA, PB = center(memory), _inverse(A), _inverse(B)
    one, two = one - m, two - m
    sign_A, sign_B = np.linalg.slogdet(PA)[1], np.linalg.slogdet(PB)[1]
    b = 0.5 * (two @ PB @ two - one @ PA @ one + sign_A - sign_B)
    return Discriminant(0.5 * (PB - PA), PA @ one - PB @ two, float(b), m)


def _inverse(covariance: np.ndarray) -> np.ndarray:
    """Return the inverse, in which a direction without spread has a little of it."""
    d = len(covariance)
    least = 1e-3 * max(float(np.trace(covariance)) / d, 1e-300)
    if not covariance.any():
        return np.eye(d)
    values, vectors = np.linalg.eigh(covariance)
    return (vectors / np.maximum(values, least)) @ vectors.T


def real_weights(owner: object, name: str, value: Any, count: int, per: str) -> np.ndarray:
    """Return numbers of either sign, one for each dimension or pair."""
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValidityError(
            f"{name} of {type(owner).__name__} must be numbers, found {value!r}"
        ) from error
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ValidityError(
            f"{name} of {type(owner).__name__} must have one finite number per {per}, {count} in "
            f"all; found {value}"
        )
    return found
