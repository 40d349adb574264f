"""Learning curves: errors on held-out rows after learning from parts of the others."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mercer.errors import MercerError
from mercer.studies.all_rows_error import AllRowsError, all_rows_error
from mercer.studies.nested_cv import OuterFold, error_of, shared_by
from mercer.studies.results import LearningCurve

__all__ = ["CURVE_SHARES", "LearnedPart", "expected_error", "learned_parts", "learning_curve"]

MAX_NOISE = 0.25  # of an error, up to which a small change of it says something
HALF = 1 / 2
CURVE_SHARES = (1 / 8, 1 / 4, HALF, 1.0)  # of the rows, that a learning curve learns from


@dataclass(frozen=True, eq=False)
class LearnedPart:
    """What machines say of held-out rows after learning from a part of the others.

    Attributes
    ----------
    share : float
    rows : int
        That each fold learned from, on average.
    answers : list of ndarray
        One for each fold.
    """

    share: float
    rows: int
    answers: list[np.ndarray]


def learned_parts(
    folds: Sequence[OuterFold], seed: int, step: Callable[..., None] = lambda *_: None
) -> list[LearnedPart]:
    """Return what is said of held-out rows after learning from parts of the others.

    Kernel and parameters are those that were chosen for each fold.
    """
    found = []
    smallest = min(len(fold.y) for fold in folds)
    classes = 0 if folds[0].y.dtype.kind == "f" else len(np.unique(folds[0].y))
    for share in CURVE_SHARES:
        few = share * smallest < max(8, 2 * classes)  # than a machine needs to learn at all
        if few or (share < 1 and share * smallest > folds[0].exact):  # more take too long
            step(len(folds))
            continue
        count, answers = [], []
        for number, fold in enumerate(folds):
            rng = np.random.default_rng([seed, number])
            wanted = max(2, round(share * len(fold.y)))
            some = fold.arrangement.portion(fold.y, wanted, rng)
            try:
                answers.append(_predict_after(fold, some))
            except MercerError:  # too few rows for this machine
                break
            count.append(len(some))
            step(1, f"{len(some)} rows")
        if len(count) == len(folds):
            found.append(LearnedPart(share, round(float(np.mean(count))), answers))
    return found


def learning_curve(
    folds: Sequence[OuterFold], parts: Sequence[LearnedPart]
) -> LearningCurve | None:
    """Return errors of held-out rows after learning from parts of the others."""
    if len(parts) < 2:
        return None
    judged = [error_of(folds, part.answers) for part in parts]
    sizes = np.array([part.rows for part in parts])
    errors, spreads = np.array(judged).T
    return LearningCurve(sizes, errors, spreads, _verdict(sizes, errors, spreads))


def expected_error(
    folds: Sequence[OuterFold], parts: Sequence[LearnedPart], everything: OuterFold
) -> AllRowsError:
    """Return what the machine that learns from all rows is expected to err.

    Where the past predicts the future, folds differ by more than their rows, and the error stays
    the one that was measured.
    """
    own = [fold.predictions[fold.winner.family.name] for fold in folds]
    half = next((part.answers for part in parts if part.share == HALF), None)
    if folds[0].arrangement.time is not None:
        half = None
    more = len(everything.y) / float(np.mean([len(fold.y) for fold in folds]))
    return all_rows_error(
        [fold.truth for fold in folds], own, half, more, [fold.tested for fold in folds],
        folds[0].loss, shared_by(folds),
    )  # fmt: skip


def _predict_after(fold: OuterFold, some: np.ndarray) -> np.ndarray:
    """Return what the winner says about held-out rows after learning from some others."""
    choice = fold.winner
    if len(some) == len(fold.y):  # which it has done already
        return fold.predictions[choice.family.name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about few rows, of which this is about
        return fold.predict(choice, fold.fit(choice, some))


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
    if noise > MAX_NOISE * errors[-2]:
        return (
            f"Whether more rows would help cannot be told: what {times} as many changed is "
            "within the noise of the folds."
        )
    return f"More rows of the same kind would hardly help: {times} as many changed little."
