"""Two categories that are Gaussian clouds, so that the best possible answers are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mercer.datasets.dataset import Dataset
from mercer.errors import DomainError

__all__ = ["correlated_classes", "positive_probability", "two_gaussians"]

PRECISE = {"epsabs": 1e-13, "epsrel": 1e-11, "limit": 400}
WAVY = {"epsabs": 1e-11, "limit": 400, "limlst": 200}
Term = tuple[float, float]


def two_gaussians(
    count: int = 80,
    means: ArrayLike = ((-0.6, 0.0), (1.3, 0.2)),
    covariances: ArrayLike = (((1.6, 0.5), (0.5, 0.9)), ((0.7, -0.4), (-0.4, 1.3))),
    priors: tuple[float, float] = (0.5, 0.5),
    seed: int = 0,
) -> Dataset:
    """Draw two overlapping categories; with the optimal decision bound and the Bayes error.

    The overlap makes errors unavoidable, as in figs. 7 and 8 of Jäkel, Schölkopf & Wichmann
    (2007). The best rule answers by the sign of log p₂N(x|m₂, S₂) − log p₁N(x|m₁, S₁), a quadratic
    function of x.

    Parameters
    ----------
    count : int
        Items of both categories together, divided in the proportion of the priors.
    means : array of shape (2, d)
    covariances : array of shape (2, d, d)
    priors : pair of float
        How frequent the categories are; divided by their sum.
    seed : int

    Returns
    -------
    Dataset
        Labels −1 and 1. ``extra["bound"]`` is the optimal decision function (positive for label
        1), ``extra["bayes_error"]`` the error of its sign on new items.

    Examples
    --------
    >>> problem = two_gaussians(seed=1)
    >>> X, y = problem
    >>> wrong = np.mean(np.sign(problem.extra["bound"](X)) != y)
    >>> print(f"{wrong:.3f} of these items, {problem.extra['bayes_error']:.3f} of all")
    0.138 of these items, 0.164 of all
    """
    means, covariances, p = _parameters(means, covariances, priors)
    rng = np.random.default_rng(seed)
    first = round(count * p[0])
    if not 0 < first < count:
        raise DomainError(f"{count} items with priors {priors} leave a category without items")
    L = np.linalg.cholesky(covariances)
    X = np.concatenate(
        [
            means[k] + rng.standard_normal((size, means.shape[1])) @ L[k].T
            for k, size in enumerate((first, count - first))
        ]
    )
    bound = GaussianBound(means, covariances, p)
    extra = {"bound": bound, "bayes_error": bound.error(), "means": means}
    extra |= {"covariances": covariances, "priors": p}
    return Dataset(X, np.repeat([-1, 1], (first, count - first)), ("circles", "crosses"), extra)


def correlated_classes(count: int = 60, seed: int = 0) -> Dataset:
    """Draw two Gaussian categories with strongly correlated dimensions (fig. 2).

    Both have the same covariance, so the best bound is straight; but it is orthogonal to the line
    between the means only in the inner product of the inverse covariance.

    Parameters
    ----------
    count : int
        Items, half of them in each category.
    seed : int

    Returns
    -------
    Dataset
        With the error of the best bound in ``extra["bayes_error"]``.

    Examples
    --------
    >>> round(correlated_classes().extra["bayes_error"], 5)
    0.00102
    """
    covariance = np.array([[1.0, 0.97], [0.97, 1.0]])
    means = [[-0.75, 0.0], [0.75, 0.0]]
    return two_gaussians(count, means, [covariance, covariance], seed=seed)


class GaussianBound:
    """The log odds of two Gaussian categories: the decision function that errs least."""

    def __init__(self, means: np.ndarray, covariances: np.ndarray, priors: np.ndarray) -> None:
        self.means, self.covariances, self.priors = means, covariances, priors
        P = np.linalg.inv(covariances)
        self.matrix = (P[0] - P[1]) / 2
        self.vector = P[1] @ means[1] - P[0] @ means[0]
        heights = np.log(priors) - np.linalg.slogdet(covariances)[1] / 2
        heights -= np.einsum("ki,kij,kj->k", means, P, means) / 2
        self.constant = float(heights[1] - heights[0])

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Return xᵀAx + bᵀx + c of each row, positive where the second category is likelier."""
        X = np.asarray(X, dtype=np.float64)
        return np.sum((X @ self.matrix) * X, axis=1) + X @ self.vector + self.constant

    def error(self) -> float:
        """Return the probability that the sign is wrong on a new item."""
        form = (self.matrix, self.vector, self.constant)
        wrong, right = (
            positive_probability(*form, mean, covariance)
            for mean, covariance in zip(self.means, self.covariances, strict=True)
        )
        return float(self.priors[0] * wrong + self.priors[1] * (1 - right))


def _parameters(
    means: ArrayLike, covariances: ArrayLike, priors: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the parameters as arrays, refusing what describes no two Gaussians."""
    means, covariances = np.asarray(means, float), np.asarray(covariances, float)
    p = np.asarray(priors, float)
    if means.ndim != 2 or len(means) != 2 or covariances.shape != (2, *2 * means.shape[1:]):
        raise DomainError(
            "two Gaussians need means of shape (2, d) and covariances of shape (2, d, d), found "
            f"{means.shape} and {covariances.shape}"
        )
    if p.shape != (2,) or not np.isfinite(p).all() or (p <= 0).any():
        raise DomainError(f"priors must be two positive numbers, found {priors!r}")
    if not np.isfinite(means).all() or not np.isfinite(covariances).all():
        raise DomainError("the means or covariances hold NaN or infinity")
    for k, S in enumerate(covariances):
        if not np.allclose(S, S.T) or np.linalg.eigvalsh(S)[0] <= 0:
            raise DomainError(f"covariance {k} is not symmetric and positive definite")
    return means, covariances, p / p.sum()


def positive_probability(
    matrix: np.ndarray,
    vector: np.ndarray,
    constant: float,
    mean: np.ndarray,
    covariance: np.ndarray,
) -> float:
    """Return P(xᵀAx + bᵀx + c > 0) of a Gaussian x, with an absolute error of about 1e-10.

    In the coordinates in which both the Gaussian is white and the quadratic form is diagonal, the
    function is a sum of independent terms aw² + bw with standard normal w. One term has a closed
    form, more are an integral of their characteristic function.

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
    from scipy.special import ndtr  # which takes a while to load

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
    from scipy.integrate import quad  # which takes a while to load

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
