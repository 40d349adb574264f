"""Maximum mean discrepancy: how far two sets are apart, as the distance of their embeddings.

Of very large sets it is estimated: from pairs that are used once, or from random features.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from mercer.domains import Items, Points, Rows, Streamed, Vectors, to_numpy
from mercer.engine.tiles import common_origin, diagonal, fill, on_numpy, spans, tile
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.gram.operator import SUM_GROUPS, symmetric_product
from mercer.kernels import Kernel, named
from mercer.kernels.base import same_width
from mercer.memory import affordable, available
from mercer.progress import progress
from mercer.rkhs.passes import equal_pieces, require_in_memory, resolve_on, rows_of
from mercer.rkhs.statistic import Statistic, orders, permutation_test, require_count
from mercer.threads import in_threads
from mercer.values import whole

__all__ = ["by_features", "linear_time", "mmd", "paired_similarities"]

METHODS = ("exact", "linear", "features")
MAX_PASS_BYTES = (
    10**9
)  # bytes for the labels of all items under the permutations of one pass, at most


def mmd(
    kernel: Kernel,
    X: Items | Points,
    Y: Items | Points,
    permutations: int = 0,
    seed: int = 0,
    squared: bool = False,
    method: str = "exact",
    features: int = 2000,
) -> Statistic:
    """Return the maximum mean discrepancy: the distance of two sets' mean embeddings.

    It is zero for equal sets, and for large samples only if they come from the same distribution
    (with a kernel such as `Gaussian`).

    Parameters
    ----------
    kernel : Kernel
        Heuristics are resolved on both sets together; on samples of them, if the method is not
        exact.
    X, Y : sequences of things
        For methods that are not exact also a `Stream` or a `numpy.memmap`, which are read in
        chunks.
    permutations : int
        Number of random relabelings for a p-value against "the same distribution"; 0 for none.
    seed : int
        Of permutations, of the order of items in linear time, and of random features.
    squared : bool
        Whether to return |μ_X − μ_Y|².
    method : {"exact", "linear", "features"}
        "exact": from all pairs, in n² time; the matrix of their similarities is not stored where
        it is large. "linear": an unbiased estimate of the square, from pairs in each of which
        every item is used once (Gretton et al., 2012, section 6), with a p-value from its normal
        limit and without permutations. The estimate may be negative; its root is then taken to be
        0. Items in memory are shuffled; rows of a stream only within their chunk, so that they
        must not be sorted, by time or class for example. "features": the distance between means
        of random features, for shift-invariant kernels; permutations take little time then. The
        last two are approximate: `error` is the standard error of the square, by which it may
        differ from the square for the distributions ("linear") or for these very sets
        ("features").
    features : int
        Number of random features.

    Returns
    -------
    Statistic
        A number, with its p-value if there were permutations.

    Notes
    -----
    Exact: each pass over the n²/2 similarities serves as many permutations as fit into memory.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schölkopf & Smola (2012). A kernel two-sample test. Journal of
    Machine Learning Research, 13, 723-773.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(50, 1)), rng.normal(2.0, 1.0, size=(50, 1))
    >>> mmd(Gaussian(1.0), X, Y, permutations=99).pvalue
    0.01
    >>> mmd(Gaussian(1.0), X, Y, method="linear").pvalue < 0.01
    True
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ValidityError(f"method cannot be {method!r}{suggestion(str(method), METHODS)}")
    kernel = named(kernel)
    permutations = require_count(permutations)
    if method == "exact":
        return _exact(kernel, X, Y, permutations, seed, squared)
    seed = whole(mmd, "seed", seed, least=0)
    if method == "linear":
        if permutations:
            raise ValidityError(
                'method="linear" has a p-value without permutations; leave them out, or use '
                'method="features" or "exact"'
            )
        return linear_time(kernel, X, Y, seed, squared)
    count = whole(mmd, "features", features, least=2)
    return by_features(kernel, X, Y, count, permutations, seed, squared)


def _exact(
    kernel: Kernel,
    X: Items | Points,
    Y: Items | Points,
    permutations: int,
    seed: int,
    squared: bool,
) -> Statistic:
    for items, name in ((X, "X"), (Y, "Y")):
        require_in_memory(items, name, 'use method="linear" or "features"')
    left, right = kernel.domain.admit(X), kernel.domain.admit(Y, "Y")
    same_width(left, right)
    both = left.concat(right)
    kernel = kernel.resolve(both)
    points, n, total = kernel.admit(both), len(left), len(both)
    group = _group(total, 1 + permutations)
    K = None
    if _stored(kernel, points, passes=-(-(1 + permutations) // group)):
        K = np.asarray(fill(kernel, points, dtype=np.float64))
    squares = np.empty(1 + permutations)
    each = orders(total, permutations, seed)
    with progress("permutations", 1 + permutations) as step:
        for first in range(0, 1 + permutations, group):
            some = slice(first, min(first + group, 1 + permutations))
            signs = np.full((total, some.stop - first), -1 / (total - n))
            for column in range(signs.shape[1]):
                signs[next(each)[:n], column] = 1 / n
            products = symmetric_product(kernel, points, signs) if K is None else K @ signs
            squares[some] = np.einsum("ij,ij->j", signs, products)
            step(signs.shape[1])
    # Squares are sums of terms that are as large as this, so that zero is not told from less.
    size = float(np.mean(np.abs(np.asarray(diagonal(kernel, points), dtype=np.float64))))
    return permutation_test(np.maximum(squares, 0.0), squared, rounding=1e-15 * size)


def _group(total: int, columns: int) -> int:
    """Return how many permutations one pass serves: signs, products, and sums of threads."""
    free = available()
    room = MAX_PASS_BYTES if free is None else min(MAX_PASS_BYTES, free // 4)
    return int(min(max(room // (8 * total * (SUM_GROUPS + 4)), 1), columns))


def _stored(kernel: Kernel, points: Points, passes: int) -> bool:
    """Tell whether to keep the matrix: it is small, or would be computed more than once."""
    n = len(points)
    # The similarities of so few items are simply kept.
    if n <= 4096:
        return True
    once = passes == 1 and isinstance(points, Vectors) and not points.is_sparse
    return not once and affordable(16 * n**2)


PAIRS_PER_THREAD = 2048  # pairs that a thread compares before it takes others
FEATURE_PASS_BYTES = 200_000_000  # the same where features are added up


def linear_time(
    kernel: Kernel, X: Items | Points, Y: Items | Points, seed: int, squared: bool
) -> Statistic:
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
            h = paired_similarities(kernel, x, xx) + paired_similarities(kernel, y, yy)
            found.append(
                h - paired_similarities(kernel, x, yy) - paired_similarities(kernel, xx, y)
            )
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
    kernel: Kernel,
    X: Items | Points,
    Y: Items | Points,
    count: int,
    permutations: int,
    seed: int,
    squared: bool,
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
    group = max(min(1 + permutations, FEATURE_PASS_BYTES // total), 1)
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
    return permutation_test(
        each.sum(axis=1), squared, error=error, approximate=f"{count} random features"
    )


def paired_similarities(kernel: Kernel, A: Points, B: Points) -> np.ndarray:
    """Return k(aᵢ, bᵢ) for each i, as the diagonals of small tiles.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> paired_similarities(k, k.admit([[1.0], [2.0]]), k.admit([[3.0], [4.0]]))
    array([3., 8.])
    """
    # Only the diagonal of a tile is used: small ones, but not all overhead.
    side = 1 if kernel.slow else 64
    if not on_numpy(A):
        parts = [
            to_numpy(fill(kernel, A[i], B[i])).diagonal() for i in spans(len(A), PAIRS_PER_THREAD)
        ]
        return np.concatenate(parts).astype(np.float64)
    A, B = common_origin(kernel, A, B)
    result = np.empty(len(A))

    def some(slab: slice) -> None:
        left, right = A[slab], B[slab]
        for i in spans(len(left), side):
            with tile(kernel, left[i], right[i], slab.start + i.start, slab.start + i.start) as T:
                result[slab][i] = T.diagonal()

    in_threads(some, spans(len(A), PAIRS_PER_THREAD), kernel.threads)
    return result


def _both(
    kernel: Kernel, X: Items | Points, Y: Items | Points, seed: int
) -> tuple[Rows, Rows, Kernel]:
    """Return both sets in pieces, and the kernel as resolved on samples of them."""
    left, one, _ = rows_of(kernel, X, seed=seed)
    right, two, _ = rows_of(kernel, Y, "Y", seed + 1)
    if any(
        isinstance(rows, Streamed) and rows.survey.weights is not None for rows in (left, right)
    ):
        raise DomainError("a discrepancy counts all rows alike; leave the stream's weights out")
    return left, right, resolve_on(kernel, one, two)


def _in_turn(left: Rows, right: Rows) -> Iterator[tuple[slice, Points]]:
    """Yield small pieces of both sets, with their places among all items."""
    for rows, offset in ((left, 0), (right, left.count)):
        for place, part in rows.pieces():
            for i in spans(len(part), 2048):  # features of a few items at a time
                start = offset + place.start + i.start
                piece = part[i]
                yield slice(start, start + len(piece)), piece
