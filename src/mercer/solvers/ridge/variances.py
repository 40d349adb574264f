"""Variances of a Gaussian process without a factor of its matrix, between bounds.

The variance of a function at x, after items were seen, is k(x, x) − cᵀM⁻¹c with c = S·k(x) and
M = SKS + λI. Steps of conjugate gradients for Mv = c, which are steps of Lanczos's method, give a
sum that grows to q = cᵀM⁻¹c: after each step it has grown by α·rᵀP⁻¹r (Hestenes & Stiefel, 1952;
Golub & Meurant, 2010). What is missing is rᵀM⁻¹r for the residual r. The preconditioner
P = SFFᵀS + λI of low rank lies below M, because K − FFᵀ is positive semi-definite; so
rᵀM⁻¹r ≤ rᵀP⁻¹r, a number that each step computes anyway. The variance therefore lies between

    k(x, x) − q − rᵀP⁻¹r   and   k(x, x) − q,

bounds in exact arithmetic, which products in single precision widen by their rounding. No step
costs more than a product with the matrix, wherever an engine computes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.errors import SolveError
from mercer.solvers.iterative import Iterative, Preconditioned

__all__ = ["Variances", "bound_variances"]


@dataclass(frozen=True)
class Variances:
    """Bounds of variances, one for each new item.

    Attributes
    ----------
    lower, upper : ndarray of shape (m,)
    steps : int
        Products with the matrix that were made.
    """

    lower: np.ndarray
    upper: np.ndarray
    steps: int

    @property
    def middle(self) -> np.ndarray:
        """The estimate."""
        return (self.lower + self.upper) / 2

    @property
    def error(self) -> np.ndarray:
        """By how much the estimate is wrong at most."""
        return (self.upper - self.lower) / 2


def bound_variances(
    solver: Iterative,
    state: Preconditioned,
    similarities: np.ndarray,
    prior: np.ndarray,
    penalty: float,
    tol: float = 1e-3,
    steps: int = 100,
) -> Variances:
    """Return the variances of a function at new items, within `tol` of their prior ones.

    Parameters
    ----------
    solver : Iterative
        Whose rank and seed the preconditioner has.
    state : Preconditioned
        Of the items that were seen; the preconditioner of a fit is used again.
    similarities : ndarray of shape (n, m)
        Of the items to the new ones.
    prior : ndarray of shape (m,)
        k(x, x) of the new items.
    penalty : float
        λ, the variance of the noise; positive.
    tol : float
        Share of the prior variance that bounds may lie apart.
    steps : int
        The most steps.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> from mercer.solvers.ridge.solver import Problem
    >>> solver = Iterative()
    >>> state = solver.prepare(Problem(Dense(np.eye(2))))
    >>> found = bound_variances(solver, state, np.array([[1.0], [0.0]]), np.ones(1), 1.0)
    >>> found.middle.round(9), bool(found.error < 1e-3)
    (array([0.5]), True)
    """
    inverse = state.near(solver.rank, penalty, solver.seed).inverse(penalty, state.roots)
    if inverse is None or not penalty > 0:
        raise SolveError(
            "bounds of variances need a positive penalty and a valid kernel; use a factor, "
            'Plan(solver="cholesky")'
        )
    R = np.array(similarities, dtype=np.float64)
    if state.roots is not None:
        R *= state.roots[:, None]
    Z = inverse(R)
    P, sizes = Z.copy(), np.einsum("ij,ij->j", R, Z)
    explained, count = np.zeros(len(prior)), 0
    live = np.flatnonzero(sizes > tol * prior)
    P, R = P[:, live], R[:, live]
    while len(live) and count < steps:
        MP = state.multiply(P) + penalty * P
        curvatures = np.einsum("ij,ij->j", P, MP)
        t = sizes[live] / curvatures
        explained[live] += t * sizes[live]
        R -= t * MP
        Z = inverse(R)
        before, sizes[live] = sizes[live], np.maximum(np.einsum("ij,ij->j", R, Z), 0.0)
        P = Z + sizes[live] / before * P
        kept = sizes[live] > tol * prior[live]
        live, P, R = live[kept], P[:, kept], R[:, kept]
        count += 1
    upper = np.maximum(prior - explained, 0.0)
    return Variances(np.maximum(upper - sizes, 0.0), upper, count)
