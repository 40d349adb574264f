"""Forward selection by orthogonal least squares: the basis functions that explain most.

Of all candidates, the columns p of a table, that one is taken whose part orthogonal to those
already taken explains most of the target: (pᵀY)²/pᵀp, summed over targets, the error reduction
ratio of Chen, Cowan & Grant (1991). Then its direction is removed from all others and from the
target.
"""

from __future__ import annotations

import numpy as np

__all__ = ["forward_selection"]


def forward_selection(P: np.ndarray, Y: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of `P` in the order taken, and the share of |Y|² that each explains.

    Fewer than `count` are returned if those already explain all that the columns can.

    Parameters
    ----------
    P : ndarray of shape (n, m)
        The candidates.
    Y : ndarray of shape (n,) or (n, targets)
    count : int

    Notes
    -----
    Cost: 4nm operations for each column taken, in memory for one more copy of `P`.

    Examples
    --------
    >>> chosen, shares = forward_selection(np.eye(3), np.array([1.0, 3.0, 2.0]), 2)
    >>> chosen.tolist(), shares.round(3).tolist()
    ([1, 2], [0.643, 0.286])
    """
    P, Y = P.copy(), Y.reshape(len(P), -1).copy()
    squares = np.einsum("ij,ij->j", P, P)
    first, total = squares.copy(), float(np.sum(Y**2)) or 1.0
    chosen: list[int] = []
    shares: list[float] = []
    while len(chosen) < min(count, P.shape[1]):
        # With less left of its square, a column is a combination of those taken.
        free = squares > 1e-14 * first
        free[chosen] = False
        gains = np.zeros(P.shape[1])
        gains[free] = np.sum((Y.T @ P[:, free]) ** 2, axis=0) / squares[free]
        best = int(gains.argmax())
        if not free[best] or gains[best] <= np.finfo(float).eps * total:
            break
        q = P[:, best] / np.sqrt(squares[best])
        Y -= np.outer(q, q @ Y)
        P -= np.outer(q, q @ P)
        squares = np.einsum("ij,ij->j", P, P)
        chosen.append(best)
        shares.append(float(gains[best]) / total)
    return np.array(chosen, dtype=int), np.array(shares)
