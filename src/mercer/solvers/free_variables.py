"""Free variables: where two at a time are too slow, all that are between their bounds at once.

On the free variables a quadratic program with fixed sums is a linear system. Its solution is the
best point in their plane; the way there ends early where a variable meets its bound, which is then
no longer free. When steps of pairs crawl along a narrow valley (a large C, features of different
scale), a few such steps reach its floor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve, lapack

from mercer.engine.tiles import spans
from mercer.errors import SolveError
from mercer.solvers.quadratic import MAX_FREE_VARIABLES

__all__ = ["VariableRows", "optimize_free"]

# Up to so many are stopped at their bounds one by one, which is best for a matrix of low rank;
# more of them together.
MAX_STOPPED_SINGLY = 300
COPIED_ROWS = 64  # of a product with some columns, at a time


@dataclass(frozen=True)
class VariableRows:
    """A Gram matrix, which of its rows belongs to which variable, and the groups of variables."""

    K: np.ndarray
    places: np.ndarray
    group: np.ndarray


def optimize_free(
    gram: VariableRows, F: np.ndarray, beta: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> bool:
    """Move the free variables to the best point of their plane; `F` and `beta` are changed.

    Returns False where nothing bounds the objective: then there is no best point.

    Examples
    --------
    >>> F, beta = np.array([1.0, -1.0]), np.array([0.5, -0.5])
    >>> gram = VariableRows(np.diag([2.0, 2.0]), np.arange(2), np.zeros(2, dtype=int))
    >>> optimize_free(gram, F, beta, np.array([0.0, -9.0]), np.array([9.0, 0.0]))
    True
    >>> beta.round(6), F.round(6)
    (array([ 1., -1.]), array([0., 0.]))
    """
    left = 200  # steps before pairs of variables are tried again
    while True:
        free = np.flatnonzero((beta > lower) & (beta < upper))
        if len(free) < 2 or len(free) > MAX_FREE_VARIABLES:
            return True
        rows, group = gram.places[free], gram.group[free]
        K, f = gram.K[np.ix_(rows, rows)].astype(np.float64, copy=False), F[free]
        down, up = lower[free] - beta[free], upper[free] - beta[free]
        few = len(free) <= MAX_STOPPED_SINGLY
        way = None if few else _stopped_direction(K, f, group, down, up)
        if way is None or not float(f @ way) > 0:
            way = _direction(K, f, group, 0.0)
        slope, curvature = float(f @ way), float(way @ K @ way)
        if not slope > 0:
            return True
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(way > 0, up / way, np.where(way < 0, down / way, np.inf))
        flat = curvature <= 1e-13 * slope * float(np.abs(way).max())  # all of it is rounding
        best, most = np.inf if flat else slope / curvature, float(reach.min())
        if np.isinf(min(best, most)):
            return False
        length = min(best, most)
        new = np.clip(beta[free] + length * way, lower[free], upper[free])
        stopped = reach <= length * (1 + 1e-12)
        new[stopped] = np.where(way[stopped] > 0, upper[free][stopped], lower[free][stopped])
        change = new - beta[free]
        if not float(f @ change) > 0.5 * float(change @ K @ change):  # rounding has won
            return True
        del K  # before there is the next one
        F -= _combined(gram.K, rows, change)[gram.places]
        beta[free] = new
        left -= 1 if few else 40  # a step of many takes longer
        if not stopped.any() or left <= 0:
            return True


def _combined(K: np.ndarray, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return K[:, columns] @ coefficients, without a copy of all these columns."""
    result = np.empty(len(K))
    for some in spans(len(K), COPIED_ROWS):
        result[some] = K[some].take(columns, axis=1) @ coefficients
    return result


def _stopped_direction(
    K: np.ndarray, F: np.ndarray, group: np.ndarray, down: np.ndarray, up: np.ndarray
) -> np.ndarray | None:
    """Return the way to the best point, those that would pass a bound being stopped there.

    All that pass one at a time are stopped together, and the best point of the others, which make
    up for the sums, is found again, so that few systems are solved. None if that leads nowhere.
    """
    way, inside = np.zeros(len(F)), np.ones(len(F), dtype=bool)
    groups = np.unique(group)
    for _ in range(12):
        if len(np.unique(group[inside])) < len(groups):
            return None
        rest = F - K[:, ~inside] @ way[~inside]
        missing = -np.array([way[~inside & (group == g)].sum() for g in groups])
        way[inside] = _direction(K, rest[inside], group[inside], missing, np.flatnonzero(inside))
        low, high = inside & (way <= down), inside & (way >= up)
        if not (low.any() or high.any()):
            return way
        way[low], way[high] = down[low], up[high]
        inside &= ~(low | high)
    return None


def _direction(
    K: np.ndarray,
    F: np.ndarray,
    group: np.ndarray,
    sums: ArrayLike,
    some: np.ndarray | slice = slice(None),
) -> np.ndarray:
    """Return the way from here to the best point whose sum in each group changes by `sums`.

    `F` and `group` are those of `some` of the rows and columns of K.
    """
    places = np.arange(len(K))[some]
    present = np.unique(group)
    A = (group[:, None] == present).astype(np.float64)
    # Of a kernel that is not valid, an item's similarity to itself may be negative.
    height = float(np.mean(np.abs(np.diag(K)[places]))) or 1.0
    share = 1e-14
    while True:
        M = K[np.ix_(places, places)].T  # which is K; of that there may be no more copies
        M[np.diag_indices(len(M))] += share * height
        L, info = lapack.dpotrf(M, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            break
        if not np.isfinite(share * height):
            raise SolveError(
                "the similarities of the free variables are not finite numbers; scale the data or "
                "the kernel down"
            )
        share *= 100
    u, V = cho_solve((L, True), F), cho_solve((L, True), A)
    way = u - V @ np.linalg.lstsq(A.T @ V, A.T @ u - sums, rcond=None)[0]
    # Rounding must not leak out of the sums.
    return way - A @ ((A.T @ way - sums) / A.sum(axis=0))
