"""References: what everybody would have tried, fitted in the same outer folds.

A linear model, and the boosted trees of scikit-learn with their defaults. They choose nothing and
are not chosen; they tell how hard the table is, and whether another tool would do better.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from mercer.domains import is_frame
from mercer.forks import with_openmp
from mercer.machines import Encode
from mercer.studies.nested_cv import OuterFold, error_of
from mercer.studies.reference import Reference

__all__ = ["references", "tree_rows"]

LINEAR, TREES = "linear model", "boosted trees"
MAX_TREE_LEVELS = 254  # of a category that scikit-learn's trees can split; the others are one
PENALTIES = np.logspace(-3, 3, 7)
# Rows up to which trees grow on one thread: nodes are then so small that OpenMP's threads mostly
# wait for each other by spinning, beside other work a hundred times longer than they compute.
MAX_ROWS_ONE_THREAD = 10_000


def references(
    folds: Sequence[OuterFold], seed: int, step: Callable[..., None] = lambda *_: None
) -> tuple[Reference, ...]:
    """Return how a linear model and boosted trees do on the folds of a study."""
    regress = folds[0].y.dtype.kind == "f"
    found = []
    for name, tool, make in (
        (LINEAR, "RidgeCV" if regress else "LogisticRegression", _linear),
        (TREES, f"HistGradientBoosting{'Regressor' if regress else 'Classifier'}", _trees),
    ):
        answers, note = [], ""
        for fold in folds:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of tools that are not ours to mend
                    answers.append(with_openmp(partial(make, fold, regress, seed)))
            except (ValueError, FloatingPointError) as refusal:
                note = str(refusal)[:200]
                break
            step(1, name)
        error, spread = float("nan"), float("nan")
        if not note:
            error, spread = error_of(folds, answers)
        found.append(Reference(name, tool, error, spread, note))
    return tuple(found)


def _linear(fold: OuterFold, regress: bool, seed: int) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression, RidgeCV

    model: Any = LogisticRegression(max_iter=500)
    tied = fold.arrangement
    if regress:  # leaves out single rows, unless these belong together
        rng = np.random.default_rng(seed)
        model = RidgeCV(PENALTIES, cv=None if tied.independent else tied.splits(fold.y, 5, rng))
    X, new = fold.prepared.X, fold.prepared.new
    name = type(model).__name__.lower()
    if is_frame(X):
        model = make_pipeline(Encode(levels="onehot", random_state=seed), model)
        name = f"{name}__"
    else:
        name = ""
    given = {} if tied.weights is None else {f"{name}sample_weight": tied.weights}
    return _answers(model.fit(X, fold.y, **given), new, fold)


def _answers(model: Any, new: Any, fold: OuterFold) -> np.ndarray:
    """Return what a fitted tool says; where mistakes have costs, what should cost least."""
    if fold.loss is None or fold.loss.matrix is None:
        return np.asarray(model.predict(new))
    costs = fold.loss.part(model.classes_)
    return np.asarray(model.classes_)[(model.predict_proba(new) @ costs).argmin(axis=1)]


def _trees(fold: OuterFold, regress: bool, seed: int) -> np.ndarray:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    cls: Any = HistGradientBoostingRegressor if regress else HistGradientBoostingClassifier
    X, new = tree_rows(fold.prepared.X, fold.prepared.new)
    kinds = "from_dtype" if is_frame(X) else None
    model = cls(categorical_features=kinds, random_state=seed)
    tied = fold.arrangement
    if not tied.independent:  # rows that it would keep aside belong to others
        model.set_params(early_stopping=False)
    threads = 1 if len(fold.y) <= MAX_ROWS_ONE_THREAD else None  # None: as many as there are
    with threadpool_limits(threads, user_api="openmp"):
        return _answers(model.fit(X, fold.y, sample_weight=tied.weights), new, fold)


def tree_rows(X: Any, new: Any) -> tuple[Any, Any]:
    """Return rows as trees take them: texts as categories, of which the frequent ones count."""
    if not is_frame(X):
        dense = [rows.toarray() if hasattr(rows, "toarray") else rows for rows in (X, new)]
        return dense[0], dense[1]
    import pandas as pd

    own, other = X.copy(), new.copy()
    for name in own.columns:
        if own[name].dtype.kind in "iufb":
            continue
        texts = own[name].map(lambda entry: None if entry is None else str(entry))
        levels = texts.value_counts().index[:MAX_TREE_LEVELS]
        kind = pd.CategoricalDtype(levels)
        own[name] = texts.where(texts.isin(levels)).astype(kind)
        known = other[name].map(lambda entry: None if entry is None else str(entry))
        other[name] = known.where(known.isin(levels)).astype(kind)
    return own, other
