"""The pinball loss: quantile regression as a quadratic program with a certificate.

ρ_τ(r) = max(τr, (τ − 1)r) is smallest, on average, at the quantile of level τ (Koenker & Bassett,
1978). The regularized problem of a kernel's space (Takeuchi, Le, Sears & Smola, 2006)

    minimize ½|f|² + C Σ wᵢ ρ_τ(yᵢ − f(xᵢ) − b)

has the dual: maximize yᵀβ − ½βᵀKβ over (τ − 1)Cwᵢ ≤ βᵢ ≤ τCwᵢ with Σβ = 0, and f = Σ βᵢk(·, xᵢ).
That is a program of support vector machines, one variable for each item, so that its solver and
certificate serve: the gap of `mercer.solvers.quadratic` is the primal value less the dual one,

    Σ (F − b)₊(τCw − β) + (b − F)₊(β + (1 − τ)Cw) = Σ Cw ρ_τ(r) − βᵀr  with  r = F − b = y − f − b.

The offset b that minimizes the primal is a quantile of y − f, which is what makes the share of
items below the function τ, but for ties.
"""

from __future__ import annotations

import numpy as np

from mercer.solvers.quadratic import Quadratic

__all__ = ["pinball_gap", "pinball_loss", "pinball_program"]


def pinball_loss(residuals: np.ndarray, level: float) -> np.ndarray:
    """Return ρ_τ of each residual.

    Examples
    --------
    >>> pinball_loss(np.array([2.0, 0.0, -2.0]), 0.75)
    array([1.5, 0. , 0.5])
    """
    return np.asarray((level - (residuals < 0)) * residuals)


def pinball_program(y: np.ndarray, level: float, bounds: np.ndarray) -> Quadratic:
    """Return the dual program; `bounds` are Cwᵢ.

    Examples
    --------
    >>> problem = pinball_program(np.array([1.0, 2.0]), 0.75, np.ones(2))
    >>> problem.lower, problem.upper
    (array([-0.25, -0.25]), array([0.75, 0.75]))
    """
    return Quadratic(
        target=y, lower=(level - 1) * bounds, upper=level * bounds, start=np.zeros(len(y))
    )


def pinball_gap(
    beta: np.ndarray, slopes: np.ndarray, offset: float, level: float, bounds: np.ndarray
) -> float:
    """Return how far the primal value lies above the dual one, which bounds what is missing.

    Parameters
    ----------
    beta, slopes : ndarray
        β and y − Kβ.
    offset : float
    level : float
    bounds : ndarray
        Cwᵢ.

    Examples
    --------
    >>> y = np.array([1.0, 2.0])
    >>> pinball_gap(np.array([-0.5, 0.5]), y - [-0.5, 0.5], 1.5, 0.5, np.ones(2))
    0.0
    """
    r = slopes - offset
    return float(bounds @ pinball_loss(r, level) - beta @ r)
