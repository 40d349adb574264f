"""Promises: intervals and sets of a saved model's answers, from what its file knows of errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.machines import Conformal
from mercer.machines.conforming.known_errors import KnownErrors
from mercer.machines.conforming.levels import check_level

if TYPE_CHECKING:
    from mercer.studies.predictions import Predictions

__all__ = ["guarantee_of", "promise_of"]


def promise_of(
    machine: Any, notes: dict[str, Any], interval: float | None, sets: float | None
) -> Callable[[Any, Predictions], Predictions] | None:
    """Return what adds intervals or sets to predictions; None if none are wanted."""
    if interval is None and sets is None:
        return None
    if interval is not None and sets is not None:
        raise DomainError("a model has intervals or sets, not both; ask for one of them")
    level = check_level(interval if interval is not None else sets)
    classes = getattr(machine, "classes_", None)
    if interval is not None and classes is not None:
        raise DomainError(
            "this model predicts labels, which have no intervals; ask for sets of them (--sets "
            f"{level:g})"
        )
    if sets is not None and classes is None:
        raise DomainError(
            "this model predicts numbers, which have no sets; ask for intervals (--interval "
            f"{level:g})"
        )
    if isinstance(machine, Conformal):
        machine.scores_.require(level)
        return lambda X, found: _conformal(machine, X, found, level)
    known = _errors_of(machine, notes)
    known.kept.require(level)
    return lambda X, found: _known(known, machine, X, found, level)


def guarantee_of(machine: Any, notes: dict[str, Any], level: float) -> str:
    """Say what the intervals or sets of a saved model promise."""
    if isinstance(machine, Conformal):
        return machine.guarantee(level)
    return _errors_of(machine, notes).guarantee(level)


def _conformal(machine: Conformal, X: Any, found: Predictions, level: float) -> Predictions:
    if getattr(machine, "classes_", None) is None:
        return replace(found, intervals=machine.predict_interval(X, level))
    return replace(found, sets=machine.predict_set(X, level), classes=machine.classes_)


def _known(
    known: KnownErrors, machine: Any, X: Any, found: Predictions, level: float
) -> Predictions:
    if getattr(machine, "classes_", None) is None:
        return replace(found, intervals=known.intervals(X, found.prediction, level))
    P = found.probabilities
    chances = machine.predict_proba(X) if P is None else P
    labels = machine.classes_
    return replace(found, sets=known.sets(np.asarray(chances), level), classes=labels)


def _errors_of(machine: Any, notes: dict[str, Any]) -> KnownErrors:
    found = notes.get("errors")
    if isinstance(found, KnownErrors):
        return found
    without = "the machine gives no probabilities" if _without(machine) else "it keeps no errors"
    raise DomainError(
        f"intervals and sets follow from errors on held-out rows, but of this model file {without}"
        "; write it with `mercer fit`, or save mercer.Conformal(machine).fit(X, y)"
    )


def _without(machine: Any) -> bool:
    labels = getattr(machine, "classes_", None) is not None
    return labels and not hasattr(machine, "predict_proba")
