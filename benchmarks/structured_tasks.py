"""Real graphs, sequences, texts and molecules to tell apart, by nested cross-validation."""

from __future__ import annotations

import csv
import gzip
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from mercer import SVC, KernelRidge
from mercer.bench.measure import columns
from mercer.datasets import Dataset, read_smiles, read_tu
from mercer.errors import SelectionWarning
from mercer.kernels import (
    Molecule,
    Spectrum,
    Text,
    WeightedDegree,
    WeisfeilerLehman,
    gaussian_over,
    normalize,
)
from mercer.selection import GridSearchCV, nested_cv

PRICES = [1.0, 10.0, 100.0]
SEED = 0


@dataclass(frozen=True)
class Task:
    """Something to learn, what may be chosen, and the accuracy that is expected."""

    name: str
    load: Callable[[], Dataset]
    machine: Any
    grid: Any
    bar: float
    outer: int = 10


def accuracies() -> str:
    """Return the table of all tasks."""
    lines = [("task", "items", "ours", "bar", "verdict", "seconds", "chosen most often")]
    for measure in (*(lambda t=task: classified(t) for task in tasks()), r8_line, esol_line):
        start = time.perf_counter()
        name, items, ours, bar, verdict, chosen = measure()
        lines.append(
            (name, items, ours, bar, verdict, f"{time.perf_counter() - start:.0f}", chosen)
        )
        print(".", end="", flush=True)
    print()
    return columns(lines, words=(0, 4, 6))


def tasks() -> Iterator[Task]:
    """Yield the tasks whose error is a mean over outer folds."""
    depths = {"kernel__kernel__depth": [1, 2, 3, 4, 5, 6, 8], "C": PRICES}
    subtrees = SVC(normalize(WeisfeilerLehman()))
    yield Task("MUTAG", lambda: graphs("MUTAG"), subtrees, depths, 0.87)
    yield Task("ENZYMES", lambda: graphs("ENZYMES"), subtrees, depths, 0.50)
    # The distance in the space of subtrees, and how fast similarity falls with it.
    smooth = SVC(gaussian_over(normalize(WeisfeilerLehman()), 1.0))
    yield Task(
        "NCI1", lambda: graphs("NCI1"), smooth,
        {"kernel__kernel__kernel__depth": [3, 5, 8], "kernel__bandwidth": [0.5, 1.0],
         "C": [1.0, 10.0]},
        0.83, outer=5,
    )  # fmt: skip
    yield Task(
        "promoters", promoters, SVC(),
        {"kernel": [normalize(WeightedDegree(d)) for d in (2, 3, 4, 6)]
         + [normalize(WeightedDegree(d, shift=2)) for d in (3, 4, 6)]
         + [normalize(Spectrum(k)) for k in (3, 4, 5)], "C": PRICES},
        0.90,
    )  # fmt: skip
    yield Task(
        "splice", splice, SVC(),
        {"kernel": [gaussian_over(normalize(WeightedDegree(d)), s) for d in (4, 8, 12)
                    for s in (0.5, 1.0)], "C": [1.0, 10.0]},
        0.955, outer=5,
    )  # fmt: skip
    yield Task(
        "SMS spam", sms, SVC(),
        {"kernel": [Text(), Text(ngrams=(1, 2)), Text("char_wb", ngrams=(2, 5))],
         "C": [1.0, 10.0]},
        0.98, outer=5,
    )  # fmt: skip
    yield Task(
        "BBBP", bbbp, SVC(),
        {"kernel": [Molecule(r, 2048) for r in (1, 2, 3)], "C": [1.0, 3.0, 10.0]}, 0.87,
    )  # fmt: skip


def classified(task: Task) -> tuple[str, ...]:
    """Return the accuracy of a task by nested cross-validation."""
    data = task.load()
    folds = StratifiedKFold(task.outer, shuffle=True, random_state=SEED)
    inner = StratifiedKFold(5, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)  # the choice is printed
        found = nested_cv(task.machine, data.X, data.y, task.grid, folds, inner)
    mean, error = found.mean, found.standard_error
    verdict = "reached" if mean >= task.bar else "falls short"
    return (
        task.name, str(len(data)), f"{mean:.3f} ± {error:.3f}", f"≥ {task.bar}", verdict,
        _shown(found.most_chosen),
    )  # fmt: skip


def r8_line() -> tuple[str, ...]:
    """Return the accuracy on R8's own test documents."""
    train, test = r8("train"), r8("test")
    grid = {"kernel": [Text(), Text(ngrams=(1, 2))], "C": [1.0, 10.0]}
    found = GridSearchCV(SVC(), grid, cv=StratifiedKFold(5, shuffle=True, random_state=SEED))
    found.fit(train.X, train.y)
    right = float(np.mean(found.predict(test.X) == test.y))
    error = math.sqrt(right * (1 - right) / len(test))
    verdict = "reached" if right >= 0.965 else "falls short"
    return (
        "R8", f"{len(train)}+{len(test)}", f"{right:.3f} ± {error:.3f}", "≥ 0.965", verdict,
        _shown(found.best_params_),
    )  # fmt: skip


def esol_line() -> tuple[str, ...]:
    """Return the root mean squared error of solubilities, on ten random splits."""
    data = read_smiles(
        folder() / "molecules" / "ESOL_delaney-processed.csv",
        target="measured log solubility in mols per litre",
    )
    grid = {
        "kernel": [Molecule(r, 2048) for r in (1, 2)]
        + [Molecule(1, 2048) + normalize(WeisfeilerLehman(d)) for d in (1, 2)],
        "penalty": [0.01, 0.03, 0.1, 0.3],
    }
    splits = ShuffleSplit(10, test_size=0.1, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        found = nested_cv(
            KernelRidge(intercept=True), data.X, data.y, grid, splits,
            KFold(5, shuffle=True, random_state=SEED), scoring="neg_root_mean_squared_error",
        )  # fmt: skip
    mean, error = -found.mean, found.standard_error
    return (
        "ESOL (RMSE)", str(len(data)), f"{mean:.3f} ± {error:.3f}", "reported", "",
        _shown(found.most_chosen),
    )  # fmt: skip


def folder() -> Path:
    """Return where the data are."""
    return Path(os.environ["MERCER_DATA"])


def graphs(name: str) -> Dataset:
    """Return a set of graphs with labels."""
    return read_tu(folder() / "graphs" / name)


def promoters() -> Dataset:
    """Return 106 DNA sequences, promoters or not."""
    text = (folder() / "promoters" / "promoters.data").read_text()
    rows = [line.split(",") for line in text.split("\n") if line]
    return Dataset(
        np.array([row[2].strip() for row in rows], object), np.array([row[0] for row in rows])
    )


def splice() -> Dataset:
    """Return 3190 DNA sequences around splice junctions."""
    with (folder() / "splice" / "splice.csv").open() as file:
        rows = list(csv.DictReader(file))
    return Dataset(
        np.array([row["sequence"] for row in rows], object),
        np.array([row["class"] for row in rows]),
    )


def sms() -> Dataset:
    """Return 5574 short messages."""
    path = folder() / "text" / "sms_spam" / "SMSSpamCollection"
    return _labelled(path.read_text(encoding="utf-8").split("\n"))


def r8(part: str) -> Dataset:
    """Return the training or test documents of R8."""
    with gzip.open(folder() / "text" / "r8" / f"{part}.txt.gz", "rt", encoding="utf-8") as file:
        return _labelled(file.read().split("\n"))


def bbbp() -> Dataset:
    """Return molecules that do or do not pass from blood to brain."""
    path = folder() / "molecules" / "BBBP.csv"
    return read_smiles(path, target="p_np", invalid="drop")


def _labelled(lines: list[str]) -> Dataset:
    rows = [line.split("\t", 1) for line in lines if line]
    return Dataset(np.array([row[1] for row in rows], object), np.array([row[0] for row in rows]))


def _shown(params: dict[str, Any]) -> str:
    return ", ".join(f"{name.split('__')[-1]}={value}" for name, value in params.items())
