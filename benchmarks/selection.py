"""Selection of parameters against scikit-learn's `GridSearchCV` on scikit-learn's own machines.

As in `mercer.bench.selection`, with more tasks (for support vector machines the difference of the
scores is that of accuracies, since solutions agree within their tolerance). Below the table: where
our time went, what was shared, and what the cost model of `mercer.plans.closed_form_routes`
predicts beside what was measured.

Ours is the best of three runs. The peer runs once: it takes minutes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge as SklearnRidge
from sklearn.model_selection import GridSearchCV as SklearnGridSearchCV
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.svm import SVC as Libsvm

from benchmarks.svm import usps
from mercer import SVC, KernelRidge
from mercer.bench.measure import Row, at_most, columns, render
from mercer.bench.selection import (
    REPEATS,
    best_time,
    comparison,
    data,
    difference,
    grids,
    key,
    penalties,
    search_rows,
)
from mercer.bench.selection import folds as ridge_folds
from mercer.kernels import Gaussian
from mercer.machines.ridge import Regression
from mercer.plans.closed_form_routes import ClosedFormRoute, cheapest_route
from mercer.selection import GridSearchCV, nested_cv
from mercer.selection.closed_form import ClosedFormTask, Run
from mercer.selection.splits import splits_of
from mercer.threads import cores

SHORT_SECONDS = 0.05  # below which a route is measured more often


def report() -> str:
    """Measure everything; return the table and the accounts."""
    rows: list[Row] = []
    texts: list[str] = []
    for task in (folds, nested, margins, model, one_out):
        some, text = task()
        rows += some
        texts.append(text)
    return "\n\n".join([render(rows), *texts])


def with_account(some: tuple[list[Row], str]) -> tuple[list[Row], str]:
    """Return rows, and where our time went under the name of the first."""
    rows, account = some
    return rows, f"{rows[0].task}:\n{_indented(account)}"


def folds() -> tuple[list[Row], str]:
    """Ten folds of kernel ridge regression."""
    return with_account(ridge_folds(2000, 20, 10))


def one_out() -> tuple[list[Row], str]:
    """One item left out at a time.

    The peer fits every candidate by itself, so its time grows with their number: it is measured on
    two of the twenty penalties, and counted ten times.
    """
    X, y = data(1000)
    ours, theirs = grids(penalties(20), (6.0,))
    theirs = {**theirs, "alpha": theirs["alpha"][::10]}
    how: dict[str, Any] = {"cv": LeaveOneOut(), "scoring": "neg_mean_squared_error"}
    name = "ridge, leave-one-out, n=1000, 20 penalties (peer: 2, times 10)"
    mine = best_time(lambda: GridSearchCV(KernelRidge(Gaussian()), ours, **how).fit(X, y), REPEATS)
    seconds, peer = best_time(
        lambda: SklearnGridSearchCV(SklearnRidge(kernel="rbf"), theirs, n_jobs=cores(), **how).fit(
            X, y
        )
    )
    few = {**ours, "penalty": theirs["alpha"]}
    same = GridSearchCV(KernelRidge(Gaussian()), few, **how).fit(X, y)
    agreed = key(same.best_params_) == key(peer.best_params_)
    rows = comparison(name, mine, (10 * seconds, None), 200.0, agreed)
    rows.append(difference(same, peer))
    return rows, f"{name}:\n{_indented(str(mine[1].account_))}"


def nested() -> tuple[list[Row], str]:
    """Five outer and five inner folds."""
    X, y = data(1000)
    ours, theirs = grids(penalties(10))
    five = KFold(5)
    name = "ridge, nested 5x5 folds, n=1000, 5 x 10 grid"

    def peer() -> np.ndarray:
        search = SklearnGridSearchCV(SklearnRidge(kernel="rbf"), theirs, cv=five, n_jobs=cores())
        return cross_val_score(search, X, y, cv=five)

    mine = best_time(lambda: nested_cv(KernelRidge(Gaussian()), X, y, ours, five, five), REPEATS)
    other = best_time(peer)
    apart = float(np.abs(mine[1].scores - other[1]).max())
    rows = comparison(name, mine, other, 10.0, apart <= 1e-8)
    rows.append(Row("  largest difference of scores", "", "", apart, at_most(1e-8, "{:.1e}")))
    return rows, f"{name}:\n{_indented(str(mine[1].account))}"


def margins() -> tuple[list[Row], str]:
    """Support vector machines on 2000 digits."""
    task = usps()
    X, y = task.X[:2000], task.y[:2000]
    widths, prices = (2.0, 3.0, 4.0, 6.0, 8.0), [0.1, 1.0, 10.0, 100.0, 1000.0]
    five = StratifiedKFold(5)
    theirs = {"gamma": [0.5 / s**2 for s in widths], "C": prices}
    found = search_rows(
        "SVC, 2000 digits, 5 bandwidths x 5 C, 5 folds",
        lambda: GridSearchCV(
            SVC(Gaussian()), {"kernel__bandwidth": list(widths), "C": prices}, cv=five
        ).fit(X, y),
        lambda: SklearnGridSearchCV(Libsvm(), theirs, cv=five, n_jobs=cores()).fit(X, y),
        5.0,
    )
    return with_account(found)


def model() -> tuple[list[Row], str]:
    """Return what each route to held-out predictions should and does cost."""
    lines = [("items, folds, penalties", "route", "predicted", "measured", "chosen")]
    worst = 0.0
    for n, k, count in ((1000, 10, 2), (1000, 10, 30), (1000, 1000, 5), (2000, 5, 1), (300, 3, 1)):
        X, y = data(n)
        K = Gaussian(6.0)(X)
        splits = splits_of(KFold(k), X, y, False)
        sizes = [len(split.test) for split in splits]
        chosen = cheapest_route(n, sizes, count, columns=k)
        found = {
            route: measured(
                replace(chosen, name=route, once={}, each={}), K, y, splits, penalties(count)
            )
            for route, cost in chosen.costs.items()
            if cost <= 40 * chosen.costs[chosen.name]
        }
        unit = found[chosen.name] / chosen.costs[chosen.name]
        for route, seconds in found.items():
            told = (f"{chosen.costs[route] * unit:.3f} s", f"{seconds:.3f} s")
            mark = "*" if route == chosen.name else ""
            lines.append((f"{n}, {k}, {count}", route, *told, mark))
        worst = max(worst, found[chosen.name] / min(found.values()))
    title = "The cost model (its unit is fitted to the chosen route of each case):"
    row = Row("cost model: chosen route / fastest, at worst", "", "", worst, at_most(1.5))
    return [row], f"{title}\n\n{columns(lines, words=(0, 1))}"


def measured(
    chosen: ClosedFormRoute, K: np.ndarray, y: np.ndarray, splits: Any, values: list[float]
) -> float:
    """Return how long a route takes."""

    def work() -> None:
        if chosen.name != "refit":
            run = Run(ClosedFormTask(KernelRidge(), Regression(y, None), K, splits, values), {})
            run.route = chosen
            run.finish()
            return
        for split in splits:
            part = K[np.ix_(split.train, split.train)]
            for value in values:
                machine = KernelRidge("precomputed", value).fit(part, y[split.train])
                machine.predict(K[np.ix_(split.test, split.train)])

    seconds = best_time(work, REPEATS)[0]
    if seconds < SHORT_SECONDS:  # a few milliseconds say little on a computer that does more
        seconds = min(seconds, best_time(work, 10 * REPEATS)[0])
    return seconds


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
