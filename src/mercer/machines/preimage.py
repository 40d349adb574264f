"""Pre-images: things whose place in a kernel's space is near a given one.

A projection onto principal components is Σ γᵢ φ(xᵢ), which need not be the image of any thing.
Two ways to a near one are offered, both for vectors:

*fixed point*, for Gaussian kernels: where |φ(x) − Σ γᵢ φ(xᵢ)|² is smallest its gradient is zero,
which says x = Σ γᵢ k(x, xᵢ) xᵢ / Σ γᵢ k(x, xᵢ) (Mika et al., 1999; Schölkopf & Smola, 18.7). The
right side is applied again and again, from the training item with the nearest components, while
it helps.

*learned*, for every kernel: a regression from components to vectors, trained on the training
items (Bakır, Weston & Schölkopf, 2004), as in scikit-learn.

For the linear kernel φ(x) = x, and Σ γᵢxᵢ is the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.domains import Points, Vectors, to_numpy
from mercer.engine.tiles import fill, spans
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels import Gaussian, Kernel, Linear
from mercer.machines.ridge import KernelRidge

__all__ = ["fixed_point", "preimage_method", "rows_of", "train_preimages"]

METHODS = ("auto", "fixed-point", "ridge")
MAX_STEPS = 100
BLOCK_ROWS = 256


def preimage_method(way: Any, kernel: Kernel) -> Any:
    """Return how pre-images are found: "linear", "fixed-point", or a regressor to be trained.

    Examples
    --------
    >>> preimage_method("auto", Gaussian(1.0)), preimage_method("auto", Linear())
    ('fixed-point', 'linear')
    """
    if hasattr(way, "fit"):
        return way
    if way not in METHODS:
        raise ValidityError(f"preimage cannot be {way!r}{suggestion(str(way), METHODS)}")
    if way == "fixed-point" and not isinstance(kernel, Gaussian):
        raise ValidityError(
            f'the fixed point is that of a Gaussian kernel, not of {kernel!r}; use "ridge"'
        )
    if way == "auto" and isinstance(kernel, Linear):
        return "linear"
    if way == "auto" and isinstance(kernel, Gaussian):
        return "fixed-point"
    return KernelRidge(Gaussian("median"), penalty=1e-3, intercept=True)


def rows_of(points: Points) -> np.ndarray:
    """Return training items as rows of numbers; other things have no pre-images."""
    if not isinstance(points, Vectors):
        raise DomainError(
            "pre-images are sought among vectors, and these items are not vectors; compare their "
            "components with those of the training items instead"
        )
    if points.is_sparse:
        raise DomainError("pre-images of sparse rows are not sparse; fit with X.toarray()")
    return to_numpy(points.array).astype(np.float64)


def train_preimages(regressor: Any, Z: np.ndarray, X: np.ndarray) -> Any:
    """Return a regressor trained to map components back to vectors."""
    return clone(regressor).fit(Z, X)


def fixed_point(
    kernel: Kernel, points: Points, gamma: np.ndarray, start: np.ndarray, tol: float = 1e-9
) -> np.ndarray:
    """Return vectors x at which Σ γᵢ k(x, xᵢ) is large, one for each row of γ.

    Parameters
    ----------
    kernel : Gaussian
    points : Points
        The training items xᵢ.
    gamma : ndarray of shape (m, n)
    start : ndarray of shape (m, d)
        Where to begin.
    tol : float
        Stop when no x moves by more than this share of the data's extent.

    Examples
    --------
    >>> k = Gaussian(1.0)
    >>> X = k.admit([[0.0], [1.0]])
    >>> fixed_point(k, X, np.array([[0.5, 0.5]]), np.array([[0.0]])).round(6)
    array([[0.5]])
    """
    X = rows_of(points)
    extent = float(np.ptp(X, axis=0).max()) or 1.0
    parts = [
        _ascend(kernel, points, X, gamma[rows], start[rows].copy(), tol * extent)
        for rows in spans(len(gamma), BLOCK_ROWS)
    ]
    return np.concatenate(parts)


def _ascend(
    kernel: Kernel, points: Points, X: np.ndarray, gamma: np.ndarray, x: np.ndarray, small: float
) -> np.ndarray:
    """Iterate for some rows, keeping a move only where the similarity does not fall."""
    W = gamma * fill(kernel, kernel.admit(x), points)
    height = W.sum(axis=1)
    active = np.flatnonzero(height > 0)
    for _ in range(MAX_STEPS):
        if not len(active):
            break
        new = W[active] @ X / height[active, None]
        V = gamma[active] * fill(kernel, kernel.admit(new), points)
        reached = V.sum(axis=1)
        better = reached >= height[active]
        moved = np.abs(new - x[active]).max(axis=1) > small
        risen = active[better]
        x[risen], W[risen], height[risen] = new[better], V[better], reached[better]
        active = active[better & moved]
    return x
