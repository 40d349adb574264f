"""The data of the survey: open tables and other real data as vectors, and six made-up families.

Real data are those of `MERCER_DATA`; columns are scaled to mean 0 and variance 1 where they have
units of their own, and categories are one column for each value. Rows are shuffled, so that the
first n of them are a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from benchmarks import open_tables

MANY_ROWS = 40_000  # of which no data set has more
EPSILON = 0.1  # half the width of the tube, in standard deviations of the target
TINY_TABLES = ("autos", "energy")  # of less than a thousand rows
MEDIAN_ROWS = 1000  # whose median distance is the unit of bandwidths


@dataclass(frozen=True, eq=False)
class Sample:
    """Vectors with labels, or with a target of mean 0 and variance 1."""

    X: Any
    y: np.ndarray
    regression: bool = False

    def first(self, count: int) -> Sample:
        """Return the first rows."""
        return Sample(self.X[:count], self.y[:count], self.regression)

    def median_distance(self) -> float:
        """Return the median distance between different ones of the first rows."""
        some: Any = self.X[:MEDIAN_ROWS]
        some = some.toarray() if sparse.issparse(some) else np.asarray(some)
        squares = np.einsum("ij,ij->i", some, some)
        D = squares[:, None] + squares - 2 * some @ some.T
        far = D[np.triu_indices(len(D), 1)]
        return float(np.sqrt(np.median(far[far > 1e-9 * squares.max(initial=1.0)])))


def noisy(n: int) -> Sample:
    """Ten measurements with so much noise that a third of the items are support vectors."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 10))
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.8 * rng.normal(size=n)
    return Sample(X, (score > 0).astype(int))


def checkerboard(n: int) -> Sample:
    """Four by four fields in the plane, one label in twenty being wrong."""
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 4, size=(n, 2))
    y = np.floor(X).sum(axis=1).astype(int) % 2
    return Sample(X, np.where(rng.random(n) < 0.05, 1 - y, y))


def spheres(n: int) -> Sample:
    """Three nested spheres in six dimensions, whose shells touch."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 6))
    X *= ((1 + y + 0.3 * rng.normal(size=n)) / np.linalg.norm(X, axis=1))[:, None]
    return Sample(X, y)


def sparse_rows(n: int) -> Sample:
    """Sparse rows of 5,000 columns with about thirty entries, as words of short texts."""
    rng = np.random.default_rng(4)
    width, each = 5000, 30
    shares = 1 / np.arange(1, width + 1)
    topics = [rng.permutation(shares[: width // 2]) for _ in range(2)]
    y = rng.integers(0, 2, n)
    draws = np.empty((n, each), dtype=np.int64)
    for label, topic in enumerate(topics):
        mixed = np.concatenate([topic, shares[width // 2 :]]) + shares
        rows = np.flatnonzero(y == label)
        draws[rows] = rng.choice(width, size=(len(rows), each), p=mixed / mixed.sum())
    X = sparse.csr_matrix(
        (np.ones(n * each), draws.ravel(), np.arange(0, n * each + 1, each)), shape=(n, width)
    )
    X.sum_duplicates()
    return Sample(normalize(X), y)


def many_classes(n: int) -> Sample:
    """Twenty-six overlapping clouds in sixteen dimensions, like letters."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 26, n)
    return Sample(rng.normal(size=(26, 16))[y] * 1.5 + rng.normal(size=(n, 16)), y)


def unbalanced(n: int) -> Sample:
    """One item in fifty of the rare class, within the cloud of the others."""
    rng = np.random.default_rng(6)
    y = (rng.random(n) < 0.02).astype(int)
    X = rng.normal(size=(n, 8))
    return Sample(X + 1.2 * y[:, None] * np.sign(np.arange(8) - 3.5), y)


def scaled(X: np.ndarray) -> np.ndarray:
    """Return columns of mean 0 and variance 1; constant ones are 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def table(name: str) -> Sample:
    """Return an open table: numbers scaled, gaps at the mean, a column for each category."""
    frame = open_tables.read(name)
    columns = frame.drop(columns="target")
    wide = pd.get_dummies(columns, dtype=float).astype(float)
    X = scaled(wide.fillna(wide.mean()).to_numpy())
    if open_tables.TASKS[name] == "classify":
        return Sample(X, np.unique(frame["target"].astype(str), return_inverse=True)[1])
    target = frame["target"].to_numpy(float)
    return Sample(X, (target - target.mean()) / target.std(), regression=True)


def libsvm(path: str, dense: bool = True) -> Sample:
    """Return a file of LIBSVM's format."""
    X, y = load_svmlight_file(str(open_tables.folder() / path))
    return Sample(X.toarray() if dense else sparse.csr_matrix(X), np.asarray(y, dtype=int))


def news20() -> Sample:
    """Return the messages of twenty news groups, as normalized counts of words."""
    found = libsvm("news20/news20.bz2", dense=False)
    return Sample(normalize(found.X), found.y)


def usps() -> Sample:
    """Return the handwritten digits."""
    with np.load(open_tables.folder() / "usps" / "usps.npz") as arrays:
        return Sample(arrays["X_train"].astype(float), arrays["y_train"].astype(int))


def kin8nm() -> Sample:
    """Return the arm with eight joints."""
    path = open_tables.folder() / "regression" / "kin8nm" / "kin8nm.arff"
    numbers = path.read_text().lower().split("@data", 1)[1].replace(",", " ").split()
    rows = np.array(numbers, dtype=float).reshape(-1, 9)
    y = rows[:, -1]
    return Sample(scaled(rows[:, :-1]), (y - y.mean()) / y.std(), regression=True)


def splice() -> Sample:
    """Return genes around their joints: a column for each place and base."""
    frame = pd.read_csv(open_tables.folder() / "splice" / "splice.csv")
    letters = np.array([list(sequence.strip()) for sequence in frame["sequence"]])
    X = np.concatenate([letters == base for base in "ACGT"], axis=1).astype(float)
    return Sample(X, np.unique(frame["class"], return_inverse=True)[1])


FAMILIES: dict[str, Callable[[int], Sample]] = {
    "noisy": noisy,
    "checkerboard": checkerboard,
    "spheres": spheres,
    "sparse": sparse_rows,
    "classes": many_classes,
    "unbalanced": unbalanced,
}
REAL: dict[str, Callable[[], Sample]] = {
    "usps": usps,
    "a9a": partial(libsvm, "a9a/a9a.gz"),
    "mushrooms": partial(libsvm, "mushrooms/mushrooms.gz"),
    "news20": news20,
    "kin8nm": kin8nm,
    "splice": splice,
    **{name: partial(table, name) for name in open_tables.TASKS if name not in TINY_TABLES},
}


def names() -> list[str]:
    """Return the names of all data sets that are there."""
    return [*FAMILIES, *(REAL if open_tables.present() else ())]


def load(name: str, count: int = MANY_ROWS) -> Sample:
    """Return at most `count` shuffled rows of a data set."""
    if name in FAMILIES:
        return FAMILIES[name](count)
    found = REAL[name]()
    order = np.random.default_rng(0).permutation(len(found.y))[:count]
    return Sample(found.X[order], found.y[order], found.regression)
