"""Intervals: which other values of a parameter would the data put up with?

*Profile*: all values for which twice the loss in log-likelihood, the other parameters being fitted
anew, stays below the quantile of χ² with one degree of freedom (Venzon & Moolgavkar, 1988). It
knows that sensitivity cannot be negative, and is not symmetric where the likelihood is not.
*Bootstrap*: quantiles of the parameters that are fitted to responses simulated from the fitted
model, the parametric bootstrap (Efron & Tibshirani, 1993, chapter 13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import chi2

from mercer.cognition.choices.fitting import (
    Constraint,
    Minimum,
    ParameterLayout,
    ResponseLoss,
    Simplex,
    search,
)
from mercer.cognition.choices.reals import Reals
from mercer.cognition.experiments.responses import Responses, log_softmax
from mercer.domains import real_numbers
from mercer.errors import DomainError

__all__ = [
    "Profile",
    "bootstrap_intervals",
    "interval_ends",
    "parameter_scale",
    "profile_interval",
    "profile_intervals",
    "simulate_counts",
]

REAL_EDGE = 200.0  # units from the best value of a number of either sign
INTERVAL_EDGE = 14.0  # of a number, or of odds; beyond it counts as 0, 1 or infinite
MAX_STEPS, FLAT = 200, 1e-6  # of a search: its error in the log-likelihood is quadratic in FLAT
EPSILON = 4 * float(np.finfo(float).eps)  # the smallest relative tolerance of Brent's method


def profile_intervals(
    objective: ResponseLoss, best: Minimum, level: float
) -> dict[str, np.ndarray]:
    """Return the profile-likelihood interval of each free parameter.

    Shape (2,) for a number and (d, 2) for d weights. An end that the data never refuse is 0, 1 or
    infinity.
    """
    found: dict[str, np.ndarray] = {}
    for part in objective.layout.parts:
        if isinstance(part, Simplex) and part.size == 1:
            found[part.name] = np.ones((1, 2))
        elif isinstance(part, Simplex) or (isinstance(part, Reals) and not part.scalar):
            ends = [interval_ends(objective, best, part, k, level) for k in range(part.size)]
            found[part.name] = np.array(ends)
        else:
            found[part.name] = np.array(interval_ends(objective, best, part, None, level))
    return found


def interval_ends(
    objective: ResponseLoss, best: Minimum, part: Constraint, place: int | None, level: float
) -> tuple[float, float]:
    """Return both ends of one interval."""
    value = best.params[part.name] if place is None else best.params[part.name][place]
    there, back, edges, reach = parameter_scale(part, place)
    with np.errstate(divide="ignore"):
        middle = float(there(value))
    if place is None or isinstance(part, Reals):
        limits = (middle - reach, middle + reach)
    else:
        limits = (-reach, reach)
        middle = float(np.clip(middle, *limits))
    cutoff = float(chi2.ppf(level, 1))
    profile = Profile(objective, best, part.name, place, back, cutoff, middle)
    ends = []
    for sign, limit, edge in zip((-1.0, 1.0), limits, edges, strict=True):
        crossing = _crossing(profile, middle, _away(middle, sign, limit), 1e-4, 1e-8)
        ends.append(edge if crossing is None else float(back(crossing)))
    return ends[0], ends[1]


def parameter_scale(
    part: Constraint, place: int | None
) -> tuple[Any, Any, tuple[float, float], float]:
    """Return the scale on which a parameter is looked for: there, back, its edges, how far."""
    if isinstance(part, Reals):
        unit = part.units[place or 0]
        return lambda v: v / unit, lambda t: t * unit, (-np.inf, np.inf), REAL_EDGE
    if place is None:
        return np.log, np.exp, (0.0, np.inf), INTERVAL_EDGE
    return logit, expit, (0.0, 1.0), INTERVAL_EDGE


class Profile:
    """By how much the deviance exceeds a cutoff where one parameter is held fixed."""

    def __init__(
        self,
        objective: ResponseLoss,
        best: Minimum,
        name: str,
        place: int | None,
        back: Callable[[float], Any],
        cutoff: float,
        middle: float,
    ) -> None:
        self.objective, self.best, self.name, self.place = objective, best, name, place
        self.back, self.cutoff = back, cutoff
        self.known = {middle: (-cutoff, best.params)}

    def __call__(self, t: float) -> float:
        if t not in self.known:
            layout = self.objective.layout.pin(self.name, self.place, float(self.back(t)))
            held = replace(self.objective, layout=layout)
            found = search(held, self._starts(layout, t), MAX_STEPS, FLAT)
            deviance = 2 * self.objective.data.total * (found.value - self.best.value)
            self.known[t] = (deviance - self.cutoff, found.params)
        return self.known[t][0]

    def _starts(self, layout: ParameterLayout, t: float) -> list[np.ndarray]:
        """Return where the other parameters were close by, and where a line leads them."""
        near = sorted(self.known, key=lambda other: abs(other - t))[:2]
        places = [layout.coordinates(self.known[other][1]) for other in near]
        if len(near) == 1:
            return places
        step = (t - near[0]) / (near[1] - near[0])
        return [places[0] + step * (places[1] - places[0]), places[0]]


def _away(middle: float, sign: float, limit: float) -> Iterator[float]:
    """Yield places on the way to a limit, in steps that double from ¼ up to 2."""
    place, step = middle, 0.25
    while place != limit:
        place += sign * step
        place = max(place, limit) if sign < 0 else min(place, limit)
        yield place
        step = min(2 * step, 2.0)


def _crossing(
    excess: Callable[[float], float],
    inside: float,
    places: Iterable[float],
    xtol: float,
    rtol: float,
) -> float | None:
    """Return where an excess becomes positive on the way over some places, or None."""
    for outside in places:
        if excess(outside) > 0:
            if excess(inside) >= 0:  # as with data that lie exactly on a curve
                return inside
            return float(brentq(excess, inside, outside, xtol=xtol, rtol=rtol))
        inside = outside
    return None


def simulate_counts(log_p: np.ndarray, totals: ArrayLike, rng: np.random.Generator) -> np.ndarray:
    """Return random counts with these probabilities and totals.

    Examples
    --------
    >>> simulate_counts(np.log([[0.5, 0.5]]), 10, np.random.default_rng(0)).sum()
    np.float64(10.0)
    """
    p = np.exp(log_p)
    p /= p.sum(axis=1, keepdims=True)
    sizes = real_numbers(totals, "trials").ravel()
    if len(sizes) not in (1, len(p)) or (sizes < 0).any() or (sizes != np.round(sizes)).any():
        raise DomainError(
            f"trials must be one whole number, or one for each of {len(p)} stimuli; found "
            f"{np.asarray(totals).tolist()}"
        )
    sizes = np.broadcast_to(sizes, (len(p),)).astype(np.int64)
    return rng.multinomial(sizes, p).astype(np.float64)


def bootstrap_intervals(
    objective: ResponseLoss, best: Minimum, level: float, samples: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return quantiles of the parameters fitted to simulated responses, like profiles."""
    log_p = log_softmax(objective.rule(best.params)[0])
    start = objective.layout.coordinates(best.params)
    draws: dict[str, list[Any]] = {part.name: [] for part in objective.layout.parts}
    for _ in range(samples):
        again = Responses(simulate_counts(log_p, objective.data.totals, rng))
        # Where the likelihood is flat, a descent from one place would not leave it.
        starts = [start, *(start + rng.normal(size=start.shape) for _ in range(2))]
        found = search(replace(objective, data=again), starts, MAX_STEPS, FLAT)
        for name, values in draws.items():
            values.append(found.params[name])
    tails = [(1 - level) / 2, (1 + level) / 2]
    return {name: np.quantile(values, tails, axis=0).T for name, values in draws.items()}


def profile_interval(
    profile: Callable[[float], float],
    best: float,
    limit: float,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    step: float = 0.05,
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
        Away from the best value, doubled until the loss is beyond its limit.

    Examples
    --------
    >>> low, high = profile_interval(lambda value: (value - 3.0) ** 2, 3.0, 4.0)
    >>> round(low, 6), round(high, 6)
    (1.0, 5.0)
    """
    ends = []
    for bound, sign in zip(bounds, (-1.0, 1.0), strict=True):
        places = _doubling(best, sign * step, bound)
        end = _crossing(lambda value: profile(value) - limit, best, places, 1e-8, EPSILON)
        ends.append(bound if end is None else end)
    return ends[0], ends[1]


def _doubling(best: float, step: float, bound: float) -> Iterator[float]:
    """Yield places up to a bound, each twice as far from the best as the one before."""
    for _ in range(60):
        place = float(np.clip(best + step, min(bound, best), max(bound, best)))
        yield place
        if place == bound:
            return
        step *= 2
