"""Measures: what the held-out predictions are worth, each beside that of knowing nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mercer.report.words import amount, percent

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = ["all_measures", "measure_rows"]

# What a measure is, in a few words, and whether it is written as a share in percent.
MEANINGS = {
    "error": ("wrong answers", True),
    "balanced error": ("wrong answers, all classes counting alike", True),
    "log loss": ("surprise at the truth, 0 is perfect", False),
    "area under ROC": (
        "how often an item of a class is ranked above another one; 1 is perfect", False,
    ),
    "area under precision-recall": (
        "how pure the top of the ranking is, means over classes; 1 is perfect", False,
    ),
}  # fmt: skip


def all_measures(study: Study) -> dict[str, dict[str, float]]:
    """Return value and baseline of the error and of each other measure, by name.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.studies import study
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> found = all_measures(study(rows, "animal", machine="prototype", budget=5))
    >>> list(found)[:3], found["error"]
    (['error', 'balanced error', 'log loss'], {'value': 0.0, 'baseline': 0.5})
    """
    error = {"value": study.error, "baseline": study.baseline_error}
    return {"error": error, **study.measures.as_dict()}


def measure_rows(study: Study) -> list[tuple[str, str, str, str]]:
    """Return name, value, baseline and meaning of each measure; nothing if there is one only."""
    if not study.measures.names:
        return []
    return [_row(name, found) for name, found in all_measures(study).items()]


def _row(name: str, found: dict[str, float]) -> tuple[str, str, str, str]:
    meaning, share = MEANINGS.get(name, ("", False))
    value, base = found["value"], found["baseline"]
    write: Any = percent if share else (lambda number: amount(number, 3))
    return name, write(value), write(base), meaning
