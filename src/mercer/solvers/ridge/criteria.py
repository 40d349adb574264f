"""Criteria: how good a ridge regression is, without other data.

Ridge regression with weights W = S² solves (SKS + λI)α + b·S1 = Sy (see
`mercer.solvers.ridge.solver`). Let P be the inverse of M = SKS + λI, or with an intercept the part
of it that is orthogonal to s = S1: P = M⁻¹ − M⁻¹s(M⁻¹s)ᵀ/sᵀM⁻¹s. Then α = PSy, and for n items

*leave-one-out*: the error at item i of the machine that was fitted without it is αᵢ/Pᵢᵢ, times
    1/sᵢ (Golub, Heath & Wahba, 1979). The criterion is the mean of its square, weighted by W.
*gcv*: generalized cross-validation, the same with the mean of all Pᵢᵢ for each. With unit weights
    it is n·RSS/(n − tr H)², and the trace counts the intercept.
*evidence*: −log p(y) of a Gaussian process, y ~ N(b, K + λW⁻¹), so λ is the variance of noise.
    Without intercept b = 0. With one, b has a flat prior and is integrated out, as in restricted
    maximum likelihood (Rasmussen & Williams, 2.45).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mercer.errors import SelectionError, suggestion

__all__ = ["CRITERIA", "RidgeFit", "criterion_name", "log_volume", "negative_log_density"]

CRITERIA = ("leave-one-out", "gcv", "evidence")


@dataclass(frozen=True)
class RidgeFit:
    """What all criteria are made of.

    Attributes
    ----------
    target : ndarray of shape (n, targets)
        Sy.
    alpha : ndarray of shape (n, targets)
    own : ndarray of shape (n,)
        The diagonal of P.
    weight : float
        Sum of the weights.
    log_volume : float
        Of the noise and the function, see `log_volume`.
    """

    target: np.ndarray
    alpha: np.ndarray
    own: np.ndarray
    weight: float
    log_volume: float

    @classmethod
    def of(
        cls,
        target: np.ndarray,
        alpha: np.ndarray,
        own: np.ndarray,
        weights: np.ndarray,
        log_determinant: float,
        certainty: float | None,
    ) -> RidgeFit:
        """Return the fit from the parts of a solution; `certainty` is sᵀM⁻¹s, or None."""
        volume = log_volume(log_determinant, weights, certainty)
        return cls(target, alpha, own, float(weights.sum()), volume)

    def errors(self, name: str = "leave-one-out") -> tuple[np.ndarray, np.ndarray]:
        """Return the errors at items left out, times sᵢ, and what α was divided by."""
        own = self.own if name == "leave-one-out" else np.full_like(self.own, self.own.mean())
        return self.alpha / own[:, None], own

    def value(self, name: str) -> float:
        """Return a criterion."""
        if name == "evidence":
            energy, targets = float(np.sum(self.target * self.alpha)), self.target.shape[1]
            return negative_log_density(energy, targets, self.log_volume)
        errors, _ = self.errors(name)
        return float(np.sum(errors**2)) / (self.weight * errors.shape[1])

    def training_error(self, penalty: float) -> float:
        """Return the mean squared error on the items themselves: y − f − b = λα/s."""
        return float(np.sum(self.alpha**2)) * penalty**2 / (self.weight * self.alpha.shape[1])

    def degrees(self, penalty: float) -> float:
        """Return n − λ tr P, the trace of the map from y to fitted values."""
        return len(self.own) - penalty * float(self.own.sum())


def negative_log_density(energy: float, targets: int, log_volume: float) -> float:
    """Return −log p(y), summed over targets, from the sum of all yᵀSPSy."""
    return (energy + targets * log_volume) / 2


def log_volume(log_determinant: float, weights: np.ndarray, certainty: float | None) -> float:
    """Return log |2π(K + λW⁻¹)| from log |SKS + λI|.

    With an intercept, whose `certainty` is sᵀM⁻¹s, one dimension is integrated out.
    """
    found = log_determinant + len(weights) * math.log(2 * math.pi)
    found -= float(np.sum(np.log(weights)))
    return found if certainty is None else found + math.log(certainty / (2 * math.pi))


def criterion_name(name: str) -> str:
    """Return the name of a criterion, refusing others; "loo" is short for "leave-one-out"."""
    name = "leave-one-out" if name == "loo" else name
    if name not in CRITERIA:
        raise SelectionError(f"unknown criterion {name!r}{suggestion(name, CRITERIA)}")
    return name
