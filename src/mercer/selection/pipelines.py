"""Pipelines that end with a machine: what comes before it is fitted once in each training fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.domains import GRAM_ROWS, Items, is_frame
from mercer.kernels import named
from mercer.machines.abilities import able
from mercer.selection.arguments import settings_key
from mercer.selection.evaluation import Account, Outcome
from mercer.selection.splits import Split

__all__ = ["is_shared_pipeline", "run_pipelines"]


def is_shared_pipeline(estimator: BaseEstimator) -> bool:
    """Tell whether an estimator is a pipeline of transformers with a machine of mercer's behind.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC
    >>> is_shared_pipeline(make_pipeline(StandardScaler(), SVC()))
    True
    """
    if type(estimator) is not Pipeline or estimator.memory is not None:
        return False
    *before, (_, last) = estimator.steps
    if not before or not able(last, "shared Gram matrix"):
        return False
    return last.similarities_suffice and named(last.kernel).domain != GRAM_ROWS


def run_pipelines(
    run: Callable[..., tuple[list[list[Outcome]], Account]],
    pipelines: Sequence[Pipeline],
    X: Items,
    y: ArrayLike | None,
    splits: Sequence[Split],
) -> tuple[list[list[Outcome]], Account]:
    """Return how each pipeline does on each split, and where the time went.

    Nothing of the test items is seen by the transformers: they are fitted on each training part,
    once for all machines behind them. `run(machines, X, y, splits)` evaluates those machines.
    """
    groups: dict[Any, list[int]] = {}
    for i, pipeline in enumerate(pipelines):
        key = tuple(_settings(step) for _, step in pipeline.steps[:-1])
        groups.setdefault(key, []).append(i)
    outcomes = [[Outcome() for _ in splits] for _ in pipelines]
    account = Account()
    for group in groups.values():
        for k, split in enumerate(splits):
            with account.of("transformers"):
                found = _transformed(pipelines[group[0]], X, y, split)
            if found is None:
                rows, spent = run([pipelines[i] for i in group], X, y, [split])
            else:
                items, labels, part = found
                machines = [pipelines[i].steps[-1][1] for i in group]
                rows, spent = run(machines, items, labels, [part])
            for i, row in zip(group, rows, strict=True):
                outcomes[i][k] = row[0]
            account.add(spent)
    return outcomes, account


def _settings(step: Any) -> Any:
    return step if isinstance(step, str) or step is None else settings_key(step)


def _transformed(
    pipeline: Pipeline, X: Items, y: ArrayLike | None, split: Split
) -> tuple[Any, Any, Split] | None:
    """Return the items as the machine would see them, or None if they cannot be put together."""
    before = clone(pipeline[:-1])
    try:
        learned = before.fit_transform(*(_safe_indexing(a, split.train) for a in (X, y)))
        held = before.transform(_safe_indexing(X, split.test))
    except Exception:  # whatever it is, fitting the whole pipeline will say it
        return None
    items = _joined(learned, held)
    if items is None:
        return None
    labels = _safe_indexing(y, np.concatenate([split.train, split.test]))
    n, m = len(split.train), len(split.test)
    return items, labels, replace(split, train=np.arange(n), test=np.arange(n, n + m), within=None)


def _joined(A: Any, B: Any) -> Any:
    """Return two parts of a table as one, or None."""
    if sparse.issparse(A) and sparse.issparse(B):
        return sparse.vstack([A, B], format="csr")
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        return np.concatenate([A, B])
    if is_frame(A) and is_frame(B):
        import pandas

        return pandas.concat([A, B], ignore_index=True)
    return None
