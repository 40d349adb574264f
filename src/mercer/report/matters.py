"""What matters: the columns that a model attends to, those it looks at together, and effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer.plots import plot_attention, plot_effect
from mercer.plots.axes import axes_for, plain
from mercer.report.answer import mood_of
from mercer.report.pictures import Figure, drawing, figure
from mercer.report.words import amount, count, listed, noun, percent, shorten

if TYPE_CHECKING:
    from mercer.studies import Study
    from mercer.studies.attention import ColumnAttention
    from mercer.studies.effects import ColumnEffect

__all__ = ["WhatMatters", "what_matters"]

MAX_BARS = 20
STRONG = 0.05  # of the attention: what a column has that is named
MAX_NAMED = 3
LEVEL_LETTERS = 24  # of an entry, in the words for those who do not see the picture


@dataclass(frozen=True)
class WhatMatters:
    """Which columns matter, and what they do."""

    summary: str
    attention: Figure | None
    together: str  # columns that are looked at together; empty if there are none
    effects: list[Figure]


def what_matters(study: Study) -> WhatMatters | None:
    """Return what matters, or None if that is not known, or if nothing was learned."""
    found = study.attention
    if (found is None and not study.effects) or mood_of(study) == "bad":
        return None
    return WhatMatters(
        _shuffled_summary(study) if found is None else _summary(found),
        None if found is None else _attention(found),
        "" if found is None else _together(found),
        [_effect(study, effect) for effect in study.effects],
    )


def _summary(found: ColumnAttention) -> str:
    """Say which columns matter most."""
    rows = list(zip(found.names, found.shares, found.spreads, strict=True))
    strong = [row for row in rows if row[1] >= _floor(found)][:MAX_NAMED] or rows[:1]
    told = [
        f"“{shorten(name, 40)}” ({share:.0%}{f' ± {spread:.0%}' if spread else ''}"
        f"{'' if place else ' of the attention'})"
        for place, (name, share, spread) in enumerate(strong)
    ]
    matter = "matters" if len(told) == 1 else "matter"
    what = "column" if len(told) == 1 else "columns"
    even = "" if rows[0][1] > 1.5 / len(rows) else " No column stands out."
    return (
        f"The {what} that {matter} most: {listed(told)}.{even} Attention is how fast the answer "
        "changes along a column once all columns are on one scale."
    )


def _shuffled_summary(study: Study) -> str:
    names = [f"“{shorten(effect.column, 40)}”" for effect in study.effects]
    what = "is the column" if len(names) == 1 else "are the columns"
    return (
        f"{listed(names)} {what} without which the answers become worst: their entries were "
        f"shuffled in {noun(study)}s that were held out."
    )


def _together(found: ColumnAttention) -> str:
    """Say which columns are looked at together."""
    shares = dict(zip(found.names, found.shares, strict=True))
    told = [
        f"“{shorten(one, 40)}” with “{shorten(other, 40)}” ({value:.2f})"
        for one, other, value in found.pairs
        if min(shares[one], shares[other]) >= _floor(found)
    ]
    if not told:
        return ""
    return (
        f"Columns that act together: {listed(told)}. The answer changes along a mixture of both, "
        "rather than along each; 1 would be a single direction."
    )


def _floor(found: ColumnAttention) -> float:
    """Return the share from which a column is named: of many columns an even one."""
    return min(STRONG, 1 / len(found.names))


def _attention(found: ColumnAttention) -> Figure:
    shares = dict(zip(found.names, found.shares, strict=True))
    spreads = dict(zip(found.names, found.spreads, strict=True))
    some = any(found.spreads)
    with drawing():
        ax = plot_attention(shares, most=MAX_BARS, spreads=spreads if some else None)
        told = ", ".join(
            f"{shorten(name, 40)} {percent(share)}"
            for name, share in list(shares.items())[:MAX_NAMED]
        )
        return figure(
            ax,
            f"Bars of how much each column matters, the longest on top: {told}.",
            "How much each column matters to the learned metric."
            + (" Lines: one standard deviation over the outer folds." if some else ""),
        )


def _effect(study: Study, effect: ColumnEffect) -> Figure:
    name, shares = shorten(effect.column, 40), effect.answer == "probability"
    what = _what(study, effect)
    low, high = effect.low, effect.high
    if shares:  # to the common level, a curve may have been moved too far
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    with drawing():
        names = [shorten(label, 24) for label in effect.classes]
        ax = plot_effect(
            effect.values, effect.mean, low, high, axes_for(None, (3.5, 2.7)),
            names=names if len(names) > 1 else (), percent=shares,
        )  # fmt: skip
        ax.set_xlabel(plain(name))
        ax.set_ylabel(plain(f"average {what}" if len(what) < 30 else f"average {effect.answer}"))
        drawn = "band" if effect.kind != "categorical" else "line through each point"
        return figure(
            ax,
            f"Average {what} against {name}: {_course(effect, shares)}.",
            f"Average {what} against “{name}”, all else as it is in {count(effect.rows)} "
            f"{noun(study)}s. The {drawn} holds 80% of them, each moved to the common level: "
            f"where it is wide, other columns decide what this one does.{_few(low, high, effect)}",
        )


def _few(low: np.ndarray, high: np.ndarray, effect: ColumnEffect) -> str:
    """Say what it means that the average is none of most items."""
    if np.any((effect.mean < low) | (effect.mean > high)):
        return " Where the average leaves it, a few make the average."
    return ""


def _what(study: Study, effect: ColumnEffect) -> str:
    if effect.answer == "prediction":
        target = study.sheet.target
        return f"predicted {'number' if target is None else shorten(target.name, 40)}"
    of = f"of “{shorten(effect.classes[0], 40)}”" if len(effect.classes) == 1 else "of each class"
    return f"{'probability' if effect.answer == 'probability' else 'decision value'} {of}"


def _course(effect: ColumnEffect, shares: bool) -> str:
    """Say where the first curve is lowest and highest."""
    mean, write = effect.mean[0], percent if shares else amount
    low, high = int(np.argmin(mean)), int(np.argmax(mean))
    return (
        f"lowest at {_value(effect, low)} ({write(float(mean[low]))}), highest at "
        f"{_value(effect, high)} ({write(float(mean[high]))})"
    )


def _value(effect: ColumnEffect, k: int) -> str:
    value = effect.values[k]
    if effect.values.dtype.kind == "M":
        return str(value.astype("datetime64[D]"))
    if effect.kind != "categorical":
        return amount(float(value))
    return f"“{shorten(value, LEVEL_LETTERS)}”"
