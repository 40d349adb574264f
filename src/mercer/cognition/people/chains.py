"""Chains: random walks whose places are draws from a posterior, and whether they have arrived."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm, rankdata

__all__ = ["effective_size", "rank_normalized", "split_rhat"]


def rank_normalized(draws: np.ndarray) -> np.ndarray:
    """Return draws as normal scores of their ranks (Vehtari, Gelman, Simpson, Carpenter &
    Bürkner, 2021).

    Examples
    --------
    >>> rank_normalized(np.array([[1.0, 100.0, 10.0]])).round(2)
    array([[-0.87,  0.87,  0.  ]])
    """
    ranks = rankdata(draws).reshape(draws.shape)
    return np.asarray(norm.ppf((ranks - 0.375) / (draws.size + 0.25)))


def split_rhat(draws: np.ndarray) -> float:
    """Return R̂ of chains (rows), each cut in two: about 1 where all have arrived at one place.

    The larger one of places and of distances from the median, both as normal scores of ranks:
    chains may differ in where they are, or in how widely they walk (Vehtari et al., 2021).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(split_rhat(rng.normal(size=(4, 500))) < 1.01)
    True
    >>> bool(split_rhat(rng.normal(size=(2, 500)) + [[0], [3]]) > 1.5)
    True
    >>> bool(split_rhat(rng.normal(size=(2, 500)) * [[1], [5]]) > 1.2)
    True
    """
    parts = _halves(draws)
    return max(_rhat(parts), _rhat(np.abs(parts - np.median(parts))))


def _halves(draws: np.ndarray) -> np.ndarray:
    """Return chains cut in two, so that one that drifts differs from itself."""
    half = draws.shape[1] // 2
    return np.vstack([draws[:, :half], draws[:, -half:]])


def _rhat(parts: np.ndarray) -> float:
    scores = rank_normalized(parts)
    within = scores.var(axis=1, ddof=1).mean()
    between = scores.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    n = parts.shape[1]
    return float(np.sqrt((n - 1) / n + between / within))


def effective_size(draws: np.ndarray) -> float:
    """Return how many independent draws are as good, by Geyer's (1992) initial positive sequence.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(1500 < effective_size(rng.normal(size=(4, 500))) <= 2600)
    True
    """
    x = rank_normalized(_halves(draws))
    chains, n = x.shape
    centered = x - x.mean(axis=1, keepdims=True)
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    power = np.abs(np.fft.rfft(centered, size, axis=1)) ** 2
    covariance = np.fft.irfft(power, size, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    between = x.mean(axis=1).var(ddof=1)
    variance = (n - 1) / n * within + between
    if variance == 0:
        return float(chains * n)
    rho = 1 - (within - covariance) / variance
    pairs = rho[0 : n - n % 2 : 2] + rho[1 : n - n % 2 + 1 : 2]
    end = int(np.argmax(pairs < 0)) if (pairs < 0).any() else len(pairs)
    positive = np.minimum.accumulate(pairs[:end])
    return float(chains * n / max(2 * positive.sum() - 1, 1 / np.log10(chains * n)))
