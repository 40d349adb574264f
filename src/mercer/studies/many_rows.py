"""Very many rows: all of them through centers, or an exact fit to as many as there is time for.

An exact ridge regression on n rows takes n³ operations. Beyond some rows the function is either
sought among the sections at some centers, with all rows as data, or a sample of the rows is
learned from exactly. Which is better depends on the table: noise wants rows, detail wants centers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from mercer.domains import Items
from mercer.plans import Nystrom, Plan
from mercer.studies.arrangement import INDEPENDENT, Arrangement
from mercer.studies.preparation import take_rows

__all__ = ["ManyRows", "way_for_many_rows"]

CENTERS = 1500  # whose sections all rows are expressed in
TRIED_ROWS = 100_000  # that a first fit through centers learns from, to compare
TRIED_EXACTLY = 8000  # rows of the exact fit beside it
JUDGING_ROWS = 2000  # that neither has seen


@dataclass(frozen=True)
class ManyRows:
    """How very many rows are learned from.

    Attributes
    ----------
    machine : machine
        Not fitted yet.
    rows : ndarray of int or None
        What it learns from; None for all rows.
    reason : str
    """

    machine: Any
    rows: np.ndarray | None
    reason: str


def way_for_many_rows(
    machine: Any, X: Items, y: np.ndarray, exact: int, seed: int,
    arrangement: Arrangement = INDEPENDENT,
) -> ManyRows:  # fmt: skip
    """Return whether to learn through centers or from a sample, by rows that neither has seen.

    Parameters
    ----------
    machine : machine
        Not fitted yet.
    X, y
        More than `exact` rows.
    exact : int
        Rows that there is time to learn from exactly.
    seed : int
        Chooses the rows.
    arrangement : Arrangement
        Which rows belong together; with a time the last rows judge, and a sample is of the last.
    """
    rng = np.random.default_rng([seed, len(y)])
    order = rng.permutation(len(y))
    sample = np.sort(order[:exact])
    if arrangement.time is not None:
        sample = np.sort(np.argsort(arrangement.time, kind="stable")[len(y) - exact :])
    if not hasattr(machine, "follow") or not hasattr(machine, "penalty"):
        reason = f"a sample of {exact} rows, because this machine needs all pairs of rows"
        return ManyRows(machine, sample, reason)
    judging, rest = order[:JUDGING_ROWS], order[JUDGING_ROWS:]
    if not arrangement.independent:
        judging, rest = arrangement.kept_aside(JUDGING_ROWS, rng)
        rest = rng.permutation(rest)
    through = clone(machine).set_params(follow=Plan(approximate=Nystrom(CENTERS, seed=seed)))
    errors = [
        _error(clone(one), X, y, np.sort(rest[:count]), judging, arrangement.weights)
        for one, count in ((through, TRIED_ROWS), (machine, min(TRIED_EXACTLY, exact)))
    ]
    told = f"held-out error {errors[0]:.3g} through centers, {errors[1]:.3g} from a sample"
    if errors[0] <= errors[1]:
        reason = f"all {len(y)} rows through {CENTERS} centers ({told})"
        return ManyRows(through, None, reason)
    return ManyRows(machine, sample, f"a sample of {exact} rows, learned from exactly ({told})")


def _error(
    machine: Any, X: Items, y: np.ndarray, train: np.ndarray, test: np.ndarray,
    weights: np.ndarray | None,
) -> float:  # fmt: skip
    given = {} if weights is None else {"sample_weight": weights[train]}
    machine.fit(take_rows(X, train), y[train], **given)
    found = machine.predict(take_rows(X, test))
    own = None if weights is None else weights[test]
    if is_classifier(machine):
        return float(np.average(found != y[test], weights=own))
    return float(np.sqrt(np.average((found - y[test]) ** 2, weights=own)))
