"""How often a quadratic function of a Gaussian vector is positive.

In the coordinates in which both the Gaussian is white and the quadratic form is diagonal, the
function is a sum of independent terms aw² + bw with standard normal w. One term has a closed form,
more are an integral of their characteristic function.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr

__all__ = ["positive_probability"]

PRECISE = {"epsabs": 1e-13, "epsrel": 1e-11, "limit": 400}
WAVY = {"epsabs": 1e-11, "limit": 400, "limlst": 200}
Term = tuple[float, float]


def positive_probability(
    matrix: np.ndarray,
    vector: np.ndarray,
    constant: float,
    mean: np.ndarray,
    covariance: np.ndarray,
) -> float:
    """Return P(xᵀAx + bᵀx + c > 0) of a Gaussian x, with an absolute error of about 1e-10.

    Examples
    --------
    >>> one = np.eye(1)
    >>> p = positive_probability(one, np.zeros(1), -1.0, np.zeros(1), one)  # |x| > 1
    >>> round(p, 9)
    0.317310508
    """
    L = np.linalg.cholesky(covariance)
    values, Q = np.linalg.eigh(L.T @ matrix @ L)
    slopes = Q.T @ L.T @ (2 * matrix @ mean + vector)
    c = float(mean @ matrix @ mean + vector @ mean + constant)
    # All directions without curvature are one Gaussian together.
    flat = np.abs(values) <= 1e-13 * max(1.0, float(np.abs(values).max()))
    straight = float(np.linalg.norm(slopes[flat]))
    terms = [(float(a), float(b)) for a, b in zip(values[~flat], slopes[~flat], strict=True)]
    terms += [(0.0, straight)] if straight > 0 else []
    if len(terms) == 1:
        return _one(*terms[0], c)
    center = c + sum(a for a, _ in terms)
    spread = np.sqrt(sum(2 * a * a + b * b for a, b in terms))
    # So far out the probability of the other sign is below 1e-18.
    return float(center > 0) if abs(center) >= 60 * spread else _many(terms, c)


def _one(a: float, b: float, c: float) -> float:
    """Return P(aw² + bw + c > 0) by the roots of the parabola."""
    if a == 0:
        return float(ndtr(c / abs(b))) if b else float(c > 0)
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        return float(a > 0)
    # The root that subtracts nearly equal numbers is found from the other one.
    far = -(b + np.copysign(np.sqrt(discriminant), b)) / 2
    low, high = sorted((far / a, c / far))
    between = float(ndtr(high) - ndtr(low)) if low < 0 else float(ndtr(-low) - ndtr(-high))
    return 1 - between if a > 0 else between


def _many(terms: list[Term], c: float) -> float:
    """Return ½ + (1/π) ∫ Im φ(t)/t dt with the characteristic function φ (Gil-Pelaez, 1951)."""
    a, b = np.array(terms).T
    # φ(t) = exp(iωt)ψ(t), where ψ settles down, unless nearly straight terms end it before.
    curved = b * b < 320 * a * a
    turn = c - float(np.sum(b[curved] ** 2 / (4 * a[curved])))

    def settled(t: float) -> complex:
        root = 1 - 2j * t * a
        log = -np.sum(np.log(root) / 2 + (b * t) ** 2 / (2 * root)) + 1j * t * (c - turn)
        return complex(np.exp(log)) / t

    def integrand(t: float) -> float:
        return (settled(t) * np.exp(1j * turn * t)).imag

    total, low, high = 0.0, 0.0, 4 / float(np.sqrt(np.sum(2 * a * a + b * b)))
    for _ in range(20):
        total += quad(integrand, low, high, **PRECISE)[0]
        if abs(settled(high)) * high < 1e-13:
            return 0.5 + total / np.pi
        if abs(turn) * high > 20:
            break
        low, high = high, 2 * high
    if abs(turn) * high > 20:  # QUADPACK knows integrals of slow functions times a wave
        total += quad(lambda t: settled(t).imag, high, np.inf, weight="cos", wvar=turn, **WAVY)[0]
        total += quad(lambda t: settled(t).real, high, np.inf, weight="sin", wvar=turn, **WAVY)[0]
    else:
        total += quad(integrand, low, np.inf, **PRECISE)[0]
    return 0.5 + total / np.pi
