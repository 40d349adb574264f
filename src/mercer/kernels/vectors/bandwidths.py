"""Bandwidths: how far similarity reaches, as a number, one per dimension, or a rule.

Two rules look at the training data:

``"median"``
    The median distance between two different items, in the kernel's own distance. Up to
    `MEDIAN_SAMPLE` items are compared; of more, a fixed random sample.
``"scale"``
    scikit-learn's ``gamma="scale"`` as a bandwidth: σ = √(d·Var(X)/2), so that a Gaussian has
    γ = 1/(2σ²) = 1/(d·Var(X)).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from mercer.domains import Vectors, to_numpy
from mercer.engine.block import Block
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.values import positive, sequence

__all__ = ["HEURISTICS", "Bandwidth", "bandwidth", "resolve_bandwidth"]

Bandwidth = float | tuple[float, ...] | str

HEURISTICS = ("median", "scale")
MEDIAN_SAMPLE = 2000


def bandwidth(owner: object, value: object) -> Bandwidth:
    """Return a bandwidth parameter in its canonical form: float, tuple of floats or a name."""
    if isinstance(value, str):
        if value not in HEURISTICS:
            raise ValidityError(
                f"unknown bandwidth {value!r} of {type(owner).__name__}"
                f"{suggestion(value, HEURISTICS)}"
            )
        return value
    if isinstance(value, numbers.Number) or getattr(value, "ndim", 1) == 0:
        return positive(owner, "bandwidth", value)
    return sequence(owner, "bandwidth", value, positive)


def resolve_bandwidth(
    rule: str, points: Any, weights: np.ndarray | None, distances: Callable[[Block], Any]
) -> float:
    """Return the number that a rule gives on these points.

    A weight counts like repetitions of its item. Where all items coincide any bandwidth gives
    the same Gram matrix; the answer is then 1.
    """
    w = np.ones(len(points)) if weights is None else weights
    if rule == "scale":
        return _scale(points, w)
    if len(points) < 2:
        raise DomainError(
            "the median distance needs at least two items, found 1 sample; give the bandwidth "
            "as a number"
        )
    if len(points) > MEDIAN_SAMPLE:
        chosen = np.random.default_rng(0).choice(len(points), MEDIAN_SAMPLE, replace=False)
        points, w = points[np.sort(chosen)], w[np.sort(chosen)]
    between = _pairs(to_numpy(distances(Block(points, points))))
    if weights is None:
        between = between[between > 0]
        return float(np.median(between)) if len(between) else 1.0
    return _median(between, _pairs(w[:, None] * w))


def _pairs(matrix: np.ndarray) -> np.ndarray:
    """Return what is above the diagonal, row by row, several times as fast as by indices."""
    return squareform(matrix, checks=False)


def _median(distances: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted median of the positive distances, 1 if there are none."""
    counted = (distances > 0) & (weights > 0)
    if not counted.any():
        return 1.0
    order = np.argsort(distances[counted])
    sorted_distances = distances[counted][order]
    share = np.cumsum(weights[counted][order])
    share /= share[-1]
    low = np.searchsorted(share, 0.5 - 1e-12)
    high = np.searchsorted(share, 0.5 + 1e-12)
    return float(sorted_distances[low] + sorted_distances[high]) / 2


def _scale(points: Vectors, weights: np.ndarray) -> float:
    array: Any = points.array if points.is_sparse else to_numpy(points.array).astype(np.float64)
    w = weights / (weights.sum() * points.width)
    mean = float(np.sum(array.T @ w))
    if points.is_sparse:
        variance = float(np.sum(array.multiply(array).T @ w)) - mean**2
    else:
        variance = float(np.sum(((array - mean) ** 2).T @ w))
    return math.sqrt(points.width * variance / 2) if variance > 0 else 1.0
