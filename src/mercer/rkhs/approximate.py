"""Discrepancies of very large sets: from pairs that are used once, or from random features."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr

from mercer.domains import Points, Rows, Streamed, to_numpy
from mercer.engine.tiles import common_origin, fill, on_numpy, spans, tile
from mercer.errors import DomainError
from mercer.kernels import Kernel
from mercer.progress import progress
from mercer.rkhs.passes import equal_pieces, resolved_on, rows_of
from mercer.rkhs.statistic import Statistic, permuted
from mercer.threads import in_threads

__all__ = ["by_features", "linear_time", "paired"]

SIDE = 64  # of tiles of which only the diagonal is used: small, but not all overhead
SLAB = 2048  # pairs that a thread compares before it takes others
CHUNK = 2048  # items whose features are computed at a time
LABELS = 200_000_000  # bytes of the labels of all items under the permutations of one pass


def linear_time(kernel: Kernel, X: Any, Y: Any, seed: int, squared: bool) -> Statistic:
    """Return the statistic of Gretton et al. (2012), section 6.

    It is the mean of h = k(x, x′) + k(y, y′) − k(x, y′) − k(x′, y) over pairs of pairs, each item
    being used once. These are independent, so the mean is normal for large sets, and its variance
    is that of h over their number.
    """
    left, right, kernel = _both(kernel, X, Y, seed)
    rng = np.random.default_rng(seed)
    shorter = min(left.count, right.count)
    if shorter < 4:
        raise DomainError(
            f"the linear-time statistic needs at least 4 items in each set, found {shorter}"
        )
    found = []
    with progress("discrepancy", shorter) as step:
        for A, B in zip(equal_pieces(left, rng), equal_pieces(right, rng), strict=False):
            count = min(len(A), len(B)) // 2
            odd, even = 2 * np.arange(count), 2 * np.arange(count) + 1
            x, xx, y, yy = A[odd], A[even], B[odd], B[even]
            h = paired(kernel, x, xx) + paired(kernel, y, yy)
            found.append(h - paired(kernel, x, yy) - paired(kernel, xx, y))
            step(2 * count)
    h = np.concatenate(found)
    square, error = float(h.mean()), float(h.std(ddof=1)) / math.sqrt(len(h))
    pvalue = float(ndtr(-square / error)) if error > 0 else float(square <= 0)
    return Statistic(
        square if squared else math.sqrt(max(square, 0.0)),
        pvalue=pvalue,
        error=error,
        approximate=f"linear time, {len(h)} pairs of pairs",
    )


def by_features(
    kernel: Kernel, X: Any, Y: Any, count: int, permutations: int, seed: int, squared: bool
) -> Statistic:
    """Return the distance of the means of random features.

    Each frequency, a cosine and a sine, gives an estimate of the square that is right on average.
    They are independent, so their spread tells the error of their mean. Permutations exchange
    labels of the same features, which makes a valid test however few these are.
    """
    left, right, kernel = _both(kernel, X, Y, seed)
    n, total = left.count, left.count + right.count
    features = kernel.random_features(count, seed)
    rng = np.random.default_rng(seed)
    group = max(min(1 + permutations, LABELS // total), 1)
    squares = []
    with progress("discrepancy", -(-(1 + permutations) // group) * total) as step:
        for first in range(0, 1 + permutations, group):
            width = min(group, 1 + permutations - first)
            labels = np.zeros((width, total), dtype=bool)
            for row in range(width):
                order = np.arange(total) if first + row == 0 else rng.permutation(total)
                labels[row, order[:n]] = True
            sums, all_ = np.zeros((width, count)), np.zeros(count)
            for place, part in _in_turn(left, right):
                phi = np.asarray(features(part))
                sums += labels[:, place].astype(np.float64) @ phi
                all_ += phi.sum(axis=0)
                step(len(part), f"permutation {first}" if first else "")
            squares.append((sums / n - (all_ - sums) / (total - n)) ** 2)
    each = np.concatenate(squares)
    each = each[:, : count // 2] + each[:, count // 2 :]
    ours = each[0] * (count // 2)
    error = float(ours.std(ddof=1) / math.sqrt(len(ours))) if len(ours) > 1 else math.inf
    return permuted(each.sum(axis=1), squared, error=error, approximate=f"{count} random features")


def paired(kernel: Kernel, A: Points, B: Points) -> np.ndarray:
    """Return k(aᵢ, bᵢ) for each i, as the diagonals of small tiles.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> paired(k, k.admit([[1.0], [2.0]]), k.admit([[3.0], [4.0]]))
    array([3., 8.])
    """
    side = 1 if kernel.slow else SIDE
    if not on_numpy(A):
        parts = [to_numpy(fill(kernel, A[i], B[i])).diagonal() for i in spans(len(A), SLAB)]
        return np.concatenate(parts).astype(np.float64)
    A, B = common_origin(kernel, A, B)
    result = np.empty(len(A))

    def some(slab: slice) -> None:
        left, right = A[slab], B[slab]
        for i in spans(len(left), side):
            with tile(kernel, left[i], right[i], slab.start + i.start, slab.start + i.start) as T:
                result[slab][i] = T.diagonal()

    in_threads(some, spans(len(A), SLAB), kernel.threads)
    return result


def _both(kernel: Kernel, X: Any, Y: Any, seed: int) -> tuple[Rows, Rows, Kernel]:
    """Return both sets in pieces, and the kernel as resolved on samples of them."""
    left, one, _ = rows_of(kernel, X, seed=seed)
    right, two, _ = rows_of(kernel, Y, "Y", seed + 1)
    if any(
        isinstance(rows, Streamed) and rows.survey.weights is not None for rows in (left, right)
    ):
        raise DomainError("a discrepancy counts all rows alike; leave the stream's weights out")
    return left, right, resolved_on(kernel, one, two)


def _in_turn(left: Rows, right: Rows) -> Iterator[tuple[slice, Points]]:
    """Yield small pieces of both sets, with their places among all items."""
    for rows, offset in ((left, 0), (right, left.count)):
        for place, part in rows.pieces():
            for i in spans(len(part), CHUNK):
                start = offset + place.start + i.start
                piece = part[i]
                yield slice(start, start + len(piece)), piece
