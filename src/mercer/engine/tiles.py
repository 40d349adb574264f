"""Tiles: a Gram matrix in pieces that fit a processor's cache, on all its cores.

Inside a tile a kernel is plain array code. The temporary arrays of that code stay in the cache,
which is what makes it fast, and a symmetric matrix needs only the tiles on and above the diagonal.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import array_api_compat
import numpy as np

import mercer.threads as threads
from mercer.domains import ZERO, Points, Vectors
from mercer.engine.block import Block, Formula, Scratch
from mercer.errors import ValidityError
from mercer.memory import afford
from mercer.threads import in_threads

__all__ = ["TILE", "fill", "fill_several", "spans"]

TILE = 384  # small enough for a processor's cache, large enough to hide the cost of the calls
SINGLE_TILE = 512  # the same number of bytes, in single precision
# Tiles that are not stored may be larger and need not be square: so many entries, so wide at most.
STRIPE_AREA = 768 * 512
SINGLE_STRIPE_AREA = 768 * 768
STRIPE_WIDTH = 768
FEW_ROWS = 16  # whose stripes may be as wide as the area allows, because a call costs more
SPARSE_TILE = 1024  # slicing sparse rows is slow, so there are fewer, larger tiles
# Rows with at most this share of nonzeros are compared over those, if they are many and wide.
MOSTLY_ZERO = 0.25
MANY_ROWS = 1000
FEW_NONZEROS = 16
MAX_UNPACKED_WIDTH = 1024  # of sparse rows, which are compared faster if they are unpacked


def fill(
    kernel: Formula,
    A: Points,
    B: Points | None = None,
    dtype: Any = None,
    half: bool = False,
    out: np.ndarray | None = None,
) -> Any:
    """Return the Gram matrix of admitted points, tile by tile, in `out` if given.

    Its type is that of the points, if they have one, unless `dtype` says otherwise; arithmetic
    inside a tile is in double precision, except for points that ask for single. With `half`, what
    is below the diagonal of a symmetric matrix may be left undefined, its memory never touched.
    """
    if not on_numpy(A):
        return _fill_elsewhere(kernel, A, B)
    left, right = common_origin(kernel, A, B)
    K = (
        _allocate(len(left), len(right), np.dtype(dtype or _dtype(left, right)))
        if out is None
        else out
    )
    _fill([kernel], left, None if B is None else right, [K], half)
    return K


def fill_several(kernels: Sequence[Formula], points: Points) -> list[np.ndarray]:
    """Return the Gram matrices of several kernels on the same items, in double precision.

    What they need of a tile, such as its distances, is computed once.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> points = Gaussian(1.0).admit([[0.0], [1.0]])
    >>> narrow, wide = fill_several([Gaussian(0.5), Gaussian(2.0)], points)
    >>> narrow[0, 1].round(3), wide[0, 1].round(3)
    (np.float64(0.135), np.float64(0.882))
    """
    if not on_numpy(points):
        return [np.asarray(_fill_elsewhere(kernel, points, None), float) for kernel in kernels]
    for kernel in kernels:
        points = prepare_points(kernel, points)
    n = len(points)
    matrices = [_allocate(n, n, np.dtype(np.float64)) for _ in kernels]
    _fill(kernels, points, None, matrices)
    return matrices


def _fill(
    kernels: Sequence[Formula],
    A: Points,
    B: Points | None,
    matrices: list[np.ndarray],
    half: bool = False,
) -> None:
    """Fill the matrices of several kernels, tile by tile, with what they share of each tile."""
    symmetric, right = B is None, A if B is None else B
    size = tile_size(A, right)
    if any(kernel.slow for kernel in kernels):
        # Where a pair takes long, tiles are small, so that there is one for each core.
        size = min(size, max(-(-max(len(A), len(right)) // (4 * threads.cores())), 16))
    rows = [(i, A[i]) for i in spans(len(A), size)]
    columns = rows if symmetric else [(j, right[j]) for j in spans(len(right), size)]

    def one(place: tuple[int, int]) -> None:
        (i, left), (j, right) = rows[place[0]], columns[place[1]]
        with lend_block(left, right, symmetric and i == j) as block:
            for kernel, K in zip(kernels, matrices, strict=True):
                T = evaluate_tile(kernel, block, i.start, j.start)
                if K.dtype == np.float32 and T.dtype != np.float32:
                    T = _single(kernel, T, i.start, j.start)
                K[i, j] = T
                if symmetric and i != j and not half:
                    K[j, i] = T.T

    places = [
        (p, q) for p in range(len(rows)) for q in range(len(columns)) if not symmetric or p <= q
    ]
    in_threads(one, places, all(kernel.threads for kernel in kernels))


def diagonal(kernel: Formula, points: Points) -> Any:
    """Return the finite diagonal of a Gram matrix, in the type that the matrix would have."""
    with quiet():
        values = kernel.evaluate_diagonal(points)
    xp = array_api_compat.array_namespace(values)
    if not bool(xp.all(xp.isfinite(values))):
        item = int(xp.argmin(xp.astype(xp.isfinite(values), xp.int8)))
        _raise_unless_finite(kernel, np.asarray(values)[item : item + 1, None], item, item)
    if isinstance(values, np.ndarray) and _dtype(points, points) == np.float32:
        return _single(kernel, values[:, None], 0, 0)[:, 0]
    return values


def quiet() -> np.errstate:
    """Leave it to the check of the result to complain about overflow."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore")


@contextmanager
def tile(
    kernel: Formula,
    left: Points,
    right: Points,
    i: int,
    j: int,
    symmetric: bool = False,
    finite: bool = True,
) -> Iterator[np.ndarray]:
    """Lend the tile that begins at (i, j); a symmetric one is exactly symmetric.

    With `finite=False` it is left to the caller to require that it is.
    """
    with lend_block(left, right, symmetric) as block, quiet():
        yield evaluate_tile(kernel, block, i, j, finite)


@contextmanager
def lend_block(left: Points, right: Points, symmetric: bool = False) -> Iterator[Block]:
    """Lend a block whose intermediate results lie in this thread's scratch memory.

    That memory is free again when the block is returned. A kernel that evaluates another kernel
    meanwhile gets memory of its own.
    """
    free = _thread.__dict__.setdefault("free", [])
    scratch = free.pop() if free else Scratch(8 * max(STRIPE_AREA, TILE**2))
    yield Block(left, right, symmetric, scratch)
    scratch.reset()
    free.append(scratch)


def evaluate_tile(
    kernel: Formula, block: Block, i: int, j: int, finite: bool = True
) -> np.ndarray:
    """Return the tile of a block that begins at (i, j), by default only if it is finite.

    A kernel need not fill what is below the diagonal of a symmetric block.
    """
    with quiet():
        T = kernel.evaluate(block)
        if block.symmetric:
            np.copyto(T, T.T.copy(), where=_below(len(T)))
        if finite:
            require_finite(kernel, T, i, j)
    return T


def require_finite(kernel: Formula, T: np.ndarray, i: int, j: int) -> None:
    """Refuse the tile that begins at (i, j) if it has an entry that is not finite."""
    with quiet():
        if not np.isfinite(np.sum(T)):
            _raise_unless_finite(kernel, T, i, j)


def common_origin(kernel: Formula, A: Points, B: Points | None) -> tuple[Points, Points]:
    """Return both sets seen from one point, with the encodings of all tiles made at once."""
    if B is not None and len(A) <= FEW_ROWS:  # who asks for one row will ask for another
        B = B.view("near their mean", _near_their_mean)
    right = prepare_points(kernel, A if B is None else B)
    if B is None:
        return right, right
    if not (isinstance(A, Vectors) and isinstance(right, Vectors)):
        return prepare_points(kernel, A), right
    if right.origin is None or A.origin is right.origin or not on_numpy(A):
        return A, right
    if A.is_sparse and right.origin is not ZERO:
        return A, right
    return prepare_points(kernel, A, right.origin, right.single), right


def _near_their_mean(points: Points) -> Points:
    """Return vectors seen from their mean, which have to be moved there once only."""
    if not isinstance(points, Vectors) or points.origin is not None or not on_numpy(points):
        return points
    if points.is_sparse:
        return points
    origin = _origin(points)
    return points if origin is None else points.around(origin)


def prepare_points(
    kernel: Formula, points: Points, origin: Any = None, single: bool = False
) -> Points:
    """Return points seen from an origin, by default a good one, with their encodings made.

    Points that have an origin already are returned as they are, so that those which are compared
    many times can be prepared once. Rows that are mostly zero are seen from zero.
    """
    if not isinstance(points, Vectors):
        with quiet():
            kernel.encode(points)
    if not isinstance(points, Vectors) or not on_numpy(points):
        return points
    if origin is None:
        origin = _origin(points) if points.origin is None else points.origin
    if origin is None:
        return points
    with quiet():
        if origin is not points.origin or single:
            dense = Vectors(points.array.toarray(), points.names) if points.is_sparse else points
            points = dense.around(origin, single)
        kernel.encode(points)
    return points


def unpacks(points: Points) -> bool:
    """Tell whether `prepare_points` will make dense rows of sparse ones."""
    return isinstance(points, Vectors) and points.is_sparse and _origin(points) is ZERO


def _origin(points: Vectors) -> Any:
    """Return the mean of dense rows, ZERO for rows that are mostly zero, or None."""
    n, width = points.array.shape
    many = n >= MANY_ROWS and width >= 2 * FEW_NONZEROS
    if points.is_sparse:
        narrow = (
            many and width <= MAX_UNPACKED_WIDTH and points.array.nnz <= MOSTLY_ZERO * n * width
        )
        return ZERO if narrow else None
    if many:
        some = points.array[:: max(n // MANY_ROWS, 1)]
        if np.count_nonzero(some) <= MOSTLY_ZERO * some.size:
            return ZERO
    with quiet():
        return np.mean(points.array, axis=0, dtype=np.float64)


def spans(count: int, size: int) -> list[slice]:
    """Cut ``range(count)`` into slices of at most `size`, as equal as they can be."""
    parts = max(-(-count // size), 1)
    step = max(-(-count // parts), 1)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def tile_size(*sides: Points) -> int:
    """Return the side of a tile for these points."""
    vectors = [p for p in sides if isinstance(p, Vectors)]
    if any(p.is_sparse for p in vectors):
        return SPARSE_TILE
    return SINGLE_TILE if any(p.single for p in vectors) else TILE


def stripe_size(A: Points, B: Points) -> tuple[int, int]:
    """Return height and width of tiles that are used up where they are made.

    Few columns make high tiles, so that there are not many more of them.
    """
    if tile_size(A, B) == SPARSE_TILE:
        return SPARSE_TILE, SPARSE_TILE
    if len(A) <= FEW_ROWS:
        return FEW_ROWS, min(len(B), STRIPE_AREA // FEW_ROWS)
    area = SINGLE_STRIPE_AREA if tile_size(A, B) == SINGLE_TILE else STRIPE_AREA
    width = min(len(B), STRIPE_WIDTH)
    return max(min(area // width, len(A) // 8), area // STRIPE_WIDTH), width


def working_bytes(kernel: Formula, points: Points, products: bool = False) -> int:
    """Return the memory that evaluating tiles of these items takes, on all threads.

    Tiles of `products`, which are not stored, are larger.
    """
    count = threads.cores() if kernel.threads else 1
    area = min(len(points), tile_size(points)) ** 2
    if products and tile_size(points) != SPARSE_TILE:
        area = max(area, min(len(points) ** 2, STRIPE_AREA))
    # Tiles do not overlap, so that no more of them are in work than there are entries.
    return 8 * min(count * area, len(points) ** 2) * kernel.workspace()


_thread = threading.local()


@lru_cache(maxsize=8)
def _below(order: int) -> np.ndarray:
    """Return the mask of the entries below a diagonal."""
    return np.tri(order, k=-1, dtype=bool)


def on_numpy(points: Points) -> bool:
    """Tell whether points are evaluated by NumPy, in tiles."""
    container = getattr(points, "array", getattr(points, "frame", None))
    if container is None or isinstance(container, np.ndarray):
        return True
    if not array_api_compat.is_array_api_obj(container):
        return True
    return array_api_compat.is_numpy_array(container)


def _fill_elsewhere(kernel: Formula, A: Points, B: Points | None) -> Any:
    """Evaluate on another array library, which has its own parallelism."""
    with quiet():
        K = kernel.evaluate(Block(A, A if B is None else B))
    xp = array_api_compat.array_namespace(K)
    if not bool(xp.all(xp.isfinite(K))):
        _raise_unless_finite(kernel, np.asarray(K), 0, 0)
    return K if B is not None else xp.triu(K) + xp.triu(K, k=1).T


def _allocate(rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Return memory for a matrix, or say how much is missing."""
    if rows * columns > 10**7:  # smaller ones are not worth the question
        task = f"a Gram matrix of {rows} × {columns} items"
        afford(rows * columns * dtype.itemsize, task, "use fewer items at a time")
    return np.empty((rows, columns), dtype=dtype)


def _dtype(A: Points, B: Points) -> np.dtype:
    kinds = {
        getattr(getattr(p, "array", getattr(p, "frame", None)), "dtype", None) for p in (A, B)
    }
    return np.dtype(np.float32 if kinds == {np.dtype(np.float32)} else np.float64)


def _single(kernel: Formula, tile: np.ndarray, row: int, column: int) -> np.ndarray:
    """Return finite similarities in single precision, refusing those that it cannot hold."""
    with quiet():
        single = tile.astype(np.float32, copy=False)
        if not np.isfinite(np.sum(single, dtype=np.float64)):
            _raise_unless_finite(kernel, single, row, column)
    return single


def _raise_unless_finite(kernel: Formula, tile: np.ndarray, row: int, column: int) -> None:
    bad = np.argwhere(~np.isfinite(tile))
    if len(bad) == 0:  # finite entries whose sum overflows
        return
    i, j = bad[0]
    raise ValidityError(
        f"{kernel!r} is {tile[i, j]} for items {row + i} and {column + j}, not a finite number; "
        "scale the data down, normalize the kernel, or weaken its parameters"
    )
