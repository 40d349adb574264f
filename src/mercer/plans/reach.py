"""Reach: to which other penalties an inverse at one of them had better be extended.

From λ₀ to λ it takes 28/log((√κ + 1)/(√κ − 1)) steps (`mercer.solvers.nearby`), where κ > 1 is
(τ + λ)/(τ + λ₀) or the inverse of that, and τ the smallest eigenvalue of the matrix. That is the
bound of conjugate gradients for twelve digits. Most spectra attain it, being dense at their lower
end, at the residuals of 2e-11 that are asked for. The logarithm is 2 artanh(1/√κ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = ["Reach", "Trip", "steps_between"]

DIGITS = math.log(2e12)


@dataclass(frozen=True)
class Trip:
    """Which others are reached from a penalty, and in how many steps."""

    others: list[int]
    steps: float

    @property
    def longest(self) -> int:
        """Steps after which to give up."""
        return int(1.3 * self.steps) + 5


@dataclass(frozen=True)
class Reach:
    """What an inverse is worth.

    Parameters
    ----------
    worth : float
        How many steps take as long as an inverse.
    before : float
        How many take as long as the preparations for the first.

    Examples
    --------
    >>> penalties = np.array([1.0, 2.0, 4.0, 100.0])
    >>> Reach(worth=20.0, before=1.0).around(1, penalties, smallest=0.0).others
    [0, 2]
    """

    worth: float
    before: float

    def around(self, place: int, penalties: np.ndarray, smallest: float) -> Trip:
        """Return how far to go from one of the penalties."""
        order, steps, saved = self._all(penalties, smallest, np.array([place]))
        count = int(np.argmax(saved[0])) + 1 if saved.size else 0
        if not count or not saved[0, count - 1] > 0:
            return Trip([], 0.0)
        return Trip(order[0, :count].tolist(), float(steps[0, count - 1]))

    def best(self, penalties: np.ndarray, smallest: float) -> int | None:
        """Return the penalty from which most is saved, or None if nothing is.

        Examples
        --------
        >>> Reach(20.0, 1.0).best(np.array([1.0, 2.0, 4.0, 100.0]), smallest=0.0)
        1
        """
        saved = self._all(penalties, smallest, np.arange(len(penalties)))[2]
        if not saved.size or not saved.max() > 0:
            return None
        return int(np.argmax(saved.max(axis=1)))

    def inverses(self, penalties: np.ndarray, smallest: float = 0.0) -> float:
        """Return what all penalties take, in inverses; they must be ascending.

        Examples
        --------
        >>> reach = Reach(20.0, 1.0)
        >>> reach.inverses(np.array([1.0, 100.0])), round(reach.inverses(np.array([1.0, 2.0])), 1)
        (2.0, 1.9)
        """
        place = self.best(penalties, smallest)
        if place is None:
            return float(len(penalties))
        trip = self.around(place, penalties, smallest)
        left = np.delete(np.arange(len(penalties)), [place, *trip.others])
        sides = left[left < place], left[left > place]
        rest = sum(self.inverses(penalties[side], smallest) for side in sides)
        return 1 + (self.before + trip.steps) / self.worth + rest

    def _all(
        self, penalties: np.ndarray, smallest: float, poles: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the others from near to far, the steps to each, and what going there saves."""
        steps = steps_between(penalties[poles, None], penalties, smallest)
        steps[np.arange(len(poles)), poles] = np.inf  # last of all
        order = np.argsort(steps, axis=1, kind="stable")[:, :-1]
        steps = np.take_along_axis(steps, order, axis=1)
        count = np.arange(1, len(penalties))
        return order, steps, count * self.worth - self.before - steps


def steps_between(pole: np.ndarray, penalty: np.ndarray, smallest: float) -> np.ndarray:
    """Return how many steps it takes from the inverse at one penalty to the answer at another.

    Examples
    --------
    >>> steps_between(np.array([1.0]), np.array([1.0, 2.0, 5.0, 0.2]), 0.0).round()
    array([ 0., 16., 29., 29.])
    """
    inverse_root = np.exp(-np.abs(np.log(smallest + penalty) - np.log(smallest + pole)) / 2)
    with np.errstate(divide="ignore"):
        return DIGITS / (2 * np.arctanh(inverse_root))
