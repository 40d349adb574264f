"""Comparisons with scikit-learn and other peers with its interface, in one run.

The same kernel, parameters and tolerance for all. A fit must be as good as theirs: coefficients,
predictions or the dual objective are compared too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.kernel_ridge import KernelRidge as SklearnRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC as Libsvm

from mercer.bench import selection
from mercer.bench.measure import Row, at_least, at_most, best_of, faster, same, taking_turns
from mercer.kernels import Gaussian
from mercer.machines import SVC, KernelRidge
from mercer.rkhs import Function

__all__ = [
    "PEERS", "RIDGE_BANDWIDTH", "ROWS", "Classification", "compare", "fit_ours", "fit_peer",
    "gram_rows", "objective", "ridge_rows", "sample", "stand_in", "svm_rows",
]  # fmt: skip

RIDGE_DIMENSION = 20
RIDGE_BANDWIDTH = RIDGE_DIMENSION**0.5


def gram_rows(n: int = 2000, d: int = 50) -> list[Row]:
    """Compare one Gaussian with scikit-learn's, and a sum of three with one."""
    X = np.random.default_rng(0).standard_normal((n, d))
    s = d**0.5  # a typical distance is then 1.4 bandwidths: neither all zeros nor all ones
    one = Gaussian(bandwidth=s)
    three = Gaussian(bandwidth=s / 2) + one + Gaussian(bandwidth=2 * s)

    def peer() -> np.ndarray:
        return rbf_kernel(X, gamma=1 / (2 * s**2))

    ours, theirs, summed = best_of(lambda: one(X), peer, lambda: three(X))
    difference = float(np.abs(one(X) - peer()).max())
    return [
        faster(f"Gaussian Gram, n={n}, d={d}, against rbf_kernel", (ours, theirs), 1.7),
        Row(
            "sum of three Gaussians: cost against our one",
            f"{summed:.3f} s",
            f"{ours:.3f} s",
            summed / ours,
            at_most(1.8),
        ),
        Row("largest difference to rbf_kernel", "", "", difference, at_most(1e-12, "{:.0e}")),
    ]


def ridge_rows(n: int = 2000) -> list[Row]:
    """Compare fit, coefficients and predict on one sample."""
    X, y = sample(n)
    new, _ = sample(n, seed=1)
    ours, peer = fit_ours(X, y), fit_peer(X, y)
    fit = best_of(lambda: fit_ours(X, y), lambda: fit_peer(X, y))
    predict = best_of(lambda: ours.predict(new), lambda: peer.predict(new))
    return [
        faster(f"fit, n={n}, d={RIDGE_DIMENSION}", fit, bar=2.5),
        faster(f"predict, {n} new points", predict, bar=1.5),
        same("relative difference of coefficients", ours.dual_coef_, peer.dual_coef_),
    ]


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return `n` points and a smooth function of them with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, RIDGE_DIMENSION))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def fit_ours(X: np.ndarray, y: np.ndarray) -> KernelRidge:
    """Fit mercer's machine."""
    return KernelRidge(kernel=Gaussian(bandwidth=RIDGE_BANDWIDTH), penalty=1.0).fit(X, y)


def fit_peer(X: np.ndarray, y: np.ndarray) -> SklearnRidge:
    """Fit scikit-learn's machine to the same problem."""
    return SklearnRidge(kernel="rbf", gamma=1 / (2 * RIDGE_BANDWIDTH**2), alpha=1.0).fit(X, y)


PEERS: dict[str, Callable[..., Any]] = {"scikit-learn": Libsvm}
BARS = {"scikit-learn": 10.0, "intelex": 1.5}  # of predictions


@dataclass(frozen=True)
class Classification:
    """Data, and the parameters that all machines share."""

    name: str
    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    gamma: float
    C: float

    @property
    def kernel(self) -> Gaussian:
        """The same kernel in our terms: γ = 1/(2σ²)."""
        return Gaussian((0.5 / self.gamma) ** 0.5)

    def ours(self) -> SVC:
        """Return our machine, fitted."""
        return SVC(self.kernel, self.C, tol=1e-3).fit(self.X, self.y)

    def peer(self, machine: Callable[..., Any]) -> Any:
        """Return a peer's machine, fitted."""
        return machine(C=self.C, gamma=self.gamma, tol=1e-3).fit(self.X, self.y)


def svm_rows(n: int = 2000) -> list[Row]:
    """Compare support vector machines on made-up clouds."""
    return compare(stand_in("made-up clouds", n, 36, 6, 1 / 8, 4.0))[0]


def compare(
    task: Classification, peers: Mapping[str, Callable[..., Any]] = PEERS
) -> tuple[list[Row], float]:
    """Compare fit, objective and predict; return also how many times faster the fit is."""
    quick = len(task.X) < 10_000
    ours = task.ours()
    theirs = {name: task.peer(machine) for name, machine in peers.items()}
    works: dict[str, Callable[[], Any]] = {"ours": task.ours}
    works |= {name: partial(task.peer, machine) for name, machine in peers.items()}
    fits = taking_turns(works, repeats=7 if quick else 2)
    works = {"ours": partial(ours.predict, task.new)}
    works |= {name: partial(machine.predict, task.new) for name, machine in theirs.items()}
    predicts = taking_turns(works, repeats=7 if quick else 2)
    best = min(theirs, key=lambda name: fits[name])
    ratio = fits[best] / fits["ours"]
    off = [1 - objective(task, ours) / objective(task, machine) for machine in theirs.values()]
    size = f"{task.name} {task.X.shape[0]}x{task.X.shape[1]}"
    found = [
        faster(f"fit {size}, against {best}", (fits["ours"], fits[best]), 2.0),
        Row("  objective missing, of the better peer's", f"{objective(task, ours):.3f}", "",
            max(off), at_most(1e-6, "{:.1e}")),
        Row("  same predictions as scikit-learn", "", "",
            float(np.mean(ours.predict(task.new) == theirs["scikit-learn"].predict(task.new))),
            at_least(0.999, "{:.4f}")),
    ]  # fmt: skip
    for name, bar in BARS.items():
        if name in predicts:
            times = predicts["ours"], predicts[name]
            found.append(faster(f"  predict {len(task.new)} new, against {name}", times, bar))
    return found, ratio


def objective(task: Classification, machine: BaseEstimator) -> float:
    """Return the sum over all pairs of Σα − ½αᵀQα, from the coefficients and in double precision.

    Works with the layout that scikit-learn, intelex and mercer share.
    """
    counts = np.asarray(machine.n_support_)
    owner = np.repeat(np.arange(len(counts)), counts)
    table = np.asarray(machine.dual_coef_)
    pairs = [(i, j) for i in range(len(counts)) for j in range(i + 1, len(counts))]
    C = np.zeros((len(owner), len(pairs)))
    for column, (i, j) in enumerate(pairs):
        if len(counts) == 2:
            C[:, column] = table[0]
            continue
        C[owner == i, column] = table[j - 1, owner == i]
        C[owner == j, column] = table[i, owner == j]
    vectors = task.X[np.asarray(machine.support_)]
    norms = Function(task.kernel, vectors, C).norm()
    return float(np.sum(np.abs(C)) - 0.5 * np.sum(np.asarray(norms) ** 2))


def stand_in(name: str, n: int, d: int, classes: int, gamma: float, C: float) -> Classification:
    """Return made-up data of a given size: a normal cloud around a center for each class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n + 2000)
    X = rng.normal(size=(classes, d))[y] * 0.5 + rng.normal(size=(len(y), d))
    return Classification(name, X[:n], y[:n], X[n:], gamma, C)


ROWS: dict[str, Callable[[], list[Row]]] = {
    "gram": gram_rows,
    "ridge": ridge_rows,
    "svm": svm_rows,
    "selection": selection.rows,
}
