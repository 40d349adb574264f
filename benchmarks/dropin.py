"""The same script before and after `mercer.sklearn.patch()`, and the native machine beside it.

What is gained should be what the native machine gains, less a tenth at most, and memory should not
be more than 1.2 times that of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer

import mercer
from benchmarks.svm import a9a, folder, made_up, satimage, usps
from mercer.bench.comparisons import Classification
from mercer.bench.measure import Row, at_least, at_most, faster, peak_growth, taking_turns
from mercer.kernels import Gaussian
from mercer.selection import GridSearchCV as NativeSearch
from mercer.selection import nested_cv
from mercer.sklearn import patching

LEAST_SHARE = 0.9  # of what the native machine gains
MOST_MEMORY = 1.2  # times that of scikit-learn
REPEATS = 5
SEARCH_STEPS, SEARCH_REPEATS = 3, 2  # of searches for θ, each step of which takes seconds
GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.01, 0.03, 0.1]}
FOLDS, OUTER = 3, 3
SEARCHED = 1500  # items of searches
MEASURED = 8000  # items of the fit whose memory is measured

Work = Callable[[], Any]


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    table = [compared(task.name, *classification(task)) for task in (usps(), a9a(), satimage())]
    X, y = made_up(SEARCHED)
    table.append(compared("grid of 9, 3 folds", *grid(X, y)))
    table.append(compared("nested folds, 3 by 3", *nested(X, y)))
    X, y = made_up(4000)
    table.append(compared("SVR, n=4000", *regression(X, X[:, 0] * X[:, 1] + 0.1 * y)))
    table.append(compared("kernel ridge, n=4000", *ridge(X, X[:, 0] * X[:, 1] + 0.1 * y)))
    X, y = made_up(2000)
    table.append(compared("Gaussian process, n=2000", *process(X, X[:, 0] * X[:, 1] + 0.1 * y)))
    return [*table, searched_process(X[:, :3], X[:, 0] * X[:, 1] + 0.1 * y), linear(), memory()]


def compared(task: str, script: Work, native: Work) -> Row:
    """Return the row of a script that is run on scikit-learn and on mercer."""

    def patched() -> None:
        with patching():
            script()

    patched(), native()  # loads and compiles
    times = taking_turns({"ours": patched, "theirs": script, "own": native}, REPEATS)
    ours, theirs, own = (times[name] for name in ("ours", "theirs", "own"))
    bar = at_least(LEAST_SHARE * theirs / own)
    return Row(task, f"{ours:.3f} s", f"{theirs:.3f} s", theirs / ours, bar)


def classification(task: Classification) -> tuple[Work, Work]:
    """Return fits and predictions of one task, by a script and natively."""

    def script() -> None:
        from sklearn.svm import SVC

        SVC(C=task.C, gamma=task.gamma).fit(task.X, task.y).predict(task.new)

    def native() -> None:
        kernel = Gaussian(float(1 / np.sqrt(2 * task.gamma)))
        mercer.SVC(kernel, task.C).fit(task.X, task.y).predict(task.new)

    return script, native


def native_grid() -> dict[str, list[Any]]:
    """Return the grid of the searches in mercer's words."""
    kernels = [Gaussian(float(1 / np.sqrt(2 * gamma))) for gamma in GRID["gamma"]]
    return {"C": GRID["C"], "kernel": kernels}


def grid(X: np.ndarray, y: np.ndarray) -> tuple[Work, Work]:
    """Return a grid search, by a script and natively."""

    def script() -> None:
        from sklearn.model_selection import GridSearchCV
        from sklearn.svm import SVC

        GridSearchCV(SVC(), GRID, cv=FOLDS).fit(X, y)

    return script, lambda: NativeSearch(mercer.SVC(), native_grid(), cv=FOLDS).fit(X, y)


def nested(X: np.ndarray, y: np.ndarray) -> tuple[Work, Work]:
    """Return searches within folds, by a script and natively."""

    def script() -> None:
        from sklearn.model_selection import GridSearchCV, cross_val_score
        from sklearn.svm import SVC

        cross_val_score(GridSearchCV(SVC(), GRID, cv=FOLDS), X, y, cv=OUTER)

    return script, lambda: nested_cv(mercer.SVC(), X, y, native_grid(), outer=OUTER, inner=FOLDS)


def regression(X: np.ndarray, y: np.ndarray) -> tuple[Work, Work]:
    """Return fits of support vector regression."""

    def script() -> None:
        from sklearn.svm import SVR

        SVR(C=10.0, gamma=0.05).fit(X, y).predict(X)

    def native() -> None:
        mercer.SVR(Gaussian(10**0.5), 10.0).fit(X, y).predict(X)

    return script, native


def ridge(X: np.ndarray, y: np.ndarray) -> tuple[Work, Work]:
    """Return fits of kernel ridge regression."""

    def script() -> None:
        from sklearn.kernel_ridge import KernelRidge

        KernelRidge(alpha=0.1, kernel="rbf", gamma=0.05).fit(X, y).predict(X)

    def native() -> None:
        mercer.KernelRidge(Gaussian(10**0.5), penalty=0.1).fit(X, y).predict(X)

    return script, native


def process(X: np.ndarray, y: np.ndarray) -> tuple[Work, Work]:
    """Return fits of Gaussian processes with a given kernel, and their deviations."""

    def script() -> None:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, WhiteKernel

        kernel = RBF(3.0) + WhiteKernel(0.1)
        machine = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)
        machine.predict(X, return_std=True)
        machine.log_marginal_likelihood()

    def native() -> None:
        machine = mercer.GaussianProcess(Gaussian(3.0), 0.1).fit(X, y)
        machine.predict(X, return_std=True)
        machine.log_marginal_likelihood()

    return script, native


def few_steps(height: Any, theta: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, float]:
    """Search for θ as scikit-learn does, for so many steps as one has patience for."""
    found = minimize(height, theta, jac=True, bounds=bounds, options={"maxiter": SEARCH_STEPS})
    return found.x, found.fun


def searched_process(X: np.ndarray, y: np.ndarray) -> Row:
    """Return how fast a kernel with a length for each column is searched for."""

    def script() -> None:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, WhiteKernel

        kernel = 1.0 * RBF([1.0, 1.0, 1.0]) + WhiteKernel(0.1)
        GaussianProcessRegressor(kernel, optimizer=few_steps).fit(X, y).predict(X)

    def patched() -> None:
        with patching():
            script()

    patched()
    times = taking_turns({"ours": patched, "theirs": script}, SEARCH_REPEATS)
    return faster("its kernel searched for", (times["ours"], times["theirs"]), 1.0)


def linear() -> Row:
    """Return how fast linear machines learn from sparse rows, beside LIBLINEAR."""
    X, y = news()

    def script() -> None:
        from sklearn.svm import LinearSVC

        LinearSVC(dual=True, random_state=0).fit(X, y)

    def patched() -> None:
        with patching():
            script()

    patched()
    times = taking_turns({"ours": patched, "theirs": script}, REPEATS)
    return faster("LinearSVC, news20", (times["ours"], times["theirs"]), 1.0)


def news() -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return tf-idf of news20, or rows made up like it."""
    path = folder() / "news20" / "news20.bz2"
    if not path.is_file():
        rng = np.random.default_rng(0)
        return sparse.random(8000, 60_000, 1e-3, "csr", rng=rng), rng.integers(0, 20, 8000)
    X, y = load_svmlight_file(str(path))
    return TfidfTransformer(sublinear_tf=True).fit_transform(X), y


def fit_plain(X: np.ndarray, y: np.ndarray) -> None:
    """Fit scikit-learn's machine with a cache that holds what mercer may store."""
    from sklearn.svm import SVC

    SVC(gamma=0.05, cache_size=8 * len(X) ** 2 / 1e6).fit(X, y)


def fit_patched(X: np.ndarray, y: np.ndarray) -> None:
    """Fit the same by mercer."""
    with patching():
        fit_plain(X, y)


def memory() -> Row:
    """Return the peak memory of a fit, beside scikit-learn's with as large a cache."""
    ours, theirs = (peak_growth(fit, made_up, MEASURED) for fit in (fit_patched, fit_plain))
    cells = f"{ours / 1e6:.0f} MB", f"{theirs / 1e6:.0f} MB"
    task = f"peak memory of fit, n={MEASURED}"
    return Row(task, *cells, ours / theirs, at_most(MOST_MEMORY))
