"""Linear machines with squared slacks in the primal, by Newton's method, for few columns.

Minimizes P(w) = ½|w|² + Σ cᵢuᵢ², where uᵢ is how far the value fᵢ = ⟨w, xᵢ⟩ is from where it costs
nothing: z·max(0, 1 − zf) for labels z = ±1, and what is outside of a tube for numbers. P is
piecewise quadratic, so that Newton's method with a line search ends after finitely many steps
(Keerthi & DeCoste, JMLR 2005). Of dense rows each costs a product of those with slack with
themselves; of sparse ones the system is solved by conjugate gradients, as far as is worthwhile.

The dual coefficients βᵢ = 2cᵢuᵢ are feasible at any w, and the gap to them is ½|w − Σβᵢxᵢ|², half
the square of the gradient: it certifies the answer for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, sparse

from mercer.solvers.conjugate_gradients import SEPARATE, truncated
from mercer.solvers.dual_coordinates import LinearOptimum

__all__ = ["MAX_PRIMAL_COLUMNS", "descend_primal", "label_slack", "tube_slack"]

MAX_PRIMAL_COLUMNS = 2000  # a factor of that order takes as long as many passes over the rows
GAP_SHARE = 1e-13  # of the objective, below which a gap is rounding
DIGITS = 0.1  # of `tol`: the root of the share that the gap may have is a length of a gradient
MAX_FORCING = 0.1  # share of its right-hand side that a system solved by steps may miss at most
SUFFICIENT = 1e-4  # share of the promised descent that a step must bring
HALVINGS = 50

Slack = Callable[[np.ndarray], np.ndarray]


def label_slack(z: np.ndarray) -> Slack:
    """Return the slack of scores for labels z of ±1.

    Examples
    --------
    >>> label_slack(np.array([1.0, -1.0, -1.0]))(np.array([0.5, -2.0, 0.5])).tolist()
    [0.5, -0.0, -1.5]
    """
    return lambda f: z * np.maximum(1 - z * f, 0.0)


def tube_slack(y: np.ndarray, epsilon: float) -> Slack:
    """Return the slack of values outside of a tube of half the width ε around y.

    Examples
    --------
    >>> tube_slack(np.array([1.0, 1.0]), 0.1)(np.array([0.5, 1.05])).round(12).tolist()
    [0.4, -0.0]
    """
    return lambda f: np.sign(y - f) * np.maximum(np.abs(y - f) - epsilon, 0.0)


def descend_primal(
    X: Any, slack: Slack, prices: np.ndarray, *, constant: float, steps: int, tol: float = 0.0
) -> LinearOptimum:
    """Return the weights of a linear machine with squared slacks.

    Parameters
    ----------
    X : CSR matrix or ndarray
    slack : callable
        uᵢ of values fᵢ.
    prices : ndarray
        cᵢ of each row.
    constant : float
        Value of a feature that all rows have, 0 for none.
    steps : int
        At most.
    tol : float
        The gap may be a share of (tol/10)² of the objective, and not less than rounding allows.

    Examples
    --------
    >>> X, z = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    >>> found = descend_primal(X, label_slack(z), np.ones(2), constant=0.0, steps=20)
    >>> found.weights.round(12), found.gap < 1e-12
    (array([0.8]), True)
    """
    column = np.full((X.shape[0], 1), constant)
    A = sparse.hstack([X, column]).tocsr() if sparse.issparse(X) else np.hstack([X, column])
    w, f = np.zeros(A.shape[1]), np.zeros(A.shape[0])
    enough, first = max(GAP_SHARE, (DIGITS * tol) ** 2), 0.0
    for step in range(steps + 1):
        u = slack(f)
        value = float(w @ w) / 2 + float(prices @ u**2)
        beta = 2 * prices * u
        gradient = w - A.T @ beta
        gap = float(gradient @ gradient) / 2
        if gap <= enough * value or step == steps:
            break
        first = first or gap
        change = -_solved(A, prices, u, gradient, min(MAX_FORCING, (gap / first) ** 0.25))
        moved, size = A @ change, 1.0
        promised = SUFFICIENT * float(gradient @ change)
        for _ in range(HALVINGS):
            v, g = w + size * change, f + size * moved
            if float(v @ v) / 2 + float(prices @ slack(g) ** 2) <= value + size * promised:
                break
            size /= 2
        else:
            break  # rounding hides any descent
        w, f = v, g
    solved = gap <= max(enough, np.sqrt(np.finfo(float).eps)) * value
    return LinearOptimum(w[:-1], float(w[-1]), value, gap, step, solved, beta)


def _solved(
    A: Any, prices: np.ndarray, u: np.ndarray, gradient: np.ndarray, forcing: float
) -> np.ndarray:
    """Return H⁻¹g with the curvature H = I + 2 Σ cᵢxᵢxᵢᵀ of rows with slack."""
    some = np.flatnonzero((u != 0) & (prices > 0))
    part, weights = A[some], 2 * prices[some]
    if not sparse.issparse(part):
        part = part * np.sqrt(weights)[:, None]
        H = part.T @ part
        H.flat[:: len(H) + 1] += 1.0
        return linalg.cho_solve(linalg.cho_factor(H, lower=True, overwrite_a=True), gradient)
    turned = part.T.tocsr()
    heights = 1 + turned.multiply(turned) @ weights
    found, _ = truncated(
        lambda P, live: P + turned @ (weights[:, None] * (part @ P)),
        lambda R, live: R / heights[:, None],
        gradient[:, None], forcing, A.shape[1], SEPARATE, lambda left: None,
    )  # fmt: skip
    return found[:, 0]
