"""The error of a machine that has learned from all rows, when folds have learned from fewer.

Outer folds learn from four fifths of the rows, or nine tenths, and where more rows help they err
more than the machine in the end. What is lost falls with the rows m as a + b·m⁻ᶜ, of which folds
know two points: all of their rows, and half of them. From m to q·m rows it falls further by

    r(c)·(loss(m/2) − loss(m)),    r(c) = (1 − q⁻ᶜ)/(2ᶜ − 1).

The rate c is not known, but r depends little on it: kernel machines reach at most c = 1 where
there is noise, and a ≥ 0 says that c is at least log₂(loss(m/2)/loss(m)). The middle of what
these two allow is taken, and half of their distance is part of the standard error. Both losses
are of the same held-out rows, whose chance counts once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.studies.folds import RowLoss, Tied, as_error, pooled_mean, row_losses

__all__ = ["AllRowsError", "all_rows_error", "further_fall"]

HALF = 2.0  # times the rows of the smaller part
FASTEST = 1.0  # rate at which a kernel machine's loss falls where there is noise
# Standard errors by which the first half of the rows must have been worse. What is less may be
# chance, and the error stays the one that was measured.
CLEAR = 2.0


@dataclass(frozen=True)
class AllRowsError:
    """What the machine in the end is expected to err.

    Attributes
    ----------
    error, error_se : float
    measured, measured_se : float
        Of the held-out rows, by machines that had learned from fewer.
    """

    error: float
    error_se: float
    measured: float
    measured_se: float

    @property
    def extrapolated(self) -> bool:
        """Whether it is another one than was measured."""
        return self.error != self.measured


def further_fall(more: float, ratio: float) -> tuple[float, float]:
    """Return what share of the last fall is still to come, and its standard error.

    Parameters
    ----------
    more : float
        Times as many rows as were learned from.
    ratio : float
        What was lost with half of the rows over what was lost with all.

    Examples
    --------
    >>> further_fall(1.25, 1.0)[0] > further_fall(1.25, 2.0)[0]
    True
    >>> further_fall(1.25, 2.0)
    (0.19999999999999996, 0.0)
    """
    slowest = math.log2(ratio)
    rates = slowest, max(slowest, FASTEST)
    ends = [
        (1 - more**-rate) / (HALF**rate - 1) if rate > 1e-9 else math.log(more, HALF)
        for rate in rates
    ]
    return (ends[0] + ends[1]) / 2, abs(ends[0] - ends[1]) / math.sqrt(12)


def all_rows_error(
    truths: Sequence[np.ndarray],
    answers: Sequence[np.ndarray],
    halves: Sequence[np.ndarray] | None,
    more: float,
    tied: Sequence[Tied] = (),
    loss: RowLoss | None = None,
    shared: float = 0.0,
) -> AllRowsError:
    """Return the error that is to be expected after learning from all rows.

    Parameters
    ----------
    truths, answers : sequence of ndarray
        Of the held-out rows of each fold.
    halves : sequence of ndarray or None
        What is answered after learning from half of a fold's rows; None if that is not known.
    more : float
        Times as many rows as a fold has learned from.
    tied, loss, shared
        As in `pooled_error`.

    Examples
    --------
    >>> truth = [np.zeros(400)]
    >>> noise = np.random.default_rng(0).normal(size=400)
    >>> found = all_rows_error(truth, [0.1 * noise], [0.2 * noise], 1.25)
    >>> found.error < found.measured, round(found.error / found.measured, 2)
    (True, 0.8)
    """
    losses, unit = row_losses(truths, answers, loss)
    total, spread = pooled_mean(losses, tied, shared)
    measured = as_error(total, spread, unit)
    if halves is None or more <= 1:
        return AllRowsError(*measured, *measured)
    scale = 1.0
    earlier, other = row_losses(truths, halves, loss)
    if unit is not None and other is not None:
        scale = (other / unit) ** 2
    falls = [scale * one - own for one, own in zip(earlier, losses, strict=True)]
    fall, fall_se = pooled_mean(falls, tied)
    if total <= 0 or not fall > CLEAR * fall_se:
        return AllRowsError(*measured, *measured)
    share, share_se = further_fall(more, 1 + fall / total)
    further = [own - share * one for own, one in zip(losses, falls, strict=True)]
    expected, expected_se = pooled_mean(further, tied, shared)
    spread = math.hypot(expected_se, share_se * fall)
    return AllRowsError(*as_error(expected, spread, unit), *measured)
