"""Estimated shares of columns, for machines whose scores no kernel divides exactly.

A row is made known column by column, in a random order, beginning with a known row; what each
column changes is its contribution in this order. The mean over orders estimates Shapley values,
with what is absent taken jointly from known rows; each order goes there and back again, which
cancels much of the noise (Mitchell, Cooper, Frank & Holmes, 2022). Whatever the orders, shares and
base add up to the score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Items, is_frame
from mercer.errors import DomainError, ValidityError
from mercer.explanations.shapley import ColumnReasons

__all__ = ["estimate_shares"]

BLOCK_ROWS = 20_000  # that the machine is asked about at once


def estimate_shares(
    machine: BaseEstimator,
    X: Items,
    reference: Items,
    *,
    orders: int = 20,
    random_state: int = 0,
) -> ColumnReasons:
    """Return estimates of what each column of the rows of `X` contributes to the answers.

    Any machine will do: it is asked about whole rows. Where `shapley` works it is exact, and
    faster.

    Parameters
    ----------
    machine : fitted machine or pipeline
        Numbers are divided in their unit. Of classes it is the decision value of the predicted
        one, or its log odds where there is none.
    X : DataFrame or array
    reference : DataFrame or array
        Known rows, from which absent columns are taken.
    orders : int
        How many orders of the columns are tried; an even number, as each is reversed too. The
        standard error falls with its root.
    random_state : int
        Chooses orders and known rows.

    Returns
    -------
    ColumnReasons
        With the number of orders, as shares are estimates.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> machine = KernelRidge("linear", penalty=0.01).fit(X, 2.0 * X[:, 0])
    >>> why = estimate_shares(machine, X[:2], X, orders=10)
    >>> bool(np.allclose(why.base + why.values.sum(axis=1), machine.predict(X[:2])))
    True
    """
    check_is_fitted(machine)
    if orders < 2 or orders % 2:
        raise ValidityError(f"orders must be an even number from 2 on, found {orders!r}")
    given, known = _table(X), _table(reference)
    if given.shape[1:] != known.shape[1:] or not len(known):
        raise DomainError(
            f"the reference must have rows with the {given.shape[1]} columns of X, found shape "
            f"{known.shape}"
        )
    names = list(X.columns) if is_frame(X) else list(range(given.shape[1]))
    rng = np.random.default_rng(random_state)
    toward, ask = _score_of(machine, X)
    width = len(names)
    values, base = np.zeros((len(given), width)), np.zeros(len(given))
    half = max(BLOCK_ROWS // ((width + 1) * max(len(given), 1)), 1)
    paths = [rng.permutation(width) for _ in range(orders // 2)]
    paths = [path for one in paths for path in (one, one[::-1])]
    starts = np.repeat(rng.integers(0, len(known), orders // 2), 2)
    for begin in range(0, orders, half):
        some = slice(begin, begin + half)
        for path, changes, first in _walks(ask, X, given, known, paths[some], starts[some]):
            values[:, path] += changes
            base += first
    scores = base / orders + values.sum(axis=1) / orders
    return ColumnReasons(tuple(names), values / orders, base / orders, scores, toward, orders)


def _walks(
    ask: Any, X: Any, given: np.ndarray, known: np.ndarray, paths: list[np.ndarray],
    starts: np.ndarray,
) -> Any:  # fmt: skip
    """Yield for each order the changes (rows, columns) in that order, and where it began."""
    rows, width = given.shape
    asked = np.empty((len(paths), width + 1, rows, width), dtype=given.dtype)
    for k, (path, start) in enumerate(zip(paths, starts, strict=True)):
        asked[k] = known[start]
        for step, column in enumerate(path):
            asked[k, step + 1 :, :, column] = given[:, column]
    flat = asked.reshape(-1, width)
    which = np.tile(np.arange(rows), len(paths) * (width + 1))
    scores = ask(_like(X, flat), which).reshape(len(paths), width + 1, rows)
    for path, score in zip(paths, scores, strict=True):
        yield path, np.diff(score, axis=0).T, score[0]


def _score_of(machine: Any, X: Any) -> tuple[list[Any], Any]:
    """Return for which label the score of each row speaks, and what gives scores."""
    classes = getattr(machine, "classes_", None)
    if classes is None:
        return [None] * len(X), lambda rows, which: np.asarray(machine.predict(rows), dtype=float)
    known = classes.tolist()
    labels = np.asarray(machine.predict(X)).tolist()
    codes = np.array([known.index(label) for label in labels])

    def ask(rows: Any, which: np.ndarray) -> np.ndarray:
        if hasattr(machine, "decision_function"):
            found = np.asarray(machine.decision_function(rows), dtype=np.float64)
            if found.ndim == 1:
                return np.where(codes[which] == 1, found, -found)
        else:
            P = np.clip(np.asarray(machine.predict_proba(rows)), 1e-12, 1 - 1e-12)
            found = np.log(P) - np.log1p(-P)
        return found[np.arange(len(found)), codes[which]]

    return labels, ask


def _table(X: Any) -> np.ndarray:
    """Return rows as an array, of any entries."""
    table = X.to_numpy(dtype=object) if is_frame(X) else np.asarray(X)
    if table.ndim != 2:
        raise DomainError("shares are of the columns of a table; these items have no columns")
    return np.asarray(table)


def _like(X: Any, rows: np.ndarray) -> Any:
    """Return rows as a table of the kind of `X`."""
    if not is_frame(X):
        return rows
    import pandas as pd

    columns = {name: pd.Series(rows[:, j]) for j, name in enumerate(X.columns)}
    return pd.DataFrame({n: one.astype(X[n].dtype) for n, one in columns.items()})
