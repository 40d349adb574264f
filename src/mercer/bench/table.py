"""A plain table: what was measured, against whom, and whether it is good enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Bar", "Row", "at_least", "at_most", "columns", "faster", "render", "same"]

HEADER = ("task", "ours", "peer", "ratio", "bar", "verdict")


@dataclass(frozen=True)
class Bar:
    """What a measured value is held against.

    Parameters
    ----------
    limit
        The value that must be reached, or must not be passed.
    sense
        ``">="`` if more is better, ``"<="`` if less is.
    form
        How such values are written.
    """

    limit: float
    sense: str
    form: str = "{:.2f}x"

    def text(self) -> str:
        """Return the bar as the table shows it."""
        return f"{self.sense} {self.form.format(self.limit)}"

    def verdict(self, value: float) -> str:
        """Say whether `value` is good enough; NaN never is."""
        reached = value >= self.limit if self.sense == ">=" else value <= self.limit
        return "reached" if reached else "falls short"


def at_least(limit: float, form: str = "{:.2f}x") -> Bar:
    """Return the bar for a value that should be large."""
    return Bar(limit, ">=", form)


def at_most(limit: float, form: str = "{:.2f}x") -> Bar:
    """Return the bar for a value that should be small."""
    return Bar(limit, "<=", form)


@dataclass(frozen=True)
class Row:
    """One comparison; `value` is the number that `bar` judges, if there is one."""

    task: str
    ours: str
    peer: str
    value: float
    bar: Bar | None

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts, in the order of the header."""
        if self.bar is None:
            return self.task, self.ours, self.peer, f"{self.value:.2f}", "", ""
        ratio = self.bar.form.format(self.value)
        verdict = self.bar.verdict(self.value)
        return self.task, self.ours, self.peer, ratio, self.bar.text(), verdict


def faster(task: str, times: Sequence[float], bar: float) -> Row:
    """Return the row that says how many times faster ours is; `times` are ours and the peer's."""
    ours, peer = times
    return Row(task, f"{ours:.3f} s", f"{peer:.3f} s", peer / ours, at_least(bar))


def same(task: str, ours: np.ndarray, peer: np.ndarray) -> Row:
    """Return the row that says how far apart two vectors are, relative to the peer's length."""
    if ours.shape != peer.shape:
        raise ValueError(f"{task}: expected shape {peer.shape}, found {ours.shape}")
    difference = float(np.linalg.norm(ours - peer) / np.linalg.norm(peer))
    return Row(task, "", "", difference, at_most(1e-7, "{:.0e}"))


def render(rows: Sequence[Row], bars: bool = True) -> str:
    """Return the rows as a table with aligned columns, with the bars or without."""
    shown = len(HEADER) if bars else HEADER.index("bar")
    lines = [HEADER, *(row.cells() for row in rows)]
    return columns([line[:shown] for line in lines], words=(0, len(HEADER) - 1))


def columns(lines: Sequence[Sequence[str]], words: Sequence[int] = (0,)) -> str:
    """Return lines of cells as a table: the first is the header, columns `words` hold words."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rule = ["-" * width for width in widths]
    return "\n".join(_align(line, widths, words) for line in [lines[0], rule, *lines[1:]])


def _align(line: Sequence[str], widths: Sequence[int], words: Sequence[int]) -> str:
    # Words to the left, numbers to the right.
    cells = [
        text.ljust(width) if i in words else text.rjust(width)
        for i, (text, width) in enumerate(zip(line, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()
