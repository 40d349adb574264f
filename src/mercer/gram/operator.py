"""Gram operators: the matrix of all similarities, stored or computed as it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from mercer.domains import GramRows, Points, Vectors, made_symmetric, to_numpy
from mercer.engine.block import Array
from mercer.engine.single import add_up
from mercer.engine.tiles import (
    common_origin,
    diagonal,
    fill,
    on_numpy,
    require_finite,
    spans,
    stripe_size,
    tile,
)
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Kernel
from mercer.threads import in_threads

__all__ = [
    "Blocked",
    "Dense",
    "Gram",
    "LowRank",
    "Operator",
    "Pieces",
    "features_of",
    "product",
    "square_matrix",
    "symmetric_product",
]

TILE_SIDE = 512  # of the square tiles of a symmetric product
SINGLE_TILE_SIDE = 768  # the same in single precision
SYMMETRIC_FROM = 8 * TILE_SIDE  # items from which halving the similarities pays
SUM_GROUPS = 8  # sums that are kept apart while several threads add to them


class Pieces(Protocol):
    """A symmetric matrix of which a solver asks for parts.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> gram = Dense(np.diag([1.0, 2.0, 3.0]))
    >>> gram.block(np.array([1, 2]), out=np.empty((2, 2)))
    array([[2., 0.],
           [0., 3.]])
    """

    @property
    def order(self) -> int:
        """Number of rows."""
        ...

    def diagonal(self) -> np.ndarray:
        """Return the diagonal, without the matrix where possible."""
        ...

    def block(self, items: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Return the rows and columns of some items, in `out`."""
        ...

    def combine(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Multiply with some columns only: return K[:, columns] @ coefficients."""
        ...

    def fill_rows(self, items: np.ndarray, out: np.ndarray, places: np.ndarray) -> None:
        """Write the rows of some items into the given places of an array."""
        ...


class Operator(Protocol):
    """A symmetric matrix that a solver can multiply with, and can ask for as an array.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> gram = Dense(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> gram.order, gram @ np.ones(2), gram.diagonal()
    (2, array([3., 4.]), array([2., 3.]))
    """

    @property
    def order(self) -> int:
        """Number of rows."""
        ...

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray: ...

    def diagonal(self) -> np.ndarray:
        """Return the diagonal, without the matrix where possible."""
        ...

    def matrix(self) -> np.ndarray:
        """Return the whole matrix in double precision; not to be written into."""
        ...

    def upper(self) -> np.ndarray:
        """Return the upper triangle, with the diagonal, in an array that the caller may overwrite.

        What is below the diagonal is undefined.
        """
        ...


class Gram(Operator, Pieces, Protocol):
    """A Gram matrix as an engine makes it: both of a piece and in parts.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> Dense(np.diag([1.0, 2.0, 3.0])).part(np.array([0, 2])).matrix()
    array([[1., 0.],
           [0., 3.]])
    """

    def fill(self, out: np.ndarray) -> None:
        """Write the whole matrix into an array, in the precision of that."""
        ...

    def part(self, items: np.ndarray) -> Gram:
        """Return the Gram matrix of some of the items."""
        ...


class Dense:
    """A stored Gram matrix.

    Parameters
    ----------
    array : ndarray of shape (n, n)
    owned : bool
        Whether a solver may overwrite it, after which this operator must not be used.

    Examples
    --------
    >>> import numpy as np
    >>> Dense(np.eye(2)) @ np.array([1.0, 2.0])
    array([1., 2.])
    """

    def __init__(self, array: np.ndarray, owned: bool = False) -> None:
        self.array = np.asarray(array, dtype=np.float64)
        self.owned = owned or not np.may_share_memory(self.array, array)
        if self.array.ndim != 2 or self.array.shape[0] != self.array.shape[1]:
            raise DomainError(f"a Gram matrix must be square, found shape {self.array.shape}")

    @property
    def order(self) -> int:
        return len(self.array)

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return self.array @ vectors

    def diagonal(self) -> np.ndarray:
        return np.diag(self.array).copy()

    def matrix(self) -> np.ndarray:
        return self.array

    def upper(self) -> np.ndarray:
        return self.array if self.owned else self.array.copy()

    def block(self, items: np.ndarray, out: np.ndarray) -> np.ndarray:
        out[...] = self.array[np.ix_(items, items)]
        return out

    def combine(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        return np.asarray(coefficients @ self.array[columns])

    def fill_rows(self, items: np.ndarray, out: np.ndarray, places: np.ndarray) -> None:
        out[places] = self.array[items]

    def fill(self, out: np.ndarray) -> None:
        out[...] = self.array

    def part(self, items: np.ndarray) -> Dense:
        return Dense(self.array[np.ix_(items, items)], owned=True)


class Blocked:
    """A Gram matrix that is not stored until `matrix` or `upper` is asked for.

    Products with it, and its blocks and rows, are computed tile by tile.

    Parameters
    ----------
    kernel : Kernel
        Without unresolved heuristics.
    points : Points

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> Blocked(k, k.admit([[1.0], [2.0]])) @ np.array([1.0, 1.0])
    array([3., 6.])
    """

    def __init__(self, kernel: Kernel, points: Points) -> None:
        self.kernel = kernel
        self.points = points

    @property
    def order(self) -> int:
        return len(self.points)

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return self.multiply(self.points, vectors)

    def multiply(self, points: Points, vectors: np.ndarray) -> np.ndarray:
        """Return the product for these points: its own, or rounded ones."""
        return symmetric_product(self.kernel, points, vectors)

    def diagonal(self) -> np.ndarray:
        return to_numpy(diagonal(self.kernel, self.points)).astype(np.float64)

    def matrix(self) -> np.ndarray:
        return self._filled(half=False)

    def upper(self) -> np.ndarray:
        return self._filled(half=True)

    def block(self, items: np.ndarray, out: np.ndarray) -> np.ndarray:
        return to_numpy(fill(self.kernel, self.points[items], dtype=out.dtype, out=out))

    def combine(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        return product(self.kernel, self.points, self.points[columns], coefficients)

    def fill_rows(self, items: np.ndarray, out: np.ndarray, places: np.ndarray) -> None:
        # A few rows are computed at a time, before they go where they belong.
        for some in spans(len(items), 512):
            rows = self.points[items[some]]
            out[places[some]] = to_numpy(fill(self.kernel, rows, self.points, dtype=out.dtype))

    def fill(self, out: np.ndarray) -> None:
        found = fill(self.kernel, self.points, dtype=out.dtype, out=out)
        if found is not out:  # another array library has its own memory
            out[...] = to_numpy(found)

    def part(self, items: np.ndarray) -> Blocked:
        return Blocked(self.kernel, self.points[items])

    def _filled(self, half: bool) -> np.ndarray:
        K = to_numpy(fill(self.kernel, self.points, dtype=np.float64, half=half))
        return K.astype(np.float64, copy=False)


class LowRank:
    """The Gram matrix ΦΦᵀ of explicit features, never multiplied out unless asked for.

    Parameters
    ----------
    features : array of shape (n, features), dense or sparse

    Examples
    --------
    >>> import numpy as np
    >>> LowRank(np.array([[1.0], [2.0]])) @ np.array([1.0, 1.0])
    array([3., 6.])
    """

    def __init__(self, features: Array) -> None:
        self.features: Any = features if sparse.issparse(features) else np.asarray(features, float)

    @property
    def order(self) -> int:
        return int(self.features.shape[0])

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray(self.features @ (self.features.T @ vectors))

    def diagonal(self) -> np.ndarray:
        if sparse.issparse(self.features):
            return np.asarray(self.features.multiply(self.features).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", self.features, self.features)

    def matrix(self) -> np.ndarray:
        K = self.features @ self.features.T
        return K.toarray() if sparse.issparse(K) else K

    def upper(self) -> np.ndarray:
        return self.matrix()

    def block(self, items: np.ndarray, out: np.ndarray) -> np.ndarray:
        out[...] = self.part(items).matrix()
        return out

    def combine(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        return np.asarray(self.features @ (self.features[columns].T @ coefficients))

    def fill_rows(self, items: np.ndarray, out: np.ndarray, places: np.ndarray) -> None:
        rows = self.features[items] @ self.features.T
        out[places] = rows.toarray() if sparse.issparse(rows) else rows

    def fill(self, out: np.ndarray) -> None:
        out[...] = self.matrix()

    def part(self, items: np.ndarray) -> LowRank:
        return LowRank(self.features[items])


def product(kernel: Kernel, A: Points, B: Points, coefficients: np.ndarray) -> np.ndarray:
    """Return K(A, B) @ coefficients in memory for a few tiles.

    Every row is summed in the same order whatever the number of threads, so that the answer is
    the same to the last bit.

    Parameters
    ----------
    kernel : Kernel
    A, B : Points
    coefficients : ndarray of shape (B,) or (B, outputs)

    Returns
    -------
    ndarray of shape (A,) or (A, outputs)

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
    places = spans(len(B), width)
    columns = (
        [(j, B[j], coefficients[j]) for j in places]
        if len(places) > 1
        else [(places[0], B, coefficients)]
    )

    def stripe(i: slice) -> None:
        rows = A[i] if len(A) > height else A
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
    if not in_groups(points):
        return product(kernel, points, points, coefficients)
    sums = np.zeros((SUM_GROUPS, len(points), *np.shape(coefficients)[1:]))
    add = symmetric_groups(kernel, points, coefficients)
    in_threads(lambda number: add(number, sums[number]), range(SUM_GROUPS), kernel.threads)
    return sums.sum(axis=0)


def in_groups(points: Points) -> bool:
    """Tell whether a product with these points computes each similarity once, in groups."""
    dense = isinstance(points, Vectors) and not points.is_sparse
    return len(points) >= SYMMETRIC_FROM and dense and on_numpy(points)


def symmetric_groups(
    kernel: Kernel, points: Points, coefficients: np.ndarray
) -> Callable[[int, np.ndarray], None]:
    """Return what adds the tiles of a group, given by its number, to an array."""
    single = isinstance(points, Vectors) and points.single
    C = np.asarray(coefficients, dtype=np.float32 if single else np.float64)
    rows, _ = common_origin(kernel, points, points)
    places = list(spans(len(points), SINGLE_TILE_SIDE if single else TILE_SIDE))
    pieces = [(i, rows[i], C[i]) for i in places]

    def add(number: int, total: np.ndarray) -> None:
        for first in range(number, len(pieces), SUM_GROUPS):
            i, left, ci = pieces[first]
            for j, right, cj in pieces[first:]:
                with tile(kernel, left, right, i.start, j.start, i == j, finite=False) as T:
                    total[i] += T @ cj
                    _require(kernel, T, total[i], i, j)
                    if i != j:
                        total[j] += T.T @ ci

    return add


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


def features_of(kernel: Kernel, points: Points) -> Callable[[Points], Any]:
    """Return the map from points to features, its columns fixed by `points`.

    Parameters
    ----------
    kernel : Kernel
    points : Points

    Returns
    -------
    callable
        From points to a dense or sparse array, one row for each.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> points = Linear().admit([[1.0], [2.0]])
    >>> features_of(Linear(), points)(points)
    array([[1.],
           [2.]])
    """
    found = kernel.map_features(points)
    if found is None:
        raise ValidityError(f"{kernel!r} has no finite feature map for the primal route")
    return found.transform


def square_matrix(points: GramRows) -> np.ndarray:
    """Return a precomputed Gram matrix, refusing one that is not square or not symmetric."""
    matrix: Any = points.matrix
    if points.places is None:
        raise DomainError(
            f"Precomputed matrix must be a square matrix. Input is a {matrix.shape[0]}x"
            f"{matrix.shape[1]} matrix."
        )
    if not np.array_equal(points.places, np.arange(matrix.shape[1])):
        matrix = matrix[:, points.places]
    return matrix if points.symmetric else made_symmetric(matrix)
