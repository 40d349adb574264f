"""Coverage: how often intervals and sets hold the truth, and where they hold it less often.

All is about rows that were held out, with intervals that follow from the errors of other folds. A
level holds for all rows together; where it holds for some kinds of rows and fails for others, one
had better know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import is_frame
from mercer.errors import DomainError
from mercer.machines.conforming.known_errors import KnownErrors
from mercer.studies.case import number
from mercer.studies.covered import Coverage, Covered
from mercer.studies.known_errors import held_out_intervals, held_out_sets

if TYPE_CHECKING:
    from mercer.sources import Sheet
    from mercer.studies.results import HeldOutPredictions

__all__ = ["coverage_of"]

LEVEL = 0.9
BINS = 4  # of the size of predictions
MIN_ROWS = 20  # of a kind of rows, for a share of them to say something
EXAMPLES = 3  # of the widest intervals, and of the narrowest
MAX_LEVELS = 30  # of a column whose categories are looked at


def coverage_of(
    known: KnownErrors | None,
    held_out: HeldOutPredictions,
    truth: np.ndarray,
    classes: np.ndarray | None,
    sheet: Sheet,
) -> Coverage | None:
    """Return how often intervals hold the truth; None where there are too few rows for any.

    Parameters
    ----------
    known : KnownErrors or None
    held_out : HeldOutPredictions
    truth : ndarray
        Their targets.
    classes : ndarray or None
    sheet : Sheet
        All rows.
    """
    if known is None:
        return None
    w = np.ones(len(truth)) if known.kept.ratio is None else known.kept.ratio
    try:
        if classes is None:
            found = held_out_intervals(known, held_out, LEVEL)
        else:
            found = held_out_sets(known, held_out, LEVEL)
    except DomainError:
        return None
    if classes is None:
        inside = (found[:, 0] <= truth) & (truth <= found[:, 1])
        width = found[:, 1] - found[:, 0]
        by_size = tuple(_by_prediction(held_out.prediction.astype(float), inside, width, w))
    else:
        inside, width = _holds(found, truth, classes), found.sum(axis=1).astype(float)
        by_size = tuple(_by_labels(inside, width, w))
    if not np.isfinite(width).all():
        return None
    name, groups = _kinds(sheet, held_out.rows, truth if classes is not None else None)
    worst = sorted(_parts(groups, inside, width, w), key=lambda one: one.share)
    order = np.argsort(width, kind="stable")
    return Coverage(
        LEVEL,
        _covered("all", np.ones(len(truth), dtype=bool), inside, width, w),
        by_size,
        tuple(worst),
        name if worst else "",
        tuple(order[:EXAMPLES].tolist()),
        tuple(order[::-1][:EXAMPLES].tolist()),
        found,
        known.guarantee(LEVEL),
    )


def _covered(
    what: str, rows: np.ndarray, inside: np.ndarray, width: np.ndarray, w: np.ndarray
) -> Covered:
    """Return how often the truth is inside of some rows, which count by their weights."""
    weights = w[rows] if w[rows].sum() > 0 else np.ones(int(rows.sum()))
    share = float(np.average(inside[rows], weights=weights))
    return Covered(what, int(rows.sum()), share, float(np.average(width[rows], weights=weights)))


def _holds(sets: np.ndarray, truth: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Tell in which sets the true label is."""
    places = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.array([places.get(label, -1) for label in truth.tolist()])
    return (codes >= 0) & sets[np.arange(len(sets)), np.maximum(codes, 0)]


def _by_prediction(
    prediction: np.ndarray, inside: np.ndarray, width: np.ndarray, w: np.ndarray
) -> Iterator[Covered]:
    """Yield rows by the size of their predictions, about as many in each part."""
    if len(prediction) < BINS * MIN_ROWS:
        return
    order = np.argsort(prediction, kind="stable")
    for part in np.array_split(order, BINS):
        rows = np.zeros(len(prediction), dtype=bool)
        rows[part] = True
        ends = prediction[part[0]], prediction[part[-1]]
        yield _covered(f"{number(ends[0])} to {number(ends[1])}", rows, inside, width, w)


def _by_labels(inside: np.ndarray, width: np.ndarray, w: np.ndarray) -> Iterator[Covered]:
    """Yield rows by the number of labels in their sets."""
    for size in np.unique(width):
        rows = width == size
        name = "1 label" if size == 1 else f"{int(size)} labels"
        yield _covered(name, rows, inside, width, w)


def _kinds(sheet: Sheet, rows: np.ndarray, labels: np.ndarray | None) -> tuple[str, Any]:
    """Return what kinds of rows there are: groups, true classes, or categories of a column."""
    if sheet.roles is not None and sheet.roles.groups is not None:
        return sheet.roles.name("groups"), sheet.roles.groups[rows]
    if labels is not None:
        return "" if sheet.target is None else sheet.target.name, labels
    if is_frame(sheet.X):
        for column in sheet.used:
            if column.kind == "categorical" and 1 < column.distinct <= MAX_LEVELS:
                return column.name, sheet.X[column.name].astype(str).to_numpy()[rows]
    return "", None


def _parts(groups: Any, inside: np.ndarray, width: np.ndarray, w: np.ndarray) -> Iterator[Covered]:
    if groups is None:
        return
    for name in dict.fromkeys(groups.tolist()):
        rows = np.array([other == name for other in groups.tolist()])
        if rows.sum() >= MIN_ROWS:
            yield _covered(str(name), rows, inside, width, w)
