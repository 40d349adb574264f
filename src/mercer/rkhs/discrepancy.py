"""Maximum mean discrepancy: how far two sets are apart, as the distance of their embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Points, Vectors
from mercer.engine.tiles import diagonal, fill
from mercer.errors import ValidityError, suggestion
from mercer.gram.product import GROUPS, symmetric_product
from mercer.kernels import Kernel, named
from mercer.kernels.base import same_width
from mercer.memory import affordable, available
from mercer.progress import progress
from mercer.rkhs.approximate import by_features, linear_time
from mercer.rkhs.passes import require_in_memory
from mercer.rkhs.statistic import Statistic, orders, permuted, require_count
from mercer.values import whole

__all__ = ["mmd"]

METHODS = ("exact", "linear", "features")
STORED_UP_TO = 4096  # items whose similarities are simply kept
ROOM = 10**9  # bytes for the labels of all items under the permutations of one pass, at most


def mmd(
    kernel: Kernel,
    X: Any,
    Y: Any,
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
    kernel: Kernel, X: Any, Y: Any, permutations: int, seed: int, squared: bool
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
    return permuted(np.maximum(squares, 0.0), squared, rounding=1e-15 * size)


def _group(total: int, columns: int) -> int:
    """Return how many permutations one pass serves: signs, products, and sums of threads."""
    free = available()
    room = ROOM if free is None else min(ROOM, free // 4)
    return int(min(max(room // (8 * total * (GROUPS + 4)), 1), columns))


def _stored(kernel: Kernel, points: Points, passes: int) -> bool:
    """Tell whether to keep the matrix: it is small, or would be computed more than once."""
    n = len(points)
    if n <= STORED_UP_TO:
        return True
    once = passes == 1 and isinstance(points, Vectors) and not points.is_sparse
    return not once and affordable(16 * n**2)
