"""Support vector classification against scikit-learn (LIBSVM), and other peers with its interface.

The same kernel, C and tolerance for all, in one run. A fit must be as good as theirs: its dual
objective is compared too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC as Libsvm

from mercer.bench.table import Row, at_least, at_most
from mercer.bench.timing import taking_turns
from mercer.kernels import Gaussian
from mercer.machines import SVC
from mercer.rkhs import Function

__all__ = ["PEERS", "Task", "compare", "objective", "rows", "stand_in"]

PEERS: dict[str, Callable[..., Any]] = {"scikit-learn": Libsvm}
BARS = {"scikit-learn": 10.0, "intelex": 1.5}  # of predictions


@dataclass(frozen=True)
class Task:
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


def rows(n: int = 2000) -> list[Row]:
    """Measure and return the rows of the table."""
    return compare(stand_in("made-up clouds", n, 36, 6, 1 / 8, 4.0))[0]


def compare(
    task: Task, peers: Mapping[str, Callable[..., Any]] = PEERS
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
        Row(f"fit {size}, against {best}", told(fits["ours"]), told(fits[best]), ratio,
            at_least(2.0)),
        Row("  objective missing, of the better peer's", f"{objective(task, ours):.3f}", "",
            max(off), at_most(1e-6, "{:.1e}")),
        Row("  same predictions as scikit-learn", "", "",
            float(np.mean(ours.predict(task.new) == theirs["scikit-learn"].predict(task.new))),
            at_least(0.999, "{:.4f}")),
    ]  # fmt: skip
    for name, bar in BARS.items():
        if name in predicts:
            time = predicts[name] / predicts["ours"]
            found.append(
                Row(f"  predict {len(task.new)} new, against {name}", told(predicts["ours"]),
                    told(predicts[name]), time, at_least(bar))
            )  # fmt: skip
    return found, ratio


def objective(task: Task, machine: Any) -> float:
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


def told(duration: float) -> str:
    """Say a time."""
    return f"{duration:.3f} s"


def stand_in(name: str, n: int, d: int, classes: int, gamma: float, C: float) -> Task:
    """Return made-up data of a given size: a normal cloud around a center for each class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n + 2000)
    X = rng.normal(size=(classes, d))[y] * 0.5 + rng.normal(size=(len(y), d))
    return Task(name, X[:n], y[:n], X[n:], gamma, C)
