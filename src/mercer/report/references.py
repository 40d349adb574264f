"""References: how a linear model and boosted trees do on the same held-out rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercer.report.words import error_text, error_with_se

if TYPE_CHECKING:
    from mercer.studies import Study
    from mercer.studies.reference import Reference

__all__ = ["ReferenceRow", "comparison", "reference_rows", "trees_are_better"]

TREES = "boosted trees"
MIN_ROWS = 5  # that one gets right and the other does not, so that a sign test can be below 5 %


@dataclass(frozen=True)
class ReferenceRow:
    """One line of the table of references."""

    name: str
    tool: str
    error: str
    note: str  # why it failed, if it did


def reference_rows(study: Study) -> list[ReferenceRow]:
    """Return what there is to tell of each reference."""
    return [
        ReferenceRow(
            one.name[:1].upper() + one.name[1:], one.tool,
            error_text(study.unit, one.error, one.error_se) if math.isfinite(one.error) else "",
            one.note.strip().splitlines()[0] if one.note.strip() else "",
        )
        for one in study.references
    ]  # fmt: skip


def comparison(study: Study) -> str:
    """Say how the references did beside the chosen model, in plain words; nothing without them."""
    told = [_compared(study, one) for one in study.references if math.isfinite(one.error)]
    return " ".join(told)


def trees_are_better(study: Study) -> str:
    """Say that boosted trees were better, if they were by more than noise; else nothing."""
    for one in study.references:
        if one.name == TREES and one.error < study.judged_error[0] and _clear(study, one):
            return _compared(study, one)
    return ""


def _compared(study: Study, one: Reference) -> str:
    both = (one.error, one.error_se), study.judged_error
    theirs, ours = (error_with_se(study.unit, *error)[0] for error in both)
    name = "Boosted trees were" if one.name == TREES else f"A {one.name} was"
    errors, gap = f"{theirs} against {ours}", study.judged_error[0] - one.error
    which = "better" if gap > 0 else "worse"
    if _clear(study, one):
        return f"{name} {which} here: {errors}."
    if abs(gap) > 0.5 * _noise(study, one):
        return f"{name} perhaps {which}: {errors}, which chance could explain."
    return f"{name} about as good: {errors}."


def _clear(study: Study, one: Reference) -> bool:
    """Tell whether two errors differ by more than noise; in classes, by some rows at least."""
    gap = abs(study.judged_error[0] - one.error)
    if study.unit == "classify" and round(gap * len(study.truth)) < MIN_ROWS:
        return False
    return gap > _noise(study, one)


def _noise(study: Study, one: Reference) -> float:
    """Return what a difference may be by chance.

    Both err on the same rows, and mostly on the same ones: where errors correlate by three
    quarters, this is two standard errors of their difference.
    """
    return math.hypot(*(s for s in (study.judged_error[1], one.error_se) if math.isfinite(s)))
