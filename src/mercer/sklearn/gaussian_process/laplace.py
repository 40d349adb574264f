"""Laplace's approximation: a Gaussian process seen through labels of two classes.

With labels t of 0 and 1 and p(t=1|f) = 1/(1 + exp(−f)), the posterior of the values f is taken for
a Gaussian around its mode. At the mode f = Ka with a = t − π; with W = π(1 − π) and
B = I + √W K √W, the probability of the labels is approximately (Rasmussen & Williams, 3.32)

    log q(t) = −½aᵀf − Σ log(1 + exp(−zf)) − ½log|B|,    z = 2t − 1.

The mode is unique: a concave function is maximized by Newton's method with halved steps
(algorithm 3.1), started where the last one ended.

Derivatives by the Gram matrix (algorithm 5.1) are those of G = ½(aaᵀ − R) + ½(uaᵀ + auᵀ), with
R = √W B⁻¹ √W and u = (I − RK)s, where sᵢ = −½ΣᵢᵢWᵢ(1 − 2πᵢ) is how log q changes with fᵢ. The
variances Σᵢᵢ of the posterior need no product of matrices: ΣᵢᵢWᵢ = 1 − (B⁻¹)ᵢᵢ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from mercer import lapack

__all__ = ["Mode", "find_mode", "gram_slopes"]

SOLVED = 1e-9  # of the largest entry of t − π − a, which are probabilities
HALVINGS = 30  # of a step, after which rounding is what is left
ROUNDING = 64 * lapack.EPS  # share of a height by which it may seem to fall


@dataclass(frozen=True)
class Mode:
    """Where the posterior is highest.

    Attributes
    ----------
    coefficients : ndarray of shape (n,)
        a.
    shares : ndarray of shape (n,)
        π, the probabilities of the class of label 1.
    roots : ndarray of shape (n,)
        √W.
    factor : ndarray of shape (n, n)
        L of B = LLᵀ, below the diagonal; what is above it means nothing.
    log_likelihood : float
    """

    coefficients: np.ndarray
    shares: np.ndarray
    roots: np.ndarray
    factor: np.ndarray
    log_likelihood: float


def find_mode(K: np.ndarray, t: np.ndarray, steps: int, start: np.ndarray | None = None) -> Mode:
    """Return the mode for labels t of 0 and 1, by at most so many steps of Newton's method.

    Examples
    --------
    >>> mode = find_mode(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([0.0, 1.0]), 100)
    >>> mode.coefficients.round(4), round(mode.log_likelihood, 4)
    (array([-0.4011,  0.4011]), -1.565)
    """
    a = np.zeros(len(t)) if start is None else start
    f, z, before = K @ a, 2 * t - 1, np.inf
    for step in range(steps + 1):
        shares = expit(f)
        W = shares * (1 - shares)
        roots = np.sqrt(W)
        B = K * roots
        B *= roots[:, None]
        B.flat[:: len(B) + 1] += 1.0
        if not lapack.factor(B):
            raise np.linalg.LinAlgError("the kernel is not returning a positive definite matrix")
        wrong = float(np.abs(t - shares - a).max())
        if wrong <= SOLVED or wrong >= before or step == steps:
            break
        b = W * f + t - shares
        change = b - roots * lapack.solve(B, roots * (K @ b)) - a
        moved = K @ change
        size, gain = _step(a, f, change, moved, z)
        if size == 0:
            break
        a, f = a + size * change, f + size * moved
        before = wrong if gain <= 0 else np.inf  # then only what is wrong says whether it helps
    value = _height(a, f, z) - float(np.sum(np.log(np.diag(B))))
    return Mode(a, shares, roots, B, value)


def _height(a: np.ndarray, f: np.ndarray, z: np.ndarray) -> float:
    return -float(a @ f) / 2 - float(np.sum(np.logaddexp(0.0, -z * f)))


def _step(
    a: np.ndarray, f: np.ndarray, change: np.ndarray, moved: np.ndarray, z: np.ndarray
) -> tuple[float, float]:
    """Return how much of Newton's step leads upward, mostly all of it, and how far."""
    here, size = _height(a, f, z), 1.0
    for _ in range(HALVINGS):
        gain = _height(a + size * change, f + size * moved, z) - here
        if gain >= -ROUNDING * abs(here):
            return size, gain
        size /= 2
    return 0.0, 0.0


def gram_slopes(K: np.ndarray, mode: Mode) -> np.ndarray:
    """Return G, by which log q changes as Σ Gᵢⱼ dKᵢⱼ; the mode's factor is overwritten.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> gram_slopes(K, find_mode(K, np.array([0.0, 1.0]), 100)).round(3)
    array([[ 0.007, -0.077],
           [-0.077,  0.007]])
    """
    a, roots = mode.coefficients, mode.roots
    L = mode.factor
    own = np.empty(len(a))
    # The diagonal of B⁻¹ is needed before anything else is overwritten, and B⁻¹ for R.
    inverse = lapack.inverse_from_factor_inverse(lapack.invert(L.copy()))
    own[:] = np.diag(inverse)
    s = -0.5 * (1 - own) * (1 - 2 * mode.shares)
    u = s - roots * lapack.solve(L, roots * (K @ s))
    inverse *= -0.5 * roots
    inverse *= roots[:, None]
    G = lapack.mirror(inverse)
    G += np.outer(a / 2, a + u)
    G += np.outer(u / 2, a)
    return G
