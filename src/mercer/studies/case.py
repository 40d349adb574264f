"""The case that findings look at, and the words that they say it with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mercer.sources import Sheet
from mercer.studies.losses import Loss

__all__ = ["Case", "and_list", "have", "in_percent", "names_text", "number", "quoted"]

UNITS = {"frame": "row", "parquet": "row", "arrow": "row", "graphs": "graph"}  # else lines


class Case:
    """What there is to look at."""

    def __init__(
        self, sheet: Sheet, task: str, fold: np.ndarray, prediction: np.ndarray, *errors: float,
        loss: Loss | None = None,
    ) -> None:  # fmt: skip
        self.X, self.y, self.sheet, self.fold = sheet.X, np.asarray(sheet.y), sheet, fold
        self.error, self.error_se, self.baseline = errors
        self.informative, self.target_scale = False, "none"
        self.classify, self.n = task == "classify", len(self.y)
        self.classes, self.codes, self.counts = np.unique(
            self.y, return_inverse=True, return_counts=True
        )
        self.target = quoted(sheet.target.name) if sheet.target else "the target"
        self.loss = loss
        # Where another loss is asked for, errors are its mean, and no shares of wrong answers.
        self.other = loss is not None and loss.special
        if self.other:
            assert loss is not None
            self.losses = loss.of(self.y, prediction)
        elif self.classify:
            self.losses = (self.y != prediction).astype(float)
        else:
            self.losses = (self.y - prediction.astype(float)) ** 2

    def error_of(self, rows: np.ndarray) -> float:
        mean = float(self.losses[rows].mean())
        return mean if self.classify or self.other else math.sqrt(mean)

    @property
    def shares(self) -> bool:
        """Whether errors are shares of rows."""
        return self.classify and (not self.other or (self.loss is not None and self.loss.share))

    def text(self, error: float) -> str:
        return in_percent(error) if self.shares else number(error)

    def lines(self, places: list[int] | np.ndarray) -> str:
        found = [str(line) for line in np.sort(self.sheet.lines[places])]
        unit = UNITS.get(self.sheet.layout.get("format", ""), "line")
        return f"{unit}{'s' if len(found) > 1 else ''} {and_list(found)}"


def number(x: float, digits: int = 3) -> str:
    """Return a number as people write it, with so many digits at least."""
    return f"{x:.0f}" if 10**digits <= abs(x) < 1e9 else f"{x:.{digits}g}"


def in_percent(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.3g} %" if share >= 0.1 else f"{100 * share:.2g} %"


def quoted(label: object) -> str:
    """Return a name in quotes, a long one cut."""
    text = str(label)
    return repr(text if len(text) <= 40 else text[:39] + "…")


def and_list(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def have(classes: np.ndarray) -> str:
    """Begin a sentence about one class or several."""
    one = len(classes) == 1
    return f"Class {quoted(classes[0])} has" if one else f"The classes {names_text(classes)} have"


def names_text(names: Sequence[object] | np.ndarray, most: int = 5) -> str:
    """Return the first few names of a list, and how many more there are."""
    words = [quoted(name) for name in names[:most]]
    return and_list([*words, f"{len(names) - most} more"] if len(names) > most else words)
