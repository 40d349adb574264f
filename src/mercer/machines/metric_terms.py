"""Terms of a kernel that take a metric, and how a metric and a bandwidth are put into them.

A kernel with a metric is one term; a sum of such kernels has several, which may measure distances
of another order or with another kind of metric, and learn it together.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from mercer.domains import Points
from mercer.kernels import Exponential, Kernel, Shepard
from mercer.kernels.algebra.arithmetic import Sum

__all__ = [
    "add_terms", "diagonal_of", "distance_order", "metric_terms", "multiply_bandwidth",
    "set_metric", "takes_matrix",
]  # fmt: skip


def metric_terms(kernel: Kernel) -> list[Kernel] | None:
    """Return the terms of a kernel that each take a metric; None if one of them takes none.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> metric_terms(Exponential(order=1) + Gaussian())
    [Exponential(bandwidth='median', order=1.0), Gaussian(bandwidth='median')]
    >>> metric_terms(Linear() + Gaussian()) is None
    True
    """
    if isinstance(kernel, Sum):
        left, right = metric_terms(kernel.left), metric_terms(kernel.right)
        return None if left is None or right is None else left + right
    takes = isinstance(kernel, Kernel) and {"metric", "bandwidth"} <= set(kernel.get_params(False))
    return [kernel] if takes or isinstance(kernel, Shepard) else None


def add_terms(terms: list[Kernel]) -> Kernel:
    """Return the sum of some kernels."""
    return reduce(add, terms)


def distance_order(kernel: Kernel) -> float:
    """Return r of the distance (Σ wᵢ|xᵢ − zᵢ|^r)^{1/r} that a kernel measures."""
    return float(getattr(kernel, "order", getattr(kernel, "_order", 2.0)))


def takes_matrix(kernel: Kernel) -> bool:
    """Tell whether a metric of a kernel may be a matrix: only Euclidean distances have one."""
    return distance_order(kernel) == 2.0


def set_metric(kernel: Kernel, outer: np.ndarray | None, kind: str, points: Points) -> Kernel:
    """Return a kernel with G as its metric, and the median distance there as its bandwidth.

    Rows are multiplied by the root of G; the weights of a distance of order r are r-th powers of
    that.
    """
    metric: Any = None
    if outer is not None and kind == "full" and takes_matrix(kernel):
        metric = outer
    elif outer is not None:
        metric = tuple(float(g) for g in diagonal_of(outer) ** (distance_order(kernel) / 2))
    if isinstance(kernel, Shepard):
        order, exponent = kernel.order, kernel.exponent
        twin = Exponential("median", exponent=exponent, order=order, metric=metric).resolve(points)
        median: Any = twin.bandwidth
        return kernel.set_params(attention=metric, sensitivity=median**-exponent)
    return kernel.set_params(bandwidth="median", metric=metric).resolve(points)


def multiply_bandwidth(kernel: Any, factor: float) -> Kernel:
    """Return a resolved kernel whose bandwidth is so many times as large."""
    if isinstance(kernel, Shepard):
        return kernel.set_params(sensitivity=kernel.sensitivity * factor**-kernel.exponent)
    return kernel.set_params(bandwidth=float(f"{factor * kernel.bandwidth:.6g}"))


def diagonal_of(metric: np.ndarray) -> np.ndarray:
    """Return the weights of the columns in a metric, a vector or a matrix."""
    return np.diag(metric) if metric.ndim == 2 else metric
