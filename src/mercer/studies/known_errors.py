"""Known errors of a study: how wrong its procedure was about rows it had not seen.

The outer folds of a study have predicted each of its rows by machines that had not seen it, all
choices included. These errors give the intervals and sets of the machine in the end. Where rows
came in groups, folds held out whole groups, and a group counts as one. How large an error is to be
expected is learned from the held-out errors, too, by a ridge regression with the machine's own
kernel; what it expected of a row is taken without the row (and its group).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import MercerError
from mercer.machines.conforming.closed_form import answers_without
from mercer.machines.conforming.fold_machines import TrainingRows, learn_sizes, log_sizes
from mercer.machines.conforming.held_out_scores import HeldOutScores
from mercer.machines.conforming.known_errors import SETS, KnownErrors
from mercer.machines.conforming.label_scores import label_scores
from mercer.studies.arrangement import Arrangement
from mercer.studies.preparation import take_rows

if TYPE_CHECKING:
    from mercer.studies.nested_cv import OuterFold
    from mercer.studies.results import HeldOutPredictions

__all__ = ["held_out_intervals", "held_out_sets", "known_errors_of"]


def known_errors_of(
    everything: OuterFold,
    held_out: HeldOutPredictions,
    truth: np.ndarray,
    classes: np.ndarray | None,
    tied: Arrangement,
) -> KnownErrors | None:
    """Return what is known of the errors of a study; None of a machine without probabilities.

    Parameters
    ----------
    everything : OuterFold
        The fold of all rows, with the machine in the end.
    held_out : HeldOutPredictions
    truth : ndarray
        Targets of the rows that were held out.
    classes : ndarray or None
    tied : Arrangement
        Of the rows that were held out.
    """
    groups = None if tied.groups is None else tied.codes()
    ordered, none = tied.time is not None, np.zeros(len(truth), dtype=np.int64)
    # Of one weight on average, which that of a new row is taken to be.
    ratio = None if tied.weights is None else tied.weights / tied.weights.mean()
    if classes is not None:
        if held_out.probabilities is None:
            return None
        scores = _scores(held_out.probabilities, truth, classes)
        return KnownErrors(HeldOutScores(scores, none, groups, ratio), ordered=ordered)
    # Errors are told on the scale on which the target is learned, where they are most alike.
    empty = HeldOutScores(np.zeros(0), none[:0])
    known = KnownErrors(
        empty, ordered=ordered, target=everything.scale.name, least=float(truth.min())
    )
    errors = known.on_scale(truth) - known.on_scale(held_out.prediction.astype(np.float64))
    sizes, scale = _sizes(everything, held_out.rows, errors, groups)
    scores = np.abs(errors) if scale is None else np.abs(errors) / scale
    return replace(
        known, kept=HeldOutScores(scores, none, groups, ratio), sizes=sizes, scale=scale
    )


def held_out_intervals(
    known: KnownErrors, held_out: HeldOutPredictions, level: float
) -> np.ndarray:
    """Return the intervals of held-out rows, of a fold by the errors of the other folds."""
    center = held_out.prediction.astype(np.float64)
    found = np.empty((len(center), 2))
    for test, others in _by_fold(known, held_out):
        scale = None if known.scale is None else known.scale[test][:, None]
        found[test] = replace(known, kept=others).around(center[test], scale, level)
    return found


def held_out_sets(known: KnownErrors, held_out: HeldOutPredictions, level: float) -> np.ndarray:
    """Return the sets of held-out rows, of a fold by the errors of the other folds."""
    P: Any = held_out.probabilities
    found = np.empty(P.shape, dtype=bool)
    for test, others in _by_fold(known, held_out):
        found[test] = replace(known, kept=others).sets(P[test], level)
    return found


def _by_fold(
    known: KnownErrors, held_out: HeldOutPredictions
) -> list[tuple[np.ndarray, HeldOutScores]]:
    """Return the rows of each fold, and the scores of the others."""
    kept, folds = known.kept, np.unique(held_out.fold)
    if len(folds) == 1:  # one part judged; its halves judge each other
        halves = np.arange(len(held_out.fold)) % 2
        if kept.groups is not None:
            halves = kept.groups % 2
        return [(np.flatnonzero(halves == k), _some(kept, halves != k)) for k in (0, 1)]
    return [(np.flatnonzero(held_out.fold == k), _some(kept, held_out.fold != k)) for k in folds]


def _some(kept: HeldOutScores, rows: np.ndarray) -> HeldOutScores:
    groups = None if kept.groups is None else kept.groups[rows]
    ratio = None if kept.ratio is None else kept.ratio[rows]
    return HeldOutScores(kept.scores[rows], kept.fold[rows], groups, ratio)


def _scores(P: np.ndarray, truth: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the score of each true label; infinite for one that the machine does not know."""
    places = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.array([places.get(label, -1) for label in truth.tolist()])
    scores = label_scores(P, SETS)[np.arange(len(P)), np.maximum(codes, 0)]
    return np.where(codes < 0, np.inf, scores)


def _sizes(
    everything: OuterFold, rows: np.ndarray, errors: np.ndarray, groups: np.ndarray | None
) -> tuple[Any, np.ndarray | None]:
    """Return a machine of the sizes of errors, and what it expects of rows it has not seen."""
    kernel, name = getattr(everything.machine, "kernel_", None), everything.winner.rows
    if kernel is None or not np.any(errors):
        return None, None
    X = take_rows(everything.prepared.rows(name), rows)
    part = TrainingRows(X, errors, None, groups)
    rng = np.random.RandomState(everything.seed)
    try:
        machine, learned = learn_sizes(None, _OfKernel(kernel), part, errors, rng)
        expected = np.asarray(machine.predict(X), dtype=np.float64)
        target, own = log_sizes(errors)[learned], part.part(learned)
        removals = [np.array([place]) for place in range(len(learned))]
        if own.groups is not None:
            removals = [np.flatnonzero(own.groups == k) for k in np.unique(own.groups)]
        found = answers_without(machine, own.X, target, removals)
    except MercerError:  # widths are then the same for all rows
        return None, None
    if found is None:
        return None, None
    expected[learned] = target - found.residuals
    return everything.prepared.model(name, machine), np.exp(expected)


@dataclass(frozen=True)
class _OfKernel:
    """A machine of which only the kernel matters."""

    kernel: Any
