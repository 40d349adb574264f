"""Weights of a sum of kernels: how much each way of being alike should count.

Both ways to find weights v ≥ 0 of Σ vⱼkⱼ look at centered Gram matrices, which know nothing of the
means of functions and targets:

*alignment*: the cosine between the Gram matrix and YYᵀ is largest for the v that solves the
    nonnegative least-squares problem Mv = a with Mⱼₗ = ⟨Kⱼ, Kₗ⟩ and aⱼ = ⟨Kⱼ, YYᵀ⟩ (Cortes, Mohri
    & Rostamizadeh, JMLR 2012). It needs no penalty, and no more than products of the matrices.
*leave-one-out*: the exact leave-one-out error of ridge regression with an intercept, minimized
    over v ≥ 0 and the penalty by its derivatives Σ Gᵢⱼ(Kⱼ)ᵢⱼ (see `selection.criteria`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize, nnls

from mercer.domains import Items, admit_labels, admit_target, admit_weights, to_numpy
from mercer.engine.tiles import fill, spans
from mercer.errors import SelectionError, SolveError, ValidityError, suggestion
from mercer.kernels import Kernel, named
from mercer.machines.machine import number
from mercer.memory import afford
from mercer.progress import progress
from mercer.selection.multistart import one_thread_if_small
from mercer.solvers.ridge.objective import along_penalties, criterion

__all__ = ["Weighted", "learn_weights"]

MAX_LABELS = 20  # that many different whole numbers may still be labels
STARTING_PENALTIES = np.logspace(-8, 5, 27)
ROUNDING = 1e-12  # a share of a Gram matrix, or of the targets' square, that is rounding error
MIN_WEIGHT = 1e-7  # a weight, as a share of all or of the penalty, that is taken to be zero
EXPECTED_EVALUATIONS = (
    200,
    20,
)  # evaluations of all descents together, and of each kernel alone, about
MAX_WEIGHT = 1e3  # a weight, where all begin with a sum of 1


@dataclass(frozen=True)
class Weighted:
    """Kernels and their weights.

    Attributes
    ----------
    weights : ndarray
        One for each kernel.
    kernel : Kernel
        The weighted sum, without kernels of weight zero, for any machine.
    penalty : float or None
        For that kernel, if the criterion speaks about it.
    value : float
        Of the criterion: an alignment, at most 1, or a squared error.
    criterion : str
    alignment : ndarray
        Of each kernel alone, between 0 and 1.
    kernels : tuple of Kernel
        As given, with their heuristics resolved.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> found = learn_weights([Gaussian(1.0).on(0), Gaussian(1.0).on(1)], X, np.sin(X[:, 0]))
    >>> found.criterion, found.weights.shape, found.penalty
    ('alignment', (2,), None)
    """

    weights: np.ndarray
    kernel: Kernel
    penalty: float | None
    value: float
    criterion: str
    alignment: np.ndarray
    kernels: tuple[Kernel, ...]

    def __str__(self) -> str:
        lines = [f"{self.criterion} {self.value:.4g}"]
        if self.penalty is not None:
            lines[0] += f", penalty {self.penalty:.4g}"
        lines.append("    weight  alignment  kernel")
        for w, a, k in zip(self.weights, self.alignment, self.kernels, strict=True):
            lines.append(f"  {w:8.3g}  {a:9.3f}  {k!r}")
        return "\n".join(lines)


def learn_weights(
    kernels: Sequence[Any],
    X: Items,
    y: ArrayLike,
    *,
    criterion: str = "alignment",
    penalty: float | None = None,
    classify: bool | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: bool = True,
) -> Weighted:
    """Learn nonnegative weights of a sum of kernels from data.

    Parameters
    ----------
    kernels : sequence of Kernel or names
        Of the same items; in a table each may look at its own columns, by ``.on``.
    X, y
        Items and targets or labels.
    criterion : {"alignment", "leave-one-out"}
    penalty : float, optional
        For "leave-one-out", a penalty that is given; the weights then need not add up to 1.
    classify : bool, optional
        Whether y holds labels. By default it does if it is text, boolean, or consists of at most
        20 different whole numbers (of an integer type) for at least twice as many items. Labels
        are compared as ±1, with more than two classes in a column for each.
    sample_weight : array of shape (n,), optional
    normalize : bool
        Whether weights are those of kernels with the same variance in their feature space, so
        that they can be compared. `kernel` has the factors that this needs.

    Returns
    -------
    Weighted
        Weights, and the weighted sum as a kernel.

    Notes
    -----
    A kernel whose functions need no penalty, such as a linear one, may get nearly all the weight
    by "leave-one-out", with a tiny penalty. What counts is a weight divided by the penalty.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> found = learn_weights([Gaussian(1.0).on(0), Gaussian(1.0).on(1)], X, np.sin(X[:, 0]))
    >>> bool(found.weights[0] > 0.95)
    True
    """
    criterion = "leave-one-out" if criterion == "loo" else criterion
    if criterion not in ("alignment", "leave-one-out"):
        hint = suggestion(criterion, ("alignment", "leave-one-out"))
        raise SelectionError(f"unknown criterion {criterion!r}{hint}")
    given = None if penalty is None else number(penalty, "penalty")
    if given is not None and criterion == "alignment":
        raise SelectionError('alignment knows no penalty; it is for criterion="leave-one-out"')
    parts = _kernels(kernels)
    grams = Grams.of(parts, X, y, classify, sample_weight)
    moments, pull, size = grams.moments()
    aligned = _aligned(moments, pull)
    alone = pull / np.sqrt(np.where(pull > 0, np.diag(moments), 1.0)) / size
    v, found = aligned / aligned.sum(), None
    if criterion == "alignment":
        v = np.where(v > MIN_WEIGHT, v, 0.0)
        value = float(v @ pull / math.sqrt(v @ moments @ v) / size)
    else:
        expected = EXPECTED_EVALUATIONS[0] + EXPECTED_EVALUATIONS[1] * len(parts)
        with progress("descents", expected) as step, one_thread_if_small(len(grams.target)):
            v, value, found = _least_error(grams, v, given, step)
            value *= grams.unit**2
    factors = v / grams.scales
    if not normalize:
        v = factors
    if penalty is None and v.any():  # only the ratio of weights and penalty matters
        total = float(v.sum())
        v, factors, found = v / total, factors / total, None if found is None else found / total
    return Weighted(v, grams.total(factors), found, value, criterion, alone, grams.kernels)


@dataclass(frozen=True)
class Grams:
    """Centered Gram matrices of kernels, scaled to variance 1, and centered targets in units.

    `scales` are the variances before, 1 for a kernel that is constant and has the matrix 0. The
    largest target is one `unit`, as powers of the targets may be no numbers.
    """

    kernels: tuple[Kernel, ...]
    matrices: list[np.ndarray]
    scales: np.ndarray
    target: np.ndarray
    weights: np.ndarray
    unit: float

    @classmethod
    def of(
        cls,
        kernels: list[Kernel],
        X: Items,
        y: ArrayLike,
        classify: Any,
        sample_weight: ArrayLike | None,
    ) -> Grams:
        whole = reduce(add, kernels)  # refuses kernels of different things
        n = len(whole.domain.admit(X))
        target = _target(y, n, classify)
        w = admit_weights(sample_weight, n)
        task = f"the Gram matrices of {len(kernels)} kernels"
        afford(8 * n**2 * (len(kernels) + 5), task, "use fewer items or kernels")
        resolved = tuple(k.resolve(X, w) for k in kernels)
        w = np.ones(n) if w is None else w
        matrices, scales = [], []
        for k in resolved:
            K = np.array(to_numpy(fill(k, k.admit(X))), dtype=np.float64)
            before = float(w @ np.abs(np.diag(K)))
            variance = float(w @ np.diag(_center(K, w)))
            if variance <= ROUNDING * before:
                K[:], variance = 0.0, 0.0
            scales.append(variance / w.sum() if variance else 1.0)
            K /= scales[-1]
            matrices.append(K)
        target = target - np.average(target, axis=0, weights=w)
        unit = float(np.abs(target).max()) or 1.0
        return cls(resolved, matrices, np.array(scales), target / unit, w, unit)

    def moments(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Return all ⟨Kⱼ, Kₗ⟩, all ⟨Kⱼ, YYᵀ⟩ and |YYᵀ|, an item counting by its weight."""
        w, WY, m = self.weights, self.weights[:, None] * self.target, len(self.matrices)
        M, a = np.zeros((m, m)), np.zeros(m)
        for j, K in enumerate(self.matrices):
            a[j] = max(float(np.sum(WY * (K @ WY))), 0.0)
            counted = w[:, None] * K * w
            for i in range(j + 1):
                M[i, j] = M[j, i] = np.vdot(counted, self.matrices[i])
        size = float(np.linalg.norm(self.target.T @ WY))
        if size <= 0:
            raise SelectionError("y is constant, so there is nothing to align kernels with")
        if not a.any():
            raise SelectionError(
                "all weights are zero: every kernel is constant on these items, or unrelated to y"
            )
        return M, a, size

    def mixed(self, v: np.ndarray) -> np.ndarray:
        """Return Σ vⱼKⱼ."""
        K = np.zeros_like(self.matrices[0])
        for share, matrix in zip(v, self.matrices, strict=True):
            for rows in spans(len(K), 256):
                K[rows] += share * matrix[rows]
        return K

    def total(self, factors: np.ndarray) -> Kernel:
        """Return the sum of the kernels, each times its factor."""
        terms = [float(c) * k for c, k in zip(factors, self.kernels, strict=True) if c > 0]
        if not terms:
            raise SelectionError("all weights are zero: no kernel predicts y better than its mean")
        return reduce(add, terms)


def _least_error(
    grams: Grams, aligned: np.ndarray, penalty: float | None, step: Callable[..., None]
) -> tuple[np.ndarray, float, float]:
    """Return weights, leave-one-out error and penalty.

    There may be several minima. The descents begin with the weights of the best alignment, with
    equal ones, and with the best kernel alone; so no kernel alone is better than what is found.
    """
    Y, w, m = grams.target, grams.weights, len(grams.matrices)
    alive = np.array([bool(K.any()) for K in grams.matrices])
    floor = ROUNDING * float(np.mean(Y**2))
    best: tuple[float, np.ndarray, float] = (np.inf, aligned, np.nan)

    def at(place: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        step(1)
        v, now = place[:m], math.exp(place[m]) if penalty is None else penalty
        try:
            found = criterion("leave-one-out", grams.mixed(v), now, Y, w, intercept=True)
        except SolveError:
            return math.log(float(np.mean(Y**2))) + 10.0, np.zeros_like(place)
        if found.value < best[0]:
            best = found.value, v.copy(), now
        slopes = [float(np.einsum("ij,ij->", found.by_gram, K)) for K in grams.matrices]
        tail = [found.by_log_penalty] if penalty is None else []
        return math.log(found.value + floor), np.array(slopes + tail) / (found.value + floor)

    def start(v: np.ndarray) -> np.ndarray:
        """Return weights together with the best penalty for them."""
        if penalty is not None:
            return v
        heights = along_penalties(
            "leave-one-out", grams.mixed(v), STARTING_PENALTIES, Y, w, intercept=True
        )
        return np.append(v, math.log(STARTING_PENALTIES[heights.argmin()]))

    def descend(place: np.ndarray, free: np.ndarray) -> Any:
        limits = [(0.0, MAX_WEIGHT if one else 0.0) for one in free]
        bounds = [*limits, (math.log(STARTING_PENALTIES[0]), math.log(STARTING_PENALTIES[-1]))][
            : len(place)
        ]
        options = {"ftol": 1e-9}
        return minimize(at, place, jac=True, method="L-BFGS-B", bounds=bounds, options=options)

    ones = np.eye(m, dtype=bool)[alive]
    alone = [descend(start(one.astype(float)), one) for one in ones]
    lowest = min(alone, key=lambda end: end.fun)
    for place in (start(aligned), start(alive / alive.sum()), lowest.x):
        descend(place, alive)
    if best[1].any():  # another penalty may be better for the weights that were found
        descend(start(best[1] / best[1].sum()), alive)
    value, v, found = best
    if not math.isfinite(value):
        raise SolveError(
            f"with penalty {penalty} the leave-one-out error could not be computed; use a larger "
            "one"
        )
    # Of unit variance, such a kernel is lost beside the penalty.
    return np.where(v > MIN_WEIGHT * found, v, 0.0), value, found


def _aligned(M: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Minimize vᵀMv − 2vᵀa over v ≥ 0."""
    unit = np.sqrt(np.where(np.diag(M) > 0, np.diag(M), 1.0))
    values, V = np.linalg.eigh(M / np.outer(unit, unit))
    kept = values > ROUNDING * values[-1]
    roots = np.sqrt(values[kept])
    v, _ = nnls(roots[:, None] * V[:, kept].T, V[:, kept].T @ (a / unit) / roots)
    return v / unit


def _center(K: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Center a Gram matrix in its place, by weighted means."""
    means = K @ w / w.sum()
    middle = float(means @ w) / w.sum()
    for rows in spans(len(K), 256):
        K[rows] -= means[rows, None] + (means - middle)
    return K


def _kernels(kernels: Any) -> list[Kernel]:
    if isinstance(kernels, Kernel | str) or not isinstance(kernels, Sequence):
        raise ValidityError(f"kernels must be a list of kernels, found {kernels!r}")
    if len(kernels) == 0:
        raise ValidityError("kernels is empty; there must be at least one to weigh")
    found = [named(k) for k in kernels]
    for k in found:
        proof = k.proof()
        if proof.verdict == "refuted":
            raise ValidityError(f"weights need positive semi-definite kernels, but\n{proof}")
    return found


def _target(y: ArrayLike, n: int, classify: bool | None) -> np.ndarray:
    """Return targets in columns; labels as ±1."""
    if classify not in (None, True, False):
        raise SelectionError(f"classify must be True, False or None, found {classify!r}")
    if _labels(y) if classify is None else classify:
        codes, classes = admit_labels(y, n)
        signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        return signs[:, 1:] if len(classes) == 2 else signs
    return admit_target(y, n).reshape(n, -1)


def _labels(y: ArrayLike) -> bool:
    """Tell whether targets look like labels."""
    values = np.asarray(y)
    if values.dtype.kind in "iu":
        count = len(np.unique(values))
        return count <= MAX_LABELS and 2 * count <= len(values) and values.ndim == 1
    text = values.dtype.kind == "O" and any(isinstance(v, str | bool) for v in values.ravel())
    return values.dtype.kind in "USb" or text
