"""Support vector classification along C, on one Gram matrix.

The rows and columns of a training fold are taken out of the Gram matrix once, for all C and all
pairs of classes. Ascending C begins each solution where the last one ended. Both answers are right
within `tol`, but they are not the same, and a label can depend on it: where one is in doubt the
fold is solved from the beginning, as the machine itself would.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.gram import Stored
from mercer.kernels.parameters import positive
from mercer.machines.bounds import limit_of, price
from mercer.machines.classifier import Arranged
from mercer.machines.margin import run
from mercer.machines.svc import SVC
from mercer.selection.splits import Split
from mercer.solvers.workingset import Effort
from mercer.threads import one_blas_thread

__all__ = ["along_C", "has_path"]

# Scores of two solutions differ by less than this many times `tol` (benchmarks/selection.py).
DOUBT = 4.0


def has_path(machine: Any) -> bool:
    """Tell whether a machine's solutions can be followed along C."""
    return type(machine) is SVC and not machine.probability and np.isfinite(price(machine.C))


def along_C(
    machine: SVC,
    prices: Sequence[float],
    K: np.ndarray,
    labels: tuple[np.ndarray, np.ndarray],
    weights: np.ndarray | None,
    split: Split,
) -> list[np.ndarray]:
    """Return the scores of a split's test items for ascending prices C.

    Parameters
    ----------
    machine : SVC
    prices : sequence of float
        Ascending.
    K : ndarray of shape (n, n)
    labels : (codes, classes)
    weights : ndarray of shape (n,), optional
    split : Split

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [3.0], [4.0], [0.5]]), np.array([0, 0, 1, 1, 0])
    >>> split = Split(np.arange(4), np.array([4]))
    >>> few, many = along_C(
    ...     SVC("linear"), [0.01, 10.0], X @ X.T, (codes, codes[[0, 2]]), None, split
    ... )
    >>> bool(many[0] < few[0] < 0)
    True
    """
    codes, classes = labels
    copy = clone(machine).set_params(warm_start=True)
    copy.classes_ = classes
    some = copy._arrange(codes[split.train], None if weights is None else weights[split.train])
    items = split.train[some.order]
    source = Stored(K.take(items, axis=0).take(items, axis=1))
    rows = K.take(split.test, axis=0).take(items, axis=1)
    tol = positive(machine, "tol", machine.tol)
    effort = Effort(tol, limit_of(machine.max_iter), len(items), len(items), 0)
    found = []
    for C in prices:
        copy.set_params(C=C)
        table, intercept = _solved(copy, some, source, classes, effort)
        scores = rows @ table + intercept
        if hasattr(copy, "_last") and C > prices[0] and _doubtful(copy, scores, tol, len(classes)):
            last = copy._last
            del copy._last
            table, intercept = _solved(copy, some, source, classes, effort)
            copy._last = last
            scores = rows @ table + intercept
        found.append(scores[:, 0] if scores.shape[1] == 1 else scores)
    return found


def _solved(
    machine: Any, some: Arranged, source: Stored, classes: np.ndarray, effort: Effort
) -> tuple[np.ndarray, np.ndarray]:
    """Solve all duels, from the last solution if there is one."""
    programs = machine._programs(some.rounds, some.weights, len(some.order))
    with one_blas_thread:
        optima = run(source, programs, effort)
    found = machine._gather(some, optima, classes)
    machine._last = float(machine.C), [optimum.coefficients for optimum in optima]
    return found


def _doubtful(machine: Any, scores: np.ndarray, tol: float, classes: int) -> bool:
    """Tell whether a label could change if the scores were a little different."""
    near = DOUBT * tol
    if scores.shape[1] == 1:
        return bool((np.abs(scores) <= near).any())
    if machine.multiclass == "ovr" or machine.break_ties:
        best = np.sort(scores, axis=1)
        return bool((best[:, -1] - best[:, -2] <= 2 * near).any())
    doubt = np.abs(scores) <= near
    some = doubt.any(axis=1)
    if not some.any():
        return False
    # Votes that are certain, and those that a class may have besides.
    shown = np.where(doubt, 0.0, scores)[some]
    certain, possible = np.zeros((2, len(shown), classes))
    for column, (i, j) in enumerate(combinations(range(classes), 2)):
        for who, wins in ((i, shown[:, column] > 0), (j, shown[:, column] < 0)):
            certain[wins, who] += 1
            possible[wins | (shown[:, column] == 0), who] += 1
    winners = machine._winners(scores[some])
    here = np.arange(len(winners))
    sure = certain[here, winners]
    possible[here, winners] = -1
    return bool((possible.max(axis=1) >= sure).any())
