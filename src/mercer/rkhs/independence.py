"""The Hilbert-Schmidt independence criterion."""

from __future__ import annotations

import numpy as np

from mercer.domains import Items, Points
from mercer.engine.tiles import common_origin, fill, on_numpy, spans, tile, tile_size
from mercer.errors import DomainError
from mercer.gram.operator import symmetric_product
from mercer.kernels import Kernel, named
from mercer.memory import afford, affordable
from mercer.progress import progress
from mercer.rkhs.passes import require_in_memory
from mercer.rkhs.statistic import Statistic, orders, permutation_test, require_count
from mercer.threads import in_threads

__all__ = ["hsic"]

MATRICES = 4  # of n × n: two that are centered, one in another order, and their product


def hsic(
    kernel_x: Kernel,
    kernel_y: Kernel,
    X: Items | Points,
    Y: Items | Points,
    permutations: int = 0,
    seed: int = 0,
) -> Statistic:
    """Return the Hilbert-Schmidt independence criterion, tr(K_X H K_Y H)/n².

    It is zero, for large samples, only if X and Y are independent (Gretton et al., 2005).

    Parameters
    ----------
    kernel_x, kernel_y : Kernel
    X, Y : sequences of equally many things, paired
    permutations : int
        Number of random pairings for a p-value against independence; 0 for none.
    seed : int

    Returns
    -------
    Statistic
        A number, with its p-value if there were permutations.

    Notes
    -----
    Where the two matrices do not fit, their tiles are computed, and computed again for each
    permutation.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> hsic(Gaussian(0.5), Gaussian(0.5), x, x**2, permutations=99).pvalue
    0.01
    """
    for items, name in ((X, "X"), (Y, "Y")):
        require_in_memory(items, name, "use a sample of its rows")
    kernels = [named(kernel_x).resolve(X), named(kernel_y).resolve(Y)]
    sides = [kernels[0].admit(X), kernels[1].admit(Y, "Y")]
    n = len(sides[0])
    if n != len(sides[1]):
        raise DomainError(f"X has {n} items and Y has {len(sides[1])}; they must be paired")
    each = orders(n, require_count(permutations), seed)
    values = np.empty(1 + int(permutations))
    stored = affordable(8 * MATRICES * n**2)
    dependence = _Stored(kernels, sides) if stored else _Computed(kernels, sides)
    with progress("permutations", len(values)) as step:
        for i, order in enumerate(each):
            values[i] = dependence(order)
            step()
    return permutation_test(values / n**2)


class _Stored:
    """tr(KHLH) of two centered matrices."""

    def __init__(self, kernels: list[Kernel], sides: list[Points]) -> None:
        self.K, self.L = (_centered(k, A) for k, A in zip(kernels, sides, strict=True))

    def __call__(self, order: np.ndarray) -> float:
        return float(np.sum(self.K * self.L[np.ix_(order, order)]))


class _Computed:
    """The same from tiles: Σ KᵢⱼLᵢⱼ − (2/n) Σ kᵢlᵢ + (Σ kᵢ)(Σ lᵢ)/n² with sums k, l of rows."""

    def __init__(self, kernels: list[Kernel], sides: list[Points]) -> None:
        for points in sides:
            if not on_numpy(points):
                n = len(points)
                afford(8 * MATRICES * n**2, f"hsic of {n} items", "use fewer, or NumPy arrays")
        self.kernels, self.sides = kernels, sides
        ones = np.ones(len(sides[0]))
        pairs = zip(kernels, sides, strict=True)
        self.k, self.l = (symmetric_product(kernel, points, ones) for kernel, points in pairs)

    def __call__(self, order: np.ndarray) -> float:
        n = len(order)
        together = _overlap(self.kernels, [self.sides[0], self.sides[1][order]])
        apart = float(self.k @ self.l[order])
        return together - 2 * apart / n + float(self.k.sum()) * float(self.l.sum()) / n**2


def _overlap(kernels: list[Kernel], sides: list[Points]) -> float:
    """Return Σ KᵢⱼLᵢⱼ, the tiles above the diagonal serving for those below it."""
    (k, A), (m, B) = (
        (kernel, common_origin(kernel, points, None)[0])
        for kernel, points in zip(kernels, sides, strict=True)
    )
    places = spans(len(A), tile_size(A, B))
    sums = np.zeros(len(places))

    def stripe(number: int) -> None:
        i = places[number]
        for j in places[number:]:
            same = i == j
            with (
                tile(k, A[i], A[j], i.start, j.start, same) as S,
                tile(m, B[i], B[j], i.start, j.start, same) as T,
            ):
                sums[number] += (1 if same else 2) * float(np.vdot(S, T))

    in_threads(stripe, range(len(places)), k.threads and m.threads)
    return float(sums.sum())


def _centered(kernel: Kernel, points: Points) -> np.ndarray:
    """Return HKH with H = I − 11ᵀ/n."""
    K = np.asarray(fill(kernel, points, dtype=np.float64))
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return K
