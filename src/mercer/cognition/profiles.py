"""Profile intervals: all values of a parameter that the data cannot tell from the best one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

__all__ = ["profile_interval"]

FIRST = 0.05  # step away from the best value, doubled until the loss is beyond its limit


def profile_interval(
    profile: Callable[[float], float],
    best: float,
    limit: float,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    step: float = FIRST,
) -> tuple[float, float]:
    """Return how far a parameter can go until the profile of the loss passes a limit.

    Parameters
    ----------
    profile : callable
        The smallest loss that the other parameters reach for a value of this one.
    best : float
        Where the loss is smallest.
    limit : float
    bounds : (float, float)
        Ends of an interval that the limit does not stop.
    step : float

    Examples
    --------
    >>> low, high = profile_interval(lambda value: (value - 3.0) ** 2, 3.0, 4.0)
    >>> round(low, 6), round(high, 6)
    (1.0, 5.0)
    """
    low, high = bounds
    return _end(profile, best, limit, low, -step), _end(profile, best, limit, high, step)


def _end(
    profile: Callable[[float], float], best: float, limit: float, bound: float, step: float
) -> float:
    """Go away from the best value until the limit is passed, then find where."""
    inside = best
    for _ in range(60):
        outside = float(np.clip(best + step, min(bound, best), max(bound, best)))
        if profile(outside) > limit:
            if profile(inside) >= limit:  # as with data that lie exactly on a curve
                return inside
            return float(brentq(lambda value: profile(value) - limit, inside, outside, xtol=1e-8))
        if outside == bound:
            break
        inside, step = outside, 2 * step
    return bound
