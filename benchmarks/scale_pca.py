"""Principal components of 50,000 items in 4 GB, where the Gram matrix would take 20.

The peer, scikit-learn's `KernelPCA`, stores that matrix, so it is compared on 10,000 items. It is
timed with the faster one of its iterative solvers.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import KernelPCA as Peer

from mercer.bench.measure import Row, at_least, at_most, peak_growth, seconds, taking_turns
from mercer.kernels import Gaussian
from mercer.machines.pca import KernelPCA
from mercer.plans import Plan

D = 10
BANDWIDTH = 4.4  # the median distance of these points
COMPONENTS = 20
N, THEIRS = 50_000, 10_000
MEMORY = 4 * 10**9


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    fit_ours(*sample(500))  # compiled loops
    (X,) = sample(THEIRS)
    solvers = {name: (lambda name=name: fit_peer(X, name)) for name in ("arpack", "randomized")}
    times = taking_turns({"ours": lambda: fit_ours(X), **solvers}, repeats=2)
    peer = min(times[name] for name in solvers)
    machine, other = fit_ours(X), fit_peer(X)
    angle = float(subspace_angles(machine.eigenvectors_, other.eigenvectors_).max())
    task = f"{COMPONENTS} components, n={THEIRS}, d={D}"
    return [
        Row(task, f"{times['ours']:.1f} s", f"{peer:.1f} s", peer / times["ours"], at_least(1.0)),
        Row("  largest angle between the subspaces", "", "", angle, at_most(1e-6, "{:.0e}")),
        *large(),
    ]


def large() -> list[Row]:
    """Measure what the peer cannot do."""
    (X,) = sample(N)
    machine = KernelPCA()

    def fit() -> None:
        nonlocal machine
        machine = fit_ours(X)

    time = seconds(fit)
    memory = peak_growth(fit_ours, sample, N)
    products, plan = len(machine.solution_.history), machine.plan_
    residual, size = machine.solution_.certificate, memory / 1e9
    foreseen = plan.bytes / memory
    duration = max(plan.seconds / time, time / plan.seconds)
    task = f"{COMPONENTS} components, n={N}, d={D}, {products} products"
    return [
        Row(task, f"{time:.1f} s", "", size, at_most(MEMORY / 1e9, "{:.2f} GB")),
        Row("  largest |Kv − λv|/λ", "", "", residual, at_most(1e-9, "{:.0e}")),
        Row("  predicted bytes / measured", "", "", max(foreseen, 1 / foreseen), at_most(1.3)),
        Row("  predicted seconds / measured", "", "", duration, at_most(3.0)),
    ]


def sample(n: int, seed: int = 0) -> tuple[np.ndarray]:
    """Return points."""
    return (np.random.default_rng(seed).standard_normal((n, D)),)


def fit_ours(X: np.ndarray) -> KernelPCA:
    """Fit mercer's machine in the memory that it may use."""
    follow = Plan(memory=MEMORY, device="cpu")  # whoever looks for a GPU loads Torch
    return KernelPCA(Gaussian(BANDWIDTH), COMPONENTS, random_state=0, follow=follow).fit(X)


def fit_peer(X: np.ndarray, solver: str = "arpack") -> Peer:
    """Fit scikit-learn's machine to the same problem."""
    gamma = 1 / (2 * BANDWIDTH**2)
    return Peer(COMPONENTS, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0).fit(X)
