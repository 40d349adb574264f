"""Kernel principal components against scikit-learn's: time, memory and the same subspace.

scikit-learn's `eigen_solver="auto"` takes ARPACK for fewer than ten components and LAPACK from ten
on, so both are measured.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.ridge import N
from mercer.bench.comparisons import RIDGE_BANDWIDTH, sample
from mercer.bench.measure import Row, at_most, best_of, faster, peak_growth, seconds
from mercer.kernels import Gaussian
from mercer.machines.pca import KernelPCA

COMPONENTS = 10


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    X, y = sample(N)
    ours, arpack = best_of(lambda: fit_ours(X, y), lambda: fit_arpack(X, y), repeats=3)
    auto = seconds(lambda: fit_auto(X, y))  # takes so long that once is enough
    machine, peer = fit_ours(X, y), fit_arpack(X, y)
    angle = float(subspace_angles(machine.eigenvectors_, peer.eigenvectors_).max())
    task = f"{COMPONENTS} components, n={N}"
    return [
        faster(f"{task}, eigen_solver='auto'", (ours, auto), bar=3.0),
        faster(f"{task}, eigen_solver='arpack'", (ours, arpack), bar=1.0),
        Row("largest angle between the subspaces", "", "", angle, at_most(1e-6, "{:.0e}")),
        Row("largest |Kv − λv|/λ", "", "", machine.solution_.certificate, at_most(1e-9, "{:.0e}")),
        memory(),
    ]


def memory() -> Row:
    """Compare the peak memory of a fit with the size of one Gram matrix."""
    ours, peer = (peak_growth(fit, sample, N) for fit in (fit_ours, fit_arpack))
    return Row(
        "peak memory of fit, in Gram matrices (8n² bytes)",
        f"{ours / 1e6:.0f} MB",
        f"{peer / 1e6:.0f} MB",
        ours / (8 * N**2),
        at_most(1.5),
    )


def fit_ours(X: np.ndarray, y: np.ndarray) -> KernelPCA:
    """Fit mercer's machine; `y` is not used."""
    return KernelPCA(Gaussian(RIDGE_BANDWIDTH), COMPONENTS, random_state=0).fit(X)


def fit_auto(X: np.ndarray, y: np.ndarray, solver: str = "auto") -> Peer:
    """Fit scikit-learn's machine to the same problem."""
    gamma = 1 / (2 * RIDGE_BANDWIDTH**2)
    return Peer(COMPONENTS, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0).fit(X)


def fit_arpack(X: np.ndarray, y: np.ndarray) -> Peer:
    """Fit scikit-learn's machine with its iterative solver."""
    return fit_auto(X, y, "arpack")
