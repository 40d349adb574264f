"""Measures: what the held-out predictions are worth, each beside that of knowing nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.report.words import amount, count, error_with_se, percent

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = [
    "all_measures",
    "class_numbers",
    "class_rows",
    "horizon_rows",
    "measure_rows",
    "test_text",
    "threshold_text",
]

MAX_DIGITS = 6  # of a measure that is nearly perfect
# What a measure is, in a few words, and whether it is written as a share in percent.
MEANINGS = {
    "error": ("wrong answers", True),
    "mean cost": ("what a row costs by wrong answers, on average", False),
    "mean steps off": ("how many steps answers are off, on average", False),
    "mean absolute error": ("how far off answers are, on average", False),
    "balanced error": ("wrong answers, all classes counting alike", True),
    "log loss": ("surprise at the truth, 0 is perfect", False),
    "area under ROC": (
        "how often an item of a class (of two the rarer) is ranked above another one; 1 is "
        "perfect", False,
    ),
    "area under precision-recall": (
        "how pure the top of the ranking is, for the rarer of two classes or on average; 1 is "
        "perfect", False,
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
    name = study.measure if study.loss.special else "error"
    error = {"value": study.error, "baseline": study.baseline_error}
    others = {k: v for k, v in study.measures.as_dict().items() if k != name}
    return {name: error, **others}


def measure_rows(study: Study) -> list[tuple[str, str, str, str]]:
    """Return name, value, baseline and meaning of each measure; nothing if there is one only."""
    if not study.measures.names:
        return []
    return [_row(name, found) for name, found in all_measures(study).items()]


def class_numbers(study: Study) -> list[tuple[str, int, float, float]]:
    """Return of each class its rows, the share that got another answer, and of false answers.

    Nothing for numbers. Rows count by their weights; the last entry is the share of the answers
    with this class that are wrong, NaN where it was never said.
    """
    if study.task != "classify":
        return []
    y, said, weights = study.truth, study.held_out.prediction, study.tied.weights
    w = np.ones(len(y)) if weights is None else weights
    labels, sizes = np.unique(y, return_counts=True)
    found = []
    for label, size in sorted(zip(labels.tolist(), sizes.tolist(), strict=True), key=_large):
        own, answers = y == label, said == label
        missed = float(w[own & ~answers].sum() / w[own].sum())
        false = w[answers & ~own].sum() / w[answers].sum() if w[answers].sum() else np.nan
        found.append((str(label), size, missed, float(false)))
    return found


def class_rows(study: Study) -> list[tuple[str, str, str, str]]:
    """Return `class_numbers` as texts."""
    return [
        (label, count(size), percent(missed), "never said" if np.isnan(false) else percent(false))
        for label, size, missed, false in class_numbers(study)
    ]


def test_text(study: Study) -> str:
    """Say how the model did on a table that was kept aside; nothing without one."""
    test = study.test
    if test is None:
        return ""
    write: Any = percent if study.unit == "classify" else amount
    error = " ± ".join(filter(None, error_with_se(study.unit, test.error, test.error_se)))
    known = ""
    if test.known:
        known = f" {count(test.known)} of them stand in the table that was learned from, too."
    return (
        f"On the {count(test.rows)} rows of {test.name}, which had no part in anything, its "
        f"{study.measure} is {error}, and that of always saying the same "
        f"{write(test.baseline_error)}.{known}"
    )


def _large(item: tuple[Any, int]) -> tuple[int, str]:
    return -item[1], str(item[0])


def horizon_rows(study: Study) -> list[tuple[str, str, str, str]]:
    """Return how far ahead, how many rows, the error and its standard error."""
    roles = study.sheet.roles
    unit = " days" if roles is not None and roles.dated else ""
    found = []
    for one in study.horizons:
        ahead = f"{amount(one.low, 3)} to {amount(one.high, 3)}{unit}"
        found.append((ahead, count(one.rows), *error_with_se(study.unit, one.error, one.error_se)))
    return found


def threshold_text(study: Study) -> str:
    """Say from which probability on the dearer class of two is answered; nothing without costs."""
    if study.loss.kind != "cost":
        return ""
    told = sorted(study.loss.thresholds(), key=lambda one: one[1])
    if not told:
        return "Of each row that class is said whose expected cost is lowest."
    label, share = told[0]
    return f"The costs imply to say “{label}” from a probability of {percent(share)} on."


def _row(name: str, found: dict[str, float]) -> tuple[str, str, str, str]:
    meaning, share = MEANINGS.get(name, ("", False))
    value, base = found["value"], found["baseline"]
    write: Any = percent if share else _plain
    return name, write(value), write(base), meaning


def _plain(number: float) -> str:
    """Return a measure with three digits, or more where it would look perfect and is not.

    Examples
    --------
    >>> _plain(0.8164), _plain(0.99983), _plain(1.0)
    ('0.816', '0.9998', '1')
    """
    digits = 3
    while number < 1 and amount(number, digits) == "1" and digits < MAX_DIGITS:
        digits += 1
    return amount(number, digits)
