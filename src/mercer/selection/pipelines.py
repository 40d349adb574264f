"""Pipelines that end with a machine: what comes before it is fitted once in each training fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.domains import GRAM_ROWS, is_frame
from mercer.kernels import named
from mercer.machines import Machine
from mercer.selection.account import Account, Outcome
from mercer.selection.candidates import set_apart
from mercer.selection.fits import complain
from mercer.selection.scoring import Scoring
from mercer.selection.splits import Split
from mercer.selection.study import Study

__all__ = ["examine", "is_chain"]


def is_chain(estimator: Any) -> bool:
    """Tell whether an estimator is a pipeline of transformers with a machine of mercer's behind.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC
    >>> is_chain(make_pipeline(StandardScaler(), SVC()))
    True
    """
    if type(estimator) is not Pipeline or estimator.memory is not None:
        return False
    *before, (_, last) = estimator.steps
    if not before or not isinstance(last, Machine):
        return False
    return last.similarities_suffice and named(last.kernel).domain != GRAM_ROWS


def examine(
    machines: Sequence[Any],
    X: Any,
    y: Any,
    splits: Sequence[Split],
    scoring: Scoring,
    params: dict[str, Any],
    **how: Any,
) -> tuple[list[list[Outcome]], Account]:
    """Return how each machine or pipeline does on each split, and where the time went."""
    # What `fit_transform` gives need not be what `transform` will say of the same items.
    whole = bool(params) or scoring.own or how.get("train_scores", False)
    if not whole and all(is_chain(machine) for machine in machines):
        outcomes, account = _run_chains(machines, X, y, splits, scoring, **how)
    else:
        study = Study(X, y, splits, scoring, params, **how)
        outcomes, account = study.run(machines), study.account
    complain(outcomes, how.get("error_score", np.nan))
    return outcomes, account


def _run_chains(
    chains: Sequence[Pipeline],
    X: Any,
    y: Any,
    splits: Sequence[Split],
    scoring: Scoring,
    **how: Any,
) -> tuple[list[list[Outcome]], Account]:
    """Return how each pipeline does on each split, and where the time went.

    Nothing of the test items is seen by the transformers: they are fitted on each training part,
    once for all machines behind them.
    """
    groups: dict[Any, list[int]] = {}
    for place, chain in enumerate(chains):
        key = tuple(_settings(step) for _, step in chain.steps[:-1])
        groups.setdefault(key, []).append(place)
    outcomes = [[Outcome() for _ in splits] for _ in chains]
    account = Account()
    for places in groups.values():
        for k, split in enumerate(splits):
            with account.of("transformers"):
                found = _transformed(chains[places[0]], X, y, split)
            if found is None:
                study = Study(X, y, [split], scoring, **how)
                rows = study.run([chains[place] for place in places])
            else:
                items, labels, part = found
                study = Study(items, labels, [part], scoring, **how)
                rows = study.run([chains[place].steps[-1][1] for place in places])
            for place, row in zip(places, rows, strict=True):
                outcomes[place][k] = row[0]
            account.add(study.account)
    return outcomes, account


def _settings(step: Any) -> Any:
    return step if isinstance(step, str) or step is None else set_apart(step)


def _transformed(chain: Pipeline, X: Any, y: Any, split: Split) -> tuple[Any, Any, Split] | None:
    """Return the items as the machine would see them, or None if they cannot be put together."""
    before = clone(chain[:-1])
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
