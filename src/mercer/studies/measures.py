"""Measures: how good held-out predictions are, beyond the share of wrong ones.

Of a rare class a machine may be right about nothing and yet know which rows to look at first: the
error does not see that, areas under curves do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.studies.arrangement import INDEPENDENT, Arrangement

__all__ = ["NOTHING_MEASURED", "Measures", "measures_of"]

MAX_P = 0.001  # of a test whether probabilities rank rows better than chance
MIN_PROBABILITY = 1e-6  # a probability of 0 that was wrong does not make the log loss infinite


@dataclass(frozen=True)
class Measures:
    """What held-out predictions are worth.

    Attributes
    ----------
    names : tuple of str
    values, baselines : tuple of float
        Of the model, and of an answer that knows the shares of the classes alone.
    informative : bool
        Whether one of them is better than that by more than chance.
    """

    names: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    baselines: tuple[float, ...] = ()
    informative: bool = False

    def as_dict(self) -> dict[str, dict[str, float]]:
        """Return value and baseline of each measure by its name."""
        found = zip(self.names, self.values, self.baselines, strict=True)
        return {name: {"value": value, "baseline": base} for name, value, base in found}


NOTHING_MEASURED = Measures()


def measures_of(
    y: np.ndarray, prediction: np.ndarray, probabilities: np.ndarray | None, classes: np.ndarray,
    tied: Arrangement = INDEPENDENT,
) -> Measures:  # fmt: skip
    """Return what is told of classes: balanced error, log loss, areas under ROC and precision.

    Areas are those of the rarer one of two classes, else means over classes, each against the
    others, of classes that have rows on both sides.

    Parameters
    ----------
    y, prediction : ndarray
    probabilities : ndarray of shape (rows, classes) or None
    classes : ndarray
    tied : Arrangement
        Weights of the rows, and groups, of which as many count as independent instead of rows
        where it is asked what chance explains.

    Examples
    --------
    >>> y = np.array(["a", "b", "a", "b"])
    >>> P = np.array([[0.9, 0.1], [0.4, 0.6], [0.8, 0.2], [0.3, 0.7]])
    >>> found = measures_of(y, y, P, np.array(["a", "b"]))
    >>> found.names[2], found.values[2], found.baselines[2]
    ('area under ROC', 1.0, 0.5)
    """
    there = [label for label in classes if np.any(y == label)]
    if len(there) < 2:
        return NOTHING_MEASURED
    w = np.ones(len(y)) if tied.weights is None else tied.weights
    recalls = [_mean(prediction[y == label] == label, w[y == label]) for label in there]
    rows = [("balanced error", 1 - float(np.mean(recalls)), 1 - 1 / len(there))]
    if probabilities is None:
        return _measures(rows, False)
    known = np.isin(y, classes)
    codes, P, w = np.searchsorted(classes, y[known]), probabilities[known], w[known]
    groups = np.arange(len(codes))
    if tied.groups is not None:
        groups = np.unique(tied.groups[known], return_inverse=True)[1]
    own = np.maximum(P[np.arange(len(codes)), codes], MIN_PROBABILITY)
    shares = np.bincount(codes, w, minlength=len(classes)) / w.sum()
    losses, before = -np.log(own), -np.log(shares[codes])
    rows.append(("log loss", _mean(losses, w), _mean(before, w)))
    areas, precisions, z = [], [], 0.0
    told = np.flatnonzero(shares)
    if len(classes) == 2 and len(told) == 2:  # what is sought for is the rarer one
        told = told[[int(shares.argmin())]]
    for k in told:
        plus = codes == k
        area, deviation = _area(P[:, k], plus, w, groups)
        areas.append(area)
        precisions.append(_average_precision(P[:, k], plus, w))
        z = max(z, (area - 0.5) / deviation)
    base = float(shares[told].mean())
    rows.append(("area under ROC", float(np.mean(areas)), 0.5))
    rows.append(("area under precision-recall", float(np.mean(precisions)), base))
    count = int(groups.max(initial=-1)) + 1
    gains = w * (before - losses)
    if tied.groups is not None:
        gains = np.bincount(groups, gains)
    informative = z > _critical(len(areas), count) or _gains(gains)
    return _measures(rows, bool(informative))


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    return float(np.average(values, weights=weights))


def _measures(rows: list[tuple[str, float, float]], informative: bool) -> Measures:
    names, values, baselines = zip(*rows, strict=True)
    return Measures(names, values, baselines, informative)


def _area(
    score: np.ndarray, plus: np.ndarray, w: np.ndarray, groups: np.ndarray
) -> tuple[float, float]:
    """Return the area under ROC, and its standard deviation if the scores say nothing.

    Of rows that are drawn one by one that is known; of groups it is estimated from what each group
    contributes (Obuchowski 1997), and is not below the first.
    """
    from scipy.stats import rankdata

    m, n = int(plus.sum()), int((~plus).sum())
    if m == 0 or n == 0:
        return 0.5, 1.0
    even = bool((w == w[0]).all())
    lone = float(np.sqrt((m + n + 1) / (12 * m * n)))
    if even and int(groups.max()) + 1 == len(groups):
        total = float(rankdata(score)[plus].sum())
        return (total - m * (m + 1) / 2) / (m * n), lone
    above = _share_below(score[plus], score[~plus], w[~plus])  # of each row of the class
    beyond = 1 - _share_below(score[~plus], score[plus], w[plus])
    area = _mean(above, w[plus])
    parts = np.empty(len(score))
    parts[plus] = w[plus] * (above - area) / w[plus].sum()
    parts[~plus] = w[~plus] * (beyond - area) / w[~plus].sum()
    sums = np.bincount(groups, parts)
    spread = np.sqrt(np.sum(sums**2) * len(sums) / max(len(sums) - 1, 1))
    return area, max(float(spread), lone)


def _share_below(values: np.ndarray, others: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return for each value the weighted share of others below it; equal ones count half."""
    order = np.argsort(others, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(w[order])]) / w.sum()
    ordered = others[order]
    left, right = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return (total[left] + total[right]) / 2


def _average_precision(score: np.ndarray, plus: np.ndarray, w: np.ndarray) -> float:
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(plus, score, sample_weight=w))


def _critical(tests: int, count: int) -> float:
    """Return how many standard deviations the best of some areas needs, of so many groups."""
    from scipy.stats import t

    return float(t.isf(MAX_P / max(tests, 1), max(count - 1, 1)))


def _gains(gain: np.ndarray) -> bool:
    """Tell whether the mean of some gains is above zero by more than chance."""
    from scipy.stats import t

    spread = float(gain.std(ddof=1)) / np.sqrt(len(gain)) if len(gain) > 2 else 0.0
    return spread > 0 and bool(t.sf(float(gain.mean()) / spread, len(gain) - 1) < MAX_P)
