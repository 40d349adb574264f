"""Mean embeddings: a whole set of things as one function, and tests that compare such sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.domains import Points, real_numbers
from mercer.errors import DomainError
from mercer.kernels import Kernel, named
from mercer.kernels.base import same_width
from mercer.kernels.tiles import fill
from mercer.rkhs.function import Function

__all__ = ["Statistic", "hsic", "mean_embedding", "mmd"]


class Statistic(float):
    """A number, with the p-value of a permutation test if one was asked for.

    Attributes
    ----------
    pvalue : float or None
        (1 + permutations with a statistic at least as large) / (1 + permutations).
    null : ndarray or None
        The statistic under each permutation.

    Examples
    --------
    >>> found = Statistic(2.0, null=np.array([0.5, 2.5, 1.0]))
    >>> found + 1, found.pvalue
    (3.0, 0.5)
    """

    pvalue: float | None
    null: np.ndarray | None

    def __new__(cls, value: float, null: np.ndarray | None = None) -> Statistic:
        self = super().__new__(cls, value)
        self.null = null
        if null is None:
            self.pvalue = None
        else:
            self.pvalue = float(1 + np.sum(null >= value)) / (1 + len(null))
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Statistic, (float(self), self.null)


def mean_embedding(kernel: Kernel, X: Any, weights: Any = None) -> Function:
    """Return the mean of the sections k(·, x): the set `X` as one function.

    Parameters
    ----------
    kernel : Kernel
        Heuristics are resolved on `X`.
    X : sequence of things
    weights : array, optional
        Not negative; divided by their sum.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> mean_embedding(Linear(), [[1.0], [3.0]])([[1.0]])
    array([2.])
    """
    kernel = named(kernel).resolve(X)
    points = kernel.admit(X)
    if weights is None:
        return Function(kernel, points, np.full(len(points), 1 / len(points)))
    w = real_numbers(weights, "weights")
    if w.shape != (len(points),) or not np.isfinite(w).all() or (w < 0).any() or not w.any():
        raise DomainError(
            f"weights must be {len(points)} finite numbers, not negative and not all zero"
        )
    return Function(kernel, points, w / w.sum())


def mmd(
    kernel: Kernel, X: Any, Y: Any, permutations: int = 0, seed: int = 0, squared: bool = False
) -> Statistic:
    """Return the maximum mean discrepancy: the distance of two sets' mean embeddings.

    It is zero for equal sets, and for large samples only if they come from the same distribution
    (with a kernel such as `Gaussian`).

    Parameters
    ----------
    kernel : Kernel
        Heuristics are resolved on both sets together.
    X, Y : sequences of things
    permutations : int
        Number of random relabelings for a p-value against "the same distribution"; 0 for none.
    seed : int
    squared : bool
        Whether to return |μ_X − μ_Y|².

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(50, 1)), rng.normal(2.0, 1.0, size=(50, 1))
    >>> mmd(Gaussian(1.0), X, Y, permutations=99).pvalue
    0.01
    """
    kernel = named(kernel)
    both = _together(kernel, X, Y)
    kernel = kernel.resolve(both)
    n, total = len(kernel.admit(X)), len(both)
    K = np.asarray(fill(kernel, kernel.admit(both), dtype=np.float64))

    def discrepancy(order: np.ndarray) -> float:
        signs = np.full(total, -1 / (total - n))
        signs[order[:n]] = 1 / n
        square = max(float(signs @ K @ signs), 0.0)
        return square if squared else float(np.sqrt(square))

    return _permuted(discrepancy, total, permutations, seed)


def hsic(
    kernel_x: Kernel, kernel_y: Kernel, X: Any, Y: Any, permutations: int = 0, seed: int = 0
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

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> hsic(Gaussian(0.5), Gaussian(0.5), x, x**2, permutations=99).pvalue
    0.01
    """
    K, L = (_centered(named(k).resolve(A), A) for k, A in ((kernel_x, X), (kernel_y, Y)))
    if len(K) != len(L):
        raise DomainError(f"X has {len(K)} items and Y has {len(L)}; they must be paired")

    def dependence(order: np.ndarray) -> float:
        return float(np.sum(K * L[np.ix_(order, order)])) / len(K) ** 2

    return _permuted(dependence, len(K), permutations, seed)


def _permuted(
    statistic: Callable[[np.ndarray], float], count: int, permutations: int, seed: int
) -> Statistic:
    """Return a statistic of the given order, and of random ones."""
    if isinstance(permutations, bool) or permutations != int(permutations) or permutations < 0:
        raise DomainError(f"permutations must be a whole number, not negative: {permutations!r}")
    value = statistic(np.arange(count))
    if permutations == 0:
        return Statistic(value)
    rng = np.random.default_rng(seed)
    null = np.array([statistic(rng.permutation(count)) for _ in range(int(permutations))])
    # Permutations that only exchange equal items may differ from the original by rounding.
    near = np.abs(null - value) <= 1e-12 * abs(value)
    return Statistic(value, np.where(near, value, null))


def _together(kernel: Kernel, X: Any, Y: Any) -> Points:
    left, right = kernel.domain.admit(X), kernel.domain.admit(Y, "Y")
    same_width(left, right)
    return left.concat(right)


def _centered(kernel: Kernel, X: Any) -> np.ndarray:
    """Return HKH with H = I − 11ᵀ/n."""
    K = np.asarray(fill(kernel, kernel.admit(X), dtype=np.float64))
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return K
