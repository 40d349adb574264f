"""Shift: how much more frequent rows are where predictions are asked for (covariate shift).

A machine that tells the rows learned from and new rows apart gives the ratio of both densities:
p/(1 − p), times the numbers of rows (Bickel, Brückner & Scheffer, 2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer.domains import Items, is_frame
from mercer.errors import ValidityError
from mercer.machines.conforming.fold_machines import TrainingRows, last_of, with_last
from mercer.machines.logistic import KernelLogistic

__all__ = ["learn_ratio", "ratio_of"]

PENALTIES = (0.1, 1.0, 10.0, 100.0)  # of which one tells held-out rows apart best
MIN_CHANCE = 1e-3  # a ratio is not told beyond a thousand


def learn_ratio(machine: BaseEstimator, X: Items, new: Any, rng: np.random.RandomState) -> Any:
    """Return a fitted machine whose odds are the ratio of densities, but for a constant.

    Parameters
    ----------
    machine : machine
        Whose kernel and preparation are used.
    X, new : items
        As they were learned from, and as they come.
    rng : RandomState
    """
    last = last_of(machine)
    if not hasattr(last, "kernel"):
        raise ValidityError(
            f"{type(last).__name__} has no kernel to tell new rows by; give ratio=... in the "
            "place of new=..."
        )
    both, count = _joined(X, new), _length(X)
    labels = np.arange(_length(both)) >= count
    rows = TrainingRows(both, labels.astype(np.int64))
    half = rng.permutation(len(rows))
    train, test = half[::2], half[1::2]
    best, least = PENALTIES[-1], np.inf
    for penalty in PENALTIES:
        tried = rows.part(train).fit(with_last(machine, KernelLogistic(last.kernel, penalty)))
        P = np.clip(tried.predict_proba(rows.part(test).X)[:, 1], MIN_CHANCE, 1 - MIN_CHANCE)
        loss = -float(np.mean(np.log(np.where(labels[test], P, 1 - P))))
        if loss < least:
            best, least = penalty, loss
    return rows.fit(with_last(machine, KernelLogistic(last.kernel, best)))


def ratio_of(machine: BaseEstimator, X: Items) -> np.ndarray:
    """Return the ratio of densities at some items, but for a constant."""
    P = np.clip(machine.predict_proba(X)[:, 1], MIN_CHANCE, 1 - MIN_CHANCE)
    return P / (1 - P)


def _joined(X: Any, new: Any) -> Any:
    if is_frame(X):
        import pandas as pd

        return pd.concat([X, new], ignore_index=True)
    if sparse.issparse(X):
        return sparse.vstack([X, new], format="csr")
    if isinstance(X, np.ndarray):
        return np.concatenate([X, np.asarray(new)])
    return [*X, *new]


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
