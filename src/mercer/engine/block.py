"""Blocks: a piece of a Gram matrix, and what the kernels on it share.

Kernels in a sum or product look at the same two sets of points. What they need of them (dot
products, distances) is computed once per block and remembered here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeAlias

import array_api_compat
import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer.domains import Points, Vectors
from mercer.engine.single import exponential
from mercer.engine.transform import RowTransform, Scales
from mercer.errors import DomainError

__all__ = [
    "Array",
    "Block",
    "Formula",
    "Scratch",
    "dot",
    "dots",
    "multiply",
    "norms",
    "outer",
    "rows",
    "same_width",
    "scaled",
    "sides",
    "squares",
    "sum_over_dimensions",
]


Array: TypeAlias = Any  # of NumPy, or of another array library that points lie in


class Formula(Protocol):
    """What is evaluated: a kernel, as far as its evaluation is concerned."""

    @property
    def threads(self) -> bool:
        """Whether several threads may evaluate blocks at once."""
        ...

    @property
    def slow(self) -> bool:
        """Whether one pair takes so long that tiles should be small."""
        ...

    def encode(self, points: Any) -> None:
        """Make the encodings that `evaluate` will ask for, once for all points."""
        ...

    def evaluate(self, block: Block) -> Any:
        """Return the Gram matrix of a block in a new array."""
        ...

    def evaluate_diagonal(self, points: Any) -> Any:
        """Return k(x, x) of each point."""
        ...

    def workspace(self) -> int:
        """Return how many arrays of a tile's size an evaluation takes."""
        ...


class Scratch:
    """Memory that one thread uses again for every tile.

    Fresh arrays of a few hundred kilobytes cost more to map into memory than to fill, so the
    large intermediate results of a tile are taken from here. All of it is free again after
    `reset`, when the tile has been copied to where it belongs. Larger arrays than `limit` are not
    kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._buffers: list[np.ndarray] = []
        self._taken = 0

    def reset(self) -> None:
        """Declare all arrays free."""
        self._taken = 0

    def take(self, shape: tuple[int, int], dtype: DTypeLike = np.float64) -> np.ndarray:
        """Return an uninitialized array of this shape."""
        count = shape[0] * shape[1]
        size = count * np.dtype(dtype).itemsize
        if size > self.limit:
            return np.empty(shape, dtype)
        if self._taken == len(self._buffers):
            self._buffers.append(np.empty(size, np.uint8))
        elif self._buffers[self._taken].nbytes < size:
            self._buffers[self._taken] = np.empty(size, np.uint8)
        self._taken += 1
        return self._buffers[self._taken - 1][:size].view(dtype).reshape(shape)


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
    >>> dots(Block(points, points))
    array([[ 0.,  0.],
           [ 0., 25.]])
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
        left, right = self.left.view(key, encode), self.right.view(key, encode)
        if left is self.left and right is self.right:
            return self  # not shared: a block that holds itself outlives its use
        return self.share(("view", key), lambda: self._encoded(key, left, right))

    def _encoded(self, key: Hashable, left: Points, right: Points) -> Block:
        """Return a block of other encodings of these items."""
        return Block(left, right, self.symmetric, self.scratch)

    @property
    def dtype(self) -> Any:
        """What NumPy computes with: double precision, unless both sides ask for single."""
        return np.float32 if _is_single(self.left) and _is_single(self.right) else np.float64

    def empty(self) -> np.ndarray:
        """Return an uninitialized NumPy array of the block's shape."""
        if self.scratch is None:
            return np.empty(self.shape, self.dtype)
        return self.scratch.take(self.shape, self.dtype)

    def copy(self, values: Array) -> Any:
        """Return a copy of a shared array, which may be written into."""
        if not isinstance(values, np.ndarray) or values.shape != self.shape:
            return values + 0.0
        K = self.empty()
        K[...] = values
        return K

    def exp(self, values: Array, factor: float = 1.0) -> Any:
        """Return exp(factor · values), the step with which most kernels end."""
        if not isinstance(values, np.ndarray) or values.shape != self.shape:
            return self.xp.exp(values * factor)
        if self.dtype == np.float32 and values.dtype == np.float32 and values.flags.c_contiguous:
            return exponential(values, np.float32(factor), self.empty())
        K = np.multiply(values, factor, out=self.empty())
        return np.exp(K, out=K)


def _is_single(points: Points) -> bool:
    return isinstance(points, Vectors) and points.single


def rows(block: Block, scales: Scales = None) -> tuple[Any, Any]:
    """Return the vectors of both sides in working precision, divided by `scales`."""
    return block.share(
        ("rows", scales), lambda: tuple(scaled(s, scales, block.dtype) for s in sides(block))
    )


def dots(block: Block) -> Any:
    """Return all xᵀz of a block.

    Parameters
    ----------
    block : Block

    Returns
    -------
    array of shape (rows, columns) of the block
        Of the library that the points are in.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> dots(Block(VECTORS.admit([[1.0, 2.0]]), VECTORS.admit([[3.0, 4.0]])))
    array([[11.]])
    """
    return block.share("dots", lambda: multiply(block, *rows(block)))


def norms(block: Block, scales: Scales = None) -> tuple[Any, Any]:
    """Return |x|² of the rows and |z|² of the columns.

    Parameters
    ----------
    block : Block
    scales : tuple of float or RowTransform, optional
        What columns are divided by first, or how rows are transformed.

    Returns
    -------
    (array, array)

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> norms(Block(VECTORS.admit([[1.0, 2.0]]), VECTORS.admit([[3.0, 4.0]])))
    (array([5.]), array([25.]))
    """
    return block.share(("norms", scales), lambda: tuple(map(squares, rows(block, scales))))


def sides(block: Block) -> tuple[Vectors, Vectors]:
    left, right = block.left, block.right
    assert isinstance(left, Vectors) and isinstance(right, Vectors)
    if left.is_sparse != right.is_sparse:
        left, right = (
            side if side.is_sparse else Vectors(sparse.csr_array(side.array))
            for side in (left, right)
        )
    return left, right


def scaled(points: Vectors, scales: Scales, dtype: DTypeLike = np.float64) -> Any:
    """Return the rows divided by `scales`, or transformed, in working precision."""
    array = points.array
    if isinstance(array, np.ndarray) or sparse.issparse(array):
        # Products in double, unless someone who asks for single also checks the answer.
        array = array.astype(dtype, copy=False)
    if scales is None:
        return array
    if isinstance(scales, RowTransform):
        return scales.apply(array)
    if sparse.issparse(array):
        return (array @ sparse.diags_array(1.0 / np.asarray(scales))).tocsr()
    xp = points.xp
    return array / xp.asarray(scales, dtype=array.dtype, device=array_api_compat.device(array))


def multiply(block: Block, A: Array, B: Array) -> Any:
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        if not block.symmetric and A.__array_interface__ == B.__array_interface__:
            A = A.copy()  # for A @ A.T NumPy has another routine, with other last digits
        return np.matmul(A, B.T, out=block.empty())
    product = A @ B.T
    return product.toarray() if sparse.issparse(product) else product


def dot(G: np.ndarray, values: np.ndarray) -> float:
    """Return Σ Gᵢⱼ·valuesᵢⱼ."""
    return float(np.einsum("ij,ij->", G, values))


def squares(A: Array) -> Any:
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    if isinstance(A, np.ndarray):
        return np.einsum("ij,ij->i", A, A)
    return array_api_compat.array_namespace(A).sum(A * A, axis=1)


def sum_over_dimensions(block: Block, A: Array, B: Array, term: Callable[[int, Any], Any]) -> Any:
    """Add up ``term(i, xᵢ − zᵢ)`` over the dimensions, for all pairs.

    A term may overwrite the differences that it is given.
    """
    total = term(0, outer(block, "subtract", A[:, 0], B[:, 0]))
    work = None
    for i in range(1, int(A.shape[1])):
        work = outer(block, "subtract", A[:, i], B[:, i], work)
        total += term(i, work)
    return total


def outer(block: Block, operation: str, a: Array, b: Array, out: Array = None) -> Any:
    """Return ``operation(aᵢ, bⱼ)`` for all pairs, with NumPy in `out` or scratch memory."""
    if not isinstance(a, np.ndarray):
        return getattr(block.xp, operation)(a[:, None], b[None, :])
    out = block.empty() if out is None else out
    return getattr(np, operation)(a[:, None], b[None, :], out=out)


def same_width(left: Points, right: Points) -> None:
    """Refuse to compare rows of different length, or of differently named columns."""
    if left.width is not None and right.width is not None and left.width != right.width:
        raise DomainError(
            f"the items to compare have {left.width} and {right.width} columns; they must have "
            "the same number"
        )
    names, others = (getattr(points, "names", None) for points in (left, right))
    if names is not None and others is not None and names != others:
        place = next(
            i for i, pair in enumerate(zip(names, others, strict=True)) if len({*pair}) > 1
        )
        raise DomainError(
            f"the items to compare have different columns: {names[place]!r} and "
            f"{others[place]!r} at place {place}"
        )
