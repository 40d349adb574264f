"""Notes of a design: what a reader should know about how rows were dealt and errors counted."""

from __future__ import annotations

import numpy as np

from mercer.sources.roles import RowRoles
from mercer.studies.arrangement import Arrangement
from mercer.studies.losses import Loss

__all__ = ["loss_notes", "tied_notes"]


def tied_notes(tied: Arrangement, roles: RowRoles | None) -> list[str]:
    """Say how rows that belong together were dealt."""
    if roles is None:
        return []
    found = []
    if tied.groups is not None:
        count = len(np.unique(tied.groups))
        found.append(
            f"Rows with the same {roles.name('groups')!r} ({count} of them) are never on both "
            "sides of a split, where folds judge, choose and calibrate; the error is that of "
            f"new ones of {roles.name('groups')!r}."
        )
    if tied.time is not None:
        found.append(
            f"By {roles.name('time')!r} the past predicts the future, where folds judge, "
            "choose and calibrate; the first rows only teach."
        )
    if tied.weights is not None:
        found.append(f"Rows count by {roles.name('weights')!r}, in learning and in all errors.")
    return found


def loss_notes(loss: Loss | None) -> list[str]:
    """Say what an error is, if it is not as usual."""
    if loss is None:
        return []
    chosen = "Kernel, parameters and the kind of machine are chosen"
    if loss.by == "ranking":
        return [f"{chosen} by the area under ROC."]
    if loss.by == "surprise":
        return [f"{chosen} by the log loss of calibrated probabilities."]
    if loss.absolute:
        return [f"{chosen}, and judged, by the mean absolute error."]
    if loss.matrix is None:
        return []
    told = {
        "cost": "the cost of each mistake", "steps": "how many steps an answer is off",
        "balanced": "the error with all classes counting alike",
    }[loss.kind]  # fmt: skip
    found = (
        f"{chosen}, and judged, by {told}; of all answers the one is given that is expected "
        "to be best, by probabilities that were calibrated inside folds."
    )
    limits = ", ".join(f"{label!r} from {p:.3g} on" for label, p in loss.thresholds()[:1])
    return [found + (f" By probability that is {limits}." if limits else "")]
