"""Calibration: from scores of binary problems to probabilities that agree with the decision.

A sigmoid turns the score of each problem into a probability (Platt 2000, with the safer Newton
steps of Lin, Lin & Weng 2007). Those of all pairs are joined to one distribution (Wu, Lin & Weng
2004, the second method); those of classes against the rest are divided by their sum. A sigmoid may
put its even odds a little beside the score zero, and votes may disagree with the joint
distribution; in such places the class that `predict` names shares the probability of those above
it, which is the nearest distribution that agrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from mercer.domains import Points
from mercer.errors import DomainError
from mercer.gram import product
from mercer.kernels import Kernel
from mercer.machines.folds import stratified_folds
from mercer.machines.multiclass import binary_problems
from mercer.machines.svm import SupportExpansion
from mercer.values import Seed

__all__ = ["METHODS", "Calibration", "agree_with", "calibrate", "couple_pairs", "fit_sigmoid"]

METHODS = ("cross-validated", "exact")
FOLDS = 5  # of the cross-validation whose scores probabilities are learned from
# By how much the most probable class is above those that it shares with.
MIN_LEAD = 1e-12
# Probabilities of a pair stay this far from 0 and 1.
MIN_PROBABILITY = 1e-7


@dataclass(frozen=True)
class Calibration:
    """The sigmoids of all binary problems: p = 1/(1 + exp(slope·score + shift))."""

    slopes: np.ndarray
    shifts: np.ndarray
    classes: int
    multiclass: str

    def probabilities(self, scores: np.ndarray, winners: np.ndarray) -> np.ndarray:
        """Return the distribution over classes of each item, the winner being most probable."""
        table = scores.reshape(len(scores), -1)
        p = expit(-(self.slopes * table + self.shifts))
        if self.classes == 2:
            P = np.column_stack([1 - p[:, 0], p[:, 0]])
        elif self.multiclass == "ovo":
            P = couple_pairs(p, self.classes)
        else:
            P = np.maximum(p, MIN_PROBABILITY)
            P /= P.sum(axis=1, keepdims=True)
        return agree_with(P, winners)


class BinaryScores(Protocol):
    """What a fit has learned: a function with a column for each binary problem."""

    @property
    def expansion(self) -> SupportExpansion: ...

    @property
    def intercept(self) -> np.ndarray: ...


class Refittable(Protocol):
    """A machine that can learn once more, from the items outside of a fold."""

    multiclass: str
    probability: bool | str
    random_state: Seed

    def _resolve(self, points: Points, weights: np.ndarray | None = None) -> Kernel: ...

    def _learn(
        self,
        kernel: Kernel,
        points: Points,
        codes: np.ndarray,
        weights: np.ndarray | None,
        classes: np.ndarray,
    ) -> BinaryScores: ...


def calibrate(
    machine: Refittable,
    learned: BinaryScores,
    points: Points,
    codes: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray | None,
) -> Calibration:
    """Fit the sigmoids on scores of the training items, by default on those of held-out folds."""
    if weights is not None:  # items of weight zero are as good as absent
        kept = np.flatnonzero(weights > 0)
        points, codes, weights = points[kept], codes[kept], weights[kept]
    count = len(classes)
    problems = binary_problems(np.bincount(codes, minlength=count), machine.multiclass)
    if machine.probability == "exact":
        scores = _scores(learned, points)
    else:
        scores = np.empty((len(codes), len(problems)))
        for held in _folds(codes, classes, machine.random_state):
            train = np.flatnonzero(~held)
            some = None if weights is None else weights[train]
            part = points[train]
            kernel = machine._resolve(part, some)
            fold = machine._learn(kernel, part, codes[train], some, classes)
            scores[held] = _scores(fold, points[np.flatnonzero(held)])
    slopes, shifts = np.empty(len(problems)), np.empty(len(problems))
    for column, problem in enumerate(problems):
        first, second = problem.name
        if second is None:  # against the rest
            inside, plus = np.ones(len(codes), dtype=bool), codes == first
        else:
            inside = (codes == first) | (codes == second)
            plus = codes == (1 if count == 2 else first)
        w = np.ones(int(inside.sum())) if weights is None else weights[inside]
        slopes[column], shifts[column] = fit_sigmoid(scores[inside, column], plus[inside], w)
    return Calibration(slopes, shifts, count, machine.multiclass)


def _scores(learned: BinaryScores, points: Points) -> np.ndarray:
    function = learned.expansion.function
    values = product(function.kernel, points.as_new(), function.points, function.coefficients)
    return values.reshape(len(values), -1) + learned.intercept


def _folds(codes: np.ndarray, classes: np.ndarray, random_state: Seed) -> list[np.ndarray]:
    """Return masks of the items held out, every class being dealt evenly."""
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < 2:
        rare = classes.tolist()[int(counts.argmin())]
        raise DomainError(
            f"the class {rare!r} has only one item, which cannot be learned from and held out at "
            'once; leave it out, or use probability="exact"'
        )
    folds = int(min(FOLDS, counts.min()))
    rng = check_random_state(random_state)
    dealt = stratified_folds(codes, folds, rng, restart=True)
    return [dealt == fold for fold in range(folds)]


def fit_sigmoid(scores: np.ndarray, plus: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return A and B of the p = 1/(1 + exp(A·score + B)) of largest likelihood.

    Platt's targets, (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2), keep it from being certain.

    Examples
    --------
    >>> A, B = fit_sigmoid(
    ...     np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]) == 1, np.ones(4)
    ... )
    >>> A < 0, abs(B) < 1e-6
    (True, True)
    """
    positive, negative = float(weights[plus].sum()), float(weights[~plus].sum())
    target = np.where(plus, (positive + 1) / (positive + 2), 1 / (negative + 2))
    scale = float(np.abs(scores).max(initial=0.0)) or 1.0  # so that Newton's steps are well scaled
    s = scores / scale
    theta = np.array([0.0, np.log((negative + 1) / (positive + 1))])

    def loss(theta: np.ndarray) -> float:
        v = theta[0] * s + theta[1]
        return float(weights @ (np.logaddexp(0.0, v) - (1 - target) * v))

    value = loss(theta)
    for _ in range(100):
        p = expit(-(theta[0] * s + theta[1]))
        g = weights * (target - p)
        gradient = np.array([g @ s, g.sum()])
        if np.abs(gradient).max() <= 1e-9 * weights.sum():
            break
        h = weights * p * (1 - p)
        H = np.array([[h @ (s * s) + 1e-12, h @ s], [h @ s, h.sum() + 1e-12]])
        way = -np.linalg.solve(H, gradient)
        size = 1.0
        while size > 1e-10 and loss(theta + size * way) > value + 1e-4 * size * (gradient @ way):
            size /= 2
        theta = theta + size * way
        value = loss(theta)
    return float(theta[0] / scale), float(theta[1])


def couple_pairs(p: np.ndarray, classes: int) -> np.ndarray:
    """Join probabilities of pairs: minimize Σ (r_ji·pᵢ − r_ij·pⱼ)² over all i, j with Σp = 1.

    Examples
    --------
    >>> couple_pairs(np.array([[0.5, 0.5, 0.5]]), 3).round(6)
    array([[0.333333, 0.333333, 0.333333]])
    """
    n = len(p)
    r = np.zeros((n, classes, classes))
    column = 0
    for i in range(classes):
        for j in range(i + 1, classes):
            r[:, i, j] = np.clip(p[:, column], MIN_PROBABILITY, 1 - MIN_PROBABILITY)
            r[:, j, i] = 1 - r[:, i, j]
            column += 1
    # The minimum solves [Q 1; 1ᵀ 0][p; b] = [0; 1], Qᵢᵢ = Σ r_ji², Qᵢⱼ = −r_ji·r_ij.
    M = np.zeros((n, classes + 1, classes + 1))
    M[:, :classes, :classes] = -np.swapaxes(r, 1, 2) * r
    diagonal = np.arange(classes)
    M[:, diagonal, diagonal] = np.sum(r**2, axis=1)
    M[:, :classes, classes] = M[:, classes, :classes] = 1.0
    right = np.zeros((classes + 1, 1))
    right[classes] = 1.0
    P = np.linalg.solve(M, np.broadcast_to(right, (n, classes + 1, 1)))[:, :classes, 0]
    P = np.maximum(P, 0.0)
    return P / P.sum(axis=1, keepdims=True)


def agree_with(P: np.ndarray, winners: np.ndarray) -> np.ndarray:
    """Return the nearest distributions in which the winner is the most probable class.

    Examples
    --------
    >>> agree_with(np.array([[0.6, 0.1, 0.3]]), np.array([2])).round(6)
    array([[0.45, 0.1 , 0.45]])
    """
    P = P.copy()
    for row in np.flatnonzero(P.argmax(axis=1) != winners):
        p, w = P[row], winners[row]
        above = [c for c in np.argsort(-p, kind="stable") if c != w and p[c] >= p[w]]
        # Those above share with the winner, the highest first, until the mean tops the rest.
        pool = [int(w)]
        for c in above:
            if p[c] >= np.mean(p[pool]):
                pool.append(int(c))
        p[pool] = np.mean(p[pool])
        p[w] += MIN_LEAD
        P[row] = p / p.sum()
    return P
