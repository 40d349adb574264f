"""The perceptron's rules: walk over the items and turn toward those on the wrong side.

With generalized coordinates y = (1, x), multiplied by the sign ±1 of the item, a solution vector a
has aᵀy > 0 for every item. The *fixed-increment* rule visits one item after the other and adds
those that are on the wrong side,

    a ← a + ηy    if aᵀy ≤ margin,

the *batch* rule adds all of them at once, a ← a + η(k)Σy, until there are none or |η(k)Σy| < θ. In
the dual the same walk is taken by coefficients c of the items, with the Gram matrix K + 1 in the
place of yᵀy′. (Machine Learning lecture, "Perceptrons and Support Vector Machines".)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from mercer.compiled import compiled
from mercer.gram import LowRank, Operator
from mercer.solvers.ridge.solver import Solution
from mercer.threads import in_threads

__all__ = ["PerceptronRule", "PerceptronSolution", "fit_perceptron"]


@dataclass(frozen=True)
class PerceptronRule:
    """How to walk.

    Attributes
    ----------
    batch : bool
        Whether all items on the wrong side are added at once.
    margin : float
    rate : callable
        η(k) of the pass k = 0, 1, …
    threshold : float
        θ of the batch rule.
    epochs : int
        Largest number of passes over the items.
    averaged : bool
        Whether to return the mean of all vectors on the way instead of the last one.
    seed : int or None
        For a new random order in every pass; without it the order is that of the items.
    """

    batch: bool
    margin: float
    rate: Callable[[int], float]
    threshold: float
    epochs: int
    averaged: bool
    seed: int | None


@dataclass(frozen=True)
class PerceptronSolution(Solution):
    """Where a walk has ended. The certificate is the largest share of items still wrong.

    Attributes
    ----------
    updates : ndarray of shape (columns,)
        How many times the vector was changed.
    wrong : ndarray of shape (columns,)
        How many items the last vector has on the wrong side, or within the margin.
    epochs : int
        Number of passes, of the column that took most.
    """

    updates: Any = None
    wrong: Any = None
    epochs: int = 0


def fit_perceptron(gram: Operator, signs: np.ndarray, rule: PerceptronRule) -> PerceptronSolution:
    """Return a vector for each column of `signs`: of features where `gram` holds them (the
    primal), of items otherwise (the dual).

    Columns are independent of each other and walk on several threads.
    """
    primal = isinstance(gram, LowRank)
    array = as_loops_read(gram.features if isinstance(gram, LowRank) else gram.matrix())
    Z = np.ascontiguousarray(signs.reshape(gram.order, -1).T, dtype=np.float64)
    found: list[Any] = [None] * len(Z)

    def one(column: int) -> None:
        side: Representation = PrimalWeights(array) if primal else DualValues(array)
        found[column] = (_batch if rule.batch else _single)(side, Z[column], rule)

    in_threads(one, range(len(Z)))
    shape = signs.shape[1:]
    wrong = np.array([end.wrong for end in found])
    passes = max(len(end.history) for end in found)
    history = np.zeros(passes)
    for end in found:
        history[: len(end.history)] += end.history
    intercept = np.array([end.intercept for end in found])
    weights = None if found[0].weights is None else np.column_stack([e.weights for e in found])
    return PerceptronSolution(
        coefficients=np.column_stack([e.coefficients for e in found]).reshape(signs.shape),
        intercept=intercept if shape else float(intercept[0]),
        status="stalled" if wrong.any() else "solved",
        certificate=float(wrong.max()) / gram.order,
        solver="perceptron",
        penalty=0.0,
        history=tuple(history.tolist()),
        weights=None if weights is None else weights.reshape(-1, *shape),
        updates=np.array([end.updates for end in found]),
        wrong=wrong,
        epochs=passes,
    )


@dataclass(frozen=True)
class ColumnFit:
    """Where one column has ended, with the number of wrong items or updates of each pass."""

    coefficients: np.ndarray
    intercept: float
    weights: np.ndarray | None
    updates: int
    wrong: int
    history: list[int]


def _single(side: Representation, z: np.ndarray, rule: PerceptronRule) -> ColumnFit:
    """PerceptronSolution by the fixed-increment rule."""
    n, rng = len(z), np.random.default_rng(rule.seed)
    c, late, order = np.zeros(n), np.zeros(n), np.arange(n)
    history: list[int] = []
    for k in range(rule.epochs):
        if rule.seed is not None:
            order = rng.permutation(n)
        history.append(side.sweep(z, c, late, order, rule.rate(k), rule.margin, float(k * n)))
        if history[-1] == 0:
            break
    return _end(side, z, rule, c, late / (n * len(history)), sum(history), history)


def _batch(side: Representation, z: np.ndarray, rule: PerceptronRule) -> ColumnFit:
    """PerceptronSolution by the batch rule, which makes one step or more before it looks at θ."""
    c, late = np.zeros(len(z)), np.zeros(len(z))
    history: list[int] = []
    for k in range(rule.epochs):
        wrong = z * side.scores() <= rule.margin
        if not wrong.any():
            break
        step = rule.rate(k) * z * wrong
        way, length = side.direction(step)
        if k > 0 and length < rule.threshold:
            break
        side.go(way, step)
        c += step
        late += k * step
        history.append(int(wrong.sum()))
    return _end(side, z, rule, c, late / len(history), len(history), history)


def _end(
    side: Representation,
    z: np.ndarray,
    rule: PerceptronRule,
    c: np.ndarray,
    late: np.ndarray,
    updates: int,
    history: list[int],
) -> ColumnFit:
    """Judge the last vector; then average, if asked to.

    An increment made after a share t/T of the walk is part of the remaining 1 − t/T of its
    vectors, so their mean has the coefficients c − late, late being the sum of c·t/T.
    """
    wrong = int(np.sum(z * side.scores() <= rule.margin))
    if rule.averaged:
        c = c - late
        side = side.from_coefficients(c)
    return ColumnFit(c, float(np.sum(c)), side.weights, updates, wrong, history)


class Representation(Protocol):
    """The vector a, by the weights of features (primal) or by its values at the items (dual)."""

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
        """Return Σ stepᵢyᵢ in this representation, and its length."""
        ...

    def go(self, way: np.ndarray, step: np.ndarray) -> None:
        """Add a direction."""
        ...

    def from_coefficients(self, c: np.ndarray) -> Representation:
        """Return another vector, that of the coefficients `c`."""
        ...


class PrimalWeights:
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

    def from_coefficients(self, c: np.ndarray) -> PrimalWeights:
        other = PrimalWeights(self.rows)
        other.go(other.direction(c)[0], c)
        return other


class DualValues:
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

    def from_coefficients(self, c: np.ndarray) -> DualValues:
        return self  # its values are not needed any more


def as_loops_read(rows: Any) -> Any:
    """Return rows as the loops read them, always read-only, so that each loop is compiled once."""
    if sparse.issparse(rows):
        return sparse.csr_array(rows, dtype=np.float64)
    view = np.ascontiguousarray(rows, dtype=np.float64).view()
    view.setflags(write=False)
    return view


# Sums may be taken in another order than written, which is what lets them use vector registers.
REORDERED = {"reassoc", "contract"}


@compiled(fastmath=REORDERED)
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


@compiled
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


@compiled(fastmath=REORDERED)
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
