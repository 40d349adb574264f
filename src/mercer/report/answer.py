"""The answer: one sentence, a verdict against looking at nothing, and a few large numbers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer.report.words import (
    amount,
    count,
    error_text,
    error_with_se,
    noun,
    of_many,
    percent,
    plural,
    shorten,
)

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = ["Answer", "answer", "beats_baseline"]

MAX_P = 0.05  # of a sign test, below which a gap is called clear
MIN_ERRORS = 2.0  # standard errors that a clear gap has at least


@dataclass(frozen=True)
class Answer:
    """What stands at the top of a report."""

    sentence: str
    verdict: str
    mood: str  # "good", "unsure" or "bad"
    tiles: list[tuple[str, str, str]]  # number, what it is, remark
    # The error beside that of looking at nothing: name, text, width in percent.
    bars: list[tuple[str, str, float]]
    meaning: str  # what the numbers with ± mean


def answer(study: Study) -> Answer:
    """Return what to say first about a study."""
    mood = beats_baseline(study)
    if study.task == "classify":
        label = usual(study)
        sentence, name = (
            _classification_sentence(study, label),
            f"always saying “{shorten(label, 24)}”",
        )
    else:
        sentence, name = _regression_sentence(study), "always saying the mean"
    error, baseline = _error(study), _number(study, study.baseline_error)
    most = max(study.error, study.baseline_error) or 1.0
    bars = [
        ("the chosen model", error, 100 * study.error / most),
        (name, baseline, 100 * study.baseline_error / most),
    ]
    meaning = (
        f"± is one standard error, from the spread of the {study.folds[0]} parts of the data that "
        "were held out in turn."
    )
    return Answer(sentence, _verdict(study, mood), mood, _tiles(study, name), bars, meaning)


def _error(study: Study) -> str:
    return error_text(study.task, study.error, study.error_se)


def usual(study: Study) -> str:
    """Return the most frequent class; of several, the first."""
    counts = Counter(study.y.tolist())
    return str(max(study.classes, key=lambda label: counts[label]))  # type: ignore[arg-type]


def _number(study: Study, value: float) -> str:
    return percent(value) if study.task == "classify" else amount(value)


def _target(study: Study) -> str:
    found = study.sheet.target
    return "label" if found is None else shorten(found.name, 60)


def _classification_sentence(study: Study, label: str) -> str:
    """Say how many of a hundred would be given the wrong class."""
    rows, target = f"{noun(study)}s", _target(study)
    n = len(study.y)
    if study.error == 0:
        bound, many = of_many(min(1.0, 3 / n))  # the rule of three
        return (
            f"Not one of the {count(n)} {rows} was given the wrong {target} while it was held "
            f"out; of {count(many)} new ones up to about {bound} might still be. Always saying "
            f"“{shorten(label, 40)}” would be wrong about {_share_of(study.baseline_error)}."
        )
    wrong, many = of_many(study.error)
    base = round(study.baseline_error * many)
    return (
        f"Of {count(many)} new {rows} about {count(wrong)} would be given the wrong {target} "
        f"({_error(study)}); always saying “{shorten(label, 40)}” would be wrong about "
        f"{count(base)} of {count(many)}."
    )


def _share_of(share: float) -> str:
    wrong, many = of_many(share)
    return f"{count(wrong)} of {count(many)}"


def _regression_sentence(study: Study) -> str:
    """Say how far off a predicted number would be."""
    mean = amount(float(np.mean(study.y)))
    return (
        f"For a new {noun(study)} the predicted {_target(study)} would be off by about "
        f"{_error(study)}; always saying the mean, {mean}, would be off by about "
        f"{amount(study.baseline_error)}."
    )


def _verdict(study: Study, mood: str) -> str:
    usual_answer = (
        "always giving the most frequent answer"
        if study.task == "classify"
        else "always giving the mean"
    )
    if mood == "good":
        return f"Better than {usual_answer}, by more than chance can explain."
    if mood == "unsure":
        return (
            f"Perhaps better than {usual_answer}, but chance could explain it. "
            "Do not rely on this yet."
        )
    return (
        f"Not better than {usual_answer}. As they were used here, these data do not tell the "
        f"{_target(study)}."
    )


def beats_baseline(study: Study) -> str:
    """Return "good" if the error is below the baseline's beyond chance, else "unsure" or "bad".

    The gap must be twice the standard error of the folds, and a paired test over the rows must
    find it unlikely: with classes, the sign test of the rows on which exactly one of both is
    right; with numbers, the differences of squared errors.
    """
    gap = study.baseline_error - study.error
    if not gap > 0:
        return "bad"
    spread = study.error_se if math.isfinite(study.error_se) else math.inf
    if gap <= MIN_ERRORS * spread:
        return "unsure"
    clear = _sign_test(study) if study.task == "classify" else _squares_test(study)
    return "good" if clear else "unsure"


def _sign_test(study: Study) -> bool:
    from scipy.stats import binomtest

    right = study.held_out.prediction == study.y
    lucky = study.y.astype(str) == usual(study)
    won, lost = int(np.sum(right & ~lucky)), int(np.sum(lucky & ~right))
    if won + lost == 0:
        return False
    return float(binomtest(won, won + lost, alternative="greater").pvalue) < MAX_P


def _squares_test(study: Study) -> bool:
    y, predicted = study.y, study.held_out.prediction
    gain = (y - y.mean()) ** 2 - (y - predicted) ** 2
    if len(gain) < 3:
        return False
    return float(gain.mean()) > MIN_ERRORS * float(gain.std(ddof=1)) / math.sqrt(len(gain))


def _tiles(study: Study, name: str) -> list[tuple[str, str, str]]:
    value, spread = error_with_se(study.task, study.error, study.error_se)
    rows = plural(len(study.y), noun(study))
    remark = f"± {spread}" if spread else ""
    if study.task == "classify":
        assert study.classes is not None
        return [
            (value, f"wrong on held-out {noun(study)}s", remark),
            (percent(study.baseline_error), "wrong by", name),
            (count(len(study.classes)), "classes", f"in {rows}"),
        ]
    explained = 1 - (study.error / study.baseline_error) ** 2 if study.baseline_error else math.nan
    return [
        (value, "root mean squared error", remark),
        (amount(study.baseline_error), "by", name),
        (percent(max(explained, 0.0)), "of the variance explained", f"in {rows}"),
    ]
