"""Pipelines that end with a machine: what comes before it is fitted once in each training fold."""

from __future__ import annotations

from collections.abc import Sequence
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
from mercer.selection.evaluation import Account, Outcome, warn_failures
from mercer.selection.scoring import Scoring
from mercer.selection.shared_gram import SharedGramEvaluation
from mercer.selection.splits import Split
from mercer.selection.validation import settings_key

__all__ = ["evaluate", "is_shared_pipeline"]


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


def evaluate(
    machines: Sequence[BaseEstimator],
    X: Items,
    y: ArrayLike | None,
    splits: Sequence[Split],
    scoring: Scoring,
    params: dict[str, Any],
    **how: Any,
) -> tuple[list[list[Outcome]], Account]:
    """Return how each machine or pipeline does on each split, and where the time went."""
    # What `fit_transform` gives need not be what `transform` will say of the same items.
    whole = bool(params) or scoring.own or how.get("train_scores", False)
    if not whole and all(is_shared_pipeline(machine) for machine in machines):
        outcomes, account = _run_pipelines(machines, X, y, splits, scoring, **how)
    else:
        evaluation = SharedGramEvaluation(X, y, splits, scoring, params, **how)
        outcomes, account = evaluation.run(machines), evaluation.account
    warn_failures(outcomes, how.get("error_score", np.nan))
    return outcomes, account


def _run_pipelines(
    pipelines: Sequence[Pipeline],
    X: Items,
    y: ArrayLike | None,
    splits: Sequence[Split],
    scoring: Scoring,
    **how: Any,
) -> tuple[list[list[Outcome]], Account]:
    """Return how each pipeline does on each split, and where the time went.

    Nothing of the test items is seen by the transformers: they are fitted on each training part,
    once for all machines behind them.
    """
    groups: dict[Any, list[int]] = {}
    for place, pipeline in enumerate(pipelines):
        key = tuple(_settings(step) for _, step in pipeline.steps[:-1])
        groups.setdefault(key, []).append(place)
    outcomes = [[Outcome() for _ in splits] for _ in pipelines]
    account = Account()
    for places in groups.values():
        for k, split in enumerate(splits):
            with account.of("transformers"):
                found = _transformed(pipelines[places[0]], X, y, split)
            if found is None:
                evaluation = SharedGramEvaluation(X, y, [split], scoring, **how)
                rows = evaluation.run([pipelines[place] for place in places])
            else:
                items, labels, part = found
                evaluation = SharedGramEvaluation(items, labels, [part], scoring, **how)
                rows = evaluation.run([pipelines[place].steps[-1][1] for place in places])
            for place, row in zip(places, rows, strict=True):
                outcomes[place][k] = row[0]
            account.add(evaluation.account)
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
