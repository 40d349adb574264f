"""Kernel ridge regression against scikit-learn's: time, memory and the same answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.kernel_ridge import KernelRidge as Peer

from benchmarks.table import Row, at_least, at_most
from benchmarks.timing import best_of, peak_growth
from mercer import KernelRidge
from mercer.kernels import Gaussian

N, D = 6000, 20
BANDWIDTH = D**0.5
PENALTY = 1.0


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    return [*speed(), memory()]


def speed() -> list[Row]:
    """Compare fit, coefficients and predict on one sample."""
    X, y = sample(N)
    new, _ = sample(N, seed=1)
    ours, peer = fit_ours(X, y), fit_peer(X, y)
    fit = best_of(lambda: fit_ours(X, y), lambda: fit_peer(X, y))
    predict = best_of(lambda: ours.predict(new), lambda: peer.predict(new))
    return [
        faster(f"fit, n={N}, d={D}", fit, bar=2.5),
        faster(f"predict, {N} new points", predict, bar=1.5),
        same("relative difference of coefficients", ours.dual_coef_, peer.dual_coef_),
    ]


def memory() -> Row:
    """Compare the peak memory of a fit with the size of one Gram matrix."""
    ours, peer = (peak_growth(fit, sample, N) for fit in (fit_ours, fit_peer))
    return Row(
        "peak memory of fit, in Gram matrices (8n² bytes)",
        f"{ours / 1e6:.0f} MB",
        f"{peer / 1e6:.0f} MB",
        ours / (8 * N**2),
        at_most(1.5),
    )


def faster(task: str, times: Sequence[float], bar: float) -> Row:
    """Return the row that says how many times faster ours is; `times` are ours and the peer's."""
    ours, peer = times
    return Row(task, f"{ours:.3f} s", f"{peer:.3f} s", peer / ours, at_least(bar))


def same(task: str, ours: np.ndarray, peer: np.ndarray) -> Row:
    """Return the row that says how far apart two vectors are, relative to the peer's length."""
    if ours.shape != peer.shape:
        raise ValueError(f"{task}: expected shape {peer.shape}, found {ours.shape}")
    difference = float(np.linalg.norm(ours - peer) / np.linalg.norm(peer))
    return Row(task, "", "", difference, at_most(1e-7, "{:.0e}"))


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
