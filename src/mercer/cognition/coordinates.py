"""Coordinates of stimuli in a choice model: given, or estimated from confusions.

Either is a rule: from parameters to the score log s_ij + log b_j of answer j to stimulus i, and
from slopes for these scores to slopes for the parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cognition.fitting import Slopes
from mercer.cognition.scaling import stimulus_map

__all__ = ["Estimated", "Given", "Loose"]


@dataclass(frozen=True)
class Loose:
    """Numbers without a constraint, as a part of a layout of parameters.

    Examples
    --------
    >>> Loose("coordinates", 4).count
    4
    """

    name: str
    size: int
    bounds: tuple[float, float] = (-1e3, 1e3)

    @property
    def count(self) -> int:
        return self.size

    def value(self, z: np.ndarray) -> np.ndarray:
        return z

    def coordinates(self, value: Any) -> np.ndarray:
        return np.ravel(value)

    def pull(self, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return np.ravel(slope)


class Given:
    """Scores of stimuli with known coordinates, by sensitivity, attention, exponent and bias."""

    def __init__(self, X: np.ndarray, order: float) -> None:
        self.order = order
        self.A = np.abs(X[:, None] - X[None]) ** order

    def __call__(self, params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
        c, w, p = (params[name] for name in ("sensitivity", "attention", "exponent"))
        D = self.A @ w
        decay, safe = _decay(D, p / self.order)

        def slopes(G: np.ndarray) -> dict[str, Any]:
            H = G * decay
            return {
                "sensitivity": -np.sum(H),
                "attention": -c * p / self.order * np.tensordot(H / safe, self.A, 2),
                "exponent": -c / self.order * np.sum(H * np.log(safe)),
                "bias": G.sum(axis=0) / params["bias"],
            }

        return np.log(params["bias"]) - c * decay, slopes

    def typical(self, w: np.ndarray, p: float) -> float:
        """Return the sensitivity that makes the median similarity of two stimuli e⁻¹."""
        D = self.A @ w
        return float(np.median(D[D > 0])) ** (-p / self.order) if D.any() else 1.0


class Estimated:
    """Scores of stimuli whose coordinates are parameters, besides exponent and bias."""

    def __init__(self, n: int, dimensions: int, order: float) -> None:
        self.shape, self.order = (n, dimensions), order

    def __call__(self, params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
        X, p = np.reshape(params["coordinates"], self.shape), params["exponent"]
        apart = X[:, None] - X[None]
        size = np.abs(apart)
        decay, safe = _decay(np.sum(size**self.order, axis=2), p / self.order)

        def slopes(G: np.ndarray) -> dict[str, Any]:
            H = G * decay
            steep = np.where(size > 0, size, 1.0) ** (self.order - 1) * np.sign(apart)
            return {
                "coordinates": -p * np.einsum("ij,ijm->im", (H + H.T) / safe, steep),
                "exponent": -np.sum(H * np.log(safe)) / self.order,
                "bias": G.sum(axis=0) / params["bias"],
            }

        return np.log(params["bias"]) - decay, slopes

    @property
    def unseen(self) -> int:
        """Directions in which nothing changes: shifts, and rotations of a Euclidean space."""
        d = self.shape[1]
        return d * (d + 1) // 2 if self.order == 2 else d

    def starts(self, N: np.ndarray, p: float, count: int, seed: int) -> list[np.ndarray]:
        """Return coordinates by scaling of −log similarity, and others near them."""
        P = (N + 0.5) / (N + 0.5).sum(axis=1, keepdims=True)
        s = np.sqrt(P * P.T / np.outer(np.diag(P), np.diag(P)))
        d = np.maximum(-np.log(np.minimum(s, 1.0)), 0.05) ** (1 / p)
        np.fill_diagonal(d, 0.0)
        X = stimulus_map(d, self.shape[1], random_state=seed).coordinates
        rng, spread = np.random.default_rng(seed), float(X.std()) / 2
        return [X, *(X + rng.normal(0, spread, X.shape) for _ in range(1, count))]


def _decay(D: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Return D^power, and D with ones for zeros, where nothing changes to first order."""
    safe = np.where(D > 0, D, 1.0)
    return np.where(D > 0, safe**power, 0.0), safe
