"""Gram matrices: one Gaussian against scikit-learn's, and a sum of three against one."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from mercer.bench.table import Row, at_least, at_most
from mercer.bench.timing import best_of
from mercer.kernels import Gaussian

__all__ = ["rows"]

D = 50


def rows(n: int = 2000) -> list[Row]:
    """Measure and return the rows of the table."""
    X = np.random.default_rng(0).standard_normal((n, D))
    s = D**0.5  # a typical distance is then 1.4 bandwidths: neither all zeros nor all ones
    one = Gaussian(bandwidth=s)
    three = Gaussian(bandwidth=s / 2) + one + Gaussian(bandwidth=2 * s)

    def peer() -> np.ndarray:
        return rbf_kernel(X, gamma=1 / (2 * s**2))

    ours, theirs, summed = best_of(lambda: one(X), peer, lambda: three(X))
    difference = float(np.abs(one(X) - peer()).max())
    return [
        Row(
            f"Gaussian Gram, n={n}, d={D}, against rbf_kernel",
            f"{ours:.3f} s",
            f"{theirs:.3f} s",
            theirs / ours,
            at_least(1.7),
        ),
        Row(
            "sum of three Gaussians: cost against our one",
            f"{summed:.3f} s",
            f"{ours:.3f} s",
            summed / ours,
            at_most(1.8),
        ),
        Row("largest difference to rbf_kernel", "", "", difference, at_most(1e-12, "{:.0e}")),
    ]
