"""Shares: which columns matter to the answers, how steadily, and why a few rows came out so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercer.report.words import amount, noun, percent, shorten

if TYPE_CHECKING:
    from mercer.studies import Study
    from mercer.studies.shares import ColumnShares, ToldRow

__all__ = ["ColumnsThatMatter", "columns_that_matter"]

MAX_LINES = 15  # columns that are listed


@dataclass(frozen=True)
class ColumnsThatMatter:
    """What is said about the shares of columns."""

    lines: list[tuple[str, str, str]]  # column, share, spread over the folds
    hidden: int
    spread: bool
    told: list[tuple[str, str]]  # which row, and why it came out so
    how: str  # how scores are divided, and on which scale they are


def columns_that_matter(study: Study) -> ColumnsThatMatter | None:
    """Return what is said; None where scores cannot be divided among columns."""
    found = study.shares
    if found is None:
        return None
    rows = list(zip(found.names, found.shares, found.spreads, strict=True))
    return ColumnsThatMatter(
        [(shorten(name, 40), percent(s), f"± {percent(e)}") for name, s, e in rows[:MAX_LINES]],
        max(len(rows) - MAX_LINES, 0),
        any(found.spreads),
        [_told(study, row) for row in found.told],
        _how(study, found),
    )


def _how(study: Study, found: ColumnShares) -> str:
    """Say how scores are divided, and what a share means."""
    exactly = (
        f"estimated from {found.orders} random orders in which they become known, because the "
        "machine looks at mixtures of columns"
        if found.orders
        else "exactly: what each contributes, on average over all orders in which they could "
        "become known"
    )
    told = f"The score of a held-out {noun(study)} is divided among the columns, {exactly}. "
    if found.scale == "log":
        told += (
            "Scores are natural logarithms of the target, so that +0.1 makes the answer a tenth "
            "larger, about. "
        )
    elif found.scale != "none":
        told += f"Scores are the {found.scale} of the target. "
    return told + "The table has the mean size of these shares."


def _told(study: Study, row: ToldRow) -> tuple[str, str]:
    """Return which row it is, and the reasons in words."""
    number = int(study.sheet.rows[row.place])
    about = "" if row.toward is None else f" toward “{shorten(row.toward, 24)}”"
    reasons = [
        f"{shorten(name, 32)} = {shorten(entry, 24)} ({'+' if share >= 0 else '−'}"
        f"{amount(abs(share), 3)})"
        for name, entry, share in row.reasons
    ]
    rest = f"; all others {amount(row.rest, 3)}" if row.rest else ""
    return (
        f"{noun(study)} {number}, {row.why}".capitalize(),
        f"Score {amount(row.score, 3)}{about}, from {amount(row.base, 3)} if nothing were known: "
        f"{', '.join(reasons)}{rest}.",
    )
