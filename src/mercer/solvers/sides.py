"""The two sides of a perceptron: weights of features, or values at the items.

A walk asks for a sweep over single items, or for one step toward many; it does not know on which
side it is. The loops over single items are compiled by Numba, which takes long to load, so this
module is imported only when a perceptron is fitted.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba import njit
from scipy import sparse

__all__ = ["Features", "Side", "Similarities", "readable"]


class Side(Protocol):
    """A vector that walks, in the primal or in the dual."""

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of the features, in the primal."""
        ...

    def sweep(
        self, z: np.ndarray, c: np.ndarray, late: np.ndarray, order: np.ndarray, rate: float,
        margin: float, time: float,
    ) -> int:  # fmt: skip
        """Visit all items by the fixed-increment rule and return the number of updates."""
        ...

    def scores(self) -> np.ndarray:
        """Return aᵀy of all items, before it is multiplied by their signs."""
        ...

    def direction(self, step: np.ndarray) -> tuple[np.ndarray, float]:
        """Return Σ stepᵢyᵢ in this side's own terms, and its length."""
        ...

    def go(self, way: np.ndarray, step: np.ndarray) -> None:
        """Add a direction."""
        ...

    def afresh(self, c: np.ndarray) -> Side:
        """Return another vector, that of the coefficients `c`."""
        ...


class Features:
    """The primal: weights w of the features and a bias."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.weights = np.zeros(rows.shape[1])
        self.bias = np.zeros(1)

    def sweep(
        self, z: np.ndarray, c: np.ndarray, late: np.ndarray, order: np.ndarray, rate: float,
        margin: float, time: float,
    ) -> int:  # fmt: skip
        state = (self.weights, self.bias, z, c, late, order, rate, margin, time)
        if sparse.issparse(self.rows):
            rows = self.rows
            return int(_sweep_sparse(rows.data, rows.indices, rows.indptr, *state))
        return int(_sweep_dense(self.rows, *state))

    def scores(self) -> np.ndarray:
        return np.asarray(self.rows @ self.weights) + self.bias

    def direction(self, step: np.ndarray) -> tuple[np.ndarray, float]:
        way = np.asarray(self.rows.T @ step)
        return way, float(np.hypot(np.linalg.norm(way), np.sum(step)))

    def go(self, way: np.ndarray, step: np.ndarray) -> None:
        self.weights += way
        self.bias += np.sum(step)

    def afresh(self, c: np.ndarray) -> Features:
        other = Features(self.rows)
        other.go(other.direction(c)[0], c)
        return other


class Similarities:
    """The dual: the values of the function at all items, kept up to date with the Gram matrix."""

    weights = None

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        self.values = np.zeros(len(matrix))

    def sweep(
        self, z: np.ndarray, c: np.ndarray, late: np.ndarray, order: np.ndarray, rate: float,
        margin: float, time: float,
    ) -> int:  # fmt: skip
        state = (self.values, z, c, late, order, rate, margin, time)
        return int(_sweep_gram(self.matrix, *state))

    def scores(self) -> np.ndarray:
        return self.values

    def direction(self, step: np.ndarray) -> tuple[np.ndarray, float]:
        way = self.matrix @ step + np.sum(step)
        return way, float(np.sqrt(max(step @ way, 0.0)))

    def go(self, way: np.ndarray, step: np.ndarray) -> None:
        self.values += way

    def afresh(self, c: np.ndarray) -> Similarities:
        return self  # its values are not needed any more


def readable(rows: Any) -> Any:
    """Return rows as the loops read them, always read-only, so that each loop is compiled once."""
    if sparse.issparse(rows):
        return sparse.csr_array(rows, dtype=np.float64)
    view = np.ascontiguousarray(rows, dtype=np.float64).view()
    view.setflags(write=False)
    return view


# Sums may be taken in another order than written, which is what lets them use vector registers.
LOOSE = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=LOOSE)
def _sweep_dense(X, w, bias, z, c, late, order, rate, margin, time):
    updates = 0
    for t in range(len(order)):
        i = order[t]
        score = bias[0]
        for j in range(X.shape[1]):
            score += w[j] * X[i, j]
        if z[i] * score <= margin:
            step = rate * z[i]
            for j in range(X.shape[1]):
                w[j] += step * X[i, j]
            bias[0] += step
            c[i] += step
            late[i] += step * (time + t)
            updates += 1
    return updates


@njit(cache=True, nogil=True)
def _sweep_sparse(data, indices, starts, w, bias, z, c, late, order, rate, margin, time):
    updates = 0
    for t in range(len(order)):
        i = order[t]
        score = bias[0]
        for p in range(starts[i], starts[i + 1]):
            score += w[indices[p]] * data[p]
        if z[i] * score <= margin:
            step = rate * z[i]
            for p in range(starts[i], starts[i + 1]):
                w[indices[p]] += step * data[p]
            bias[0] += step
            c[i] += step
            late[i] += step * (time + t)
            updates += 1
    return updates


@njit(cache=True, nogil=True, fastmath=LOOSE)
def _sweep_gram(K, values, z, c, late, order, rate, margin, time):
    updates = 0
    for t in range(len(order)):
        i = order[t]
        if z[i] * values[i] <= margin:
            step = rate * z[i]
            for j in range(len(values)):
                values[j] += step * (K[i, j] + 1.0)
            c[i] += step
            late[i] += step * (time + t)
            updates += 1
    return updates
