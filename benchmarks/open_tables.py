"""Fourteen open tables, as frames with a column `target`, and the same split for everybody.

They are read from the folder that `MERCER_DATA` names: four of `regression`, `satellite`, `spam`,
and the eight of `tables`. Rows are dealt by `default_rng(0).permutation`: the first 80 % are
learned from, at most 20,000 of them, and the others are kept aside.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

MOST_ROWS = 20_000
# What each table's target is: "classify" or "regress".
TASKS = {
    "concrete": "regress",
    "energy": "regress",
    "elevators": "regress",
    "protein": "regress",
    "satellite": "classify",
    "spam": "classify",
    "abalone": "regress",
    "adult": "classify",
    "autos": "regress",
    "diamonds": "regress",
    "german": "classify",
    "mammography": "classify",
    "phoneme": "classify",
    "wine_white": "regress",
}


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table with its rows dealt; `train` and `new` have the column `target`."""

    name: str
    task: str
    train: pd.DataFrame
    new: pd.DataFrame

    def error(self, predicted: np.ndarray) -> float:
        """Return the share of wrong rows, or the RMSE over the target's standard deviation."""
        y = self.new["target"].to_numpy()
        if self.task == "classify":
            return float(np.mean(np.asarray(predicted).ravel() != y))
        return float(np.sqrt(np.mean((np.asarray(predicted).ravel() - y) ** 2))) / self.unit

    @property
    def unit(self) -> float:
        """What an error of the machine is divided by."""
        return float(self.new["target"].std(ddof=0)) if self.task == "regress" else 1.0


def present() -> bool:
    """Tell whether the tables are there."""
    return (folder() / "tables").is_dir() and (folder() / "regression").is_dir()


def folder() -> Path:
    """Return where the data are."""
    return Path(os.environ.get("MERCER_DATA", "missing"))


def load(name: str) -> OpenTable:
    """Read a table and deal its rows."""
    frame, task = read(name), TASKS[name]
    order = np.random.default_rng(0).permutation(len(frame))
    border = int(0.8 * len(frame))
    train, new = frame.iloc[order[:border]], frame.iloc[order[border:]]
    parts = [part.reset_index(drop=True) for part in (train.iloc[:MOST_ROWS], new)]
    return OpenTable(name, task, *parts)


def read(name: str) -> pd.DataFrame:
    """Return a table; categories are texts, and entries that are not there are gaps."""
    if name == "satellite":
        with np.load(folder() / "satellite" / "satellite.npz") as arrays:
            return numbered(arrays["X"].astype(float), arrays["classes"][arrays["y"]])
    if name == "spam":
        frame = pd.read_csv(folder() / "spam" / "spam.csv.gz")
        # Some of its names are signs, which not all peers take.
        return numbered(frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy())
    if name in ("concrete", "energy", "elevators", "protein"):
        rows = np.loadtxt(folder() / "regression" / name / "data.csv.gz", delimiter=",")
        return numbered(rows[:, :-1], rows[:, -1])
    path = folder() / "tables" / f"{name}.csv.gz"
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def numbered(X: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    """Return a frame of numbers with a target."""
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(target=y)
