"""The nearest points in a kernel's space, found without the matrix of all similarities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mercer.domains import Points
from mercer.engine.tiles import (
    FEW_ROWS,
    common_origin,
    fill,
    on_numpy,
    spans,
    stripe_size,
    tile,
    tile_size,
)
from mercer.kernels import Kernel
from mercer.threads import in_threads

__all__ = ["nearest"]


def nearest(
    kernel: Kernel, A: Points, B: Points, heights: np.ndarray, count: int, others: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the `count` nearest of B for each point of A, and their similarities.

    The distance is that of the kernel's space, |x − z|² = k(x, x) + k(z, z) − 2k(x, z) (6.24).
    Nearest come first, and of equally near points the one that comes first in B.

    Parameters
    ----------
    kernel : Kernel
    A, B : Points
    heights : ndarray
        k(z, z) of the points of B.
    count : int
        At most as many as there are points.
    others : bool
        Whether A and B are the same points, each of which looks only at the others.

    Returns
    -------
    places, similarities : ndarray of shape (len(A), count)
    """
    # k(x, x) is the same for all z. Subtracting the lowest height leaves −k(x, z) alone where all
    # heights are equal, so that similarities far below 1 (of a Gaussian) still tell far from near.
    levels = (np.asarray(heights, dtype=np.float64) - np.min(heights)) / 2
    places = np.empty((len(A), count), dtype=np.intp)
    similarities = np.empty((len(A), count))
    # Another array library has its own parallelism, and computes everything at once.
    whole = None if on_numpy(A) else np.asarray(fill(kernel, A, B), dtype=np.float64)
    if whole is None:
        A, B = common_origin(kernel, A, B)

    def stripe(i: slice) -> None:
        rows = i.stop - i.start
        found: np.ndarray = np.empty((rows, 0), dtype=np.intp)
        keys, values = np.empty((rows, 0)), np.empty((rows, 0))
        for j, T in _tiles(kernel, A, B, i, whole):
            new = levels[j] - T
            if others:
                _forbid_self(new, i, j)
            before = keys.shape[1]
            keys = np.concatenate([keys, new], axis=1)
            values = np.concatenate([values, T], axis=1)
            chosen = _smallest(keys, count)
            keys = np.take_along_axis(keys, chosen, axis=1)
            values = np.take_along_axis(values, chosen, axis=1)
            if before:
                old = np.take_along_axis(found, np.minimum(chosen, before - 1), axis=1)
                found = np.where(chosen < before, old, chosen - before + j.start)
            else:
                found = chosen + j.start
        order = np.argsort(keys, axis=1, kind="stable")
        places[i] = np.take_along_axis(found, order, axis=1)
        similarities[i] = np.take_along_axis(values, order, axis=1)

    in_threads(stripe, spans(len(A), tile_size(A, B)), kernel.threads)
    return places, similarities


def _tiles(
    kernel: Kernel, A: Points, B: Points, i: slice, whole: np.ndarray | None
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the tiles of a stripe of rows, each with its columns."""
    if whole is not None:
        yield slice(0, len(B)), whole[i]
        return
    width = stripe_size(A, B)[1] if len(A) <= FEW_ROWS else tile_size(A, B)
    for j in spans(len(B), width):
        with tile(kernel, A[i], B[j], i.start, j.start) as T:
            yield j, T


def _smallest(keys: np.ndarray, count: int) -> np.ndarray:
    """Return the columns of the `count` smallest keys of each row, in the order of the columns.

    Of equal keys the first are taken, which a partition alone would not promise.
    """
    rows, columns = keys.shape
    if count == 1 and columns:
        return np.argmin(keys, axis=1)[:, None]
    if columns <= count:
        return np.broadcast_to(np.arange(columns), keys.shape)
    last = np.partition(keys, count - 1, axis=1)[:, count - 1 : count]
    below, equal = keys < last, keys == last
    missing = count - below.sum(axis=1, keepdims=True)
    chosen = below | (equal & (np.cumsum(equal, axis=1) <= missing))
    return np.nonzero(chosen)[1].reshape(rows, count)


def _forbid_self(keys: np.ndarray, i: slice, j: slice) -> None:
    """Put every point infinitely far from itself."""
    own = np.arange(max(i.start, j.start), min(i.stop, j.stop))
    keys[own - i.start, own - j.start] = np.inf
