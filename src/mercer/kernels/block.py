"""Blocks: a piece of a Gram matrix, and what the kernels on it share.

Kernels in a sum or product look at the same two sets of points. What they need of them (dot
products, distances) is computed once per block and remembered here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse
from scipy.spatial import distance

from mercer.domains import ZERO, Points, Vectors

__all__ = [
    "Block",
    "cityblock",
    "dots",
    "minkowski",
    "moved",
    "norms",
    "outer",
    "rows",
    "squared_distances",
    "sum_over_dimensions",
]

# Below this many dimensions, adding up squared differences is cheaper than a matrix product.
FEW_DIMENSIONS = 4
# Squared distances smaller than this share of the squared norms have lost more than five digits
# in |x|² + |z|² − 2xᵀz, and are computed again from the differences.
CANCELLATION = 1e-5
CANCELLATION_IN_SINGLE = 1e-3
# If more than one entry in this many is spoiled, all of the block is computed from differences.
MANY = 16


class Scratch:
    """Memory that one thread uses again for every tile.

    Fresh arrays of a few hundred kilobytes cost more to map into memory than to fill, so the
    large intermediate results of a tile are taken from here. All of it is free again after
    `reset`, when the tile has been copied to where it belongs.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._buffers: list[np.ndarray] = []
        self._taken = 0

    def reset(self) -> None:
        """Declare all arrays free."""
        self._taken = 0

    def take(self, shape: tuple[int, int], dtype: Any = np.float64) -> np.ndarray:
        """Return an uninitialized array of this shape."""
        count = shape[0] * shape[1]
        if count > self.size:
            return np.empty(shape, dtype)
        if self._taken == len(self._buffers):
            self._buffers.append(np.empty(self.size))
        self._taken += 1
        return self._buffers[self._taken - 1].view(dtype)[:count].reshape(shape)


class Block:
    """Points to compare, row against column.

    Parameters
    ----------
    left, right : Points
        The items of the rows and of the columns.
    symmetric : bool
        Whether both are the same items, so that only one triangle is wanted.
    scratch : Scratch, optional
        Where NumPy's intermediate results go.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> points = VECTORS.admit([[0.0, 0.0], [3.0, 4.0]])
    >>> squared_distances(Block(points, points))
    array([[ 0., 25.],
           [25.,  0.]])
    """

    def __init__(
        self,
        left: Points,
        right: Points,
        symmetric: bool = False,
        scratch: Scratch | None = None,
    ) -> None:
        self.left: Any = left
        self.right: Any = right
        self.symmetric = symmetric
        self.scratch = scratch
        self._shared: dict[Hashable, Any] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.left), len(self.right)

    @property
    def xp(self) -> Any:
        """The array-API namespace in which the entries are computed."""
        return self.left.xp if isinstance(self.left, Vectors) else np

    def share(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return ``compute()``, computed once in this block. Nobody may write into it."""
        if key not in self._shared:
            self._shared[key] = compute()
        return self._shared[key]

    def view(self, key: Hashable, encode: Callable[[Any], Points]) -> Block:
        """Return the block of another encoding of the same items."""

        def encoded() -> Block:
            left, right = self.left.view(key, encode), self.right.view(key, encode)
            if left is self.left and right is self.right:
                return self
            return Block(left, right, self.symmetric, self.scratch)

        return self.share(("view", key), encoded)

    @property
    def dtype(self) -> Any:
        """What NumPy computes with: double precision, unless both sides ask for single."""
        return np.float32 if _is_single(self.left) and _is_single(self.right) else np.float64

    def empty(self) -> np.ndarray:
        """Return an uninitialized NumPy array of the block's shape."""
        if self.scratch is None:
            return np.empty(self.shape, self.dtype)
        return self.scratch.take(self.shape, self.dtype)

    def copy(self, values: Any) -> Any:
        """Return a copy of a shared array, which may be written into."""
        if not isinstance(values, np.ndarray) or values.shape != self.shape:
            return values + 0.0
        K = self.empty()
        K[...] = values
        return K

    def exp(self, values: Any, factor: float = 1.0) -> Any:
        """Return exp(factor · values), the step with which most kernels end."""
        if not isinstance(values, np.ndarray) or values.shape != self.shape:
            return self.xp.exp(values * factor)
        K = np.multiply(values, factor, out=self.empty())
        return np.exp(K, out=K)


def _is_single(points: Any) -> bool:
    return isinstance(points, Vectors) and points.single


def rows(block: Block, scales: tuple[float, ...] | None = None) -> tuple[Any, Any]:
    """Return the vectors of both sides in working precision, divided by `scales`."""
    return block.share(("rows", scales), lambda: tuple(_scaled(s, scales) for s in _sides(block)))


def dots(block: Block) -> Any:
    """Return all xᵀz of a block."""
    return block.share("dots", lambda: _product(block, *rows(block)))


def norms(block: Block, scales: tuple[float, ...] | None = None) -> tuple[Any, Any]:
    """Return |x|² of the rows and |z|² of the columns."""
    return block.share(("norms", scales), lambda: tuple(map(_squares, rows(block, scales))))


def squared_distances(block: Block, scales: tuple[float, ...] | None = None) -> Any:
    """Return all |x − z|² of a block, each to nearly full relative accuracy."""
    return block.share(("squared", scales), lambda: _squared(block, scales))


def cityblock(block: Block, scales: tuple[float, ...] | None = None) -> Any:
    """Return all Σ|xᵢ − zᵢ| of a block."""
    return block.share(("cityblock", scales), lambda: _cityblock(block, scales))


def minkowski(block: Block, order: float, weights: tuple[float, ...] | None) -> Any:
    """Return all Σ wᵢ|xᵢ − zᵢ|^r of a block (the power sum, without its root)."""
    if weights is None and order in (1.0, 2.0):
        return cityblock(block) if order == 1.0 else squared_distances(block)

    def compute() -> Any:
        xp, (A, B) = block.xp, rows(block)
        w = weights or (1.0,) * int(A.shape[1])
        return sum_over_dimensions(block, A, B, lambda i, u: w[i] * xp.abs(u) ** order)

    return block.share(("minkowski", order, weights), compute)


def _sides(block: Block) -> tuple[Vectors, Vectors]:
    left, right = block.left, block.right
    assert isinstance(left, Vectors) and isinstance(right, Vectors)
    if left.is_sparse != right.is_sparse:
        left, right = (
            side if side.is_sparse else Vectors(sparse.csr_array(side.array))
            for side in (left, right)
        )
    return left, right


def _scaled(points: Vectors, scales: tuple[float, ...] | None) -> Any:
    array = points.array
    if isinstance(array, np.ndarray) or sparse.issparse(array):
        # Products in double, unless someone who asks for single also checks the answer.
        array = array.astype(np.float32 if points.single else np.float64, copy=False)
    if scales is None:
        return array
    if sparse.issparse(array):
        return (array @ sparse.diags_array(1.0 / np.asarray(scales))).tocsr()
    xp = points.xp
    return array / xp.asarray(scales, dtype=array.dtype, device=array_api_compat.device(array))


def _product(block: Block, A: Any, B: Any) -> Any:
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        return np.matmul(A, B.T, out=block.empty())
    product = A @ B.T
    return product.toarray() if sparse.issparse(product) else product


def _squares(A: Any) -> Any:
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return array_api_compat.array_namespace(A).sum(A * A, axis=1)


class Moved(Points):
    """Vectors in working precision, scaled, seen from their origin, with their squared lengths.

    `wide` has both in one array: (x, 1, |x|²). Its product with (−2z, |z|², 1) is |x − z|². Rows
    that are mostly zero have their `nonzeros` instead.
    """

    def __init__(self, array: Any, squares: Any, wide: Any = None, nonzeros: Any = None) -> None:
        super().__init__()
        self.array = array
        self.squares = squares
        self.wide = wide
        self.nonzeros = nonzeros

    def __len__(self) -> int:
        return int(self.array.shape[0])

    def take(self, rows: Any) -> Moved:
        if self.wide is not None:
            return widened(self.wide[rows])
        some = None if self.nonzeros is None else self.nonzeros.take(rows)
        return Moved(self.array[rows], self.squares[rows], nonzeros=some)


def widened(wide: np.ndarray) -> Moved:
    """Return moved points whose vectors and lengths are parts of one array."""
    return Moved(wide[:, :-2], wide[:, -1], wide)


def moved(points: Vectors, scales: tuple[float, ...] | None, origin: Any) -> Moved:
    """Return points prepared for distances; made once for all tiles if they have an origin."""

    def prepare(p: Points) -> Moved:
        assert isinstance(p, Vectors)
        unmoved = origin is None or origin is ZERO
        array = _scaled(Vectors(p.array if unmoved else p.array - origin), scales)
        squares = _squares(array)
        if not isinstance(array, np.ndarray):
            return Moved(array, squares)
        if p.single:
            array, squares = array.astype(np.float32), squares.astype(np.float32)
        if origin is ZERO:
            from mercer.kernels.nonzeros import Nonzeros

            return Moved(array, squares, nonzeros=Nonzeros.of(array))
        ones = np.ones(len(array), array.dtype)
        return widened(np.column_stack([array, ones, squares]))

    if origin is None or origin is not points.origin:
        return prepare(points)
    prepared = points.view(("moved", scales), prepare)
    assert isinstance(prepared, Moved)
    return prepared


def _near_origin(block: Block, scales: tuple[float, ...] | None) -> tuple[Moved, Moved]:
    """Return both sides seen from one origin, and only then scaled: that loses no digits."""
    left, right = _sides(block)
    origin = left.origin if left.origin is right.origin else None
    if origin is None and not left.is_sparse:
        origin = block.xp.mean(right.array, axis=0)
    return moved(left, scales, origin), moved(right, scales, origin)


def _squared(block: Block, scales: tuple[float, ...] | None) -> Any:
    left, _ = _sides(block)
    few = not left.is_sparse and left.width <= FEW_DIMENSIONS
    if few and block.dtype == np.float64:
        return _direct(block, scales)
    A, B = _near_origin(block, scales)
    if few:
        return sum_over_dimensions(block, A.array, B.array, lambda i, u: np.square(u, out=u))
    return _mended(block, _expanded(block, A, B), A, B, scales)


def _expanded(block: Block, A: Moved, B: Moved) -> Any:
    """Return |x|² + |z|² − 2xᵀz (6.24), with NumPy as one product of widened vectors."""
    if A.nonzeros is not None and B.nonzeros is not None:
        from mercer.kernels.nonzeros import squared

        return squared(A.nonzeros, A.squares, B.nonzeros, B.squares, block.empty())
    if A.wide is not None and B.wide is not None:
        ones = np.ones(len(A), A.array.dtype)
        left = np.column_stack([A.array * A.array.dtype.type(-2.0), A.squares, ones])
        return _product(block, left, B.wide)
    D = _product(block, A.array, B.array)
    D *= -2.0
    D += A.squares[:, None]
    D += B.squares[None, :]
    return D


def _direct(block: Block, scales: tuple[float, ...] | None) -> Any:
    """Add up the squared differences themselves: slower, but nothing cancels."""

    def term(i: int, difference: Any) -> Any:
        if scales is not None:
            difference /= scales[i]
        difference *= difference
        return difference

    return sum_over_dimensions(block, *rows(block), term)


def _mended(block: Block, D: Any, A: Moved, B: Moved, scales: tuple[float, ...] | None) -> Any:
    """Compute the entries that cancellation has spoiled again, from the original differences."""
    xp = block.xp
    if A.nonzeros is not None and A.nonzeros.exact and B.nonzeros.exact:
        return D
    single = block.dtype == np.float32
    share = CANCELLATION_IN_SINGLE if single else CANCELLATION
    spoiled = share * (xp.max(A.squares) + xp.max(B.squares))
    if xp.min(D) >= spoiled:
        return D
    near = D < spoiled
    count = int(xp.count_nonzero(near))
    if count == 0:
        return D
    if sparse.issparse(A.array):
        return _mended_sparse(D, near, A, B)
    if isinstance(D, np.ndarray) and count * MANY <= D.size:
        # Single precision has its digits only near the origin, where scales are done with too.
        X, Z = (A.array, B.array) if single else rows(block)
        i, j = np.divmod(np.flatnonzero(near), D.shape[1])  # much faster than in two dimensions
        for part in range(0, count, D.shape[0]):  # a few at a time: each takes a row of memory
            some = slice(part, part + D.shape[0])
            difference = X[i[some]] - Z[j[some]]
            if scales is not None and not single:
                difference /= np.asarray(scales)
            D[i[some], j[some]] = _squares(difference)
        return D
    if single:
        direct = sum_over_dimensions(block, A.array, B.array, lambda i, u: np.square(u, out=u))
        return np.where(near, direct, D)
    return xp.where(near, _direct(block, scales), D)


def _mended_sparse(D: np.ndarray, near: np.ndarray, A: Moved, B: Moved) -> np.ndarray:
    i, j = np.nonzero(near)
    for part in range(0, len(i), len(D)):
        some = slice(part, part + len(D))
        D[i[some], j[some]] = _squares(A.array[i[some]] - B.array[j[some]])
    return D


def sum_over_dimensions(block: Block, A: Any, B: Any, term: Callable[[int, Any], Any]) -> Any:
    """Add up ``term(i, xᵢ − zᵢ)`` over the dimensions, for all pairs.

    A term may overwrite the differences that it is given.
    """
    total = term(0, outer(block, "subtract", A[:, 0], B[:, 0]))
    work = None
    for i in range(1, int(A.shape[1])):
        work = outer(block, "subtract", A[:, i], B[:, i], work)
        total += term(i, work)
    return total


def outer(block: Block, operation: str, a: Any, b: Any, out: Any = None) -> Any:
    """Return ``operation(aᵢ, bⱼ)`` for all pairs, with NumPy in `out` or scratch memory."""
    if not isinstance(a, np.ndarray):
        return getattr(block.xp, operation)(a[:, None], b[None, :])
    out = block.empty() if out is None else out
    return getattr(np, operation)(a[:, None], b[None, :], out=out)


def _cityblock(block: Block, scales: tuple[float, ...] | None) -> Any:
    A, B = (side.array for side in _near_origin(block, scales))
    if sparse.issparse(A):
        from sklearn.metrics.pairwise import manhattan_distances

        return manhattan_distances(sparse.csr_matrix(A), sparse.csr_matrix(B))
    if isinstance(A, np.ndarray):
        return distance.cdist(A, B, "cityblock")
    return sum_over_dimensions(block, A, B, lambda i, u: block.xp.abs(u))
