"""Mistakes: which classes are taken for which, how far numbers are off, what sureness is worth."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer.plots import plot_agreement, plot_calibration, plot_confusion, reliability
from mercer.report.anatomy import noun
from mercer.report.pictures import Picture, drawing, picture
from mercer.report.words import amount, count, percent, plural, shorten

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = ["Calibration", "Confusion", "Residuals", "calibration", "confusion", "residuals"]

MOST_CLASSES = 12
MOST_PAIRS = 8
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LEAST_IN_BIN = 15
SMALLEST = 1e-15  # probability, so that the logarithm of zero does not hide all other rows


@dataclass(frozen=True)
class Confusion:
    """Which classes were taken for which.

    Attributes
    ----------
    summary : str
    picture : Picture
    classes : list of (class, rows, share found, share right when said, most often taken for)
    pairs : list of (true class, what was said, times, share of the true class)
        The most frequent mistakes.
    hidden : int
        Classes that are not shown.
    """

    summary: str
    picture: Picture
    classes: list[tuple[str, str, str, str, str]]
    pairs: list[tuple[str, str, str, str]]
    hidden: int


def confusion(study: Study) -> Confusion:
    """Return where a classifier goes wrong."""
    assert study.classes is not None
    y, said = study.y.tolist(), study.held_out.prediction.tolist()
    rows, answers = Counter(y), Counter(said)
    wrong = Counter((t, s) for t, s in zip(y, said, strict=True) if t != s)
    known = study.classes.tolist()
    labels = [*known, *sorted(set(y) - set(known))]  # classes too rare to be learned come last
    shown = set(sorted(labels, key=lambda c: -rows[c])[:MOST_CLASSES])
    table = []
    for label in labels:
        if label in shown:
            lost = sorted(((s, n) for (t, s), n in wrong.items() if t == label), key=_often)
            found = rows[label] - sum(n for _, n in lost)
            mistaken = f"{shorten(lost[0][0], 40)} ({count(lost[0][1])})" if lost else "—"
            table.append((
                str(label), count(rows[label]), percent(found / max(rows[label], 1)),
                percent(found / answers[label]) if answers[label] else "never said", mistaken,
            ))  # fmt: skip
    pairs = [
        (str(t), str(s), count(n), percent(n / rows[t]))
        for (t, s), n in sorted(wrong.items(), key=_often)[:MOST_PAIRS]
    ]
    return Confusion(
        _told(len(y), wrong, noun(study)),
        _confusion_picture(study),
        table,
        pairs if len(labels) > 3 else [],
        len(labels) - len(table),
    )


def _often(item: tuple) -> tuple:
    """Sort by frequency, then by name."""
    return -item[1], str(item[0])


def _told(n: int, wrong: Counter, item: str) -> str:
    total = sum(wrong.values())
    if not total:
        return f"None of the {plural(n, f'held-out {item}')} was given the wrong label."
    (true, said), times = min(wrong.items(), key=_often)
    return (
        f"Of {plural(n, f'held-out {item}')} {count(total)} got the wrong label. Most often "
        f"“{shorten(true, 40)}” was taken for “{shorten(said, 40)}”: "
        f"{'once' if times == 1 else plural(times, 'time')}."
    )


def _confusion_picture(study: Study) -> Picture:
    assert study.classes is not None
    with drawing():
        ax = plot_confusion(
            study.y, study.held_out.prediction, classes=study.classes, most=MOST_CLASSES
        )
        few, items = len(study.classes) <= MOST_CLASSES, f"{noun(study)}s"
        return picture(
            ax,
            "Table of colored cells: a row for each true class, a column for each answer, "
            f"with the number of held-out {items}. The table beside sums it up.",
            f"How many held-out {items} of each class (row) were given which label (column). Blue "
            "is right, orange is wrong; the color is the share of the row."
            + ("" if few else f" The {MOST_CLASSES} most frequent classes are shown."),
        )


@dataclass(frozen=True)
class Residuals:
    """How far predicted numbers are off.

    Attributes
    ----------
    summary : str
    picture : Picture
    quantiles : list of (share, residual)
    """

    summary: str
    picture: Picture
    quantiles: list[tuple[str, str]]


def residuals(study: Study) -> Residuals:
    """Return how far a regression is off."""
    off = study.held_out.prediction - study.y
    half, most = (float(q) for q in np.quantile(np.abs(off), [0.5, 0.9]))
    summary = (
        f"Half of the held-out predictions are off by less than {amount(half)}, nine of ten by "
        f"less than {amount(most)}, and the worst by {amount(float(np.abs(off).max()))}. On "
        f"average they are {amount(abs(float(off.mean())))} too {_side(float(off.mean()))}."
    )
    with drawing():
        ax = plot_agreement(study.y, study.held_out.prediction, seed=study.seed)
        found = picture(
            ax,
            "Cloud of points: predicted against true values of the held-out rows, with the "
            "diagonal on which both are equal.",
            "Predictions against true values, each row predicted by a machine that had not seen "
            "it. Points on the dashed line are exactly right.",
        )
    table = [
        (f"{q:.0%}", amount(float(v)))
        for q, v in zip(QUANTILES, np.quantile(off, QUANTILES), strict=True)
    ]
    return Residuals(summary, found, table)


def _side(mean: float) -> str:
    return "high" if mean >= 0 else "low"


@dataclass(frozen=True)
class Calibration:
    """Whether the probabilities can be believed.

    Attributes
    ----------
    summary : str
    picture : Picture
    scores : list of (name, value, value of looking at nothing, what it is)
    """

    summary: str
    picture: Picture
    scores: list[tuple[str, str, str, str]]


def calibration(study: Study) -> Calibration | None:
    """Return what the probabilities are worth, or None if there are none."""
    P = study.held_out.probabilities
    if P is None or study.classes is None or not np.isfinite(P).all():
        return None
    known = study.classes.tolist()
    # Classes too rare to be learned have no probability; they were given none.
    labels = [*known, *sorted(set(study.y.tolist()) - set(known))]
    P = np.hstack([P, np.zeros((len(P), len(labels) - len(known)))])
    place = {label: k for k, label in enumerate(labels)}
    truth = np.array([place[label] for label in study.y.tolist()])
    answers = np.array([place[label] for label in study.held_out.prediction.tolist()])
    every = np.arange(len(truth))
    sure, right = np.clip(P[every, answers], 0.0, 1.0), truth == answers
    bins = int(np.clip(len(truth) // LEAST_IN_BIN, 2, 10))
    found = reliability(sure, right, bins)
    shares = np.bincount(truth, minlength=len(place)) / len(truth)
    usual = np.broadcast_to(shares, P.shape)
    with drawing():
        ax = plot_calibration(sure, right, bins=bins)
        ax.set(xlabel="how sure it was", ylabel="how often it was right")
        drawn = picture(
            ax,
            "Reliability diagram: how often the answer was right against how sure the model was.",
            "How often the answer was right, for rows of similar sureness. On the dashed line the "
            "probabilities are exactly right; below it they promise too much. Bars are 95% "
            "intervals.",
        )
    scores = [
        ("calibration error", percent(found.error), "—", "mean gap between sureness and truth"),
        ("Brier score", amount(_brier(P, truth), 3), amount(_brier(usual, truth), 3),
         "squared error of all probabilities, 0 is perfect"),
        ("log loss", amount(_log_loss(P, truth), 3), amount(_log_loss(usual, truth), 3),
         "surprise at the truth, 0 is perfect"),
    ]  # fmt: skip
    return Calibration(_believed(found.error, float(sure.mean()), float(right.mean())), drawn,
                       scores)  # fmt: skip


def _brier(P: np.ndarray, truth: np.ndarray) -> float:
    own = P[np.arange(len(truth)), truth]
    return float(np.mean(np.sum(P**2, axis=1) - 2 * own + 1))


def _log_loss(P: np.ndarray, truth: np.ndarray) -> float:
    own = P[np.arange(len(truth)), truth]
    return float(-np.mean(np.log(np.clip(own, SMALLEST, 1.0))))


def _believed(error: float, sure: float, right: float) -> str:
    said = f"On average it was {percent(sure)} sure of its answer, and right {percent(right)} of "
    said += "the time. "
    if error < 0.05:
        return said + "The probabilities can be taken at their word."
    if sure > right + 0.02:
        return said + "It is too sure of itself: read its probabilities as an order, not as odds."
    if sure < right - 0.02:
        return said + "It is more often right than it claims."
    return said + "The probabilities are rough: read them as an order, not as odds."
