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
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.gram import LowRank, Operator
from mercer.solvers.problem import Solution
from mercer.threads import in_threads

if TYPE_CHECKING:
    from mercer.solvers.sides import Side

__all__ = ["Rule", "Walk", "walk"]


@dataclass(frozen=True)
class Rule:
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
class Walk(Solution):
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


def walk(gram: Operator, signs: np.ndarray, rule: Rule) -> Walk:
    """Return a vector for each column of `signs`: of features where `gram` holds them (the
    primal), of items otherwise (the dual).

    Columns are independent of each other and walk on several threads.
    """
    from mercer.solvers.sides import Features, Similarities, readable  # here: it loads Numba

    primal = isinstance(gram, LowRank)
    array = readable(gram.features if isinstance(gram, LowRank) else gram.matrix())
    Z = np.ascontiguousarray(signs.reshape(gram.order, -1).T, dtype=np.float64)
    found: list[Any] = [None] * len(Z)

    def one(column: int) -> None:
        side: Side = Features(array) if primal else Similarities(array)
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
    return Walk(
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
class End:
    """Where one column has ended, with the number of wrong items or updates of each pass."""

    coefficients: np.ndarray
    intercept: float
    weights: np.ndarray | None
    updates: int
    wrong: int
    history: list[int]


def _single(side: Side, z: np.ndarray, rule: Rule) -> End:
    """Walk by the fixed-increment rule."""
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


def _batch(side: Side, z: np.ndarray, rule: Rule) -> End:
    """Walk by the batch rule, which makes one step or more before it looks at θ."""
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
    side: Side, z: np.ndarray, rule: Rule, c: np.ndarray, late: np.ndarray, updates: int,
    history: list[int],
) -> End:  # fmt: skip
    """Judge the last vector; then average, if asked to.

    An increment made after a share t/T of the walk is part of the remaining 1 − t/T of its
    vectors, so their mean has the coefficients c − late, late being the sum of c·t/T.
    """
    wrong = int(np.sum(z * side.scores() <= rule.margin))
    if rule.averaged:
        c = c - late
        side = side.afresh(c)
    return End(c, float(np.sum(c)), side.weights, updates, wrong, history)
