"""Small problems, where the way through the library is most of the time.

Fits of a hundred items, a grid on two hundred, nested folds on some hundreds, one row predicted at
a time, and graphs of networkx, each beside scikit-learn or GraKeL in the same run.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge as SklearnRidge
from sklearn.model_selection import GridSearchCV as SklearnSearch
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVC as Libsvm

from mercer import SVC, KernelRidge
from mercer.bench.measure import Row, at_least, at_most, best_of, faster
from mercer.kernels import Gaussian, WeisfeilerLehman
from mercer.selection import GridSearchCV, nested_cv

D = 10
WIDTH = 3.0
GAMMA = 0.5 / WIDTH**2
WIDTHS = (1.0, 2.0, 3.0, 5.0, 8.0)
PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)
THEIR_GRID = {"gamma": [0.5 / s**2 for s in WIDTHS], "alpha": list(PENALTIES)}
OUR_GRID = {"kernel__bandwidth": list(WIDTHS), "penalty": list(PENALTIES)}
ROW_LIMIT = 150.0  # microseconds
GRAPHS = 1000


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    found = [fit_ridge(), fit_svc(), grid()]
    found += [nested(n) for n in (300, 600)]
    return [*found, one_row(), *graphs()]


def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and a noisy function of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def fit_ridge() -> Row:
    """Kernel ridge regression on a hundred items."""
    X, y = sample(100)
    times = best_of(
        lambda: KernelRidge(Gaussian(WIDTH), 0.1).fit(X, y),
        lambda: SklearnRidge(kernel="rbf", gamma=GAMMA, alpha=0.1).fit(X, y),
        repeats=30, pause=0.0,
    )  # fmt: skip
    return in_microseconds("KernelRidge.fit, n=100", times, 3.0)


def fit_svc() -> Row:
    """Support vector classification of a hundred items."""
    X, y = sample(100)
    z = (y > 0).astype(int)
    times = best_of(
        lambda: SVC(Gaussian(WIDTH), 1.0).fit(X, z),
        lambda: Libsvm(gamma=GAMMA).fit(X, z),
        repeats=30, pause=0.0,
    )  # fmt: skip
    return in_microseconds("SVC.fit, n=100", times, 3.0)


def grid() -> Row:
    """Twenty-five candidates of kernel ridge regression."""
    X, y = sample(200)
    five = KFold(5)
    times = best_of(
        lambda: GridSearchCV(KernelRidge(Gaussian()), OUR_GRID, cv=five).fit(X, y),
        lambda: SklearnSearch(SklearnRidge(kernel="rbf"), THEIR_GRID, cv=five).fit(X, y),
        repeats=3,
    )
    return faster("GridSearchCV, 25 candidates, n=200", times, 8.0)


def nested(n: int) -> Row:
    """Five outer and five inner folds of the same grid."""
    X, y = sample(n)
    five = KFold(5)

    def peer() -> Any:
        search = SklearnSearch(SklearnRidge(kernel="rbf"), THEIR_GRID, cv=five)
        return cross_val_score(search, X, y, cv=five)

    times = best_of(
        lambda: nested_cv(KernelRidge(Gaussian()), X, y, OUR_GRID, five, five), peer, repeats=2
    )
    return faster(f"nested 5x5 folds, 25 candidates, n={n}", times, 8.0)


def one_row() -> Row:
    """One row at a time, with about a thousand support vectors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 20))
    machine = SVC(Gaussian(4.0), 1.0).fit(X, rng.integers(0, 2, len(X)))
    row = X[:1]
    [taken] = best_of(lambda: machine.predict(row), repeats=200, pause=0.0)
    task = f"SVC.predict of one row, {len(machine.support_)} support vectors, microseconds"
    return Row(task, f"{taken * 1e6:.0f}", "", taken * 1e6, at_most(ROW_LIMIT, "{:.0f}"))


def graphs() -> list[Row]:
    """Weisfeiler-Lehman from graphs of networkx; the peer reads the same objects."""
    if find_spec("networkx") is None or find_spec("grakel") is None:
        print("networkx or GraKeL is missing: pip install -r benchmarks/requirements.txt")
        return []
    import networkx as nx
    from grakel.kernels import WeisfeilerLehman as Peer
    from grakel.utils import graph_from_networkx

    rng = np.random.default_rng(0)
    drawn = []
    for seed in range(GRAPHS):
        n = int(rng.integers(15, 45))
        graph = nx.gnm_random_graph(n, int(1.1 * n), seed=seed)
        letters = {node: "CNOSPF"[int(rng.integers(6))] for node in graph}
        nx.set_node_attributes(graph, letters, "label")
        drawn.append(graph)
    kernel = WeisfeilerLehman(5)

    def peer() -> Any:
        read = graph_from_networkx(drawn, node_labels_tag="label")
        return Peer(n_iter=5).fit_transform(read)

    whole, theirs = best_of(lambda: kernel(drawn), peer, repeats=2)
    points = kernel.admit(drawn)
    convert, own = best_of(lambda: kernel.admit(drawn), lambda: kernel(points), repeats=3)
    gap = float(np.abs(kernel(drawn) - np.asarray(peer())).max())
    return [
        faster(f"WeisfeilerLehman(5), {GRAPHS} networkx graphs (GraKeL)", (whole, theirs), 15.0),
        Row("  largest difference", "", "", gap, at_most(1e-9, "{:.0e}")),
        Row("  conversion by the kernel's own time", f"{convert:.3f} s", f"{own:.3f} s",
            convert / own, at_most(1.0)),
    ]  # fmt: skip


def in_microseconds(task: str, times: list[float], bar: float) -> Row:
    """Return the row of something that takes less than a thousandth of a second."""
    ours, peer = times
    return Row(task, f"{ours * 1e6:.0f} us", f"{peer * 1e6:.0f} us", peer / ours, at_least(bar))
