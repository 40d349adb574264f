"""Intervals in closed form: what jackknife+ and CV+ cost beside one fit, and beside fits of all.

Learning to give intervals is timed, the fit of the machine itself included, in units of that fit.
An inverse takes three times the operations of a factor, which is what a fit needs. Without the
closed form the jackknife+ takes a fit for each row, and CV+ one for each fold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import Conformal, GaussianProcess, KernelRidge
from mercer.bench.measure import Row, at_least, at_most, best_of
from mercer.kernels import Gaussian
from mercer.plans import Nystrom, Plan, Random

__all__ = ["rows"]

ITEMS, SKETCHED_ITEMS, COLUMNS, CENTERS = 2000, 20_000, 10, 500
NEW = 1000  # rows that get an interval
# About the cost of one fit: an inverse has three times the operations of a factor.
FITS = 5.0


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    exact, sketch = {"kernel": Gaussian(2.0), "penalty": 0.1}, Gaussian(2.0)
    X, y = _data(ITEMS)
    table = []
    for name, machine in (
        ("ridge", KernelRidge(**exact)),
        ("Gaussian process", GaussianProcess(**exact)),
    ):
        table += _measured(f"{name}, {ITEMS} rows", machine, "jackknife+", X, y)
    X, y = _data(SKETCHED_ITEMS)
    for name, approximate in (
        (f"{CENTERS} centers", Nystrom(CENTERS)),
        (f"{CENTERS} random features", Random(CENTERS)),
    ):
        machine = KernelRidge(sketch, 0.1, follow=Plan(approximate=approximate))
        table += _measured(f"{name}, {SKETCHED_ITEMS} rows", machine, "cv+", X, y)
    return table


def _measured(about: str, machine: Any, method: str, X: np.ndarray, y: np.ndarray) -> list[Row]:
    """Return the cost of learning intervals, of what it saves, and of asking for them."""
    known = Conformal(machine, method=method)
    alone, whole = best_of(lambda: machine.fit(X, y), lambda: known.fit(X, y), repeats=3)
    new = _data(NEW, 1)[0]
    ask, plain = best_of(lambda: known.predict_interval(new), lambda: machine.predict(new),
                         repeats=3)  # fmt: skip
    inside = np.mean((known.predict_interval(new) - _data(NEW, 1)[1][:, None]) * [1, -1] <= 0)
    saved = len(y) * alone / whole if method == "jackknife+" else None
    table = [
        Row(f"{about}: {method}", f"{whole:.2f} s", f"{alone:.2f} s a fit", whole / alone,
            at_most(FITS, "{:.1f} fits")),
    ]  # fmt: skip
    if saved is not None:
        table.append(Row("  than a fit for each row", "", f"{len(y) * alone:.0f} s", saved,
                         at_least(100.0, "{:.0f} times faster")))  # fmt: skip
    table.append(Row(f"  intervals of {NEW} new rows", f"{ask:.2f} s", f"{plain:.2f} s to predict",
                     ask, None))  # fmt: skip
    table.append(Row("  ends that hold, of 0.95", "", "", float(inside), None))
    return table


def _data(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, COLUMNS))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=count)
