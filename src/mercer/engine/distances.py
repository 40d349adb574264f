"""Distances: squared, city-block and others, of all pairs of a block, accurate and shared."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse
from scipy.spatial import distance

from mercer.domains import ZERO, Points, Vectors
from mercer.domains.points import RowIndex
from mercer.engine.block import (
    Array,
    Block,
    dot,
    multiply,
    outer,
    rows,
    scaled,
    sides,
    squares,
    sum_over_dimensions,
)
from mercer.engine.nonzeros import Nonzeros, squared_over_nonzeros
from mercer.engine.single import absolute, squared
from mercer.engine.transform import RowTransform, Scales

__all__ = [
    "absolute_differences",
    "cityblock",
    "magnitude_power",
    "minkowski",
    "move_to_origin",
    "near_origin",
    "power",
    "squared_differences",
    "squared_distances",
]

# Below this many dimensions, adding up squared differences is cheaper than a matrix product.
FEW_DIMENSIONS = 4
FEW_IN_SINGLE = 24  # the same in single precision, where differences are compiled
# Squared distances smaller than this share of the squared norms have lost more than five digits
# in |x|² + |z|² − 2xᵀz, and are computed again from the differences.
CANCELLATION = 1e-5
CANCELLATION_IN_SINGLE = 1e-3
# If more than one entry in this many is spoiled, all of the block is computed from differences.
SPOILED_ONE_IN = 16


def squared_distances(block: Block, scales: Scales = None) -> Any:
    """Return all |x − z|² of a block, each to nearly full relative accuracy.

    Parameters
    ----------
    block : Block
    scales : tuple of float or RowTransform, optional
        What columns are divided by first, or how rows are transformed.

    Returns
    -------
    array of shape (rows, columns) of the block

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> squared_distances(Block(VECTORS.admit([[0.0, 0.0]]), VECTORS.admit([[3.0, 4.0]])))
    array([[25.]])
    """
    return block.share(("squared", scales), lambda: _squared(block, scales))


def cityblock(block: Block, scales: Scales = None) -> Any:
    """Return all Σ|xᵢ − zᵢ| of a block.

    Parameters
    ----------
    block : Block
    scales : tuple of float or RowTransform, optional
        What columns are divided by first, or how rows are transformed.

    Returns
    -------
    array of shape (rows, columns) of the block

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> cityblock(Block(VECTORS.admit([[0.0, 0.0]]), VECTORS.admit([[3.0, 4.0]])))
    array([[7.]])
    """
    return block.share(("cityblock", scales), lambda: _cityblock(block, scales))


def minkowski(block: Block, order: float, scales: Scales = None) -> Any:
    """Return all Σ|xᵢ − zᵢ|^r of a block (the power sum, without its root).

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> minkowski(Block(VECTORS.admit([[0.0, 0.0]]), VECTORS.admit([[1.0, 4.0]])), 1.5)
    array([[9.]])
    """
    if order in (1.0, 2.0):
        return cityblock(block, scales) if order == 1.0 else squared_distances(block, scales)

    def compute() -> Any:
        left, right = near_origin(block, scales)
        return sum_over_dimensions(
            block, left.array, right.array, lambda _, u: magnitude_power(block, u, order)
        )

    return block.share(("minkowski", order, scales), compute)


def magnitude_power(block: Block, u: Array, order: float) -> Any:
    """Return |u|^r, with NumPy in the memory of u."""
    if not isinstance(u, np.ndarray):
        return block.xp.abs(u) ** order
    np.abs(u, out=u)
    if order == 1.5:
        u *= np.sqrt(u)
        return u
    with np.errstate(divide="ignore"):
        np.log(u, out=u)  # which, with the exponential, is faster than a power
    u *= order
    return np.exp(u, out=u)


def power(block: Block, values: Array, exponent: float) -> Any:
    """Return values^exponent of what is not negative, in a new array unless the exponent is 1."""
    if exponent == 1.0:
        return values
    if not isinstance(values, np.ndarray) or values.shape != block.shape:
        return block.xp.sqrt(values) if exponent == 0.5 else values**exponent
    out = block.empty()
    if exponent in (0.25, 0.5, 0.75):
        np.sqrt(values, out=out)
        if exponent == 0.75:
            out *= np.sqrt(out)
        return np.sqrt(out, out=out) if exponent == 0.25 else out
    if exponent == 2.0:
        return np.square(values, out=out)
    with np.errstate(divide="ignore"):
        np.log(values, out=out)
    out *= exponent
    return np.exp(out, out=out)


def squared_differences(block: Block, H: np.ndarray, scales: Scales) -> np.ndarray:
    """Return Σ Hᵢⱼ(xᵢ − zⱼ)² in each dimension, by products instead of all the differences.

    Seen from one origin, little cancels in h·x² + h'·z² − 2xᵀHz with the row and column sums h, h'
    of H.
    """
    A, B = (side.array for side in near_origin(block, scales))
    across = H @ B
    if sparse.issparse(A):
        own = A.multiply(A).T @ H.sum(axis=1) + B.multiply(B).T @ H.sum(axis=0)
        return own - 2 * np.asarray(A.multiply(across).sum(axis=0)).ravel()
    own = H.sum(axis=1) @ A**2 + H.sum(axis=0) @ B**2
    return own - 2 * np.einsum("ij,ij->j", A, across)


def absolute_differences(
    block: Block, H: np.ndarray, scales: Scales, order: float = 1.0
) -> np.ndarray:
    """Return Σ Hᵢⱼ|xᵢ − zⱼ|^r in each dimension."""
    A, B = (side.array for side in near_origin(block, scales))
    found, work = np.empty(A.shape[1]), None
    for d in range(A.shape[1]):
        a, b = (s[:, [d]].toarray()[:, 0] if sparse.issparse(s) else s[:, d] for s in (A, B))
        work = outer(block, "subtract", a, b, work)
        np.abs(work, out=work)
        found[d] = dot(H, work if order == 1.0 else magnitude_power(block, work, order))
    return found


class MovedRows(Points):
    """Vectors in working precision, scaled, seen from their origin, with their squared lengths.

    `wide` has both in one array: (x, 1, |x|²). Rows that are mostly zero have their `nonzeros`
    instead.
    """

    def __init__(
        self, array: Array, squares: Array, wide: Array = None, nonzeros: Any = None
    ) -> None:
        super().__init__()
        self.array = array
        self.squares = squares
        self.wide = wide
        self.nonzeros = nonzeros

    def __len__(self) -> int:
        return int(self.array.shape[0])

    @cached_property
    def opposite(self) -> np.ndarray:
        """(−2x, |x|², 1), whose product with the other side's `wide` is |x − z|²."""
        ones = np.ones(len(self), self.array.dtype)
        return np.column_stack([self.array * self.array.dtype.type(-2.0), self.squares, ones])

    @cached_property
    def longest(self) -> Any:
        """The largest squared length."""
        if isinstance(self.squares, np.ndarray):
            return self.squares.max()
        return array_api_compat.array_namespace(self.squares).max(self.squares)

    @cached_property
    def transposed(self) -> np.ndarray:
        """The vectors as columns."""
        return np.ascontiguousarray(self.array.T)

    def take(self, rows: RowIndex) -> MovedRows:
        if self.wide is not None:
            return widen(self.wide[rows])
        some = None if self.nonzeros is None else self.nonzeros.take(rows)
        return MovedRows(self.array[rows], self.squares[rows], nonzeros=some)


def widen(wide: np.ndarray) -> MovedRows:
    """Return moved points whose vectors and lengths are parts of one array."""
    return MovedRows(wide[:, :-2], wide[:, -1], wide)


def move_to_origin(points: Vectors, scales: Scales, origin: Any) -> MovedRows:
    """Return points prepared for distances; made once for all tiles if they have an origin."""

    def prepare(p: Points) -> MovedRows:
        assert isinstance(p, Vectors)
        unmoved = origin is None or origin is ZERO
        seen = p.array if unmoved else _dense(p.array) - origin
        array = scaled(Vectors(seen), scales)
        lengths = squares(array)
        if not isinstance(array, np.ndarray):
            return MovedRows(array, lengths)
        if p.single:
            array, lengths = array.astype(np.float32), lengths.astype(np.float32)
        if origin is ZERO and not isinstance(scales, RowTransform):
            return MovedRows(array, lengths, nonzeros=Nonzeros.of(array))
        ones = np.ones(len(array), array.dtype)
        return widen(np.column_stack([array, ones, lengths]))

    if origin is None or origin is not points.origin:
        return prepare(points)
    prepared = points.view(("moved", scales), prepare)
    assert isinstance(prepared, MovedRows)
    return prepared


def near_origin(block: Block, scales: Scales) -> tuple[MovedRows, MovedRows]:
    """Return both sides seen from one origin, and only then scaled: that loses no digits."""
    left, right = sides(block)
    origin = left.origin if left.origin is right.origin else None
    if origin is None and left.is_sparse and isinstance(scales, RowTransform):
        origin = np.asarray(right.array.mean(axis=0)).ravel()  # transformed rows are dense
    elif origin is None and not left.is_sparse:
        origin = block.xp.mean(right.array, axis=0)
    return move_to_origin(left, scales, origin), move_to_origin(right, scales, origin)


def _dense(array: Array) -> Any:
    return array.toarray() if sparse.issparse(array) else array


def _squared(block: Block, scales: Scales) -> Any:
    left, _ = sides(block)
    single = block.dtype == np.float32
    mixed = isinstance(scales, RowTransform)
    if not single and not left.is_sparse and left.width <= FEW_DIMENSIONS and not mixed:
        return _direct(block, scales)
    A, B = near_origin(block, scales)
    if single and A.array.shape[1] <= FEW_IN_SINGLE:
        return squared(np.ascontiguousarray(A.array), B.transposed, block.empty())
    return _mended(block, _expanded(block, A, B), A, B, scales)


def _expanded(block: Block, A: MovedRows, B: MovedRows) -> Any:
    """Return |x|² + |z|² − 2xᵀz (Bishop, 6.24), with NumPy as one product of widened vectors."""
    if A.nonzeros is not None and B.nonzeros is not None:
        return squared_over_nonzeros(A.nonzeros, A.squares, B.nonzeros, B.squares, block.empty())
    if A.wide is not None and B.wide is not None:
        return multiply(block, A.opposite, B.wide)
    D = multiply(block, A.array, B.array)
    D *= -2.0
    D += A.squares[:, None]
    D += B.squares[None, :]
    return D


def _direct(block: Block, scales: Scales) -> Any:
    """Add up the squared differences themselves: slower, but nothing cancels."""
    if isinstance(scales, RowTransform):
        return _direct_mixed(block, scales)

    def term(i: int, difference: Array) -> Any:
        if scales is not None:
            difference /= scales[i]
        difference *= difference
        return difference

    return sum_over_dimensions(block, *rows(block), term)


def _direct_mixed(block: Block, transform: RowTransform) -> Any:
    """Do the same in other coordinates, where every difference takes all the old ones.

    Differences come first: of equal rows they are exactly zero, those of rows that were
    transformed one by one need not be.
    """
    X, Z = map(_dense, rows(block))
    total: Any = 0.0
    for column in transform.matrix.T.tolist():

        def weighted(i: int, u: Array, column: list[float] = column) -> Any:
            return u * column[i]

        found = sum_over_dimensions(block, X, Z, weighted)
        total = total + found * found
    return total


def _mended(block: Block, D: Array, A: MovedRows, B: MovedRows, scales: Scales) -> Any:
    """Compute the entries that cancellation has spoiled again, from the original differences."""
    xp = block.xp
    if A.nonzeros is not None and A.nonzeros.exact and B.nonzeros.exact:
        return D
    single = xp.finfo(D.dtype).bits < 64
    share = CANCELLATION_IN_SINGLE if single else CANCELLATION
    if xp.min(D) >= share * (A.longest + B.longest):
        return D
    left, right = share * A.squares, share * B.squares
    if not isinstance(D, np.ndarray):
        return _mended_elsewhere(block, D, D < left[:, None] + right[None, :], scales)
    some = np.flatnonzero(D.min(axis=1) < left + right.max())
    near = D[some]
    near = np.subtract(near, right, out=near) < left[some, None]
    # Single precision has its digits only near the origin, where scales are done with too.
    inside = single or sparse.issparse(A.array)
    X, Z = (A.array, B.array) if inside else rows(block)
    one_by_one = sparse.issparse(X) or isinstance(scales, RowTransform)
    if np.count_nonzero(near) * SPOILED_ONE_IN > D.size and not one_by_one:
        again = (
            sum_over_dimensions(block, X, Z, lambda _, u: np.square(u, out=u))
            if single
            else _direct(block, scales)
        )
        for row, spoiled in zip(some, near, strict=True):
            np.copyto(D[row], again[row], where=spoiled)
        return D
    i, j = np.divmod(np.flatnonzero(near), D.shape[1])  # much faster than in two dimensions
    i = some[i]
    for part in range(0, len(i), len(D)):  # a few at a time: each takes a row of memory
        places = (i[part : part + len(D)], j[part : part + len(D)])
        difference = X[places[0]] - Z[places[1]]
        if isinstance(scales, RowTransform) and not inside:
            difference = scales.apply(difference)
        elif scales is not None and not inside:
            difference /= np.asarray(scales)
        D[places] = squares(difference)
    return D


def _mended_elsewhere(block: Block, D: Array, near: Array, scales: Scales) -> Any:
    """Do the same with another array library; only Torch's arrays can be written into."""
    xp = block.xp
    count = int(xp.count_nonzero(near))
    if count == 0:
        return D
    if count * SPOILED_ONE_IN > near.shape[0] * near.shape[
        1
    ] or not array_api_compat.is_torch_array(D):
        return xp.where(near, _direct(block, scales), D)
    X, Z = rows(block)
    i, j = xp.nonzero(near)
    difference = X[i] - Z[j]
    if scales is not None:  # only now: far from zero, scaled rows have fewer digits
        difference = scaled(Vectors(difference), scales)
    D[i, j] = squares(difference)
    return D


def _cityblock(block: Block, scales: Scales) -> Any:
    left, right = near_origin(block, scales)
    A, B = left.array, right.array
    if block.dtype == np.float32:
        return absolute(np.ascontiguousarray(A), right.transposed, block.empty())
    if sparse.issparse(A):
        from sklearn.metrics.pairwise import manhattan_distances

        return manhattan_distances(sparse.csr_matrix(A), sparse.csr_matrix(B))
    if isinstance(A, np.ndarray):
        return distance.cdist(A, B, "cityblock")
    return sum_over_dimensions(block, A, B, lambda i, u: block.xp.abs(u))
