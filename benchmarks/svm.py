"""Support vector classification against scikit-learn (LIBSVM) and scikit-learn-intelex (oneDAL).

As in `mercer.bench.comparisons`, with memory, and time against the number of items. The data are
those of `MERCER_DATA` where they are, otherwise made up in the same sizes. `pip install -r
benchmarks/requirements.txt` installs the second peer.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from mercer import SVC
from mercer.bench.comparisons import PEERS, Classification, compare, stand_in
from mercer.bench.measure import Row, at_least, at_most, peak_growth, seconds
from mercer.kernels import Gaussian

BYTES = 4_000_000_000
SIZES = (2500, 5000, 10_000, 20_000, 40_000)


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    table, ratios = [], []
    peers = {**PEERS, **intelex()}
    for task in (usps(), a9a(), satimage(), mushrooms()):
        some, ratio = compare(task, peers)
        table += some
        ratios.append(ratio)
    mean = float(np.exp(np.mean(np.log(ratios))))
    table.append(Row("fit, geometric mean of the four", "", "faster peer", mean, at_least(3.0)))
    return [*table, memory(), growth()]


def memory() -> Row:
    """Return how much memory 50,000 items take."""
    used = peak_growth(fit_made_up, made_up, 50_000)
    return Row("peak memory of fit, n=50000, d=20", f"{used / 1e6:.0f} MB", "",
               used / 1e9, at_most(BYTES / 1e9, "{:.2f} GB"))  # fmt: skip


def growth() -> Row:
    """Return the exponent of the time against the number of items."""
    fit_made_up(*made_up(SIZES[0]))
    times = []
    for n in SIZES:
        X, y = made_up(n)
        times.append(min(seconds(lambda X=X, y=y: fit_made_up(X, y)) for _ in range(2)))
    slope = float(np.polyfit(np.log(SIZES), np.log(times), 1)[0])
    cells = ", ".join(f"{n}: {t:.2f} s" for n, t in zip(SIZES, times, strict=True))
    return Row(f"exponent of time against n ({cells})", "", "", slope, at_most(2.2, "{:.2f}"))


def fit_made_up(X: np.ndarray, y: np.ndarray) -> SVC:
    """Fit a machine to made-up data."""
    return SVC(Gaussian(10**0.5), 1.0).fit(X, y)


def made_up(n: int, d: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points whose classes overlap, with a curved border."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    noise = 0.5 * rng.normal(size=n)
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0, 1, -1)


def intelex() -> dict[str, Any]:
    """Return scikit-learn-intelex's machine, if it is installed."""
    try:
        from sklearnex.svm import SVC as Onedal
    except ImportError:
        print("scikit-learn-intelex is missing: pip install -r benchmarks/requirements.txt")
        return {}
    return {"intelex": Onedal}


def folder() -> Path:
    """Return where the real data are."""
    return Path(os.environ.get("MERCER_DATA", "missing"))


def usps() -> Classification:
    """Return the USPS digits."""
    path = folder() / "usps" / "usps.npz"
    if not path.is_file():
        return stand_in("made up like USPS", 7291, 256, 10, 1 / 512, 10.0)
    with np.load(path) as arrays:
        train, new = arrays["X_train"].astype(float), arrays["X_test"].astype(float)
        return Classification("USPS", train, arrays["y_train"], new, 1 / 32, 10.0)


def a9a() -> Classification:
    """Return the census data a9a, dense."""
    path = folder() / "a9a" / "a9a.gz"
    if not path.is_file():
        return stand_in("made up like a9a", 32561, 123, 2, 1 / 246, 1.0)
    X, y = load_svmlight_file(str(path), n_features=123)
    new, _ = load_svmlight_file(str(folder() / "a9a" / "a9a.t.gz"), n_features=123)
    return Classification("a9a", X.toarray(), y, new.toarray(), 1 / 32, 1.0)


def satimage() -> Classification:
    """Return the satellite images.

    γ and C are those of the smallest error in five folds of the training rows, among γ = 1/32 to
    1/2 and C = 1 to 64 by powers of 2 and 4.
    """
    path = folder() / "satellite" / "satellite.npz"
    if not path.is_file():
        return stand_in("made up like satimage", 4435, 36, 6, 1 / 8, 4.0)
    with np.load(path) as arrays:
        X, y = arrays["X"].astype(float), arrays["y"]
    train = slice(0, 4435)
    X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    return Classification("satimage", X[train], y[train], X[4435:], 1 / 8, 4.0)


def mushrooms() -> Classification:
    """Return the mushrooms, with scikit-learn's default γ = 1/d of LIBSVM and C = 1."""
    path = folder() / "mushrooms" / "mushrooms.gz"
    if not path.is_file():
        return stand_in("made up like mushrooms", 8124, 112, 2, 1 / 112, 1.0)
    X, y = load_svmlight_file(str(path))
    X = X.toarray()
    return Classification("mushrooms", X, y, X, 1 / X.shape[1], 1.0)
