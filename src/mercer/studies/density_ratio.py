"""Ratios of densities: how much more frequent rows like one are in another table.

w(x) = p_new(x)/p_old(x) = Σ αⱼ k(x, cⱼ) with centers among the new rows, by least squares
(Kanamori, Hido & Sugiyama, 2009): α minimizes ½ mean_old(w²) − mean_new(w) + λ/2 |α|², which is a
linear system. Bandwidth and λ minimize the same, without the last term, on held-out rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import VECTORS
from mercer.kernels import Gaussian

__all__ = ["density_ratio"]

CENTERS = 100
BANDWIDTHS = (0.5, 1.0, 2.0)  # in units of the median distance
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
FOLDS = 5


def density_ratio(old: np.ndarray, new: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the ratio at each old row, never negative.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(0.0, 1.0, (500, 1)), rng.normal(1.0, 0.7, (500, 1))
    >>> w = density_ratio(old, new)
    >>> bool(abs(np.average(old[:, 0], weights=w) - 1.0) < 0.15)
    True
    """
    rng = np.random.default_rng(seed)
    centers = new[rng.permutation(len(new))[:CENTERS]]
    median: Any = Gaussian("median").resolve(VECTORS.admit(np.concatenate([old, new]))).bandwidth
    unit = float(median)
    folds = [rng.permutation(np.arange(len(rows)) % FOLDS) for rows in (old, new)]
    best, chosen = np.inf, None
    for factor in BANDWIDTHS:
        kernel = Gaussian(factor * unit)
        A, B = np.asarray(kernel(old, centers)), np.asarray(kernel(new, centers))
        for penalty in PENALTIES:
            value = _held_out(A, B, folds, penalty)
            if value < best:
                best, chosen = value, (A, B, penalty)
    assert chosen is not None
    A, B, penalty = chosen
    return np.maximum(A @ _coefficients(A, B, penalty), 0.0)


def _held_out(A: np.ndarray, B: np.ndarray, folds: list[np.ndarray], penalty: float) -> float:
    """Return the mean of ½ mean_old(w²) − mean_new(w) over folds."""
    values = []
    for k in range(FOLDS):
        out, new = folds[0] == k, folds[1] == k
        if not (out.any() and new.any()):
            continue
        alpha = _coefficients(A[~out], B[~new], penalty)
        values.append(np.mean(np.maximum(A[out] @ alpha, 0.0) ** 2) / 2
                      - np.mean(np.maximum(B[new] @ alpha, 0.0)))  # fmt: skip
    return float(np.mean(values))


def _coefficients(A: np.ndarray, B: np.ndarray, penalty: float) -> np.ndarray:
    H = A.T @ A / len(A)
    return np.linalg.solve(H + penalty * np.eye(len(H)), B.mean(axis=0))
