"""Learning curves: would more rows help?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.utils import _safe_indexing

from mercer.errors import MercerError
from mercer.studies.contest import Arena
from mercer.studies.folds import portion
from mercer.studies.judgment import pooled
from mercer.studies.outcome import Curve

__all__ = ["learning_curve"]

SHARES = (1 / 8, 1 / 4, 1 / 2, 1.0)
FEWEST = 8  # rows to learn from, and 2 for each class


def learning_curve(
    arenas: Sequence[Arena], seed: int, step: Callable[..., None] = lambda *_: None
) -> Curve | None:
    """Return errors of held-out rows after learning from parts of the others.

    Kernel and parameters are those that were chosen for each fold.
    """
    sizes, errors, spreads = [], [], []
    smallest = min(len(arena.y) for arena in arenas)
    classes = 0 if arenas[0].y.dtype.kind == "f" else len(np.unique(arenas[0].y))
    for share in SHARES:
        if share * smallest < max(FEWEST, 2 * classes):
            step(len(arenas))
            continue
        count, truths, answers = [], [], []
        for number, arena in enumerate(arenas):
            rng = np.random.default_rng([seed, number])
            some = portion(arena.y, max(2, round(share * len(arena.y))), rng)
            try:
                answers.append(_answers(arena, some))
            except MercerError:  # too few rows for this machine
                break
            count.append(len(some))
            truths.append(arena.truth)
            step(1, f"{len(some)} rows")
        if len(count) == len(arenas):
            error, spread = pooled(truths, answers)
            sizes.append(round(float(np.mean(count))))
            errors.append(error)
            spreads.append(spread)
    if len(sizes) < 2:
        return None
    found = np.array(sizes), np.array(errors), np.array(spreads)
    return Curve(*found, _verdict(*found))


def _answers(arena: Arena, some: np.ndarray) -> np.ndarray:
    """Return what the winner says about held-out rows after learning from some others."""
    if len(some) == len(arena.y):  # which it has done already
        return arena.predictions[arena.winner.family.name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about few rows, of which this is about
        machine = arena.winner.machine()
        machine.fit(_safe_indexing(arena.X, some), arena.y[some])
        return machine.predict(arena.new)


def _verdict(sizes: np.ndarray, errors: np.ndarray, spreads: np.ndarray) -> str:
    """Say what the last doubling of the rows has brought."""
    gain, noise = errors[-2] - errors[-1], float(np.hypot(spreads[-2], spreads[-1]))
    factor = sizes[-1] / sizes[-2]
    times = "twice" if 1.7 < factor < 2.3 else f"{factor:.1f} times"
    if errors[-1] == 0:
        return "No error is left that more rows could remove."
    if gain > max(0.05 * errors[-2], noise):
        return (
            f"More rows would probably help: {times} as many lowered the error by "
            f"{gain / errors[-2]:.0%}."
        )
    if gain > 0.05 * errors[-2]:
        return (
            f"More rows might help: {times} as many lowered the error by {gain / errors[-2]:.0%}, "
            "which is within the noise of the folds."
        )
    return f"More rows of the same kind would hardly help: {times} as many changed little."
