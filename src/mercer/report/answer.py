"""The answer: one sentence, a verdict against looking at nothing, and a few large numbers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer.report.references import trees_are_better
from mercer.report.words import (
    amount,
    count,
    error_text,
    error_with_se,
    held_out_parts,
    judges_all,
    noun,
    of_many,
    percent,
    plural,
    shorten,
)
from mercer.studies.folds import standard_error

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = ["Answer", "answer", "beats_baseline", "mood_of"]

MAX_P = 0.05  # of a sign test, below which a gap is called clear
MIN_ERRORS = 2.0  # standard errors that a clear gap has at least
MAX_MANY = 10_000  # rows, of which so many would be wrong
TOP = 0.1  # of the rows: those that a ranking puts first


@dataclass(frozen=True)
class Answer:
    """What stands at the top of a report."""

    sentence: str
    verdict: str
    mood: str  # "good", "ranks", "unsure" or "bad"
    tiles: list[tuple[str, str, str]]  # number, what it is, remark
    # The error beside that of looking at nothing: name, text, width in percent.
    bars: list[tuple[str, str, float]]
    meaning: str  # what the numbers with ± mean
    comparison: str  # with boosted trees, if these were better; else empty
    fewer: str  # how the error was where machines learned from fewer rows, if that was more


def answer(study: Study) -> Answer:
    """Return what to say first about a study."""
    mood = mood_of(study)
    if study.task == "regress" and study.loss.absolute:
        name = "always saying the median"
    elif study.task == "classify":
        name = f"always saying “{shorten(usual(study), 24)}”"
    else:
        name = "always saying the mean"
    error, baseline = _error(study), _number(study, study.baseline_error)
    most = max(study.error, study.baseline_error) or 1.0
    bars = [
        ("the chosen model", error, 100 * study.error / most),
        (name, baseline, 100 * study.baseline_error / most),
    ]
    return Answer(
        _sentence(study, mood), _verdict(study, mood), mood, _tiles(study, name, mood), bars,
        _meaning(study), trees_are_better(study), _fewer(study),
    )  # fmt: skip


def _sentence(study: Study, mood: str) -> str:
    """Say first what the model is good for, or that it is good for nothing."""
    if mood == "ranks":
        return _ranking_sentence(study, usual(study))
    if study.loss.special and study.task == "classify":
        found = _loss_sentence(study)
    elif study.task == "classify":
        found = _classification_sentence(study, usual(study))
    else:
        found = _regression_sentence(study)
    return f"Nothing was learned: {found[0].lower()}{found[1:]}" if mood == "bad" else found


def _meaning(study: Study) -> str:
    spread = "" if len(set(study.held_out.fold.tolist())) == 1 else "from the spread of "
    found = f"± is one standard error, {spread or 'of '}{held_out_parts(study)}."
    if study.extrapolated:
        return f"{found} {_fewer(study)}"
    if judges_all(study):
        return found
    return f"{found} The model has learned from all {count(len(study.y))} in the end."


def _fewer(study: Study) -> str:
    """Say what was measured, if less is expected of the model in the end."""
    if not study.extrapolated:
        return ""
    return (
        f"{error_text(study.unit, *study.judged_error)} were measured in folds that learned from "
        "fewer rows, of which more clearly help; the model has learned from all."
    )


def _error(study: Study) -> str:
    return error_text(study.unit, study.error, study.error_se)


def usual(study: Study) -> str:
    """Return the class that is best said always: the most frequent one, of several the first."""
    if study.loss.special:
        return str(study.always)
    counts = Counter(study.y.tolist())
    return str(max(study.classes, key=lambda label: counts[label]))  # type: ignore[arg-type]


def _number(study: Study, value: float) -> str:
    return percent(value) if study.unit == "classify" else amount(value)


def _target(study: Study) -> str:
    found = study.sheet.target
    return "label" if found is None else shorten(found.name, 60)


def _classification_sentence(study: Study, label: str) -> str:
    """Say how many of a hundred would be given the wrong class."""
    rows, target = f"{noun(study)}s", _target(study)
    n = len(study.truth)
    if study.error == 0:
        bound, many = of_many(min(1.0, 3 / n))  # the rule of three
        which = (
            f"the {count(n)} {rows} was given the wrong {target} while it was held out"
            if judges_all(study)
            else f"the {count(n)} {rows} that were kept aside was given the wrong {target}"
        )
        return (
            f"Not one of {which}; of {count(many)} new ones up to about {bound} might still be. "
            f"Always saying “{shorten(label, 40)}” would be wrong about "
            f"{_share_of(study.baseline_error)}."
        )
    wrong, many = of_many(study.error)
    base = round(study.baseline_error * many)
    if wrong == base and study.error != study.baseline_error and many < MAX_MANY:
        many *= 10  # so that what differs is told as two numbers
        wrong, base = round(study.error * many), round(study.baseline_error * many)
    return (
        f"Of {count(many)} new {rows} about {count(wrong)} would be given the wrong {target} "
        f"({_error(study)}); always saying “{shorten(label, 40)}” would be wrong about "
        f"{count(base)} of {count(many)}."
    )


def _loss_sentence(study: Study) -> str:
    """Say what a new row would lose on average."""
    error, item, target = _error(study), noun(study), _target(study)
    always = f"always saying “{shorten(usual(study), 40)}”"
    base = _number(study, study.baseline_error)
    if study.loss.kind == "cost":
        return f"A new {item} would cost about {error} on average; {always} would cost {base}."
    if study.loss.kind == "steps":
        return (
            f"For a new {item} the answer would be off by about {error} steps of {target}; "
            f"{always} would be off by {base}."
        )
    return (
        f"With all classes of {target} counting alike, {error} of new {item}s would be given the "
        f"wrong one; always saying the same would be wrong in {base}."
    )


def _ranking_sentence(study: Study, label: str) -> str:
    """Say what probabilities are good for where answers are no better than always the same."""
    item, area = noun(study), study.measures.as_dict()["area under ROC"]["value"]
    pairs = f"first in {100 * area:.0f} of 100 cases"
    assert study.classes is not None
    if len(study.classes) > 2:
        good = f"of two {item}s, of which one belongs to a class, it ranks that one {pairs}"
    else:
        rarer = next(one for one in study.classes.tolist() if str(one) != label)
        name = f"“{shorten(rarer, 40)}”"
        good = (
            f"of a {item} that is {name} and one that is not it ranks the right one {pairs}, and "
            f"{_top(study, rarer, name)}"
        )
    better = "not clearly" if study.error < study.baseline_error else "no"
    return (
        f"Good for ranking, not for naming: {good}. Its answers are {better} better than always "
        f"saying “{shorten(label, 40)}”, which is wrong about {_share_of(study.baseline_error)}."
    )


def _top(study: Study, label: object, name: str) -> str:
    """Say what is among the items with the highest probabilities of a class."""
    assert study.classes is not None and study.held_out.probabilities is not None
    sure = study.held_out.probabilities[:, study.classes.tolist().index(label)]
    own = study.truth == label
    first = own[np.argsort(-sure, kind="stable")[: max(1, round(TOP * len(sure)))]]
    most = f"the {TOP:.0%} of {noun(study)}s that it suspects most"
    if own.mean() < TOP:
        return f"{most} hold {first.sum() / max(own.sum(), 1):.0%} of all {name}"
    return f"of {most} {first.mean():.0%} are {name}, of all {own.mean():.0%}"


def _share_of(share: float) -> str:
    wrong, many = of_many(share)
    return f"{count(wrong)} of {count(many)}"


def _regression_sentence(study: Study) -> str:
    """Say how far off a predicted number would be."""
    absolute = study.loss.absolute
    mean = amount(float(np.median(study.y) if absolute else np.mean(study.y)))
    middle = "median" if absolute else "mean"
    return (
        f"For a new {noun(study)} the predicted {_target(study)} would be off by about "
        f"{_error(study)}; always saying the {middle}, {mean}, would be off by about "
        f"{amount(study.baseline_error)}."
    )


def _verdict(study: Study, mood: str) -> str:
    usual_answer = (
        "always giving the most frequent answer"
        if study.task == "classify"
        else "always giving the mean"
    )
    if study.loss.special:
        usual_answer = "always giving the best single answer"
    if mood == "good":
        return f"Better than {usual_answer}, by more than chance can explain."
    if mood == "ranks":
        return (
            "Its probabilities are better than the shares of the classes, by more than chance can "
            "explain. Use them to decide what to look at first."
        )
    if mood == "unsure":
        return (
            f"Perhaps better than {usual_answer}, but chance could explain it. "
            "Do not rely on this yet."
        )
    return (
        f"Not better than {usual_answer}. As they were used here, these data do not tell the "
        f"{_target(study)}."
    )


def mood_of(study: Study) -> str:
    """Return "good", "ranks", "unsure" or "bad": by the error, then by the other measures.

    A model whose error is not clearly below that of the most frequent class may still know which
    items to look at first: then its probabilities are better than the shares of the classes.
    """
    found = beats_baseline(study)
    if found == "good" or not study.measures.informative or study.loss.special:
        return found
    ranks = study.measures.as_dict().get("area under ROC", {"value": 0.0})["value"] > 0.5
    return "ranks" if ranks and study.held_out.probabilities is not None else found


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
    if study.loss.special:
        loss, always = study.loss, np.full(len(study.truth), study.always)
        gain = loss.of(study.truth, always) - loss.of(study.truth, study.held_out.prediction)
        return "good" if _gains(study, gain) else "unsure"
    clear = _sign_test(study) if study.task == "classify" else _squares_test(study)
    return "good" if clear else "unsure"


def _sign_test(study: Study) -> bool:
    from scipy.stats import binomtest

    right = study.held_out.prediction == study.truth
    lucky = study.truth.astype(str) == usual(study)
    if study.tied.groups is not None or study.tied.weights is not None:
        return _gains(study, right.astype(float) - lucky)
    won, lost = int(np.sum(right & ~lucky)), int(np.sum(lucky & ~right))
    if won + lost == 0:
        return False
    return float(binomtest(won, won + lost, alternative="greater").pvalue) < MAX_P


def _squares_test(study: Study) -> bool:
    y, predicted = study.truth, study.held_out.prediction
    gain = (y - np.average(y, weights=study.tied.weights)) ** 2 - (y - predicted) ** 2
    return _gains(study, gain)


def _gains(study: Study, gain: np.ndarray) -> bool:
    """Tell whether a gain of rows is above zero by more than chance, rows of a group together."""
    tied = study.tied
    if len(gain) < 3:
        return False
    weights = np.ones(len(gain)) if tied.weights is None else tied.weights
    spread = standard_error(gain, weights, tied.groups)
    return float(np.average(gain, weights=weights)) > MIN_ERRORS * spread


def _tiles(study: Study, name: str, mood: str) -> list[tuple[str, str, str]]:
    value, spread = error_with_se(study.unit, study.error, study.error_se)
    rows, judged = (plural(len(y), noun(study)) for y in (study.y, study.truth))
    remark = f"± {spread}" if spread else ""
    if study.loss.special:
        what = (
            study.measure if study.loss.kind != "cost" else f"{study.measure} of a {noun(study)}"
        )
        return [(value, what, remark), (_number(study, study.baseline_error), "by", name),
                (count(len(study.truth)), f"{noun(study)}s", "were held out")]  # fmt: skip
    if study.task == "classify":
        assert study.classes is not None
        last = (count(len(study.classes)), "classes", f"in {rows}")
        if mood == "ranks":
            area = study.measures.as_dict()["area under ROC"]
            last = (f"{area['value']:.2f}", "area under ROC;", f"{area['baseline']:.2g} is chance")
        return [
            (value, f"wrong on held-out {noun(study)}s", remark),
            (percent(study.baseline_error), "wrong by", name),
            last,
        ]
    explained = 1 - (study.error / study.baseline_error) ** 2 if study.baseline_error else math.nan
    return [
        (value, "root mean squared error", remark),
        (amount(study.baseline_error), "by", name),
        (percent(max(explained, 0.0)), "of the variance explained", f"in {judged}"),
    ]
