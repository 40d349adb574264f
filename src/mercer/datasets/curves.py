"""Curves with noise, to be found again by regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.datasets.dataset import Dataset

__all__ = ["sinc"]


def sinc(count: int = 40, noise: float = 0.1, limit: float = 10.0, seed: int = 0) -> Dataset:
    """Draw points of sin(x)/x with Gaussian noise: room to fit too much and too little.

    Parameters
    ----------
    count : int
    noise : float
        Its standard deviation.
    limit : float
        Inputs are uniform in [−limit, limit], sorted.
    seed : int

    Returns
    -------
    Dataset
        ``extra["function"]`` is the curve without noise.

    Examples
    --------
    >>> X, y = sinc(noise=0.0)
    >>> bool(np.allclose(y, np.sin(X[:, 0]) / X[:, 0]))
    True
    """
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(-limit, limit, count))[:, None]
    y = _curve(X) + noise * rng.standard_normal(count)
    return Dataset(X, y, extra={"function": _curve, "noise": noise})


def _curve(X: Any) -> np.ndarray:
    """Return sin(x)/x of the one column."""
    return np.sinc(np.asarray(X, dtype=np.float64)[:, 0] / np.pi)
