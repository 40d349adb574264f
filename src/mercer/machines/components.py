"""Principal components on a sketch: one pass over the items, and a small decomposition.

In coordinates a = Tβ in which functions have the norm of their coefficients, items have the
features φ(x) = TᵀC(x), and their covariance is Σ (φ(xᵢ) − m)(φ(xᵢ) − m)ᵀ/n with the mean m. Its
eigenvectors are the principal axes among the functions of the sketch. An engine may have added up
C, not φ, and small components drown in the rounding errors of T. So the components' own variances
are computed in a pass of their own, and must agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import to_numpy
from mercer.engine.tiles import diagonal
from mercer.errors import DomainError, ValidityError
from mercer.gram import Dense
from mercer.gram.centered import center_gram
from mercer.gram.whitening import Whitening
from mercer.kernels import Kernel
from mercer.machines.sketching import SampledItems, Sketching
from mercer.plans import Decision
from mercer.solvers.eigenpairs import DenseEigensolver, Eigenpairs, rounding
from mercer.solvers.ridge.solver import Approximation

__all__ = ["Components", "components_of"]

MIN_VARIANCE_SHARE = 1e-14  # share of n·k(x, x) below which a variance is rounding
MAX_VARIANCE_ERROR = 1e-3  # relative difference of variances and eigenvalues


@dataclass(frozen=True)
class Components:
    """Principal axes on a sketch.

    Attributes
    ----------
    function : Function or Featured
        The axes, a column for each.
    means : ndarray
        The mean of each axis over the items.
    values : ndarray
        Eigenvalues of the centered, approximate Gram matrix.
    trace : float
        The sum of all of the exact one, but for the mean, which is approximate.
    scores : ndarray or None
        Components of the items, if these are in memory.
    solution : Eigenpairs
    """

    function: Any
    means: np.ndarray
    values: np.ndarray
    trace: float
    scores: np.ndarray | None
    solution: Eigenpairs


def components_of(
    kernel: Kernel, items: SampledItems, decision: Decision, count: int | None, center: bool
) -> Components:
    """Return the principal axes of items among the functions of a sketch."""
    sketching = Sketching.of(kernel, items, decision)
    sketch, n = sketching.sketch, items.count
    white = sketch.whitening()
    G, mean = _covariance(sketch, white, center)
    values, vectors = np.linalg.eigh(G)
    values, vectors = values[::-1], vectors[:, ::-1]
    floor = (
        n * MIN_VARIANCE_SHARE * float(np.max(np.abs(to_numpy(diagonal(kernel, items.sample)))))
    )
    rank = int(np.sum(values > max(floor, rounding(values, len(values)))))
    if not rank:
        raise DomainError(
            f"all items (n_samples={n}) are the same to the sketch, so there are no components; "
            "give items that differ, or another kernel"
        )
    if count is not None and count > rank:
        raise ValidityError(
            f"n_components is {count}, but the sketch has only {rank} directions; use {rank} or "
            "fewer, or more centers"
        )
    values, vectors = values[: count or rank], vectors[:, : count or rank]
    a = white.into(vectors)
    scores = None
    if items.points is not None:
        scores = sketch.product(a) - mean @ vectors
        signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(len(values))])
        a, vectors, scores = a * signs, vectors * signs, scores * signs
    trace = sketch.diagonal_sum(kernel) - n * float(mean @ mean)
    means = mean @ vectors
    S = None if scores is None else scores.T @ scores  # which is to be diag(values)
    if S is None:
        S = a.T @ sketch.normal(a) - n * np.outer(means, means)
    residuals = np.linalg.norm(S - np.diag(values), axis=0)
    lengths = None if scores is None else scores / np.sqrt(values)
    close = float((residuals / values).max()) <= MAX_VARIANCE_ERROR
    solution = Eigenpairs(
        values, vectors if lengths is None else lengths, residuals,
        "solved" if close else "stalled", "sketch",
        message=sketching.doubt if close else "rounding errors hide it; use fewer components",
        approximation=_estimate_error(sketching, white, len(values), center),
    )  # fmt: skip
    return Components(sketching.function(a), means, values, trace, scores, solution)


def _covariance(sketch: Any, white: Whitening, center: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return n times the covariance of the items in whitened coordinates, and their mean."""
    n = sketch.order
    H, sums = sketch.whitened_moments(white, np.ones((n, 1)))
    mean = sums[:, 0] / n if center else np.zeros(white.rank)
    return H - n * np.outer(mean, mean), mean


def _estimate_error(
    sketching: Sketching, white: Whitening, count: int, center: bool
) -> Approximation:
    """Return how far the components of other items are from exact ones, whatever their signs."""

    def learn(gram: Dense, places: np.ndarray) -> tuple[np.ndarray, Any]:
        moved, means = center_gram(gram) if center else (gram, np.zeros(gram.order))
        found = DenseEigensolver().solve(moved, min(count, gram.order - 1))
        kept = found.values > rounding(found.values, gram.order)
        alpha = found.vectors[:, kept] / np.sqrt(found.values[kept])
        if center:
            alpha = alpha - alpha.mean(axis=0)
        return alpha, -(means @ alpha)

    return sketching.estimate_error(learn, white, differ=_products_differ)


def _products_differ(exact: np.ndarray, approximate: np.ndarray) -> float:
    """Compare dot products of components, which do not depend on signs and rotations."""
    E, A = exact @ exact.T, approximate @ approximate.T
    return float(np.linalg.norm(E - A) / (np.linalg.norm(E) or 1.0))
