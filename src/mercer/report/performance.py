"""Performance: learning curve, confusion, residuals, calibration, and errors of the choice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mercer.plots import (
    plot_agreement,
    plot_calibration,
    plot_confusion,
    plot_curve,
    plot_surface,
    reliability,
)
from mercer.report.pictures import Figure, drawing, figure
from mercer.report.words import MAX_CLASSES, amount, count, formula, noun, percent, plural, shorten

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = [
    "Confusion", "ErrorSurface", "Probabilities", "Residuals", "calibration", "confusion", "curve",
    "residuals", "surface",
]  # fmt: skip


def curve(study: Study) -> Figure | None:
    """Return the learning curve, or None where there is none."""
    found = study.curve
    if found is None or len(found.sizes) == 0:
        return None
    rows = f"{noun(study)}s"
    with drawing():
        ax = plot_curve(
            found.sizes, found.errors, found.standard_errors,
            baseline=study.baseline_error, percent=study.unit == "classify",
        )  # fmt: skip
        ax.set(xlabel=f"{rows} learned from", ylabel=study.measure)
        far = study.baseline_error > ax.get_ylim()[1]
        steps = zip(found.sizes, found.errors, strict=True)
        write = percent if study.unit == "classify" else amount
        told = ", ".join(f"{write(float(e))} with {int(n)}" for n, e in steps)
        return figure(
            ax,
            f"Learning curve: {study.measure} against the number of {rows} learned from: {told}.",
            f"The error on held-out {rows} against how many were learned from. The band is one "
            "standard error. "
            + ("Looking at nothing is far worse." if far else "Dashed: looking at nothing."),
        )


@dataclass(frozen=True)
class Confusion:
    """Which classes were taken for which."""

    summary: str
    picture: Figure
    # Name, rows, share found, share right when said, most often taken for.
    classes: list[tuple[str, str, str, str, str]]
    # The most frequent mistakes: true class, what was said, times, share of the true class.
    pairs: list[tuple[str, str, str, str]]
    hidden: int  # classes that are not shown


def confusion(study: Study) -> Confusion:
    """Return where a classifier goes wrong."""
    assert study.classes is not None
    y, predicted = study.truth.tolist(), study.held_out.prediction.tolist()
    rows, answers = Counter(y), Counter(predicted)
    wrong = Counter((t, s) for t, s in zip(y, predicted, strict=True) if t != s)
    known = study.classes.tolist()
    labels = [*known, *sorted(set(y) - set(known))]  # classes too rare to be learned come last
    shown = set(sorted(labels, key=lambda c: -rows[c])[:MAX_CLASSES])
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
        for (t, s), n in sorted(wrong.items(), key=_often)[:8]
    ]
    return Confusion(
        _confusion_summary(len(y), wrong, noun(study)),
        _confusion_figure(study),
        table,
        pairs if len(labels) > 3 else [],
        len(labels) - len(table),
    )


def _often(item: tuple) -> tuple:
    """Sort by frequency, then by name."""
    return -item[1], str(item[0])


def _confusion_summary(n: int, wrong: Counter, item: str) -> str:
    total = sum(wrong.values())
    if not total:
        return f"None of the {plural(n, f'held-out {item}')} was given the wrong label."
    (true, answer), times = min(wrong.items(), key=_often)
    return (
        f"Of {plural(n, f'held-out {item}')} {count(total)} got the wrong label. Most often "
        f"“{shorten(true, 40)}” was taken for “{shorten(answer, 40)}”: "
        f"{'once' if times == 1 else plural(times, 'time')}."
    )


def _confusion_figure(study: Study) -> Figure:
    assert study.classes is not None
    with drawing():
        ax = plot_confusion(
            study.truth, study.held_out.prediction, classes=study.classes, most=MAX_CLASSES
        )
        few, items = len(study.classes) <= MAX_CLASSES, f"{noun(study)}s"
        return figure(
            ax,
            "Table of colored cells: a row for each true class, a column for each answer, "
            f"with the number of held-out {items}. The table beside sums it up.",
            f"How many held-out {items} of each class (row) were given which label (column). Blue "
            "is right, orange is wrong; the color is the share of the row."
            + ("" if few else f" The {MAX_CLASSES} most frequent classes are shown."),
        )


@dataclass(frozen=True)
class Residuals:
    """How far predicted numbers are off."""

    summary: str
    picture: Figure
    quantiles: list[tuple[str, str]]  # share, residual


def residuals(study: Study) -> Residuals:
    """Return how far a regression is off."""
    off = study.held_out.prediction - study.truth
    half, most = (float(q) for q in np.quantile(np.abs(off), [0.5, 0.9]))
    summary = (
        f"Half of the held-out predictions are off by less than {amount(half)}, nine of ten by "
        f"less than {amount(most)}, and the worst by {amount(float(np.abs(off).max()))}. On "
        f"average they are {amount(abs(float(off.mean())))} too {_side(float(off.mean()))}."
    )
    with drawing():
        ax = plot_agreement(study.truth, study.held_out.prediction, seed=study.seed)
        found = figure(
            ax,
            "Cloud of points: predicted against true values of the held-out rows, with the "
            "diagonal on which both are equal.",
            "Predictions against true values, each row predicted by a machine that had not seen "
            "it. Points on the dashed line are exactly right.",
        )
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    table = [
        (f"{q:.0%}", amount(float(v)))
        for q, v in zip(levels, np.quantile(off, levels), strict=True)
    ]
    return Residuals(summary, found, table)


def _side(mean: float) -> str:
    return "high" if mean >= 0 else "low"


@dataclass(frozen=True)
class Probabilities:
    """Whether the probabilities can be believed."""

    summary: str
    picture: Figure
    scores: list[tuple[str, str, str, str]]  # name, value, value of looking at nothing, what it is


def calibration(study: Study) -> Probabilities | None:
    """Return what the probabilities are worth, or None if there are none."""
    P = study.held_out.probabilities
    if P is None or study.classes is None or not np.isfinite(P).all():
        return None
    known = study.classes.tolist()
    # Classes too rare to be learned have no probability; they were given none.
    labels = [*known, *sorted(set(study.truth.tolist()) - set(known))]
    P = np.hstack([P, np.zeros((len(P), len(labels) - len(known)))])
    place = {label: k for k, label in enumerate(labels)}
    truth = np.array([place[label] for label in study.truth.tolist()])
    answers = np.array([place[label] for label in study.held_out.prediction.tolist()])
    every = np.arange(len(truth))
    sure, right = np.clip(P[every, answers], 0.0, 1.0), truth == answers
    bins = int(np.clip(len(truth) // 15, 2, 10))
    found = reliability(sure, right, bins)
    shares = np.bincount(truth, minlength=len(place)) / len(truth)
    usual = np.broadcast_to(shares, P.shape)
    with drawing():
        ax = plot_calibration(sure, right, bins=bins)
        ax.set(xlabel="how sure it was", ylabel="how often it was right")
        drawn = figure(
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
    if "log loss" in study.measures.names:  # which the table of measures has
        scores.pop()
    summary = _calibration_summary(found.error, float(sure.mean()), float(right.mean()))
    return Probabilities(summary, drawn, scores)


def _brier(P: np.ndarray, truth: np.ndarray) -> float:
    own = P[np.arange(len(truth)), truth]
    return float(np.mean(np.sum(P**2, axis=1) - 2 * own + 1))


def _log_loss(P: np.ndarray, truth: np.ndarray) -> float:
    own = P[np.arange(len(truth)), truth]
    # The logarithm of zero must not hide all other rows.
    return float(-np.mean(np.log(np.clip(own, 1e-15, 1.0))))


def _calibration_summary(error: float, sure: float, right: float) -> str:
    if error < 0.05:
        advice = "The probabilities can be taken at their word."
    elif sure > right + 0.02:
        advice = "It is too sure of itself: read its probabilities as an order, not as odds."
    elif sure < right - 0.02:
        advice = "It is more often right than it claims."
    else:
        advice = "The probabilities are rough: read them as an order, not as odds."
    return (
        f"On average it was {percent(sure)} sure of its answer, and right {percent(right)} of the "
        f"time. {advice}"
    )


@dataclass(frozen=True)
class ErrorSurface:
    """The errors among which kernel and parameter were chosen."""

    picture: Figure
    # Name in the picture and formula; empty if the picture holds the formulas.
    kernels: list[tuple[str, str]]
    hidden: int  # kernels that are not shown


def surface(study: Study) -> ErrorSurface | None:
    """Return the surface of the choice, or None if there was nothing to choose."""
    found = study.surface
    errors = np.asarray(found.errors, dtype=np.float64).reshape(len(found.rows), -1)
    if errors.size < 2 or not np.isfinite(errors).any():
        return None
    best = np.where(np.isfinite(errors), errors, np.inf).min(axis=1)
    kept = np.sort(np.argsort(best, kind="stable")[:24])
    formulas = [found.rows[k] for k in kept]
    short = all(len(kernel) <= 28 for kernel in formulas)
    names = formulas if short else [f"kernel {k + 1}" for k in range(len(formulas))]
    write = partial("{:.1%}".format) if study.unit == "classify" else partial("{:.3g}".format)
    columns = errors.shape[1] if len(found.values) == errors.shape[1] else 0
    with drawing():
        ax = plot_surface(
            errors[kept], names, found.values if columns else (), found.parameter,
            chosen=_chosen(study, formulas), write=write,
        )  # fmt: skip
        drawn = figure(
            ax,
            f"Grid of errors: a row for each of {plural(len(kept), 'kernel')}, a column for each "
            f"value of {found.parameter or 'the parameter'}. The smallest is "
            f"{write(float(np.nanmin(errors)))}.",
            "Errors of the inner folds, by which kernel and parameter were chosen. "
            "Dark is good, the framed cell is the choice, gray was not tried. The smallest of "
            "many is flattered; that is why the error at the top comes from other folds.",
        )
    pairs = [] if short else list(zip(names, map(formula, formulas), strict=True))
    return ErrorSurface(drawn, pairs, len(found.rows) - len(kept))


def _chosen(study: Study, formulas: list[str]) -> tuple[int, int] | None:
    """Return the cell that was chosen, or None if it cannot be told; equal errors are frequent."""
    found = study.surface
    if study.kernel not in formulas:
        return None
    row = formulas.index(study.kernel)
    if len(found.values) < 2:
        return row, 0
    value = study.parameters.get(found.parameter)
    if not isinstance(value, int | float):
        return None
    places = np.flatnonzero(np.isclose(np.asarray(found.values, dtype=float), value))
    return (row, int(places[0])) if len(places) else None
