"""Fitting: parameters under which people would have answered as they did.

A choice model gives a score ηᵢₖ for each stimulus and category and answers with probability
pᵢₖ = exp ηᵢₖ / Σ exp ηᵢₗ. Maximum likelihood and least squares both start from slopes for η, which
the model carries on to its parameters; L-BFGS (Liu & Nocedal, 1989) does the rest, from several
starts, because the likelihood of attention weights can have several maxima.

L-BFGS walks in a space without constraints. A positive number is the exponential of any number,
and weights that sum to one are the softmax of any vector. The chain rule brings the slopes along:
for θ = eᶻ ∂E/∂z = θ·∂E/∂θ, and for w = softmax(z) ∂E/∂z = w∘(g − ⟨w, g⟩) with g = ∂E/∂w.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from mercer.cognition.choices.reals import PinnedReals, Reals, Share
from mercer.cognition.experiments.responses import Responses, log_softmax
from mercer.threads import one_blas_thread

__all__ = [
    "Fit",
    "Minimum",
    "ParameterLayout",
    "PinnedSimplex",
    "PositiveReal",
    "ResponseLoss",
    "Rule",
    "Simplex",
    "Unconstrained",
    "aic",
    "bic",
    "search",
    "summarize_fit",
]

LOG_BOUNDS = (-40.0, 40.0)  # e⁴⁰ is more than any sensitivity and less than any overflow
SMALLEST_START = 1e-3  # weight of attention or bias where a search begins


@dataclass(frozen=True)
class PositiveReal:
    """A positive number, by its logarithm.

    Attributes
    ----------
    name : str
    bounds : (float, float)
        Of the logarithm.
    """

    name: str
    bounds: tuple[float, float] = LOG_BOUNDS
    size = 1
    count = 1  # of free parameters

    def value(self, z: np.ndarray) -> float:
        return float(np.exp(z[0]))

    def coordinates(self, value: ArrayLike) -> np.ndarray:
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
    """

    name: str
    size: int
    bounds = LOG_BOUNDS

    @property
    def count(self) -> int:
        return self.size - 1

    def value(self, z: np.ndarray) -> np.ndarray:
        w = np.exp(z - z.max())
        return w / w.sum()

    def coordinates(self, value: ArrayLike) -> np.ndarray:
        z = np.log(np.maximum(value, 1e-17))  # below, nothing changes
        return z - z.mean()

    def pull(self, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return value * (slope - value @ slope)


@dataclass(frozen=True)
class PinnedSimplex:
    """Weights of which one has a given share, the others sharing the rest by a softmax."""

    name: str
    whole: int
    place: int
    share: float
    bounds = LOG_BOUNDS

    @property
    def size(self) -> int:
        return self.whole - 1

    @property
    def count(self) -> int:
        return self.whole - 2

    def value(self, z: np.ndarray) -> np.ndarray:
        w = np.full(self.whole, self.share)
        w[self._others] = (1 - self.share) * Simplex(self.name, self.size).value(z)
        return w

    def coordinates(self, value: ArrayLike) -> np.ndarray:
        return Simplex(self.name, self.size).coordinates(np.asarray(value)[self._others])

    def pull(self, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
        w, g = value[self._others], slope[self._others]
        inside = w / (1 - self.share) if self.share < 1 else np.zeros_like(w)
        return w * (g - inside @ g)

    @property
    def _others(self) -> np.ndarray:
        return np.arange(self.whole) != self.place


@dataclass(frozen=True)
class Unconstrained:
    """Numbers without a constraint, as a part of a layout of parameters."""

    name: str
    size: int
    bounds: tuple[float, float] = (-1e3, 1e3)

    @property
    def count(self) -> int:
        return self.size

    def value(self, z: np.ndarray) -> np.ndarray:
        return z

    def coordinates(self, value: ArrayLike) -> np.ndarray:
        return np.ravel(value)

    def pull(self, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return np.ravel(slope)


Constraint = PositiveReal | Simplex | PinnedSimplex | Unconstrained | Reals | PinnedReals | Share


@dataclass(frozen=True)
class ParameterLayout:
    """Which parameters are free, and where each has its coordinates in one vector.

    Attributes
    ----------
    given : mapping of str
        Values of all parameters; those that are not free keep them.
    parts : tuple of constraints
        The free ones.

    Examples
    --------
    >>> layout = ParameterLayout({"gamma": 2.0, "bias": [0.5, 0.5]}, (Simplex("bias", 2),))
    >>> layout.params(np.array([0.0, np.log(3)]))
    {'gamma': 2.0, 'bias': array([0.25, 0.75])}
    >>> layout.count
    1
    """

    given: Mapping[str, Any]
    parts: tuple[Constraint, ...]

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

    def pin(self, name: str, place: int | None, value: float) -> ParameterLayout:
        """Return the layout in which one number, or one weight of a simplex, is held fixed."""
        if place is None:
            rest = tuple(part for part in self.parts if part.name != name)
            return replace(self, given={**self.given, name: value}, parts=rest)
        parts = tuple(_pinned(p, place, value) if p.name == name else p for p in self.parts)
        return replace(self, parts=parts)


def _pinned(part: Constraint, place: int, value: float) -> Constraint:
    if isinstance(part, Reals):
        return PinnedReals(part.name, part.units, place, value)
    return PinnedSimplex(part.name, part.size, place, value)


Slopes = Callable[[np.ndarray], dict[str, Any]]
# A rule maps parameters to scores (m, categories), and slopes for those to slopes for parameters.
Rule = Callable[[Mapping[str, Any]], tuple[np.ndarray, Slopes]]


@dataclass(frozen=True)
class Fit:
    """Parameters that were fitted to one set of responses, and how well they describe it.

    Attributes
    ----------
    params : dict
        Values by name.
    log_likelihood : float
        Σ n log p, without the multinomial constant; NaN if the responses are proportions.
    sse : float
        Sum of squared errors of the proportions; of two categories only one is counted.
    parameters : int
        How many were free; d weights that sum to one are d − 1.
    responses : int or float
        How many there were in all.
    slope : float
        Largest slope of the loss (per response) that was left: the certificate.

    Examples
    --------
    >>> fit = Fit({"gamma": 1.0}, -10.0, 0.1, 1, 20, 0.0)
    >>> fit.aic, round(fit.bic, 3)
    (22.0, 22.996)
    """

    params: dict[str, Any]
    log_likelihood: float
    sse: float
    parameters: int
    responses: float
    slope: float

    @property
    def aic(self) -> float:
        return aic(self.log_likelihood, self.parameters)

    @property
    def bic(self) -> float:
        return bic(self.log_likelihood, self.parameters, self.responses)


@dataclass(frozen=True)
class ResponseLoss:
    """The loss of a rule for some responses, as a function of the free coordinates."""

    rule: Rule
    layout: ParameterLayout
    data: Responses
    loss: str = "likelihood"

    def __call__(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss and its gradient."""
        params = self.layout.params(z)
        scores, slopes = self.rule(params)
        loss = self.data.sse_loss if self.loss == "sse" else self.data.likelihood_loss
        value, G = loss(log_softmax(scores))
        return value, self.layout.pull(params, slopes(G))


@dataclass(frozen=True)
class Minimum:
    """The lowest point that was found: coordinates, values of the parameters, loss, slope."""

    z: np.ndarray
    params: dict[str, Any]
    value: float
    slope: float

    @property
    def converged(self) -> bool:
        return self.slope <= 1e-3  # a search that was stopped is trusted: valleys can be endless


def search(
    objective: ResponseLoss, starts: Iterable[np.ndarray], max_iter: int = 500, flat: float = 1e-9
) -> Minimum:
    """Return the best minimum that L-BFGS reaches from any of the starts.

    A slope of the loss up to `flat` counts as a minimum.
    """
    layout, best = objective.layout, None
    if not layout.parts:
        z = np.empty(0)
        return Minimum(z, layout.params(z), objective(z)[0], 0.0)
    options = {"maxiter": max_iter, "ftol": 1e-14, "gtol": flat, "maxcor": 12}
    bounds = np.array(layout.bounds)
    with one_blas_thread:  # for so few numbers more threads would only wait for each other
        for start in starts:
            found = minimize(
                objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
            if best is None or found.fun < best.fun:
                best = found
    assert best is not None
    inside = (best.x > bounds[:, 0]) & (best.x < bounds[:, 1])
    slope = float(np.abs(np.where(inside, best.jac, 0.0)).max())
    return Minimum(best.x, layout.params(best.x), float(best.fun), slope)


def aic(log_likelihood: float, parameters: int) -> float:
    """Return 2k − 2 log L (Akaike, 1974)."""
    return 2 * parameters - 2 * log_likelihood


def bic(log_likelihood: float, parameters: int, responses: float) -> float:
    """Return k log n − 2 log L with n responses (Schwarz, 1978)."""
    return parameters * float(np.log(responses)) - 2 * log_likelihood


def summarize_fit(rule: Rule, data: Responses, found: Minimum, parameters: int) -> Fit:
    """Return what there is to say about parameters that were found."""
    log_p = log_softmax(rule(found.params)[0])
    total = int(data.total) if data.are_counts else data.total
    return Fit(
        found.params, data.log_likelihood(log_p), data.sse(log_p), parameters, total, found.slope
    )
