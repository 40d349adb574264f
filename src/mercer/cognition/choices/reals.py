"""Numbers of either sign, as parameters of choice models: coefficients of bounds, criteria."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

__all__ = ["PinnedReals", "Reals", "Share"]

FARTHEST = 1e3  # units from zero, where a search ends


@dataclass(frozen=True)
class Reals:
    """One or several numbers, each in a unit in which a step of one makes a difference.

    Attributes
    ----------
    name : str
    units : tuple of float
    scalar : bool
        Whether it is a number, not an array of one number.

    Examples
    --------
    >>> Reals("weights", (10.0, 1.0)).value(np.array([0.5, 3.0]))
    array([5., 3.])
    """

    name: str
    units: tuple[float, ...]
    scalar: bool = False
    bounds = (-FARTHEST, FARTHEST)

    @property
    def size(self) -> int:
        return len(self.units)

    @property
    def count(self) -> int:
        return len(self.units)

    def value(self, z: np.ndarray) -> Any:
        values = z * np.array(self.units)
        return float(values[0]) if self.scalar else values

    def coordinates(self, value: ArrayLike) -> np.ndarray:
        return np.clip(np.ravel(value) / np.array(self.units), *self.bounds)

    def pull(self, value: Any, slope: Any) -> np.ndarray:
        return np.ravel(slope) * np.array(self.units)


@dataclass(frozen=True)
class PinnedReals:
    """Several numbers of which one is held fixed."""

    name: str
    units: tuple[float, ...]
    place: int
    fixed: float
    bounds = Reals.bounds

    @property
    def size(self) -> int:
        return len(self.units) - 1

    @property
    def count(self) -> int:
        return self.size

    def value(self, z: np.ndarray) -> np.ndarray:
        values = np.full(len(self.units), self.fixed)
        values[self._others] = z * np.array(self.units)[self._others]
        return values

    def coordinates(self, value: ArrayLike) -> np.ndarray:
        return (np.ravel(value) / np.array(self.units))[self._others]

    def pull(self, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return (slope * np.array(self.units))[self._others]

    @property
    def _others(self) -> np.ndarray:
        return np.arange(len(self.units)) != self.place


@dataclass(frozen=True)
class Share:
    """A number between 0 and 1, by its log odds.

    Examples
    --------
    >>> Share("rate").value(np.zeros(1))
    0.5
    """

    name: str
    bounds = (-30.0, 30.0)
    size = 1
    count = 1

    def value(self, z: np.ndarray) -> float:
        return float(expit(z[0]))

    def coordinates(self, value: ArrayLike) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.clip(logit(np.atleast_1d(value)), *self.bounds)

    def pull(self, value: float, slope: Any) -> np.ndarray:
        return np.atleast_1d(value * (1 - value) * slope)
