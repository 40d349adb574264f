"""Fitting: parameters under which people would have answered as they did.

A choice model gives a score ηᵢₖ for each stimulus and category and answers with probability
pᵢₖ = exp ηᵢₖ / Σ exp ηᵢₗ. Maximum likelihood and least squares both start from slopes for η, which
the model carries on to its parameters; L-BFGS (Liu & Nocedal, 1989) does the rest, from several
starts, because the likelihood of attention weights can have several maxima.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from mercer.cognition.parameters import Layout
from mercer.cognition.responses import Responses, log_softmax
from mercer.threads import one_blas_thread

__all__ = ["Fit", "Minimum", "Objective", "Rule", "conclude", "search"]

Slopes = Callable[[np.ndarray], dict[str, Any]]
# A rule maps parameters to scores (m, categories), and slopes for those to slopes for parameters.
Rule = Callable[[Mapping[str, Any]], tuple[np.ndarray, Slopes]]

FLAT = 1e-9  # largest slope of the loss that counts as a minimum
LOOSE = 1e-3  # slope up to which a search that was stopped is trusted: valleys can be endless


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
        """2k − 2 log L (Akaike, 1974)."""
        return 2 * self.parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """k log n − 2 log L with n responses (Schwarz, 1978)."""
        return self.parameters * float(np.log(self.responses)) - 2 * self.log_likelihood


@dataclass(frozen=True)
class Objective:
    """The loss of a rule for some responses, as a function of the free coordinates.

    Examples
    --------
    >>> from mercer.cognition.parameters import Simplex
    >>> def guess(params):
    ...     return np.log(params["bias"])[None], lambda G: {"bias": G.sum(axis=0) / params["bias"]}
    >>> layout = Layout({"bias": np.array([0.5, 0.5])}, (Simplex("bias", 2),))
    >>> objective = Objective(guess, layout, Responses(np.array([[3.0, 1.0]])))
    >>> search(objective, [np.zeros(2)]).params["bias"].round(6)
    array([0.75, 0.25])
    """

    rule: Rule
    layout: Layout
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
        return self.slope <= LOOSE


def search(
    objective: Objective,
    starts: Iterable[np.ndarray],
    max_iter: int = 500,
    flat: float = FLAT,
) -> Minimum:
    """Return the best minimum that L-BFGS reaches from any of the starts."""
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


def conclude(rule: Rule, data: Responses, found: Minimum, parameters: int) -> Fit:
    """Return what there is to say about parameters that were found."""
    log_p = log_softmax(rule(found.params)[0])
    total = int(data.total) if data.are_counts else data.total
    return Fit(
        found.params, data.log_likelihood(log_p), data.sse(log_p), parameters, total, found.slope
    )
