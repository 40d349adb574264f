"""Scales: a column of numbers in units of its own spread, whatever its tails.

"standard" is (x − mean)/spread. "robust" is (x − median)/spread with the spread of a normal
distribution that has the same quartiles, and then z/√(1 + (z/4)²): a straight line near zero that
never leaves ±4, as RealMLP does with 3 (Holzmüller, Grinsztajn & Steinwart, 2024, arXiv
2407.04491). "quantile" is Φ⁻¹ of the share of smaller entries, ties sharing the middle one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from mercer.machines.moments import moments

__all__ = ["SCALES", "NumberScale", "NumberScales", "is_even", "learn_scale", "learn_scales"]

# What stands behind the name of a column that is there on an earlier scale already.
SUFFIXES = {"standard": " in spreads", "robust": " with tails bent", "quantile": " by rank"}
SCALES = tuple(SUFFIXES)
SAME = 0.9999  # correlation of two scales of a column that say the same
LIMIT = 4.0
MAX_QUANTILES = 1000
# Distances between the quartiles, and between the deciles, of the standard normal distribution.
QUARTILES, DECILES = 2 * float(ndtri(0.75)), 2 * float(ndtri(0.9))
# A number far outside of what was learned from is cut there, so that its square is finite.
FARTHEST = 1e150


@dataclass(frozen=True, eq=False)
class NumberScale:
    """How numbers of a column are scaled; gaps become 0.

    Attributes
    ----------
    center, spread : float
    limit : float
        Where heavy tails are bent to, infinity for nowhere.
    knots, scores : ndarray or None
        Quantiles and what they become; then `center` and `spread` have no part in it.

    Examples
    --------
    >>> learn_scale(np.array([1.0, 2.0, np.nan, 3.0]), "robust")(np.array([2.0, 1e9, np.nan]))
    array([0., 4., 0.])
    """

    center: float = 0.0
    spread: float = 1.0
    limit: float = np.inf
    knots: np.ndarray | None = None
    scores: np.ndarray | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        if self.knots is not None and self.scores is not None:
            z = np.interp(values, self.knots, self.scores)
        else:
            with np.errstate(over="ignore"):
                z = (values - self.center) / self.spread
            np.clip(z, -FARTHEST, FARTHEST, out=z)
            if self.limit < np.inf:
                z /= np.hypot(1.0, z / self.limit)
        z[np.isnan(values)] = 0.0
        return z


@dataclass(frozen=True, eq=False)
class NumberScales:
    """A column on several scales, which share its weight.

    Each is divided by √k, so that two rows are as far apart in the root mean square as on one
    scale, whether the column is there once or k times.

    Attributes
    ----------
    scales : list of NumberScale
    parts : list of str
        What stands behind the name of the column in the names of the new ones.
    """

    scales: list[NumberScale]
    parts: list[str]

    def __call__(self, values: np.ndarray) -> np.ndarray:
        found = np.column_stack([scale(values) for scale in self.scales])
        return found / np.sqrt(len(self.scales))


def learn_scales(values: np.ndarray, numbers: Sequence[str]) -> NumberScale | NumberScales:
    """Return a column on each of some scales, without those that say nothing new.

    Examples
    --------
    >>> learn_scales(np.array([1.0, 2.0, 4.0, 1e6]), ("standard", "quantile")).parts
    ['', ' by rank']
    >>> learn_scales(np.array([1.0, 2.0, 2.0]), ("standard", "quantile")).knots is None
    True
    """
    present = values[~np.isnan(values)]
    scales: list[NumberScale] = []
    parts: list[str] = []
    found: list[np.ndarray] = []
    for name in numbers:
        scale = learn_scale(present, name)
        z = scale(present)
        if not any(np.corrcoef(z, other)[0, 1] > SAME for other in found):
            parts.append(SUFFIXES[name] if scales else "")
            scales.append(scale)
            found.append(z)
    return scales[0] if len(scales) == 1 else NumberScales(scales, parts)


def learn_scale(values: np.ndarray, numbers: str) -> NumberScale:
    """Return the scale of the entries that are there, of which at least two differ."""
    present = values[~np.isnan(values)]
    if numbers == "standard":
        means, spreads = moments(present[:, None], np.array([len(present)]))
        return NumberScale(float(means[0]), float(spreads[0]))
    ordered = np.sort(present)
    return _robust(ordered) if numbers == "robust" else _quantiles(ordered)


def is_even(values: np.ndarray) -> bool:
    """Tell whether all entries are the same, up to rounding errors.

    Examples
    --------
    >>> is_even(np.array([0.1 + 0.2, np.nan, 0.3])), is_even(np.array([1.0, 2.0]))
    (True, False)
    """
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return bool(high / 2 - low / 2 <= np.finfo(float).eps * max(abs(low), abs(high)))


def _robust(ordered: np.ndarray) -> NumberScale:
    """Return median and spread, from deciles or the whole range where the quartiles are equal."""
    # A power of two, division by which is exact, keeps differences of huge numbers finite.
    unit = float(np.ldexp(1.0, np.frexp(np.abs(ordered[[0, -1]]).max())[1] - 1))
    ordered = ordered / unit
    low, quarter, center, three, high = np.quantile(ordered, [0.1, 0.25, 0.5, 0.75, 0.9])
    ways = ((three - quarter) / QUARTILES, (high - low) / DECILES, (ordered[-1] - ordered[0]) / 2)
    spread = next(way for way in ways if way > np.finfo(float).eps)
    # Of the largest numbers that there are, and of the smallest, the spread is one of them.
    largest, smallest = np.finfo(float).max, float(np.nextafter(0.0, 1.0))
    spread = float(min(spread, largest / max(unit, 1.0)))
    return NumberScale(float(center) * unit, max(spread * unit, smallest), LIMIT)


def _quantiles(ordered: np.ndarray) -> NumberScale:
    """Return at most 1000 quantiles with their normal scores."""
    n = len(ordered)
    places = np.unique(np.linspace(0, n - 1, min(n, MAX_QUANTILES)).round().astype(np.int64))
    knots = np.unique(ordered[places])
    # Equal entries take the middle of the ranks that they share.
    first, last = (np.searchsorted(ordered, knots, side) for side in ("left", "right"))
    return NumberScale(knots=knots, scores=ndtri((first + last) / (2 * n)))
