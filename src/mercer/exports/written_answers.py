"""Written answers: what becomes of scores, in wrappers that answer otherwise than their machine.

Probabilities of a calibration, answers that are expected to cost least, and numbers that were
learned on another scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from mercer.explanations.terms import machine_inside
from mercer.exports.formula import ExportError, Term
from mercer.machines import (
    Calibrated,
    Conformal,
    KernelLogistic,
    LearnedMetric,
    ScaledTarget,
)
from mercer.machines.calibration import MIN_LEAD
from mercer.machines.target_powers import MAX_LOG, POWERS

__all__ = ["Decider", "decider_of", "in_unit", "probabilities"]

# What answers exactly as the machine inside, but for what stands here; others are refused.
WRAPPERS = (
    Calibrated, Conformal, LearnedMetric, ScaledTarget, GridSearchCV, RandomizedSearchCV,
)  # fmt: skip
MAX_ODDS = 700.0  # logarithms whose exponentials are finite numbers


@dataclass(frozen=True, eq=False)
class Decider:
    """The machine whose scores decide, and what is made of them.

    Attributes
    ----------
    machine : machine
    named : str
    calibrated : Calibrated or None
    scaled : ScaledTarget or None
    """

    machine: Any
    named: str
    calibrated: Calibrated | None = None
    scaled: ScaledTarget | None = None

    @property
    def costs(self) -> np.ndarray | None:
        """What each answer costs for each true class; None if the likeliest is answered."""
        found = None if self.calibrated is None else self.calibrated.costs
        return None if found is None else np.asarray(found, dtype=np.float64)


def decider_of(model: Any, exported: tuple[type, ...]) -> Decider:
    """Return the machine whose scores decide, inside those that only wrap it."""
    name = type(model).__name__
    inside = machine_inside(model) if isinstance(model, WRAPPERS) else None
    if inside is not None:
        found = replace(decider_of(inside, exported))
        if isinstance(model, Calibrated):
            found = replace(found, calibrated=model)
        if isinstance(model, ScaledTarget):
            found = replace(found, scaled=model)
        return replace(found, named=f"{name} of {found.named}")
    if type(model) not in exported:
        able = ", ".join(sorted(cls.__name__ for cls in exported))
        raise ExportError(f"the machine {name} cannot be exported; these can: {able}")
    return Decider(model, name)


def in_unit(scores: Term, scaled: ScaledTarget | None) -> Term:
    """Return numbers in the unit of the target."""
    if scaled is None or scaled.scale == "none":
        return scores
    residuals = np.asarray(scaled.residuals_, dtype=np.float64)
    if scaled.scale == "log":
        top = residuals.max()
        factor = float(top + np.log(np.mean(np.exp(residuals - top))))
        return (scores + factor).minimum(MAX_LOG).apply("exponential")
    each = (scores + residuals).maximum(0.0).power(1 / POWERS[scaled.scale])
    return each.sum() / float(len(residuals))


def probabilities(decider: Decider, scores: Term, count: int, pairs: bool) -> Term | None:
    """Return the probability of each class; None of a machine of which they are not exported.

    Parameters
    ----------
    decider : Decider
    scores : Term
    count : int
        Of classes.
    pairs : bool
        Whether scores are of pairs of classes, which vote.
    """
    known = decider.calibrated
    logistic = isinstance(decider.machine, KernelLogistic)
    if pairs or (known is None and not logistic):
        return None
    slope, shift = (1.0, 0.0) if known is None else (float(known.slope_), float(known.shift_))
    if count > 2:
        powers = ((scores - scores.largest()) * slope).apply("exponential")
        return powers / powers.sum()
    odds = (scores * slope + shift).minimum(MAX_ODDS).maximum(-MAX_ODDS)
    one = odds.formula.constant(1.0)
    second = one / ((odds * -1.0).apply("exponential") + 1.0)
    if known is not None and decider.costs is None:
        # A calibration and the machine may name different classes; then both are as likely.
        lead = (0.5 + MIN_LEAD) / (1 + MIN_LEAD)
        second = (scores > 0.0).where(second.maximum(lead), second.minimum(0.5 / (1 + MIN_LEAD)))
    return second.formula.concatenate([one - second, second])
