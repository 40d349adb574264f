"""Promises: how often intervals and sets hold the truth, where not, and how wide they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercer.report.words import amount, count, noun, percent, plural, shorten

if TYPE_CHECKING:
    from mercer.studies import Study
    from mercer.studies.covered import Covered

__all__ = ["Promises", "promises"]

MAX_GROUPS = 8  # that are listed, the worst first
MAX_LABELS = 4  # of a set that are named
SHORT = 0.05  # by which a level is missed where a group is named in words


@dataclass(frozen=True)
class Promises:
    """What is said about intervals or sets."""

    kind: str  # "intervals" or "sets"
    summary: str
    guarantee: str
    by_size: list[tuple[str, str, str, str]]  # what, rows, inside, width
    by_group: list[tuple[str, str, str, str]]
    hidden: int
    grouped_by: str
    examples: list[tuple[str, str, str, str]]  # row, true, said, interval or set


def promises(study: Study) -> Promises | None:
    """Return what is said about intervals or sets; None where there are none."""
    found = study.coverage
    if found is None:
        return None
    regress = study.task == "regress"
    rows = plural(found.whole.rows, f"held-out {noun(study)}")
    width = amount(found.whole.width, 3) if regress else f"{found.whole.width:.2f} labels"
    what = "an interval" if regress else "a set of labels"
    summary = (
        f"Asked to be right {percent(found.level)} of the time, the model gives {what} in the "
        f"place of one answer. Of {rows}, {percent(found.whole.share)} had the truth inside; "
        f"{'the mean width is' if regress else 'sets have on average'} {width}."
    )
    worst = next((one for one in found.by_group if one.share < found.level - SHORT), None)
    if worst is not None:
        summary += (
            f" Less often for “{shorten(worst.what, 40)}”: {percent(worst.share)} of "
            f"{count(worst.rows)}. The level holds for all together, not for each kind."
        )
    return Promises(
        "intervals" if regress else "sets",
        summary,
        found.guarantee,
        [_line(study, one) for one in found.by_size],
        [_line(study, one) for one in found.by_group[:MAX_GROUPS]],
        max(len(found.by_group) - MAX_GROUPS, 0),
        shorten(found.grouped_by, 40),
        [_example(study, place) for place in (*found.narrow, *found.wide[::-1])],
    )


def _line(study: Study, one: Covered) -> tuple[str, str, str, str]:
    width = amount(one.width, 3) if study.task == "regress" else f"{one.width:.2f}"
    return shorten(one.what, 40), count(one.rows), percent(one.share), width


def _example(study: Study, place: int) -> tuple[str, str, str, str]:
    held, found = study.held_out, study.coverage
    assert found is not None
    row = int(study.sheet.rows[held.rows[place]])
    true, said = study.truth[place], held.prediction[place]
    if study.task == "regress":
        low, high = found.intervals[place]
        return str(row), amount(true), amount(said), f"{amount(low)} to {amount(high)}"
    assert study.classes is not None
    names = [shorten(label, 24) for label in study.classes[found.intervals[place]].tolist()]
    more = f" and {len(names) - MAX_LABELS} more" if len(names) > MAX_LABELS else ""
    return str(row), shorten(true, 24), shorten(said, 24), ", ".join(names[:MAX_LABELS]) + more
