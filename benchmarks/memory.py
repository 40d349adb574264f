"""Measured peaks of memory beside predicted ones: machines, five kinds of things, three sizes.

Each fit runs in a process of its own, forked after everything is imported and compiled, and its
peak is what the system says (VmHWM), with all that Python keeps of it. What was predicted is
``plan(...)`` before the fit. The bar is 1.3: a fit may take that share of what was foreseen. A
small share is memory that a plan asks for and a fit does not take; the loosest are named below the
table, where that is more than ten megabytes. MERCER_MEMORY="strings SVC" takes some kinds or
machines only. A linear program is of a fifth of the items. Metrics are learned from vectors, and
studies begin with a table, which may have a column of strings or texts.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from mercer import (
    LPSVC,
    SVC,
    SVR,
    Calibrated,
    Conformal,
    Encode,
    ExemplarClassifier,
    ExemplarRegressor,
    GaussianProcess,
    KernelDiscriminant,
    KernelLogistic,
    KernelMeans,
    KernelNeighbors,
    KernelPCA,
    KernelQuantile,
    KernelRidge,
    KernelRidgeClassifier,
    LearnedMetric,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    PrototypeClassifier,
    RBFNetwork,
    RBFNetworkClassifier,
    Standardize,
)
from mercer.bench.measure import columns
from mercer.gram.buffers import BUFFERS
from mercer.kernels import Categorical, Gaussian, Linear, Spectrum, Text, WeisfeilerLehman
from mercer.selection import GridSearchCV, nested_cv

BAR = 1.3
SIZES = (750, 1500, 3000)
KINDS = ("vectors", "strings", "graphs", "text", "table")
# Before it is measured a machine has been fitted to so many: each precision, factor and search has
# compiled its loops, which take tens of megabytes once.
WARM = (60, 900, 2100)
LOOSE = 0.3  # below which a prediction is named as loose
UNUSED_BYTES = 10_000_000  # and which are asked for in vain; of less every process has some


def items(kind: str, n: int) -> Any:
    """Return some things of a kind."""
    rng = np.random.default_rng(0)
    if kind == "vectors":
        return rng.normal(size=(n, 10))
    if kind == "strings":
        return ["".join(rng.choice(list("acgt"), 60)) for _ in range(n)]
    if kind == "graphs":
        return [_graph(rng) for _ in range(n)]
    if kind == "text":
        words = np.array([f"word{i}" for i in range(3000)])
        share = 1 / np.arange(1, 3001)
        return [" ".join(rng.choice(words, 40, p=share / share.sum())) for _ in range(n)]
    import pandas as pd

    return pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.choice(list("uvwxyz"), n)}
    )


def _graph(rng: np.random.Generator) -> Any:
    from mercer.domains import Graph

    count = int(rng.integers(8, 16))
    edges = [(i, int(rng.integers(0, i))) for i in range(1, count)]
    labels = rng.choice(list("CNO"), count).tolist()
    return Graph(edges, dict(enumerate(labels)), nodes=count)


KERNELS: dict[str, Any] = {
    "vectors": Gaussian(3.0),
    "strings": Spectrum(5),
    "graphs": WeisfeilerLehman(3),
    "text": Text(),
    "table": Gaussian(1.0).on("a", "b") + Categorical().on("c") + Linear().on("a"),
}


def machines(kind: str) -> dict[str, Callable[[], Any]]:
    """Return every machine that says beforehand what it needs."""
    kernel = KERNELS[kind]
    others: dict[str, Callable[[], Any]] = {}
    if kind == "table":
        others["Encode"] = Encode
    if kind in ("vectors", "table"):
        others["Standardize"] = Standardize
    if kind == "vectors":
        others["LearnedMetric"] = lambda: LearnedMetric(KernelRidge(kernel), random_state=0)
    if kind != "graphs":
        others["study"] = _Study
    return others | {
        "KernelRidge": lambda: KernelRidge(kernel),
        "KernelRidgeClassifier": lambda: KernelRidgeClassifier(kernel),
        "GaussianProcess": lambda: GaussianProcess(kernel),
        "KernelLogistic": lambda: KernelLogistic(kernel, max_iter=10, tol=1e-2),
        "KernelDiscriminant": lambda: KernelDiscriminant(kernel),
        "KernelPCA": lambda: KernelPCA(kernel, 5),
        "SVC": lambda: SVC(kernel, max_iter=20_000),
        "NuSVC": lambda: NuSVC(kernel, 0.3, max_iter=20_000),
        "SVR": lambda: SVR(kernel, max_iter=20_000),
        "OneClassSVM": lambda: OneClassSVM(kernel, max_iter=20_000),
        "KernelQuantile": lambda: KernelQuantile(kernel, max_iter=2000),
        "RBFNetwork": lambda: RBFNetwork(kernel, "random", 50, random_state=0),
        "RBFNetworkClassifier": lambda: RBFNetworkClassifier(kernel, "random", 50, random_state=0),
        "LPSVC": lambda: LPSVC(kernel, C=0.1),
        "KernelMeans": lambda: KernelMeans(kernel, 3, n_init=2),
        "Perceptron": lambda: Perceptron(kernel, max_epochs=5),
        "PrototypeClassifier": lambda: PrototypeClassifier(kernel),
        "ExemplarClassifier": lambda: ExemplarClassifier(kernel),
        "ExemplarRegressor": lambda: ExemplarRegressor(kernel),
        "KernelNeighbors": lambda: KernelNeighbors(kernel),
        "NuSVR": lambda: NuSVR(kernel, max_iter=20_000),
        "Calibrated": lambda: Calibrated(SVC(kernel, max_iter=2000)),
        "Conformal": lambda: Conformal(KernelRidge(kernel)),
        "Conformal sets": lambda: Conformal(KernelDiscriminant(kernel), folds=3),
        "GridSearchCV": lambda: GridSearchCV(
            SVC(kernel, max_iter=2000), {"C": [0.1, 1.0, 10.0]}, cv=3
        ),
        "nested_cv": lambda: _Nested(SVC(kernel, max_iter=2000)),
    }


class _Nested:
    """Nested cross-validation with the methods of a machine."""

    grid: ClassVar[dict[str, Any]] = {"C": [0.1, 1.0]}

    def __init__(self, machine: Any) -> None:
        self.machine = machine

    def fit(self, X: Any, y: Any) -> None:
        nested_cv(self.machine, X, y, self.grid, outer=3, inner=3)

    def plan(self, X: Any) -> Any:
        from mercer.selection import plan_nested_cv

        return plan_nested_cv(self.machine, X, self.grid)


class _Study:
    """A study of one kind of machine with the methods of a machine."""

    def fit(self, X: Any, y: Any) -> None:
        self._design(X, y).run()

    def plan(self, X: Any) -> Any:
        return self._design(X, np.arange(len(X)) % 2)

    def _design(self, X: Any, y: Any) -> Any:
        import pandas as pd

        from mercer.studies import design

        table = X if hasattr(X, "columns") else pd.DataFrame(X)
        table = table.set_axis([f"c{i}" for i in range(table.shape[1])], axis=1)
        names = np.array(["no", "yes"])
        return design(table.assign(answer=names[np.asarray(y)]), "answer", machine="ridge")


def measure(make: Callable[[], Any], kind: str, n: int) -> tuple[float, float] | str:
    """Return predicted and measured bytes of a fit in a child process, or what went wrong."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "wb") as file:
                pickle.dump(_in_child(make, kind, n), file)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        found = file.read()
    os.waitpid(child, 0)
    return pickle.loads(found) if found else "killed"


def _in_child(make: Callable[[], Any], kind: str, n: int) -> tuple[float, float] | str:
    try:
        warnings.simplefilter("ignore")
        X, y = items(kind, n), np.arange(n) % 2
        y[: n // 5] = 0
        predicted = float(make().plan(X).bytes)
        machine = make()
        BUFFERS._block = None  # of the fits before
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = _status("VmRSS")
        machine.fit(X, y)
        return predicted, float(_status("VmHWM") - before)
    except Exception:
        return traceback.format_exc(limit=-1).strip().splitlines()[-1]


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def cases(names: list[str] | None = None) -> Iterator[tuple[str, str, int, Any]]:
    """Yield machine, kind, size, and what was measured."""
    for kind in KINDS:
        for name, make in machines(kind).items():
            if names and name not in names and kind not in names:
                continue
            # A pool of OpenMP, as trees have, would not outlive the fork.
            with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):
                warnings.simplefilter("ignore")
                for n in {"LPSVC": (60, 400), "study": (60, 750)}.get(name, WARM):
                    make().fit(items(kind, n), np.arange(n) % 2)
            for n in SIZES:  # the simplex method takes hours for thousands
                yield name, kind, n, measure(make, kind, n // 5 if name == "LPSVC" else n)


def report() -> str:
    """Return the table: measured by predicted, for each machine, kind and size."""
    names = os.environ.get("MERCER_MEMORY", "").split() or None
    found: dict[tuple[str, str], list[str]] = {}
    beyond = total = 0
    loose: list[str] = []
    for name, kind, _, result in cases(names):
        if isinstance(result, str):
            text = result[:60]
            beyond, total = beyond + 1, total + 1
        else:
            predicted, measured = result
            share = measured / predicted
            beyond, total = beyond + (share > BAR), total + 1
            text = f"{share:.2f}{'!' if share > BAR else ''} ({predicted / 1e6:.0f} MB)"
            if share < LOOSE and predicted - measured > UNUSED_BYTES:
                loose.append(f"{name} of {kind} {share:.2f}")
        found.setdefault((name, kind), []).append(text)
    header = ("machine", "kind", *(f"{n} items" for n in SIZES))
    rows = [header, *((*key, *cells) for key, cells in sorted(found.items()))]
    words = f"measured / predicted bytes; bar {BAR}: {total - beyond} of {total} within it"
    said = f"\nless than {LOOSE} of what was asked for: {', '.join(loose)}" if loose else ""
    return f"{columns(rows, words=(0, 1))}\n\n{words}{said}"
