"""Beyond one Gram matrix: exact without a factor, approximate, in passes; and cost against n.

The exact answer has scikit-learn's `KernelRidge` for a peer, which stores and factors the Gram
matrix. Where it was last
measured (scikit-learn 1.9.1, SciPy 1.17.1) it crashed from 16,000 items on, inside SciPy's solver.
So it is timed on 14,000 items, and its time is taken to grow with the cube of their number, as
that of a factor does.
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_ridge import KernelRidge as Peer

from benchmarks import scale_pca
from benchmarks import scale_sketches as sketches
from benchmarks.scale_sketches import time_fit
from mercer.bench.measure import Row, at_least, at_most, peak_growth
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge

D = 10
BANDWIDTH = 4.4  # the median distance of these points
PENALTY = 0.1
N, THEIRS = 20_000, 14_000
WARM = 10_000  # items from which the plan takes the same way


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    parts = (exact, sketches.million, scale_pca.rows, sketches.proteins, sketches.growth)
    return [row for part in parts for row in part()]


def exact() -> list[Row]:
    """Compare exact ridge regression with scikit-learn's."""
    fit_ours(*sample(WARM))  # compiled loops
    ours, machine = time_fit(fit_ours, *sample(N))
    memory = peak_growth(fit_ours, sample, N, WARM)
    X, y = sample(THEIRS)
    seconds, other = time_fit(fit_peer, X, y)
    peer = seconds * (N / THEIRS) ** 3
    new, _ = sample(500, seed=1)
    apart = np.abs(fit_ours(X, y).predict(new) - other.predict(new)).max() / np.abs(y).max()
    steps = len(machine.solution_.history) - 1
    task = (
        f"exact ridge, n={N}, d={D}, {steps} steps (peer: n={THEIRS}, times {peer / seconds:.1f})"
    )
    residual, size = machine.solution_.certificate, memory / 1e9
    return [
        Row(task, f"{ours:.1f} s", f"{peer:.1f} s", peer / ours, at_least(5.0)),
        Row("  its relative residual", "", "", residual, at_most(1e-8, "{:.0e}")),
        Row("  difference of predictions", "", "", float(apart), at_most(1e-6, "{:.0e}")),
        Row("  peak memory", f"{size:.2f} GB", "", size, at_most(1.5, "{:.2f} GB")),
        *sketches.foreseen(machine, ours, memory),
    ]


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points and a smooth function of them with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def fit_ours(X: np.ndarray, y: np.ndarray) -> KernelRidge:
    """Fit mercer's machine by the way that its plan chooses."""
    return KernelRidge(Gaussian(BANDWIDTH), PENALTY).fit(X, y)


def fit_peer(X: np.ndarray, y: np.ndarray) -> Peer:
    """Fit scikit-learn's machine to the same problem."""
    return Peer(kernel="rbf", gamma=1 / (2 * BANDWIDTH**2), alpha=PENALTY).fit(X, y)
