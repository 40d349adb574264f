"""Horizons: how errors grow with the time between what was known and what is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mercer.studies.folds import pooled_error
from mercer.studies.horizon import Horizon
from mercer.studies.nested_cv import OuterFold

__all__ = ["horizons"]

PARTS = 4  # of about as many rows each
MIN_ROWS = 10  # in a part


def horizons(folds: Sequence[OuterFold]) -> tuple[Horizon, ...]:
    """Return errors by horizon; nothing where rows have no time, or are too few.

    The horizon of a row is its time less the last time that was learned from in its fold.
    """
    pairs = [(fold.tested.time, fold.arrangement.time) for fold in folds]
    ahead = [new - old.max() for new, old in pairs if new is not None and old is not None]
    if len(ahead) < len(pairs):
        return ()
    every = np.concatenate(ahead)
    parts = min(PARTS, len(every) // MIN_ROWS)
    if parts < 2:
        return ()
    edges = np.unique(np.quantile(every, np.linspace(0, 1, parts + 1)))
    found = []
    for k, (low, high) in enumerate(pairwise(edges)):
        last = k == len(edges) - 2
        inside = [(a >= low) & ((a <= high) if last else (a < high)) for a in ahead]
        some = [pair for pair in zip(folds, inside, strict=True) if pair[1].any()]
        if sum(int(there.sum()) for _, there in some) < MIN_ROWS:
            continue
        error, spread = pooled_error(
            [fold.truth[there] for fold, there in some],
            [fold.predictions[fold.winner.family.name][there] for fold, there in some],
            [fold.tested.part(np.flatnonzero(there)) for fold, there in some],
            some[0][0].loss,
        )
        values = every[np.concatenate(inside)]
        found.append(Horizon(float(values.min()), float(values.max()), len(values), error, spread))
    return tuple(found)
