"""Kernel ridge regression against scikit-learn's: time and the same answer."""

from __future__ import annotations

import numpy as np
from sklearn.kernel_ridge import KernelRidge as Peer

from mercer.bench.table import Row, faster, same
from mercer.bench.timing import best_of
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge

__all__ = ["BANDWIDTH", "fit_ours", "fit_peer", "rows", "sample"]

D = 20
BANDWIDTH = D**0.5
PENALTY = 1.0


def rows(n: int = 2000) -> list[Row]:
    """Compare fit, coefficients and predict on one sample."""
    X, y = sample(n)
    new, _ = sample(n, seed=1)
    ours, peer = fit_ours(X, y), fit_peer(X, y)
    fit = best_of(lambda: fit_ours(X, y), lambda: fit_peer(X, y))
    predict = best_of(lambda: ours.predict(new), lambda: peer.predict(new))
    return [
        faster(f"fit, n={n}, d={D}", fit, bar=2.5),
        faster(f"predict, {n} new points", predict, bar=1.5),
        same("relative difference of coefficients", ours.dual_coef_, peer.dual_coef_),
    ]


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return `n` points and a smooth function of them with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def fit_ours(X: np.ndarray, y: np.ndarray) -> KernelRidge:
    """Fit mercer's machine."""
    return KernelRidge(kernel=Gaussian(bandwidth=BANDWIDTH), penalty=PENALTY).fit(X, y)


def fit_peer(X: np.ndarray, y: np.ndarray) -> Peer:
    """Fit scikit-learn's machine to the same problem."""
    return Peer(kernel="rbf", gamma=1 / (2 * BANDWIDTH**2), alpha=PENALTY).fit(X, y)
