"""Linear machines in the dual, one coordinate at a time (Hsieh et al., ICML 2008).

Minimizes ½|w|² + Σ cᵢ max(0, 1 − zᵢ⟨w, xᵢ⟩)ᵖ with p = 1 or 2 over the weights w of wide and sparse
rows. The dual maximizes Σα − ½|Σ zᵢαᵢxᵢ|² − ½Σ dᵢαᵢ² in a box: 0 ≤ α ≤ c with d = 0 for p = 1, and
α ≥ 0 with d = 1/(2c) for p = 2. One α is best changed in time proportional to the entries of its
row, because w is kept; those that sit at a bound and want to stay are left out for a while.

Any α gives a w, and the values of both problems at them differ by the gap, which bounds how far
either is from the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer.compiled import compiled

__all__ = ["LinearOptimum", "descend"]


@dataclass(frozen=True)
class LinearOptimum:
    """The weights of a linear machine, with their certificate.

    Attributes
    ----------
    weights : ndarray of shape (features,)
    constant : float
        The weight of the constant feature.
    objective : float
        Of the primal problem.
    gap : float
        Upper bound of how far the objective is from the smallest.
    epochs : int
        How often all rows were looked at.
    solved : bool
        Whether slopes differ by no more than was asked for.
    coefficients : ndarray of shape (n,)
        β with w = Σ βᵢxᵢ, up to what the gap says: how much each row counts, with its side.
    """

    weights: np.ndarray
    constant: float
    objective: float
    gap: float
    epochs: int
    solved: bool
    coefficients: np.ndarray


def descend(
    X: sparse.csr_array,
    z: np.ndarray,
    prices: np.ndarray,
    *,
    squared: bool,
    constant: float,
    tol: float,
    epochs: int,
    seed: int,
) -> LinearOptimum:
    """Return the weights that tell rows with z = 1 from those with z = −1.

    Parameters
    ----------
    X : CSR matrix
    z : ndarray of ±1
    prices : ndarray
        cᵢ of each row; rows of price 0 do not count.
    squared : bool
        Whether slacks are squared.
    constant : float
        Value of a feature that all rows have, 0 for none.
    tol, epochs, seed
        When to stop, and the order of rows.

    Examples
    --------
    >>> X, z = sparse.csr_array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    >>> found = descend(
    ...     X, z, np.ones(2), squared=False, constant=0.0, tol=1e-9, epochs=100, seed=0
    ... )
    >>> found.weights, found.gap
    (array([1.]), 0.0)
    """
    n, width = X.shape
    alpha, w = np.zeros(n), np.zeros(width + 1)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() + constant**2
    counted = np.flatnonzero(prices > 0)
    ridge = np.zeros(n)
    if squared:
        ridge[counted] = 1 / (2 * prices[counted])
    upper = np.full(n, np.inf) if squared else prices.astype(np.float64)
    done, left = _descend(
        X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, z, squares + ridge, ridge,
        upper, counted, alpha, w, constant, tol, epochs, seed,
    )  # fmt: skip
    slack = np.maximum(1 - z * (X @ w[:-1] + constant * w[-1]), 0.0)
    square = float(w @ w)
    primal = square / 2 + float(prices @ (slack**2 if squared else slack))
    dual = float(alpha.sum()) - square / 2 - float(ridge @ alpha**2) / 2
    gap = max(primal - dual, 0.0)
    return LinearOptimum(
        w[:-1], float(w[-1]), primal, gap, int(done), bool(left <= tol), z * alpha
    )


@compiled(error_model="numpy")
def _descend(
    starts, columns, values, z, heights, ridge, upper, counted, alpha, w, constant, tol, epochs,
    seed,
):  # fmt: skip
    """Change α and w until projected slopes differ by no more than `tol`."""
    state = np.uint64(seed)  # of Knuth's generator, whose upper bits choose the next row
    order, active, last = counted.copy(), len(counted), len(w) - 1
    # Slopes beyond these, of the epoch before, mean that a variable will stay at its bound.
    highest, lowest = np.inf, -np.inf
    for epoch in range(epochs):
        for place in range(active):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            other = place + np.int64(state >> np.uint64(33)) % (active - place)
            order[place], order[other] = order[other], order[place]
        top, bottom, s = -np.inf, np.inf, 0
        while s < active:
            i = order[s]
            slope = constant * w[last]
            for k in range(starts[i], starts[i + 1]):
                slope += w[columns[k]] * values[k]
            slope = z[i] * slope - 1.0 + ridge[i] * alpha[i]
            projected = slope
            if alpha[i] == 0.0:
                if slope > highest:
                    active -= 1
                    order[s], order[active] = order[active], order[s]
                    continue
                projected = min(slope, 0.0)
            elif alpha[i] == upper[i]:
                if slope < lowest:
                    active -= 1
                    order[s], order[active] = order[active], order[s]
                    continue
                projected = max(slope, 0.0)
            top, bottom = max(top, projected), min(bottom, projected)
            if projected != 0.0 and heights[i] > 0:
                old = alpha[i]
                alpha[i] = min(max(old - slope / heights[i], 0.0), upper[i])
                step = z[i] * (alpha[i] - old)
                for k in range(starts[i], starts[i + 1]):
                    w[columns[k]] += step * values[k]
                w[last] += step * constant
            s += 1
        if top - bottom <= tol:
            if active == len(counted):
                return epoch + 1, top - bottom
            active, highest, lowest = len(counted), np.inf, -np.inf
            continue
        highest = top if top > 0 else np.inf
        lowest = bottom if bottom < 0 else -np.inf
    return epochs, np.inf
