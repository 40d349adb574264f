"""Linear regression with a tube in the dual, one coordinate at a time (Ho & Lin, JMLR 2012).

Minimizes ½|w|² + Σ cᵢ max(0, |yᵢ − ⟨w, xᵢ⟩| − ε)ᵖ with p = 1 or 2. The dual has one coefficient βᵢ
of either sign for each row, w = Σ βᵢxᵢ, and maximizes

    Σ yᵢβᵢ − ε Σ|βᵢ| − ½|w|² − ½Σ dᵢβᵢ²

with |β| ≤ c and d = 0 for p = 1, and without bounds and d = 1/(2c) for p = 2. Because of |β| the
best value of one coefficient may be exactly zero: a row within the tube.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer.compiled import compiled
from mercer.solvers.dual_coordinates import LinearOptimum

__all__ = ["descend_tube"]


def descend_tube(
    X: sparse.csr_array,
    y: np.ndarray,
    prices: np.ndarray,
    *,
    epsilon: float,
    squared: bool,
    constant: float,
    tol: float,
    epochs: int,
    seed: int,
) -> LinearOptimum:
    """Return the weights of a linear function that leaves few values outside of a tube.

    Parameters
    ----------
    X : CSR matrix
    y : ndarray
    prices : ndarray
        cᵢ of each row; rows of price 0 do not count.
    epsilon : float
        Half the width of the tube.
    squared : bool
        Whether slacks are squared.
    constant : float
        Value of a feature that all rows have, 0 for none.
    tol : float
        The share of what was violated at first that may be left.
    epochs, seed
        How often all rows are looked at, at most, and in which order.

    Examples
    --------
    >>> X, y = sparse.csr_array([[1.0], [2.0]]), np.array([1.0, 2.0])
    >>> found = descend_tube(
    ...     X,
    ...     y,
    ...     np.full(2, 100.0),
    ...     epsilon=0.0,
    ...     squared=False,
    ...     constant=0.0,
    ...     tol=1e-9,
    ...     epochs=1000,
    ...     seed=0,
    ... )
    >>> found.weights.round(6), found.gap < 1e-6
    (array([1.]), True)
    """
    n, width = X.shape
    beta, w = np.zeros(n), np.zeros(width + 1)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() + constant**2
    counted = np.flatnonzero(prices > 0)
    ridge = np.zeros(n)
    if squared:
        ridge[counted] = 1 / (2 * prices[counted])
    upper = np.full(n, np.inf) if squared else prices.astype(np.float64)
    done, solved = _descend_tube(
        X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, y, epsilon,
        squares + ridge, ridge, upper, counted, beta, w, constant, tol, epochs, seed,
    )  # fmt: skip
    slack = np.maximum(np.abs(y - X @ w[:-1] - constant * w[-1]) - epsilon, 0.0)
    square = float(w @ w)
    primal = square / 2 + float(prices @ (slack**2 if squared else slack))
    dual = float(y @ beta) - epsilon * float(np.abs(beta).sum()) - square / 2
    dual -= float(ridge @ beta**2) / 2
    gap = max(primal - dual, 0.0)
    return LinearOptimum(w[:-1], float(w[-1]), primal, gap, int(done), bool(solved), beta)


@compiled(error_model="numpy")
def _descend_tube(
    starts, columns, values, y, epsilon, heights, ridge, upper, counted, beta, w, constant, tol,
    epochs, seed,
):  # fmt: skip
    """Change β and w until the violations sum up to no more than `tol` times those at first."""
    state = np.uint64(seed)  # of Knuth's generator, whose upper bits choose the next row
    order, active, last = counted.copy(), len(counted), len(w) - 1
    largest, first = np.inf, -1.0  # the violation of the epoch before, and the sum of the first
    for epoch in range(epochs):
        for place in range(active):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            other = place + np.int64(state >> np.uint64(33)) % (active - place)
            order[place], order[other] = order[other], order[place]
        most, total, s = 0.0, 0.0, 0
        while s < active:
            i = order[s]
            slope = constant * w[last] - y[i] + ridge[i] * beta[i]
            for k in range(starts[i], starts[i + 1]):
                slope += w[columns[k]] * values[k]
            up, down = slope + epsilon, slope - epsilon  # where β grows, and where it falls
            old, far = beta[i], False
            if old == 0.0:
                violated = max(-up, down, 0.0)
                far = up > largest and down < -largest
            elif old >= upper[i]:
                violated = max(up, 0.0)
                far = up < -largest
            elif old <= -upper[i]:
                violated = max(-down, 0.0)
                far = down > largest
            else:
                violated = abs(up) if old > 0 else abs(down)
            if far and violated == 0.0:  # it will stay at its bound for a while
                active -= 1
                order[s], order[active] = order[active], order[s]
                continue
            most, total = max(most, violated), total + violated
            h = heights[i]
            if violated > 0.0 and h > 0.0:
                if up < h * old:
                    new = old - up / h
                elif down > h * old:
                    new = old - down / h
                else:
                    new = 0.0
                new = min(max(new, -upper[i]), upper[i])
                beta[i] = new
                for k in range(starts[i], starts[i + 1]):
                    w[columns[k]] += (new - old) * values[k]
                w[last] += (new - old) * constant
            s += 1
        if first < 0.0:
            first = total
        if total <= tol * first:
            if active == len(counted):
                return epoch + 1, True
            active, largest = len(counted), np.inf
            continue
        largest = most
    return epochs, False
