"""Parameters with constraints, as points of a space that has none.

A positive number is the exponential of any number, and weights that sum to one are the softmax of
any vector. An optimizer walks there, and the chain rule brings the slopes along: for θ = eᶻ
∂E/∂z = θ·∂E/∂θ, and for w = softmax(z) ∂E/∂z = w∘(g − ⟨w, g⟩) with g = ∂E/∂w.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["Layout", "Pinned", "Positive", "Simplex"]

REACH = 40.0  # of logarithms: e⁴⁰ is more than any sensitivity and less than any overflow
LEAST = 1e-17  # weight below which there is no difference


@dataclass(frozen=True)
class Positive:
    """A positive number, by its logarithm.

    Attributes
    ----------
    name : str
    bounds : (float, float)
        Of the logarithm.

    Examples
    --------
    >>> Positive("gamma").coordinates(1.0)
    array([0.])
    """

    name: str
    bounds: tuple[float, float] = (-REACH, REACH)
    size = 1
    count = 1  # of free parameters

    def value(self, z: np.ndarray) -> float:
        return float(np.exp(z[0]))

    def coordinates(self, value: Any) -> np.ndarray:
        with np.errstate(divide="ignore"):  # zero and infinity are moved to the bounds
            return np.clip(np.log(np.atleast_1d(value)), *self.bounds)

    def pull(self, value: float, slope: Any) -> np.ndarray:
        """Return the slope for the coordinates from that for the value."""
        return np.atleast_1d(value * slope)


@dataclass(frozen=True)
class Simplex:
    """Weights that are not negative and sum to one, by a softmax.

    The coordinates have one direction more than the weights, along which nothing changes; so a
    simplex of d weights counts as d − 1 free parameters.

    Examples
    --------
    >>> Simplex("attention", 2).value(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """

    name: str
    size: int

    @property
    def bounds(self) -> tuple[float, float]:
        return (-REACH, REACH)

    @property
    def count(self) -> int:
        return self.size - 1

    def value(self, z: np.ndarray) -> np.ndarray:
        w = np.exp(z - z.max())
        return w / w.sum()

    def coordinates(self, value: Any) -> np.ndarray:
        z = np.log(np.maximum(value, LEAST))
        return z - z.mean()

    def pull(self, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return value * (slope - value @ slope)


@dataclass(frozen=True)
class Pinned:
    """Weights of which one has a given share, the others sharing the rest by a softmax.

    Examples
    --------
    >>> Pinned("attention", 3, place=0, share=0.5).value(np.array([0.0, 0.0]))
    array([0.5 , 0.25, 0.25])
    """

    name: str
    whole: int
    place: int
    share: float

    @property
    def size(self) -> int:
        return self.whole - 1

    @property
    def count(self) -> int:
        return self.whole - 2

    @property
    def bounds(self) -> tuple[float, float]:
        return (-REACH, REACH)

    def value(self, z: np.ndarray) -> np.ndarray:
        w = np.full(self.whole, self.share)
        w[self._others] = (1 - self.share) * Simplex(self.name, self.size).value(z)
        return w

    def coordinates(self, value: Any) -> np.ndarray:
        return Simplex(self.name, self.size).coordinates(np.asarray(value)[self._others])

    def pull(self, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
        w, g = value[self._others], slope[self._others]
        inside = w / (1 - self.share) if self.share < 1 else np.zeros_like(w)
        return w * (g - inside @ g)

    @property
    def _others(self) -> np.ndarray:
        return np.arange(self.whole) != self.place


Part = Positive | Simplex | Pinned


@dataclass(frozen=True)
class Layout:
    """Which parameters are free, and where each has its coordinates in one vector.

    Attributes
    ----------
    given : mapping of str
        Values of all parameters; those that are not free keep them.
    parts : tuple of Positive, Simplex or Pinned
        The free ones.

    Examples
    --------
    >>> layout = Layout({"gamma": 2.0, "bias": [0.5, 0.5]}, (Simplex("bias", 2),))
    >>> layout.params(np.array([0.0, np.log(3)]))
    {'gamma': 2.0, 'bias': array([0.25, 0.75])}
    >>> layout.count
    1
    """

    given: Mapping[str, Any]
    parts: tuple[Part, ...]

    @property
    def count(self) -> int:
        """Number of free parameters."""
        return sum(part.count for part in self.parts)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        return [part.bounds for part in self.parts for _ in range(part.size)]

    def params(self, z: np.ndarray) -> dict[str, Any]:
        """Return the values of all parameters."""
        values, start = dict(self.given), 0
        for part in self.parts:
            values[part.name] = part.value(z[start : start + part.size])
            start += part.size
        return values

    def coordinates(self, params: Mapping[str, Any]) -> np.ndarray:
        """Return where the optimizer would find these values."""
        found = [part.coordinates(params[part.name]) for part in self.parts]
        return np.concatenate(found) if found else np.empty(0)

    def pull(self, params: Mapping[str, Any], slopes: Mapping[str, Any]) -> np.ndarray:
        """Return the gradient for the coordinates from the slopes for the values."""
        found = [part.pull(params[part.name], slopes[part.name]) for part in self.parts]
        return np.concatenate(found) if found else np.empty(0)

    def pin(self, name: str, place: int | None, value: float) -> Layout:
        """Return the layout in which one number, or one weight of a simplex, is held fixed."""
        if place is None:
            rest = tuple(part for part in self.parts if part.name != name)
            return replace(self, given={**self.given, name: value}, parts=rest)
        size = len(self.given[name])
        pinned = Pinned(name, size, place, value)
        parts = tuple(pinned if part.name == name else part for part in self.parts)
        return replace(self, parts=parts)
