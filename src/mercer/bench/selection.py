"""Selection of parameters against scikit-learn's `GridSearchCV` on scikit-learn's own machines.

The same grid, folds and data for both, on all cores (``n_jobs`` of the peer is their number). Both
must choose the same parameters; the largest difference of the scores is measured too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge as SklearnRidge
from sklearn.model_selection import GridSearchCV as SklearnGridSearchCV
from sklearn.model_selection import KFold

from mercer.bench.measure import Row, at_least, at_most
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge
from mercer.selection import GridSearchCV
from mercer.threads import cores

__all__ = [
    "best_time",
    "comparison",
    "data",
    "difference",
    "folds",
    "grids",
    "key",
    "penalties",
    "rows",
    "search_rows",
]  # fmt: skip

BANDWIDTHS = (2.0, 3.5, 6.0, 10.0, 18.0)
REPEATS = 3


def rows(n: int = 600) -> list[Row]:
    """Measure and return the rows of the table."""
    return folds(n, 10, 5, turns=REPEATS)[0]  # the first time, the peer starts processes


def folds(n: int, count: int, k: int, turns: int = 1) -> tuple[list[Row], str]:
    """Compare the search of `count` penalties and five bandwidths for kernel ridge regression."""
    X, y = data(n)
    ours, theirs = grids(penalties(count))
    cv = KFold(k)
    return search_rows(
        f"ridge, n={n}, d=20, 5 bandwidths x {count} penalties, {k} folds",
        lambda: GridSearchCV(KernelRidge(Gaussian()), ours, cv=cv).fit(X, y),
        lambda: SklearnGridSearchCV(SklearnRidge(kernel="rbf"), theirs, cv=cv, n_jobs=cores()).fit(
            X, y
        ),
        10.0,
        turns,
    )


def data(n: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Return made-up items, and targets that follow a few columns, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + 0.2 * rng.normal(size=n)


def penalties(count: int) -> list[float]:
    """Return penalties over six powers of ten."""
    return [float(value) for value in np.logspace(-4, 2, count)]


def grids(values: list[float], widths: tuple[float, ...] = BANDWIDTHS) -> tuple[Any, Any]:
    """Return the same grid in our terms and in scikit-learn's: γ = 1/(2σ²)."""
    ours = {"kernel__bandwidth": list(widths), "penalty": values}
    return ours, {"gamma": [0.5 / s**2 for s in widths], "alpha": values}


def best_time(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Return the best time and the last answer."""
    best, answer = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - start)
    return best, answer


def search_rows(
    name: str, ours: Callable[[], Any], peer: Callable[[], Any], bar: float, turns: int = 1
) -> tuple[list[Row], str]:
    """Compare two searches, the peer's best of some turns; return also where our time went."""
    mine, theirs = best_time(ours, REPEATS), best_time(peer, turns)
    same = key(mine[1].best_params_) == key(theirs[1].best_params_)
    rows = [*comparison(name, mine, theirs, bar, same), difference(mine[1], theirs[1])]
    return rows, str(mine[1].account_)


def comparison(
    name: str, ours: tuple[float, Any], peer: tuple[float, Any], bar: float, same: bool
) -> list[Row]:
    """Return the rows of one comparison."""
    (seconds, _), (others, _) = ours, peer
    return [
        Row(name, f"{seconds:.3f} s", f"{others:.1f} s", others / seconds, at_least(bar)),
        Row("  the same choice", "", "", float(same), at_least(1.0, "{:.0f}")),
    ]


def difference(ours: Any, peer: Any) -> Row:
    """Return how far the scores of all candidates on all splits are apart."""
    names = [name for name in peer.cv_results_ if name.startswith("split")]
    # Both grids run through their names in alphabetical order, which is not the same one.
    order = _matched(ours.cv_results_["params"], peer.cv_results_["params"])
    apart = max(
        float(np.abs(ours.cv_results_[k] - peer.cv_results_[k][order]).max()) for k in names
    )
    return Row("  largest difference of scores", "", "", apart, at_most(1e-8, "{:.1e}"))


def _matched(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> list[int]:
    keys = [key(params) for params in theirs]
    return [keys.index(key(params)) for params in ours]


def key(params: dict[str, Any]) -> tuple[float, float]:
    """Return what a candidate of ours and the same one of the peer's have in common."""
    gamma = params.get("gamma")
    width = params["kernel__bandwidth"] if gamma is None else (0.5 / gamma) ** 0.5
    strength = next(params[name] for name in ("penalty", "alpha", "C") if name in params)
    return round(float(width), 9), float(strength)
