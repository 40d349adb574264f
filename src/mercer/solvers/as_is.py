"""Kernels as they are: the path of LIBSVM, where an objective is not concave.

With negative eigenvalues tᵀβ − ½βᵀKβ has many points where the conditions of Kuhn and Tucker hold,
and which of them is found depends on every choice on the way. LIBSVM's choices (Fan, Chen & Lin,
JMLR 2005) are made here again: of equal variables the last, a curvature that is not positive taken
for a tiny one, the first of two classes on the positive side, similarities rounded to single
precision. From where that ends, the same steps go on with exact similarities.

Departure: there is no shrinking, which forgets variables for a while.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.compiled import compiled
from mercer.gram import Pieces
from mercer.solvers.quadratic import Optimum, Quadratic, SMOOptions, conclude, violation_of

__all__ = ["climb_as_is"]

MESSAGE = (
    "the conditions of Kuhn and Tucker hold, but the kernel is not positive semi-definite on "
    "these items, so that other functions may be better; taken as it is"
)
TAU = 1e-12  # LIBSVM's curvature where that of a pair is not positive


def climb_as_is(operator: Pieces, problem: Quadratic, options: SMOOptions) -> Optimum:
    """Return the stationary point that LIBSVM's steps lead to.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(9 * z, 0.0), np.maximum(9 * z, 0.0), np.zeros(2))
    >>> climb_as_is(
    ...     Dense(np.array([[-1.0, 1.0], [1.0, -1.0]])), problem, SMOOptions()
    ... ).coefficients
    array([ 9., -9.])
    """
    n = operator.order
    items = np.arange(len(problem.target)) % n
    K = np.ascontiguousarray(operator.block(np.arange(n), np.empty((n, n))), dtype=np.float64)
    # LIBSVM's first class is the positive one, mercer's the negative one of two.
    sign = -1.0 if problem.upper[0] <= 0 else 1.0
    lower, upper = sorted((sign * problem.lower, sign * problem.upper), key=np.sum)
    group = np.repeat(np.arange(len(problem.groups)), [g.stop - g.start for g in problem.groups])
    beta, diagonal = sign * problem.start, K.diagonal().copy()
    steps, history = 0, []
    for matrix in (K.astype(np.float32), K):
        F = sign * problem.target - _product(matrix, items, beta)
        history.append(violation_of(problem, sign * beta, sign * F))
        steps += _climb(
            matrix, items, group, diagonal, F, beta, lower, upper, options.tol,
            options.steps - steps,
        )  # fmt: skip
    F = problem.target - _product(K, items, sign * beta)
    found = conclude(problem, sign * beta, F, int(steps), history, options.tol)
    if found.status != "solved":
        return replace(found, gap=np.inf)
    return replace(found, status="unproved", gap=np.inf, message=MESSAGE)


def _product(K: np.ndarray, items: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return (K @ np.bincount(items, beta, len(K)))[items]


@compiled(error_model="numpy")
def _climb(K, items, group, diagonal, F, beta, lower, upper, tol, limit):
    """Move pairs of variables until none violates optimality by more than `tol`."""
    steps, n = 0, len(F)
    while steps < limit:
        first = np.full(2, -1)
        top, bottom = np.full(2, -np.inf), np.full(2, np.inf)
        for k in range(n):
            g = group[k]
            if beta[k] < upper[k] and F[k] >= top[g]:
                top[g], first[g] = F[k], k
            if beta[k] > lower[k]:
                bottom[g] = min(bottom[g], F[k])
        if max(top[0] - bottom[0], top[1] - bottom[1]) < tol:
            break
        gain, j = -1.0, -1
        for k in range(n):
            i = first[group[k]]
            if i < 0 or not beta[k] > lower[k] or not F[i] > F[k]:
                continue
            curvature = diagonal[items[i]] + diagonal[items[k]] - 2 * K[items[i], items[k]]
            found = (F[i] - F[k]) ** 2 / (curvature if curvature > 0 else TAU)
            if found >= gain:
                gain, j = found, k
        if j < 0:
            break
        i = first[group[j]]
        a, b = items[i], items[j]
        curvature = diagonal[a] + diagonal[b] - 2 * K[a, b]
        step = (F[i] - F[j]) / (curvature if curvature > 0 else TAU)
        room, other = upper[i] - beta[i], beta[j] - lower[j]
        step = min(step, room, other)
        beta[i] = upper[i] if step == room else beta[i] + step
        beta[j] = lower[j] if step == other else beta[j] - step
        for k in range(n):
            F[k] -= step * (K[a, items[k]] - K[b, items[k]])
        steps += 1
    return steps
