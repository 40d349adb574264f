"""Mean embeddings: a whole set of things as one function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import InMemory, Items, Points, Rows, Streamed, real_numbers
from mercer.engine.tiles import fill
from mercer.errors import DomainError
from mercer.gram import Blocked, product
from mercer.gram.operator import symmetric_product
from mercer.gram.whitening import Whitening
from mercer.kernels import Kernel, named
from mercer.kernels.base import same_width
from mercer.progress import progress
from mercer.rkhs.function import Function
from mercer.rkhs.passes import require_in_memory, rows_of
from mercer.solvers.pivoted_cholesky import pivoted_cholesky
from mercer.values import whole

__all__ = ["Embedding", "mean_embedding"]

EXACT_UP_TO = 20_000  # items for which the error is computed from all pairs


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Function):
    """An approximate mean embedding: the projection of Σ wᵢ k(·, xᵢ) on a few sections.

    It is a `Function` of few points, and as such as fast to evaluate and to compare.

    Parameters
    ----------
    kernel : Kernel
    points : Points
        The items whose sections it is made of.
    coefficients : ndarray

    Attributes
    ----------
    error : float
        Its distance from the embedding of all items; estimated where those are very many, and
        then rather too large than too small.
    items : int
        How many there are.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> mu = mean_embedding(Gaussian(1.0), X, centers=20)
    >>> len(mu), mu.error < 1e-4
    (20, True)
    """

    error: float = 0.0
    items: int = 0

    def __repr__(self) -> str:
        return (
            f"Embedding({self.kernel!r}, {self.items} items, approximate: {len(self)} points, "
            f"error {self.error:.2g})"
        )


def mean_embedding(
    kernel: Kernel,
    X: Items | Points,
    weights: ArrayLike | None = None,
    centers: Any = None,
    seed: int = 0,
) -> Function:
    """Return the mean of the sections k(·, x): the set `X` as one function.

    Parameters
    ----------
    kernel : Kernel
        Heuristics are resolved on `X`; on a sample, if there are centers.
    X : sequence of things
        With centers also a `Stream` or a `numpy.memmap`, which are read in chunks.
    weights : array, optional
        Not negative; divided by their sum. Without them, those of a stream count.
    centers : int or sequence of things, optional
        Return the projection on the sections of so many items, chosen by a randomly pivoted
        Cholesky factor from a sample, or of these ones: an approximate `Embedding`, of which each
        value costs as many similarities as there are centers, however many items there are.
    seed : int
        Of that choice.

    Returns
    -------
    Function
        An `Embedding`, if there are centers.

    Notes
    -----
    With M centers Z the coefficients are K(Z, Z)⁻¹K(Z, X)w, from one pass over the items. The
    discrepancy of two large sets is the distance of their embeddings, ``mu.distance(nu)``.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> mean_embedding(Linear(), [[1.0], [3.0]])([[1.0]])
    array([2.])
    """
    kernel = named(kernel)
    if centers is not None:
        return _projected(kernel, X, weights, centers, seed)
    require_in_memory(X, "X", "use centers=...")
    kernel = kernel.resolve(X)
    points = kernel.admit(X)
    return Function(kernel, points, _shares(weights, len(points)))


def _projected(
    kernel: Kernel, X: Items | Points, weights: ArrayLike | None, centers: Any, seed: int
) -> Embedding:
    seed = whole(mean_embedding, "seed", seed, least=0)
    given = np.ndim(centers) > 0 or hasattr(centers, "__len__")
    count = 0 if given else whole(mean_embedding, "centers", centers)
    # As many as are chosen are left to tell the error from.
    rows, sample, places = rows_of(kernel, X, seed=seed, least=2 * count)
    kernel = kernel.resolve(sample)
    if weights is None and isinstance(rows, Streamed):
        weights = rows.survey.weights
    w = _shares(weights, rows.count)
    if given:
        Z, others = kernel.admit(centers, "centers"), np.arange(len(sample))
        same_width(Z, sample)
    else:
        chosen = _chosen(kernel, sample, count, seed)
        Z, others = sample[chosen], np.setdiff1d(np.arange(len(sample)), chosen)
    if len(sample) < rows.count:
        sample, places = sample[others], places[others]
    z = _similarity(kernel, rows, Z, w)
    white = Whitening(np.asarray(fill(kernel, Z, dtype=np.float64)))
    seen = white.back(z[:, None])
    coefficients = white.into(seen)[:, 0]
    error = _distance(kernel, rows, sample, w, w[places], Z, white, float(np.sum(seen**2)))
    return Embedding(kernel, Z, coefficients, error, rows.count)


def _shares(weights: ArrayLike | None, count: int) -> np.ndarray:
    if weights is None:
        return np.full(count, 1 / count)
    w = real_numbers(weights, "weights")
    if w.shape != (count,) or not np.isfinite(w).all() or (w < 0).any() or not w.any():
        raise DomainError(f"weights must be {count} finite numbers, not negative and not all zero")
    return w / w.sum()


def _chosen(kernel: Kernel, sample: Points, count: int, seed: int) -> np.ndarray:
    """Return which items of the sample span what it holds."""
    if count >= len(sample):
        return np.arange(len(sample))
    pivots = pivoted_cholesky(Blocked(kernel, sample), count, seed=seed).pivots
    return np.sort(pivots) if len(pivots) else np.zeros(1, int)  # the kernel is zero on all


def _similarity(kernel: Kernel, rows: Rows, Z: Points, w: np.ndarray) -> np.ndarray:
    """Return K(Z, X)w, in one pass over the items."""
    if isinstance(rows, InMemory):
        return product(kernel, Z, rows.points, w)
    total = np.zeros(len(Z))
    with progress("mean embedding", rows.count) as step:
        for place, part in rows.pieces():
            total += product(kernel, Z, part, w[place])
            step(len(part))
    return total


def _distance(
    kernel: Kernel, rows: Rows, sample: Points, w: np.ndarray, some: np.ndarray, Z: Points,
    white: Whitening, seen: float,
) -> float:  # fmt: skip
    """Return |μ − Pμ|, from |μ|² − |Pμ|² or for very many items from a sample of them.

    The residual of the sample's own mean has the square of that of μ on average, and besides it
    the mean of its items' squared residuals over their number. No center is in the sample: its
    residual would be zero, as that of hardly any item is.
    """
    if isinstance(rows, InMemory) and rows.count <= EXACT_UP_TO:
        square = float(w @ symmetric_product(kernel, rows.points, w)) - seen
        return math.sqrt(max(square, 0.0))
    shares = _shares(some if some.any() else None, len(sample))
    whole = float(shares @ symmetric_product(kernel, sample, shares))
    back = white.back(product(kernel, Z, sample, shares)[:, None])
    return math.sqrt(max(whole - float(np.sum(back**2)), 0.0))
