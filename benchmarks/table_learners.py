"""Who learns from the open tables: mercer's study, three boosted trees and xRFM.

Each is called in a process of its own, one after the other, with two threads. A learner takes a
table and returns predictions for the rows kept aside; importing is not timed.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.open_tables import OpenTable, load
from mercer.bench.measure import in_fresh_process
from mercer.threads import cores

BUDGET = 60.0  # seconds of a study
THREADS = min(2, cores(), int(os.environ.get("OMP_NUM_THREADS", "2")))
# What xRFM chooses from, by its validation rows.
BANDWIDTHS, DIAGONAL, PENALTIES = (5.0, 10.0, 20.0), (False, True), (1e-3, 1e-2, 1e-1)
SEARCHED_ROWS = 3_000


@dataclass(frozen=True)
class Outcome:
    """What a learner did with a table."""

    error: float = np.nan
    seconds: float = np.nan
    error_se: float = np.nan  # of the error on the rows kept aside, by the chance of these rows
    stated: float = np.nan
    stated_se: float = np.nan
    memory: float = np.nan
    note: str = ""


def attempt(learner: str, name: str) -> Outcome:
    """Let a learner loose on a table, in a process of its own; what it raises is a note."""
    try:
        outcome, memory = in_fresh_process(LEARNERS[learner], name)
    except Exception as error:  # a table that fails is a result, and the others go on
        return Outcome(note=f"{learner} on {name}: {type(error).__name__}: {str(error)[:200]}")
    return replace(outcome, memory=memory)


def installed() -> list[str]:
    """Return the learners that are there, and say which are not."""
    unwanted = os.environ.get("WITHOUT", "").split(",")  # xRFM takes most of the time
    missing = [name for name, package in PACKAGES.items() if find_spec(package) is None]
    for name in missing:
        print(f"{name} is missing: pip install -r benchmarks/requirements.txt")
    return [name for name in LEARNERS if name not in [*missing, *unwanted]]


def warm_up() -> None:
    """Compile the loops that a study takes, in a process whose time is not counted."""
    in_fresh_process(_warm_up)


def _warm_up() -> None:
    import mercer

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    frame["kind"] = rng.choice(["ant", "bee", "cat"], 400)
    number = frame["a"] * frame["b"] + (frame["kind"] == "ant")
    for task, y in (("regress", number), ("classify", np.where(number > 0, "up", "down"))):
        mercer.study(frame.assign(target=y), "target", task=task, budget=10.0, show=False)


# ---- mercer ------------------------------------------------------------------------------------


def fit_mercer(name: str) -> Outcome:
    """Study a table."""
    import mercer
    from mercer.studies.folds import pooled_error

    table = load(name)
    start = time.perf_counter()
    study = mercer.study(table.train, "target", task=table.task, budget=BUDGET, show=False)
    predicted = study.machine.predict(table.new[list(study.X.columns)])
    seconds = time.perf_counter() - start
    unit, error = table.unit, table.error(predicted)
    truth = table.new["target"].to_numpy()
    truth = truth.astype(float) if table.task == "regress" else truth
    spread = pooled_error([truth], [predicted])[1] / unit
    return Outcome(error, seconds, spread, study.error / unit, study.error_se / unit)


# ---- boosted trees -----------------------------------------------------------------------------


def fit_lightgbm(name: str) -> Outcome:
    """500 trees, rate 0.05."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    options = {"n_estimators": 500, "learning_rate": 0.05, "n_jobs": THREADS, "verbose": -1}
    return with_categories(name, LGBMRegressor(**options), LGBMClassifier(**options))


def fit_histogram(name: str) -> Outcome:
    """scikit-learn's trees, as they come."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    options = {"categorical_features": "from_dtype", "random_state": 0}
    with threadpool_limits(THREADS, "openmp"):
        return with_categories(
            name,
            HistGradientBoostingRegressor(**options),
            HistGradientBoostingClassifier(**options),
        )


def fit_catboost(name: str) -> Outcome:
    """As it comes; a gap in a category is a level."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    table = load(name)
    words = categories(table)
    options = {
        "thread_count": THREADS, "random_seed": 0, "verbose": False, "allow_writing_files": False,
        "cat_features": words,
    }  # fmt: skip
    machine = CatBoostRegressor(**options)
    if table.task == "classify":
        machine = CatBoostClassifier(**options)
    X, new = (
        part.drop(columns="target").fillna(dict.fromkeys(words, "missing"))
        for part in (table.train, table.new)
    )
    return timed(table, machine, X, new)


def with_categories(name: str, regressor: Any, classifier: Any) -> Outcome:
    """Fit trees that know categories by their type; new levels are gaps."""
    table = load(name)
    X, new = (part.drop(columns="target") for part in (table.train, table.new))
    for column in categories(table):
        X[column] = X[column].astype("category")
        new[column] = pd.Categorical(new[column], X[column].cat.categories)
    return timed(table, regressor if table.task == "regress" else classifier, X, new)


def timed(table: OpenTable, machine: Any, X: pd.DataFrame, new: pd.DataFrame) -> Outcome:
    """Fit, predict, and look at the clock."""
    start = time.perf_counter()
    predicted = machine.fit(X, table.train["target"].to_numpy()).predict(new)
    return Outcome(table.error(predicted), time.perf_counter() - start)


def categories(table: OpenTable) -> list[str]:
    """Return the columns of a table that are not numbers."""
    X = table.train.drop(columns="target")
    return [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]


# ---- recursive feature machines ----------------------------------------------------------------


def fit_xrfm(name: str) -> Outcome:
    """The best of 18 configurations by validation rows, a fifth of those to learn from.

    As its documentation recommends: numbers standardized, categories one-hot with an identity for
    each, a Laplace kernel of the Euclidean distance (others want a GPU), and five rounds. The
    target of a regression is standardized, too, because there is no intercept. Where there are
    more than 3,000 rows, so many choose the configuration, and all are learned from with it.
    """
    import torch

    torch.set_num_threads(THREADS)
    table = load(name)
    X, new, info = columns_for_xrfm(table)
    y = table.train["target"]
    classes, codes = np.unique(y, return_inverse=True) if table.task == "classify" else (None, y)
    center, unit = (0, 1) if classes is not None else (float(y.mean()), float(y.std()))
    target = codes if classes is not None else ((y - center) / unit).to_numpy(np.float32)
    order = np.random.default_rng(0).permutation(len(X))
    held, kept = np.split(order, [len(X) // 5])

    start = time.perf_counter()
    best = min(
        itertools.product(BANDWIDTHS, DIAGONAL, PENALTIES),
        key=lambda choice: validated(choice, X, target, kept[:SEARCHED_ROWS], held, info)[0],
    )
    machine = validated(best, X, target, kept, held, info)[1]
    found = np.asarray(machine.predict(new)).ravel()
    seconds = time.perf_counter() - start
    predicted = classes[found.astype(int)] if classes is not None else center + unit * found
    return Outcome(table.error(predicted), seconds)


def validated(
    choice: tuple[float, bool, float],
    X: np.ndarray,
    target: np.ndarray,
    kept: np.ndarray,
    held: np.ndarray,
    info: Any,
) -> tuple[float, Any]:
    """Return the error of a configuration on the validation rows, and its machine."""
    from xrfm import xRFM

    model = {"kernel": "l2", "bandwidth": choice[0], "exponent": 1.0, "diag": choice[1],
             "bandwidth_mode": "constant"}  # fmt: skip
    fit = {"reg": choice[2], "iters": 5, "verbose": False, "early_stop_rfm": True}
    machine = xRFM(
        rfm_params={"model": model, "fit": fit}, device="cpu", categorical_info=info,
        n_threads=THREADS, random_state=0, verbose=False,
    )  # fmt: skip
    machine.fit(X[kept], target[kept], X[held], target[held])
    found = np.asarray(machine.predict(X[held])).ravel()
    wrong = found != target[held] if target.dtype.kind in "iu" else (found - target[held]) ** 2
    return float(np.mean(wrong)), machine


def columns_for_xrfm(table: OpenTable) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return training rows, new rows, and where the categories stand."""
    import torch

    words = categories(table)
    parts = [part.drop(columns="target") for part in (table.train, table.new)]
    numbers = [part.drop(columns=words).astype(float) for part in parts]
    numbers = [part.fillna(numbers[0].mean()) for part in numbers]
    scaler = StandardScaler().fit(numbers[0])
    rows = [scaler.transform(part) for part in numbers]
    if not words:
        return rows[0].astype(np.float32), rows[1].astype(np.float32), None
    texts = [part[words].astype(object).fillna("missing") for part in parts]
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(texts[0])
    rows = [np.hstack([z, levels.transform(t)]) for z, t in zip(rows, texts, strict=True)]
    widths = [len(found) for found in levels.categories_]
    borders = numbers[0].shape[1] + np.concatenate([[0], np.cumsum(widths)])
    info = {
        "numerical_indices": torch.arange(int(borders[0])),
        "categorical_indices": [
            torch.arange(int(a), int(b)) for a, b in itertools.pairwise(borders)
        ],
        "categorical_vectors": [torch.eye(width) for width in widths],
    }
    return rows[0].astype(np.float32), rows[1].astype(np.float32), info


LEARNERS: dict[str, Callable[[str], Outcome]] = {
    "mercer": fit_mercer,
    "LightGBM": fit_lightgbm,
    "CatBoost": fit_catboost,
    "HistGB": fit_histogram,
    "xRFM": fit_xrfm,
}
TREES = ("LightGBM", "CatBoost", "HistGB")
PACKAGES = {"LightGBM": "lightgbm", "CatBoost": "catboost", "xRFM": "xrfm"}
