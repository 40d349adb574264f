"""Measures: how good held-out predictions are, beyond the share of wrong ones.

Of a rare class a machine may be right about nothing and yet know which rows to look at first: the
error does not see that, areas under curves do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    y: np.ndarray, prediction: np.ndarray, probabilities: np.ndarray | None, classes: np.ndarray
) -> Measures:
    """Return what is told of classes: balanced error, log loss, areas under ROC and precision.

    Areas are means over classes, each against the others, of classes that have rows on both sides.

    Parameters
    ----------
    y, prediction : ndarray
    probabilities : ndarray of shape (rows, classes) or None
    classes : ndarray

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
    recalls = [float(np.mean(prediction[y == label] == label)) for label in there]
    rows = [("balanced error", 1 - float(np.mean(recalls)), 1 - 1 / len(there))]
    if probabilities is None:
        return _measures(rows, False)
    known = np.isin(y, classes)
    codes, P = np.searchsorted(classes, y[known]), probabilities[known]
    own = np.maximum(P[np.arange(len(codes)), codes], MIN_PROBABILITY)
    shares = np.bincount(codes, minlength=len(classes)) / len(codes)
    losses, before = -np.log(own), -np.log(shares[codes])
    rows.append(("log loss", float(losses.mean()), float(before.mean())))
    areas, precisions, z = [], [], 0.0
    for k in np.flatnonzero(shares):
        plus = codes == k
        area, deviation = _area(P[:, k], plus)
        areas.append(area)
        precisions.append(_average_precision(P[:, k], plus))
        z = max(z, (area - 0.5) / deviation)
    base = float(shares[shares > 0].mean())
    rows.append(("area under ROC", float(np.mean(areas)), 0.5))
    rows.append(("area under precision-recall", float(np.mean(precisions)), base))
    return _measures(rows, bool(z > _critical(len(areas)) or _gains(before - losses)))


def _measures(rows: list[tuple[str, float, float]], informative: bool) -> Measures:
    names, values, baselines = zip(*rows, strict=True)
    return Measures(names, values, baselines, informative)


def _area(score: np.ndarray, plus: np.ndarray) -> tuple[float, float]:
    """Return the area under ROC, and its standard deviation if the scores say nothing."""
    from scipy.stats import rankdata

    m, n = int(plus.sum()), int((~plus).sum())
    total = float(rankdata(score)[plus].sum())
    return (total - m * (m + 1) / 2) / (m * n), float(np.sqrt((m + n + 1) / (12 * m * n)))


def _average_precision(score: np.ndarray, plus: np.ndarray) -> float:
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(plus, score))


def _critical(tests: int) -> float:
    """Return how many standard deviations the best of some areas needs."""
    from scipy.stats import norm

    return float(norm.isf(MAX_P / max(tests, 1)))


def _gains(gain: np.ndarray) -> bool:
    """Tell whether the mean of some gains is above zero by more than chance."""
    from scipy.stats import t

    spread = float(gain.std(ddof=1)) / np.sqrt(len(gain)) if len(gain) > 2 else 0.0
    return spread > 0 and bool(t.sf(float(gain.mean()) / spread, len(gain) - 1) < MAX_P)
