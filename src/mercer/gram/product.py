"""Products with a Gram matrix that is never built."""

from __future__ import annotations

import numpy as np

from mercer.domains import Points, Vectors, to_numpy
from mercer.engine.single import add_up
from mercer.engine.tiles import (
    common_origin,
    fill,
    on_numpy,
    require_finite,
    spans,
    stripe_size,
    tile,
)
from mercer.kernels import Kernel
from mercer.threads import in_threads

__all__ = ["product", "symmetric_product"]

TILE_SIDE = 512  # of the square tiles of a symmetric product
SINGLE_TILE_SIDE = 768  # the same in single precision
SYMMETRIC_FROM = 8 * TILE_SIDE  # items from which halving the similarities pays
SUM_GROUPS = 8  # sums that are kept apart while several threads add to them


def product(kernel: Kernel, A: Points, B: Points, coefficients: np.ndarray) -> np.ndarray:
    """Return K(A, B) @ coefficients in memory for a few tiles.

    Every row is summed in the same order whatever the number of threads, so that the answer is
    the same to the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> A, B = k.admit([[1.0], [2.0]]), k.admit([[3.0], [4.0]])
    >>> product(k, A, B, np.array([1.0, 1.0]))
    array([ 7., 14.])
    """
    coefficients = np.asarray(coefficients, dtype=np.float64)
    if not on_numpy(A):
        return to_numpy(fill(kernel, A, B)) @ coefficients
    A, B = common_origin(kernel, A, B)
    result = np.zeros((len(A), *coefficients.shape[1:]))
    height, width = stripe_size(A, B)
    columns = [(j, B[j], coefficients[j]) for j in spans(len(B), width)]

    def stripe(i: slice) -> None:
        rows = A[i]
        for j, other, c in columns:
            with tile(kernel, rows, other, i.start, j.start, finite=False) as T:
                _add(T, c, result[i])
                _require(kernel, T, result[i], i, j)

    in_threads(stripe, spans(len(A), height), kernel.threads)
    return result


def symmetric_product(kernel: Kernel, points: Points, coefficients: np.ndarray) -> np.ndarray:
    """Return K(points, points) @ coefficients, each similarity being computed once.

    A tile above the diagonal serves for its mirror image too. The tiles are divided into groups
    with sums of their own, which are added up in the end, so that the answer is the same to the
    last bit whatever the number of threads. For points in single precision a tile's products are
    in single precision, too.
    """
    plain = not isinstance(points, Vectors) or points.is_sparse
    if len(points) < SYMMETRIC_FROM or plain or not on_numpy(points):
        return product(kernel, points, points, coefficients)
    single = isinstance(points, Vectors) and points.single
    C = np.asarray(coefficients, dtype=np.float32 if single else np.float64)
    rows, _ = common_origin(kernel, points, points)
    places = list(spans(len(points), SINGLE_TILE_SIDE if single else TILE_SIDE))
    pieces = [(i, rows[i], C[i]) for i in places]
    sums = np.zeros((SUM_GROUPS, len(points), *C.shape[1:]))

    def group(number: int) -> None:
        total = sums[number]
        for first in range(number, len(pieces), SUM_GROUPS):
            i, left, ci = pieces[first]
            for j, right, cj in pieces[first:]:
                with tile(kernel, left, right, i.start, j.start, i == j, finite=False) as T:
                    total[i] += T @ cj
                    _require(kernel, T, total[i], i, j)
                    if i != j:
                        total[j] += T.T @ ci

    in_threads(group, range(SUM_GROUPS), kernel.threads)
    return sums.sum(axis=0)


def _require(kernel: Kernel, T: np.ndarray, sums: np.ndarray, i: slice, j: slice) -> None:
    """Refuse a tile that is not finite, which its sums show sooner than its entries."""
    if not np.isfinite(sums).all():
        require_finite(kernel, T, i.start, j.start)


def _add(T: np.ndarray, coefficients: np.ndarray, out: np.ndarray) -> None:
    """Add T @ coefficients to `out`; a single sum of single similarities in double precision."""
    if T.dtype == np.float64 or coefficients.ndim > 1:
        out += T @ coefficients.astype(T.dtype, copy=False)
        return
    add_up(np.ascontiguousarray(T), coefficients, out)
