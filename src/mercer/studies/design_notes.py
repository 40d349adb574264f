"""Notes of a design: what a reader should know about how rows were dealt and errors counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mercer.sources.roles import RowRoles
from mercer.studies.arrangement import Arrangement
from mercer.studies.losses import Loss
from mercer.studies.target_scale import ScaleChoice, skewed

__all__ = ["chosen_scale_note", "loss_notes", "scale_notes", "tied_notes"]

SCALES_IN_WORDS = {
    "log": "its logarithm", "root": "its root", "fourth root": "its fourth root", "none": "it is",
}  # fmt: skip


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


def scale_notes(asked: str, y: np.ndarray | None) -> list[str]:
    """Say on which scales a target may be learned, if there are several."""
    if asked == "auto" and y is not None and skewed(y):
        scales = "its root, its fourth root or its logarithm" if y.min() > 0 else "a root of it"
        return [
            f"The target is positive and skewed, so that inner folds choose whether {scales} is "
            "learned; answers and errors stay in its own unit (--target-scale none: as it is)."
        ]
    if asked in ("auto", "none"):
        return []
    return [
        f"Of the target {SCALES_IN_WORDS[asked]} is learned; answers and errors stay in its unit."
    ]


def chosen_scale_note(choice: ScaleChoice, folds: Sequence[ScaleChoice]) -> str:
    """Say which scale was chosen, how often folds chose it, and what that is good for."""
    told = (
        f"Learned of the target: {SCALES_IN_WORDS[choice.name]}; errors by which kernel and "
        "parameters were chosen are on that scale, all others and the answers in its own unit."
    )
    if not choice.errors:
        return told
    errors = ", ".join(f"{error:.3g} ({name})" for name, error in choice.errors)
    counts = Counter(one.name for one in folds)
    return (
        f"{told} A quick ridge regression on inner folds had errors of {errors}; of the scales "
        "that are as good as the best one, but for chance, this has the likeliest errors. "
        f"{counts[choice.name]} of {len(folds)} outer folds chose the same."
    )
