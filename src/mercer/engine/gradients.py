"""Gradients by the rows of a block, as sums over its columns: products instead of differences.

With weights H the sums Σⱼ Hᵢⱼ(xᵢ − zⱼ) are h·x − HZ, where h are the row sums of H. Seen from an
origin near the data little cancels, and nothing of the size rows × columns × dimensions exists.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer.compiled import compiled
from mercer.engine.block import Array, Block, outer, sides
from mercer.engine.distances import magnitude_power, minkowski, near_origin
from mercer.engine.single import REORDERED
from mercer.engine.transform import RowTransform, Scales, pull_back

__all__ = ["apart", "difference_sums", "dimension_sums", "right_sums", "row_sums", "sign_sums"]


def row_sums(block: Block, H: Array) -> Any:
    """Return Σⱼ Hᵢⱼ."""
    return block.xp.sum(H, axis=1)


def right_sums(block: Block, H: Array, Z: Array = None) -> Any:
    """Return Σⱼ Hᵢⱼ zⱼ, dense also for sparse rows; by default of the rows as they come."""
    Z = sides(block)[1].array if Z is None else Z
    return (Z.T @ H.T).T if sparse.issparse(Z) else H @ Z


def difference_sums(block: Block, H: Array, scales: Scales = None, G: Array = None) -> Any:
    """Return Σⱼ Gᵢⱼ Hᵢⱼ T(uᵢ − vⱼ) of rows u = Tᵀx that are scaled, or transformed.

    If G is the same in all rows, H is not multiplied by it, so that it serves for several.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> block = Block(VECTORS.admit([[3.0, 1.0]]), VECTORS.admit([[1.0, 0.0], [2.0, 2.0]]))
    >>> difference_sums(block, np.array([[1.0, 10.0]]))
    array([[12., -9.]])
    """
    left, right = near_origin(block, scales)
    if right.wide is not None:
        wide = right.wide[:, :-1]  # (z, 1)
        if G is not None and G.strides[0] == 0:
            wide = wide * G[0][:, None]
        elif G is not None:
            H = H * G
        both = H @ wide
        found = both[:, -1:] * left.array - both[:, :-1]
    else:
        H = H if G is None else H * G
        h = row_sums(block, H)[:, None]
        own = left.array.multiply(h).toarray() if sparse.issparse(left.array) else h * left.array
        found = own - right_sums(block, H, right.array)
    return pull_back(scales, found)


def sign_sums(block: Block, H: Array, scales: Scales, order: float) -> Any:
    """Return Σⱼ Hᵢⱼ T(|uᵢ − vⱼ|^(r−1) sign(uᵢ − vⱼ)); entries that are equal count nothing."""
    H = apart(block, H, scales, order)
    left, right = near_origin(block, scales)
    A, B = (_dense(side.array) for side in (left, right))
    if order == 1.0 and isinstance(A, np.ndarray):
        found = np.empty(A.shape)
        parts = (A, B.T, H)
        _sum_signs(*(np.ascontiguousarray(part, dtype=np.float64) for part in parts), found)
        return pull_back(scales, found)
    return pull_back(scales, dimension_sums(block, H, A, B, lambda u: _signed(block, u, order)))


def apart(block: Block, H: Array, scales: Scales, order: float) -> Any:
    """Return weights without pairs that are equal but for the rounding of a transform.

    A row may be transformed twice, as one of many and as one of few, with other last digits; the
    signs of such differences mean nothing.
    """
    if not isinstance(scales, RowTransform):
        return H
    xp, S = block.xp, minkowski(block, order, scales)
    largest = max(float(xp.max(xp.abs(side.array))) for side in near_origin(block, scales))
    return xp.where((1e-12 * largest) ** order < S, H, 0.0 * H)


def dimension_sums(block: Block, H: Array, A: Array, B: Array, term: Any) -> Any:
    """Return Σⱼ Hᵢⱼ·term(xᵢ − zⱼ), dimension by dimension."""
    xp = block.xp
    parts = [
        xp.sum(H * term(outer(block, "subtract", A[:, d], B[:, d], _fresh(block, A))), axis=1)
        for d in range(int(A.shape[1]))
    ]
    return xp.stack(parts, axis=1)


def _fresh(block: Block, A: Array) -> Any:
    return np.empty(block.shape) if isinstance(A, np.ndarray) else None


def _signed(block: Block, u: Array, order: float) -> Any:
    """Return |u|^(r−1) sign(u), and 0 where u is."""
    xp = block.xp
    sign = xp.sign(u)
    if order == 1.0:
        return sign
    safe = xp.where(u == 0, xp.ones_like(u), u)
    return sign * magnitude_power(block, safe, order - 1)


def _dense(array: Array) -> Any:
    return array.toarray() if sparse.issparse(array) else array


@compiled(fastmath=REORDERED)
def _sum_signs(X, Z, H, out):
    """Write Σⱼ H[i, j]·sign(X[i, k] − Z[k, j]) to out[i, k], two dimensions at a time."""
    width = X.shape[1]
    for i in range(len(X)):
        h = H[i]
        for k in range(0, width, 2):
            last = k + 1 == width
            x, y = X[i, k], X[i, k if last else k + 1]
            z, w = Z[k], Z[k if last else k + 1]
            first, second = 0.0, 0.0
            for j in range(len(h)):
                first += (h[j] if z[j] < x else 0.0) - (h[j] if z[j] > x else 0.0)
                second += (h[j] if w[j] < y else 0.0) - (h[j] if w[j] > y else 0.0)
            out[i, k] = first
            if not last:
                out[i, k + 1] = second
